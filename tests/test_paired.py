"""Tests of two runs against SciPy, golden values of other tools, and slow twins."""

import itertools
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_cli.errors import UsageError
from rankeval_cli.inference import signflips
from rankeval_cli.inference.differences import Procedure, sample_of
from rankeval_cli.inference.paired import TESTS, PairedResult, compare, find_test
from rankeval_cli.inference.resampling import critical_value, draw_counts
from rankeval_cli.inference.studentized import bootstrap_test

GOLDEN: dict[str, Any] = json.loads((ROOT / "tests/golden/comparisons.json").read_text(encoding="utf-8"))
SCORES, EXPECTED = GOLDEN["paired"]["scores"], GOLDEN["paired"]["expected"]
PAIRWISE = [test.name for test in TESTS if test.decide]
WEIGHING = [test.name for test in TESTS if test.decide and test.takes_weights]

# Hundredths: differences are either 0, or far from it and from each other.
hundredths = st.integers(0, 100).map(lambda number: number / 100)
pairs = st.lists(st.tuples(hundredths, hundredths), min_size=2, max_size=60)


def compared(
    a: Sequence[float], b: Sequence[float], test: str = "t", weights: Sequence[float] | None = None, **given: Any
) -> PairedResult:
    """One measure of two runs."""
    bounds = given.pop("bounds", None)
    heavy = None if weights is None else np.array(weights, dtype=np.float64)
    rows = [np.array([side], dtype=np.float64) for side in (a, b)]
    return compare(rows[0], rows[1], Procedure(test, **given), bounds, heavy)[0]


def of_differences(differences: Sequence[float], test: str = "t", **given: Any) -> PairedResult:
    return compared([0.0] * len(differences), differences, test, **given)


def golden(test: str = "t", **given: Any) -> PairedResult:
    return compared(SCORES["A"], SCORES["B"], test, **given)


# --- the record


def test_record_of_the_golden_pair() -> None:
    result = golden()
    assert result.mean_a == statistics.fmean(SCORES["A"])
    assert result.mean_b == statistics.fmean(SCORES["B"])
    assert result.diff == pytest.approx(0.024, rel=1e-12)
    assert result.relative == pytest.approx(0.024 / statistics.fmean(SCORES["A"]), rel=1e-12)
    assert result.effect == pytest.approx(EXPECTED["cohens_dz"], rel=1e-9)
    assert (result.wins, result.ties, result.losses) == (7, 1, 4)
    assert (result.queries, result.undefined) == (12, 0)
    assert (result.note, result.ci_note) == (None, None)


@pytest.mark.parametrize("measure", ["ndcg@10", "mrr"])
@pytest.mark.parametrize(("a", "b"), list(itertools.permutations("ABC", 2)))
def test_agrees_with_ranx(measure: str, a: str, b: str) -> None:
    systems, published = GOLDEN["ranx"]["scores"], GOLDEN["ranx"]["p_values"]
    result = compared(systems[a][measure], systems[b][measure])
    counts = GOLDEN["ranx"]["win_tie_loss"][b][a][measure]
    assert result.p_value == pytest.approx(published["student"][a][b][measure], rel=1e-9)
    assert (result.wins, result.ties, result.losses) == (counts["W"], counts["T"], counts["L"])
    randomised = compared(systems[a][measure], systems[b][measure], "randomization")
    assert randomised.p_value == pytest.approx(published["fisher"][a][b][measure], abs=0.03)


@pytest.mark.parametrize(
    ("a", "b", "relative"),
    [
        ([0.2, 0.4], [0.3, 0.6], 0.5),
        ([0.0, 0.0], [0.5, 1.0], None),
        ([-0.2, -0.4], [-0.1, -0.2], 0.5),
        ([0.2, -0.2], [0.3, 0.3], None),
    ],
    ids=["share of the base", "no base", "negative base", "base that cancels"],
)
def test_relative_change(a: list[float], b: list[float], relative: float | None) -> None:
    assert compared(a, b).relative == (None if relative is None else pytest.approx(relative))


def test_undefined_queries_are_left_out_and_counted() -> None:
    nan = math.nan
    result = compared([nan, 0.1, 0.2, 0.3, nan], [0.5, 0.2, nan, 0.1, nan])
    assert result == replace(compared([0.1, 0.3], [0.2, 0.1]), undefined=3)


@pytest.mark.parametrize("name", WEIGHING)
def test_queries_of_no_weight_are_left_out_and_counted(name: str) -> None:
    result = compared([0.1, 0.9, 0.3, 0.4], [0.2, 0.1, 0.5, 0.3], name, weights=[2, 0, 1, 1])
    assert (result.queries, result.undefined) == (3, 1)
    assert result.diff == pytest.approx((2 * 0.1 + 0.2 - 0.1) / 4)
    assert result.mean_a == pytest.approx((2 * 0.1 + 0.3 + 0.4) / 4)
    assert result.mean_b == pytest.approx((2 * 0.2 + 0.5 + 0.3) / 4)


def test_values_that_differ_by_rounding_are_ties() -> None:
    result = compared([0.1, 0.3, 0.0, 0.0], [0.3 - 0.2, 0.1 + 0.2, 1e-9, 2e-9])
    assert (result.wins, result.ties, result.losses) == (1, 3, 0)


# --- every test


@pytest.mark.parametrize("name", PAIRWISE)
@given(values=pairs)
def test_p_lies_in_0_to_1_and_does_not_depend_on_the_direction(name: str, values: list[tuple[float, float]]) -> None:
    a, b = zip(*values, strict=True)
    there, back = (compared(*sides, name, resamples=99) for sides in ((a, b), (b, a)))
    assert there.p_value is None or 0 < there.p_value <= 1
    assert there.p_value == (back.p_value if back.p_value is None else pytest.approx(back.p_value, rel=1e-12))
    assert there.diff == -back.diff
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert there.wins + there.ties + there.losses == there.queries == len(values)


@pytest.mark.parametrize("name", PAIRWISE)
def test_identical_runs_have_p_1_and_an_interval_of_no_width(name: str) -> None:
    result = compared([0.1, 0.5, 0.9], [0.1, 0.5, 0.9 + 1e-12], name)
    assert (result.p_value, result.ci_low, result.ci_high) == (1.0, 0.0, 0.0)
    assert result.note == result.ci_note == "no query differs"
    assert result.effect is None


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize("b", [[0.1], [0.9]], ids=["equal", "better"])
def test_one_query_is_no_test(name: str, b: list[float]) -> None:
    result = compared([0.1], b, name)
    assert (result.p_value, result.ci_low, result.effect) == (None, None, None)
    assert result.note == result.ci_note == "one query"
    assert result.diff == pytest.approx(b[0] - 0.1)


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize("size", [0, 3])
def test_no_value_is_no_test(name: str, size: int) -> None:
    result = compared([math.nan] * size, [0.5] * size, name)
    assert (result.mean_a, result.mean_b, result.diff, result.relative, result.p_value) == (None,) * 5
    assert (result.queries, result.undefined, result.note) == (0, size, "no query has a value")


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize("b", [[math.inf, 1.0], [math.inf, math.inf], [1e308, -1e308]], ids=str)
def test_infinite_values_are_no_test(name: str, b: list[float]) -> None:
    result = compared([math.inf, 0.0] if b[0] == b[1] else [0.0, 0.0], b, name)
    assert (result.p_value, result.ci_low) == (None, None)
    assert result.note == "a value is infinite"


@pytest.mark.parametrize(
    ("name", "p_value"),
    [("t", None), ("randomization", 2**-11), ("bootstrap", None), ("wilcoxon", 2**-11), ("sign", 2**-11)],
)
def test_differences_that_are_all_the_same(name: str, p_value: float | None) -> None:
    result = compared(SCORES["A"], [value + 0.1 for value in SCORES["A"]], name)  # SciPy: t = 5e15, p = 8e-33
    reason = "every query differs by the same amount"
    assert (result.p_value, result.note) == (p_value, None if p_value else reason)
    assert (result.ci_low, result.ci_note, result.effect) == (None, reason, None)


@pytest.mark.parametrize("name", PAIRWISE)
def test_intervals_are_clipped_to_what_is_possible(name: str) -> None:
    a, b = [0.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]
    free, limited = (compared(a, b, name, bounds=bounds) for bounds in (None, [(0.0, 1.0)]))
    assert free.ci_high is not None
    assert free.ci_high > 1.0 == limited.ci_high
    assert limited.ci_low == free.ci_low
    assert compared(a, b, name, bounds=[(0.0, math.inf)]) == free


@pytest.mark.parametrize("name", PAIRWISE)
def test_the_interval_is_labelled_as_declared(name: str) -> None:
    assert golden(name).ci_method == find_test(name).interval


def test_measures_do_not_change_each_other() -> None:
    stream = np.random.default_rng(3)
    a, b = stream.uniform(size=(2, 3, 40)).round(2)
    a[1, 5] = b[2, 7] = math.nan
    for name in PAIRWISE:
        together = compare(a, b, Procedure(name, resamples=500))
        assert together == tuple(compare(a[[row]], b[[row]], Procedure(name, resamples=500))[0] for row in range(3))


@pytest.mark.parametrize("name", [test.name for test in TESTS if test.decide and test.is_random])
def test_the_seed_decides(name: str) -> None:
    a, b = np.random.default_rng(1).uniform(size=(2, 30))
    results = [compared(a, b, name, seed=seed, resamples=999) for seed in (0, 0, 1)]
    assert results[0] == results[1]
    assert results[0].p_value != results[2].p_value
    assert results[0].resamples == 999


@pytest.mark.parametrize("name", ["wilcoxon", "sign"])
def test_ranks_refuse_weights(name: str) -> None:
    result = golden(name, weights=[1.0] * 12)
    assert (result.p_value, result.note) == (None, f"{name} does not weigh queries")


@pytest.mark.parametrize("name", WEIGHING)
def test_equal_weights_change_nothing(name: str) -> None:
    plain, weighted = golden(name, resamples=500), golden(name, resamples=500, weights=[3.0] * 12)
    for field in ("mean_a", "mean_b", "diff", "relative", "ci_low", "ci_high", "p_value", "effect"):
        assert getattr(weighted, field) == pytest.approx(getattr(plain, field), rel=1e-9)


@pytest.mark.parametrize("name", WEIGHING)
def test_huge_and_tiny_weights_are_no_trouble(name: str) -> None:
    weights = [1.0, 2.0, 3.0] * 4
    expected = golden(name, weights=weights)
    for scale in (1e-300, 1e300):
        scaled = golden(name, weights=[weight * scale for weight in weights])
        assert scaled.p_value == pytest.approx(expected.p_value, rel=1e-9)
        assert scaled.ci_low == pytest.approx(expected.ci_low, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "found"),
    [(test.name, test.name) for test in TESTS]
    + [(alias.upper().replace("-", "_"), test.name) for test in TESTS for alias in test.aliases],
)
def test_tests_are_found_by_any_name(name: str, found: str) -> None:
    assert find_test(name).name == found


def test_names_of_tests_are_unique() -> None:
    names = [name for test in TESTS for name in (test.name, *test.aliases)]
    assert len(names) == len(set(names))


def test_unknown_tests_are_refused() -> None:
    with pytest.raises(UsageError, match="`wilcoxson` is not a test") as raised:
        golden("wilcoxson")
    assert raised.value.hint == "did you mean `wilcoxon`?"
    with pytest.raises(UsageError) as raised:
        golden("x")
    assert "choose one of t, randomization" in str(raised.value.hint)


def test_a_test_of_all_runs_is_refused_for_two() -> None:
    with pytest.raises(UsageError, match="`tukey` compares all runs at once"):
        golden("tukey")


# --- Student's t


def test_t_agrees_with_scipy_on_the_golden_pair() -> None:
    result = golden()
    assert result.p_value == pytest.approx(EXPECTED["t"]["p"], rel=1e-9)
    assert (result.ci_low, result.ci_high) == pytest.approx(EXPECTED["t"]["ci95"], rel=1e-9)
    assert result.p_value == pytest.approx(GOLDEN["toolkit"]["t"]["p_value"], rel=1e-9)


@pytest.mark.parametrize("size", [2, 3, 25, 1000])
@pytest.mark.parametrize("shift", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_t_agrees_with_scipy(size: int, shift: float, confidence: float) -> None:
    a, b = np.random.default_rng(size).normal(size=(2, size))
    result, expected = compared(a, b + shift, confidence=confidence), stats.ttest_rel(b + shift, a)
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert (result.ci_low, result.ci_high) == pytest.approx(tuple(expected.confidence_interval(confidence)), rel=1e-9)


@given(values=pairs, confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_t_interval_leaves_out_0_exactly_when_the_test_rejects(
    values: list[tuple[float, float]], confidence: float
) -> None:
    result = compared(*zip(*values, strict=True), confidence=confidence)
    if result.p_value is not None and result.ci_note is None and abs(result.p_value - (1 - confidence)) > 1e-9:
        assert result.ci_low is not None
        assert result.ci_high is not None
        assert (result.ci_low > 0 or result.ci_high < 0) == (result.p_value < 1 - confidence)


def test_weighted_t_agrees_with_robust_variance_written_out() -> None:
    # Least squares on a constant with weights: variance X'X^-1 X'diag(e^2 / (1 - h))X X'X^-1 (HC2).
    stream = np.random.default_rng(5)
    d, w = stream.normal(size=20), stream.uniform(0.1, 3.0, size=20)
    mean = (w * d).sum() / w.sum()
    leverage = w / w.sum()
    variance = (w**2 * (d - mean) ** 2 / (1 - leverage)).sum() / w.sum() ** 2
    degrees = w.sum() ** 2 / (w**2).sum() - 1
    result = of_differences(d, weights=w)
    assert result.p_value == pytest.approx(2 * stats.t.sf(abs(mean) / math.sqrt(variance), degrees), rel=1e-9)
    margin = stats.t.ppf(0.975, degrees) * math.sqrt(variance)
    assert (result.ci_low, result.ci_high) == pytest.approx((mean - margin, mean + margin), rel=1e-9)


@pytest.mark.parametrize("weights", [[1e20, 1, 1], [1, 1e-3, 1e-3]])
def test_t_needs_the_weight_of_two_queries(weights: list[float]) -> None:
    result = of_differences([0.1, 0.2, 0.4], weights=weights)
    assert (result.p_value, result.ci_low) == (None, None)
    assert result.note == result.ci_note == "one query has most of the weight"


# --- random signs


def naive_sign_flips(differences: Sequence[float]) -> Fraction:
    """The exact share of sign patterns with |sum| at least the observed one, in whole hundredths."""
    whole = [round(100 * d) for d in differences]
    sums = [
        sum(s * d for s, d in zip(signs, whole, strict=True)) for signs in itertools.product((1, -1), repeat=len(whole))
    ]
    return Fraction(sum(abs(total) >= abs(sum(whole)) for total in sums), len(sums))


@given(st.lists(hundredths.map(lambda x: x - 0.5), min_size=2, max_size=10))
def test_few_queries_are_counted_exactly(differences: list[float]) -> None:
    result = of_differences(differences, "randomization")
    assert result.p_value == float(naive_sign_flips(differences))
    assert result.resamples is None


def test_sign_flips_agree_with_scipy_and_toolkit_on_the_golden_pair() -> None:
    result = golden("randomization")
    assert (
        result.p_value == EXPECTED["randomization_exact_abs_mean"]["p"] == GOLDEN["toolkit"]["permutation"]["p_value"]
    )


@pytest.mark.parametrize(("resamples", "is_exact"), [(2047, False), (2048, True), (2049, True)])
def test_exact_when_the_patterns_are_no_more_than_the_resamples(resamples: int, is_exact: bool) -> None:
    result = golden("randomization", resamples=resamples)  # 11 queries differ
    assert (result.resamples is None) == is_exact
    assert (result.p_value == EXPECTED["randomization_exact_abs_mean"]["p"]) == is_exact


def naive_random_flips(differences: Sequence[float], resamples: int, seed: int) -> float:
    """(1 + hits) / (1 + resamples), a bit at a time: of each 64 queries a word a resample, its lowest bit the first."""
    stream = np.random.PCG64(seed)
    slack, observed, hits = 1e-12 * sum(map(abs, differences)), abs(sum(differences)), 0
    for start in range(0, resamples, signflips.BATCH):
        size = min(signflips.BATCH, resamples - start)
        words = [[int(word) for word in stream.random_raw(size)] for _ in range(0, len(differences), 64)]
        for place in range(size):
            bits = [words[query // 64][place] >> (query % 64) & 1 for query in range(len(differences))]
            total = sum(d if bit else -d for d, bit in zip(differences, bits, strict=True))
            hits += abs(total) >= observed - slack
    return (1 + hits) / (1 + resamples)


@pytest.mark.parametrize("size", [14, 63, 64, 65, 72, 130])
def test_random_flips_are_those_of_the_twin(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signflips, "BATCH", 400)
    differences = (np.random.default_rng(size).integers(-5, 7, size=size) / 10).tolist()
    result = of_differences(differences, "randomization", resamples=1000, seed=11)
    assert result.p_value == naive_random_flips(differences, 1000, 11)
    assert result.resamples == 1000


def test_random_flips_come_near_the_exact_value() -> None:
    differences = (np.random.default_rng(8).normal(0.3, 1.0, size=16)).round(2).tolist()
    exact = of_differences(differences, "randomization", resamples=2**16)
    drawn = of_differences(differences, "randomization", resamples=2**16 - 1)
    assert exact.resamples is None
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * math.sqrt(0.25 / 2**16))


def test_randomised_p_is_never_0() -> None:
    assert of_differences(np.linspace(0.5, 1.0, 50), "randomization", resamples=999).p_value == 1 / 1000


def test_sums_in_another_order_are_the_observed_one() -> None:
    # 2 of 8 patterns reach 0.6 in decimals; in doubles 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 are two numbers.
    assert of_differences([0.1, 0.2, 0.3], "randomization").p_value == 0.25
    assert of_differences([0.3, 0.2, 0.1], "randomization").p_value == 0.25


def test_weighted_flips_are_those_of_the_weighted_differences() -> None:
    differences, weights = [0.1, -0.3, 0.2, 0.4, 0.1], [1.0, 2.0, 4.0, 1.0, 3.0]
    result = of_differences(differences, "randomization", weights=weights)
    products = [weight * difference for weight, difference in zip(weights, differences, strict=True)]
    assert result.p_value == of_differences(products, "randomization").p_value


# --- bootstrap


def naive_t(values: Sequence[float], center: float) -> float:
    spread = statistics.stdev(values)
    return math.inf if spread < 1e-9 else (statistics.fmean(values) - center) / (spread / math.sqrt(len(values)))


def naive_bootstrap(differences: Sequence[float], resamples: int, seed: int) -> list[float]:
    """|t| of each resample of the differences shifted to mean 0."""
    mean, sizes = statistics.fmean(differences), []
    for batch in draw_counts(len(differences), resamples, seed):
        for counts in batch.astype(int):
            sizes.append(abs(naive_t(np.repeat(differences, counts).tolist(), mean)))
    return sizes


@pytest.mark.parametrize("size", [3, 12, 40])
def test_bootstrap_agrees_with_its_twin(size: int) -> None:
    differences = np.random.default_rng(size).normal(0.2, 1.0, size=size).tolist()
    sizes, observed = naive_bootstrap(differences, 999, 4), abs(naive_t(differences, 0.0))
    result = of_differences(differences, "bootstrap", resamples=999, seed=4, confidence=0.8)
    assert result.p_value == (1 + sum(size >= observed for size in sizes)) / 1000
    margin = sorted(sizes)[-200] * statistics.stdev(differences) / math.sqrt(size)
    mean = statistics.fmean(differences)
    assert (result.ci_low, result.ci_high) == pytest.approx((mean - margin, mean + margin), rel=1e-9)


def test_weighted_bootstrap_agrees_with_its_formula() -> None:
    stream = np.random.default_rng(2)
    d, w = stream.normal(0.2, 1.0, size=15), stream.uniform(0.5, 2.0, size=15)

    def mean_and_error(counts: np.ndarray, center: float) -> tuple[float, float]:
        heavy = counts * w
        mean = (heavy * (d - center)).sum() / heavy.sum()
        squares = (counts * w**2 * (d - center - mean) ** 2).sum()
        return mean, math.sqrt(15 / 14 * squares) / heavy.sum()

    mean, error = mean_and_error(np.ones(15), 0.0)
    drawn = [mean_and_error(counts, mean) for batch in draw_counts(15, 499, 0) for counts in batch]
    hits = sum(abs(m) / e >= abs(mean) / error for m, e in drawn)
    result = of_differences(d, "bootstrap", resamples=499, weights=w)
    assert result.p_value == (1 + hits) / 500


@given(values=pairs, confidence=st.sampled_from([0.5, 0.9, 0.95]), resamples=st.sampled_from([19, 99, 100]))
def test_bootstrap_interval_leaves_out_0_exactly_when_the_test_rejects(
    values: list[tuple[float, float]], confidence: float, resamples: int
) -> None:
    result = compared(*zip(*values, strict=True), "bootstrap", confidence=confidence, resamples=resamples)
    if result.ci_method == "bootstrap-t" and result.p_value is not None:
        assert result.ci_low is not None
        assert result.ci_high is not None
        is_outside = result.ci_low > 1e-12 or result.ci_high < -1e-12
        assert is_outside == (result.p_value <= 1 - confidence + 1e-12)


def test_undefined_queries_are_drawn_but_do_not_count_in_the_bootstrap() -> None:
    differences = np.random.default_rng(6).normal(0.3, 1.0, size=30)
    differences[::3] = math.nan
    kept = ~np.isnan(differences)
    there = differences[kept]
    sizes = []
    for counts in itertools.chain(*draw_counts(30, 199, 0)):
        sizes.append(abs(naive_t(np.repeat(there, counts.astype(int)[kept]).tolist(), there.mean())))
    result = of_differences(differences, "bootstrap", resamples=199)
    assert result.p_value == (1 + sum(size >= abs(naive_t(there.tolist(), 0.0)) for size in sizes)) / 200
    margin = sorted(sizes)[-10] * there.std(ddof=1) / math.sqrt(len(there))
    assert (result.ci_low, result.ci_high) == pytest.approx((there.mean() - margin, there.mean() + margin), rel=1e-9)


@pytest.mark.parametrize("name", ["randomization", "bootstrap"])
def test_rounding_does_not_change_what_is_a_hit(name: str) -> None:
    tenths = np.random.default_rng(12).integers(-3, 5, size=20)
    whole, parts = (of_differences(values, name, resamples=9999) for values in (tenths, tenths / 10))
    assert whole.p_value == parts.p_value


@pytest.mark.parametrize("queries", [3, 5, 10, 11, 24])
@pytest.mark.parametrize("size", [0.1, 0.5, 0.9])
def test_resamples_without_spread_never_make_p_smaller(queries: int, size: float) -> None:
    # One query differs: about a third of the resamples miss it, and have nothing but equal differences.
    result = of_differences([size] + [0.0] * (queries - 1), "bootstrap", resamples=999)
    assert result.p_value is not None
    assert result.p_value > 0.3
    assert result.ci_method == "t"
    assert result.ci_note == "too many resamples have no spread, so this is t"
    assert result.note is None


def test_too_few_resamples_give_the_t_interval() -> None:
    result = golden("bootstrap", resamples=18)
    assert (result.ci_method, result.ci_note) == ("t", "too few resamples for this confidence, so this is t")
    assert (result.ci_low, result.ci_high) == (golden().ci_low, golden().ci_high)


def test_bootstrap_interval_is_near_those_of_scipy() -> None:
    result = golden("bootstrap")
    assert (result.ci_low, result.ci_high) == pytest.approx(EXPECTED["bootstrap_mean_diff_ci95"]["BCa"], abs=0.02)


def test_bootstrap_of_nothing_but_constants_draws_nothing() -> None:
    sample = sample_of(np.zeros(3), np.ones(3))
    assert [outcome.p_value for outcome in bootstrap_test([sample], Procedure())] == [None]


@pytest.mark.parametrize(
    ("confidence", "expected"), [(0.9, 90.0), (0.95, 95.0), (0.99, 99.0), (0.995, None), (0.5, 50.0)]
)
def test_critical_value_is_the_largest_that_is_not_rejected(confidence: float, expected: float | None) -> None:
    sizes = np.arange(99.0)[::-1] + 1.0  # 99 of them: a size has p = (101 - size) / 100
    assert critical_value(sizes, confidence) == (None if expected is None else expected)


# --- signs and ranks


@pytest.mark.parametrize("size", [2, 5, 13, 14, 50, 51, 300])
@pytest.mark.parametrize("shift", [0.0, 0.2, 1.0])
def test_wilcoxon_agrees_with_scipy_without_ties(size: int, shift: float) -> None:
    differences = np.random.default_rng(size).normal(shift, 1.0, size=size)
    result = of_differences(differences, "wilcoxon")
    assert result.p_value == pytest.approx(stats.wilcoxon(differences).pvalue, rel=1e-12)


@pytest.mark.parametrize("size", [2, 5, 13, 14, 50, 300])
def test_wilcoxon_agrees_with_scipy_with_ties(size: int) -> None:
    differences = np.random.default_rng(size).choice([-3, -2, -1, 1, 2, 3, 4], size=size) / 4
    result = of_differences([*differences, 0.0, 0.0], "wilcoxon")
    assert result.p_value == pytest.approx(stats.wilcoxon(differences).pvalue, rel=1e-12)


def test_wilcoxon_agrees_with_scipy_on_the_golden_pair() -> None:
    assert golden("wilcoxon").p_value == EXPECTED["wilcoxon_zero_wilcox"]["p"]


def test_sizes_that_are_equal_but_for_rounding_share_their_rank() -> None:
    steps = [0.3 - 0.2, 0.2 - 0.1, 0.4 - 0.3, -(0.7 - 0.6), 0.5, 0.8]
    assert len({abs(step) for step in steps}) > 3
    rounded = [round(step, 3) for step in steps]
    assert of_differences(steps, "wilcoxon").p_value == of_differences(rounded, "wilcoxon").p_value


@given(wins=st.integers(0, 80), losses=st.integers(0, 80), ties=st.integers(0, 5))
def test_sign_test_agrees_with_scipy(wins: int, losses: int, ties: int) -> None:
    differences = [0.5] * wins + [-0.1] * losses + [0.0] * ties
    if wins + losses == 0 or len(differences) < 2:
        return
    expected = stats.binomtest(wins, wins + losses).pvalue
    assert of_differences(differences, "sign").p_value == pytest.approx(expected, rel=1e-12)


def test_sign_test_agrees_with_scipy_on_the_golden_pair() -> None:
    result = golden("sign")
    assert result.p_value == EXPECTED["sign"]["p"]
    assert (result.wins, result.losses) == (EXPECTED["sign"]["wins"], EXPECTED["sign"]["losses"])


def test_no_test_loads_scipy() -> None:
    script = (
        "import sys, numpy as np\n"
        "from rankeval_cli.inference.families import compare_runs\n"
        "from rankeval_cli.inference.paired import TESTS, Procedure\n"
        "for test in TESTS:\n"
        "    compare_runs(np.arange(12.0).reshape(2, 1, 6) % 5, Procedure(test.name, resamples=50))\n"
        "assert 'scipy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
