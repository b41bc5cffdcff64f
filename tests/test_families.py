"""Many runs at once, and corrections, against SciPy, golden values and slow twins."""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_cli.errors import UsageError
from rankeval_cli.inference import blocks
from rankeval_cli.inference.blocks import tukey, variance
from rankeval_cli.inference.differences import Procedure
from rankeval_cli.inference.families import CORRECTIONS, adjust, adjusted, compare_runs, find_correction
from rankeval_cli.inference.paired import TESTS, compare

GOLDEN: dict[str, Any] = json.loads((ROOT / "tests/golden/comparisons.json").read_text(encoding="utf-8"))["paired"]
EXPECTED = GOLDEN["expected"]
THREE = np.array([[GOLDEN["scores"][system]] for system in "ABC"])  # (runs, 1, Q)

TUKEY = Procedure("tukey")
p_values = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12)


# --- corrections


@pytest.mark.parametrize("name", ["bonferroni", "holm", "bh"])
def test_corrections_agree_with_golden_values(name: str) -> None:
    golden = EXPECTED["corrections_of"]
    assert adjust(golden["raw"], name) == pytest.approx(golden[name], rel=1e-12)


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_benjamini_hochberg_agrees_with_scipy(values: list[float]) -> None:
    assert adjust(values, "bh") == pytest.approx(stats.false_discovery_control(values).tolist(), rel=1e-12)


def naive_holm(values: list[float], level: float) -> set[int]:
    """The hypotheses that the step-down procedure rejects: smallest first, until one is not."""
    rejected: set[int] = set()
    for step, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        if values[place] * (len(values) - step) > level:
            break
        rejected.add(place)
    return rejected


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=8), level=st.floats(0.001, 0.999))
def test_holm_rejects_what_its_procedure_rejects(values: list[float], level: float) -> None:
    found = {place for place, value in enumerate(adjust(values, "holm")) if value is not None and value <= level}
    assert found == naive_holm(values, level)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("holm", [0.03, 0.06, 0.06, 0.02]),
        ("bonferroni", [0.04, 0.16, 0.12, 0.02]),
        ("bh", [0.02, 0.04, 0.04, 0.02]),
        ("none", [0.01, 0.04, 0.03, 0.005]),
    ],
)
def test_corrections_written_out(name: str, expected: list[float]) -> None:
    assert adjust([0.01, 0.04, 0.03, 0.005], name) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", [correction.name for correction in CORRECTIONS])
@given(values=p_values)
def test_corrected_values_are_monotone_capped_and_never_smaller(name: str, values: list[float | None]) -> None:
    found = adjust(values, name)
    assert [value is None for value in found] == [value is None for value in values]
    there = sorted((old, new) for old, new in zip(values, found, strict=True) if old is not None and new is not None)
    assert all(old <= new <= 1 for old, new in there)
    assert all(first[1] <= second[1] for first, second in itertools.pairwise(there))


@pytest.mark.parametrize("name", [correction.name for correction in CORRECTIONS])
def test_values_that_are_not_there_are_no_tests(name: str) -> None:
    first, missing, second = adjust([0.01, None, 0.04], name)
    assert missing is None
    assert [first, second] == adjust([0.01, 0.04], name)
    assert adjust([None], name) == [None]
    assert adjust([], name) == []
    assert adjust([0.03], name) == [0.03]


@pytest.mark.parametrize(
    ("name", "found"), [("HOLM", "holm"), ("fdr", "bh"), ("Benjamini_Hochberg", "bh"), ("none", "none")]
)
def test_corrections_are_found_by_any_name(name: str, found: str) -> None:
    assert find_correction(name).name == found


def test_unknown_corrections_are_refused() -> None:
    with pytest.raises(UsageError, match="`bonferoni` is not a correction") as raised:
        adjust([0.1], "bonferoni")
    assert raised.value.hint == "did you mean `bonferroni`?"
    with pytest.raises(UsageError) as raised:
        adjust([0.1], "x")
    assert raised.value.hint == "choose one of holm, bonferroni, bh, none"


def test_results_of_one_family_are_corrected_together() -> None:
    results = [row[0] for row in compare_runs(THREE)]
    assert adjusted(results, "holm") == pytest.approx(EXPECTED["corrections_of"]["holm"], rel=1e-9)


def test_tukey_is_never_corrected_again() -> None:
    results = [row[0] for row in compare_runs(THREE, TUKEY)]
    assert adjusted(results, "bonferroni") == [result.p_value for result in results]
    assert adjusted([], "holm") == []


# --- pairs of runs


@pytest.mark.parametrize("name", [test.name for test in TESTS if test.decide])
def test_pairs_are_compared_by_themselves(name: str) -> None:
    procedure = Procedure(name, resamples=200)
    found = compare_runs(THREE, procedure, bounds=[(0.0, 1.0)])
    expected = [compare(THREE[a], THREE[b], procedure, [(0.0, 1.0)]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert found == tuple(expected)
    assert compare_runs(THREE, procedure, [(2, 0)], [(0.0, 1.0)]) == (compare(THREE[2], THREE[0], procedure, [(0, 1)]),)


def test_weights_reach_every_pair() -> None:
    weights = np.arange(1.0, 13.0)
    found = compare_runs(THREE, Procedure(), [(0, 1)], weights=weights)
    assert found == (compare(THREE[0], THREE[1], weights=weights),)


# --- Tukey


def test_tukey_is_near_the_parametric_test_of_the_golden_values() -> None:
    found = compare_runs(THREE, TUKEY)
    expected = EXPECTED["tukey_hsd_two_way_blocked"]
    assert [row[0].p_value for row in found] == pytest.approx(
        [expected[pair] for pair in ("A-B", "A-C", "B-C")], abs=0.02
    )
    assert {(row[0].test, row[0].ci_method, row[0].resamples) for row in found} == {("tukey", "tukey", 10_000)}


def naive_tukey(values: np.ndarray, resamples: int, seed: int) -> list[float]:
    """The range of the means in each resample; values (runs, Q). A query's random words order its runs."""
    runs, num_queries = values.shape
    stream, low = np.random.PCG64(seed), (1 << (runs - 1).bit_length()) - 1
    sums = [[0.0] * runs for _ in range(resamples)]
    for query in range(num_queries):
        for place in range(resamples):
            words = [int(stream.random_raw()) & ~low for _ in range(runs)]
            order = sorted(range(runs), key=lambda run: words[run] | run)
            for run in range(runs):
                sums[place][run] += values[order[run], query] / num_queries
    return [max(row) - min(row) for row in sums]


@pytest.mark.parametrize("runs", [2, 3, 5])
def test_tukey_agrees_with_its_twin(runs: int) -> None:
    values = np.random.default_rng(runs).uniform(size=(runs, 12)) + np.linspace(0, 0.3, runs)[:, None]
    ranges = naive_tukey(values, 199, 6)
    found = tukey(values[None], Procedure("tukey", 0.9, 199, 6))[0]
    assert found.p_values is not None
    for a, b in itertools.product(range(runs), repeat=2):
        difference = abs(values[a].mean() - values[b].mean())
        hits = sum(size >= difference - 1e-12 for size in ranges)
        assert found.p_values[a, b] == pytest.approx((1 + hits) / 200, rel=1e-12)
    assert found.margin == pytest.approx(sorted(ranges)[-20], rel=1e-12)


def test_batches_share_the_stream_of_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).uniform(size=(1, 3, 10))
    monkeypatch.setattr(blocks, "BATCH_CELLS", 3 * 40)
    found = tukey(values, Procedure("tukey", resamples=100))[0]
    assert found.p_values is not None
    stream = np.random.PCG64(0)
    ranges = []
    for size in (40, 40, 20):
        sums = np.zeros((size, 3))
        for query in range(10):
            keys = (stream.random_raw(3 * size).reshape(size, 3) & ~np.uint64(3)) | np.arange(3, dtype=np.uint64)
            sums += values[0, :, query][np.argsort(keys, axis=1)] / 10
        ranges += (sums.max(axis=1) - sums.min(axis=1)).tolist()
    observed = abs(values[0, 0].mean() - values[0, 1].mean())
    assert found.p_values[0, 1] == (1 + sum(size >= observed - 1e-12 for size in ranges)) / 101


def test_tukey_of_two_runs_is_near_the_sign_flips() -> None:
    exact = compare_runs(THREE[:2], Procedure("randomization"))[0][0].p_value
    assert compare_runs(THREE[:2], TUKEY)[0][0].p_value == pytest.approx(exact, abs=0.02)


def test_simultaneous_intervals_leave_out_0_exactly_when_the_test_rejects() -> None:
    values = np.random.default_rng(4).normal(size=(6, 1, 20)) + np.linspace(0, 1.5, 6)[:, None, None]
    results = [row[0] for row in compare_runs(values, Procedure("tukey", resamples=999))]
    outside = [result.ci_low > 0 or result.ci_high < 0 for result in results]
    assert outside == [result.p_value <= 0.05 for result in results]
    assert 0 < sum(outside) < len(outside)
    assert len({round(result.ci_high - result.ci_low, 9) for result in results}) == 1


def test_measures_see_the_same_orders() -> None:
    stream = np.random.default_rng(9)
    values = stream.uniform(size=(2, 4, 15))
    together = tukey(values, Procedure("tukey", resamples=300))
    for measure, found in enumerate(together):
        alone = tukey(values[[measure]], Procedure("tukey", resamples=300))[0]
        assert np.array_equal(found.p_values, alone.p_values)
        assert found.margin == alone.margin


def test_tukey_leaves_out_queries_without_a_value_in_some_run() -> None:
    values = np.random.default_rng(1).uniform(size=(3, 1, 12))
    values[2, 0, 4] = math.nan
    results = compare_runs(values, Procedure("tukey", resamples=100), [(0, 1)])
    assert (results[0][0].queries, results[0][0].undefined) == (11, 1)
    kept = [query for query in range(12) if query != 4]
    assert results[0][0].diff == pytest.approx(values[1, 0, kept].mean() - values[0, 0, kept].mean())
    assert compare_runs(values, Procedure("t"), [(0, 1)])[0][0].queries == 12


def test_tukey_weighs_queries() -> None:
    values, weights = THREE.copy(), np.array([1.0] * 6 + [0.0] * 6)
    found = compare_runs(values, TUKEY, weights=weights)
    assert found[0][0].queries == tukey(values.transpose(1, 0, 2), TUKEY, weights)[0].queries == 6
    assert found[0][0].diff == pytest.approx((THREE[1, 0, :6] - THREE[0, 0, :6]).mean())
    # The same six queries, twice the weight: the orders are those of all twelve.
    assert compare_runs(values, TUKEY, weights=2 * weights) == found
    heavy = compare_runs(values, TUKEY, weights=np.arange(1.0, 13.0))[0][0]
    assert heavy.diff == pytest.approx(np.average(THREE[1, 0] - THREE[0, 0], weights=np.arange(1.0, 13.0)))


def test_rounding_does_not_change_what_is_a_hit() -> None:
    tenths = np.random.default_rng(12).integers(0, 4, size=(4, 1, 15))
    whole, parts = (compare_runs(values, Procedure("tukey", resamples=2000)) for values in (tenths * 1.0, tenths / 10))
    assert [row[0].p_value for row in whole] == [row[0].p_value for row in parts]


def test_runs_that_differ_nowhere_have_p_1() -> None:
    same = np.repeat(np.random.default_rng(2).uniform(size=(1, 1, 10)), 3, axis=0)
    for row in compare_runs(same, TUKEY):
        assert (row[0].p_value, row[0].ci_low, row[0].ci_high, row[0].note) == (1.0, 0.0, 0.0, "no query differs")
    found = tukey(same.transpose(1, 0, 2), TUKEY)[0]
    assert found.p_values is not None
    assert found.p_values.tolist() == np.ones((3, 3)).tolist()


def test_two_equal_runs_among_others_have_p_1() -> None:
    values = np.concatenate([THREE, THREE[:1]])
    result = compare_runs(values, TUKEY, [(0, 3)])[0][0]
    assert (result.p_value, result.ci_low, result.ci_high) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([[math.nan, 1.0], [1.0, math.nan], [0.5, 0.5]], "no query has a value"),
        ([[0.1, math.nan], [0.2, 0.3], [0.5, 0.5]], "one query"),
        ([[0.1, 0.2], [0.2, 0.4], [math.inf, 0.5]], "a value is infinite"),
    ],
    ids=["none", "one", "infinite"],
)
def test_what_allows_no_test_of_many_runs(values: list[list[float]], note: str) -> None:
    result = compare_runs(np.array(values)[:, None], TUKEY)[0][0]
    assert (result.p_value, result.ci_low, result.note) == (None, None, note)
    found = variance(np.array(values))
    assert (found.f, found.p_value, found.note) == (None, None, note)


def test_too_few_resamples_give_no_simultaneous_interval() -> None:
    result = compare_runs(THREE, Procedure("tukey", resamples=18))[0][0]
    assert result.p_value is not None
    assert (result.ci_low, result.ci_note) == (None, "too few resamples for this confidence")


# --- analysis of variance


def test_variance_agrees_with_golden_values() -> None:
    found = variance(THREE[:, 0])
    assert found.f == pytest.approx(EXPECTED["anova_two_way_F"], rel=1e-9)
    assert found.p_value == pytest.approx(EXPECTED["anova_two_way_p"], rel=1e-9)
    assert found.error == pytest.approx(EXPECTED["tukey_hsd_two_way_blocked"]["mse"], rel=1e-9)
    assert (found.runs_df, found.error_df, found.queries) == (2, 22, 12)


@pytest.mark.parametrize(("runs", "queries"), [(2, 2), (2, 30), (3, 50), (10, 7)])
def test_variance_agrees_with_least_squares(runs: int, queries: int) -> None:
    values = np.random.default_rng(runs).normal(size=(runs, queries)) + np.linspace(0, 0.5, runs)[:, None]
    blocks_only = np.kron(np.ones((runs, 1)), np.eye(queries))
    both = np.hstack([blocks_only, np.kron(np.eye(runs), np.ones((queries, 1)))])
    small, large = (
        np.sum((values.ravel() - x @ np.linalg.lstsq(x, values.ravel())[0]) ** 2) for x in (blocks_only, both)
    )
    df = (runs - 1) * (queries - 1)
    expected = (small - large) / (runs - 1) / (large / df)
    found = variance(values)
    assert found.f == pytest.approx(expected, rel=1e-9)
    assert found.p_value == pytest.approx(stats.f.sf(expected, runs - 1, df), rel=1e-9)


def test_variance_of_two_runs_is_the_t_test() -> None:
    found = variance(THREE[:2, 0])
    assert found.f == pytest.approx(EXPECTED["t"]["statistic"] ** 2, rel=1e-9)
    assert found.p_value == pytest.approx(EXPECTED["t"]["p"], rel=1e-9)


def test_variance_leaves_out_queries_without_a_value() -> None:
    values = THREE[:, 0].copy()
    values[1, 3] = math.nan
    assert variance(values) == variance(np.delete(values, 3, axis=1))


def test_variance_needs_something_left_over() -> None:
    found = variance(THREE[0] + np.array([[0.0], [0.1], [0.3]]))
    assert (found.f, found.p_value, found.error) == (None, None, 0.0)
    assert found.note == "the runs differ by the same amount everywhere"
