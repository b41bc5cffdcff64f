"""Quantiles against SciPy and against closed forms, which are the better oracle near the middle."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_cli.inference.quantiles import normal_cdf, normal_quantile, t_quantile

LOWER_TAILS = (1e-15, 1e-10, 1e-6, 0.0005, 0.005, 0.025, 0.04, 0.05, 0.1, 0.25, 0.4, 0.49)


@pytest.mark.parametrize("p", LOWER_TAILS)
@pytest.mark.parametrize("df", [1, 1.5, 2, 3, 7, 29, 99, 199, 200, 201, 499, 6979, 10**5, 10**6])
def test_t_agrees_with_scipy(p: float, df: float) -> None:
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-12)


@given(p=st.floats(1e-12, 0.45), df=st.integers(1, 10**6))
def test_t_agrees_with_scipy_anywhere(p: float, df: int) -> None:
    # SciPy 1.17 itself is off by more than 1e-12 near the middle: 1.6e-9 at p = 0.4999, df = 4.
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-12)


@pytest.mark.parametrize("p", [*LOWER_TAILS, 0.4999])
def test_t_agrees_with_closed_forms(p: float) -> None:
    assert t_quantile(p, 1) == pytest.approx(-1 / math.tan(math.pi * p), rel=1e-11)
    assert t_quantile(p, 2) == pytest.approx((2 * p - 1) / math.sqrt(2 * p * (1 - p)), rel=1e-11)


@pytest.mark.parametrize("p", [0.1, 0.25, 0.4, 0.49, 0.499, 0.4999])
def test_four_degrees_near_the_middle_agree_with_the_closed_distribution(p: float) -> None:
    t = -t_quantile(p, 4)
    square = 1 + t * t / 4
    assert 3 / 8 * t / math.sqrt(square) * (1 - t * t / (12 * square)) == pytest.approx(0.5 - p, rel=2e-12)


@given(p=st.floats(0.001, 0.999), df=st.integers(1, 1000))
def test_t_is_symmetric(p: float, df: int) -> None:
    assert t_quantile(p, df) == pytest.approx(-t_quantile(1 - p, df), rel=1e-9, abs=1e-12)


def test_the_median_of_t_is_exactly_zero() -> None:
    assert t_quantile(0.5, 7) == 0.0


@given(p=st.floats(0.001, 0.49), df=st.integers(1, 10**5))
def test_t_lies_beyond_the_normal_quantile_and_nears_it(p: float, df: int) -> None:
    assert t_quantile(p, df) < t_quantile(p, 2 * df) < normal_quantile(p)


@pytest.mark.parametrize(("p", "df"), [(0.0, 5), (1.0, 5), (-0.1, 5), (math.nan, 5), (0.1, 0), (0.1, math.nan)])
def test_t_refuses_what_is_no_probability(p: float, df: float) -> None:
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(p, df)


@pytest.mark.parametrize("p", [1e-10, 0.025, 0.5, 0.9, 0.975])
def test_normal_agrees_with_scipy(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-12, abs=1e-15)
    assert normal_cdf(normal_quantile(p)) == pytest.approx(p, rel=1e-9)
