"""`rankeval explain RUN [RUN2] QRELS QUERY`: one query taken apart."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from rankeval_cli.cli.evaluate import request_of
from rankeval_cli.cli.interrupts import keep_interrupts
from rankeval_cli.cli.listing import progress_of, show
from rankeval_cli.cli.options import (
    MEASURES,
    OUTPUT,
    FileOptions,
    GateOptions,
    IntervalOptions,
    ListingOptions,
    MeasureOptions,
    RuleOptions,
    complete_measures,
    complete_words,
)
from rankeval_cli.cli.takes import takes
from rankeval_cli.errors import ExitCode, RankevalError, UsageError
from rankeval_cli.model import DEFAULT_MEASURES

if TYPE_CHECKING:
    from rankeval_cli.findings import Explanation
    from rankeval_cli.flow import Request

USAGE = "rankeval explain RUN QRELS QUERY -m ndcg@10"
# What acts on several queries only.
MEANINGLESS = ("aggregate", "weights", "ci", "confidence", "resamples")

Words = Annotated[
    list[str] | None,
    Argument(metavar="RUN [RUN2] QRELS QUERY", autocompletion=complete_words,
             help="One run or two, the judgments, and the id of a query; or a labelled table and the id."),
]  # fmt: skip


@dataclass(frozen=True)
class OneQueryOptions(MeasureOptions):
    """What to measure of one query."""

    measure: Annotated[
        list[str],
        Option("-m", "--measure", metavar="MEASURE...", autocompletion=complete_measures, rich_help_panel=MEASURES,
               show_default=False, help=f"Measures, such as ndcg@10 map. Default: {DEFAULT_MEASURES[0]}, or the "
               "first of the preset."),
    ] = field(default_factory=list)  # fmt: skip


@dataclass(frozen=True)
class TopOptions:
    """How much to show."""

    top: Annotated[
        int | None,
        Option("--top", metavar="N", min=1, rich_help_panel=OUTPUT,
               help="Ranks to show; relevant documents further down always are. Default: the largest cutoff, else 10."),
    ] = None  # fmt: skip


@takes(OneQueryOptions, RuleOptions, FileOptions, IntervalOptions, TopOptions, ListingOptions, arguments=Words,
       without=MEANINGLESS)  # fmt: skip
def explain(
    words: list[str],
    given: frozenset[str],
    measures: OneQueryOptions,
    rules: RuleOptions,
    files: FileOptions,
    intervals: IntervalOptions,
    top: TopOptions,
    output: ListingOptions,
) -> int:
    """Show one query's ranking: grades, ties, what each rank adds to the measures, and what is missed.

    rankeval explain run.txt qrels.txt q1 -m ndcg@10
    """
    from rankeval_cli import __version__
    from rankeval_cli.presets import default_measures
    from rankeval_cli.report.explanation import listing

    if len(words) < 2:
        missing = "a query is missing" if words else "a run, the judgments and a query are missing"
        raise UsageError(missing, hint=USAGE)
    measures = replace(measures, measure=measures.measure or list(default_measures(rules.preset)[:1]))
    request = request_of(words[:-1], given, measures, rules, files, intervals, GateOptions())
    if len(request.runs) > 2:
        raise UsageError(f"explain takes one run or two, not {len(request.runs)}", hint=USAGE)
    keep_interrupts()
    found = _explained(request, words[-1], top.top, output)
    show(listing(found, __version__), output, found.warnings)
    return ExitCode.OK


def _explained(request: Request, query: str, top: int | None, output: ListingOptions) -> Explanation:
    from rankeval_cli.explain import explain

    try:
        return explain(request, query, top, partial(progress_of, output))
    except RankevalError as problem:
        if os.path.isfile(query):  # the query was forgotten, and a file stands in its place
            problem.hint = f"the id of a query comes last: {USAGE}"
        raise
