"""`rankeval check RUN... QRELS`: what is wrong or suspicious in the files, without a score."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rankeval_cli.cli.evaluate import request_of
from rankeval_cli.cli.interrupts import keep_interrupts
from rankeval_cli.cli.listing import progress_of, show
from rankeval_cli.cli.options import (
    FileOptions,
    GateOptions,
    IntervalOptions,
    ListingOptions,
    MeasureOptions,
    RuleOptions,
)
from rankeval_cli.cli.takes import takes
from rankeval_cli.errors import ExitCode

if TYPE_CHECKING:
    from rankeval_cli.findings import Checked
    from rankeval_cli.flow import Request

# What no problem of a file depends on.
MEANINGLESS = (
    "measure", "aggregate", "preset", "score_precision", "ties", "depth", "judged_only", "missing", "no_relevant",
    "negative", "weights", "fail_under", "gate", "baseline", "alpha", "gate_correction", "quiet",
)  # fmt: skip


@takes(MeasureOptions, RuleOptions, FileOptions, GateOptions, ListingOptions, without=MEANINGLESS)
def check(
    paths: list[str],
    given: frozenset[str],
    measures: MeasureOptions,
    rules: RuleOptions,
    files: FileOptions,
    gates: GateOptions,
    output: ListingOptions,
) -> int:
    """List every problem of runs (RUN) and judgments (QRELS), without scoring; exit 2 when there is an error.

    rankeval check run.txt qrels.txt
    """
    from rankeval_cli import __version__
    from rankeval_cli.report.checked import listing

    request = request_of(paths, given, measures, rules, files, IntervalOptions(), GateOptions())
    found = _checked(request, output)
    show(listing(found, __version__), output)
    is_bad = found.count("error") or (gates.strict and found.count("warning"))
    return ExitCode.INPUT if is_bad else ExitCode.OK


def _checked(request: Request, output: ListingOptions) -> Checked:
    from rankeval_cli.checking import check  # loads Polars

    keep_interrupts()
    return check(request, partial(progress_of, output))
