"""JSON Lines: one object a line, read in chunks; a result, a query with lists, or `{query: {document: number}}`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import SHOWN_PROBLEMS, InputError
from rankeval_cli.readers.format import COLUMN_ROLES, Progress, ReadOptions, Role
from rankeval_cli.readers.jsontext import DECODER, parse
from rankeval_cli.readers.nested import (
    SHAPE_HINT,
    Piece,
    frames_of,
    is_object,
    items,
    kind_of,
    named,
    places_of,
    rankings,
)
from rankeval_cli.readers.problems import leave_out
from rankeval_cli.readers.recordframes import first_layout, frames_of_records
from rankeval_cli.readers.records import RECORD_HINT, RecordLayout, is_record, record_layout, record_piece
from rankeval_cli.readers.values import Reading

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.readers.source import Input

_LINES_NAME = re.compile(r"\.(?:jsonl|ndjson)(?:\.\w+)?$", re.IGNORECASE)


class JsonLinesTable:
    """A run or judgments in JSON Lines, opened; the first line has been read."""

    format = "jsonl"
    tag: str | None = None
    has_doc_ids = True

    def __init__(self, source: Input, role: Role, options: ReadOptions) -> None:
        self.source, self.role, self.options = source, role, options
        self.path, self.size_bytes = source.path, source.size_bytes
        self.warnings: list[str] = []
        self.layout = self._first_layout()
        self.has_rank = role != "qrels" and self.layout is not None and self.layout.has_rank
        if self.layout is not None:
            self.has_doc_ids = self.layout.columns.doc is not None

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in file order, a chunk at a time; InputError names the line."""
        reading = Reading(self.role, self.options)
        self.tally = reading.tally
        if self.role in COLUMN_ROLES:
            yield from frames_of_records(self._records(progress), reading)
        for path, numbered in self._chunks(progress) if self.role in ("run", "qrels") else ():
            yield from frames_of(self._pieces(path, numbered, reading), reading, self.has_rank, partial(_line, path))
        self.warnings[:] = reading.tally.warnings()

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands, as `path:line`, at most ten places."""
        reading = Reading(self.role, self.options)
        found: list[str] = []
        for path, numbered in self._chunks(None):
            found += places_of(self._pieces(path, numbered, reading), query, doc, partial(_line, path))
            if len(found) >= SHOWN_PROBLEMS:
                break
        return found[:SHOWN_PROBLEMS]

    def _first_layout(self) -> RecordLayout | None:
        """The layout of the first line that is not blank; None when it holds no record but a ranking a query."""
        where = self.source.where()
        for number, line in _numbered(self.source.head(), 1):
            place = f"{where}:{number}"
            record = parse(line, where, number)
            if not is_object(record):
                raise InputError(f"is {named(record)}, not an object", place, RECORD_HINT)
            if self.role in COLUMN_ROLES:
                return first_layout(record, Reading(self.role, self.options), place)
            is_ranking = all(kind_of(held) == "scores" for _, held in items(record))
            return None if is_ranking else record_layout(record, self.role, self.options, place)
        raise InputError("is empty", where, RECORD_HINT)

    def _chunks(self, progress: Progress | None) -> Iterator[tuple[str, Iterator[tuple[int, bytes]]]]:
        for chunk in self.source.chunks(progress):
            yield chunk.path, _numbered(chunk.data, chunk.first_line)

    def _records(self, progress: Progress | None) -> Iterator[tuple[str, Any]]:
        for path, numbered in self._chunks(progress):
            for number, line in numbered:
                yield f"{path}:{number}", parse(line, path, number)

    def _pieces(self, path: str, numbered: Iterator[tuple[int, bytes]], reading: Reading) -> Iterator[Piece]:
        for number, line in numbered:
            try:
                yield from self._pieces_of_line(path, number, line, reading)
            except InputError as error:
                leave_out(error, reading.options.problems)

    def _pieces_of_line(self, path: str, number: int, line: bytes, reading: Reading) -> Iterator[Piece]:
        place = f"{path}:{number}"
        record = parse(line, path, number)
        if self.layout is not None:
            yield record_piece(record, self.layout, reading, number, place)
        elif is_object(record):
            yield from rankings(items(record), reading, place, number)
        else:
            raise InputError(f"is {named(record)}, not an object", place, SHAPE_HINT)


def _line(path: str, piece: Piece, i: int) -> str:
    return f"{path}:{piece.number}"


def _numbered(data: bytes, first_line: int) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    for number, line in enumerate(data.split(b"\n"), first_line):
        if line.strip():
            yield number, line


def _first_line(source: Input) -> tuple[Any, bool]:
    """What the first line that is not blank holds, and whether another line follows; None when it is no whole JSON."""
    lines = _numbered(source.head(), 1)
    _, line = next(lines, (0, b""))
    try:
        held = DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        return None, False
    return held, next(lines, None) is not None


def fits(source: Input, role: Role, options: ReadOptions) -> bool:
    """Whether each line is an object: the first is one, and there are more, or it is a record."""
    start = source.head().lstrip()
    if not start.startswith(b"{"):
        return False
    if _LINES_NAME.search(source.parts[0]):
        return True
    held, has_more = _first_line(source)
    return is_object(held) and (has_more or is_record(held, role, options))
