"""Measures of binary relevance that need no cutoff: R-precision and multiples of R, binG, yaap, geometric means."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from rankeval_cli.measures import tied, tied_pool
from rankeval_cli.measures.binary import AP
from rankeval_cli.measures.graded import LOG2
from rankeval_cli.measures.pooled import BPREF
from rankeval_cli.measures.spec import Measure, Param, Ranking, TrecEval, never, no_closed_form
from rankeval_cli.model import GEOMETRIC_FLOOR


def r_precision(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Relevant documents in the first R / R, R = all relevant documents."""
    hits = 0
    for i in range(min(ranking.num_rel, len(ranking.grade))):
        if ranking.grade[i] >= level:
            hits += 1
    return hits / ranking.num_rel if hits > 0 else 0.0


def precision_at_multiple(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Precision at params[0] * R documents, rounded up but for the last tenth, as trec_eval does."""
    size = int(params[0] * ranking.num_rel + 0.9)
    hits = 0
    for i in range(min(size, len(ranking.grade))):
        if ranking.grade[i] >= level:
            hits += 1
    return hits / size if hits > 0 else 0.0


def binary_g(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Sum of 1 / log2(2 + documents above that are not relevant) over the relevant ones / R."""
    others = 0
    total = 0.0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            total += 1.0 / ranking.discount[others]
        else:
            others += 1
    return total / ranking.num_rel if total > 0.0 else 0.0


def yaap(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """ln((1 + S) / (1 + R - S)), S = sum of the precision at each relevant document."""
    hits = 0
    total = 0.0
    for i in range(len(ranking.grade)):
        if ranking.grade[i] >= level:
            hits += 1
            total += hits / (i + 1)
    return math.log((1.0 + total) / (1.0 + ranking.num_rel - total))


GEOMETRIC_TEXT = " The summary is the geometric mean over the queries; no query counts as less than 0.00001."

GM_MAP = replace(
    AP,
    name="gm_map",
    aliases=(),
    title="Geometric mean of average precision",
    definition="The sum of the precision at each relevant document of the ranking / all relevant documents."
    + GEOMETRIC_TEXT,
    source="Robertson 2006, CIKM; trec_eval `gm_map`",
    cutoff="never",
    params=(),
    bounds=(GEOMETRIC_FLOOR, 1.0),
    aggregate="geometric",
    expected=no_closed_form,  # a mean over orders is none of their logarithms
    is_binary=lambda metric: False,
    encode=lambda metric: (0.0, GEOMETRIC_FLOOR),
    trec_eval=(TrecEval(7, "gm_map", ("official", "all_trec"), per_query=False),),
    ir_measures=None,
    ranx=None,
    examples=("gm_map", "gm_map(rel=2)"),
)

GM_BPREF = replace(
    BPREF,
    name="gm_bpref",
    title="Geometric mean of binary preference",
    definition=BPREF.definition + GEOMETRIC_TEXT,
    source="Robertson 2006, CIKM; trec_eval `gm_bpref`",
    bounds=(GEOMETRIC_FLOOR, 1.0),
    aggregate="geometric",
    expected=no_closed_form,  # a mean over orders is none of their logarithms
    encode=lambda metric: (GEOMETRIC_FLOOR,),
    trec_eval=(TrecEval(16, "gm_bpref", per_query=False),),
    ir_measures=None,
    ranx=None,
    examples=("gm_bpref", "gm_bpref:rel=2"),
)

RPREC = Measure(
    name="rprec",
    needs_tail=never,
    aliases=("r_precision",),
    title="R-precision",
    definition="Relevant documents in the top R / R, R = all relevant documents.",
    source="Buckley & Voorhees 2005, ch. 3; trec_eval `Rprec`",
    kernel=r_precision,
    expected=lambda metric: tied.r_precision,
    cutoff="never",
    undefined=("no_relevant",),
    trec_eval=(TrecEval(8, "Rprec", ("official", "all_trec")),),
    ir_measures="Rprec",
    ranx="r-precision",
    examples=("Rprec", "r-precision", "rprec:rel=2"),
)

MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)  # what trec_eval prints without a list

RPREC_MULT = Measure(
    name="rprec_mult",
    needs_tail=never,
    title="Precision at a multiple of R",
    definition=(
        "Relevant documents in the top k / k, k = x * R + 0.9 rounded down, R = all relevant documents; 0 when k is 0. "
        "The multiple x stands after `@`."
    ),
    source="trec_eval `Rprec_mult`",
    kernel=precision_at_multiple,
    expected=lambda metric: tied.precision_at_multiple,
    cutoff="value",
    params=(Param("multiple", "float", None, "multiple of R", low=0.0, high=1e6, is_at=True),),
    undefined=("no_relevant",),
    encode=lambda metric: (metric.params["multiple"],),
    trec_eval=(
        TrecEval(17, "Rprec_mult", takes="points", defaults=MULTIPLES),
        TrecEval(53, "Rprec_mult_avgjg", ("qrels_jg",), "points", MULTIPLES, by_group=True),
    ),
    examples=("rprec_mult@0.5", "Rprec_mult_0.20", "Rprec_mult.0.5,1"),
)

BING = Measure(
    name="bing",
    needs_tail=never,
    title="Binary G",
    definition=(
        "1/R times the sum over the relevant documents of the ranking of 1 / log2(2 + b), b = documents above that are "
        "not relevant, judged or not; R = all relevant documents."
    ),
    source="trec_eval `binG`",
    kernel=binary_g,
    expected=lambda metric: tied_pool.binary_g,
    cutoff="never",
    undefined=("no_relevant",),
    discount=lambda metric: LOG2,
    trec_eval=(TrecEval(20, "binG"),),
    examples=("binG", "bing:rel=2"),
)

YAAP = Measure(
    name="yaap",
    needs_tail=never,
    title="Yet another average precision",
    definition=(
        "ln((1 + S) / (1 + R - S)), S = sum of h(i) / i over the ranks i that hold a relevant document, h(i) = "
        "relevant documents among the first i, R = all relevant documents: near the log odds of average precision, and "
        "below 0 where that is below one half."
    ),
    source="Robertson 2006, CIKM; trec_eval `yaap`",
    kernel=yaap,
    cutoff="never",
    bounds=(-math.inf, math.inf),
    plain_only=True,
    trec_eval=(TrecEval(54, "yaap", ()),),
    examples=("yaap", "yaap:rel=2"),
)

MEASURES = (RPREC, RPREC_MULT, GM_MAP, GM_BPREF, BING, YAAP)
