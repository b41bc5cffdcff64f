"""Tests that see only the signs and ranks of the differences: the sign test and Wilcoxon's signed ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from rankeval_cli.inference.differences import TIE, Outcome, Procedure, Sample
from rankeval_cli.inference.tails import binomial_tail, normal_tails

# As SciPy's `wilcoxon` decides: up to here the exact distribution, without and with ties among the ranks.
EXACT_UP_TO = 50
EXACT_WITH_TIES_UP_TO = 13
AGAINST_MEAN = "the mean moved the other way than the test says"
DIGIT_BITS = 64  # of a count of sign patterns, at most 2^50


def sign_test(samples: Sequence[Sample], procedure: Procedure) -> list[Outcome]:
    """Two-sided p-values of as many wins as losses, from fair coins; ties are dropped. Source: Arbuthnot 1710."""
    return [_sign_test(sample) for sample in samples]


def _sign_test(sample: Sample) -> Outcome:
    p_value = min(1.0, 2.0 * binomial_tail(min(sample.wins, sample.losses), sample.differing))
    return Outcome(p_value, _disagreement(sample, sample.wins - sample.losses))


def _disagreement(sample: Sample, lead: float) -> str | None:
    """What to know where the test leans one way and the mean the other; lead : above 0 where it is for b."""
    return AGAINST_MEAN if lead * sample.mean < 0.0 and abs(sample.mean) > TIE else None


def wilcoxon_test(samples: Sequence[Sample], procedure: Procedure) -> list[Outcome]:
    """Two-sided p-values of the signed ranks; ties with 0 are dropped, equal sizes share their average rank.

    Exact for up to 50 queries that differ when all sizes do, for up to 13 otherwise; beyond, the normal approximation
    corrected for equal sizes, without continuity correction. Agrees with SciPy's `wilcoxon` on the differences that
    are not 0, apart from sizes that are equal but for rounding, which SciPy ranks apart.
    Source: Wilcoxon 1945.
    """
    found = []
    for sample in samples:
        p_value, lead = _signed_ranks([value for value in sample.values if abs(value) > TIE])
        found.append(Outcome(p_value, _disagreement(sample, lead)))
    return found


def _signed_ranks(values: Sequence[float]) -> tuple[float, int]:
    """The p-value of differences of which none is 0, and by how much the ranks of the positive ones outweigh."""
    n = len(values)
    ordered = sorted(values, key=abs)
    doubled, groups = _doubled_ranks([abs(value) for value in ordered])
    positive = sum(rank for rank, value in zip(doubled, ordered, strict=True) if value > 0.0)
    whole = n * (n + 1)
    if n <= (EXACT_UP_TO if len(groups) == n else EXACT_WITH_TIES_UP_TO):
        below = _patterns_up_to(min(positive, whole - positive), tuple(doubled))
        return min(1.0, below / (1 << (n - 1))), 2 * positive - whole
    variance = (n * (n + 1) * (2 * n + 1) - sum(size**3 - size for size in groups) / 2) / 24
    return normal_tails((positive - whole / 2) / 2 / math.sqrt(variance)), 2 * positive - whole


def _doubled_ranks(sizes: Sequence[float]) -> tuple[list[int], list[int]]:
    """Twice the average rank of each of the rising sizes, whole numbers; and how many share each rank."""
    groups: list[int] = []
    for place, size in enumerate(sizes):
        if place and size - sizes[place - 1] <= TIE:
            groups[-1] += 1
        else:
            groups.append(1)
    doubled: list[int] = []
    for group in groups:
        doubled += [2 * len(doubled) + group + 1] * group
    return doubled, groups


@lru_cache(maxsize=256)
def _patterns_up_to(limit: int, ranks: tuple[int, ...]) -> int:
    """How many of the 2^n sign patterns have a sum of positive ranks of at most `limit`.

    The counts of all sums are the digits of one large integer, the product of 1 + base^rank, so that a rank costs one
    shift and one addition.
    """
    product = 1
    for rank in ranks:
        product += product << (DIGIT_BITS * rank)
    kept = product & ((1 << (DIGIT_BITS * (limit + 1))) - 1)
    size = DIGIT_BITS // 8
    digits = kept.to_bytes(size * (limit + 1), "little")
    return sum(int.from_bytes(digits[at : at + size], "little") for at in range(0, len(digits), size))
