"""Findings in the forms of all commands that look into a result: table, tsv, csv, json, jsonl."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rankeval_cli.report.data import json_line, json_text, separated_row
from rankeval_cli.report.layout import Grid
from rankeval_cli.report.reporter import Options
from rankeval_cli.report.table import INDENT, Pen
from rankeval_cli.report.text import wrapped

Form = Literal["table", "tsv", "csv", "json", "jsonl"]


@dataclass(frozen=True)
class Listing:
    """One finding, ready for every form.

    columns, rows : the long form; a row has a text, number, truth or None for each column
    document : what json prints
    table : pen -> lines for people
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    document: Mapping[str, Any]
    table: Callable[[Pen], Iterator[str]]


def render(listing: Listing, form: Form, options: Options) -> Iterator[str]:
    """The text of a listing in pieces, the last of which ends with a newline."""
    if form == "table":
        from rankeval_cli.report.terminal import pen_of

        yield from (line + "\n" for line in listing.table(pen_of(options)))
    elif form == "json":
        yield json_text(listing.document)
    elif form == "jsonl":
        for row in listing.rows:
            yield json_line(dict(zip(listing.columns, row, strict=True)))
    else:
        for row in (listing.columns, *listing.rows):
            yield separated_row(row, form == "csv")


def whole(grade: float | None) -> float | int | None:
    """A grade as people write it: `2`, not `2.0`."""
    return int(grade) if grade is not None and grade.is_integer() else grade


def widest(tables: Sequence[Grid], pen: Pen) -> Grid | None:
    """The first of some tables that fits, None when none does."""
    return next(filter(pen.fits, tables), None)


def notes(texts: Sequence[str], pen: Pen) -> Iterator[str]:
    """Dim lines below a table, a blank line before them."""
    if texts:
        yield ""
    for text in texts:
        yield from (pen.paint(line, "dim") for line in wrapped(text, pen.width))


def indented(text: str, pen: Pen) -> Iterator[str]:
    """A paragraph that belongs to the line above it."""
    width = None if pen.width is None else max(pen.width - len(INDENT), len(INDENT) + 1)
    yield from (INDENT + line for line in wrapped(text, width))
