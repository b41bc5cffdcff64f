"""Records of CSV and TSV become rows, in two ways that agree: exactly, line by line, and fast, by way of Polars.

What Polars gives is believed only when nothing in the text can be read in two ways.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import InputError
from rankeval_cli.readers.columns import Columns
from rankeval_cli.readers.delimited import Header, OpenQuote, Place, count, count_records, has_lone_return, records
from rankeval_cli.readers.ids import id_complaint
from rankeval_cli.readers.problems import Problems, leave_out
from rankeval_cli.readers.streams import UTF8_MARK
from rankeval_cli.readers.values import Reading, floats, parse_value, value_complaint, whole_rank, whole_ranks

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Layout:
    """How one part is laid out: its header, and which columns play which role."""

    header: Header
    columns: Columns

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.header.names)

    def at(self, name: str) -> int:
        """The place of a column, from 0."""
        return self.header.names.index(name)


@dataclass(frozen=True)
class Text:
    """Some records of one part, header aside; the last one may be cut unless `is_last`.

    first_line : number of the first line in its part
    """

    path: str
    first_line: int
    data: bytes
    layout: Layout
    is_last: bool


def cells_of(text: Text, place: Place, problems: Problems | None = None) -> Iterator[tuple[int, list[str]]]:
    """The whole records of a text, each with the number of its first line and as many fields as the header.

    place : how far the records that were given reach
    Raises InputError naming the line, unless problems are collected.
    """
    header, width = text.layout.header, text.layout.width
    every = records(text.data, text.first_line, header.separator, text.path, place, header.is_padded, problems)
    try:
        for line, cells in every:
            if len(cells) != width:
                fields = "1 field" if len(cells) == 1 else f"{len(cells):,} fields"
                hint = "quote a field that holds the separator" if len(cells) > width else "complete the line"
                what = f"{fields} where the header has {width:,}"
                leave_out(InputError(what, f"{text.path}:{line}", hint), problems)
                continue
            yield line, cells
    except OpenQuote:
        if text.is_last:
            raise


def exact(text: Text, reading: Reading, place: Place) -> pl.DataFrame:
    """The rows of a text, one record after the other; InputError names the line, unless problems are collected."""
    import polars as pl

    columns, problems = text.layout.columns, reading.options.problems
    queries, docs, values, ranks = [], [], [], []
    for line, cells in cells_of(text, place, problems):
        try:
            query, doc, value, rank = _row(cells, text.layout, reading, f"{text.path}:{line}")
        except InputError as error:
            leave_out(error, problems)
            continue
        queries.append(query)
        docs.append(doc)
        values.append(value)
        ranks.append(rank)
    found = {
        "query": pl.Series(queries, dtype=pl.String),
        "doc": pl.Series(docs, dtype=pl.String),
        reading.noun: pl.Series(values, dtype=pl.Float64),
    }
    if columns.rank is not None:
        found["rank"] = pl.Series(ranks, dtype=pl.Int64)
    return pl.DataFrame(found)


def _row(cells: list[str], layout: Layout, reading: Reading, where: str) -> tuple[str, str, float, int | None]:
    columns, at = layout.columns, layout.at
    doc_column = str(columns.doc)  # runs and judgments have one
    query = _id(cells[at(columns.query)], columns.query, where)
    doc = _id(cells[at(doc_column)], doc_column, where)
    rank = None if columns.rank is None else whole_rank(cells[at(columns.rank)])
    if columns.value is not None:
        value = _value(cells[at(columns.value)], reading, where)
    else:
        value = 1.0 if columns.rank is None else _score_of_rank(rank, cells[at(columns.rank)], where)
    return query, doc, value, rank


def _id(text: str, column: str, where: str) -> str:
    if not text:
        what, hint = id_complaint(text, f"column `{column}`")
        raise InputError(what, where, hint)
    return text


def _value(text: str, reading: Reading, where: str) -> float:
    value = parse_value(text, reading.role, reading.options.grade_map)
    if value is None or math.isnan(value) or (reading.role == "qrels" and math.isinf(value)):
        what, hint = value_complaint(text, reading.role, reading.noun)
        raise InputError(what, where, hint)
    reading.tally.infinite += math.isinf(value)
    return value


def _score_of_rank(rank: int | None, text: str, where: str) -> float:
    if rank is None:
        hint = "without a score column the rank decides the order"
        raise InputError(f"rank `{text}` is no whole number", where, hint)
    return float(-rank)


def listed(text: Text, place: Place) -> tuple[pl.DataFrame, list[int]]:
    """The columns in use as text, one record after the other, and the line of each; an empty field is null."""
    import polars as pl

    columns, at = text.layout.columns, text.layout.at
    rows, lines = [], []
    for line, cells in cells_of(text, place):
        rows.append([cells[at(name)] or None for name in columns.used])
        lines.append(line)
    return pl.DataFrame(rows, dict.fromkeys(columns.used, pl.String), orient="row"), lines


def parsed(text: Text, reading: Reading) -> pl.DataFrame | None:
    """As `listed`, by way of Polars; None when anything in the text is doubtful."""
    frame = _structured(text, reading)
    if frame is None:
        return None
    return frame.select(frame[str(text.layout.at(name))].alias(name) for name in text.layout.columns.used)


def fast(text: Text, reading: Reading) -> pl.DataFrame | None:
    """The same rows by way of Polars; None when anything in the text is doubtful, a cut record included."""
    frame = _structured(text, reading)
    return None if frame is None else _accepted(frame, text.layout, reading)


def _structured(text: Text, reading: Reading) -> pl.DataFrame | None:
    """The columns as `_parse` gives them, without blank lines; None when a record may have been read wrongly."""
    import polars as pl

    layout, data = text.layout, text.data
    if layout.header.is_padded or data.startswith(UTF8_MARK):  # Polars would drop the mark
        return None
    num_records = None
    if b'"' in data:  # looked at first: Polars panics at a quote that is alone in a field of numbers
        num_records = count_records(data, layout.header.separator, layout.width)
        if num_records is None:
            return None
    try:
        frame = _parse(text, reading)
    except pl.exceptions.PolarsError:
        return None
    beyond = str(layout.width)
    if frame[beyond].null_count() < frame.height:
        return None
    frame = frame.drop(beyond)
    if frame[str(layout.at(layout.columns.query))].null_count():  # blank lines
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    if num_records is None:
        num_records = _count_unquoted(text, frame)
    return frame if num_records == frame.height else None


def _parse(text: Text, reading: Reading) -> pl.DataFrame:
    """The columns in use, named by their places, the last one, and one beyond it.

    The last one shows lines that are too short, the one beyond lines that are too long: with columns left out Polars
    does not look for either.
    """
    import polars as pl

    layout, columns = text.layout, text.layout.columns
    types: dict[str, Any] = {str(i): pl.String for i in range(layout.width + 1)}
    has_words = reading.role == "qrels" and bool(reading.options.grade_map)
    for name in (columns.value, columns.rank):
        if name is not None and not (has_words and name == columns.value):
            types[str(layout.at(name))] = pl.Float64
    return pl.read_csv(
        io.BytesIO(text.data),
        has_header=False,
        schema=types,
        columns=sorted({*(layout.at(name) for name in columns.used), layout.width - 1, layout.width}),
        separator=layout.header.separator,
        missing_columns="insert",
        extra_columns="ignore",
        glob=False,
    )


def _count_unquoted(text: Text, frame: pl.DataFrame) -> int | None:
    """As `count_records`, for text without quotes: where no line can be too short, counting separators is enough."""
    data, width, separator = text.data, text.layout.width, text.layout.header.separator
    never_short = not frame[str(width - 1)].null_count()
    if never_short and count(data, ord(separator)) == frame.height * (width - 1) and not has_lone_return(data):
        return frame.height
    return count_records(data, separator, width)


def _accepted(frame: pl.DataFrame, layout: Layout, reading: Reading) -> pl.DataFrame | None:
    """The frame of the one schema; None when an id is empty, or a score or grade is no number."""
    import polars as pl

    columns = layout.columns
    query, doc = frame[str(layout.at(columns.query))], frame[str(layout.at(str(columns.doc)))]
    if query.null_count() or doc.null_count() or 0 in (query.str.len_bytes().min(), doc.str.len_bytes().min()):
        return None
    rank = None if columns.rank is None else whole_ranks(frame[str(layout.at(columns.rank))])
    if columns.value is not None:
        values = frame[str(layout.at(columns.value))]
        value = floats(values, reading.role, reading.options.grade_map, reading.tally)
    elif rank is not None:
        value = 0.0 - rank.cast(pl.Float64)  # never -0.0
    else:
        value = pl.repeat(1.0, frame.height, dtype=pl.Float64, eager=True)
    if value.null_count():
        return None
    if not value.is_finite().all():
        if reading.role == "qrels" or value.is_nan().any():
            return None
        reading.tally.infinite += int(value.is_infinite().sum())
    found = {"query": query, "doc": doc, reading.noun: value}
    return pl.DataFrame({**found, "rank": rank} if rank is not None else found)
