"""What the declaration of a report format may say, and how the user wants a report shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from rankeval_cli.model import Report


@dataclass(frozen=True)
class Options:
    """How a report is shown.

    per_query : add the values of each query
    width : columns of the terminal, which only the table looks at; None for no limit
    color : escape sequences (bold, dim) are welcome
    unicode : the reader can show more than ASCII; only the table draws anything
    """

    per_query: bool = False
    width: int | None = None
    color: bool = False
    unicode: bool = True


@dataclass(frozen=True)
class Reporter:
    """The declaration of one report format. Exactly one of `render` and `write` is given.

    name : what -f/--format takes
    title : one line of help
    suffixes : file name endings, with the dot, for which -o/--output chooses this format; -f takes them as names too
    render : report, options -> its text in pieces, the last of which ends with a newline
    write : report, options, binary file -> nothing; for a binary format, which -f refuses
    is_styled : `render` escapes foreign control characters itself, since it may write its own
    shows_comparisons : it has a place for the comparisons of runs
    also : report, options -> nothing; what else is done when the report has gone to standard output
    """

    name: str
    title: str
    suffixes: tuple[str, ...] = ()
    render: Callable[[Report, Options], Iterator[str]] | None = None
    write: Callable[[Report, Options, IO[bytes]], None] | None = None
    is_styled: bool = False
    shows_comparisons: bool = True
    also: Callable[[Report, Options], None] | None = None
