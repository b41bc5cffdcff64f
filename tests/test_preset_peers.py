"""Presets against the systems themselves, where they are installed: pytrec_eval and ir_measures on random data."""

import math
import random

import ir_measures
import pytest
import pytrec_eval

from rankeval_cli import evaluate

NUM_QUERIES = 20
LOGARITHMS = ("gm_map", "gm_bpref")  # values by query are logarithms there
Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def random_judgments(draw: random.Random) -> Grades:
    """Grades from -1 to 4; every query has one that is not negative, since pytrec_eval crashes without."""
    return {
        f"q{i}": {f"d{j}": draw.choice([-1, 0, 0, 0, 1, 1, 2, 4]) for j in draw.sample(range(40), draw.randint(1, 25))}
        | {"d40": draw.choice([0, 1])}
        for i in range(NUM_QUERIES)
    }


def random_run(draw: random.Random) -> Scores:
    """Scores with ties, some of which single precision alone makes; judged queries without results, and one more."""
    near = [1.0 + step * 1e-8 for step in range(12)]
    return {
        f"q{i}": {
            f"d{j}": draw.choice([*near, draw.random(), float(draw.randint(-3, 3))])
            for j in draw.sample(range(60), draw.randint(1, 45))
        }
        for i in range(NUM_QUERIES + 1)
        if i % 9
    }


def data(seed: int) -> tuple[Scores, Grades]:
    draw = random.Random(seed)
    return random_run(draw), random_judgments(draw)


def values_of(report, words):
    """measure -> query -> value, NaN where undefined."""
    found = report.to_dict(per_query=True)["runs"][0]["per_query"]
    return {
        word: {query: math.nan if own[word] is None else own[word] for query, own in found.items() if word in own}
        for word in words
    }


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_trec_eval9_gives_the_numbers_of_pytrec_eval(seed, level):
    run, qrels = data(seed)
    measures = pytrec_eval.supported_measures - {"runid", "relstring"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level).evaluate(run)
    words = sorted({name for found in theirs.values() for name in found})
    report = evaluate(run, qrels, words, preset="trec_eval9", relevance_level=level)
    ours = values_of(report, words)
    for word in words:
        expected = {query: found[word] for query, found in theirs.items()}
        mean = pytrec_eval.compute_aggregated_measure(word, list(expected.values()))
        if word in LOGARITHMS:
            expected = {query: math.exp(value) for query, value in expected.items()}
        assert ours[word] == pytest.approx(expected, rel=1e-12, abs=1e-15), word
        assert report[word] == pytest.approx(mean, rel=1e-12, abs=1e-15), word


IR_MEASURES = [
    "AP", "AP@5", "AP(rel=2)", "AP(judged_only=True)", "RR", "RR@3", "RR@20", "RR(rel=2)", "RR(rel=2)@5",
    "RR(judged_only=True)", "nDCG", "nDCG@1", "nDCG@10", "nDCG(gains={1:0,2:5})@10", "nDCG(judged_only=True)@10",
    "P@1", "P@5", "P@100", "P(rel=2)@5", "P(judged_only=True)@5", "R@5", "R(rel=2)@10", "Rprec", "Rprec(rel=2)",
    "Bpref", "Bpref(rel=2)", "infAP", "infAP(rel=2)", "SetP", "SetP(rel=2)", "SetR", "SetAP", "SetF", "SetF(beta=2.0)",
    "SetF(beta=0.5,rel=2)", "Success@1", "Success@10", "Success(rel=2)@5", "IPrec@0.0", "IPrec@0.3", "IPrec@0.7",
    "IPrec@1.0", "IPrec(rel=2)@0.5", "NumQ", "NumRel", "NumRet", "NumRet(rel=1)", "NumRelRet",
    "Judged", "Judged@3", "Judged@10",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_ir_measures_gives_the_numbers_of_ir_measures(seed):
    run, qrels = data(seed)
    report = evaluate(run, qrels, IR_MEASURES, preset="ir_measures")
    ours = values_of(report, IR_MEASURES)
    for word in IR_MEASURES:
        measure = ir_measures.parse_measure(word)  # one by one: beside judged_only=True it gives another NumRet
        means, by_query = ir_measures.calc([measure], qrels, run)
        expected = {found.query_id: found.value for found in by_query}
        assert ours[word] == pytest.approx(expected, rel=1e-12, abs=1e-15), word
        assert report[word] == pytest.approx(means[measure], rel=1e-12, abs=1e-15), word
