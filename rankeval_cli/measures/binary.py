"""Measures of binary relevance on a ranked list: a document is relevant when its grade reaches the level."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Any

from rankeval_cli.measures import tied
from rankeval_cli.measures.spec import TREC_CUTOFFS, Measure, Metric, Param, Ranking, TrecEval, never


def reciprocal_rank(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """1 / rank of the first relevant document within the first k, else 0."""
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            return 1.0 / (i + 1)
    return 0.0


def average_precision(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Sum of the precision at each relevant document; params: the denominator (0 all, 1 min, 2 found), lowest value."""
    hits = 0
    total = 0.0
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            hits += 1
            total += hits / (i + 1)
    lowest: float = params[1]
    if hits == 0:
        return lowest
    if params[0] == 1.0:
        return total / min(k, ranking.num_rel)
    if params[0] == 2.0:
        return total / hits
    return max(lowest, total / ranking.num_rel)


def precision(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Relevant documents in the first k / k; params: 1 for min(k, length) instead, the value of an empty ranking."""
    size = len(ranking.grade)
    if size == 0:
        return float(params[1])
    hits = 0
    for i in range(min(k, size)):
        if ranking.grade[i] >= level:
            hits += 1
    if hits == 0:
        return 0.0
    return hits / min(k, size) if params[0] == 1.0 else hits / k


def recall(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Relevant documents in the first k / all relevant documents."""
    hits = 0
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            hits += 1
    return hits / ranking.num_rel if hits > 0 else 0.0


def capped_recall(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Relevant documents in the first k / the most that k places can hold."""
    hits = 0
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            hits += 1
    return hits / min(k, ranking.num_rel) if hits > 0 else 0.0


def f_measure(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Weighted harmonic mean of precision and recall; params[0] is beta squared.

    params[1:] : 1 for precision over min(k, length), 1 for recall over min(k, num_rel), the value of an empty ranking
    (1 + b) P R / (b P + R) with P = hits / size and R = hits / num_rel, written without a division by zero.
    """
    if len(ranking.grade) == 0:
        return float(params[3])
    hits = 0
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            hits += 1
    if hits == 0:
        return 0.0
    squared: float = params[0]
    size = min(k, len(ranking.grade)) if params[1] == 1.0 else k
    goal = min(k, ranking.num_rel) if params[2] == 1.0 else ranking.num_rel
    return min(1.0, (1.0 + squared) * hits / (squared * goal + size))  # rounding may exceed 1


def hit(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """1 when a relevant document is among the first k, else 0."""
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            return 1.0
    return 0.0


def hit_of_one(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """1 when the only relevant document is among the first k, else 0; NaN unless exactly one is relevant."""
    if ranking.num_rel != 1:
        return nan
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            return 1.0
    return 0.0


def num_hits(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Relevant documents in the first k."""
    hits = 0
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            hits += 1
    return float(hits)


def _is_top_one(metric: Metric) -> bool:
    return metric.cutoff == 1


def _is_capped(metric: Metric) -> bool:
    return bool(metric.params["norm"] == "min")


def _by_length(metric: Metric) -> bool:
    return metric.cutoff is None or _is_capped(metric)


def _encode_precision(metric: Metric) -> tuple[float, ...]:
    return float(_by_length(metric)), 0.0


def _encode_f(metric: Metric) -> tuple[float, ...]:
    beta = metric.params["beta"]
    return beta * beta, float(_by_length(metric)), float(_is_capped(metric)), 0.0


CAPPED = Param("norm", "choice", "k", "what limits the denominators: k, or the places that there are", ("k", "min"))


def _warn_hits(metric: Metric, name: str) -> str | None:
    if name != "hits":
        return None
    at = "10" if metric.cutoff is None else metric.cutoff
    return f"`{metric.written}` counts relevant documents, as in ranx; the share of queries with one is `hit@{at}`"


AP = Measure(
    name="ap",
    needs_tail=never,
    aliases=("map", "average_precision"),
    title="Average precision",
    definition=(
        "The sum of h(i) / i over the ranks i <= k that hold a relevant document, h(i) = relevant documents among "
        "the first i, divided by: all relevant documents R (norm=all); min(k, R) (norm=min); the relevant "
        "documents found in the top k (norm=found). 0 when none is found."
    ),
    source="Buckley & Voorhees 2005, ch. 3; trec_eval `map`, `map_cut`",
    kernel=average_precision,
    expected=lambda metric: tied.average_precision,
    ties_bound=lambda metric: metric.cutoff is None or metric.params["norm"] != "found",
    params=(Param("norm", "choice", "all", "what the sum is divided by", choices=("all", "min", "found")),),
    undefined=("no_relevant",),
    is_binary=lambda metric: metric.cutoff == 1 and metric.params["norm"] != "all",
    encode=lambda metric: (float(("all", "min", "found").index(metric.params["norm"])), 0.0),
    trec_eval=(
        TrecEval(6, "map", ("official", "all_trec")),
        TrecEval(28, "map_cut", takes="cutoffs", defaults=TREC_CUTOFFS),
        TrecEval(51, "map_avgjg", ("qrels_jg",), by_group=True),
    ),
    ir_measures="AP",
    ranx="map",
    examples=("map", "map@100", "ap:norm=min@10", "map_cut.100", "AP(rel=2)@100"),
)

MEASURES = (
    Measure(
        name="rr",
        needs_tail=never,
        aliases=("mrr", "recip_rank", "reciprocal_rank"),
        title="Reciprocal rank of the first relevant document",
        definition="1 / rank of the first relevant document in the top k; 0 when there is none.",
        source="Kantor & Voorhees 2000 (TREC-5 Confusion Track); trec_eval `recip_rank`",
        kernel=reciprocal_rank,
        expected=lambda metric: tied.reciprocal_rank,
        undefined=("no_relevant",),
        is_binary=_is_top_one,
        trec_eval=(TrecEval(10, "recip_rank", ("official", "all_trec")),),
        ir_measures="RR",
        ranx="mrr",
        examples=("mrr@10", "recip_rank", "RR(rel=2)@10", "mrr@1,5,10"),
    ),
    AP,
    Measure(
        name="p",
        needs_tail=_by_length,
        aliases=("precision",),
        title="Precision",
        definition=(
            "Relevant documents in the top k / k, also when the ranking is shorter than k; norm=min divides by "
            "min(k, length of the ranking); 0 for an empty ranking."
        ),
        params=(CAPPED,),
        source="Van Rijsbergen 1979, ch. 7; trec_eval `P`",
        kernel=precision,
        expected=lambda metric: tied.precision,
        cutoff="required",
        undefined=("no_relevant",),
        is_binary=_is_top_one,
        encode=_encode_precision,
        trec_eval=(
            TrecEval(12, "P", ("official", "all_trec"), "cutoffs", TREC_CUTOFFS),
            TrecEval(52, "P_avgjg", ("qrels_jg",), "cutoffs", TREC_CUTOFFS, by_group=True),
        ),
        ir_measures="P",
        ranx="precision",
        examples=("P@5", "precision@10", "P_5", "P.5,10", "P(rel=2)@5", "p:norm=min@10"),
    ),
    Measure(
        name="recall",
        needs_tail=never,
        aliases=("r", "set_recall", "setr"),
        title="Recall",
        definition="Relevant documents in the top k / all relevant documents; 0 when none is found.",
        source="Van Rijsbergen 1979, ch. 7; trec_eval `recall`, without a cutoff `set_recall`",
        kernel=recall,
        expected=lambda metric: tied.recall,
        undefined=("no_relevant",),
        trec_eval=(
            TrecEval(14, "recall", takes="cutoffs", defaults=TREC_CUTOFFS),
            TrecEval(33, "set_recall", ("all_trec", "set")),
        ),
        ir_measures="R, SetR",
        ranx="recall",
        examples=("recall@100", "R@100", "recall_100", "recall"),
    ),
    Measure(
        name="r_cap",
        needs_tail=never,
        aliases=("recall_cap", "capped_recall"),
        title="Capped recall",
        definition="Relevant documents in the top k / min(k, R), R = all relevant documents; 0 when none is found.",
        source="Thakur et al. 2021 (BEIR), `R_cap@k`; trec_eval `relative_P`",
        kernel=capped_recall,
        expected=lambda metric: tied.capped_recall,
        undefined=("no_relevant",),
        is_binary=_is_top_one,
        trec_eval=(TrecEval(29, "relative_P", takes="cutoffs", defaults=TREC_CUTOFFS),),
        examples=("r_cap@10", "recall_cap@100", "relative_P.5,10"),
    ),
    Measure(
        name="f",
        needs_tail=_by_length,
        title="F measure, the weighted harmonic mean of precision and recall",
        definition=(
            "(1 + b^2) P R / (b^2 P + R) with b = beta, R = recall and P = precision in the top k (or, without a "
            "cutoff, in the whole ranking); 0 when none is found. Beta is squared; trec_eval's `set_F` and "
            "ir_measures' `SetF` do not square it. norm=min divides by min(k, length of the ranking) in precision and "
            "by min(k, relevant documents) in recall."
        ),
        source="Van Rijsbergen 1979, ch. 7",
        kernel=f_measure,
        expected=lambda metric: tied.f_measure,
        params=(
            Param("beta", "float", 1.0, "how many times recall weighs as much as precision", low=0.0, high=1e6),
            CAPPED,
        ),
        undefined=("no_relevant",),
        encode=_encode_f,
        ranx="f1",
        shorthand={"f1": {"beta": 1.0}, "f2": {"beta": 2.0}, "f0.5": {"beta": 0.5}},
        examples=("f1@10", "f(beta=2)@10", "f2@10", "f:beta=0.5", "f1:norm=min@10"),
    ),
    Measure(
        name="hit",
        needs_tail=never,
        aliases=("success", "hit_rate", "hitrate"),
        title="Hit, the share of queries with a relevant document in the top k",
        definition="1 when a relevant document is in the top k, else 0.",
        source="trec_eval `success`",
        kernel=hit,
        expected=lambda metric: tied.hit,
        cutoff="required",
        undefined=("no_relevant",),
        is_binary=lambda metric: True,
        trec_eval=(TrecEval(30, "success", takes="cutoffs", defaults=(1.0, 5.0, 10.0)),),
        ir_measures="Success",
        ranx="hit_rate",
        examples=("hit@10", "success_1", "hit_rate@3"),
    ),
    Measure(
        name="num_hits",
        needs_tail=never,
        aliases=("hits",),
        title="Number of relevant documents in the top k",
        definition="Relevant documents in the top k; the report gives their mean over the queries, not the sum.",
        source="ranx `hits`",
        kernel=num_hits,
        expected=lambda metric: tied.num_hits,
        bounds=(0.0, float("inf")),
        is_binary=_is_top_one,
        ranx="hits",
        caution=_warn_hits,
        examples=("num_hits@10", "hits@10"),
    ),
)

# What a preset puts into a record, as rankereval's code has it: its HitRate for `hit`, its truncated Precision and F1
# for `p(norm=min)` and `f(norm=min)`, which an empty ranking leaves without a value.
HIT_OF_ONE: Mapping[str, Any] = {
    "kernel": hit_of_one,
    "undefined": ("no_relevant", "not_one_relevant"),
    "expected": lambda metric: None,
}
TRUNCATED_P: Mapping[str, Any] = {
    "encode": lambda metric: (*_encode_precision(metric)[:-1], nan if _is_capped(metric) else 0.0),
    "undefined": ("no_relevant", "empty_ranking"),
}
TRUNCATED_F: Mapping[str, Any] = {
    "encode": lambda metric: (*_encode_f(metric)[:-1], nan if _is_capped(metric) else 0.0),
    "undefined": ("no_relevant", "empty_ranking"),
}
