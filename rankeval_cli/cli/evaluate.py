"""`rankeval RUN... QRELS`: score runs, show the report, decide the gates."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rankeval_cli.cli.engines import engine_of, without_folders
from rankeval_cli.cli.interrupts import keep_interrupts
from rankeval_cli.cli.options import (
    ConfigOptions,
    EngineOptions,
    FileOptions,
    GateOptions,
    IntervalOptions,
    MeasureOptions,
    OutputOptions,
    QueryOptions,
    RuleOptions,
)
from rankeval_cli.cli.takes import filled, takes
from rankeval_cli.cli.targets import check_targets
from rankeval_cli.errors import ExitCode, UsageError
from rankeval_cli.model import Rules, Significance

if TYPE_CHECKING:
    from rankeval_cli.flow import Request
    from rankeval_cli.gates import AnyGate
    from rankeval_cli.measures.spec import Metric
    from rankeval_cli.model import Report
    from rankeval_cli.report import Reporter


@dataclass(frozen=True)
class Target:
    """A report file."""

    path: str
    reporter: Reporter
    per_query: bool


@takes(MeasureOptions, RuleOptions, FileOptions, QueryOptions, EngineOptions, IntervalOptions, OutputOptions,
       GateOptions, ConfigOptions)  # fmt: skip
def evaluate(
    paths: list[str],
    given: frozenset[str],
    measures: MeasureOptions,
    rules: RuleOptions,
    files: FileOptions,
    queries: QueryOptions,
    engines: EngineOptions,
    intervals: IntervalOptions,
    output: OutputOptions,
    gates: GateOptions,
    config: ConfigOptions,
) -> int:
    """Score ranked results (RUN) against relevance judgments (QRELS).

    rankeval run.txt qrels.txt -m mrr@10 ndcg@10
    """
    reporter, targets = reporters_of(without_folders(engines, output))
    request = request_of(paths, given, measures, rules, files, intervals, gates)
    request = replace(request, tie_report=output.tie_report, engine=engine_of(engines, output), **asdict(queries))
    return carry_out(request, reporter, targets, output, gates.strict, config.config)


def carry_out(
    request: Request,
    reporter: Reporter,
    targets: list[Target],
    output: OutputOptions,
    is_strict: bool,
    config: str | None,
) -> int:
    """Read and score, show the report, and give the exit code.

    config : path of the configuration that is in use
    """
    rules, baseline = request.rules, request.baseline
    if baseline is not None:
        from rankeval_cli.baseline import path_and_run

        baseline = path_and_run(baseline)[0]
    inputs = [*request.runs, request.qrels, rules.exclude, rules.weights, baseline, request.queries, request.groups]
    check_targets((target.path for target in targets), inputs)
    keep_interrupts()
    with nullcontext() if request.engine is None else closing(request.engine) as engine:
        report = replace(_evaluated(request, output), config=config)
        _write(report, reporter, targets, output)
        if engine is not None:
            engine.write(report)
    _tell(report, output, is_strict)
    return _exit_code(report, is_strict)


def try_out(values: Mapping[str, Any]) -> None:
    """Raise what `evaluate` would raise for these options before it reads any data; nothing where they are fine."""
    from rankeval_cli.gates import check_gates

    engines, output = filled(EngineOptions, values), filled(OutputOptions, values)
    reporters_of(without_folders(engines, output))
    engine_of(engines, output)
    request = request_of(
        ["run", "qrels"],
        frozenset(values),
        filled(MeasureOptions, values),
        filled(RuleOptions, values),
        filled(FileOptions, values),
        filled(IntervalOptions, values),
        filled(GateOptions, values),
    )
    has_groups = filled(QueryOptions, values).groups is not None
    check_gates(request.gates, request.baseline is not None, request.significance, has_groups)


def reporters_of(output: OutputOptions) -> tuple[Reporter, list[Target]]:
    """The format of standard output, and the files to write. Raises UsageError for names that have no format."""
    from rankeval_cli.report import default, find, for_path
    from rankeval_cli.report.terminal import is_terminal

    reporter = find(output.format) if output.format else default(is_terminal(sys.stdout))
    targets = [Target(path, for_path(path, reporter), output.per_query) for path in output.output]
    if output.save_baseline is not None:
        targets.append(_baseline(output.save_baseline))
    return reporter, targets


def _baseline(path: str) -> Target:
    from rankeval_cli.report import find, for_path

    json = find("json")
    if path == "-" or for_path(path, json) is not json:
        raise UsageError(f"--save-baseline {path} is no name for JSON", hint="end the name in .json")
    return Target(path, json, per_query=True)


def request_of(
    paths: list[str],
    given: frozenset[str],
    measures: MeasureOptions,
    rules: RuleOptions,
    files: FileOptions,
    intervals: IntervalOptions,
    gates: GateOptions,
) -> Request:
    """All that can be wrong with the words is found here, before any data is read."""
    from rankeval_cli.flow import Request
    from rankeval_cli.measures.expression import parse_all
    from rankeval_cli.presets import default_measures, parser
    from rankeval_cli.readers import ReadOptions
    from rankeval_cli.readers.sniff import check_format

    read = parser(rules.preset)
    runs, qrels = _files(paths, files.qrels)
    check_format(files.run_format, "run" if qrels else "labelled")
    check_format(files.qrels_format, "qrels")
    columns = _pairs(files.columns, "--columns")
    grade_map = {word: _grade(grade) for word, grade in _pairs(files.grade_map, "--grade-map").items()}
    return Request(
        runs=runs,
        qrels=qrels,
        metrics=parse_all(measures.measure or default_measures(rules.preset), read),
        gates=_parsed(gates, read),
        rules=Rules(
            relevance_level=measures.relevance_level,
            aggregate=measures.aggregate,
            grade_map=grade_map or None,
            **asdict(rules),
            **asdict(intervals),
        ),
        run_options=ReadOptions(files.run_format, columns),
        qrels_options=ReadOptions(files.qrels_format, columns, grade_map or None),
        given=given,
        baseline=gates.baseline,
        significance=Significance(gates.alpha, gates.gate_correction),
    )


def _parsed(gates: GateOptions, read: Callable[[str], tuple[Metric, ...]]) -> tuple[AnyGate, ...]:
    """The gates, whose modules are not loaded where there are none."""
    if not (gates.fail_under or gates.gate):
        return ()
    from rankeval_cli.gates import parse_fail_under, parse_gate

    floors = [parse_fail_under(word, read) for word in gates.fail_under]
    return (*floors, *(parse_gate(text, read) for text in gates.gate))


def _files(paths: list[str], qrels: str | None) -> tuple[tuple[str, ...], str | None]:
    """Runs and judgments; no judgments when a single file is given, which is then a labelled table."""
    if qrels is None and len(paths) > 1:
        return tuple(paths[:-1]), paths[-1]
    if paths:
        return tuple(paths), qrels
    missing = "a run and the judgments are missing" if qrels is None else "a run is missing"
    raise UsageError(missing, hint="rankeval RUN... QRELS -m mrr@10 ndcg@10; rankeval --help shows every option")


def _pairs(words: list[str], option: str) -> dict[str, str]:
    """`a=b,c=d` as a dict."""
    pairs: dict[str, str] = {}
    for pair in (pair for word in words for pair in word.split(",")):
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise UsageError(f"{option} `{pair}` is no NAME=VALUE", hint=f"write {option} a=b,c=d")
        if name in pairs:
            raise UsageError(f"{option} gives `{name}` twice", hint="give each name once")
        pairs[name] = value
    return pairs


def _grade(text: str) -> float:
    import math

    try:
        grade = float(text)
    except ValueError:
        grade = math.nan
    if not math.isfinite(grade):
        raise UsageError(f"--grade-map has `{text}` where a grade belongs", hint="write --grade-map E=3,S=2,C=1,I=0")
    return grade


def _evaluated(request: Request, output: OutputOptions) -> Report:
    from rankeval_cli import flow
    from rankeval_cli.report.terminal import progress

    if output.quiet:
        return flow.evaluate(request)
    return flow.evaluate(request, lambda label, size: progress(size, label, output.color))


def _write(report: Report, reporter: Reporter, targets: list[Target], output: OutputOptions) -> None:
    from rankeval_cli.report import options_for, write_file, write_stdout

    options = options_for(output.per_query, output.color)
    write_stdout(reporter, report, options)
    for target in targets:
        write_file(target.path, target.reporter, report, target.per_query)


def _tell(report: Report, output: OutputOptions, is_strict: bool) -> None:
    """All but the results goes to stderr: coverage and rules on a terminal, warnings, verdicts."""
    from rankeval_cli.report import terminal

    if terminal.is_terminal(sys.stderr) and not output.quiet:
        terminal.print_summary(report, output.color)
    if not output.quiet or is_strict:
        terminal.print_warnings(report.warnings, output.color)
    if report.gates:
        terminal.print_verdicts(report.gates, output.color)


def _exit_code(report: Report, is_strict: bool) -> int:
    if is_strict and report.warnings:
        return ExitCode.INPUT
    if not report.gates:
        return ExitCode.OK
    from rankeval_cli.gates import exit_code

    return exit_code(report.gates)
