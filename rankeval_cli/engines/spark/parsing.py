"""On the workers: batches of lines, or of typed columns, become rows of one schema, by the readers of this package."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rankeval_cli.engines.spark.wire import BLOCK, FILE, LINE, batches_of, frame_of, note, note_rows, row_types, telling
from rankeval_cli.errors import InputError
from rankeval_cli.readers.columns import Columns
from rankeval_cli.readers.format import Progress, ReadOptions, Role
from rankeval_cli.readers.frames import shape
from rankeval_cli.readers.jsonlines import JsonLinesTable
from rankeval_cli.readers.lines import shown
from rankeval_cli.readers.source import START_BYTES, Chunk, Input
from rankeval_cli.readers.tables import DelimitedTable
from rankeval_cli.readers.text import TextTable
from rankeval_cli.readers.values import Reading, Tally

if TYPE_CHECKING:
    import polars as pl

LineTable = TextTable | DelimitedTable | JsonLinesTable


class Split:
    """The batches of one task, each of one split of one file where places are asked for.

    file, block : of the batch that was given last
    """

    def __init__(self, batches: Iterable[Any], has_places: bool) -> None:
        self._batches, self._has_places = batches, has_places
        self.file: str | None = None
        self.block: int | None = None

    def __iter__(self) -> Iterator[Any]:
        for batch in self._batches:
            for start, length in _stretches(batch) if self._has_places else [(0, batch.num_rows)]:
                part = batch.slice(start, length)
                if self._has_places and length:
                    self.file, self.block = part.column(FILE)[0].as_py(), part.column(BLOCK)[0].as_py()
                yield part


def _stretches(batch: Any) -> list[tuple[int, int]]:
    """Start and length of each stretch of rows of one split."""
    import polars as pl

    places = pl.DataFrame({name: pl.Series(batch.column(name).to_pylist()) for name in (FILE, BLOCK)})
    if places.is_empty():
        return []
    lengths = places.to_struct().rle().struct.field("len").to_list()
    return list(zip(accumulate(lengths, initial=0), lengths, strict=False))


class LineSource(Input):
    """A text that Spark reads: its head on the driver, the lines of one task on a worker.

    header : the line of column names, which stands in every file and is read once; b"" where there is none
    batches : what a task reads, in a column of lines that end with a newline; None on the driver
    """

    def __init__(self, path: str, head: bytes, is_whole: bool) -> None:
        super().__init__(path, (path,), None)
        self._head, self._is_whole = head, is_whole
        self.header = b""
        self.batches: Iterable[Any] | None = None
        self._chunk = Chunk(path, 1, b"")

    def stored_start(self, part: str | None = None) -> bytes:
        """The first bytes, decompressed where Spark does that."""
        return self.head()[:START_BYTES]

    def chunks(self, progress: Progress | None = None) -> Iterator[Chunk]:
        """The head on the driver, on a worker the lines of the task, without the headers of all but the first file."""
        line = 1
        for data in [self.head()] if self.batches is None else self._pieces(self.batches):
            self._chunk = Chunk(self.path, line, data)
            yield self._chunk
            line += data.count(b"\n")

    def _pieces(self, batches: Iterable[Any]) -> Iterator[bytes]:
        start = self.header
        for batch in batches:
            data = _joined(batch.column(LINE))
            if self.header:
                data, start = start + _without(data, self.header), b""
            yield data

    def without_line(self, error: InputError) -> InputError:
        """The error with the line itself in place of its number: Spark knows no numbers of lines."""
        found = re.fullmatch(re.escape(self.path) + r":(\d+)", error.where or "")
        if found is None:
            return error
        place = int(found[1]) - self._chunk.first_line
        lines = self._chunk.data.split(b"\n")
        text = shown(lines[place].decode(errors="replace").rstrip("\r")) if 0 <= place < len(lines) else ""
        what = error.what if not text or f"`{text}`" in error.what else f"{error.what}, in the line `{text}`"
        return InputError(what, self.path, error.hint)


def _joined(column: Any) -> bytes:
    """The texts of an Arrow column as one, cut from its buffer: they stand there side by side."""
    import numpy as np

    offsets, data = column.buffers()[1:]
    places = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    if not len(places) or data is None:
        return b""
    joined: bytes = data.slice(int(places[0]), int(places[-1] - places[0])).to_pybytes()
    return joined


def _without(data: bytes, header: bytes) -> bytes:
    """The lines that are not the header. Files without any row leave several headers one after another."""
    while data.startswith(header):
        data = data[len(header) :]
    while b"\n" + header in data:
        data = data.replace(b"\n" + header, b"\n")
    return data


@dataclass
class LineParser:
    """Reads lines as `table` does, which was opened on the driver on `source`."""

    source: LineSource
    table: LineTable

    def frames(self, batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
        """The rows of a task; InputError names the line where the reader does."""
        self.source.batches = batches
        try:
            yield from self.table.frames()
        except InputError as error:
            raise self.source.without_line(error) from None

    @property
    def note(self) -> str:
        """What was met, once `frames` is used up."""
        return note("read", self.table.tally, tag=self.table.tag)


@dataclass
class ColumnParser:
    """Reads typed columns, of Parquet or of a DataFrame. lists : the names of those that hold lists"""

    path: str
    columns: Columns
    lists: list[str]
    role: Role
    options: ReadOptions
    tally: Tally = field(default_factory=Tally)

    def frames(self, batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
        """The rows of a task; InputError names the column."""
        reading = Reading(self.role, self.options)
        self.tally = reading.tally
        for batch in batches:
            yield from shape(frame_of(batch).select(self.columns.used), self.columns, reading, lambda row: self.path)

    @property
    def note(self) -> str:
        """What was met, once `frames` is used up."""
        return note("read", self.tally, tag=None)


Parser = LineParser | ColumnParser


def parsed(parser: Parser, has_rank: bool, has_places: bool, batches: Iterable[Any]) -> Iterator[Any]:
    """The rows of a task as batches of `row_types`, and a note of what was met."""
    import polars as pl

    one_thread()
    split, types, rows = Split(batches, has_places), row_types(has_rank, has_places), 0
    with telling():
        for frame in parser.frames(split):
            frame = frame.rename({name: "value" for name in ("score", "grade") if name in frame.columns})
            if has_places:
                row = pl.int_range(rows, rows + frame.height, dtype=pl.Int64, eager=True)
                place = [pl.lit(split.file, pl.String).alias("file"), pl.lit(split.block, pl.Int64).alias("block")]
                frame = frame.with_columns(*place, row=row)
            rows += frame.height
            yield from batches_of(frame, types)
        yield from batches_of(note_rows(parser.note), types)


def one_thread() -> None:
    """Let Polars use one thread, if it is not loaded yet: Spark runs a task on every core already."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
