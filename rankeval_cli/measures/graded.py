"""Measures of graded relevance: each document has a gain, each rank a discount."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from rankeval_cli.errors import InputError, UsageError
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
MOST_PLACES = 1_000_000  # that gain=square adds up: a tenth of a second


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


def dcg_of_squares(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Sum of (gain - 1) / discount over all k places, also those without a document; params[1] = 1 for NDCG.

    params[0] : the sum of 1 / discount over k places; 0 without a cutoff, where the places are those of the list
    """
    total = 0.0
    held = 0.0
    for i in range(min(k, len(ranking.grade))):
        total += (ranking.grade[i] - 1.0) / ranking.discount[i]
        held += 1.0 / ranking.discount[i]
    if held < params[0]:
        total -= params[0] - held
    if params[1] == 0.0:
        return total
    best = 0.0
    held = 0.0
    for i in range(min(k, len(ranking.ideal))):
        best += (ranking.ideal[i] - 1.0) / ranking.discount[i]
        held += 1.0 / ranking.discount[i]
    if held < params[0]:
        best -= params[0] - held
    return total / best if best != 0.0 else 0.0


def exponential(grade: float) -> float:
    """2^grade - 1. Raises InputError for a grade so large that a sum could overflow."""
    if grade > MAX_EXPONENT:
        raise InputError(f"grade `{grade:g}` is too large for gain=exp", hint="use gain=linear, or gains={grade:gain}")
    return float(2.0**grade - 1.0)


def square(grade: float) -> float:
    """grade^2."""
    return grade * grade


def gain_map(metric: Metric, max_grade: float) -> GainMap:
    """The grade, or 2^grade - 1 (gain=exp), or what `gains` says; each plus 1 for gain=square, grade^2."""
    gains: Mapping[float, float] = metric.params["gains"]
    kind = metric.params["gain"]
    other = {"exp": exponential, "square": square}.get(kind, float)
    shift = 1.0 if kind == "square" else 0.0  # its kernels take 1 off at every place
    unjudged = [gains.get(mark, -shift) + shift for mark in (-1.0, -2.0)]  # as trec_eval marks documents without grade
    return GainMap(
        ("gain", kind in ("exp", "square") and kind, *gains.items()),
        lambda grade: gains[grade] + shift if grade in gains else other(grade),
        (unjudged[0], unjudged[1]),
    )


LOG2 = Discount(("log", 2.0), lambda rank: math.log2(rank + 1.0))


def log_discount(metric: Metric) -> Discount:
    """Divisors log_base(rank + 1). math.log2 for base 2 gives trec_eval's bits, a quotient of logarithms would not."""
    return _log(metric.params["base"])


@cache
def _log(base: float | str) -> Discount:
    if base == "e":
        return Discount(("log", "e"), lambda rank: math.log(rank + 1.0))
    if base == 2.0:
        return LOG2
    if base == 10.0:
        return Discount(("log", 10.0), lambda rank: math.log10(rank + 1.0))
    divisor = math.log(float(base))
    return Discount(("log", base), lambda rank: math.log(rank + 1.0) / divisor)


def _encode_squares(metric: Metric) -> tuple[float, ...]:
    if metric.cutoff is not None and metric.cutoff > MOST_PLACES:
        what = f"`{metric.written}` adds up {metric.cutoff:,} places, whatever the rankings hold"
        raise UsageError(what, hint=f"choose a cutoff of at most {MOST_PLACES:,} with gain=square, or none")
    return _places(metric.params["base"], metric.cutoff or 0), float(metric.measure.name == "ndcg")


@cache
def _places(base: float | str, size: int) -> float:
    """The sum of 1 / discount over the first places, added up as the kernel does."""
    discount, total = _log(base), 0.0
    for rank in range(1, size + 1):
        total += 1.0 / discount.of(rank)
    return total


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
    " gain=square is what the code of rankereval computes as `power`: grade^2 - 1, where each of the k places (without "
    "a cutoff: of the list) that no judged document holds, or one below (rel=G), counts as grade 0, which is -1, also "
    "in the ideal. Values may be negative, and so may the ideal."
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
            "ndcg:gain=square@10",
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
        examples=("dcg@10", "dcg_exp@10", "dcg:base=e@10", "dcg:gain=square@10"),
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

SQUARES = {
    measure.name: replace(
        measure,
        kernel=dcg_of_squares,
        encode=_encode_squares,
        expected=lambda metric: tied_gains.dcg_of_squares,
        needs_tail=lambda metric: True,
        bounds=(-math.inf, math.inf),
        ties_bound=never if measure.name == "ndcg" else without_gains,  # a negative ideal turns the order around
    )
    for measure in MEASURES
    if measure.params == WITH_SQUARE
}
