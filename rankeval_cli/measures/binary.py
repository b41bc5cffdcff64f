"""Measures of binary relevance on a ranked list: a document is relevant when its grade reaches the level."""

from __future__ import annotations

from typing import Any

from rankeval_cli.measures.spec import Measure


def reciprocal_rank(ranking: Any, k: int, level: float, params: Any) -> float:
    """1 / rank of the first relevant document within the first k, else 0."""
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            return 1.0 / (i + 1)
    return 0.0


def average_precision(ranking: Any, k: int, level: float, params: Any) -> float:
    """Mean of the precision at each relevant document; params[0] chooses the denominator (0 all, 1 min, 2 found)."""
    hits = 0
    total = 0.0
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            hits += 1
            total += hits / (i + 1)
    if hits == 0:
        return 0.0
    if params[0] == 1.0:
        return total / min(k, ranking.num_rel)
    if params[0] == 2.0:
        return total / hits
    return total / ranking.num_rel


MEASURES = (
    Measure(
        name="rr",
        aliases=("mrr", "recip_rank", "reciprocal_rank"),
        title="Reciprocal rank of the first relevant document",
        definition="1 / rank of the first relevant document in the top k; 0 when there is none.",
        source="Kantor & Voorhees 2000 (TREC-5 Confusion Track); trec_eval `recip_rank`",
        kernel=reciprocal_rank,
        undefined=("no_relevant",),
        is_binary=lambda metric: metric.cutoff == 1,
        trec_eval="recip_rank",
        ir_measures="RR",
        ranx="mrr",
    ),
)
