"""Tail probabilities against SciPy and, where SciPy is the weaker one, against closed forms."""

import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_cli.inference.quantiles import t_quantile
from rankeval_cli.inference.tails import binomial_tail, f_tail, normal_tails, t_tail

T_VALUES = (1e-3, 0.1, 0.5, 1.7, 1.74, 2.0, 3.0, 5.0, 12.0, 30.0, 100.0, 1e4)


@pytest.mark.parametrize("t", T_VALUES)
@pytest.mark.parametrize("df", [1, 1.5, 2, 3, 7, 24, 49, 199, 200, 499, 6979, 10**6])
def test_t_agrees_with_scipy_down_to_tiny_probabilities(t: float, df: float) -> None:
    expected = stats.t.sf(t, df)
    assert t_tail(t, df) == pytest.approx(expected, rel=1e-12 if expected > 1e-290 else 1e-6, abs=1e-320)
    assert t_tail(-t, df) == pytest.approx(stats.t.sf(-t, df), rel=1e-12)


@pytest.mark.parametrize("t", [1e-8, 1e-3, 1.0, 1e6, 1e149, 1e151, 1e200])
def test_t_agrees_with_the_closed_form_of_one_degree(t: float) -> None:
    expected = math.atan(1 / t) / math.pi if t > 1 else 0.5 - math.atan(t) / math.pi
    assert t_tail(t, 1) == pytest.approx(expected, rel=1e-13)


@given(p=st.floats(1e-100, 0.499), df=st.integers(1, 10**6))
def test_t_tail_undoes_the_quantile(p: float, df: int) -> None:
    assert t_tail(-t_quantile(p, df), df) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(("t", "expected"), [(0.0, 0.5), (-0.0, 0.5), (math.inf, 0.0), (-math.inf, 1.0)])
@pytest.mark.parametrize("df", [1, 30])
def test_t_at_its_ends(t: float, expected: float, df: float) -> None:
    assert t_tail(t, df) == expected


@pytest.mark.parametrize(("t", "df"), [(math.nan, 3), (1.0, 0), (1.0, math.nan)])
def test_t_refuses_what_has_no_answer(t: float, df: float) -> None:
    with pytest.raises(ValueError, match="no t tail"):
        t_tail(t, df)


@pytest.mark.parametrize("f", [1e-6, 0.01, 0.3, 0.99, 1.2, 2.0, 10.0, 1000.0])
@pytest.mark.parametrize("numerator", [1, 2, 3, 4, 9, 10, 128, 1000])
@pytest.mark.parametrize("denominator", [1, 2, 5, 22, 147, 6979, 69790])
def test_f_agrees_with_scipy(f: float, numerator: int, denominator: int) -> None:
    expected = stats.f.sf(f, numerator, denominator)
    assert f_tail(f, numerator, denominator) == pytest.approx(expected, rel=1e-11 if expected > 1e-290 else 1e-6)


@pytest.mark.parametrize("f", [1.2, 2.0, 10.0])
def test_f_agrees_with_the_closed_form_of_four_degrees(f: float) -> None:
    # I_x(a, 2) = x^a (1 + a (1 - x)); SciPy 1.17 is off by 1e-11 here.
    with localcontext(prec=40):
        x = 1 / (1 + 4 * Decimal(f) / 10**6)
        expected = float(x**500_000 * (1 + 500_000 * (1 - x)))
    assert f_tail(f, 4, 10**6) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("f", "expected"), [(0.0, 1.0), (math.inf, 0.0)])
@pytest.mark.parametrize("numerator", [1, 2, 3])
def test_f_at_its_ends(f: float, expected: float, numerator: int) -> None:
    assert f_tail(f, numerator, 10) == expected


@pytest.mark.parametrize(("f", "numerator", "denominator"), [(-1.0, 2, 2), (math.nan, 2, 2), (1.0, 0, 2), (1.0, 2, 0)])
def test_f_refuses_what_has_no_answer(f: float, numerator: int, denominator: int) -> None:
    with pytest.raises(ValueError, match="no F tail"):
        f_tail(f, numerator, denominator)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 11, 50, 51, 1000])
def test_coins_are_counted_exactly(n: int) -> None:
    counted = 0
    for successes in range(n + 1):
        counted += math.comb(n, successes)
        assert binomial_tail(successes, n) == counted / 2**n


@pytest.mark.parametrize("n", [1001, 1002])
def test_many_coins_agree_with_whole_numbers(n: int) -> None:
    counted = 0
    for successes in range(n + 1):
        counted += math.comb(n, successes)
        assert binomial_tail(successes, n) == pytest.approx(counted / 2**n, rel=1e-13)


def test_a_million_coins_agree_with_scipy() -> None:
    assert binomial_tail(499_000, 10**6) == pytest.approx(stats.binom.cdf(499_000, 10**6, 0.5), rel=1e-11)


@pytest.mark.parametrize("z", [-40.0, -6.0, -1.96, 0.0, 1.96, 6.0, 37.0])
def test_normal_tails_agree_with_scipy(z: float) -> None:
    assert normal_tails(z) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12, abs=1e-320)
