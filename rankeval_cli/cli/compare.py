"""`rankeval compare BASE RUN... QRELS`: runs against each other, query by query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from rankeval_cli.cli import evaluate as evaluation
from rankeval_cli.cli.engines import engine_of, without_folders
from rankeval_cli.cli.evaluate import carry_out, reporters_of, request_of
from rankeval_cli.cli.options import (
    OUTPUT,
    ConfigOptions,
    EngineOptions,
    FileOptions,
    GateOptions,
    IntervalOptions,
    MeasureOptions,
    OutputOptions,
    RuleOptions,
    SeveralRuns,
    complete_reporters,
)
from rankeval_cli.cli.takes import filled, takes
from rankeval_cli.comparing import Comparing, check_comparing
from rankeval_cli.errors import UsageError
from rankeval_cli.model import COMPARE_RESAMPLES, Family

if TYPE_CHECKING:
    from rankeval_cli.cli.evaluate import Target
    from rankeval_cli.report import Reporter

COMPARISON = "Comparison"
# What is about means alone, and what a single run is saved for.
MEANINGLESS = ("aggregate", "ci", "save_baseline", "tie_report")


def _tests(incomplete: str) -> list[str]:
    from rankeval_cli.inference.paired import TESTS

    return [test.name for test in TESTS if test.name.startswith(incomplete)]


def _corrections(incomplete: str) -> list[str]:
    from rankeval_cli.inference.families import CORRECTIONS

    return [correction.name for correction in CORRECTIONS if correction.name.startswith(incomplete)]


@dataclass(frozen=True)
class CompareOptions:
    """Which runs are compared, and how. The fields are those of `Comparing`, and what ends the program with 2."""

    base: Annotated[
        str | None,
        Option("--baseline", metavar="NAME", rich_help_panel=COMPARISON,
               help="The run that the others are compared with, by its name or path. Default: the first one."),
    ] = None  # fmt: skip
    all_pairs: Annotated[
        bool, Option("--all-pairs", help="Compare every run with every other one.", rich_help_panel=COMPARISON)
    ] = Comparing.all_pairs
    test: Annotated[
        str,
        Option(metavar="NAME", rich_help_panel=COMPARISON, autocompletion=_tests,
               help="Test of the differences: t, randomization, bootstrap, wilcoxon, sign or tukey (all runs at "
               "once); docs/statistics.md explains them."),
    ] = Comparing.test  # fmt: skip
    correction: Annotated[
        str,
        Option(metavar="NAME", rich_help_panel=COMPARISON, autocompletion=_corrections,
               help="What several p-values are corrected by: holm, bonferroni, bh or none. Those of tukey never are."),
    ] = Comparing.correction  # fmt: skip
    family: Annotated[
        Family,
        Option(help="Which p-values are corrected together: those of each measure, or all.",
               rich_help_panel=COMPARISON),
    ] = Comparing.family  # fmt: skip
    alpha: Annotated[
        float,
        Option(metavar="P", help="A corrected p-value up to this is significant.", rich_help_panel=COMPARISON),
    ] = Comparing.alpha  # fmt: skip
    strict: Annotated[bool, Option("--strict", help="Exit 2 on any warning.", rich_help_panel=OUTPUT)] = False
    debug: Annotated[bool, Option("--debug", help="Show the traceback of a bug.")] = False


@dataclass(frozen=True)
class DifferenceOptions(IntervalOptions):
    """Intervals and resamples of differences."""

    confidence: Annotated[
        float, Option(metavar="SHARE", help="Confidence of the intervals of differences.", rich_help_panel=COMPARISON)
    ] = IntervalOptions.confidence
    resamples: Annotated[
        int, Option(metavar="N", help="Resamples of a random test.", rich_help_panel=COMPARISON)
    ] = COMPARE_RESAMPLES  # fmt: skip
    seed: Annotated[
        int, Option(metavar="N", help="Seed of random tests and of --ties random.", rich_help_panel=COMPARISON)
    ] = IntervalOptions.seed


@dataclass(frozen=True)
class ComparisonOutputOptions(OutputOptions):
    """What to show, and where."""

    format: Annotated[
        str | None,
        Option("-f", "--format", metavar="NAME", rich_help_panel=OUTPUT, autocompletion=complete_reporters,
               help="table, tsv, csv, json, jsonl, markdown, latex or github. Default: table on a terminal, else "
               "tsv."),
    ] = None  # fmt: skip


@takes(MeasureOptions, RuleOptions, FileOptions, EngineOptions, CompareOptions, DifferenceOptions,
       ComparisonOutputOptions, ConfigOptions, arguments=SeveralRuns, without=MEANINGLESS)  # fmt: skip
def compare(
    paths: list[str],
    given: frozenset[str],
    measures: MeasureOptions,
    rules: RuleOptions,
    files: FileOptions,
    engines: EngineOptions,
    options: CompareOptions,
    differences: DifferenceOptions,
    output: ComparisonOutputOptions,
    config: ConfigOptions,
) -> int:
    """Compare runs with a base, query by query: differences, intervals, p-values.

    rankeval compare base.txt new.txt qrels.txt -m ndcg@10 map
    """
    reporter, targets = reporters_of(without_folders(engines, output))
    _check_reporters(reporter, targets, config.config)
    intervals = replace(differences, ci="none")
    request = request_of(paths, given, measures, rules, files, intervals, GateOptions())
    comparing = _comparing(options)
    check_comparing(comparing, request.runs, request.metrics, request.rules)  # before Polars is loaded
    request = replace(request, compare=comparing, engine=engine_of(engines, output))
    return carry_out(request, reporter, targets, output, options.strict, config.config)


def try_out(values: Mapping[str, Any]) -> None:
    """Raise what `evaluate` or `compare` would raise for these options before they read any data."""
    evaluation.try_out(values)
    _comparing(filled(CompareOptions, values))


def _comparing(options: CompareOptions) -> Comparing:
    return Comparing(
        options.base, options.all_pairs, options.test, options.correction, options.family, options.alpha
    )  # fmt: skip


def _check_reporters(reporter: Reporter, targets: list[Target], file: str | None) -> None:
    """Refuse a format that has no place for comparisons.

    file : of the configuration, which may have named it
    """
    hint = "choose another format, such as json" + (f"; -f and -o take the place of what {file} says" if file else "")
    for each in (reporter, *(target.reporter for target in targets)):
        if not each.shows_comparisons:
            raise UsageError(f"`{each.name}` has no place for comparisons", hint=hint)
