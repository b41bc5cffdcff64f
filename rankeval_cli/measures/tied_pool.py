"""Exact means over all orders of tied documents, for measures of other documents than the relevant ones, and of rbp.

See `tied` for what the kernels share. A document of a group stands below 0, 1, .. or all of some other x documents of
it, each with probability 1 / (x + 1): that is all that bpref and binG need. Linear in the ranking.
"""

from __future__ import annotations

from math import nan
from typing import Any

from rankeval_cli.measures.spec import TiedRanking


def binary_preference(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected share of judged non-relevant documents below each relevant one, averaged."""
    num_rel = ranking.num_rel
    bound = min(len(ranking.ideal) - num_rel, num_rel)
    size = len(ranking.grade)
    above = 0
    total = 0.0
    start = 0
    while start < size:
        found = 0
        against = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            elif ranking.status[stop] == 2:
                against += 1
            stop += 1
        if found > 0:
            lost = 0
            for i in range(above, above + against + 1):
                lost += min(i, num_rel)
            total += found * (1.0 - lost / ((against + 1) * bound)) if lost > 0 else float(found)
        above += against
        start = stop
    return max(0.0, total / num_rel) if total > 0.0 else 0.0


def binary_g(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected sum of 1 / log2(2 + documents above that are not relevant) over the relevant ones / R."""
    size = len(ranking.grade)
    others = 0
    total = 0.0
    start = 0
    while start < size:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        rest = stop - start - found
        if found > 0:
            worth = 0.0
            for i in range(others, others + rest + 1):
                worth += 1.0 / ranking.discount[i]
            total += found * worth / (rest + 1)
        others += rest
        start = stop
    return total / ranking.num_rel if total > 0.0 else 0.0


def fallout(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected judged non-relevant documents in the first k / all; params[0] > 0 is the size of the collection.

    Undefined as soon as it is in one order: where that size is too small for what the first k may hold.
    """
    negatives = float(len(ranking.ideal) - ranking.num_rel)
    if params[0] > 0.0:
        negatives = params[0] - ranking.num_rel
    size = len(ranking.grade)
    last = min(k, size)
    found = 0.0
    most = 0.0
    start = 0
    while start < last:
        tied = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] < level and (params[0] > 0.0 or ranking.status[stop] == 2):
                tied += 1
            stop += 1
        most += min(tied, last - start)
        found += tied * (min(last, stop) - start) / (stop - start)
        start = stop
    if size == 0 or negatives <= 0.0 or most > negatives:
        return nan
    return found / negatives


def judged(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected share of the first min(k, n) documents that is judged; NaN for an empty ranking."""
    size = len(ranking.grade)
    last = min(k, size)
    known = 0.0
    start = 0
    while start < last:
        tied = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.status[stop] == 2:
                tied += 1
            stop += 1
        known += tied * (min(last, stop) - start) / (stop - start)
        start = stop
    return known / last if last > 0 else nan


def unjudged(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected documents in the first k that are not judged / k."""
    size = len(ranking.grade)
    last = min(k, size)
    unknown = 0.0
    start = 0
    while start < last:
        tied = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.status[stop] < 2:
                tied += 1
            stop += 1
        unknown += tied * (min(last, stop) - start) / (stop - start)
        start = stop
    return unknown / k


def rank_biased_precision(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected (1 - p) times the sum of p^(rank - 1) over the relevant documents in the first k; params[0] is p."""
    p: float = params[0]
    size = len(ranking.grade)
    last = min(k, size)
    weight = 1.0
    total = 0.0
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        share = found / (stop - start)
        for _ in range(start, min(last, stop)):
            total += share * weight
            weight *= p
        start = stop
    return min(1.0, (1.0 - p) * total)  # rounding may exceed 1


def rank_biased_residual(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected residual of rbp: p^n behind the ranking, and the weight of its unjudged ranks; params[0] is p."""
    p: float = params[0]
    size = len(ranking.grade)
    weight = 1.0
    total = 0.0
    unknown = 0
    start = 0
    while start < size:
        tied = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.status[stop] < 2:
                tied += 1
            stop += 1
        unknown += tied
        share = tied / (stop - start)
        for _ in range(start, stop):
            total += share * weight
            weight *= p
        start = stop
    return min(1.0, weight + (1.0 - p) * total) if unknown > 0 else 0.0  # rounding may exceed 1
