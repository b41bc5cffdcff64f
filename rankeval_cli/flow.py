"""The pipelines as functions over paths or Python objects: read, align, score, infer, gate, report. No printing.

What only gates, baselines or comparisons need is imported where there are any: it costs a small evaluation 0.05 s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol

import rankeval_cli
from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import Judgments, Report, Rules, RunReport, Scores, Significance, Source, Verdict
from rankeval_cli.opening import check_columns, names_of, open_all, opened
from rankeval_cli.passes import check_run, score_parts
from rankeval_cli.plan import Plan, planned
from rankeval_cli.readers import ReadOptions, read_pairs
from rankeval_cli.ties import chance_warnings, check_ties, tie_results
from rankeval_cli.weighing import weighed, weights_of

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.baseline import Baseline
    from rankeval_cli.comparing import Comparing
    from rankeval_cli.coverage import Facts
    from rankeval_cli.gates import AnyGate
    from rankeval_cli.groups import Groups
    from rankeval_cli.readers.format import Progress, Table
    from rankeval_cli.readers.groups import Only

DEFAULT_CUTOFF = 10  # where ties and judged documents are counted when no measure has a cutoff
ShowProgress = Callable[[str, int | None], AbstractContextManager["Progress"]]


class Engine(Protocol):
    """What reads and scores in another place than this process; all else is the same. See `engines`."""

    def check(self, request: Request) -> None:
        """Raise UsageError for what it cannot do, before anything is read."""
        ...

    def open_all(
        self,
        runs: Sequence[Any],
        qrels: Any,
        names: Sequence[str],
        run_options: ReadOptions,
        qrels_options: ReadOptions,
    ) -> tuple[list[Table], Table]:
        """Every input opened, as `opening.open_all` does."""
        ...

    def load_judgments(self, table: Table, rules: Rules, name: str) -> Judgments:
        """The judgments; all that the report needs of them."""
        ...

    def score_run(
        self, table: Table, judgments: Judgments, plan: Plan, k: int, exclude: pl.DataFrame | None
    ) -> tuple[Facts, list[Scores]]:
        """What was noticed in a run, and the scores of every part of the plan."""
        ...

    def write(self, report: Report) -> None:
        """Write what only it can write."""
        ...

    def close(self) -> None:
        """End what it started."""
        ...


@dataclass(frozen=True)
class Request:
    """One evaluation: what to read, what to measure, by which rules.

    runs, qrels : paths, or Python objects (dicts of dicts, Polars, pandas or Arrow tables); without qrels the only run
        is a labelled table
    metrics : what the report shows, as the preset of the rules has them; a gate's own metrics are computed besides
    given : names of the rules that the user gave; the others may follow from a preset, and from what is read
    weights : query -> weight, or another object that holds them; `rules.weights` is a path, or what to call the object
    tie_report : say of each measure how far it depends on the order of tied documents
    compare : how the runs are compared with each other; None when they are not
    baseline : what gates compare with: a run as in `runs`, or a report (path, `Report` or document); None for nothing
    significance : how the rules among the gates test
    queries : the only ones that count, as `read_queries` takes them; None for all
    groups : what groups queries, as `load_groups` takes it; None for no groups
    engine : what reads and scores; None for this process
    """

    runs: tuple[Any, ...]
    qrels: Any
    metrics: tuple[Metric, ...]
    rules: Rules = field(default_factory=Rules)
    gates: tuple[AnyGate, ...] = ()
    run_options: ReadOptions = field(default_factory=ReadOptions)
    qrels_options: ReadOptions = field(default_factory=ReadOptions)
    given: frozenset[str] = frozenset()
    weights: Any = None
    tie_report: bool = False
    compare: Comparing | None = None
    baseline: Any = None
    significance: Significance = field(default_factory=Significance)
    queries: Any = None
    groups: Any = None
    engine: Engine | None = None


def evaluate(request: Request, show_progress: ShowProgress | None = None) -> Report:
    """Score every run against the judgments and decide the gates.

    Raises RankevalError for input that cannot be read or fits no judgment.
    """
    from rankeval_cli.judgments import load_judgments

    show = show_progress or (lambda label, size: nullcontext(lambda read: None))
    if not request.runs:
        raise UsageError("there is no run to score", hint="give one run or more")
    _check(request)
    engine = request.engine
    if engine is not None:
        engine.check(request)
    baseline = _opened_baseline(request)
    if request.qrels is None:
        return _evaluate_labelled(request, baseline, show)
    names, sources = names_of(request.runs), list(request.runs)
    if baseline is not None and baseline.source is not None:
        names, sources = [*names, baseline.name], [*sources, baseline.source]
    judged, only = opened(request.qrels) if engine is None else request.qrels, _only(request)
    open_tables = open_all if engine is None else engine.open_all
    tables, qrels = open_tables(sources, judged, names, request.run_options, request.qrels_options)
    plan, weights = plan_for(request, tables), weights_of(_weights_source(request))
    rules = plan.rules
    if rules.ignore_label is not None:
        raise UsageError("--ignore-label is for labelled tables", hint="leave it out, or choose --judged-only")
    with show(qrels.path, qrels.size_bytes) as progress:
        name = PurePath(qrels.path).name
        judgments = (
            load_judgments(qrels, rules, name, progress, only)
            if engine is None
            else engine.load_judgments(qrels, rules, name)
        )
    groups = _groups(request, judged, "qrels", request.qrels_options)
    exclude = None if rules.exclude is None else read_pairs(rules.exclude)
    written = _written_baseline(request, baseline, judgments, plan)
    runs, warnings = [], list(judgments.warnings)
    for name, table in zip(names, _restricted(tables, only), strict=True):
        with show(name, table.size_bytes) as progress:
            if engine is None:
                facts, every = _score_run(table, judgments, plan, exclude, progress)
            else:
                facts, every = engine.score_run(table, judgments, plan, cutoff_of(plan.metrics), exclude)
        every = [weighed(scores, judgments, weights, rules) for scores in every]
        run, noticed = _run_report(name, table, judgments, facts, every, plan)
        runs.append(run)
        warnings += noticed
    check_columns(request.run_options, request.qrels_options)
    report = _report(request, rules, judgments, _apart(baseline, runs, written), (only, groups), warnings)
    if request.compare is None:
        return report
    from rankeval_cli.comparing import compared

    return compared(report, request.compare)


def _check(request: Request) -> None:
    """Raise UsageError for measures, gates and comparisons that cannot be had."""
    check_ties(_with_gates(request.metrics, request.gates), request.rules)
    if request.engine is not None and request.queries is not None:
        what = "--queries is for evaluations in this process"
        raise UsageError(what, hint="leave --engine out, or group the queries instead: --groups FILE")
    if request.gates or request.significance != Significance():
        from rankeval_cli.gates import check_gates

        check_gates(request.gates, request.baseline is not None, request.significance, request.groups is not None)
    if request.compare is not None:
        from rankeval_cli.comparing import check_comparing

        check_comparing(request.compare, request.runs, request.metrics, request.rules)


def _opened_baseline(request: Request) -> Baseline | None:
    if request.baseline is None:
        return None
    from rankeval_cli.baseline import open_baseline

    return open_baseline(request.baseline, request.runs)


def _evaluate_labelled(request: Request, baseline: Baseline | None, show: ShowProgress) -> Report:
    """As `evaluate`, for one table that is run and judgments; so is a baseline that is no report."""
    if len(request.runs) > 1:
        raise UsageError("several runs without judgments", hint="score one labelled table at a time")
    source, name, only = opened(request.runs[0]), names_of(request.runs)[0], _only(request)
    plan, rules, judgments, run, warnings = _labelled_run(request, source, name, show, only)
    groups = _groups(request, source, name, request.run_options)
    written, runs = _written_baseline(request, baseline, judgments, plan), [run]
    if baseline is not None and baseline.source is not None:
        from rankeval_cli.baseline import check_same

        _, others, same, run, noticed = _labelled_run(request, baseline.source, baseline.name, show, only)
        check_same(baseline.name, others, rules, same, judgments)
        runs, warnings = [*runs, run], [*warnings, *noticed]
    check_columns(request.run_options, request.qrels_options)
    return _report(request, rules, judgments, _apart(baseline, runs, written), (only, groups), warnings)


def _labelled_run(
    request: Request, source: Any, name: str, show: ShowProgress, only: Only | None
) -> tuple[Plan, Rules, Judgments, RunReport, list[str]]:
    """A labelled table scored: the plan and the rules that it led to, its judgments, its report and warnings."""
    table = _labelled_table(request, source, name, plan_for(request, []).rules)
    plan = plan_for(request, [table])
    with show(table.path, table.size_bytes) as progress:
        judgments, facts, every = _score_labelled(request, table, name, plan, progress, only)
    rules = plan.rules
    if _weights_source(request) is None and every[0].weights is not None and every[0].shares is None:
        rules = replace(rules, weights="list_weight")
    run, warnings = _run_report(name, table, judgments, facts, every, plan)
    return plan, rules, judgments, run, [*judgments.warnings, *warnings]


def _written_baseline(
    request: Request, baseline: Baseline | None, judgments: Judgments, plan: Plan
) -> RunReport | None:
    """The baseline as a report that was written earlier; None where it is none."""
    if baseline is None or baseline.written is None:
        return None
    from rankeval_cli.baseline import report_of

    needed = [metric for gate in request.gates if gate.needs_baseline for metric in gate.metrics]
    return report_of(baseline.written, judgments, plan, needed, request.metrics)


def _labelled_table(request: Request, source: Any, name: str, rules: Rules) -> Table:
    from rankeval_cli.readers.labelled import open_labelled

    options = replace(
        request.run_options,
        grade_map=request.qrels_options.grade_map,
        ignore_label=rules.ignore_label,
        item_weights=rules.list_weights,
    )
    return open_labelled(source, options, name)


def _score_labelled(
    request: Request, table: Table, name: str, plan: Plan, progress: Progress, only: Only | None = None
) -> tuple[Judgments, Facts, list[Scores]]:
    """The judgments that a labelled table holds, what was noticed in it, and the scores of every part of the plan."""
    from rankeval_cli.labelled import LabelledAligner, finished, labels_of

    weights, rules, metrics = weights_of(_weights_source(request)), plan.rules, plan.metrics
    labels = labels_of(table, name, rules, any(metric.measure.needs_highest(metric) for metric in metrics))
    (table,) = _restricted([table], only)  # the highest grade is that of all queries
    exclude = None if rules.exclude is None else read_pairs(rules.exclude)
    make = partial(LabelledAligner, table, labels, rules, cutoff_of(metrics), exclude, plan.orderings)
    check = partial(_check_labelled, table)
    facts, every = score_parts(table, labels, plan.every_part, make, check, progress=progress)
    judgments, every = finished(labels, every)
    return judgments, facts, [weighed(scores, judgments, weights, rules) for scores in every]


def score_under(request: Request, plan_of: Callable[[str | None], Plan]) -> list[Scores]:
    """The scores of the only run under every part of a plan.

    plan_of : an input whose documents have no ids, or None -> the plan
    Raises RankevalError for input that cannot be read or fits no judgment.
    """
    from rankeval_cli.judgments import load_judgments

    rules, silent = plan_of(None).rules, lambda read: None
    name = names_of(request.runs)[0]
    if request.qrels is None:
        table = _labelled_table(request, opened(request.runs[0]), name, rules)
        return _score_labelled(request, table, name, plan_of(nameless_of([table])), silent)[2]
    (table,), qrels = open_all(request.runs, request.qrels, [name], request.run_options, request.qrels_options)
    judgments = load_judgments(qrels, rules, PurePath(qrels.path).name, silent)
    exclude = None if rules.exclude is None else read_pairs(rules.exclude)
    weights = weights_of(_weights_source(request))
    every = _score_run(table, judgments, plan_of(nameless_of([table])), exclude, silent)[1]
    return [weighed(scores, judgments, weights, rules) for scores in every]


def nameless_of(tables: Iterable[Table]) -> str | None:
    """A table whose documents have no ids, None where all have."""
    return next((table.path for table in tables if not table.has_doc_ids), None)


def _check_labelled(table: Table, facts: Facts) -> None:
    if not facts.rows:
        raise InputError("holds no row that counts", table.path, "look at its mask, and at --ignore-label")


def plan_for(request: Request, tables: Iterable[Table]) -> Plan:
    """What to score by which rules, now that is known whether documents have ids that could break ties."""
    preset = None
    if request.rules.preset is not None:
        from rankeval_cli.presets.registry import find

        preset = find(request.rules.preset)
    shown = request.metrics if request.tie_report else ()
    metrics = _with_gates(request.metrics, request.gates)
    return planned(metrics, request.rules, request.given, preset, nameless_of(tables), shown)


def _weights_source(request: Request) -> Any:
    return request.rules.weights if request.weights is None else request.weights


Parts = tuple[Sequence[RunReport], Sequence[RunReport], RunReport | None]  # as `baseline.Parts` has them


def _apart(baseline: Baseline | None, scored: Sequence[RunReport], written: RunReport | None) -> Parts:
    """The runs that the report shows, those that gates apply to, and the baseline."""
    if baseline is None:
        return scored, scored, None
    from rankeval_cli.baseline import apart

    return apart(baseline, scored, written)


def _only(request: Request) -> Only | None:
    """The queries that count; None for all."""
    if request.queries is None:
        return None
    from rankeval_cli.readers.groups import load_only

    return load_only(request.queries)


def _restricted(tables: Sequence[Table], only: Only | None) -> Sequence[Table]:
    """The tables without the rows of other queries."""
    if only is None:
        return tables
    from rankeval_cli.readers.groups import Restricted

    return [Restricted(table, only) for table in tables]


def _groups(request: Request, judged: Any, name: str, options: ReadOptions) -> Groups | None:
    """The groups that are asked for, among them those of the gates.

    judged : judgments or labelled table, opened; name : what messages call an object
    """
    if request.groups is None:
        return None
    from rankeval_cli.groups import load_groups

    groups = load_groups(request.groups, judged, options, name)
    if request.gates:
        from rankeval_cli.gates import check_groups

        check_groups(request.gates, groups)
    return groups


def _report(
    request: Request,
    rules: Rules,
    judgments: Judgments,
    parts: Parts,
    chosen: tuple[Only | None, Groups | None],
    warnings: Sequence[str],
) -> Report:
    """The report, with the verdicts on every run but the baseline. chosen : the queries that count, and their groups"""
    runs, judged, baseline = parts
    only, groups = chosen
    report = Report(
        version=rankeval_cli.__version__,
        rules=rules,
        qrels=judgments.source,
        digest=judgments.digest,
        judged_queries=len(judgments.queries),
        runs=tuple(_only_asked(run, request.metrics) for run in runs),
        gates=_verdicts(request, rules, judged, baseline, groups),
        warnings=(*_spelling_warnings(request), *warnings),
        baseline=None if baseline is None else _only_asked(baseline, request.metrics),
    )
    if only is None and groups is None:
        return report
    from rankeval_cli.groups import with_chosen

    return with_chosen(report, only, groups, judgments)


def _verdicts(
    request: Request,
    rules: Rules,
    judged: Sequence[RunReport],
    baseline: RunReport | None,
    groups: Groups | None,
) -> tuple[Verdict, ...]:
    if not request.gates:
        return ()
    from rankeval_cli.gates import Sides, decide_all

    return decide_all(request.gates, [Sides(run, rules, baseline, groups) for run in judged], request.significance)


def _with_gates(metrics: tuple[Metric, ...], gates: Iterable[AnyGate]) -> tuple[Metric, ...]:
    known = {metric.canonical: metric for gate in gates for metric in gate.metrics}
    asked = {metric.canonical for metric in metrics}
    return (*metrics, *(metric for canonical, metric in known.items() if canonical not in asked))


def _only_asked(run: RunReport, metrics: tuple[Metric, ...]) -> RunReport:
    """The run's report without what only a gate asked for (which stands behind the metrics)."""
    asked, scores = {metric.canonical for metric in metrics}, run.scores
    n = sum(metric.canonical in asked for metric in scores.metrics)
    shown = replace(
        scores,
        metrics=scores.metrics[:n],
        values=scores.values[:n],
        undefined=scores.undefined[:n],
        propagate=scores.propagate[:n],
    )
    return replace(run, results=run.results[:n], scores=shown)


def _score_run(
    table: Table,
    judgments: Judgments,
    plan: Plan,
    exclude: pl.DataFrame | None,
    progress: Progress,
) -> tuple[Facts, list[Scores]]:
    """What was noticed in a run, and the scores of every part of the plan."""
    from rankeval_cli.align import Aligner

    make = partial(Aligner, table, judgments, plan.rules, cutoff_of(plan.metrics), exclude, plan.orderings)
    check = partial(check_run, table, judgments, plan.rules)
    return score_parts(table, judgments, plan.every_part, make, check, progress=progress)


def cutoff_of(metrics: Iterable[Metric]) -> int:
    """The rank at which ties and judged documents are counted."""
    return max((metric.cutoff for metric in metrics if metric.cutoff), default=DEFAULT_CUTOFF)


def _run_report(
    name: str, table: Table, judgments: Judgments, facts: Facts, every: Sequence[Scores], plan: Plan
) -> tuple[RunReport, list[str]]:
    """The report of one run from the scores of every part of the plan, and its warnings."""
    from rankeval_cli.coverage import coverage_of, warnings_of
    from rankeval_cli.inference import summarize

    scores, variants = plan.collected(every)
    rules, own = plan.rules, plan.own_rules()
    coverage = coverage_of(judgments, facts, rules, cutoff_of(plan.metrics))
    results = summarize(scores, rules)
    ties = tie_results(results, variants, rules) if plan.is_tie_report else ()
    results = tuple(replace(result, rules=own.get(result.canonical, {})) for result in results)
    source = Source(name, table.path, table.format, facts.rows, table.tag, table.has_doc_ids)
    noticed = [*table.warnings, *warnings_of(coverage, facts, judgments, plan.told_rules)]
    noticed += chance_warnings(plan, variants, rules) if plan.chance else []
    return RunReport(source, coverage, results, scores, ties), [f"{name}: {warning}" for warning in noticed]


def _spelling_warnings(request: Request) -> list[str]:
    """What the spelling of a measure should tell its user (`hits` means a count here)."""
    metrics = _with_gates(request.metrics, request.gates)
    return list(dict.fromkeys(metric.warning for metric in metrics if metric.warning))
