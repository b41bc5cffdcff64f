"""CSV and TSV: a header with known or mapped names, read in chunks; and the list of table formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from rankeval_cli.errors import SHOWN_PROBLEMS, InputError
from rankeval_cli.readers import letor, parquet
from rankeval_cli.readers.cells import Layout, Text, cells_of, exact, fast, listed, parsed
from rankeval_cli.readers.columns import NEEDED, choose, recognised
from rankeval_cli.readers.delimited import NEWLINE, Place, count, headers_by_separator, read_header
from rankeval_cli.readers.format import COLUMN_ROLES, Format, Progress, ReadOptions, Role
from rankeval_cli.readers.frames import shape
from rankeval_cli.readers.problems import Problems
from rankeval_cli.readers.values import Reading, parse_number

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.readers.source import Input

CSV_SEPARATORS = (",", ";", "|")
TSV_SEPARATORS = ("\t",)
EXAMPLES: dict[Role, str] = {
    "run": "query,doc,score",
    "qrels": "query,doc,grade",
    "labelled": "query,score,label",
    "weights": "query,weight",
    "groups": "query,group",
    "queries": "query",
}
ALL_SEPARATORS = (*TSV_SEPARATORS, *CSV_SEPARATORS)
T = TypeVar("T")
_CSV_NAME = re.compile(r"\.csv(?:\.\w+)?$", re.IGNORECASE)


class DelimitedTable:
    """A run or judgments in CSV or TSV, opened; the header of the first part that is not empty is read."""

    tag: str | None = None

    def __init__(self, source: Input, role: Role, options: ReadOptions, name: str) -> None:
        self.source, self.role, self.options, self.format = source, role, options, name
        self.path, self.size_bytes = source.path, source.size_bytes
        self.warnings: list[str] = []
        separators = TSV_SEPARATORS if name == "tsv" else ALL_SEPARATORS
        self.separator = _separator(source, role, options, separators)
        self.layout = self._layout(source.head(), source.where())
        self.has_rank = role != "qrels" and self.layout.columns.rank is not None
        self.has_doc_ids = self.layout.columns.doc is not None

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in file order, a chunk at a time; InputError names the line."""
        reading = Reading(self.role, self.options)
        self.tally = reading.tally
        read = partial(_typed if self.role in COLUMN_ROLES else _frame, reading)
        for frame in self._walk(read, progress):
            if frame.height:
                yield frame
        self.warnings[:] = reading.tally.warnings()

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands, as `path:line`, at most ten places."""
        places: list[str] = []
        for found in self._walk(partial(_places, query, doc), None):
            places += found
            if len(places) >= SHOWN_PROBLEMS:
                break
        return places[:SHOWN_PROBLEMS]

    def _layout(self, data: bytes, where: str) -> Layout:
        header = read_header(data, self.separator, where)
        is_named = set(NEEDED[self.role]) <= recognised(header.names, self.role, self.options)
        if not is_named and any(parse_number(name) is not None for name in header.names):
            shown = self.separator.join(header.names)[:80]
            raise InputError(
                f"no header: the first line is `{shown}`",
                f"{where}:{header.num_lines}",
                f"begin the file with a line of column names, such as {EXAMPLES[self.role]}",
            )
        return Layout(header, choose(header.names, self.role, self.options, where))

    def _walk(self, read: Callable[[Text], tuple[T, Place]], progress: Progress | None) -> Iterator[T]:
        """What `read` makes of each chunk without the headers; the record that it leaves goes to the next chunk.

        read : text -> result, and how much of the text it has used (all of it when `is_last`)
        """
        path, layout, rest, line = "", self.layout, b"", 1
        for chunk in self.source.chunks(progress):
            data = rest + chunk.data
            if chunk.path != path:
                if rest:
                    yield read(Text(path, line, rest, layout, is_last=True))[0]
                path, layout = chunk.path, self._layout(chunk.data, chunk.path)
                data, line = chunk.data[layout.header.size_bytes :], 1 + layout.header.num_lines
            result, used = read(Text(path, line, data, layout, is_last=False))
            if not rest and used.size_bytes == len(data):
                chunk.num_lines = line + used.num_lines - chunk.first_line
            yield result
            rest, line = data[used.size_bytes :], line + used.num_lines
        if rest:
            yield read(Text(path, line, rest, layout, is_last=True))[0]


def _frame(reading: Reading, text: Text) -> tuple[pl.DataFrame, Place]:
    whole = text if text.is_last else _whole(text)
    frame = fast(whole, reading)
    if frame is not None:
        return frame, Place(len(whole.data), count(whole.data, NEWLINE))
    place = Place()
    return exact(text, reading, place), place


def _typed(reading: Reading, text: Text) -> tuple[pl.DataFrame, Place]:
    """As `_frame`, for labelled tables and weights."""
    import polars as pl

    whole = text if text.is_last else _whole(text)
    raw = parsed(whole, reading)
    if raw is not None:
        with suppress(InputError):  # then the other way finds it again, and can name the line
            done = Place(len(whole.data), count(whole.data, NEWLINE))
            return pl.concat(shape(raw, text.layout.columns, reading, str)), done
    place = Place()
    raw, lines = listed(text, place)
    return pl.concat(shape(raw, text.layout.columns, reading, lambda row: f"{text.path}:{lines[row]}")), place


def _whole(text: Text) -> Text:
    """The text up to the last line end with an even number of quotes before it: there a record ends, as a rule."""
    stop = len(text.data)
    odd = b'"' in text.data and text.data.count(b'"') % 2 == 1
    while odd and stop:
        before = text.data.rfind(b"\n", 0, stop - 1) + 1
        odd ^= text.data.count(b'"', before, stop) % 2 == 1
        stop = before
    return replace(text, data=text.data[:stop]) if stop < len(text.data) else text


def _places(query: str, doc: str, text: Text) -> tuple[list[str], Place]:
    if text.layout.columns.doc is None:
        return [], Place(len(text.data), count(text.data, NEWLINE))
    needles = [id.replace('"', '""').encode() for id in (query, doc)]
    if b'"' not in text.data and not all(needle in text.data for needle in needles):
        return [], Place(len(text.data), count(text.data, NEWLINE))
    place, columns = Place(), text.layout.columns
    ids = text.layout.at(columns.query), text.layout.at(str(columns.doc))
    found = [
        f"{text.path}:{line}"
        for line, cells in cells_of(text, place, Problems())
        if cells[ids[0]] == query and cells[ids[1]] == doc
    ]
    return found, place


def _separator(source: Input, role: Role, options: ReadOptions, separators: tuple[str, ...]) -> str:
    """The separator under which the header names the most roles; then the one that gives the most columns."""
    headers = headers_by_separator(source.head(), separators, source.where())
    if not headers:
        return separators[0]
    best = max(headers, key=lambda header: (len(recognised(header.names, role, options)), len(header.names)))
    return best.separator


def _fits(source: Input, role: Role, options: ReadOptions, separators: tuple[str, ...]) -> bool:
    """Whether the first line is a header: it names query and document, or one role and nothing that is a number."""
    for header in headers_by_separator(source.head(), separators, source.where()):
        found = recognised(header.names, role, options)
        if set(NEEDED[role]) <= found:
            return True
        if found and all(parse_number(name) is None for name in header.names):
            return True
    return False


def _fits_csv(source: Input, role: Role, options: ReadOptions) -> bool:
    """As `_fits`; or the file is called so, is no JSON, and has fields: then the error is about the header."""
    if _fits(source, role, options, CSV_SEPARATORS):
        return True
    is_called_so = bool(_CSV_NAME.search(source.path)) and source.head().lstrip()[:1] not in (b"{", b"[")
    return is_called_so and bool(headers_by_separator(source.head(), CSV_SEPARATORS, source.where()))


FORMATS = (
    Format(
        name="csv",
        run="columns query, doc and score (or rank), in any order; comma, semicolon or pipe between them",
        qrels="columns query, doc and grade (or score), in any order; or query and doc alone, each relevant",
        fits=_fits_csv,
        open=lambda source, role, options: DelimitedTable(source, role, options, "csv"),
        labelled="columns query, score and label (grade), perhaps doc, mask, list_weight; between them as above",
    ),
    Format(
        name="tsv",
        run="columns query, doc and score (or rank), in any order; a tab between them",
        qrels="columns query, doc and grade (or score), in any order, as in BEIR; or query and doc alone",
        fits=lambda source, role, options: _fits(source, role, options, TSV_SEPARATORS),
        open=lambda source, role, options: DelimitedTable(source, role, options, "tsv"),
        labelled="columns query, score and label (grade), perhaps doc, mask, list_weight; a tab between them",
    ),
    *parquet.FORMATS,
    *letor.FORMATS,
)
