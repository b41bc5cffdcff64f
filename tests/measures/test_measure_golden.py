"""Values that other programs gave, and that reference texts print; tests/golden/measures.json says how to read it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from kernels import kernel_value
from naive import Query

from rankeval_cli.measures.expression import parse

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "measures.json").read_text(encoding="utf-8"))
PRINTED = [(run, word) for run in GOLDEN["trec_eval"] for word in run["values"]]
FOUR_DECIMALS = 5.001e-5


def ranked(query: str, order: str = "docid", depth: int | None = None) -> Query:
    """A query of the fixture, ties in the order that the case names."""
    qrels, run = GOLDEN["fixture"]["qrels"][query], GOLDEN["fixture"]["run"].get(query, {})
    docs = list(run) if order == "file" else sorted(run, reverse=order == "docid")
    docs.sort(key=lambda doc: -run[doc])
    kept = docs[:depth]
    unretrieved = [float(grade) for doc, grade in qrels.items() if doc not in kept]
    return Query([float(qrels[doc]) if doc in qrels else None for doc in kept], unretrieved, [run[doc] for doc in kept])


@pytest.mark.parametrize(("run", "word"), PRINTED, ids=[f"{run['id']}-{word}" for run, word in PRINTED])
def test_value_is_what_trec_eval_prints(run, word):
    (metric,) = parse(word)
    metric = replace(metric, judged_only=run.get("judged_only", False))
    for query, expected in run["values"][word].items():
        value = kernel_value(metric, ranked(query, depth=run.get("depth")), float(run.get("level", 1)))
        assert value == pytest.approx(expected, abs=FOUR_DECIMALS), query


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["id"])
def test_value_is_that_of_the_source(case):
    (metric,) = parse(case["measure"])
    if "queries" in case:
        queries = [Query(q["ranked"], q.get("unretrieved", []), q.get("scores", [])) for q in case["queries"]]
        expected = case["values"]
    else:
        queries = [ranked(query, case.get("order", "docid")) for query in case["values"]]
        expected = list(case["values"].values())
    values = [kernel_value(metric, query) for query in queries]
    assert values == pytest.approx(expected, abs=case["tolerance"], rel=0)
