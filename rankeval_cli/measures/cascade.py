"""Measures of a reader who walks down the list and stops somewhere: expected reciprocal rank, rank-biased precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

from rankeval_cli.errors import InputError
from rankeval_cli.measures import tied_gains, tied_pool
from rankeval_cli.measures.graded import gain_map
from rankeval_cli.measures.spec import GainMap, Measure, Metric, Param, Ranking, TrecEval, never, without_gains


def expected_reciprocal_rank(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Expectation of 1 / rank at which the reader stops; `grade` holds the stop probabilities."""
    going = 1.0
    total = 0.0
    for i in range(min(k, len(ranking.grade))):
        stop = ranking.grade[i]
        total += going * stop / (i + 1)
        going *= 1.0 - stop
    return total


def rank_biased_precision(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """(1 - p) times the sum of p^(rank - 1) over the relevant documents in the first k; params[0] is p.

    The powers are a running product, as in trec_eval.
    """
    p: float = params[0]
    weight = 1.0
    total = 0.0
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            total += weight
        weight *= p
    return min(1.0, (1.0 - p) * total)  # rounding may exceed 1


def graded_rank_biased_precision(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """(1 - p) times the sum of gain * p^(rank - 1); params: p, 1 for gains over the query's highest gain above 1."""
    p: float = params[0]
    scale = 1.0
    if params[1] == 1.0 and len(ranking.ideal) > 0:
        scale = max(scale, ranking.ideal[0])
    weight = 1.0
    total = 0.0
    for i in range(min(k, len(ranking.grade))):
        total += ranking.grade[i] / scale * weight
        weight *= p
    return min(1.0, (1.0 - p) * total) if params[1] == 1.0 else (1.0 - p) * total


def rank_biased_residual(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """What rbp could still gain: p^n behind the ranking, and the weight of its unjudged ranks; params[0] is p.

    0 where all that is retrieved is judged, as in trec_eval.
    """
    p: float = params[0]
    weight = 1.0
    total = 0.0
    unknown = 0
    for i in range(len(ranking.grade)):
        if ranking.status[i] < 2:
            unknown += 1
            total += weight
        weight *= p
    return min(1.0, weight + (1.0 - p) * total) if unknown > 0 else 0.0  # rounding may exceed 1


def _stop_map(metric: Metric, max_grade: float) -> GainMap:
    given = metric.params["max"]
    highest = max_grade if given is None else given

    def stop(grade: float) -> float:
        if grade > highest:
            hint = f"set the highest grade of the scale: err(max={grade:g}), or leave `max` out"
            raise InputError(
                f"grade `{grade:g}` is above the highest grade of `{metric.written}`, {highest:g}", hint=hint
            )
        # (2^grade - 1) / 2^highest, in a form that cannot overflow and gives the same bits
        return float(2.0 ** (grade - highest) - 2.0**-highest)

    return GainMap(("err", highest), stop)


def _rbp_variant(params: Mapping[str, Any], level: float | None) -> Measure | None:
    gain = params.get("gain", "binary")
    return RBP_SCALED if gain == "scaled" else RBP_GRADE if gain == "grade" or params.get("gains") else None


def _warn_persistence(metric: Metric, name: str) -> str | None:
    cutoff = metric.cutoff or 0
    if not 50 <= cutoff <= 99 or metric.params["p"] != 0.8:  # ranx reads the digits of rbp@95 as p = 0.95
        return None
    return f"`{metric.written}` is p = 0.8 over the first {cutoff} ranks; persistence 0.{cutoff} is `rbp.{cutoff}`"


PERSISTENCE = "persistence, the chance of going on to the next rank"

ERR = Measure(
    name="err",
    needs_tail=never,
    title="Expected reciprocal rank",
    definition=(
        "The sum over the top k of 1/i * stop(i) * product of 1 - stop(j) over the ranks j above i, with "
        "stop = (2^grade - 1) / 2^max and 0 for an unjudged document; max = the highest grade of all judgments, or "
        "(max=4). -l does not act here; an explicit (rel=G) gives lower grades 0."
    ),
    source="Chapelle et al. 2009, CIKM; gdeval.pl with max=4",
    kernel=expected_reciprocal_rank,
    params=(
        Param("max", "float", None, "highest grade of the scale; default: of the judgments", low=0.0, high=1000.0),
    ),
    undefined=("no_gain",),
    gain=_stop_map,
    needs_highest=lambda metric: metric.params["max"] is None,
    uses_level=False,
    ir_measures="ERR",
    examples=("err@20", "err(max=4)@20", "err:max=3"),
)

RBP = Measure(
    name="rbp",
    needs_tail=never,
    title="Rank-biased precision",
    definition=(
        "(1 - p) times the sum over the top k of gain * p^(rank - 1). The gain is 1 for a relevant document, else 0 "
        "(gain=binary); its grade (gain=grade, as ranx: values may exceed 1); or its grade divided by the query's "
        "highest judged one if that is above 1 (gain=scaled, as trec_eval 10 means it). `gains` sets what single "
        "grades gain, and the others then gain their grade. -l acts on gain=binary without `gains` only; with the "
        "others an explicit (rel=G) gives lower grades gain 0."
    ),
    source="Moffat & Zobel 2008, TOIS 27(1); trec_eval 10 `rbp` (p = 0.9 there)",
    kernel=rank_biased_precision,
    expected=lambda metric: tied_pool.rank_biased_precision,
    params=(
        Param("p", "float", 0.8, PERSISTENCE, low=0.0, below=1.0),
        Param("gain", "choice", "binary", "gain of a document", choices=("binary", "grade", "scaled")),
        Param("gains", "gains", {}, "gain of single grades, the others then gain their grade"),
    ),
    undefined=("no_relevant",),
    encode=lambda metric: (metric.params["p"],),
    trec_eval=(TrecEval(55, "rbp", takes="pairs", params={"p": 0.9, "gain": "scaled"}, since=10),),
    ir_measures="RBP",
    ranx="rbp",
    variant=_rbp_variant,
    caution=_warn_persistence,
    examples=("rbp", "rbp.95", "rbp.p=0.95", "rbp.p=0.8,1=0.5", "RBP(p=.8,rel=1)", "rbp:p=0.5,gain=scaled@100"),
)

RBP_GRADE = replace(
    RBP,
    kernel=graded_rank_biased_precision,
    expected=lambda metric: tied_gains.graded_rank_biased_precision,
    ties_bound=without_gains,
    bounds=(0.0, inf),
    undefined=("no_gain",),
    gain=gain_map,
    uses_level=False,
    encode=lambda metric: (metric.params["p"], 0.0),
)
RBP_SCALED = replace(RBP_GRADE, bounds=(0.0, 1.0), encode=lambda metric: (metric.params["p"], 1.0))

RBP_RESID = Measure(
    name="rbp_resid",
    title="Residual of rank-biased precision, what unjudged documents could add",
    definition=(
        "p^n + (1 - p) times the sum of p^(rank - 1) over the ranks that hold an unjudged document (not in the "
        "judgments, or with a negative grade), n = length of the ranking; 0 where all retrieved documents are judged."
    ),
    source="Moffat & Zobel 2008, TOIS 27(1); trec_eval 10 `rbp_resid` (p = 0.9 there)",
    kernel=rank_biased_residual,
    expected=lambda metric: tied_pool.rank_biased_residual,
    cutoff="never",
    params=(Param("p", "float", 0.8, PERSISTENCE, low=0.0, below=1.0),),
    direction="none",
    uses_level=False,
    encode=lambda metric: (metric.params["p"],),
    trec_eval=(TrecEval(56, "rbp_resid", takes="pairs", params={"p": 0.9}, since=10),),
    examples=("rbp_resid", "rbp_resid.p=0.95", "rbp_resid.95"),
)

MEASURES = (ERR, RBP, RBP_RESID)
