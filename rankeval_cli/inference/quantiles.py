"""Quantiles of the normal and of Student's t distribution, without SciPy (0.4 s to import)."""

from __future__ import annotations

import math
from functools import lru_cache

# Γ(a + 1/2) / (Γ(a) √a) as a series in 1/a (Tricomi & Erdélyi 1951). From a = 100 on the first term left out is below
# 1e-16, while the difference of two `lgamma` has lost seven digits at a = 5e5.
GAMMA_RATIO_SERIES = (1.0, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144, 869 / 4194304)
SERIES_FROM = 100.0

MAX_NEWTON_STEPS = 60
MAX_FRACTION_TERMS = 100_000


def normal_quantile(p: float) -> float:
    """The z below which a standard normal value lies with probability `p`, 0 < p < 1."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def normal_cdf(z: float) -> float:
    """The probability that a standard normal value lies below `z`."""
    from statistics import NormalDist

    return NormalDist().cdf(z)


@lru_cache(maxsize=256)
def t_quantile(p: float, df: float) -> float:
    """The t below which a Student t value with `df` degrees of freedom lies with probability `p`.

    p : 0 < p < 1; give the lower tail (0.025, not 0.975) where it is small, a double near 1 has lost it
    df : 1 or more
    Agrees with SciPy to 1e-12, relative, for df from 1 to 10^6. Raises ValueError outside these ranges.
    Source: Student 1908; the tail as in Abramowitz & Stegun 26.5.8 and 26.7.1.
    """
    if not (0.0 < p < 1.0 and df >= 1.0):
        raise ValueError(f"no t quantile for p={p}, df={df}")
    if p == 0.5:
        return 0.0
    return _upper_quantile(1.0 - p, df) if p > 0.5 else -_upper_quantile(p, df)


def _upper_quantile(q: float, df: float) -> float:
    """The t > 0 above which lies the probability q < 1/2: Newton's method on log tail over log t.

    That curve is concave, and nearly straight in both the normal and the polynomial part of the tail, so the normal
    quantile is start enough for every df.
    """
    t = -normal_quantile(q)
    for _ in range(MAX_NEWTON_STEPS):
        tail, slope = tail_and_slope(t, df)
        step = math.log(tail / q) * tail / slope
        t *= math.exp(step)
        if abs(step) < 1e-14:
            break
    return t


def tail_and_slope(t: float, df: float) -> tuple[float, float]:
    """The upper tail at t > 0, and t times the density there."""
    a, square = df / 2.0, t * t
    slope = math.exp(-a * math.log1p(square / df)) * t / math.sqrt(df + square) * gamma_ratio(a) / math.sqrt(math.pi)
    y = square / (df + square)
    if square < 3.0:
        return 0.5 - slope * _central_series(a, y), slope
    return 0.5 * slope / beta_fraction(a, 0.5, df / (df + square), y), slope


def gamma_ratio(a: float) -> float:
    """Γ(a + 1/2) / Γ(a)."""
    if a < SERIES_FROM:
        return math.gamma(a + 0.5) / math.gamma(a)
    return math.sqrt(a) * sum(term / a**power for power, term in enumerate(GAMMA_RATIO_SERIES))


def _central_series(a: float, y: float) -> float:
    """The hypergeometric series of I_y(1/2, a) (Abramowitz & Stegun 26.5.4): all terms positive, nothing cancels."""
    total = term = 1.0
    n = 0
    while term > 1e-17 * total:
        term *= (0.5 + a + n) / (1.5 + n) * y
        total += term
        n += 1
    return total


def beta_fraction(a: float, b: float, x: float, y: float) -> float:
    """The continued fraction under x^a y^b / B(a, b) that gives I_x(a, b), y = 1 - x, by Lentz's method.

    Quick where x is at most the mean a / (a + b). Source: DiDonato & Morris 1992 (TOMS 708, BFRAC). The better known
    fraction of Abramowitz & Stegun 26.5.8 subtracts x from 1 and loses five digits at df = 10^6.
    """
    value = c = _partial_denominator(0, a, b, x, y)
    d = 0.0
    for m in range(1, MAX_FRACTION_TERMS):
        numerator = (a + m - 1.0) * (a + b + m - 1.0) * m * (b - m) * (x / (a + 2 * m - 1.0)) ** 2
        denominator = _partial_denominator(m, a, b, x, y)
        d = 1.0 / (denominator + numerator * d)
        c = denominator + numerator / c
        change = c * d
        value *= change
        if abs(change - 1.0) < 3e-16:
            break
    return value


def _partial_denominator(m: int, a: float, b: float, x: float, y: float) -> float:
    first = m + m * (b - m) * x / (a + 2 * m - 1.0) if m else 0.0
    return first + (a + m) * (a * y - b * x + 1.0 + m * (1.0 + y)) / (a + 2 * m + 1.0)
