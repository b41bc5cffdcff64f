"""Frames become blocks of whole queries, in one pass when each query's rows stand together."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import IO, TYPE_CHECKING

from rankeval_cli.readers.spool import temporary_file, write_all

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from rankeval_cli.readers.format import Progress, Table


SPILL_BYTES = 16 << 20  # rows collected before they are written; twice as much is no faster
BLOCK_BYTES = 16 << 20  # rows of one block of `gathered`; reading and sorting them takes three times as much
NUM_PARTITIONS = 64  # small ones are read together, one that is far too large is partitioned again


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

    Held are the rows of one chunk, or of one query where that is longer. An input of one frame may be in any order.
    Raises Ungrouped when a query of a longer input returns.
    """
    frames = (frame for frame in table.frames(progress) if frame.height)
    first, second = next(frames, None), next(frames, None)
    if first is None:
        return
    if second is None:
        yield _together(first)
        return
    whole = chain([first, second], frames)
    del first, second  # each frame is held only until it has been cut
    yield from _in_order(whole)


def _in_order(frames: Iterator[pl.DataFrame]) -> Iterator[Block]:
    seen: set[str] = set()
    open_rows: list[pl.DataFrame] = []  # of the last query, joined once
    open_query: list[str] = []
    for frame in frames:
        starts, queries = _runs(frame)
        continues = queries[:1] == open_query
        new = queries[1:] if continues else queries
        wanted = len(seen) + len(new)
        seen.update(new)
        if len(seen) < wanted:
            raise Ungrouped
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


def gathered(table: Table, progress: Progress | None = None) -> Iterator[Block]:
    """Blocks of an input whose lines may stand in any order; rows of a query stay in file order.

    Rows go to an unlinked temporary file, partitioned by a hash of the query, and come back a few partitions at a time.
    Held are about SPILL_BYTES and then BLOCK_BYTES of rows, or those of one query where they are more. Blocks, and
    queries in them, come in no order of use.
    """
    yield from _regrouped((frame for frame in table.frames(progress) if frame.height), seed=0)


def _regrouped(frames: Iterator[pl.DataFrame], seed: int) -> Iterator[Block]:
    spills = _spills(frames)
    first, second = next(spills, None), next(spills, None)
    if first is None:
        return
    if second is None:
        yield _together(first)
        return
    with temporary_file() as file:
        partitions = _Partitions(file, seed)
        spills = chain([first, second], spills)
        del first, second  # each is held only until it has been written
        for rows in spills:
            partitions.write(rows)
        del rows
        for pieces in partitions.groups():
            yield from partitions.blocks(pieces)


def _spills(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The rows in frames of about SPILL_BYTES."""
    import polars as pl

    parts: list[pl.DataFrame] = []
    size = 0
    for frame in frames:
        parts.append(frame)
        size += int(frame.estimated_size())
        if size >= SPILL_BYTES:
            yield pl.concat(parts, rechunk=True)
            parts, size = [], 0
    if parts:
        yield pl.concat(parts, rechunk=True)


@dataclass(frozen=True)
class _Piece:
    """Rows of one partition in the temporary file. size : bytes in memory."""

    place: int
    length: int
    size: int


class _Partitions:
    """Rows in a temporary file, by a hash of the query; each partition is a list of pieces in file order."""

    def __init__(self, file: IO[bytes], seed: int) -> None:
        self._file, self._seed = file, seed
        self._place = 0
        self._pieces: list[list[_Piece]] = [[] for _ in range(NUM_PARTITIONS)]

    def write(self, rows: pl.DataFrame) -> None:
        """Append rows, each to its partition."""
        import polars as pl

        number = (pl.col("query").hash(self._seed) % NUM_PARTITIONS).alias("partition")
        parts = rows.with_columns(number).partition_by("partition", include_key=False, as_dict=True)
        for (partition,), part in parts.items():
            buffer = io.BytesIO()
            part.write_ipc_stream(buffer)
            write_all(self._file.fileno(), buffer.getbuffer(), self._place)
            length = buffer.tell()
            self._pieces[partition].append(_Piece(self._place, length, int(part.estimated_size())))
            self._place += length

    def groups(self) -> Iterator[list[_Piece]]:
        """The pieces of as many partitions as make about BLOCK_BYTES, or of a single larger one."""
        group: list[_Piece] = []
        for pieces in filter(None, self._pieces):
            if group and _size(group) + _size(pieces) > BLOCK_BYTES:
                yield group
                group = []
            group = group + pieces
        yield group

    def blocks(self, pieces: list[_Piece]) -> Iterator[Block]:
        """The rows of some pieces as a block; as several when they are far more than BLOCK_BYTES."""
        import polars as pl

        is_divisible = self._seed == 0 or sum(map(bool, self._pieces)) > 1  # rows of one query share every hash
        if _size(pieces) > 4 * BLOCK_BYTES and is_divisible:
            yield from _regrouped(map(self._read, pieces), self._seed + 1)
        else:
            yield _together(pl.concat(map(self._read, pieces), rechunk=True))

    def _read(self, piece: _Piece) -> pl.DataFrame:
        import polars as pl

        return pl.read_ipc_stream(os.pread(self._file.fileno(), piece.length, piece.place))


def _size(pieces: list[_Piece]) -> int:
    return sum(piece.size for piece in pieces)
