"""Measures in ranks instead of shares: lower is better, and nothing found is no number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf, nan
from typing import Any

from rankeval_cli.measures import tied
from rankeval_cli.measures.spec import Measure, Metric, Param, Ranking, never, without_cutoff


def mean_rank(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Mean rank of the relevant documents in the first k; params[0], or NaN when that is 0, where there is none.

    params[1] = 1 divides the sum of ranks by all relevant documents.
    """
    hits = 0
    total = 0
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            hits += 1
            total += i + 1
    if params[1] == 1.0:
        return total / ranking.num_rel if ranking.num_rel > 0 else nan
    if hits > 0:
        return total / hits
    return float(params[0]) if params[0] > 0.0 else nan


def first_rank(ranking: Ranking, k: int, level: float, params: Any) -> float:
    """Rank of the first relevant document in the first k; params[0], or NaN when that is 0, where there is none."""
    for i in range(min(k, len(ranking.grade))):
        if ranking.grade[i] >= level:
            return float(i + 1)
    return float(params[0]) if params[0] > 0.0 else nan


def _absent(metric: Metric) -> tuple[float, ...]:
    return (float(metric.params["absent"] or 0.0),)  # float("inf") too


ABSENT = Param("absent", "float", None, "value of a query for which nothing is found", ("inf",), low=1.0)
NORM = Param("norm", "choice", "found", "what the sum of ranks is divided by", ("found", "all"))
NOTHING_FOUND = (
    " A query for which none is found (also one without relevant documents, or without results) is undefined and left "
    "out of the mean; with (absent=R) it counts R. Read it beside the number of queries that count."
)


def _of_all(params: Mapping[str, Any], level: float | None) -> Measure | None:
    return replace(MEASURES[0], bounds=(0.0, inf)) if params.get("norm") == "all" else None  # 0 where nothing is found


MEASURES: tuple[Measure, ...] = (
    Measure(
        name="mean_rank",
        needs_tail=never,
        title="Mean rank of the relevant documents that are found",
        definition="The mean rank of the relevant documents in the top k."
        + NOTHING_FOUND
        + " norm=all divides the sum of their ranks by all relevant documents instead, so that it is 0 where none is "
        "found and something is relevant, and `absent` has no part in it.",
        source="`MeanRanks` of rankereval as its page defines it; norm=all: as its code has it",
        kernel=mean_rank,
        expected=lambda metric: tied.mean_rank if metric.cutoff is None else None,
        ties_bound=without_cutoff,
        params=(ABSENT, NORM),
        bounds=(1.0, inf),
        direction="lower",
        undefined=("nothing_found",),
        variant=_of_all,
        encode=lambda metric: (*_absent(metric), float(metric.params["norm"] == "all")),
        examples=("mean_rank", "mean_rank@100", "mean_rank(absent=1001)", "mean_rank:norm=all"),
    ),
    Measure(
        name="first_rank",
        needs_tail=never,
        aliases=("first_relevant_rank",),
        title="Rank of the first relevant document",
        definition="The rank of the first relevant document in the top k." + NOTHING_FOUND,
        source="`FirstRelevantRank` of rankereval",
        kernel=first_rank,
        expected=lambda metric: tied.first_rank if metric.cutoff is None else None,
        ties_bound=without_cutoff,
        params=(ABSENT,),
        bounds=(1.0, inf),
        direction="lower",
        undefined=("nothing_found",),
        encode=_absent,
        examples=("first_rank", "first_rank@100", "first_rank(absent=101)@100", "first_rank:absent=inf"),
    ),
)
