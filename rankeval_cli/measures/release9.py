"""What trec_eval 9 computes otherwise than 10: how many documents a recall level asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankeval_cli.measures.curves import eleven_points, interpolated_precision
from rankeval_cli.measures.spec import Kernel, Measure, Ranking


def interpolated_precision_9(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """As `interpolated_precision`; a level asks for x * R documents, rounded down after adding 0.9."""
    goal = int(params[0] * ranking.num_rel + 0.9)
    hits = 0
    best = 0.0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            hits += 1
            if hits >= goal:
                best = max(best, hits / (i + 1))
    return best


def eleven_points_9(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """As `eleven_points`, with the older rounding."""
    hits = 0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            hits += 1
    place = len(params) - 1
    total = 0.0
    best = 0.0
    for i in range(len(ranking.grade) - 1, -1, -1):
        if ranking.grade[i] >= level:
            best = max(best, hits / (i + 1))
            while place >= 0:
                goal = int(params[place] * ranking.num_rel + 0.9)
                if goal < hits:
                    break
                if goal == hits:
                    total += best
                place -= 1
            hits -= 1
    for _ in range(place + 1):
        total += best
    return total / len(params)


OLDER: Mapping[Kernel, Kernel] = {
    interpolated_precision: interpolated_precision_9,
    eleven_points: eleven_points_9,
}


def of_release(measure: Measure, release: int) -> Measure:
    """The measure as that release computes it."""
    if release == 9 and measure.kernel in OLDER:
        return replace(measure, kernel=OLDER[measure.kernel])
    return measure
