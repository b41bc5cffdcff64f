"""Measures that look at which documents were judged: bpref, fallout, and the judged and unjudged share."""

from __future__ import annotations

from math import nan
from typing import Any

from rankeval_cli.measures import tied_pool
from rankeval_cli.measures.spec import Measure, Param, Ranking, TrecEval, never


def binary_preference(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Share of judged non-relevant documents below each relevant one, averaged; params[0] is the lowest value."""
    num_rel = ranking.num_rel
    bound = min(len(ranking.ideal) - num_rel, num_rel)
    above = 0
    total = 0.0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            total += 1.0 - min(above, num_rel) / bound if above > 0 else 1.0
        elif ranking.status[i] == 2:
            above += 1
    lowest: float = params[0]
    return max(lowest, total / num_rel) if total > 0.0 else lowest


def inferred_average_precision(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Expected precision at each relevant document, from the judged ones of the pool above it, averaged over R."""
    relevant = 0
    nonrelevant = 0
    unjudged_above = 0
    total = 0.0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            if i == 0:
                total += 1.0
            else:
                pool = relevant + nonrelevant + unjudged_above
                rate = (relevant + 0.00001) / (relevant + nonrelevant + 2 * 0.00001)  # trec_eval's INFAP_EPSILON
                total += 1.0 / (i + 1) + (i / (i + 1)) * (pool / i) * rate
            relevant += 1
        elif ranking.status[i] == 2:
            nonrelevant += 1
        elif ranking.status[i] == 1:
            unjudged_above += 1
    return total / ranking.num_rel if total > 0.0 else 0.0


def fallout(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Judged non-relevant documents in the first k / all of them; params[0] > 0 is the size of the collection."""
    negatives = float(len(ranking.ideal) - ranking.num_rel)
    if params[0] > 0.0:
        negatives = params[0] - ranking.num_rel
    found = 0
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] < level and (params[0] > 0.0 or ranking.status[i] == 2):
            found += 1
    if len(ranking.grade) == 0 or negatives <= 0.0 or found > negatives:
        return nan
    return found / negatives


def judged(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Share of the first min(k, n) documents that are judged; NaN for an empty ranking."""
    size = min(k, len(ranking.grade))
    known = 0
    for i in range(size):
        if ranking.status[i] == 2:
            known += 1
    return known / size if size > 0 else nan


def in_pool(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """As `judged`, with the documents of a negative grade; the preset of ir_measures puts it in place of `judged`."""
    size = min(k, len(ranking.grade))
    known = 0
    for i in range(size):
        if ranking.status[i] > 0:
            known += 1
    return known / size if size > 0 else nan


def unjudged(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Documents in the first k that are not judged / k."""
    unknown = 0
    for i in range(min(k, len(ranking.grade))):
        if ranking.status[i] < 2:
            unknown += 1
    return unknown / k


BPREF = Measure(
    name="bpref",
    needs_tail=never,
    title="Binary preference",
    definition=(
        "1/R times the sum over the retrieved relevant documents of 1 - min(b, R) / min(N, R), and of 1 where b = 0; "
        "b = judged non-relevant documents (0 <= grade < level) above it, R and N = all judged relevant and "
        "non-relevant ones. Unjudged documents, negative grades included, are passed over."
    ),
    source="Buckley & Voorhees 2004, SIGIR; trec_eval `bpref`",
    kernel=binary_preference,
    expected=lambda metric: tied_pool.binary_preference,
    cutoff="never",
    undefined=("no_relevant",),
    encode=lambda metric: (0.0,),
    trec_eval=(TrecEval(9, "bpref", ("official", "all_trec")),),
    ir_measures="Bpref",
    ranx="bpref",
    examples=("bpref", "Bpref(rel=2)", "bpref:rel=2"),
)

INFAP = Measure(
    name="infap",
    needs_tail=never,
    title="Inferred average precision",
    definition=(
        "1/R times the sum over the retrieved relevant documents of 1/i + (i-1)/i * (r+b+u)/(i-1) * (r+e)/(r+b+2e), "
        "and of 1 at rank 1; i = its rank, r, b and u = relevant, judged non-relevant and unjudged (negative grade) "
        "documents of the pool above it, e = 0.00001, R = all judged relevant documents. Documents that are not in the "
        "judgments stand outside the pool."
    ),
    source="Yilmaz & Aslam 2006, CIKM; trec_eval `infAP`",
    kernel=inferred_average_precision,
    ties_bound=never,
    cutoff="never",
    undefined=("no_relevant",),
    trec_eval=(TrecEval(15, "infAP"),),
    ir_measures="infAP",
    examples=("infAP", "infap:rel=2"),
)

FALLOUT = Measure(
    name="fallout",
    aliases=("fall_out",),
    title="Fallout, the share of non-relevant documents that are shown",
    definition=(
        "Judged non-relevant documents (0 <= grade < level) in the top k / all of them. With (num_docs=N) the "
        "classical form: all documents in the top k that are not relevant, judged or not, / (N - R), R = all relevant "
        "documents. Undefined for an empty ranking, without non-relevant documents, and where N is too small."
    ),
    source="Van Rijsbergen 1979, ch. 7; torchmetrics `RetrievalFallOut`",
    kernel=fallout,
    expected=lambda metric: tied_pool.fallout,
    ties_bound=lambda metric: metric.params["num_docs"] is not None,  # else unjudged ones, of no worth, count for it
    params=(Param("num_docs", "int", None, "documents in the collection", low=1.0, high=1e15),),
    direction="lower",
    undefined=("no_nonrelevant", "empty_ranking"),
    encode=lambda metric: (metric.params["num_docs"] or 0.0,),
    examples=("fallout@10", "fallout", "fallout(num_docs=528155)@1000"),
)

JUDGED = Measure(
    name="judged",
    title="Share of the top k that is judged",
    definition=(
        "Documents with a grade of at least 0 in the top k / min(k, n), n = length of the ranking. Undefined for an "
        "empty ranking."
    ),
    source="ir_measures `Judged`",
    kernel=judged,
    expected=lambda metric: tied_pool.judged,
    cutoff="required",
    direction="none",
    undefined=("empty_ranking",),
    is_binary=lambda metric: metric.cutoff == 1,
    uses_level=False,
    ir_measures="Judged",
    examples=("judged@10", "Judged@5,10"),
)

UNJ = Measure(
    name="unj",
    title="Unjudged share of the top k",
    definition=(
        "Documents in the top k that are not judged (not in the judgments, or with a negative grade) / k; 0 for an "
        "empty ranking."
    ),
    source="trec_eval 10 `unj`",
    kernel=unjudged,
    expected=lambda metric: tied_pool.unjudged,
    cutoff="required",
    direction="none",
    is_binary=lambda metric: metric.cutoff == 1,
    uses_level=False,
    trec_eval=(TrecEval(57, "unj", takes="cutoffs", defaults=(5.0, 10.0, 20.0), since=10),),
    examples=("unj@10", "unj_5", "unj.5,10,20"),
)

MEASURES = (BPREF, INFAP, FALLOUT, JUDGED, UNJ)
