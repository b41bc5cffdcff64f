"""`rankeval measures` and `rankeval formats`: what there is, from the registries."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from rankeval_cli.cli.layout import READ_WIDTH, aligned, screen_width, wrapped
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

    width = screen_width()
    if name is None:
        rows = [(name, f"{title} ({aliases})" if aliases else title) for name, aliases, title, *_ in table()]
        write_lines(aligned(rows, width))
    else:
        write_lines([describe(find(name) or parse(name)[0].measure, min(width or READ_WIDTH, READ_WIDTH)).rstrip()])
    return ExitCode.OK


def formats() -> int:
    """List the layouts of runs, judgments and reports."""
    from rankeval_cli.readers import FORMATS
    from rankeval_cli.report import REPORTERS, write_lines

    width = screen_width()
    rows = []
    for layout in FORMATS:
        rows += [(layout.name, "run", layout.run)] if layout.run else []
        rows += [(layout.name if not layout.run else "", "qrels", layout.qrels)] if layout.qrels else []
        rows += [("", "one table", layout.labelled)] if layout.labelled else []
    reports = [(reporter.name, " ".join(reporter.suffixes), reporter.title) for reporter in REPORTERS]
    write_lines(
        [*wrapped("Layouts read (--run-format, --qrels-format):", width or READ_WIDTH), *aligned(rows, width), ""]
    )
    write_lines(["Reports written (-f, -o):", *aligned(reports, width)])
    return ExitCode.OK
