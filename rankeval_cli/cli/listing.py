"""How the commands print that look into a result: one listing to stdout, warnings to stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from rankeval_cli.cli.options import ListingOptions

if TYPE_CHECKING:
    from rankeval_cli.readers.format import Progress
    from rankeval_cli.report.listing import Listing


def show(listing: Listing, output: ListingOptions, warnings: Iterable[str] = ()) -> None:
    """Write a listing in the form asked for, and warnings unless they are not wanted."""
    from rankeval_cli.report import options_for
    from rankeval_cli.report.listing import render
    from rankeval_cli.report.output import write_stdout
    from rankeval_cli.report.terminal import is_terminal, print_warnings

    form = output.format or ("table" if is_terminal(sys.stdout) else "tsv")
    write_stdout(render(listing, form, options_for(color=output.color)), is_styled=form == "table")
    if not output.quiet:
        print_warnings(warnings, output.color)


def progress_of(output: ListingOptions, label: str, size: int | None) -> AbstractContextManager[Progress]:
    """A bar while an input is read, as `flow.ShowProgress` has it."""
    from rankeval_cli.report.terminal import progress

    return nullcontext(lambda read: None) if output.quiet else progress(size, label, output.color)
