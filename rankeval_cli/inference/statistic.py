"""From the values of the queries to the one number of a measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rankeval_cli.model import GEOMETRIC_FLOOR

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.measures.spec import Metric
    from rankeval_cli.model import Rules

    Numbers = Sequence[float] | NDArray[np.float64]

Statistic = Literal["mean", "median", "min", "max", "sum", "geometric"]


def aggregate(
    values: NDArray[np.float64],
    metric: Metric,
    rules: Rules,
    propagate: bool = False,
    weights: NDArray[np.float64] | None = None,
    moments: Moments | None = None,
) -> float:
    """The value of a measure over all queries.

    values : float64 (Q,), NaN where undefined; those are left out
    propagate : the result is NaN as soon as one value is (`--no-relevant nan`)
    weights : float64 (Q,), 0 or more; a query of weight 0 is left out. Sums stay sums of the values
    moments : of the values that count, where they are known already
    Mean: exact sum divided by the count, rounded twice; with weights sum(w x) / sum(w). Geometric: exp of the mean of
    ln max(x, 1e-5). Returns NaN where no value is left.
    """
    left = defined(values, weights)
    if not len(left) and rules.none_is_zero:
        return 0.0
    if not len(left) or (propagate and len(left) < num_counted(weights, len(values))):
        return math.nan
    if rules.lower_median and statistic_of(metric, rules) == "median":
        left.sort()
        return float(left[(len(left) - 1) // 2])
    if moments is not None and weights is None and statistic_of(metric, rules) == "mean":
        return moments.mean
    return reduce_values(left, statistic_of(metric, rules), weights_of_defined(values, weights))


def statistic_of(metric: Metric, rules: Rules) -> Statistic:
    """How the measure is aggregated: as it declares, but `--aggregate` decides where that is the mean."""
    declared = metric.measure.aggregate
    return rules.aggregate if declared == "mean" else declared


def defined(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """The values that are not NaN, in query order; without those of weight 0."""
    return values[_is_defined(values, weights)]


def weights_of_defined(values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """The weights of what `defined` gives; None where nothing weighs."""
    return None if weights is None else weights[_is_defined(values, weights)]


def _is_defined(values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.bool_]:
    is_there: NDArray[np.bool_] = values == values
    return is_there if weights is None else is_there & (weights > 0)


def num_counted(weights: NDArray[np.float64] | None, num_queries: int) -> int:
    """How many queries have a weight above 0."""
    return num_queries if weights is None else int((weights > 0).sum())


def reduce_values(values: Numbers, statistic: Statistic, weights: Numbers | None = None) -> float:
    """One statistic of one or more numbers; the median is the mean of the two middle ones.

    weights : above 0, one a number; only the means (arithmetic, geometric) look at them
    """
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    if statistic in ("min", "max"):
        return float(numbers.min() if statistic == "min" else numbers.max()) + 0.0  # of 0.0 and -0.0 either may come
    if statistic == "median":
        ordered, half = np.sort(numbers), len(numbers) // 2
        return float(ordered[(len(ordered) - 1) // 2] + ordered[half]) / 2.0 + 0.0
    if statistic == "sum":
        return exact_sum(numbers)
    if statistic == "geometric":
        return math.exp(_mean(np.array(logarithms(numbers.tolist())), weights))
    return _mean(numbers, weights)


def _mean(values: NDArray[np.float64], weights: Numbers | None) -> float:
    if weights is None:
        return exact_sum(values) / len(values)
    import numpy as np

    heavy = np.asarray(weights, dtype=np.float64)
    shares = heavy / heavy.max()  # the sum of huge weights would overflow
    return exact_sum(shares * values) / exact_sum(shares)


def logarithms(values: Sequence[float]) -> list[float]:
    """ln max(x, 1e-5) of each value, NaN where it is NaN; `math`, since NumPy's vary with the processor."""
    return [value if value != value else math.log(max(value, GEOMETRIC_FLOOR)) for value in values]


@dataclass(frozen=True)
class Moments:
    """The mean of numbers, NaN without any, and their sample deviation (n - 1), None below two."""

    mean: float
    deviation: float | None


def moments_of(values: Numbers) -> Moments:
    """Mean and deviation of numbers; both NaN where a sum is too large for a double."""
    import numpy as np

    n = len(values)
    if n < 2:
        return Moments(float(values[0]) if n else math.nan, None)
    mean = exact_sum(values) / n
    with np.errstate(over="ignore", invalid="ignore"):  # inf and NaN come out, as of Python's own numbers
        squares = np.asarray(values, dtype=np.float64) - mean
        squares *= squares
    return Moments(mean, math.sqrt(exact_sum(squares) / (n - 1)))


def exact_sum(values: Numbers) -> float:
    """The sum, rounded once; NaN when it is too large for a double."""
    numbers: Any = getattr(values, "data", values)  # the memory of an array takes half the time that a list of it does
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # ValueError: both infinities
        return math.nan
