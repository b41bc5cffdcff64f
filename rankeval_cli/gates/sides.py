"""What gates are decided on: a run, and the baseline beside it, query by query."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankeval_cli.groups import Groups, only
from rankeval_cli.inference.statistic import defined, num_counted
from rankeval_cli.model import Rules, RunReport, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.measures.spec import Metric

    Floats = NDArray[np.float64]

UNDEFINED_QUERY = "the value of a query is undefined"
NO_BASELINE_VALUE = "the baseline has no value"


@dataclass(frozen=True)
class Sides:
    """A run as gates see it.

    run, baseline : reports whose scores hold the metrics of every gate; of the baseline, those that compare with it.
        Queries may differ where one leaves out what it misses
    rules : in force for both
    groups : of queries, None where there are none
    """

    run: RunReport
    rules: Rules
    baseline: RunReport | None = None
    groups: Groups | None = None

    def within(self, group: str) -> Sides:
        """The same for the queries of one group."""
        assert self.groups is not None
        queries = self.groups.members[group]
        return replace(self, run=_of(queries, self.run), baseline=self.baseline and _of(queries, self.baseline))


def _of(queries: Collection[str], run: RunReport) -> RunReport:
    """Some queries of a run; no results, which are those of all."""
    return replace(run, scores=only(run.scores, queries), results=())


def place_of(metric: Metric, scores: Scores) -> int:
    """The row of a metric, found by its canonical name."""
    return [known.canonical for known in scores.metrics].index(metric.canonical)


def is_undefined(scores: Scores, place: int) -> bool:
    """Whether the value of a measure is undefined because that of one query is."""
    values, weights = scores.values[place], scores.weights_of(place)
    return scores.propagate[place] and len(defined(values, weights)) < num_counted(weights, len(values))


def paired(metric: Metric, sides: Sides) -> tuple[Floats, Floats, Floats | None]:
    """Values of the baseline and of the run, and weights: float64 (Q,), of the queries that both hold, in one order."""
    assert sides.baseline is not None
    before, after = sides.baseline.scores, sides.run.scores
    a, b = before.values[place_of(metric, before)], after.values[place_of(metric, after)]
    weights = after.weights_of(place_of(metric, after))
    if before.queries == after.queries:
        return a, b, weights
    places = {query: place for place, query in enumerate(before.queries)}
    pairs = [(places[query], place) for place, query in enumerate(after.queries) if query in places]
    left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return a[left], b[right], None if weights is None else weights[right]


def unpaired(metric: Metric, sides: Sides) -> str | None:
    """Why the two cannot be compared in a metric, though they may have values; None mostly."""
    assert sides.baseline is not None
    for run in (sides.run, sides.baseline):
        if is_undefined(run.scores, place_of(metric, run.scores)):
            return UNDEFINED_QUERY
    return None
