"""Graded measures that compare the ranking with the ideal at several depths: ndcg_rel, Rndcg, G."""

from __future__ import annotations

import math
from typing import Any

from rankeval_cli.measures import tied_gains
from rankeval_cli.measures.graded import GAIN_TEXT, LOG2, PARAMS, gain_map
from rankeval_cli.measures.spec import Measure, Ranking, TrecEval, never, without_gains


def ndcg_over_relevant(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """NDCG at the rank of each document with a gain, at the end for those not retrieved, averaged."""
    num_gains = 0
    for i in range(len(ranking.ideal)):
        if ranking.ideal[i] > 0.0:
            num_gains += 1
    if num_gains == 0:  # an unjudged document may have a gain all the same (`ndcg_rel.-1=5`)
        return 0.0
    found = 0
    gained = 0.0
    best = 0.0
    total = 0.0
    for i in range(len(ranking.grade)):
        if i < num_gains:
            best += ranking.ideal[i] / ranking.discount[i]
        if ranking.grade[i] > 0.0:
            gained += ranking.grade[i] / ranking.discount[i]
            total += gained / best
            found += 1
    for i in range(len(ranking.grade), num_gains):
        best += ranking.ideal[i] / ranking.discount[i]
    if num_gains > found and gained > 0.0:
        total += (num_gains - found) * gained / best
    return total / num_gains if total > 0.0 else 0.0


def ndcg_at_gains(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """NDCG averaged over the depths at which an ideal ranking passes to the next lower gain."""
    if ranking.num_rel == 0:
        return 0.0
    size = len(ranking.grade)
    points = 0
    place = 0
    gained = 0.0
    best = 0.0
    total = 0.0
    for i in range(len(ranking.ideal)):
        if ranking.ideal[i] <= 0.0:
            break
        best += ranking.ideal[i] / ranking.discount[i]
        if i < size:
            gained += ranking.grade[i] / ranking.discount[i]
        place = i + 1
        if place == len(ranking.ideal) or ranking.ideal[place] < ranking.ideal[i]:
            points += 1
            total += gained / best
    if points == 0:
        return 0.0
    if size > place + 1:  # not for one rank more: trec_eval's rule
        for i in range(place, size):
            gained += ranking.grade[i] / ranking.discount[i]
        points += 1
        total += gained / best
    return total / points


def normalised_g(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Gain over the logarithm of what an ideal reader would have gained more by then, over all gain."""
    everything = 0.0
    for i in range(len(ranking.ideal)):
        everything += ranking.ideal[i]
    spent = 0.0
    gained = 0.0
    total = 0.0
    for i in range(len(ranking.grade)):
        spent += max(1.0, ranking.ideal[i]) if i < len(ranking.ideal) else 1.0
        gained += ranking.grade[i]
        if ranking.grade[i] != 0.0:
            left = 2.0 + spent - gained
            if left <= 0.0 or left == 1.0:  # only gains of unjudged documents (`G.-1=5`) outrun the ideal reader's
                return 0.0
            total += ranking.grade[i] / math.log2(left)
    return min(1.0, total / everything) if everything > 0.0 else 0.0  # rounding may exceed 1


LINEAR_OR_EXP = tuple(param for param in PARAMS if param.name != "base")  # the base cancels, or is 2

MEASURES = (
    Measure(
        name="ndcg_rel",
        needs_tail=never,
        title="NDCG averaged over the ranks of the documents with a gain",
        definition=(
            "The mean over all judged documents with a gain of DCG@i / ideal DCG@i, i = the rank of the document, the "
            "length of the ranking for those that it lacks; the ideal is whole there. " + GAIN_TEXT
        ),
        source="trec_eval `ndcg_rel`",
        kernel=ndcg_over_relevant,
        expected=lambda metric: tied_gains.ndcg_over_relevant,
        ties_bound=without_gains,
        cutoff="never",
        params=LINEAR_OR_EXP,
        undefined=("no_gain",),
        gain=gain_map,
        discount=lambda metric: LOG2,
        uses_level=False,
        trec_eval=(TrecEval(25, "ndcg_rel", takes="pairs"),),
        examples=("ndcg_rel", "ndcg_rel.1=3.5,2=9"),
    ),
    Measure(
        name="rndcg",
        title="NDCG averaged over the depths at which the ideal gain falls",
        definition=(
            "The mean of DCG@k / ideal DCG@k over the depths k = judged documents with at least that gain, for each "
            "positive gain; a shorter ranking counts whole. Where the ranking is longer than the last of them by more "
            "than one rank, DCG of the whole ranking / whole ideal DCG is one value more. " + GAIN_TEXT
        ),
        source="trec_eval `Rndcg`; 0 there, too, where no document reaches -l",
        kernel=ndcg_at_gains,
        expected=lambda metric: tied_gains.ndcg_at_gains,
        ties_bound=without_gains,
        cutoff="never",
        params=LINEAR_OR_EXP,
        undefined=("no_relevant", "no_gain"),
        gain=gain_map,
        discount=lambda metric: LOG2,
        trec_eval=(TrecEval(26, "Rndcg", takes="pairs"),),
        examples=("Rndcg", "rndcg.1=3.5,2=9"),
    ),
    Measure(
        name="g",
        needs_tail=never,
        title="Normalised gain with a discount of what an ideal reader would have gained",
        definition=(
            "The sum over the documents with a gain g of g / log2(2 + c - s) / the sum of all judged gains; c = sum "
            "over the ranks down to the document's of max(1, ideal gain there), s = sum of the gains down to it. "
            + GAIN_TEXT
        ),
        source="trec_eval `G`",
        kernel=normalised_g,
        ties_bound=without_gains,
        cutoff="never",
        params=LINEAR_OR_EXP,
        undefined=("no_gain",),
        gain=gain_map,
        uses_level=False,
        plain_only=True,
        trec_eval=(TrecEval(21, "G", takes="pairs"),),
        examples=("G", "G.1=3.5,2=9"),
    ),
)
