"""Weights of queries: weighted means, their intervals, and where weights are shown."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankeval_cli.errors import UsageError
from rankeval_cli.gates import Sides, decide, parse_gate
from rankeval_cli.inference import aggregate, interval, summarize
from rankeval_cli.inference.resampling import draw_counts, resample
from rankeval_cli.measures.expression import parse_all
from rankeval_cli.model import Coverage, Rules, RunReport, Scores, Source, Verdict

NAN = math.nan
RR, HIT, NUM_RET, GM_MAP = parse_all(["mrr", "hit@1", "num_ret", "gm_map"])
WEIGHTED = Rules(weights="weights.csv", resamples=200)
COVERAGE = Coverage(4, 4, 0, 0, 0, 10, 1.0, 0, 0, 0)
pairs = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9)), min_size=1, max_size=30)


def scores_of(rows: list[list[float]], weights: Any, metrics: tuple[Any, ...]) -> Scores:
    queries = [f"q{place}" for place in range(len(rows[0]))]
    values, heavy = np.array(rows, dtype=np.float64), np.array(weights, dtype=np.float64)
    return Scores(queries, metrics, values, (0,) * len(rows), (False,) * len(rows), heavy)


@given(pairs=pairs)
def test_the_mean_is_the_weighted_sum_over_the_sum_of_weights(pairs: list[tuple[float, int]]) -> None:
    values, heavy = np.array([x for x, _ in pairs]), np.array([float(w) for _, w in pairs])
    found = aggregate(values, RR, Rules(), weights=heavy)
    total = sum(w for _, w in pairs)
    if total == 0:
        assert math.isnan(found)
    else:
        exact = sum(Fraction(x) * w for x, w in pairs) / total
        assert found == pytest.approx(float(exact), rel=1e-15, abs=1e-300)


CASES: dict[str, tuple[list[float], list[float], float]] = {
    "as keras weighs two lists 1 to 3": ([1.0, 1 / 3], [1.0, 3.0], 0.5),
    "equal weights are no weights": ([0.5, 1.0], [7.0, 7.0], 0.75),
    "weight 0 drops a query": ([0.5, 1.0], [2.0, 0.0], 0.5),
    "a query of weight 0 may be undefined": ([0.5, NAN], [2.0, 0.0], 0.5),
    "an undefined value takes its weight along": ([0.5, NAN, 1.0], [1.0, 50.0, 3.0], 0.875),
    "huge weights": ([0.0, 1.0], [1.7e308, 1.7e308], 0.5),
    "tiny weights": ([0.0, 1.0], [5e-324, 5e-324], 0.5),
}


@pytest.mark.parametrize(("values", "heavy", "mean"), CASES.values(), ids=CASES)
def test_weighted_means(values: list[float], heavy: list[float], mean: float) -> None:
    assert aggregate(np.array(values), RR, Rules(), weights=np.array(heavy)) == pytest.approx(mean, rel=1e-15)


def test_a_geometric_mean_weighs_logarithms() -> None:
    found = aggregate(np.array([0.1, 1.0]), GM_MAP, Rules(), weights=np.array([3.0, 1.0]))
    assert found == pytest.approx(0.1**0.75, rel=1e-14)


def test_counts_are_summed_without_weights_and_without_queries_of_weight_0() -> None:
    assert aggregate(np.array([3.0, 4.0, 5.0]), NUM_RET, Rules(), weights=np.array([2.0, 0.5, 0.0])) == 7.0


def test_a_query_of_weight_0_does_not_propagate() -> None:
    heavy = np.array([1.0, 0.0])
    assert aggregate(np.array([0.5, NAN]), RR, Rules(), propagate=True, weights=heavy) == 0.5
    assert math.isnan(aggregate(np.array([0.5, NAN]), RR, Rules(), propagate=True, weights=np.array([1.0, 1.0])))


@pytest.mark.parametrize("aggregate", ["median", "min", "max"])
def test_other_aggregates_do_not_weigh(aggregate: Any) -> None:
    with pytest.raises(UsageError, match=f"weights .w.csv., and --aggregate {aggregate} does not weigh"):
        Rules(weights="w.csv", aggregate=aggregate)


# --- intervals ---------------------------------------------------------------------------------------------------

VALUES, HEAVY = np.array([0.0, 1.0, 0.5, 0.25, NAN]), np.array([1.0, 2.0, 0.0, 4.0, 3.0])


def test_resamples_are_ratios_over_queries_drawn_alike() -> None:
    found = resample(VALUES[None, :], [False], 50, 3, HEAVY[None, :])[0]
    for counts, mean in zip(np.concatenate(list(draw_counts(5, 50, 3))), found, strict=True):
        total = sum(c * w for c, w, x in zip(counts, HEAVY, VALUES, strict=True) if x == x)
        exact = sum(c * w * x for c, w, x in zip(counts, HEAVY, VALUES, strict=True) if x == x)
        assert math.isnan(mean) if total == 0 else mean == pytest.approx(exact / total, abs=1e-15)


def test_equal_weights_resample_as_none() -> None:
    plain = resample(VALUES[None, :], [False], 100, 0)
    assert resample(VALUES[None, :], [False], 100, 0, np.full((1, 5), 2.0)) == pytest.approx(plain, nan_ok=True)


METHODS = {
    "auto": ("bootstrap", None),
    "bootstrap": ("bootstrap", None),
    "bca": ("bootstrap", "bca is not for weighted means, so this is bootstrap"),
    "t": (None, "t is for means without weights"),
    "wilson": (None, "wilson is for means without weights"),
    "none": (None, "none asked"),
}


@pytest.mark.parametrize(("ci", "method", "note"), [(ci, *rest) for ci, rest in METHODS.items()], ids=METHODS)
def test_interval_methods_with_weights(ci: Any, method: str | None, note: str | None) -> None:
    found = interval(VALUES, HIT, Rules(ci=ci, resamples=200), weights=HEAVY)
    assert (found.method, found.note) == (method, note)


def test_one_query_of_weight_above_0_has_no_interval() -> None:
    assert interval(np.array([0.5, 1.0]), RR, WEIGHTED, weights=np.array([1.0, 0.0])).note == "one query"


def test_results_count_the_queries_that_weigh_and_share_resamples() -> None:
    scores = scores_of([[0.0, 1.0, 0.5, 0.25], [0.0, 1.0, 0.0, 1.0]], [1, 2, 0, 4], (RR, HIT))
    rr, hit = summarize(scores, WEIGHTED)
    assert (rr.value, rr.queries, hit.value) == (3 / 7, 3, 6 / 7)
    alone = interval(scores.values[1], HIT, WEIGHTED, weights=scores.weights)
    assert (hit.ci_low, hit.ci_high) == (alone.low, alone.high)
    assert rr.std == pytest.approx(np.std([0.0, 1.0, 0.25], ddof=1))


def test_each_measure_may_have_weights_of_its_own() -> None:
    scores = scores_of([[0.0, 1.0], [0.0, 1.0]], [[1, 3], [3, 1]], (RR, HIT))
    assert [result.value for result in summarize(scores, WEIGHTED)] == [0.75, 0.25]


def decided(text: str, scores: Scores, rules: Rules) -> Verdict:
    run = RunReport(Source("run", "run", "trec", 1), COVERAGE, summarize(scores, rules), scores)
    return decide(parse_gate(text), Sides(run, rules))


GATES = {
    "the mean": ("mrr >= 0.42", 3 / 7),
    "mean()": ("mean(mrr) >= 0.42", 3 / 7),
    "the median counts queries": ("median(mrr) >= 0.2", 0.25),
    "shares count queries": ("share(mrr > 0.1) >= 60%", 2 / 3),
}


@pytest.mark.parametrize(("text", "value"), GATES.values(), ids=GATES)
def test_gates_see_weights(text: str, value: float) -> None:
    scores = scores_of([[0.0, 1.0, 0.5, 0.25]], [1, 2, 0, 4], (RR,))
    verdict = decided(text, scores, WEIGHTED)
    assert verdict.value == pytest.approx(value, rel=1e-15)
    assert (verdict.passed, verdict.queries) == (True, 3)


def test_a_gate_on_the_end_of_an_interval_takes_the_weighted_one_under_ci_none() -> None:
    scores = scores_of([[0.0, 1.0, 0.5, 0.25]], [1, 2, 0, 4], (RR,))
    rules = Rules(weights="w", ci="none", resamples=200)
    verdict = decided("ci_low(mrr) >= 0", scores, rules)
    assert verdict.value == interval(scores.values[0], RR, WEIGHTED, weights=scores.weights).low
