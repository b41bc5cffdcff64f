"""Confidence intervals of one measure: which method applies, and the methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rankeval_cli.inference.quantiles import normal_cdf, normal_quantile, t_quantile
from rankeval_cli.inference.resampling import linear_quantile, resample
from rankeval_cli.inference.statistic import Moments, defined, exact_sum, logarithms, moments_of, statistic_of
from rankeval_cli.model import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.inference.statistic import Numbers
    from rankeval_cli.measures.spec import Metric
    from rankeval_cli.model import Rules

Ends = tuple[float, float]

# Two ways to add the same numbers differ by less than this, relative; values nearer than this are the same value.
ROUNDING = 1e-12

NO_VALUE = "no query has a value"
ONE_QUERY = "one query"
NO_SPREAD = "every query has the same value"


def interval(
    values: NDArray[np.float64],
    metric: Metric,
    rules: Rules,
    replicates: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
    moments: Moments | None = None,
) -> Interval:
    """The confidence interval of a measure's value at `rules.confidence`, clipped to the measure's range.

    values : float64 (Q,), NaN where undefined
    replicates : float64 (resamples,), the statistic of each bootstrap resample on the scale of `on_scale`, NaN where a
        resample holds no value (left out); drawn here when a method needs them and none are given
    weights : float64 (Q,), 0 or more, or None; with weights the interval is that of the weighted mean
    moments : of the values that count, where they are known already
    Geometric means: the interval of the mean logarithm, its ends then raised to the measure's scale.
    There is none, with the reason in `note`, for sums, for the smallest and largest value, for a method that does not
    apply, and, except by Wilson's method, for one query or for equal values.
    """
    method, note = choose(metric, rules, weights is not None)
    if method is None:
        return _none(note)
    scaled = on_scale(values, metric)
    left = defined(scaled, weights)
    reason = _missing(method, left)
    if reason:
        return _none(reason)
    if method == "wilson":
        return _clipped(wilson(exact_sum(left), len(left), rules.confidence), method, note, metric)
    if method == "t":
        known = moments if scaled is values else None
        return _clipped(t_interval(left, rules.confidence, known), method, note, metric)
    if replicates is None:
        heavy = None if weights is None else weights[None, :]
        replicates = resample(
            scaled[None, :], [is_median(metric, rules)], rules.resamples, rules.seed, heavy, rules.lower_median
        )[0]
    ordered = sorted(defined(replicates).tolist())
    if not ordered:
        return _none("no resample has a value")
    if method == "bootstrap":
        return _clipped(percentile(ordered, rules.confidence), method, note, metric)
    ends = bca(left, ordered, rules.confidence)
    if ends is None:
        return _clipped(t_interval(left, rules.confidence), "t", "bca is undefined here, so this is t", metric)
    return _clipped(ends, method, note, metric)


def choose(metric: Metric, rules: Rules, is_weighted: bool = False) -> tuple[str | None, str | None]:
    """The method that the rules give a measure, or None; and the reason where it is not the one asked for.

    is_weighted : queries have weights
    Looks at the declaration of the measure, never at its values.
    """
    statistic, asked = statistic_of(metric, rules), rules.ci
    is_binary = metric.is_binary and rules.ties != "expected"  # a mean over orders lies between
    if asked == "none":
        return None, "none asked"
    if statistic == "sum":
        return None, "a sum has no interval"
    if statistic in ("min", "max"):
        return None, f"no interval for the {statistic} over queries"
    if statistic == "median":
        return _for_median(asked)
    if is_weighted:
        return _for_weighted(asked)
    if asked == "auto":
        return ("wilson" if is_binary else "t"), None
    if asked == "wilson" and not is_binary:
        return None, "wilson is for measures that are 0 or 1 for each query"
    return asked, None


def _for_median(asked: str) -> tuple[str | None, str | None]:
    """BCa estimates its acceleration by the jackknife, which fails for the median (Efron & Tibshirani 1993, 10.6)."""
    if asked in ("auto", "bootstrap"):
        return "bootstrap", None
    if asked == "bca":
        return "bootstrap", "bca is not for the median, so this is bootstrap"
    return None, f"{asked} is for the mean, not the median"


def _for_weighted(asked: str) -> tuple[str | None, str | None]:
    """A weighted mean is a ratio of two sums; the resamples take both from the same queries."""
    if asked in ("auto", "bootstrap"):
        return "bootstrap", None
    if asked == "bca":
        return "bootstrap", "bca is not for weighted means, so this is bootstrap"
    return None, f"{asked} is for means without weights"


def is_median(metric: Metric, rules: Rules) -> bool:
    """Whether bootstrap replicates of the measure are medians; else they are means."""
    return statistic_of(metric, rules) == "median"


def needs_replicates(
    values: NDArray[np.float64], metric: Metric, rules: Rules, weights: NDArray[np.float64] | None = None
) -> bool:
    """Whether `interval` will look at bootstrap replicates."""
    method = choose(metric, rules, weights is not None)[0]
    return method in ("bootstrap", "bca") and _missing(method, defined(on_scale(values, metric), weights)) is None


def on_scale(values: NDArray[np.float64], metric: Metric) -> NDArray[np.float64]:
    """The values as intervals see them: logarithms for a geometric mean, unchanged otherwise."""
    import numpy as np

    return np.array(logarithms(values.tolist())) if metric.measure.aggregate == "geometric" else values


def _missing(method: str, values: NDArray[np.float64]) -> str | None:
    """Why these values have no interval by this method; None when they have one."""
    if not len(values):
        return NO_VALUE
    if method == "wilson":
        return None
    if len(values) == 1:
        return ONE_QUERY
    lowest, highest = float(values.min()), float(values.max())
    largest = max(highest, -lowest)
    if not math.isfinite(largest):
        return "a value is infinite"
    return NO_SPREAD if highest - lowest <= ROUNDING * largest else None


def _none(note: str | None) -> Interval:
    return Interval(None, None, None, note)


def _clipped(ends: Ends, method: str, note: str | None, metric: Metric) -> Interval:
    """The interval on the measure's own scale, within its range."""
    scale: Callable[[float], float] = math.exp if metric.measure.aggregate == "geometric" else float
    lowest, highest = metric.measure.bounds
    low, high = (min(max(scale(end), lowest), highest) for end in ends)
    if not (math.isfinite(low) and math.isfinite(high)):
        return _none("the values are too large")
    return Interval(low, high, method, note)


def t_interval(values: Numbers, confidence: float, moments: Moments | None = None) -> Ends:
    """Mean ± t · s / √n of two or more values, with n - 1 degrees of freedom. Source: Student 1908.

    moments : of the values, where they are known already
    """
    n, known = len(values), moments or moments_of(values)
    margin = -t_quantile((1.0 - confidence) / 2.0, n - 1) * (known.deviation or 0.0) / math.sqrt(n)
    return known.mean - margin, known.mean + margin


def wilson(successes: float, n: int, confidence: float) -> Ends:
    """The score interval of a proportion, successes of n >= 1; never empty, exactly 0 or 1 at the ends it touches.

    Source: Wilson 1927, without continuity correction.
    """
    z = normal_quantile((1.0 - confidence) / 2.0)
    share, square = successes / n, z * z / n
    center = share + square / 2.0
    margin = math.sqrt(square * (share * (1.0 - share) + square / 4.0))
    low = 0.0 if successes == 0 else (center - margin) / (1.0 + square)
    high = 1.0 if successes == n else (center + margin) / (1.0 + square)
    return low, high


def percentile(ordered: Sequence[float], confidence: float) -> Ends:
    """The percentile bootstrap interval from rising replicates. Source: Efron 1979; as rankereval's."""
    tail = (1.0 - confidence) / 2.0
    return linear_quantile(ordered, tail), linear_quantile(ordered, 1.0 - tail)


def bca(values: Numbers, ordered: Sequence[float], confidence: float) -> Ends | None:
    """The bias-corrected and accelerated bootstrap interval of a mean, from rising replicates.

    Replicates equal to the mean count half in the bias z0. None where the correction is undefined: all replicates on
    one side of the mean, or an acceleration so strong that the adjusted level turns back.
    Source: Efron 1987; DiCiccio & Efron 1996, equations 2.3, 2.8 and 6.6.
    """
    mean = exact_sum(values) / len(values)
    near = ROUNDING * max(abs(mean), abs(ordered[0]), abs(ordered[-1]))
    below = sum(value < mean - near for value in ordered)
    above = sum(value > mean + near for value in ordered)
    share = (below + (len(ordered) - below - above) / 2.0) / len(ordered)
    if not 0.0 < share < 1.0:
        return None
    bias, acceleration, z = normal_quantile(share), _acceleration(values, mean), normal_quantile((1.0 - confidence) / 2)
    levels = []
    for shifted in (bias + z, bias - z):
        if 1.0 - acceleration * shifted <= 0.0:
            return None
        levels.append(normal_cdf(bias + shifted / (1.0 - acceleration * shifted)))
    return linear_quantile(ordered, levels[0]), linear_quantile(ordered, levels[1])


def _acceleration(values: Numbers, mean: float) -> float:
    """The jackknife estimate, a sixth of the skewness over √n; leaving one out moves a mean by (mean - x) / (n - 1)."""
    import numpy as np

    distances = np.asarray(values, dtype=np.float64) - mean
    distances /= np.abs(distances).max()  # so that no cube over- or underflows
    squares = exact_sum(distances * distances)
    return exact_sum(distances * distances * distances) / (6.0 * squares * math.sqrt(squares))
