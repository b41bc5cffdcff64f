"""Counts, added up over the queries, and measures of what was retrieved as a set, whatever its order."""

from __future__ import annotations

from math import inf
from typing import Any

from rankeval_cli.measures.spec import Group, Measure, Metric, Param, Ranking, TrecEval, never, same_in_any_order

EVERY_GROUP: tuple[Group, ...] = ("official", "all_trec", "set", "prefs", "all_prefs", "qrels_jg")
COUNTED: tuple[Group, ...] = ("official", "all_trec", "set")
SET: tuple[Group, ...] = ("all_trec", "set")


def num_q(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """1 for each query."""
    return 1.0


def num_ret(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Length of the ranking."""
    return float(len(ranking.grade))


def num_rel(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Judged documents that are relevant."""
    return float(ranking.num_rel)


def num_rel_ret(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Relevant documents in the ranking."""
    hits = 0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            hits += 1
    return float(hits)


def num_nonrel_judged_ret(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Judged documents in the ranking that are not relevant."""
    found = 0
    for i in range(len(ranking.grade)):
        if ranking.status[i] == 2 and ranking.grade[i] < level:
            found += 1
    return float(found)


def set_precision(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Relevant documents in the ranking / its length, or the most of them that it could hold where params[0] is 1."""
    hits = 0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            hits += 1
    if hits == 0:
        return 0.0
    size = len(ranking.grade)
    return hits / min(size, ranking.num_rel) if params[0] == 1.0 else hits / size


def set_average_precision(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Precision times recall of the whole ranking."""
    hits = 0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            hits += 1
    return hits * hits / (len(ranking.grade) * ranking.num_rel) if hits > 0 else 0.0


def set_f(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """(b + 1) P R / (b P + R) of the whole ranking, b = params[0], in the order of trec_eval: the same bits."""
    hits = 0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            hits += 1
    if hits == 0:
        return 0.0
    weight: float = params[0]
    precision = hits / len(ranking.grade)
    recall = hits / ranking.num_rel
    return (weight + 1.0) * precision * recall / (weight * precision + recall)


def utility(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Weighted sum of four counts; params: the weights, documents in the collection."""
    hits = 0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            hits += 1
    found = len(ranking.grade)
    missed = ranking.num_rel - hits
    rest = params[4] + hits - found - ranking.num_rel
    value: float = params[0] * hits + params[1] * (found - hits) + params[2] * missed + params[3] * rest
    return value


def _utility_params(metric: Metric) -> tuple[float, ...]:
    return tuple(metric.params[name] for name in ("p1", "p2", "p3", "p4", "num_docs"))


NUM_Q = Measure(
    name="num_q",
    aliases=("numq",),
    title="Number of queries",
    definition="Judged queries that count, those without results among them; `--missing skip` takes these out.",
    source="trec_eval `num_q` (with its -c)",
    kernel=num_q,
    expected=same_in_any_order,
    cutoff="never",
    bounds=(1.0, 1.0),
    direction="none",
    aggregate="sum",
    uses_level=False,
    trec_eval=(TrecEval(2, "num_q", EVERY_GROUP, per_query=False),),
    ir_measures="NumQ",
    examples=("num_q", "NumQ"),
)

NUM_RET = Measure(
    name="num_ret",
    aliases=("numret",),
    title="Number of retrieved documents",
    definition="Documents in the rankings of judged queries, after --depth and --judged-only.",
    source="trec_eval `num_ret`",
    kernel=num_ret,
    expected=same_in_any_order,
    cutoff="never",
    bounds=(0.0, inf),
    direction="none",
    aggregate="sum",
    uses_level=False,
    trec_eval=(TrecEval(3, "num_ret", COUNTED),),
    ir_measures="NumRet",
    variant=lambda params, level: None if level is None else NUM_REL_RET,
    examples=("num_ret", "NumRet"),
)

NUM_REL = Measure(
    name="num_rel",
    aliases=("numrel",),
    title="Number of relevant documents",
    definition="Judged documents with a grade of at least the level, retrieved or not.",
    source="trec_eval `num_rel` (whose summary ignores -l under -c)",
    kernel=num_rel,
    expected=same_in_any_order,
    cutoff="never",
    bounds=(0.0, inf),
    direction="none",
    aggregate="sum",
    trec_eval=(TrecEval(4, "num_rel", COUNTED),),
    ir_measures="NumRel",
    examples=("num_rel", "NumRel(rel=2)"),
)

NUM_REL_RET: Measure = Measure(
    name="num_rel_ret",
    needs_tail=never,
    aliases=("numrelret",),
    title="Number of relevant documents retrieved",
    definition="Relevant documents in the rankings of judged queries, after --depth.",
    source="trec_eval `num_rel_ret`",
    kernel=num_rel_ret,
    expected=same_in_any_order,
    cutoff="never",
    bounds=(0.0, inf),
    aggregate="sum",
    trec_eval=(TrecEval(5, "num_rel_ret", COUNTED),),
    ir_measures="NumRelRet, NumRet(rel=1)",
    examples=("num_rel_ret", "NumRelRet(rel=2)", "NumRet(rel=1)"),
)

NUM_NONREL_JUDGED_RET = Measure(
    name="num_nonrel_judged_ret",
    needs_tail=never,
    title="Number of judged non-relevant documents retrieved",
    definition="Documents with a grade of at least 0 and below the level in the rankings of judged queries.",
    source="trec_eval `num_nonrel_judged_ret`",
    kernel=num_nonrel_judged_ret,
    expected=same_in_any_order,
    cutoff="never",
    bounds=(0.0, inf),
    direction="none",
    aggregate="sum",
    trec_eval=(TrecEval(36, "num_nonrel_judged_ret"),),
    examples=("num_nonrel_judged_ret",),
)

SET_P = Measure(
    name="set_p",
    aliases=("setp",),
    title="Precision of the whole ranking",
    definition=(
        "Relevant documents in the ranking / its length n (relative=false), or / min(n, R), the most it could hold "
        "(relative=true), R = all relevant documents."
    ),
    source="Van Rijsbergen 1979, ch. 7; trec_eval `set_P`, `set_relative_P`",
    kernel=set_precision,
    expected=same_in_any_order,
    cutoff="never",
    params=(Param("relative", "choice", "false", "divide by what can be reached", choices=("false", "true")),),
    undefined=("no_relevant",),
    encode=lambda metric: (1.0 if metric.params["relative"] == "true" else 0.0,),
    trec_eval=(TrecEval(31, "set_P", SET), TrecEval(32, "set_relative_P", SET, params={"relative": "true"})),
    ir_measures="SetP, SetRelP",
    shorthand={"set_relative_p": {"relative": "true"}, "setrelp": {"relative": "true"}},
    examples=("set_P", "SetP(rel=2)", "set_relative_P", "SetP(relative=True)"),
)

SET_MAP = Measure(
    name="set_map",
    aliases=("setap",),
    title="Precision times recall of the whole ranking",
    definition="h^2 / (n * R), h = relevant documents in the ranking, n = its length, R = all relevant documents.",
    source="trec_eval `set_map`",
    kernel=set_average_precision,
    expected=same_in_any_order,
    cutoff="never",
    undefined=("no_relevant",),
    trec_eval=(TrecEval(34, "set_map", SET),),
    ir_measures="SetAP",
    examples=("set_map", "SetAP(rel=2)"),
)

SET_F = Measure(
    name="set_f",
    aliases=("setf",),
    title="F measure of the whole ranking, beta not squared",
    definition=(
        "(b + 1) P R / (b P + R) with b = beta, P and R = precision and recall of the whole ranking; 0 when none is "
        "found. `f` squares beta."
    ),
    source="trec_eval `set_F`",
    kernel=set_f,
    expected=same_in_any_order,
    cutoff="never",
    params=(Param("beta", "float", 1.0, "weight of recall against precision", low=0.0, high=1e6),),
    undefined=("no_relevant",),
    encode=lambda metric: (metric.params["beta"],),
    trec_eval=(TrecEval(35, "set_F", SET, "numbers"),),
    ir_measures="SetF",
    examples=("set_F", "set_F.0.5", "SetF(beta=2)"),
)

UTILITY = Measure(
    name="utility",
    title="Weighted sum of what was found, wrongly found, missed and left",
    definition=(
        "p1 * h + p2 * (n - h) + p3 * (R - h) + p4 * (N + h - n - R); h = relevant documents in the ranking, n = its "
        "length, R = all relevant documents, N = num_docs."
    ),
    source="TREC filtering tracks; trec_eval `utility`, whose -N is num_docs",
    kernel=utility,
    expected=same_in_any_order,
    cutoff="never",
    params=(
        Param("p1", "float", 1.0, "worth of a relevant document that is retrieved"),
        Param("p2", "float", -1.0, "worth of any other document that is retrieved"),
        Param("p3", "float", 0.0, "worth of a relevant document that is not retrieved"),
        Param("p4", "float", 0.0, "worth of any other document that is not retrieved"),
        Param("num_docs", "int", 0.0, "documents in the collection", low=0.0, high=1e15),
    ),
    bounds=(-inf, inf),
    encode=_utility_params,
    trec_eval=(TrecEval(18, "utility", SET, "numbers"),),
    examples=("utility", "utility.2,-1,0,0", "utility(p4=1,num_docs=528155)"),
)

MEASURES = (
    NUM_Q,
    NUM_RET,
    NUM_REL,
    NUM_REL_RET,
    NUM_NONREL_JUDGED_RET,
    SET_P,
    SET_MAP,
    SET_F,
    UTILITY,
)
