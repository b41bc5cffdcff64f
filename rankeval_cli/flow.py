"""The pipelines as functions over paths or Python objects: read, align, score, infer, gate, report. No printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import rankeval_cli
from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.gates import Gate, decide
from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import Judgments, Ranked, Report, Rules, RunReport, Scores, Source, Verdict
from rankeval_cli.opening import check_columns, names_of, open_all, opened
from rankeval_cli.plan import Part, Plan, planned
from rankeval_cli.readers import ReadOptions, read_pairs
from rankeval_cli.ties import check_ties, tie_results
from rankeval_cli.weighing import weighed, weights_of

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.align import Aligner
    from rankeval_cli.coverage import Facts
    from rankeval_cli.readers.blocks import Block
    from rankeval_cli.readers.format import Progress, Table
    from rankeval_cli.scoring import Scorer

DEFAULT_CUTOFF = 10  # where ties and judged documents are counted when no measure has a cutoff
ShowProgress = Callable[[str, int | None], AbstractContextManager["Progress"]]


@dataclass(frozen=True)
class Request:
    """One evaluation: what to read, what to measure, by which rules.

    runs, qrels : paths, or Python objects (dicts of dicts, Polars, pandas or Arrow tables); without qrels the only run
        is a labelled table
    metrics : what the report shows, as the preset of the rules has them; a gate's own metrics are computed besides
    given : names of the rules that the user gave; the others may follow from a preset, and from what is read
    weights : query -> weight, or another object that holds them; `rules.weights` is a path, or what to call the object
    tie_report : say of each measure how far it depends on the order of tied documents
    """

    runs: tuple[Any, ...]
    qrels: Any
    metrics: tuple[Metric, ...]
    rules: Rules = field(default_factory=Rules)
    gates: tuple[Gate, ...] = ()
    run_options: ReadOptions = field(default_factory=ReadOptions)
    qrels_options: ReadOptions = field(default_factory=ReadOptions)
    given: frozenset[str] = frozenset()
    weights: Any = None
    tie_report: bool = False


def evaluate(request: Request, show_progress: ShowProgress | None = None) -> Report:
    """Score every run against the judgments and decide the gates.

    Raises RankevalError for input that cannot be read or fits no judgment.
    """
    from rankeval_cli.judgments import load_judgments

    show = show_progress or (lambda label, size: nullcontext(lambda read: None))
    if not request.runs:
        raise UsageError("there is no run to score", hint="give one run or more")
    check_ties(_with_gates(request.metrics, request.gates), request.rules)
    if request.qrels is None:
        return _evaluate_labelled(request, show)
    names = names_of(request.runs)
    tables, qrels = open_all(request.runs, request.qrels, names, request.run_options, request.qrels_options)
    plan, weights = _plan(request, tables), weights_of(_weights_source(request))
    rules = plan.rules
    if rules.ignore_label is not None:
        raise UsageError("--ignore-label is for labelled tables", hint="leave it out, or choose --judged-only")
    with show(qrels.path, qrels.size_bytes) as progress:
        judgments = load_judgments(qrels, rules, PurePath(qrels.path).name, progress)
    exclude = None if rules.exclude is None else read_pairs(rules.exclude)
    runs, verdicts, warnings = [], [], list(judgments.warnings)
    for name, table in zip(names, tables, strict=True):
        with show(name, table.size_bytes) as progress:
            run, noticed = _score_run(name, table, judgments, plan, exclude, weights, progress)
        verdicts += [decide(gate, name, run.results, run.scores, run.coverage, rules) for gate in request.gates]
        runs.append(_only_asked(run, request.metrics))
        warnings += noticed
    check_columns(request.run_options, request.qrels_options)
    warnings = [*_spelling_warnings(request), *warnings]
    return _report(rules, judgments, tuple(runs), tuple(verdicts), tuple(warnings))


def _evaluate_labelled(request: Request, show: ShowProgress) -> Report:
    """As `evaluate`, for one table that is run and judgments."""
    from rankeval_cli.labelled import LabelledAligner, finished, labels_of
    from rankeval_cli.readers.labelled import open_labelled

    if len(request.runs) > 1:
        raise UsageError("several runs without judgments", hint="score one labelled table at a time")
    source, name = opened(request.runs[0]), names_of(request.runs)[0]
    options = replace(
        request.run_options, grade_map=request.qrels_options.grade_map, ignore_label=request.rules.ignore_label
    )
    table = open_labelled(source, options, name)
    plan, weights = _plan(request, [table]), weights_of(_weights_source(request))
    rules, metrics = plan.rules, plan.metrics
    labels = labels_of(table, name, rules, any(metric.measure.needs_highest(metric) for metric in metrics))
    exclude, k = None if rules.exclude is None else read_pairs(rules.exclude), _cutoff(metrics)
    make = partial(LabelledAligner, table, labels, rules, k, exclude, plan.orderings)
    with show(table.path, table.size_bytes) as progress:
        check = partial(_check_labelled, table)
        facts, every = score_parts(table, labels, plan.every_part, make, check, progress=progress)
    done = [finished(labels, scores) for scores in every]
    judgments, every = done[0][0], [scores for _, scores in done]
    if weights is None and every[0].weights is not None:
        rules = replace(rules, weights="list_weight")
    every = [weighed(scores, judgments, weights, rules) for scores in every]
    run, warnings = _run_report(name, table, judgments, facts, every, plan, k)
    check_columns(request.run_options, request.qrels_options)
    warnings = [*_spelling_warnings(request), *judgments.warnings, *warnings]
    verdicts = [decide(gate, name, run.results, run.scores, run.coverage, rules) for gate in request.gates]
    return _report(rules, judgments, (_only_asked(run, request.metrics),), tuple(verdicts), tuple(warnings))


def _check_labelled(table: Table, facts: Facts) -> None:
    if not facts.rows:
        raise InputError("holds no row that counts", table.path, "look at its mask, and at --ignore-label")


def _plan(request: Request, tables: Iterable[Table]) -> Plan:
    """What to score by which rules, now that is known whether documents have ids that could break ties."""
    nameless = next((table.path for table in tables if not table.has_doc_ids), None)
    preset = None
    if request.rules.preset is not None:
        from rankeval_cli.presets.registry import find

        preset = find(request.rules.preset)
    shown = request.metrics if request.tie_report else ()
    metrics = _with_gates(request.metrics, request.gates)
    return planned(metrics, request.rules, request.given, preset, nameless, shown)


def _weights_source(request: Request) -> Any:
    return request.rules.weights if request.weights is None else request.weights


def _report(
    rules: Rules,
    judgments: Judgments,
    runs: tuple[RunReport, ...],
    verdicts: tuple[Verdict, ...],
    warnings: tuple[str, ...],
) -> Report:
    return Report(
        version=rankeval_cli.__version__,
        rules=rules,
        qrels=judgments.source,
        digest=judgments.digest,
        judged_queries=len(judgments.queries),
        runs=runs,
        gates=verdicts,
        warnings=warnings,
    )


def _with_gates(metrics: tuple[Metric, ...], gates: Iterable[Gate]) -> tuple[Metric, ...]:
    known = {metric.canonical: metric for gate in gates for metric in gate.metrics}
    asked = {metric.canonical for metric in metrics}
    return (*metrics, *(metric for canonical, metric in known.items() if canonical not in asked))


def _only_asked(run: RunReport, metrics: tuple[Metric, ...]) -> RunReport:
    """The run's report without what only a gate asked for (which stands behind the metrics)."""
    n, scores = len(metrics), run.scores
    shown = replace(
        scores,
        metrics=scores.metrics[:n],
        values=scores.values[:n],
        undefined=scores.undefined[:n],
        propagate=scores.propagate[:n],
    )
    return replace(run, results=run.results[:n], scores=shown)


def _score_run(
    name: str,
    table: Table,
    judgments: Judgments,
    plan: Plan,
    exclude: pl.DataFrame | None,
    weights: Mapping[str, float] | None,
    progress: Progress,
) -> tuple[RunReport, list[str]]:
    """One run's report and its warnings."""
    from rankeval_cli.align import Aligner

    k = _cutoff(plan.metrics)
    make = partial(Aligner, table, judgments, plan.rules, k, exclude, plan.orderings)
    check = partial(_check_run, table, judgments, plan.rules)
    facts, every = score_parts(table, judgments, plan.every_part, make, check, progress=progress)
    every = [weighed(scores, judgments, weights, plan.rules) for scores in every]
    return _run_report(name, table, judgments, facts, every, plan, k)


def _cutoff(metrics: Iterable[Metric]) -> int:
    """The rank at which ties and judged documents are counted."""
    return max((metric.cutoff for metric in metrics if metric.cutoff), default=DEFAULT_CUTOFF)


def _run_report(
    name: str, table: Table, judgments: Judgments, facts: Facts, every: Sequence[Scores], plan: Plan, k: int
) -> tuple[RunReport, list[str]]:
    """The report of one run from the scores of every part of the plan, and its warnings."""
    from rankeval_cli.coverage import coverage_of, warnings_of
    from rankeval_cli.inference import summarize

    scores, variants = plan.collected(every)
    coverage, own = coverage_of(judgments, facts, plan.rules, k), plan.own_rules()
    results = summarize(scores, plan.rules)
    ties = tie_results(results, variants, plan.rules) if variants else ()
    results = tuple(replace(result, rules=own.get(result.canonical, {})) for result in results)
    source = Source(name, table.path, table.format, facts.rows, table.tag, table.has_doc_ids)
    noticed = [*table.warnings, *warnings_of(coverage, facts, judgments, plan.rules)]
    return RunReport(source, coverage, results, scores, ties), [f"{name}: {warning}" for warning in noticed]


def score_run(
    table: Table,
    judgments: Judgments,
    metrics: tuple[Metric, ...],
    rules: Rules,
    make_aligner: Callable[[], Aligner],
    check: Callable[[Facts], None],
    watch: Callable[[Ranked], None] = lambda ranked: None,
    progress: Progress | None = None,
) -> tuple[Facts, Scores]:
    """Align and score a run: what was noticed in it, and its scores. See `score_parts`."""
    facts, (scores,) = score_parts(
        table, judgments, [Part(metrics, rules)], make_aligner, check, watch=watch, progress=progress
    )
    return facts, scores


def score_parts(
    table: Table,
    judgments: Judgments,
    parts: Sequence[Part],
    make_aligner: Callable[[], Aligner],
    check: Callable[[Facts], None],
    watch: Callable[[Ranked], None] = lambda ranked: None,
    progress: Progress | None = None,
) -> tuple[Facts, list[Scores]]:
    """Align and score a run that is read once: what was noticed in it, and the scores of each part.

    parts : measures with their rules; the first part's decide which queries are scored and how rankings are cut
    make_aligner : gives one that has the ordering of every part; called once, or twice when queries do not stand
        together and the run is read again
    check : raises what is wrong with the run as a whole, once it has been read
    watch : is given every block of rankings, those of unanswered queries last; begins anew when the run is read again
    """
    from rankeval_cli.readers.blocks import Ungrouped, gathered, grouped
    from rankeval_cli.scoring import Scorer

    def read(blocks: Iterator[Block]) -> tuple[Facts, list[Scores]]:
        aligner = make_aligner()
        return _pass(blocks, aligner, [Scorer(part.metrics, judgments, part.rules) for part in parts], check, watch)

    with suppress(Ungrouped):
        return read(grouped(table, progress))
    return read(gathered(table, progress))


def _pass(
    blocks: Iterator[Block],
    aligner: Aligner,
    scorers: Sequence[Scorer],
    check: Callable[[Facts], None],
    watch: Callable[[Ranked], None],
) -> tuple[Facts, list[Scores]]:
    """Align and score all blocks, the next one being read meanwhile; then the queries that no block answered."""
    from rankeval_cli.readers import prefetch

    places = [aligner.orderings.index(scorer.rules.ordering) for scorer in scorers]

    def add(ranked: list[Ranked]) -> None:  # a function: no block stays in memory while the next one is aligned
        watch(ranked[0])
        for scorer, place in zip(scorers, places, strict=True):
            scorer.add(ranked[place])

    for block in prefetch(blocks):
        add(aligner.align_each(block))
    check(aligner.facts)
    unanswered = aligner.unanswered()
    watch(unanswered)
    for scorer in scorers:
        if scorer.rules.missing != "skip":  # else no other rule may look at these queries
            scorer.add(unanswered)
    return aligner.facts, [scorer.finish(aligner.facts.answered) for scorer in scorers]


def _check_run(table: Table, judgments: Judgments, rules: Rules, facts: Facts) -> None:
    if not facts.rows:
        raise InputError("is empty: no results", table.path, "check that the retrieval wrote its results")
    if not facts.answered.any():
        raise _nothing_in_common(table, judgments, facts)
    _check_missing(table, judgments, facts, rules)


def _nothing_in_common(table: Table, judgments: Judgments, facts: Facts) -> InputError:
    return InputError(
        f"no query in common with the judgments: the run has `{min(facts.unjudged)}`, "
        f"{judgments.source.path} has `{judgments.queries[0]}`",
        table.path,
        "check that both files number the queries alike, and that the judgments come last",
    )


def _check_missing(table: Table, judgments: Judgments, facts: Facts, rules: Rules) -> None:
    from rankeval_cli.coverage import missing_text

    if rules.missing == "error" and not facts.answered.all():
        raise InputError(
            f"{missing_text(judgments, facts)} no results",
            table.path,
            "complete the run, or choose --missing zero or skip",
        )


def _spelling_warnings(request: Request) -> list[str]:
    """What the spelling of a measure should tell its user (`hits` means a count here)."""
    metrics = _with_gates(request.metrics, request.gates)
    return list(dict.fromkeys(metric.warning for metric in metrics if metric.warning))
