"""What users are told when something is wrong."""

from __future__ import annotations

import pytest

from rankeval_cli import evaluate
from rankeval_cli.errors import RankevalError, several

RUN = {"q": {f"d{i:02}": 1.0 / (i + 1) for i in range(12)}}


@pytest.mark.parametrize(
    ("shown", "total", "text"),
    [
        pytest.param(["a"], 1, "a", id="one"),
        pytest.param(["a", "b"], 2, "a\nb", id="all"),
        pytest.param(["a", "b"], 1234, "a\nb\n... 1,234 in all", id="more"),
    ],
)
def test_several_problems_are_lines_and_the_total_when_some_are_left_out(shown, total, text):
    assert several(shown, total) == text


@pytest.mark.parametrize(("num_repeated", "last"), [(9, "`d08`"), (10, "`d09`"), (12, "12 in all")])
def test_ten_repeated_results_are_named_and_the_total(num_repeated, last):
    run = [{"query": "q", "doc": doc, "score": score} for doc, score in RUN["q"].items()]
    with pytest.raises(RankevalError, match="document `d00` is more than once in query `q`") as caught:
        evaluate([[*run, *run[:num_repeated]]], {"q": {"d00": 1}}, "mrr")
    assert last in caught.value.what.splitlines()[-1]
    assert len(caught.value.what.splitlines()) == min(num_repeated, 11)


@pytest.mark.parametrize(("num_conflicts", "last"), [(9, "`d08`"), (10, "`d09`"), (12, "12 in all")])
def test_ten_contradicting_judgments_are_named_and_the_total(num_conflicts, last):
    qrels = [{"query": "q", "doc": doc, "grade": grade} for grade in (1, 2) for doc in list(RUN["q"])[:num_conflicts]]
    with pytest.raises(RankevalError, match="document `d00` of query `q` is judged twice") as caught:
        evaluate(RUN, qrels, "mrr")
    assert last in caught.value.what.splitlines()[-1]
    assert len(caught.value.what.splitlines()) == min(num_conflicts, 11)
