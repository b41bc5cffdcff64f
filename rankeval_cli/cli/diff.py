"""`rankeval diff A B QRELS`: the queries that B helps or hurts most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from rankeval_cli.cli.evaluate import request_of
from rankeval_cli.cli.explain import OneQueryOptions
from rankeval_cli.cli.interrupts import keep_interrupts
from rankeval_cli.cli.listing import progress_of, show
from rankeval_cli.cli.options import (
    OUTPUT,
    FileOptions,
    GateOptions,
    IntervalOptions,
    ListingOptions,
    RuleOptions,
    complete_words,
)
from rankeval_cli.cli.takes import takes
from rankeval_cli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from rankeval_cli.findings import RunMoves
    from rankeval_cli.flow import Request

USAGE = "rankeval diff A B QRELS -m ndcg@10"
MEANINGLESS = ("weights", "ci", "confidence", "resamples")  # they change no query

Words = Annotated[
    list[str] | None,
    Argument(metavar="A B QRELS", autocompletion=complete_words, help="Two runs and the judgments."),
]


@dataclass(frozen=True)
class MostOptions:
    """How many queries to show."""

    top: Annotated[
        int, Option("--top", metavar="N", min=1, rich_help_panel=OUTPUT, help="Queries to show on each side.")
    ] = 10


@takes(OneQueryOptions, RuleOptions, FileOptions, IntervalOptions, MostOptions, ListingOptions, arguments=Words,
       without=MEANINGLESS)  # fmt: skip
def diff(
    words: list[str],
    given: frozenset[str],
    measures: OneQueryOptions,
    rules: RuleOptions,
    files: FileOptions,
    intervals: IntervalOptions,
    most: MostOptions,
    output: ListingOptions,
) -> int:
    """Show the queries that run B helps or hurts most against run A, and where their relevant documents moved.

    rankeval diff a.txt b.txt qrels.txt -m ndcg@10 --top 5
    """
    from rankeval_cli import __version__
    from rankeval_cli.presets import default_measures
    from rankeval_cli.report.moved import listing

    measures = replace(measures, measure=measures.measure or list(default_measures(rules.preset)[:1]))
    request = request_of(words, given, measures, rules, files, intervals, GateOptions())
    if len(request.runs) != 2 or request.qrels is None:
        raise UsageError("diff takes two runs and the judgments", hint=USAGE)
    found = _moved(request, most.top, output)
    show(listing(found, __version__), output, found.warnings)
    return ExitCode.OK


def _moved(request: Request, top: int, output: ListingOptions) -> RunMoves:
    from rankeval_cli.moves import moves  # loads Polars

    keep_interrupts()
    return moves(request, top, partial(progress_of, output))
