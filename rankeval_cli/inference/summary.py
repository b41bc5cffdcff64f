"""The results of one run: value, interval and deviation of every measure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankeval_cli.inference.intervals import interval, is_median, needs_replicates, on_scale
from rankeval_cli.inference.resampling import resample
from rankeval_cli.inference.statistic import aggregate, defined, moments_of
from rankeval_cli.model import Interval, Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.model import Rules, Scores


def summarize(scores: Scores, rules: Rules) -> tuple[Result, ...]:
    """One result a measure, in the order of `scores.metrics`.

    The same bootstrap resamples, drawn from all queries of the run, serve all measures. Where the value is undefined
    because one query's is (`scores.propagate`), interval and deviation are too.
    """
    replicates = _replicates(scores, rules)
    return tuple(_result(scores, place, rules, replicates.get(place)) for place in range(len(scores.metrics)))


def _replicates(scores: Scores, rules: Rules) -> dict[int, NDArray[np.float64]]:
    """The bootstrap replicates of the measures that need them, by place."""
    rows = list(enumerate(zip(scores.values, scores.metrics, strict=True)))
    places = [
        place for place, (values, metric) in rows if needs_replicates(values, metric, rules, scores.weights_of(place))
    ]
    if not places:
        return {}
    import numpy as np

    matrix = np.stack([on_scale(scores.values[place], scores.metrics[place]) for place in places])
    medians = [is_median(scores.metrics[place], rules) for place in places]
    weights = None if scores.weights is None else np.broadcast_to(scores.weights, scores.values.shape)[places]
    replicates = resample(matrix, medians, rules.resamples, rules.seed, weights, rules.lower_median)
    return dict(zip(places, replicates, strict=True))


def _result(scores: Scores, place: int, rules: Rules, replicates: NDArray[np.float64] | None) -> Result:
    metric, values = scores.metrics[place], scores.values[place]
    weights = scores.weights_of(place)
    left = defined(values, weights)
    moments = moments_of(left)
    value = _held(aggregate(values, metric, rules, scores.propagate[place], weights, moments), left)
    if value is None and len(left):
        limits, spread = Interval(None, None, None, "the value itself is undefined"), None
    else:
        limits = interval(values, metric, rules, replicates, weights, moments)
        spread = _finite(moments.deviation)
    return Result(
        measure=metric.written,
        canonical=metric.canonical,
        value=value,
        ci_low=limits.low,
        ci_high=limits.high,
        ci_method=limits.method,
        ci_note=limits.note,
        std=spread,
        queries=len(left),
        undefined=scores.undefined[place],
    )


def _held(value: float, left: NDArray[np.float64]) -> float | None:
    """The value of a measure; infinite only where a query's is (a rank that is not found), and not by an overflow."""
    if math.isinf(value) and value in (left.max(), left.min()):
        return value
    return _finite(value)


def _finite(value: float | None) -> float | None:
    """The value, or None where it is no number that a report can hold."""
    return value if value is not None and math.isfinite(value) else None
