"""One-sided questions about a mean paired difference, as gates ask them: did it drop by more than a margin?

Higher is better throughout; for a measure where lower is better, swap the runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankeval_cli.inference.differences import CONSTANT, IDENTICAL, LOPSIDED, TIE, Sample, obstacle, sample_of
from rankeval_cli.inference.quantiles import t_quantile
from rankeval_cli.inference.tails import t_tail


@dataclass(frozen=True)
class OneSided:
    """An answer to a one-sided question: a p-value, a bound or a drop; None where there is none, as `note` says.

    note : also says where the value is not Student's
    """

    value: float | None
    note: str | None = None


def drop_p(sample: Sample, margin: float = 0.0) -> OneSided:
    """The p-value of the drop from a to b being at most `margin` >= 0; small when it is certainly more.

    sample : differences b - a; its mean is minus the drop
    One-sided t-test of the mean difference against -margin. Where all differences are the same, t is infinite: then
    the p-value is that of all differences on one side of the margin, 2^-n, or 1 when they are on the other.
    """
    reason = _obstacle(sample)
    if reason:
        return OneSided(None, reason)
    over = -sample.mean - margin  # how far the drop exceeds the margin
    if sample.differing == 0:
        return OneSided(1.0, IDENTICAL)
    if sample.is_constant:
        return OneSided(0.5 ** len(sample.values) if over > 0.0 else 1.0, CONSTANT)
    return OneSided(t_tail(over / sample.error, _degrees(sample)))


def lower_bound(sample: Sample, alpha: float = 0.05) -> OneSided:
    """What the mean difference b - a certainly reaches: its one-sided lower bound at level 1 - alpha.

    sample : differences b - a
    The lower end of the t interval at confidence 1 - 2 alpha. Where all differences are the same the bound is that
    difference, if they are enough to say so (2^-n <= alpha); where no query differs, 0.
    """
    reason = _obstacle(sample)
    if reason:
        return OneSided(None, reason)
    if sample.differing == 0:
        return OneSided(0.0, IDENTICAL)
    if sample.is_constant:
        return OneSided(sample.mean if 0.5 ** len(sample.values) <= alpha else None, CONSTANT)
    return OneSided(sample.mean + t_quantile(alpha, _degrees(sample)) * sample.error)


def noticeable_drop(sample: Sample, alpha: float = 0.05, power: float = 0.8) -> OneSided:
    """The drop beyond the margin that `drop_p` would call significant at `alpha` with probability `power`.

    Takes the spread of the differences as the true one, and t + t for the quantile of the non-central t: asked for a
    power of 0.8 at 0.05, it is 0.80 to 0.81 for any number of queries. None where the differences have no spread.
    Source: Cohen 1988, chapter 2; Sakai 2016.
    """
    reason = _obstacle(sample)
    if reason is None and sample.is_constant:
        reason = CONSTANT if sample.differing else IDENTICAL
    if reason:
        return OneSided(None, reason)
    degrees = _degrees(sample)
    return OneSided(-(t_quantile(alpha, degrees) + t_quantile(1.0 - power, degrees)) * sample.error)


def least_p(sample: Sample) -> OneSided:
    """The smallest p-value that `drop_p` could give for drops of any size in the queries that differ here.

    When it is above alpha, too few queries differ for a verdict. The t value of m equal drops and n - m zeros,
    sqrt(m (n - 1) / (n - m)), is the largest there is (by the Cauchy-Schwarz inequality), and a margin only lowers it;
    with weights, it is that of equal drops. 1 when no query differs. When all do, t has no limit: 0, but 2^-n where all
    differences are the same.
    """
    import numpy as np

    reason = _obstacle(sample)
    if reason:
        return OneSided(None, reason)
    if sample.differing == len(sample.values):
        return OneSided(0.5 ** len(sample.values), CONSTANT) if sample.is_constant else OneSided(0.0)
    drops = np.where(np.isnan(sample.row), np.nan, np.abs(sample.row) > TIE)
    return drop_p(sample_of(drops, np.zeros(len(drops)), sample.weights))


def _obstacle(sample: Sample) -> str | None:
    reason = obstacle(sample)
    if reason is None and not sample.is_constant and math.isnan(sample.error):
        return LOPSIDED
    return reason


def _degrees(sample: Sample) -> float:
    return max(sample.degrees, 1.0)  # a weighted sample may fall short of 1 by rounding
