"""Tail probabilities of the t, F, binomial and normal distributions, without SciPy (0.4 s to import)."""

from __future__ import annotations

import math

from rankeval_cli.inference.quantiles import beta_fraction, gamma_ratio, tail_and_slope

EXACT_COINS = 1000  # whole numbers of a thousand digits take 0.1 ms; of a million, hours


def t_tail(t: float, df: float) -> float:
    """The probability that a Student t value with `df` >= 1 degrees of freedom lies above `t`.

    Agrees with SciPy to 1e-12, relative, down to the smallest doubles. Raises ValueError where there is no answer.
    Source: Student 1908; see `quantiles.t_quantile`.
    """
    if not df >= 1.0 or math.isnan(t):
        raise ValueError(f"no t tail for t={t}, df={df}")
    if t <= 0.0:
        return 0.5 if t == 0.0 else 1.0 - t_tail(-t, df)
    if t > 1e150:  # its square would overflow
        return 0.0 if df > 1.0 or math.isinf(t) else 1.0 / (math.pi * t)
    return tail_and_slope(t, df)[0]


def f_tail(f: float, numerator: int, denominator: int) -> float:
    """The probability that an F value lies above `f` >= 0.

    numerator, denominator : degrees of freedom, 1 or more
    Agrees with SciPy to 1e-11, relative. Raises ValueError where there is no answer.
    Source: Fisher 1924; the tail as in Abramowitz & Stegun 26.6.2.
    """
    if not f >= 0.0 or numerator < 1 or denominator < 1:
        raise ValueError(f"no F tail for F={f}, {numerator} and {denominator} degrees of freedom")
    if numerator == 1:
        return 2.0 * t_tail(math.sqrt(f), denominator)
    if f == 0.0 or math.isinf(f):
        return 1.0 if f == 0.0 else 0.0
    a, b = denominator / 2.0, numerator / 2.0
    ratio = numerator * f / denominator
    x, y = 1.0 / (1.0 + ratio), ratio / (1.0 + ratio)
    front = math.exp(-a * math.log1p(ratio) + b * math.log(y) - _log_beta(numerator, a))
    if x <= a / (a + b):
        return front / beta_fraction(a, b, x, y)
    return 1.0 - front / beta_fraction(b, a, y, x)


def _log_beta(numerator: int, a: float) -> float:
    """ln B(a, numerator / 2), as a product: the difference of two large `lgamma` loses digits."""
    half, whole = (numerator % 2) / 2.0, numerator // 2
    start = math.log(gamma_ratio(a)) - math.log(math.sqrt(math.pi)) if half else 0.0
    first = 0 if half else 1  # Γ(k) has one factor less than Γ(k + 1/2) / Γ(1/2)
    above = [math.log(a + half + i) for i in range(whole)]
    below = [math.log(half + i) for i in range(first, whole)]
    return -math.fsum([start, *above, *(-value for value in below)])


def binomial_tail(successes: int, n: int) -> float:
    """The probability of at most `successes` of `n` >= 0 fair coins; rounded once for up to 1,000 coins."""
    if n > EXACT_COINS:
        return _tail_from_middle(successes, n)
    total, term = 0, 1
    for k in range(successes + 1):
        total += term
        term = term * (n - k) // (k + 1)
    return total / (1 << n)


def _tail_from_middle(successes: int, n: int) -> float:
    """The same for many coins: terms relative to the middle one, as far as a double holds them, over their sum.

    None of them cancels, and a million coins take some twenty thousand terms.
    """
    middle = n // 2
    below, term = [1.0], 1.0
    for k in range(middle, 0, -1):  # C(n, k - 1) = C(n, k) k / (n - k + 1)
        term *= k / (n - k + 1.0)
        if term == 0.0:
            break
        below.append(term)
    above = below[1 - n % 2 :]  # C(n, middle + 1 + i) is its mirror image; an even n has one middle
    part = [*below, *above[: successes - middle]] if successes >= middle else below[middle - successes :]
    return math.fsum(part) / math.fsum([*below, *above])


def normal_tails(z: float) -> float:
    """The probability that a standard normal value lies farther from 0 than `z`, on either side."""
    return math.erfc(abs(z) / math.sqrt(2.0))
