"""The package as a library."""

from __future__ import annotations

import json
import pickle
import re
from collections import namedtuple
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import rankeval_cli
from rankeval_cli import RankevalError, Rules, evaluate, read_qrels, read_run
from rankeval_cli.errors import InputError, UsageError

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
        ("judged_only", "no"),
        ("exclude_self", None),
        ("grade_map", "E=1"),
        ("grade_map", {"E": "1"}),
        ("grade_map", {"E": float("nan")}),
        ("exclude", ("q1", "d1")),
    ],
)
def test_a_value_that_a_rule_cannot_have_is_refused(rule, value):
    with pytest.raises(UsageError, match=re.escape(f"--{rule.replace('_', '-')} is `{value}`")):
        Rules(**{rule: value})


@pytest.mark.parametrize(
    "rules",
    [
        {"judged_only": np.True_},
        {"grade_map": {"E": np.float32(3)}},
        {"depth": np.int64(3)},
        {"relevance_level": np.float32(0.5)},
        {"resamples": 10_000_000},
        {"confidence": 0.5},
    ],
)
def test_a_value_that_a_rule_may_have_is_taken(rules):
    assert json.loads(json.dumps(Rules(**rules).to_dict())).items() >= rules.items()


RECORD = namedtuple("RECORD", "qid docno score")


@pytest.mark.parametrize(
    "records",
    [
        [{"qid": "q1", "docno": "d1", "score": 0.5}, {"qid": "q1", "docno": "d2", "score": 0.25}],
        [{"qid": "q1", "docno": ["d1", "d2"], "score": [0.5, 0.25]}],
        [RECORD("q1", "d1", 0.5), RECORD("q1", "d2", 0.25)],
    ],
    ids=["dicts", "one a query", "named tuples"],
)
def test_a_list_of_records_is_one_run(records):
    report = evaluate(records, {"q1": {"d2": 1}}, "mrr")
    assert [(run.name, run.source.rows) for run in report.runs] == [("run1", 2)]
    assert report["mrr"] == 0.5


@pytest.mark.parametrize("second", [RUN, {"qid": ["q1"], "docno": ["d2"], "score": [1.0]}], ids=["dict", "columns"])
def test_a_list_of_dicts_is_several_runs(second):
    report = evaluate([second, RUN], {"q1": {"d2": 1}}, "mrr")
    assert [run.name for run in report.runs] == ["run1", "run2"]


@pytest.mark.parametrize("words", [None, 5, [None], ["mrr", 3]], ids=str)
def test_measures_and_gates_that_are_no_text_are_refused(words):
    with pytest.raises(UsageError, match=r"measures hold `.*`, which is no text"):
        evaluate(RUN, {"q1": {"d2": 1}}, words)
    with pytest.raises(UsageError, match=r"gates hold `.*`, which is no text"):
        evaluate(RUN, {"q1": {"d2": 1}}, "mrr", gates=words)


def test_one_gate_may_be_given_as_text():
    assert [gate.passed for gate in evaluate(RUN, {"q1": {"d2": 1}}, gates="mrr >= 0.6").gates] == [False]


def test_excluded_pairs_may_be_a_path_object(tmp_path):
    Path(tmp_path / "pairs.tsv").write_text("q1\td1\n")
    report = evaluate(RUN, {"q1": {"d2": 1}}, "mrr", exclude=tmp_path / "pairs.tsv")
    assert report["mrr"] == 1.0
    assert report.to_dict()["rules"]["exclude"] == str(tmp_path / "pairs.tsv")


def test_an_open_file_is_refused_by_what_it_is(tmp_path):
    with open(tmp_path / "run.txt", "w+") as file, pytest.raises(InputError, match="run1: is an open file"):
        evaluate(file, {"q1": {"d2": 1}})


@pytest.mark.parametrize("option", ["run_format", "qrels_format"])
def test_a_format_that_is_no_text_is_refused(option):
    with pytest.raises(RankevalError, match="unknown format `3`"):
        evaluate(RUN, {"q1": {"d2": 1}}, **{option: 3})


def test_a_report_shows_a_line_a_run():
    report = evaluate([RUN, {"q2": {"d1": 1}}], {"q1": {"d2": 1}, "q2": {"d3": 0}}, ["mrr", "first_rank"])
    assert repr(report).splitlines() == [
        "Report: judged queries 2, warnings 5",
        "  'run1': mrr 0.2500, first_rank 2.0000",
        "  'run2': mrr 0.0000, first_rank -",
    ]


def test_a_report_can_be_pickled():
    words = ["mrr@10", "P.5,10", "ndcg(gain=exp,rel=2)@3", "rbp(gain=scaled)", "iprec@0.4", "hits@5"]
    report = evaluate({"q1": {"a": 2.0, "b": 1.0}}, {"q1": {"b": 2}}, words, gates=["map > 0"])
    again = pickle.loads(pickle.dumps(report))
    assert again.to_dict(per_query=True) == report.to_dict(per_query=True)
    assert again.runs[0].scores.metrics == report.runs[0].scores.metrics


@pytest.mark.parametrize("name", rankeval_cli.__all__)
def test_what_the_package_offers_is_there(name):
    assert getattr(rankeval_cli, name).__name__ == name
    assert name in dir(rankeval_cli)


def test_the_package_has_nothing_else():
    with pytest.raises(AttributeError, match="has no attribute `evaluat`"):
        rankeval_cli.evaluat  # noqa: B018
