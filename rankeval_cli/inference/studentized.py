"""The bootstrap of the t value: a test, and the interval that inverts it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rankeval_cli.inference.differences import CONSTANT, Outcome, Procedure, Sample, t_interval_of
from rankeval_cli.inference.intervals import ROUNDING
from rankeval_cli.inference.resampling import critical_value, draw_counts
from rankeval_cli.model import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A resample whose variance is less than this share of its mean square holds one value again and again; its t value is
# infinite. Rounding leaves 1e-13 there, and a t value of 30,000 times √n has no other cause.
NO_VARIANCE = 1e-9


def bootstrap_test(samples: Sequence[Sample], procedure: Procedure) -> list[Outcome]:
    """The two-sided p-values of several measures of one pair of runs, from the same resamples, and their intervals.

    The differences are shifted to a mean of 0 and resampled; p is (1 + hits) / (1 + resamples), a hit being a resample
    whose |t| is at least the observed one. A resample without spread has an infinite t, so it is a hit: it never makes
    p smaller. No test where the differences are all equal.
    The interval holds every mean difference that the same resamples do not reject: mean ± the quantile of |t| times the
    standard error. It is the t interval, with a note, where that quantile is infinite or the resamples are too few.
    Source: Efron & Tibshirani 1993, 16.4 and 12.5; Sakai 2006.
    """
    import numpy as np

    live = [place for place, sample in enumerate(samples) if not sample.is_constant]
    sizes = np.empty((len(live), procedure.resamples))
    done = 0
    for counts in draw_counts(len(samples[0].row), procedure.resamples, procedure.seed) if live else ():
        for row, place in zip(sizes, live, strict=True):
            row[done : done + len(counts)] = _t_sizes(counts, samples[place])
        done += len(counts)
    outcomes = [Outcome(None, CONSTANT)] * len(samples)
    for row, place in zip(sizes, live, strict=True):
        outcomes[place] = _outcome(samples[place], row, procedure.confidence)
    return outcomes


def _t_sizes(counts: NDArray[np.float64], sample: Sample) -> NDArray[np.float64]:
    """|t| of each resample of the shifted differences: float64 (resamples,), infinite without spread."""
    import numpy as np

    means, errors = _means_and_errors(counts, sample)
    sizes: NDArray[np.float64] = np.divide(np.abs(means), errors, out=np.full(len(counts), np.inf), where=errors > 0.0)
    return sizes


def _means_and_errors(counts: NDArray[np.float64], sample: Sample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean of the shifted differences in each resample, and its standard error, 0 without spread.

    counts : float64 (resamples, Q), how often each query is drawn
    With weights the mean is the ratio of two sums, and its error that of the linearised ratio. Sums run over the
    queries in their order (see `resampling`).
    """
    import numpy as np

    is_there = ~np.isnan(sample.row)
    shifted = np.where(is_there, sample.row - sample.mean, 0.0)
    drawn = counts[:, is_there].sum(axis=1)  # whole numbers: exact in any order
    heavy = counts if sample.weights is None else counts * sample.weights
    total = drawn if sample.weights is None else _sums(heavy)
    first = _sums(heavy * shifted)
    with np.errstate(divide="ignore", invalid="ignore"):  # nothing drawn: the mean is NaN, and there is no spread
        means = first / total
        if sample.weights is None:
            second = _sums(heavy * (shifted * shifted))
            squares = second - means * first
        else:
            heavy = heavy * sample.weights
            second = _sums(heavy * (shifted * shifted))
            squares = second - 2.0 * means * _sums(heavy * shifted) + means * means * _sums(heavy)
        squares = np.where(squares > NO_VARIANCE * second, squares, 0.0)
        errors = np.sqrt(squares * drawn / np.maximum(drawn - 1.0, 1.0)) / total
    return means, errors


def _sums(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of each row, in order."""
    import numpy as np

    totals: NDArray[np.float64] = np.add.accumulate(products, axis=1)[:, -1]
    return totals


def _outcome(sample: Sample, sizes: NDArray[np.float64], confidence: float) -> Outcome:
    """The test and its interval, from |t| of each resample."""
    import numpy as np

    error = float(_means_and_errors(np.ones((1, len(sample.row))), sample)[1][0])
    hits = int(np.count_nonzero(sizes * error >= abs(sample.mean) * (1.0 - ROUNDING)))
    p_value = (1.0 + hits) / (1.0 + len(sizes))
    return Outcome(p_value, None, len(sizes), _interval(sample, error, sizes, confidence))


def _interval(sample: Sample, error: float, sizes: NDArray[np.float64], confidence: float) -> Interval:
    quantile = critical_value(sizes, confidence)
    if quantile is None:
        return replace(t_interval_of(sample, confidence), note="too few resamples for this confidence, so this is t")
    if math.isinf(quantile):
        return replace(t_interval_of(sample, confidence), note="too many resamples have no spread, so this is t")
    return Interval(sample.mean - quantile * error, sample.mean + quantile * error, "bootstrap-t", None)
