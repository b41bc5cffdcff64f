"""Interpolated precision at recall levels, and its mean over eleven of them."""

from __future__ import annotations

from typing import Any

from rankeval_cli.measures.spec import TREC_LEVELS, Measure, Param, Ranking, TrecEval, never


def interpolated_precision(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Best precision at or below the rank where the recall level params[0] is reached.

    The best precision is always that of a relevant rank: between two of them it only falls.
    """
    product: float = params[0] * ranking.num_rel
    goal = int(product)
    if product - goal >= 0.5:  # round half away from zero, as C's lround
        goal += 1
    hits = 0
    best = 0.0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            hits += 1
            if hits >= goal:
                best = max(best, hits / (i + 1))
    return best


def eleven_points(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Mean of the interpolated precision at the levels in params, ascending; one pass from the last rank up."""
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
                product = params[place] * ranking.num_rel
                goal = int(product)
                if product - goal >= 0.5:
                    goal += 1
                if goal < hits:
                    break
                if goal == hits:  # a level above all hits is never reached and adds 0
                    total += best
                place -= 1
            hits -= 1
    for _ in range(place + 1):  # levels that ask for no relevant document at all
        total += best
    return total / len(params)


INTERPOLATED = (
    "The interpolated precision at recall level x is the largest h(i) / i over the ranks i from the c-th relevant "
    "document on (for c = 0 over all ranks), h(i) = relevant documents among the first i, c = x * R rounded to the "
    "nearest whole number, halves up, R = all relevant documents; 0 when fewer than c are retrieved."
)

MEASURES = (
    Measure(
        name="iprec",
        needs_tail=never,
        aliases=("iprec_at_recall",),
        title="Interpolated precision at a recall level",
        definition=INTERPOLATED + " The level stands after `@` and is a number from 0 to 1.",
        source="trec_eval 10 `iprec_at_recall`; releases up to 9.0.8 round x * R down after adding 0.9",
        kernel=interpolated_precision,
        cutoff="value",
        params=(Param("recall", "float", None, "recall level", low=0.0, high=1.0, is_at=True),),
        undefined=("no_relevant",),
        encode=lambda metric: (metric.params["recall"],),
        trec_eval=(TrecEval(11, "iprec_at_recall", ("official", "all_trec"), "points", TREC_LEVELS),),
        ir_measures="IPrec",
        examples=("iprec@0.1", "IPrec@0,0.5,1", "iprec_at_recall_0.10", "iprec_at_recall.0.1,.25"),
    ),
    Measure(
        name="11pt",
        needs_tail=never,
        aliases=("11pt_avg",),
        title="Mean interpolated precision over eleven recall levels",
        definition="The mean over the recall levels of the interpolated precision. " + INTERPOLATED,
        source="trec_eval 10 `11pt_avg`; releases up to 9.0.8 round x * R down after adding 0.9",
        kernel=eleven_points,
        cutoff="never",
        params=(Param("levels", "floats", TREC_LEVELS, "recall levels", low=0.0, high=1.0),),
        undefined=("no_relevant",),
        encode=lambda metric: metric.params["levels"],
        trec_eval=(TrecEval(19, "11pt_avg", takes="numbers"),),
        suffixes={"11pt": "numbers"},
        examples=("11pt", "11pt_avg", "11pt_avg.0.2,0.5,0.8", "11pt(levels=[0.2,0.5,0.8])"),
    ),
)
