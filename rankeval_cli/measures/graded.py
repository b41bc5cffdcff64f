"""Measures of graded relevance: each document has a gain, each rank a discount."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankeval_cli.errors import InputError
from rankeval_cli.measures import tied_gains
from rankeval_cli.measures.spec import (
    TREC_CUTOFFS,
    Discount,
    GainMap,
    Measure,
    Metric,
    Param,
    Ranking,
    TrecEval,
    never,
    same_in_any_order,
    without_gains,
)

MAX_EXPONENT = 1000.0  # 2^1000 added up over any list stays below the largest double, 1.8e308


def dcg(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Sum of gain / discount over the first k; `discount` holds divisors."""
    total = 0.0
    for i in range(min(k, len(ranking.grade))):
        total += ranking.grade[i] / ranking.discount[i]
    return total


def ndcg(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """DCG of the first k / DCG of the k largest gains; `discount` holds divisors, as in trec_eval: the same bits."""
    total = 0.0
    for i in range(min(k, len(ranking.grade))):
        total += ranking.grade[i] / ranking.discount[i]
    best = 0.0
    for i in range(min(k, len(ranking.ideal))):
        best += ranking.ideal[i] / ranking.discount[i]
    return total / best if best > 0.0 else 0.0


def ideal_dcg(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """DCG of the k largest gains of all judged documents."""
    best = 0.0
    for i in range(min(k, len(ranking.ideal))):
        best += ranking.ideal[i] / ranking.discount[i]
    return best


def exponential(grade: float) -> float:
    """2^grade - 1. Raises InputError for a grade so large that a sum could overflow."""
    if grade > MAX_EXPONENT:
        raise InputError(f"grade `{grade:g}` is too large for gain=exp", hint="use gain=linear, or gains={grade:gain}")
    return float(2.0**grade - 1.0)


def square(grade: float) -> float:
    """grade^2 - 1."""
    return grade * grade - 1.0


def gain_map(metric: Metric, max_grade: float) -> GainMap:
    """The grade, or 2^grade - 1 (gain=exp), or grade^2 - 1 (gain=square), or what `gains` says."""
    gains: Mapping[float, float] = metric.params["gains"]
    kind = metric.params["gain"]
    other = {"exp": exponential, "square": square}.get(kind, float)
    return GainMap(
        ("gain", kind in ("exp", "square") and kind, *gains.items()),
        lambda grade: gains[grade] if grade in gains else other(grade),
        (gains.get(-1.0, 0.0), gains.get(-2.0, 0.0)),  # what trec_eval marks documents with that have no grade
    )


LOG2 = Discount(("log", 2.0), lambda rank: math.log2(rank + 1.0))


def log_discount(metric: Metric) -> Discount:
    """Divisors log_base(rank + 1). math.log2 for base 2 gives trec_eval's bits, a quotient of logarithms would not."""
    base = metric.params["base"]
    if base == "e":
        return Discount(("log", "e"), lambda rank: math.log(rank + 1.0))
    if base == 2.0:
        return LOG2
    if base == 10.0:
        return Discount(("log", 10.0), lambda rank: math.log10(rank + 1.0))
    return Discount(("log", base), lambda rank: math.log(rank + 1.0) / math.log(base))


def _of_squares(name: str, params: Mapping[str, Any]) -> Measure | None:
    return SQUARES[name] if params.get("gain") == "square" else None


PARAMS = (
    Param("gain", "choice", "linear", "gain of a grade g: g, or 2^g - 1", choices=("linear", "exp")),
    Param("base", "float", 2.0, "base of the discount's logarithm; cancels in ndcg", choices=("e",), above=1.0),
    Param("gains", "gains", {}, "gain of single grades; the others follow `gain`"),
)
SQUARE = replace(PARAMS[0], help="gain of a grade g: g, 2^g - 1, or g^2 - 1", choices=("linear", "exp", "square"))
WITH_SQUARE = (SQUARE, *PARAMS[1:])
FOREIGN = {"dcg": {"log2": {"gain": "linear"}, "exp-log2": {"gain": "exp"}}}
GAIN_TEXT = (
    "The gain of a document is its grade (gain=linear) or 2^grade - 1 (gain=exp), or what `gains` says; an unjudged "
    "document has gain 0. -l does not act here; an explicit (rel=G) gives lower grades gain 0, also in the ideal."
)
SQUARE_TEXT = (
    " gain=square is grade^2 - 1, -1 for a document judged 0: what the code of rankereval computes as `power`; values "
    "may then be negative."
)

MEASURES = (
    Measure(
        name="ndcg",
        needs_tail=never,
        title="Normalised discounted cumulative gain",
        definition=(
            "DCG@k / ideal DCG@k, DCG@k being the sum of gain / log2(rank + 1) over the top k and the ideal the same "
            "sum over the k largest gains of all judged documents, retrieved or not; 0 when the ideal is 0. "
            + GAIN_TEXT
            + SQUARE_TEXT
        ),
        source="Järvelin & Kekäläinen 2002; trec_eval `ndcg`, `ndcg_cut`; gain=exp: Burges et al. 2005",
        kernel=ndcg,
        expected=lambda metric: tied_gains.ndcg,
        ties_bound=without_gains,
        params=WITH_SQUARE,
        undefined=("no_gain",),
        gain=gain_map,
        variant=lambda params, level: _of_squares("ndcg", params),
        discount=log_discount,
        uses_level=False,
        trec_eval=(
            TrecEval(24, "ndcg", takes="pairs"),
            TrecEval(27, "ndcg_cut", takes="cutoffs", defaults=TREC_CUTOFFS),
        ),
        ir_measures="nDCG",
        ranx="ndcg, ndcg_burges",
        shorthand={"ndcg_exp": {"gain": "exp"}, "ndcg_burges": {"gain": "exp"}},
        foreign=FOREIGN,
        examples=(
            "ndcg@10",
            "ndcg_exp@10",
            "ndcg:gain=exp@10",
            "ndcg_cut.5,10",
            "ndcg.1=3.5,2=9",
            "nDCG(dcg='exp-log2')@10",
            "nDCG(gains={1:0,2:5})@10",
        ),
    ),
    Measure(
        name="dcg",
        needs_tail=never,
        title="Discounted cumulative gain",
        definition="The sum of gain / log_base(rank + 1) over the top k. " + GAIN_TEXT + SQUARE_TEXT,
        source="Järvelin & Kekäläinen 2002; trec_eval `dcg`; gain=exp: Burges et al. 2005",
        kernel=dcg,
        expected=lambda metric: tied_gains.dcg,
        ties_bound=without_gains,
        params=WITH_SQUARE,
        bounds=(0.0, math.inf),
        undefined=("no_gain",),
        gain=gain_map,
        variant=lambda params, level: _of_squares("dcg", params),
        discount=log_discount,
        uses_level=False,
        trec_eval=(TrecEval(22, "dcg", (), "pairs", since=10),),
        ranx="dcg, dcg_burges",
        shorthand={"dcg_exp": {"gain": "exp"}, "dcg_burges": {"gain": "exp"}},
        foreign=FOREIGN,
        examples=("dcg@10", "dcg_exp@10", "dcg:base=e@10"),
    ),
    Measure(
        name="ideal_dcg",
        needs_tail=never,
        title="Ideal discounted cumulative gain",
        definition="The DCG@k of the k largest gains of all judged documents, retrieved or not. " + GAIN_TEXT,
        source="Järvelin & Kekäläinen 2002; trec_eval 10 `ideal_dcg`",
        kernel=ideal_dcg,
        expected=same_in_any_order,
        params=PARAMS,
        bounds=(0.0, math.inf),
        direction="none",
        undefined=("no_gain",),
        gain=gain_map,
        discount=log_discount,
        uses_level=False,
        trec_eval=(TrecEval(23, "ideal_dcg", (), "pairs", since=10),),
        foreign=FOREIGN,
        examples=("ideal_dcg", "ideal_dcg@10", "ideal_dcg.1=3.5,2=9"),
    ),
)

# Gains of grade 0 are -1 there: values may be negative, and a query without gains may still have relevant documents.
SQUARES = {
    measure.name: replace(measure, bounds=(-math.inf, math.inf), undefined=("no_relevant",), ties_bound=never)
    for measure in MEASURES
    if measure.params == WITH_SQUARE
}
