"""`rankeval measures` and `rankeval formats`: what there is, from the registries."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import Annotated

from typer import Argument

from rankeval_cli.cli.options import complete_measures
from rankeval_cli.errors import ExitCode

READ_WIDTH = 100  # columns; longer lines are hard to read
LEAST_LAST = 20  # columns that the last cell needs beside the others


def measures(
    name: Annotated[
        str | None, Argument(metavar="[NAME]", help="A measure to explain.", autocompletion=complete_measures)
    ] = None,
) -> int:
    """List the measures, or explain one: its exact definition, parameters and names elsewhere."""
    from rankeval_cli.measures.expression import parse
    from rankeval_cli.measures.registry import describe, find, table
    from rankeval_cli.report import write_lines

    width = _width()
    if name is None:
        rows = [(name, f"{title} ({aliases})" if aliases else title) for name, aliases, title, *_ in table()]
        write_lines(_aligned(rows, width))
    else:
        write_lines([describe(find(name) or parse(name)[0].measure, min(width or READ_WIDTH, READ_WIDTH)).rstrip()])
    return ExitCode.OK


def formats() -> int:
    """List the layouts of runs, judgments and reports."""
    from rankeval_cli.readers import FORMATS
    from rankeval_cli.report import REPORTERS, write_lines

    width = _width()
    rows = []
    for layout in FORMATS:
        rows += [(layout.name, "run", layout.run)] if layout.run else []
        rows += [(layout.name if not layout.run else "", "qrels", layout.qrels)] if layout.qrels else []
        rows += [("", "one table", layout.labelled)] if layout.labelled else []
    reports = [(reporter.name, " ".join(reporter.suffixes), reporter.title) for reporter in REPORTERS]
    write_lines(
        [*_wrapped("Layouts read (--run-format, --qrels-format):", width or READ_WIDTH), *_aligned(rows, width), ""]
    )
    write_lines(["Reports written (-f, -o):", *_aligned(reports, width)])
    return ExitCode.OK


def _width() -> int | None:
    """Columns of the terminal; None in a pipe, where a row stays a line."""
    from rankeval_cli.report.terminal import columns_of

    return columns_of(sys.stdout)


def _aligned(rows: Sequence[tuple[str, ...]], width: int | None) -> list[str]:
    """Rows as lines of aligned cells, the last cell wrapped; where it has no room, a cell a line."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    indent = sum(widths) + 2 * len(widths)
    if width is not None and width - indent < LEAST_LAST:
        return [line for row in rows for line in _stacked(row, width)]
    lines: list[str] = []
    for row in rows:
        start = "".join(cell.ljust(size + 2) for cell, size in zip(row, widths, strict=False))
        last = [row[-1]] if width is None else _wrapped(row[-1], width - indent)
        lines += [start + last[0], *(" " * indent + line for line in last[1:])]
    return lines


def _stacked(row: tuple[str, ...], width: int) -> list[str]:
    head, *others = row
    lines = [head] if head else []
    for cell in filter(None, others):
        lines += _wrapped(cell, width, "  ", "    ")
    return lines


def _wrapped(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=others, break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip
