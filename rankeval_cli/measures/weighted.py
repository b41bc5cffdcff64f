"""Average precision of items that have weights, as Keras and TF-Ranking define it; presets put it in place of `ap`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankeval_cli.measures.spec import GainMap, Metric, Ranking

LEAST_LABEL = 1.0  # both systems: a label of 1 or more is relevant


def weighted_average_precision(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Sum of precision times weight over the relevant items of the first k / weight of all relevant items.

    `grade` and `ideal` hold the weight of relevant items, 0 for others; precision itself does not weigh.
    """
    hits = 0
    total = 0.0
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] > 0.0:
            hits += 1
            total += hits / (i + 1) * ranking.grade[i]
    weight = 0.0
    for i in range(len(ranking.ideal)):
        weight += ranking.ideal[i]
    return total / weight if hits > 0 else 0.0


def _relevance(metric: Metric, max_grade: float) -> GainMap:
    return GainMap("relevance", lambda grade: 1.0 if grade >= LEAST_LABEL else 0.0)


WEIGHTED_AP: Mapping[str, Any] = {
    "kernel": weighted_average_precision,
    "gain": _relevance,
    "uses_level": False,
    "undefined": ("no_gain",),
    "encode": lambda metric: (),
    "expected": lambda metric: None,
}
