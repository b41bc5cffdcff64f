"""Aggregation, intervals and results, against SciPy, golden values of other tools and slow twins."""

import math
import statistics
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_cli.inference import aggregate, interval, summarize
from rankeval_cli.inference.intervals import bca, percentile, t_interval, wilson
from rankeval_cli.inference.resampling import resample
from rankeval_cli.measures.spec import Measure, Metric
from rankeval_cli.model import Interval, Rules, Scores


def metric(name: str = "share", **declared: Any) -> Metric:
    """A measure of which only the declaration matters here."""
    measure = Measure(name, name, "", "", kernel=lambda ranking, k, level, params: 0.0, **declared)
    return Metric(measure, name, name)


SHARE = metric()
HIT = metric("hit", is_binary=lambda metric: True)
COUNT = metric("count", aggregate="sum", bounds=(0.0, math.inf))
GEOMETRIC = metric("gm", aggregate="geometric")
RANK = metric("rank", bounds=(1.0, math.inf), direction="lower")

# golden `stats-paired`, system A (SciPy 1.17.1; the bootstrap with 9,999 resamples of another stream)
SYSTEM_A = np.array([0.794, 0.563, 0.336, 0.782, 0.405, 0.448, 0.377, 0.731, 0.598, 0.743, 0.56, 0.505])

# golden `rankereval-ci-n30-*` (rankereval 0.2.0, NumPy's global stream)
THIRTY = np.array(
    [
        *(0.5741, 0.3322, 0.5161, 0.3518, 0.2748, 0.5381, 0.1065, 0.7901, 0.8184, 0.5918),
        *(0.8324, 0.1109, 0.3742, 0.8289, 0.6082, 0.7514, 0.1518, 0.3679, 0.2363, 0.6683),
        *(0.6625, 0.1044, 0.3599, 0.6151, 0.742, 0.5582, 0.3365, 0.0879, 0.2725, 0.2496),
    ]
)

Z2 = 1.959963984540054**2  # Wilson's interval of 0 of n ends at z² / (n + z²)

unit = st.floats(0, 1)
some_values = st.lists(unit, min_size=1, max_size=30)


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def scores_of(*rows: tuple[Metric, list[float]], propagate: bool = False) -> Scores:
    num_queries = len(rows[0][1])
    return Scores(
        queries=[f"q{place}" for place in range(num_queries)],
        metrics=tuple(metric for metric, _ in rows),
        values=np.array([values for _, values in rows], dtype=np.float64).reshape(len(rows), num_queries),
        undefined=tuple(sum(value != value for value in values) for _, values in rows),
        propagate=(propagate,) * len(rows),
    )


# --- aggregate ---------------------------------------------------------------------------------------------------


@given(values=some_values)
def test_the_mean_is_the_exact_sum_divided_once(values: list[float]) -> None:
    exact = float(sum(map(Fraction, values)))
    assert aggregate(np.array(values), SHARE, Rules()) == exact / len(values)


@given(values=some_values, how=st.sampled_from(["median", "min", "max"]))
def test_other_aggregates_are_those_of_the_standard_library(values: list[float], how: Any) -> None:
    twin = {"median": statistics.median, "min": min, "max": max}[how]
    assert aggregate(np.array(values), SHARE, Rules(aggregate=how)) == twin(values)


@given(values=some_values, gaps=st.integers(1, 3))
def test_undefined_values_are_left_out(values: list[float], gaps: int) -> None:
    holed = np.array([math.nan] * gaps + values)
    for rules in (Rules(), Rules(aggregate="median"), Rules(aggregate="min")):
        for one in (SHARE, COUNT, GEOMETRIC):
            assert aggregate(holed, one, rules) == aggregate(np.array(values), one, rules)


@pytest.mark.parametrize("how", ["mean", "median", "min", "max"])
def test_aggregate_acts_on_means_only(how: Any) -> None:
    values, rules = array(1.0, 2.0, 6.0, 7.0), Rules(aggregate=how)
    assert aggregate(values, COUNT, rules) == 16.0
    assert aggregate(values, GEOMETRIC, rules) == pytest.approx(84.0**0.25)


def test_the_floor_of_geometric_means_applies_in_the_mean() -> None:
    assert aggregate(array(0.0, 0.1), GEOMETRIC, Rules()) == pytest.approx(math.sqrt(1e-5 * 0.1))
    assert summarize(scores_of((GEOMETRIC, [0.0, 0.1])), Rules())[0].std == pytest.approx(statistics.stdev([0.0, 0.1]))


@pytest.mark.parametrize("one", [SHARE, COUNT, GEOMETRIC], ids=lambda one: one.canonical)
@pytest.mark.parametrize("values", [[], [math.nan, math.nan]], ids=["no query", "all undefined"])
def test_no_value_gives_nan(one: Metric, values: list[float]) -> None:
    assert math.isnan(aggregate(np.array(values), one, Rules()))


def test_an_undefined_value_propagates_only_when_asked() -> None:
    assert math.isnan(aggregate(array(0.5, math.nan), SHARE, Rules(), propagate=True))
    assert aggregate(array(0.5, math.nan), SHARE, Rules(), propagate=False) == 0.5
    assert aggregate(array(0.5, 0.7), SHARE, Rules(), propagate=True) == 0.6


# --- the methods -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("confidence", "ends"),
    [
        pytest.param(0.95, (0.46695945893048085, 0.6733738744028523), id="95%"),
        pytest.param(0.90, (0.4859551685998039, 0.6543781647335293), id="90%"),
    ],
)
def test_t_gives_the_golden_interval(confidence: float, ends: tuple[float, float]) -> None:
    found = interval(SYSTEM_A, SHARE, Rules(confidence=confidence))
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-12)
    assert (found.method, found.note) == ("t", None)


@given(
    values=st.lists(unit, min_size=2, max_size=30).filter(lambda x: max(x) - min(x) > 1e-3), level=st.floats(0.5, 0.999)
)
def test_t_agrees_with_scipy(values: list[float], level: float) -> None:
    twin = stats.t.interval(level, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    assert t_interval(values, level) == pytest.approx(twin, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("n", [1, 2, 10, 43])
def test_wilson_agrees_with_scipy(n: int, confidence: float) -> None:
    for successes in range(n + 1):
        twin = stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
        assert wilson(successes, n, confidence) == pytest.approx((twin.low, twin.high), rel=1e-12, abs=1e-15)


@given(n=st.integers(1, 10**5), share=unit, confidence=st.floats(0.5, 0.9999))
def test_wilson_stays_within_0_and_1_and_holds_the_share(n: int, share: float, confidence: float) -> None:
    successes = round(share * n)
    low, high = wilson(successes, n, confidence)
    assert 0.0 <= low <= successes / n <= high <= 1.0
    assert (low == 0.0) == (successes == 0)
    assert (high == 1.0) == (successes == n)


@pytest.mark.parametrize(
    ("confidence", "resamples", "ends"),
    [
        pytest.param(0.95, 1000, (0.37368433333333334, 0.5432937500000001), id="95%"),
        pytest.param(0.90, 1000, (0.3892265000000001, 0.5292678333333334), id="90%"),
        pytest.param(0.95, 10_000, (0.3749561666666667, 0.5449738333333333), id="95% of 10,000"),
    ],
)
def test_bootstrap_agrees_with_rankereval(confidence: float, resamples: int, ends: tuple[float, float]) -> None:
    found = interval(THIRTY, SHARE, Rules(ci="bootstrap", confidence=confidence, resamples=resamples))
    assert (found.low, found.high) == pytest.approx(ends, abs=0.02)  # the tolerance of the golden file: another stream


def test_bootstrap_of_two_queries_spans_both() -> None:
    found = interval(array(0.5, 1.0), SHARE, Rules(ci="bootstrap"))
    assert found == Interval(0.5, 1.0, "bootstrap")  # golden `rankereval-ci-n2`: exact for any seed


@pytest.mark.parametrize(
    ("ci", "ends"),
    [
        pytest.param("bootstrap", (0.4841666666666667, 0.6590041666666665), id="percentile"),
        pytest.param("bca", (0.4852609848669894, 0.6601542331340114), id="bca"),
    ],
)
def test_bootstrap_gives_the_golden_interval(ci: Any, ends: tuple[float, float]) -> None:
    found = interval(SYSTEM_A, SHARE, Rules(ci=ci, resamples=9999))
    assert (found.low, found.high) == pytest.approx(ends, abs=0.01)  # Monte-Carlo, another stream


@given(
    values=st.lists(st.floats(0.01, 1) | st.sampled_from([0.25, 0.5, 1.0]), min_size=3, max_size=15).filter(
        lambda x: max(x) - min(x) > 0.1
    ),
    confidence=st.sampled_from([0.8, 0.95]),
)
def test_bca_agrees_with_scipy_on_the_same_resamples(values: list[float], confidence: float) -> None:
    replicates = resample(np.array([values]), [False], 200, seed=0)[0]
    # SciPy counts exact ties only, so ties up to rounding are made exact for it.
    replicates[np.isclose(replicates, np.mean(values), rtol=1e-12, atol=0)] = np.mean(values)
    ends = bca(values, sorted(replicates.tolist()), confidence)
    before = stats.bootstrap((values,), np.mean, n_resamples=2, method="percentile", vectorized=True)
    before.bootstrap_distribution = replicates
    twin = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=0,
        method="BCa",
        vectorized=True,
        confidence_level=confidence,
        bootstrap_result=before,
    ).confidence_interval
    assert ends == pytest.approx((twin.low, twin.high), abs=1e-9)


def test_ties_count_half_in_the_bias_of_bca() -> None:
    # A symmetric sample without skewness, and replicates balanced around its mean: nothing to correct.
    values, replicates = [0.0, 0.5, 1.0], [0.2, 0.4, 0.5, 0.5 + 1e-16, 0.5 - 1e-16, 0.6, 0.8]
    assert bca(values, replicates, 0.8) == pytest.approx(percentile(replicates, 0.8))


def test_bca_is_undefined_when_all_replicates_lie_on_one_side() -> None:
    assert bca([0.0, 1.0], [0.6, 0.7, 0.8], 0.95) is None


def test_bca_is_undefined_when_the_adjusted_level_turns_back() -> None:
    values = [0.0] * 40 + [1.0]
    replicates = sorted([0.0] * 30 + [0.5] * 70)
    assert bca(values, replicates, 1 - 1e-12) is None


def test_bca_that_is_undefined_falls_back_to_t_and_says_so() -> None:
    values, above = array(0.2, 0.3, 0.7), np.full(10, 0.6)
    found = interval(values, SHARE, Rules(ci="bca"), replicates=above)
    assert found == replace(interval(values, SHARE, Rules(ci="t")), note="bca is undefined here, so this is t")


def test_bca_bears_values_of_any_size() -> None:
    tiny = interval(SYSTEM_A * 1e-200, SHARE, Rules(ci="bca"))
    plain = interval(SYSTEM_A, SHARE, Rules(ci="bca"))
    assert (tiny.low * 1e200, tiny.high * 1e200) == pytest.approx((plain.low, plain.high))


# --- which method ------------------------------------------------------------------------------------------------

NOT_BINARY = "wilson is for measures that are 0 or 1 for each query"
BCA_MEDIAN = "bca is not for the median, so this is bootstrap"


@pytest.mark.parametrize(
    ("one", "ci", "how", "method", "note"),
    [
        pytest.param(SHARE, "auto", "mean", "t", None, id="auto"),
        pytest.param(HIT, "auto", "mean", "wilson", None, id="auto of a measure that is 0 or 1"),
        pytest.param(SHARE, "t", "mean", "t", None, id="t"),
        pytest.param(HIT, "t", "mean", "t", None, id="t of a measure that is 0 or 1"),
        pytest.param(HIT, "wilson", "mean", "wilson", None, id="wilson"),
        pytest.param(SHARE, "wilson", "mean", None, NOT_BINARY, id="wilson where values are not 0 or 1"),
        pytest.param(SHARE, "bootstrap", "mean", "bootstrap", None, id="bootstrap"),
        pytest.param(HIT, "bootstrap", "mean", "bootstrap", None, id="bootstrap of 0 or 1"),
        pytest.param(SHARE, "bca", "mean", "bca", None, id="bca"),
        pytest.param(SHARE, "none", "mean", None, "none asked", id="none"),
        pytest.param(COUNT, "auto", "mean", None, "a sum has no interval", id="sum"),
        pytest.param(COUNT, "bootstrap", "median", None, "a sum has no interval", id="sum, whatever is asked"),
        pytest.param(SHARE, "auto", "median", "bootstrap", None, id="median"),
        pytest.param(HIT, "auto", "median", "bootstrap", None, id="median of 0 or 1"),
        pytest.param(SHARE, "bootstrap", "median", "bootstrap", None, id="bootstrap of the median"),
        pytest.param(SHARE, "bca", "median", "bootstrap", BCA_MEDIAN, id="bca of the median"),
        pytest.param(SHARE, "t", "median", None, "t is for the mean, not the median", id="t of the median"),
        pytest.param(
            HIT, "wilson", "median", None, "wilson is for the mean, not the median", id="wilson of the median"
        ),
        pytest.param(SHARE, "auto", "min", None, "no interval for the min over queries", id="min"),
        pytest.param(SHARE, "bca", "max", None, "no interval for the max over queries", id="max"),
        pytest.param(GEOMETRIC, "auto", "mean", "t", None, id="geometric"),
        pytest.param(GEOMETRIC, "auto", "median", "t", None, id="geometric is not moved by --aggregate"),
        pytest.param(GEOMETRIC, "bca", "mean", "bca", None, id="bca of a geometric mean"),
    ],
)
def test_the_method_follows_from_measure_and_rules(one: Metric, ci: Any, how: Any, method: str, note: str) -> None:
    found = interval(array(0, 1, 1, 0, 1, 1, 0, 0, 1), one, Rules(ci=ci, aggregate=how))
    assert (found.method, found.note) == (method, note)
    assert (found.low is None) == (found.high is None) == (method is None)


@pytest.mark.parametrize("ci", ["auto", "t", "bootstrap", "bca"])
@pytest.mark.parametrize(
    ("values", "note"),
    [
        pytest.param([], "no query has a value", id="no query"),
        pytest.param([math.nan], "no query has a value", id="undefined"),
        pytest.param([0.5], "one query", id="one query"),
        pytest.param([0.5, math.nan], "one query", id="one defined"),
        pytest.param([0.5, 0.5, 0.5], "every query has the same value", id="equal"),
        pytest.param([0.0, 0.0], "every query has the same value", id="zeros"),
        pytest.param([0.1 + 0.2, 0.3], "every query has the same value", id="equal up to rounding"),
    ],
)
def test_values_without_spread_have_no_interval(values: list[float], note: str, ci: Any) -> None:
    assert interval(np.array(values), SHARE, Rules(ci=ci)) == Interval(None, None, None, note)


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        pytest.param([0.0], 0.0, Z2 / (1 + Z2), id="one miss"),
        pytest.param([1.0, 1.0, 1.0], 3 / (3 + Z2), 1.0, id="all hits"),
        pytest.param([1.0, math.nan, 0.0], 0.0945312057342307, 0.9054687942657693, id="one undefined"),
    ],
)
def test_measures_of_0_or_1_have_an_interval_without_spread(values: list[float], low: float, high: float) -> None:
    found = interval(np.array(values), HIT, Rules())
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-12)
    assert found.method == "wilson"


@pytest.mark.parametrize("ci", ["t", "bootstrap"])
def test_geometric_means_get_the_interval_of_the_logarithms(ci: Any) -> None:
    values = array(0.0, 0.01, 0.2, 0.5, 0.9)
    logs = np.log(np.maximum(values, 1e-5))
    plain = interval(logs, metric(bounds=(-math.inf, math.inf)), Rules(ci=ci))
    found = interval(values, GEOMETRIC, Rules(ci=ci))
    assert (found.low, found.high) == pytest.approx((math.exp(plain.low), min(1.0, math.exp(plain.high))))
    assert found.low < aggregate(values, GEOMETRIC, Rules()) < found.high


def test_geometric_means_below_the_floor_have_no_spread() -> None:
    assert interval(array(0.0, 1e-6), GEOMETRIC, Rules()).note == "every query has the same value"
    assert interval(array(0.0, 1e-6), GEOMETRIC, Rules(ci="bca")).note == "every query has the same value"


def test_intervals_are_clipped_to_the_range_of_the_measure() -> None:
    assert interval(array(1.0, 0.5, 0.0, 0.0), SHARE, Rules()) == Interval(0.0, 1.0, "t")
    ranks = interval(array(1.0, 1.0, 9.0), RANK, Rules())
    assert ranks.low == 1.0
    assert 9.0 < ranks.high < math.inf


def test_values_too_large_for_a_double_have_no_interval() -> None:
    found = interval(array(1e308, 1.7e308, -1e308), metric(bounds=(-math.inf, math.inf)), Rules())
    assert found == Interval(None, None, None, "the values are too large")


def test_resamples_without_a_value_are_left_out() -> None:
    values = np.array([0.0, 1.0] + [math.nan] * 20)
    found = interval(values, SHARE, Rules(ci="bootstrap"))
    assert found == Interval(0.0, 1.0, "bootstrap")


def test_no_resample_with_a_value_leaves_no_interval() -> None:
    nothing = np.full(3, math.nan)
    assert interval(SYSTEM_A, SHARE, Rules(ci="bca"), nothing).note == "no resample has a value"


@given(values=st.lists(unit, min_size=2, max_size=20).filter(lambda x: max(x) > min(x) + 1e-6))
@pytest.mark.parametrize("ci", ["t", "bootstrap", "bca"])
def test_a_higher_confidence_is_never_narrower(ci: Any, values: list[float]) -> None:
    rules = Rules(ci=ci, resamples=100)
    narrow, wide = (interval(np.array(values), SHARE, replace(rules, confidence=level)) for level in (0.8, 0.99))
    if narrow.method == wide.method:
        assert wide.low <= narrow.low <= narrow.high <= wide.high


# --- summarize ---------------------------------------------------------------------------------------------------


def test_a_result_holds_value_interval_deviation_and_counts() -> None:
    rows = (
        (SHARE, [1.0, 0.5, 0.0, 0.0, math.nan]),
        (HIT, [1.0, 1.0, 0.0, 0.0, 0.0]),
        (COUNT, [3.0, 2.0, 0.0, 0.0, 1.0]),
    )
    share, hit, count = summarize(scores_of(*rows), Rules())
    assert (share.measure, share.value, share.ci_low, share.ci_high, share.ci_method) == ("share", 0.375, 0.0, 1.0, "t")
    assert share.std == pytest.approx(0.4787135538781691, rel=1e-15)
    assert (share.queries, share.undefined) == (4, 1)
    assert (hit.value, hit.ci_method, hit.queries) == (0.4, "wilson", 5)
    assert (count.value, count.ci_low, count.ci_note) == (6.0, None, "a sum has no interval")


@pytest.mark.parametrize(
    ("values", "propagate", "queries", "note"),
    [
        pytest.param([], False, 0, "no query has a value", id="no query"),
        pytest.param([math.nan, math.nan], False, 0, "no query has a value", id="all undefined"),
        pytest.param([0.5, 0.7, math.nan], True, 2, "the value itself is undefined", id="propagated"),
    ],
)
@pytest.mark.parametrize("ci", ["auto", "bootstrap", "none"])
def test_an_undefined_result_is_none(values: list[float], propagate: bool, queries: int, note: str, ci: Any) -> None:
    (result,) = summarize(scores_of((SHARE, values), propagate=propagate), Rules(ci=ci))
    assert (result.value, result.std, result.ci_low, result.ci_high, result.ci_method) == (None,) * 5
    assert result.queries == queries
    assert result.ci_note == ("none asked" if ci == "none" and not queries else note)


def test_one_query_has_a_value_but_no_deviation() -> None:
    (result,) = summarize(scores_of((SHARE, [0.5, math.nan])), Rules())
    assert (result.value, result.std, result.ci_note) == (0.5, None, "one query")


@pytest.mark.parametrize("ci", ["bootstrap", "bca"])
def test_a_measure_has_the_same_interval_alone_and_among_others(ci: Any) -> None:
    rows = [(SHARE, THIRTY.tolist()), (COUNT, [2.0] * 30), (GEOMETRIC, THIRTY.tolist()), (RANK, (1 / THIRTY).tolist())]
    together = summarize(scores_of(*rows), Rules(ci=ci))
    alone = [summarize(scores_of(row), Rules(ci=ci))[0] for row in rows]
    assert list(together) == alone


@pytest.mark.parametrize("ci", ["bootstrap", "bca"])
def test_the_seed_alone_decides_the_interval(ci: Any) -> None:
    scores = scores_of((SHARE, THIRTY.tolist()))
    first = summarize(scores, Rules(ci=ci, seed=5))
    np.random.seed(1)  # the global stream must not matter
    assert summarize(scores, Rules(ci=ci, seed=5)) == first
    assert summarize(scores, Rules(ci=ci, seed=6)) != first


def test_the_bootstrap_interval_of_a_seed_is_this_one() -> None:
    """Written down: it must be the same on every machine, to the last bit."""
    (result,) = summarize(scores_of((SHARE, THIRTY.tolist())), Rules(ci="bootstrap"))
    assert (result.ci_low, result.ci_high) == (0.38118916666666663, 0.5468653333333333)


def test_no_interval_loads_scipy() -> None:
    program = (
        "import sys; import numpy as np; from rankeval_cli.inference import interval\n"
        "from rankeval_cli.measures.spec import Measure, Metric; from rankeval_cli.model import Rules\n"
        "metric = Metric(Measure('x', '', '', '', kernel=None), 'x', 'x')\n"
        "for ci in ('t', 'bootstrap', 'bca'):\n"
        "    assert interval(np.array([0.0, 0.3, 1.0]), metric, Rules(ci=ci)).method == ci\n"
        "print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
