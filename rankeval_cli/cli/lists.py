"""`rankeval measures` and `rankeval formats`: what there is, from the registries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from typer import Argument

from rankeval_cli.cli.options import complete_measures
from rankeval_cli.errors import ExitCode


def measures(
    name: Annotated[
        str | None, Argument(metavar="[NAME]", help="A measure to explain.", autocompletion=complete_measures)
    ] = None,
) -> int:
    """List the measures, or explain one: its exact definition, parameters and names elsewhere."""
    from rankeval_cli.measures.expression import parse
    from rankeval_cli.measures.registry import describe, find, table
    from rankeval_cli.report import write_lines

    if name is None:
        write_lines(_aligned([(name, aliases, title) for name, aliases, title, *_ in table()]))
    else:
        write_lines([describe(find(name) or parse(name)[0].measure).rstrip()])
    return ExitCode.OK


def formats() -> int:
    """List the layouts of runs, judgments and reports."""
    from rankeval_cli.readers import FORMATS
    from rankeval_cli.report import REPORTERS, write_lines

    rows = []
    for layout in FORMATS:
        rows += [(layout.name, "run", layout.run)] if layout.run else []
        rows += [(layout.name if not layout.run else "", "qrels", layout.qrels)] if layout.qrels else []
        rows += [("", "one table", layout.labelled)] if layout.labelled else []
    reports = [(reporter.name, " ".join(reporter.suffixes), reporter.title) for reporter in REPORTERS]
    write_lines(["Layouts read (--run-format, --qrels-format):", *_aligned(rows), ""])
    write_lines(["Reports written (-f, -o):", *_aligned(reports)])
    return ExitCode.OK


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return [
        "  ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=False)] + [row[-1]]) for row in rows
    ]
