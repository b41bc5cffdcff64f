"""Frames become blocks of whole queries, in one pass when each query's rows stand together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from rankeval_cli.readers.format import Progress, Table


@dataclass(frozen=True)
class Block:
    """Some whole queries: Q queries, N rows.

    frame : the rows as in `Table.frames`; those of a query stand together, in file order
    queries : Q different ids
    offsets : int64 (Q+1,), query q owns rows offsets[q]:offsets[q+1]
    """

    frame: pl.DataFrame
    queries: list[str]
    offsets: NDArray[np.int64]


class Ungrouped(Exception):
    """A query returns after others have come between; read the input again with `gathered`."""


def grouped(table: Table, progress: Progress | None = None) -> Iterator[Block]:
    """Blocks in file order, for an input in which each query's rows stand together.

    Held are the rows of one chunk, or of one query where that is longer. An input of a single frame may be in any order.
    Raises Ungrouped when a query of a longer input returns.
    """
    frames = (frame for frame in table.frames(progress) if frame.height)
    first, second = next(frames, None), next(frames, None)
    if first is None:
        return
    if second is None:
        yield _together(first)
        return
    yield from _in_order(_chain(first, second, frames))


def _in_order(frames: Iterator[pl.DataFrame]) -> Iterator[Block]:
    seen: set[str] = set()
    open_rows: list[pl.DataFrame] = []  # of the last query, joined once
    open_query: list[str] = []
    for frame in frames:
        starts, queries = _runs(frame)
        continues = queries[:1] == open_query
        new = queries[1:] if continues else queries
        if len(set(new)) < len(new) or not seen.isdisjoint(new):
            raise Ungrouped
        seen.update(new)
        if not new:
            open_rows.append(frame)
            continue
        last = int(starts[-1])
        closed = [*open_query, *new[:-1]]
        if closed:
            yield _joined([*open_rows, frame[:last]], closed, starts[continues:])
        open_rows, open_query = [frame[last:]], queries[-1:]
    yield _joined(open_rows, open_query, None)


def _runs(frame: pl.DataFrame) -> tuple[NDArray[np.int64], list[str]]:
    """Where each run of equal queries starts, and its query."""
    import polars as pl

    query = frame["query"]
    starts = pl.select(pl.arg_where(query.ne_missing(query.shift()))).to_series()
    return starts.cast(pl.Int64).to_numpy(), query.gather(starts).to_list()


def _joined(rows: list[pl.DataFrame], queries: list[str], starts: NDArray[np.int64] | None) -> Block:
    """One block of the open query's rows and those that follow.

    starts : where in the last of `rows` each of the last len(starts) queries starts, the open one behind it included
    """
    import numpy as np
    import polars as pl

    frame = pl.concat(rows, rechunk=False)
    if starts is None:
        return Block(frame, queries, np.array([0, frame.height], np.int64))
    before = frame.height - rows[-1].height
    offsets = starts + before
    if len(offsets) == len(queries):  # the open query begins before the last of `rows`
        offsets = np.concatenate([np.zeros(1, np.int64), offsets])
    return Block(frame, queries, offsets)


def _together(frame: pl.DataFrame) -> Block:
    """One block of all rows, in file order within each query; queries in order of first appearance."""
    import numpy as np
    import polars as pl

    rows = pl.int_range(pl.len()).alias("row")
    places = frame.select("query", rows).group_by("query", maintain_order=True).agg("row")
    offsets = np.zeros(places.height + 1, np.int64)
    np.cumsum(places["row"].list.len().to_numpy(), out=offsets[1:])
    return Block(frame[places["row"].explode()], places["query"].to_list(), offsets)


def _chain(first: pl.DataFrame, second: pl.DataFrame, rest: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    yield first
    yield second
    yield from rest


def gathered(table: Table, progress: Progress | None = None) -> Iterator[Block]:
    """Blocks of an input in any order of lines."""
    import polars as pl

    yield _together(pl.concat(table.frames(progress)))
