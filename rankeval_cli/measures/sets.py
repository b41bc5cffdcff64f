"""Counts: of queries, of retrieved and of relevant documents, added up over the queries."""

from __future__ import annotations

from math import inf
from typing import Any

from rankeval_cli.measures.spec import Measure, Ranking, never


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


NUM_Q = Measure(
    name="num_q",
    aliases=("numq",),
    title="Number of queries",
    definition="Judged queries that count, those without results among them; `--missing skip` takes these out.",
    source="trec_eval `num_q` (with its -c)",
    kernel=num_q,
    cutoff="never",
    bounds=(1.0, 1.0),
    direction="none",
    aggregate="sum",
    uses_level=False,
    trec_eval="num_q",
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
    cutoff="never",
    bounds=(0.0, inf),
    direction="none",
    aggregate="sum",
    uses_level=False,
    trec_eval="num_ret",
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
    cutoff="never",
    bounds=(0.0, inf),
    direction="none",
    aggregate="sum",
    trec_eval="num_rel",
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
    cutoff="never",
    bounds=(0.0, inf),
    aggregate="sum",
    trec_eval="num_rel_ret",
    ir_measures="NumRelRet, NumRet(rel=1)",
    examples=("num_rel_ret", "NumRelRet(rel=2)", "NumRet(rel=1)"),
)

MEASURES = (NUM_Q, NUM_RET, NUM_REL, NUM_REL_RET)
