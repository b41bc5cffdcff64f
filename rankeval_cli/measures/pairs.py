"""Measures over pairs of a relevant and another document."""

from __future__ import annotations

from math import nan
from typing import Any

from rankeval_cli.measures.spec import Measure, Param, TiedRanking, without_cutoff


def area_under_curve(ranking: TiedRanking, k: int, level: float, params: Any) -> float:
    """Share of the pairs (relevant, other) in the first k with the relevant one above; equal scores count half.

    A group of equal scores is closed when the score falls: above = relevant documents before the group. params[0] is
    the value where the first k hold only one of the two kinds.
    """
    above = 0
    negatives = 0
    tied_positives = 0
    tied_negatives = 0
    total = 0.0
    for i in range(min(k, len(ranking.grade))):
        if i > 0 and ranking.score[i] != ranking.score[i - 1]:
            total += tied_negatives * (above + 0.5 * tied_positives)
            above += tied_positives
            tied_positives = 0
            tied_negatives = 0
        if ranking.grade[i] >= level:
            tied_positives += 1
        else:
            tied_negatives += 1
            negatives += 1
    total += tied_negatives * (above + 0.5 * tied_positives)
    above += tied_positives
    return total / (above * negatives) if above > 0 and negatives > 0 else float(params[0])


MEASURES = (
    Measure(
        name="auc",
        aliases=("auroc", "roc_auc"),
        title="Area under the ROC curve of the ranking",
        definition=(
            "The share of the pairs of a relevant and another document in the top k in which the relevant one has the "
            "higher score; equal scores count half. Every retrieved document that is not relevant is a negative, "
            "judged or not. Undefined when the top k holds only one of the two kinds, or the value of `one_class` then."
        ),
        params=(Param("one_class", "float", None, "value where the top k holds only one kind", low=0.0, high=1.0),),
        encode=lambda metric: (nan if metric.params["one_class"] is None else metric.params["one_class"],),
        source="Hanley & McNeil 1982, Radiology 143; torchmetrics `RetrievalAUROC`",
        kernel=area_under_curve,
        expected=lambda metric: area_under_curve if metric.cutoff is None else None,
        ties_bound=without_cutoff,
        undefined=("one_class",),
        uses_score=True,
        examples=("auc", "auc@100", "auc:rel=2", "auc:one_class=0@100"),
    ),
)
