"""The rankings of a few queries with the documents that stand in them, aligned as for scoring."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankeval_cli.align import Aligner
from rankeval_cli.labelled import LabelledAligner
from rankeval_cli.model import Ranked
from rankeval_cli.readers.blocks import Block
from rankeval_cli.rows import BlockRows, RankOrder, offsets_of

if TYPE_CHECKING:
    from rankeval_cli.coverage import Facts
    from rankeval_cli.readers.format import Progress, Table


@dataclass(frozen=True)
class Traced:
    """One query's ranking in one order.

    ranked : of this query alone
    rows : the rows of the run in rank order, those that --depth cuts off included
    """

    ranked: Ranked
    rows: pl.DataFrame


@dataclass(frozen=True)
class Trace:
    """What was found of some queries in one run.

    rankings : query -> its ranking in each of the aligner's orderings; queries without a row that counts are absent
    frame : their rows as the file has them
    has_rows : whether the run holds any row
    """

    rankings: dict[str, tuple[Traced, ...]]
    frame: pl.DataFrame
    facts: Facts
    has_rows: bool


class Tracer(Aligner):
    """An aligner that remembers the rows behind each ranking."""

    def __init__(self, *args: Any) -> None:
        self.traces: list[tuple[BlockRows, RankOrder]] = []
        super().__init__(*args)

    def _ranked(self, rows: BlockRows, order: RankOrder) -> Ranked:
        self.traces.append((rows, order))
        return super()._ranked(rows, order)


class LabelsTracer(Tracer, LabelledAligner):
    """The same for a labelled table."""


def trace(aligner: Tracer, queries: Collection[str], progress: Progress | None = None) -> Trace:
    """Read the aligner's table and align the rows of some queries alone; held in memory are these.

    Raises InputError for what the table's reader or the aligner does not take in these queries.
    """
    frame, has_rows = _rows_of(aligner.table, queries, progress)
    if not frame.height:
        return Trace({}, frame, aligner.facts, has_rows)
    parts = frame.partition_by("query", maintain_order=True)
    offsets = offsets_of(np.array([part.height for part in parts]))
    rankings = aligner.align_each(Block(pl.concat(parts), [part["query"][0] for part in parts], offsets))
    pairs = zip(rankings, aligner.traces, strict=True)
    each = [list(_split(ranked, rows, order)) for ranked, (rows, order) in pairs]
    names = [aligner.judgments.queries[i] for i in rankings[0].query.tolist()]
    return Trace(dict(zip(names, zip(*each, strict=True), strict=True)), frame, aligner.facts, has_rows)


def unanswered(aligner: Tracer, query: int) -> Traced:
    """The empty ranking of a judged query, by its index, that the run does not hold."""
    ranked = aligner.unanswered()
    (place,) = np.flatnonzero(ranked.query == query).tolist()
    return Traced(_one(ranked, place), pl.DataFrame(schema={"doc": pl.String, "score": pl.Float64}))


def _rows_of(table: Table, queries: Collection[str], progress: Progress | None) -> tuple[pl.DataFrame, bool]:
    wanted, found, has_rows = pl.Series(list(queries), dtype=pl.String), [], False
    for frame in table.frames(progress):
        has_rows = has_rows or frame.height > 0
        found.append(frame.filter(frame["query"].is_in(wanted.implode())))
    return pl.concat(found) if found else pl.DataFrame(), has_rows


def _split(ranked: Ranked, rows: BlockRows, order: RankOrder) -> Iterator[Traced]:
    frame = rows.frame[order.perm]
    for place, (start, stop) in enumerate(zip(rows.offsets[:-1].tolist(), rows.offsets[1:].tolist(), strict=True)):
        yield Traced(_one(ranked, place), frame[start:stop])


def _one(ranked: Ranked, place: int) -> Ranked:
    """One query of a block as a block of its own."""
    rows = slice(int(ranked.offsets[place]), int(ranked.offsets[place + 1]))
    goal = slice(int(ranked.ideal_offsets[place]), int(ranked.ideal_offsets[place + 1]))
    return Ranked(
        ranked.query[place : place + 1],
        np.array([0, rows.stop - rows.start]),
        ranked.grade[rows],
        ranked.status[rows],
        ranked.score[rows],
        np.array([0, goal.stop - goal.start]),
        ranked.ideal[goal],
        None if ranked.weight is None else ranked.weight[rows],
        None if ranked.ideal_weight is None else ranked.ideal_weight[goal],
    )
