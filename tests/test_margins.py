"""One-sided questions of gates, against SciPy and what they say at their ends."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_cli.inference.differences import Sample, sample_of
from rankeval_cli.inference.margins import OneSided, drop_p, least_p, lower_bound, noticeable_drop

SAME = "every query differs by the same amount"
hundredths = st.lists(st.integers(-100, 100).map(lambda number: number / 100), min_size=2, max_size=40)


def sample(differences: Sequence[float], weights: Sequence[float] | None = None) -> Sample:
    heavy = None if weights is None else np.array(weights)
    return sample_of(np.zeros(len(differences)), np.array(differences), heavy)


NORMAL = np.random.default_rng(0).normal(-0.1, 0.3, size=30).tolist()


@pytest.mark.parametrize("margin", [0.0, 0.05, 0.5])
def test_drop_agrees_with_scipy(margin: float) -> None:
    expected = stats.ttest_1samp(NORMAL, -margin, alternative="less").pvalue
    assert drop_p(sample(NORMAL), margin) == OneSided(pytest.approx(expected, rel=1e-10))


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_lower_bound_agrees_with_scipy(alpha: float) -> None:
    expected = stats.ttest_1samp(NORMAL, 0.0).confidence_interval(1 - 2 * alpha).low
    assert lower_bound(sample(NORMAL), alpha) == OneSided(pytest.approx(expected, rel=1e-10))


@given(differences=hundredths, margin=st.integers(0, 50).map(lambda number: number / 100 + 0.001))
def test_a_drop_is_not_both_certain_and_ruled_out(differences: list[float], margin: float) -> None:
    certain, bound = drop_p(sample(differences), margin).value, lower_bound(sample(differences)).value
    assert certain is not None
    assert not (certain <= 0.05 and bound is not None and bound > -margin)


@pytest.mark.parametrize("n", [3, 5, 10, 50, 1000])
def test_a_noticeable_drop_is_noticed_with_its_power(n: int) -> None:
    differences = np.random.default_rng(n).normal(size=n).tolist()
    drop = noticeable_drop(sample(differences)).value
    assert drop is not None
    shift = drop / (np.std(differences, ddof=1) / math.sqrt(n))
    power = stats.nct.sf(stats.t.ppf(0.95, n - 1), n - 1, shift)
    assert 0.8 <= power <= 0.81


def test_more_power_and_a_smaller_alpha_need_a_larger_drop() -> None:
    base = noticeable_drop(sample(NORMAL)).value
    assert base is not None
    assert noticeable_drop(sample(NORMAL), power=0.9).value > base
    assert noticeable_drop(sample(NORMAL), alpha=0.01).value > base


@pytest.mark.parametrize("n", [5, 50, 7000])
@pytest.mark.parametrize("differing", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [1e-6, 1.0])
def test_least_p_is_reached_by_equal_drops(n: int, differing: int, size: float) -> None:
    differences = [-size] * differing + [0.0] * (n - differing)
    least = least_p(sample(differences)).value
    assert least == pytest.approx(drop_p(sample(differences)).value, rel=1e-6)
    t = math.sqrt(differing * (n - 1) / (n - differing))
    assert least == pytest.approx(stats.t.sf(t, n - 1), rel=1e-9)


@given(differences=hundredths, margin=st.sampled_from([0.0, 0.01, 0.2]))
def test_no_drop_has_a_p_below_the_least(differences: list[float], margin: float) -> None:
    least, found = least_p(sample(differences)).value, drop_p(sample(differences), margin).value
    assert least is not None
    assert found is not None
    assert found >= least * (1 - 1e-9)


def test_three_of_fifty_queries_are_the_fewest_that_can_show_a_drop() -> None:
    found = [least_p(sample([-0.1 * (i + 1) for i in range(m)] + [0.0] * (50 - m))).value for m in (2, 3)]
    assert found == pytest.approx([0.0797, 0.0416], abs=1e-4)


def test_identical_runs() -> None:
    same = sample([0.0, 1e-12, 0.0])
    assert drop_p(same) == OneSided(1.0, "no query differs")
    assert drop_p(same, 0.1) == OneSided(1.0, "no query differs")
    assert lower_bound(same) == OneSided(0.0, "no query differs")
    assert noticeable_drop(same) == OneSided(None, "no query differs")
    assert least_p(same).value == 1.0


@pytest.mark.parametrize(
    ("n", "margin", "p_value", "bound"),
    [(5, 0.1, 1 / 32, -0.2), (5, 0.3, 1.0, -0.2), (4, 0.1, 1 / 16, None)],
    ids=["beyond the margin", "within the margin", "too few queries"],
)
def test_drops_that_are_all_the_same(n: int, margin: float, p_value: float, bound: float | None) -> None:
    same = sample([-0.2] * n)
    assert drop_p(same, margin) == OneSided(p_value, SAME)
    assert lower_bound(same) == OneSided(bound if bound is None else pytest.approx(bound), SAME)
    assert noticeable_drop(same) == OneSided(None, SAME)
    assert least_p(same) == OneSided(0.5**n, SAME)


def test_when_all_queries_differ_p_has_no_limit() -> None:
    assert least_p(sample([-0.1, -0.2])) == OneSided(0.0)


@pytest.mark.parametrize("ask", [drop_p, lower_bound, noticeable_drop, least_p])
@pytest.mark.parametrize(
    ("differences", "weights", "note"),
    [
        ([], None, "no query has a value"),
        ([math.nan], None, "no query has a value"),
        ([-0.5], None, "one query"),
        ([-math.inf, 0.1], None, "a value is infinite"),
        ([-0.5, 0.1, 0.0], [1e20, 1.0, 1.0], "one query has most of the weight"),
    ],
    ids=["nothing", "undefined", "one", "infinite", "one weighs"],
)
def test_what_has_no_answer(ask, differences: list[float], weights: list[float] | None, note: str) -> None:
    assert ask(sample(differences, weights)) == OneSided(None, note)


@pytest.mark.parametrize("ask", [drop_p, lower_bound, noticeable_drop, least_p])
def test_equal_weights_change_nothing(ask) -> None:
    differences = [-0.3, 0.1, 0.0, -0.4, 0.0]
    assert ask(sample(differences, [2.0] * 5)).value == pytest.approx(ask(sample(differences)).value, rel=1e-9)
