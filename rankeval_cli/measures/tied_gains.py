"""Exact means over all orders of tied documents, for measures of gains: linear in them, so a group has its mean gain.

See `tied` for what the kernels share. A group of one gain throughout has that gain, without the rounding of a mean: a
perfect ranking is exactly 1. Linear in the ranking.

Source: McSherry & Najork 2008, ECIR; torchmetrics' `RetrievalNormalizedDCG` and scikit-learn's `ndcg_score` are the
same rule.
"""

from __future__ import annotations

from typing import Any

from rankeval_cli.measures.spec import TiedRanking


def dcg(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected sum of gain / discount over the first k."""
    size = len(ranking.grade)
    last = min(k, size)
    total = 0.0
    start = 0
    while start < last:
        gained = 0.0
        is_same = True
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            gained += ranking.grade[stop]
            is_same = is_same and ranking.grade[stop] == ranking.grade[start]
            stop += 1
        mean = ranking.grade[start] if is_same else gained / (stop - start)
        for i in range(start, min(last, stop)):
            total += mean / ranking.discount[i]
        start = stop
    return total


def ndcg(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected DCG of the first k / DCG of the k largest gains."""
    size = len(ranking.grade)
    last = min(k, size)
    total = 0.0
    start = 0
    while start < last:
        gained = 0.0
        is_same = True
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            gained += ranking.grade[stop]
            is_same = is_same and ranking.grade[stop] == ranking.grade[start]
            stop += 1
        mean = ranking.grade[start] if is_same else gained / (stop - start)
        for i in range(start, min(last, stop)):
            total += mean / ranking.discount[i]
        start = stop
    best = 0.0
    for i in range(min(k, len(ranking.ideal))):
        best += ranking.ideal[i] / ranking.discount[i]
    return total / best if best > 0.0 else 0.0


def dcg_of_squares(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected sum of (gain - 1) / discount over all k places, or its share of the ideal; params as there."""
    size = len(ranking.grade)
    last = min(k, size)
    total = 0.0
    held = 0.0
    start = 0
    while start < last:
        gained = 0.0
        is_same = True
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            gained += ranking.grade[stop]
            is_same = is_same and ranking.grade[stop] == ranking.grade[start]
            stop += 1
        mean = ranking.grade[start] if is_same else gained / (stop - start)
        for i in range(start, min(last, stop)):
            total += (mean - 1.0) / ranking.discount[i]
            held += 1.0 / ranking.discount[i]
        start = stop
    if held < params[0]:
        total -= params[0] - held
    if params[1] == 0.0:
        return total
    best = 0.0
    held = 0.0
    for i in range(min(k, len(ranking.ideal))):
        best += (ranking.ideal[i] - 1.0) / ranking.discount[i]
        held += 1.0 / ranking.discount[i]
    if held < params[0]:
        best -= params[0] - held
    return total / best if best != 0.0 else 0.0


def graded_rank_biased_precision(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected (1 - p) times the sum of gain * p^(rank - 1); params: p, 1 for gains over the highest gain above 1."""
    p: float = params[0]
    scale = 1.0
    if params[1] == 1.0 and len(ranking.ideal) > 0:
        scale = max(scale, ranking.ideal[0])
    size = len(ranking.grade)
    last = min(k, size)
    weight = 1.0
    total = 0.0
    start = 0
    while start < last:
        gained = 0.0
        is_same = True
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            gained += ranking.grade[stop]
            is_same = is_same and ranking.grade[stop] == ranking.grade[start]
            stop += 1
        mean = ranking.grade[start] if is_same else gained / (stop - start)
        for _ in range(start, min(last, stop)):
            total += mean / scale * weight
            weight *= p
        start = stop
    return min(1.0, (1.0 - p) * total) if params[1] == 1.0 else (1.0 - p) * total


def ndcg_over_relevant(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected NDCG at the rank of each document with a gain, at the end for those not retrieved, averaged.

    In a group of n with mean gain m, c documents have a gain. A rank of it holds one of them with probability c/n, and
    then a higher rank of the group holds m (c-1)/(n-1) on average, counting 0 where the first holds none.
    """
    num_gains = 0
    for i in range(len(ranking.ideal)):
        if ranking.ideal[i] > 0.0:
            num_gains += 1
    size = len(ranking.grade)
    found = 0
    gained = 0.0
    best = 0.0
    total = 0.0
    start = 0
    while start < size:
        some = 0
        mean = 0.0
        is_same = True
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] > 0.0:
                some += 1
            mean += ranking.grade[stop]
            is_same = is_same and ranking.grade[stop] == ranking.grade[start]
            stop += 1
        mean = ranking.grade[start] if is_same else mean / (stop - start)
        above = gained * (some / (stop - start))
        rate = (some - 1) / (stop - start - 1) if stop - start > 1 else 0.0
        for i in range(start, stop):
            if i < num_gains:
                best += ranking.ideal[i] / ranking.discount[i]
            if some > 0:
                total += (above + mean / ranking.discount[i]) / best
                above += mean * rate / ranking.discount[i]
                gained += mean / ranking.discount[i]
        found += some
        start = stop
    for i in range(size, num_gains):
        best += ranking.ideal[i] / ranking.discount[i]
    if num_gains > found and gained > 0.0:
        total += (num_gains - found) * gained / best
    return total / num_gains if total > 0.0 else 0.0


def ndcg_at_gains(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected NDCG averaged over the depths at which an ideal ranking passes to the next lower gain."""
    if ranking.num_rel == 0:
        return 0.0
    size = len(ranking.grade)
    points = 0
    num_gains = 0
    while num_gains < len(ranking.ideal) and ranking.ideal[num_gains] > 0.0:
        num_gains += 1
    goes_on = size > num_gains + 1  # not for one rank more: trec_eval's rule
    last = size if goes_on else num_gains
    gained = 0.0
    best = 0.0
    total = 0.0
    stop = 0
    mean = 0.0
    for i in range(last):
        if i < size and i == stop:
            mean = 0.0
            is_same = True
            while stop < size and ranking.score[stop] == ranking.score[i]:
                mean += ranking.grade[stop]
                is_same = is_same and ranking.grade[stop] == ranking.grade[i]
                stop += 1
            mean = ranking.grade[i] if is_same else mean / (stop - i)
        if i < size:
            gained += mean / ranking.discount[i]
        if i < num_gains:
            best += ranking.ideal[i] / ranking.discount[i]
            if i + 1 == len(ranking.ideal) or ranking.ideal[i + 1] < ranking.ideal[i]:
                points += 1
                total += gained / best
    if points == 0:
        return 0.0
    if goes_on:
        points += 1
        total += gained / best
    return total / points
