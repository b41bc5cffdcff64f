"""The queries that a second run helps or hurts most, and how their relevant documents moved.

Both runs are scored whole; then the queries to show are read once more, with their documents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankeval_cli.align import judged_only
from rankeval_cli.errors import UsageError
from rankeval_cli.findings import MeasureMoves, Move, MovedQuery, RunMoves
from rankeval_cli.flow import Request, ShowProgress, cutoff_of, evaluate, plan_for
from rankeval_cli.inference.differences import TIE
from rankeval_cli.judgments import load_judgments
from rankeval_cli.model import Judgments, Report, RunReport
from rankeval_cli.opening import names_of, open_all, opened
from rankeval_cli.plan import Part, Plan
from rankeval_cli.readers import read_pairs
from rankeval_cli.tracing import Trace, Tracer, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankeval_cli.measures.spec import Metric
    from rankeval_cli.readers.format import Progress, Table

USAGE = "rankeval diff A B QRELS -m ndcg@10"


def moves(request: Request, top: int, show: ShowProgress) -> RunMoves:
    """What the second run of a request changes against the first.

    top : the most queries to show on each side
    Raises RankevalError for other than two runs, and for input that cannot be read.
    """
    if len(request.runs) != 2 or request.qrels is None:
        raise UsageError("diff takes two runs and the judgments", hint=USAGE)
    # opened here, since standard input can be opened only once, and is read twice
    request = replace(request, runs=tuple(map(opened, request.runs)), qrels=opened(request.qrels))
    report = evaluate(replace(request, rules=replace(request.rules, ci="none")), show)
    changes = [_change(report.runs, place) for place in range(len(request.metrics))]
    shown = sorted({query for change in changes for query in (*change.better[:top], *change.worse[:top])})
    found = _Documents(request, shown, show) if shown else None
    return RunMoves(
        base=report.runs[0].name,
        run=report.runs[1].name,
        qrels=report.qrels.name,
        rules=report.rules.to_dict(),
        measures=tuple(_measure(report, change, top, found) for change in changes),
        warnings=report.warnings,
    )


@dataclass(frozen=True)
class _Change:
    """What becomes of the queries of one measure.

    values : query -> the values of both runs, where both have one
    better, worse : the queries that differ, the largest difference first
    """

    metric: Metric
    values: dict[str, tuple[float, float]]
    better: list[str]
    worse: list[str]
    num_undefined: int


def _change(runs: Sequence[RunReport], place: int) -> _Change:
    metric = runs[0].scores.metrics[place]
    both = [dict(zip(run.scores.queries, run.scores.values[place].tolist(), strict=True)) for run in runs]
    values = {
        query: (before, both[1][query])
        for query, before in both[0].items()
        if query in both[1] and before == before and both[1][query] == both[1][query]
    }
    sign = -1.0 if metric.measure.direction == "lower" else 1.0
    gains = {query: sign * (after - before) for query, (before, after) in values.items()}  # NaN between infinities
    ordered = sorted(gains, key=lambda query: -abs(gains[query]))  # queries come in byte order, and sorting is stable
    better = [query for query in ordered if gains[query] > TIE]
    worse = [query for query in ordered if gains[query] < -TIE]
    return _Change(metric, values, better, worse, len({**both[0], **both[1]}) - len(values))


def _measure(report: Report, change: _Change, top: int, found: _Documents | None) -> MeasureMoves:
    metric = change.metric
    before, after = (_value_of(run, metric) for run in report.runs)

    def of_queries(queries: Sequence[str]) -> tuple[MovedQuery, ...]:
        return tuple(
            MovedQuery(query, *change.values[query], found.moves(query, metric) if found else ())
            for query in queries[:top]
        )

    return MeasureMoves(
        measure=metric.written,
        canonical=metric.canonical,
        direction=metric.measure.direction,
        before=before,
        after=after,
        num_helped=len(change.better),
        num_hurt=len(change.worse),
        num_same=len(change.values) - len(change.better) - len(change.worse),
        num_undefined=change.num_undefined,
        helped=of_queries(change.better),
        hurt=of_queries(change.worse),
    )


def _value_of(run: RunReport, metric: Metric) -> float | None:
    """The value of a metric that the report shows."""
    return next(result.value for result in run.results if result.canonical == metric.canonical)


class _Documents:
    """The rankings of some queries in both runs, with their documents."""

    def __init__(self, request: Request, queries: Sequence[str], show: ShowProgress) -> None:
        names = names_of(request.runs)
        tables, qrels = open_all(request.runs, request.qrels, names, request.run_options, request.qrels_options)
        self.plan: Plan = plan_for(request, tables)
        rules = self.plan.rules
        some: Any = _Some(qrels, queries)
        self.judgments: Judgments = load_judgments(some, rules, "qrels")
        self.index = {query: place for place, query in enumerate(self.judgments.queries)}
        exclude = None if rules.exclude is None else read_pairs(rules.exclude)
        self.traces: list[Trace] = []
        for name, table in zip(names, tables, strict=True):
            k = cutoff_of(self.plan.metrics)
            aligner = Tracer(table, self.judgments, rules, k, exclude, self.plan.orderings)
            with show(name, table.size_bytes) as progress:
                self.traces.append(trace(aligner, queries, progress))
            self.orderings = aligner.orderings

    def moves(self, query: str, metric: Metric) -> tuple[Move, ...]:
        """The relevant documents whose rank differs, by the best rank that they have."""
        part = next(part for part in self.plan.parts if metric in part.metrics)
        level = part.rules.relevance_level if metric.level is None else metric.level
        before, after = (self._ranks(found, query, part) for found in self.traces)
        rows = self.judgments.frame.filter(pl.col("query") == self.index[query], pl.col("grade") >= level)
        moved = [
            Move(doc, grade, before.get(doc), after.get(doc))
            for doc, grade in rows.select("doc", "grade").iter_rows()
            if before.get(doc) != after.get(doc)
        ]
        return tuple(sorted(moved, key=lambda move: (min(filter(None, (move.before, move.after))), move.doc.encode())))

    def _ranks(self, found: Trace, query: str, part: Part) -> dict[str, int]:
        """Judged documents by rank; {} for a query that the run does not hold."""
        if query not in found.rankings:
            return {}
        traced = found.rankings[query][self.orderings.index(part.rules.ordering)]
        ranked, docs = traced.ranked, traced.rows["doc"][: len(traced.ranked.grade)]
        if part.rules.judged_only:
            docs, ranked = docs.filter(pl.Series(ranked.status == 2)), judged_only(ranked)
        places: NDArray[np.int64] = np.flatnonzero(ranked.status == 2)
        return dict(zip(docs[places].to_list(), (places + 1).tolist(), strict=True))


class _Some:
    """A table of which only some queries are read."""

    def __init__(self, table: Table, queries: Collection[str]) -> None:
        self._table, self._queries = table, pl.Series(list(queries), dtype=pl.String)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        for frame in self._table.frames(progress):
            yield frame.filter(frame["query"].is_in(self._queries.implode()))
