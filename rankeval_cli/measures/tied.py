"""Exact means over all orders of tied documents, for measures of which documents are relevant (or judged).

Each kernel is named after the measure's own and takes the same `k`, `level` and `params`, and a `TiedRanking`, whole
groups of equal scores included: those that the cutoff splits, too. In a group of n documents of which r are relevant
every order is as likely as any other, so each rank of it holds a relevant one with probability r / n. Without ties the
operations are those of the measure's own kernel, and so are the bits. All take time linear in the ranking.

Source: McSherry & Najork 2008, ECIR (precision, recall, F1, average precision, reciprocal rank); the others follow from
the same counts.
"""

from __future__ import annotations

from math import nan
from typing import Any

from rankeval_cli.measures.spec import TiedRanking


def precision(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected relevant documents in the first k / k; params as the measure's own kernel takes them."""
    size = len(ranking.grade)
    if size == 0:
        return float(params[1])
    last = min(k, size)
    hits = 0.0
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        hits += found * (min(last, stop) - start) / (stop - start)
        start = stop
    if hits == 0.0:
        return 0.0
    return hits / last if params[0] == 1.0 else hits / k


def recall(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected relevant documents in the first k / all relevant documents."""
    size = len(ranking.grade)
    last = min(k, size)
    hits = 0.0
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        hits += found * (min(last, stop) - start) / (stop - start)
        start = stop
    return hits / ranking.num_rel if hits > 0.0 else 0.0


def capped_recall(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected relevant documents in the first k / the most that k places can hold."""
    size = len(ranking.grade)
    last = min(k, size)
    hits = 0.0
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        hits += found * (min(last, stop) - start) / (stop - start)
        start = stop
    return hits / min(k, ranking.num_rel) if hits > 0.0 else 0.0


def f_measure(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """F from the expected hits: its denominator b R + k does not depend on them, so F is linear in them."""
    size = len(ranking.grade)
    if size == 0:
        return float(params[3])
    last = min(k, size)
    hits = 0.0
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        hits += found * (min(last, stop) - start) / (stop - start)
        start = stop
    if hits == 0.0:
        return 0.0
    squared: float = params[0]
    places = last if params[1] == 1.0 else k
    goal = min(k, ranking.num_rel) if params[2] == 1.0 else ranking.num_rel
    return min(1.0, (1.0 + squared) * hits / (squared * goal + places))  # rounding may exceed 1


def num_hits(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected relevant documents in the first k."""
    size = len(ranking.grade)
    last = min(k, size)
    hits = 0.0
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        hits += found * (min(last, stop) - start) / (stop - start)
        start = stop
    return hits


def r_precision(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected relevant documents in the first R / R."""
    size = len(ranking.grade)
    last = min(ranking.num_rel, size)
    hits = 0.0
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        hits += found * (min(last, stop) - start) / (stop - start)
        start = stop
    return hits / ranking.num_rel if hits > 0.0 else 0.0


def precision_at_multiple(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected precision at params[0] * R documents, rounded as the measure's own kernel does."""
    places = int(params[0] * ranking.num_rel + 0.9)
    size = len(ranking.grade)
    last = min(places, size)
    hits = 0.0
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        hits += found * (min(last, stop) - start) / (stop - start)
        start = stop
    return hits / places if hits > 0.0 else 0.0


def hit(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Probability that a relevant document is among the first k.

    Only the first group that holds one matters, where the cutoff splits it: each rank of it is the first with a
    relevant one with probability (all ranks above it miss) times r / (ranks from it on).
    """
    size = len(ranking.grade)
    last = min(k, size)
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        if found > 0:
            if stop <= last:
                return 1.0
            missed = 1.0
            total = 0.0
            for i in range(start, last):
                total += missed * (found / (stop - i))
                missed *= max(0, stop - i - found) / (stop - i)
            return min(1.0, total) if missed > 0.0 else 1.0
        start = stop
    return 0.0


def reciprocal_rank(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected 1 / rank of the first relevant document within the first k, or 0 for an order without one.

    Only the first group that holds one matters: its rank i is the first with probability (all ranks above it miss)
    times r / (ranks from i on).
    """
    size = len(ranking.grade)
    last = min(k, size)
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        if found > 0:
            missed = 1.0
            total = 0.0
            for i in range(min(last, stop) - start):
                left = stop - start - i
                total += missed * (found / left) / (start + i + 1)
                missed *= (left - found) / left
                if missed <= 0.0:
                    break
            return total
        start = stop
    return 0.0


def average_precision(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected average precision; params: the denominator (0 all, 1 min, 2 found).

    Rank i (from 0) of a group that begins behind `start` ranks and `hits` relevant documents holds a relevant one with
    probability r/n, and then i (r-1)/(n-1) of those above it in the group are relevant on average: the sum of the
    precisions is linear in these. Only norm=found divides by a number that depends on the order, that of the j relevant
    documents among the m places above the cutoff: given j, the m places are a group of their own with j relevant ones.
    j is hypergeometric; its probabilities are quotients of neighbours, from the most likely one outward, so that none
    that matters can underflow.
    """
    size = len(ranking.grade)
    last = min(k, size)
    hits = 0
    total = 0.0
    start = 0
    while start < last:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        tied = stop - start
        places = min(last, stop) - start
        if found == tied:
            for i in range(places):
                hits += 1
                total += hits / (start + i + 1)
        elif found > 0 and (places == tied or params[0] != 2.0):
            share = found / tied
            rate = (found - 1) / (tied - 1)
            for i in range(places):
                total += share * (hits + 1 + i * rate) / (start + i + 1)
            hits += found
        elif found > 0:
            plain = 0.0  # sum of 1 / rank over the places
            rising = 0.0  # sum of (place - 1) / rank
            for i in range(places):
                plain += 1.0 / (start + i + 1)
                rising += i / (start + i + 1)
            others = tied - found - places
            mode = (places + 1) * (found + 1) // (tied + 2)
            weights = 0.0
            values = 0.0
            weight = 1.0
            for j in range(mode, min(places, found) + 1):
                rate = (j - 1) / (places - 1) if places > 1 else 0.0
                if hits + j > 0:
                    values += weight * (total + j / places * ((hits + 1) * plain + rate * rising)) / (hits + j)
                weights += weight
                weight *= (found - j) * (places - j) / ((j + 1) * (others + j + 1))
            weight = 1.0
            for j in range(mode, max(0, -others), -1):
                weight *= j * (others + j) / ((found - j + 1) * (places - j + 1))
                rate = (j - 2) / (places - 1) if places > 1 else 0.0
                if hits + j - 1 > 0:
                    there = (j - 1) / places * ((hits + 1) * plain + rate * rising)
                    values += weight * (total + there) / (hits + j - 1)
                weights += weight
            return values / weights
        start = stop
    if hits == 0:
        return 0.0
    if params[0] == 1.0:
        return total / min(k, ranking.num_rel)
    if params[0] == 2.0:
        return total / hits
    return total / ranking.num_rel


def mean_rank(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected mean rank of the relevant documents of the whole ranking: a group's have its mean rank."""
    size = len(ranking.grade)
    hits = 0
    total = 0.0
    start = 0
    while start < size:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        hits += found
        total += found * (start + stop + 1) / 2
        start = stop
    if params[1] == 1.0:
        return total / ranking.num_rel if ranking.num_rel > 0 else nan
    if hits > 0:
        return total / hits
    return float(params[0]) if params[0] > 0.0 else nan


def first_rank(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Expected rank of the first relevant document of the whole ranking: r of n split a group in r + 1 equal gaps."""
    size = len(ranking.grade)
    start = 0
    while start < size:
        found = 0
        stop = start
        while stop < size and ranking.score[stop] == ranking.score[start]:
            if ranking.grade[stop] >= level:
                found += 1
            stop += 1
        if found > 0:
            return start + (stop - start + 1) / (found + 1)
        start = stop
    return float(params[0]) if params[0] > 0.0 else nan
