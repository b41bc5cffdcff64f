"""From the values of the queries to the one number of a measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from rankeval_cli.model import GEOMETRIC_FLOOR

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.measures.spec import Metric
    from rankeval_cli.model import Rules

Statistic = Literal["mean", "median", "min", "max", "sum", "geometric"]


def aggregate(
    values: NDArray[np.float64],
    metric: Metric,
    rules: Rules,
    propagate: bool = False,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """The value of a measure over all queries.

    values : float64 (Q,), NaN where undefined; those are left out
    propagate : the result is NaN as soon as one value is (`--no-relevant nan`)
    weights : float64 (Q,), 0 or more; a query of weight 0 is left out. Sums stay sums of the values
    Mean: exact sum divided by the count, rounded twice; with weights sum(w x) / sum(w). Geometric: exp of the mean of
    ln max(x, 1e-5). Returns NaN where no value is left.
    """
    left = defined(values, weights)
    if not left and rules.none_is_zero:
        return 0.0
    if not left or (propagate and len(left) < num_counted(weights, len(values))):
        return math.nan
    if rules.lower_median and statistic_of(metric, rules) == "median":
        return sorted(left)[(len(left) - 1) // 2]
    return reduce_values(left, statistic_of(metric, rules), weights_of_defined(values, weights))


def statistic_of(metric: Metric, rules: Rules) -> Statistic:
    """How the measure is aggregated: as it declares, but `--aggregate` decides where that is the mean."""
    declared = metric.measure.aggregate
    return rules.aggregate if declared == "mean" else declared


def defined(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> list[float]:
    """The values that are not NaN, in query order; without those of weight 0."""
    if weights is None:
        return [value for value in values.tolist() if value == value]
    return [value for value, w in zip(values.tolist(), weights.tolist(), strict=True) if value == value and w > 0]


def weights_of_defined(values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> list[float] | None:
    """The weights of what `defined` gives; None where nothing weighs."""
    if weights is None:
        return None
    return [w for value, w in zip(values.tolist(), weights.tolist(), strict=True) if value == value and w > 0]


def num_counted(weights: NDArray[np.float64] | None, num_queries: int) -> int:
    """How many queries have a weight above 0."""
    return num_queries if weights is None else sum(w > 0 for w in weights.tolist())


def reduce_values(values: Sequence[float], statistic: Statistic, weights: Sequence[float] | None = None) -> float:
    """One statistic of one or more numbers; the median is the mean of the two middle ones.

    weights : above 0, one a number; only the means (arithmetic, geometric) look at them
    """
    if statistic in ("min", "max"):
        return min(values) if statistic == "min" else max(values)
    if statistic == "median":
        ordered, half = sorted(values), len(values) // 2
        return (ordered[(len(ordered) - 1) // 2] + ordered[half]) / 2.0
    if statistic == "sum":
        return exact_sum(values)
    if statistic == "geometric":
        return math.exp(_mean(logarithms(values), weights))
    return _mean(values, weights)


def _mean(values: Sequence[float], weights: Sequence[float] | None) -> float:
    if weights is None:
        return exact_sum(values) / len(values)
    largest = max(weights)
    shares = [w / largest for w in weights]  # the sum of huge weights would overflow
    return exact_sum([w * value for w, value in zip(shares, values, strict=True)]) / exact_sum(shares)


def logarithms(values: Sequence[float]) -> list[float]:
    """ln max(x, 1e-5) of each value, NaN where it is NaN; `math`, since NumPy's vary with the processor."""
    return [value if value != value else math.log(max(value, GEOMETRIC_FLOOR)) for value in values]


def deviation(values: Sequence[float]) -> float | None:
    """Sample standard deviation (n - 1) of numbers; None below two of them."""
    if len(values) < 2:
        return None
    mean = exact_sum(values) / len(values)
    return math.sqrt(exact_sum([(value - mean) * (value - mean) for value in values]) / (len(values) - 1))


def exact_sum(values: Sequence[float]) -> float:
    """The sum, rounded once; NaN when it is too large for a double."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # ValueError: both infinities
        return math.nan
