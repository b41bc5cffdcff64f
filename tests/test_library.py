"""The package as a library."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from rankeval_cli import Rules, evaluate, read_qrels, read_run
from rankeval_cli.errors import UsageError

RUN = {"q1": {"d1": 0.5, "d2": 0.25}}


def test_a_list_without_a_run_is_refused():
    with pytest.raises(UsageError, match="there is no run to score"):
        evaluate([], {"q1": {"d1": 1}})


@pytest.mark.parametrize(("read", "value"), [(read_run, "score"), (read_qrels, "grade")], ids=["run", "qrels"])
def test_a_frame_of_nothing_has_its_columns(read, value):
    assert read({}).schema == {"query": pl.String, "doc": pl.String, value: pl.Float64}


def test_a_query_that_is_left_out_as_missing_is_never_one_with_nothing_relevant():
    qrels = {"q1": {"d2": 1}, "q2": {"d1": 0}}
    report = evaluate(RUN, qrels, "mrr", missing="skip", no_relevant="error")
    assert report["mrr"] == 0.5


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("relevance_level", -1),
        ("relevance_level", "2"),
        ("relevance_level", float("nan")),
        ("depth", 0),
        ("depth", 2.5),
        ("depth", "10"),
        ("confidence", 1),
        ("confidence", "0.9"),
        ("resamples", 0),
        ("resamples", 10_000_001),
        ("resamples", 1.5),
        ("seed", -1),
        ("seed", 0.5),
        ("ties", "rnadom"),
    ],
)
def test_a_value_that_a_rule_cannot_have_is_refused(rule, value):
    with pytest.raises(UsageError, match=f"--{rule.replace('_', '-')} is `{value}`"):
        Rules(**{rule: value})


@pytest.mark.parametrize(
    "rules",
    [{"depth": np.int64(3)}, {"relevance_level": np.float32(0.5)}, {"resamples": 10_000_000}, {"confidence": 0.5}],
)
def test_a_value_that_a_rule_may_have_is_taken(rules):
    assert Rules(**rules).to_dict().items() >= rules.items()
