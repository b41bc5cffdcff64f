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
from rankeval_cli.model import Judgments, Ordering, Ranked, Report, Rules, RunReport, Scores, Source, Ties, Verdict
from rankeval_cli.opening import check_columns, names_of, open_all, opened
from rankeval_cli.readers import ReadOptions, read_pairs
from rankeval_cli.ties import Part, check_ties, in_force, merged, tie_results, variants

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
    metrics : what the report shows; a gate's own metrics are computed besides
    given : names of the rules that the user gave; the others may follow from what is read
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
    request = replace(request, rules=_rules_in_force(request, tables))
    rules, weights = request.rules, _weights(request)
    if rules.ignore_label is not None:
        raise UsageError("--ignore-label is for labelled tables", hint="leave it out, or choose --judged-only")
    with show(qrels.path, qrels.size_bytes) as progress:
        judgments = load_judgments(qrels, rules, PurePath(qrels.path).name, progress)
    exclude = None if rules.exclude is None else read_pairs(rules.exclude)
    runs, verdicts, warnings = [], [], list(judgments.warnings)
    for name, table in zip(names, tables, strict=True):
        with show(name, table.size_bytes) as progress:
            run, noticed = _score_run(name, table, judgments, request, exclude, weights, progress)
        verdicts += [decide(gate, name, run.results, run.scores, run.coverage, rules) for gate in request.gates]
        runs.append(_only_asked(run, request.metrics))
        warnings += noticed
    check_columns(request.run_options, request.qrels_options)
    warnings = [*_spelling_warnings(request), *warnings]
    return _report(request, judgments, tuple(runs), tuple(verdicts), tuple(warnings))


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
    rules, metrics = _rules_in_force(request, [table]), _with_gates(request.metrics, request.gates)
    weights = _weights(request)
    labels = labels_of(table, name, rules, any(metric.measure.needs_highest(metric) for metric in metrics))
    exclude, k = None if rules.exclude is None else read_pairs(rules.exclude), _cutoff(metrics)
    parts, extra = in_force(metrics, rules), _extra(request, rules)
    make = partial(LabelledAligner, table, labels, rules, k, exclude, _orderings([*parts, *extra.values()]))
    with show(table.path, table.size_bytes) as progress:
        check, every_part = partial(_check_labelled, table), [*parts, *extra.values()]
        facts, every = score_parts(table, labels, every_part, make, check, progress=progress)
    judgments, scores = finished(labels, merged(metrics, every[: len(parts)]))
    others = [finished(labels, other)[1] for other in every[len(parts) :]]
    if weights is None and scores.weights is not None:
        rules = replace(rules, weights="list_weight")
    every = [_weighed(one, judgments, weights, rules) for one in (scores, *others)]
    run, warnings = _run_report(name, table, judgments, facts, every[0], rules, k)
    run = _with_ties(run, dict(zip(extra, every[1:], strict=True)), rules)
    request = replace(request, rules=rules)
    check_columns(request.run_options, request.qrels_options)
    warnings = [*_spelling_warnings(request), *judgments.warnings, *warnings]
    verdicts = [decide(gate, name, run.results, run.scores, run.coverage, rules) for gate in request.gates]
    return _report(request, judgments, (_only_asked(run, request.metrics),), tuple(verdicts), tuple(warnings))


def _check_labelled(table: Table, facts: Facts) -> None:
    if not facts.rows:
        raise InputError("holds no row that counts", table.path, "look at its mask, and at --ignore-label")


def _rules_in_force(request: Request, tables: Iterable[Table]) -> Rules:
    """The rules, with another tie rule where documents have no ids that could break ties.

    Raises UsageError when the user asked for ids to break them.
    """
    rules = request.rules
    nameless = [table.path for table in tables if not table.has_doc_ids]
    if not nameless or rules.ties not in ("docid", "docid-asc"):
        return rules
    if "ties" in request.given:
        hint = "choose --ties expected, random or file, or name the column: --columns doc=NAME"
        raise UsageError(f"--ties {rules.ties} needs document ids, and {nameless[0]} has none", hint=hint)
    metrics = _with_gates(request.metrics, request.gates)
    has_form = rules.depth is None and any(metric.expected is not None for metric in metrics)
    return replace(rules, ties="expected" if has_form else "random")


def _weights(request: Request) -> dict[str, float] | None:
    """The weights of queries that the user gave, from memory or a file."""
    from rankeval_cli.readers.weights import read_weights

    source = request.rules.weights if request.weights is None else request.weights
    return None if source is None else read_weights(source)


def _weighed(scores: Scores, judgments: Judgments, weights: Mapping[str, float] | None, rules: Rules) -> Scores:
    """The scores with the weights of their queries; those of the user win over those of a table.

    Raises InputError naming a judged query that has no weight, or when every weight is 0.
    """
    import numpy as np

    if weights is not None:
        missing = [query for query in judgments.queries if query not in weights]
        if missing:
            more = f" ({len(missing):,} such queries)" if len(missing) > 1 else ""
            what = f"no weight for the judged query `{missing[0]}`{more}"
            raise InputError(what, rules.weights, "give every judged query a weight; 0 leaves it out")
        scores = replace(scores, weights=np.array([weights[query] for query in scores.queries], dtype=np.float64))
    if scores.weights is not None and len(scores.queries) and not scores.weights.any():
        raise InputError("every judged query has weight 0", rules.weights, "give one query or more a weight above 0")
    return scores


def _report(
    request: Request,
    judgments: Judgments,
    runs: tuple[RunReport, ...],
    verdicts: tuple[Verdict, ...],
    warnings: tuple[str, ...],
) -> Report:
    return Report(
        version=rankeval_cli.__version__,
        rules=request.rules,
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
    request: Request,
    exclude: pl.DataFrame | None,
    weights: Mapping[str, float] | None,
    progress: Progress,
) -> tuple[RunReport, list[str]]:
    """One run's report and its warnings."""
    from rankeval_cli.align import Aligner

    rules, metrics = request.rules, _with_gates(request.metrics, request.gates)
    k, parts, extra = _cutoff(metrics), in_force(metrics, rules), _extra(request, rules)
    every_part = [*parts, *extra.values()]
    make = partial(Aligner, table, judgments, rules, k, exclude, _orderings(every_part))
    check = partial(_check_run, table, judgments, rules)
    facts, every = score_parts(table, judgments, every_part, make, check, progress=progress)
    every = [_weighed(scores, judgments, weights, rules) for scores in every]
    run, warnings = _run_report(name, table, judgments, facts, merged(metrics, every[: len(parts)]), rules, k)
    return _with_ties(run, dict(zip(extra, every[len(parts) :], strict=True)), rules), warnings


def _extra(request: Request, rules: Rules) -> dict[Ties, Part]:
    """What a tie report needs besides the measures under the rules in force."""
    return variants(request.metrics, rules) if request.tie_report else {}


def _orderings(parts: Sequence[Part]) -> list[Ordering]:
    return [part.rules.ordering for part in parts]


def _with_ties(run: RunReport, scored: Mapping[Ties, Scores], rules: Rules) -> RunReport:
    """The run's report with what the scores of `variants` say of ties."""
    return replace(run, ties=tie_results(run.results, scored, rules)) if scored else run


def _cutoff(metrics: Iterable[Metric]) -> int:
    """The rank at which ties and judged documents are counted."""
    return max((metric.cutoff for metric in metrics if metric.cutoff), default=DEFAULT_CUTOFF)


def _run_report(
    name: str, table: Table, judgments: Judgments, facts: Facts, scores: Scores, rules: Rules, k: int
) -> tuple[RunReport, list[str]]:
    from rankeval_cli.coverage import coverage_of, warnings_of
    from rankeval_cli.inference import summarize

    coverage = coverage_of(judgments, facts, rules, k)
    source = Source(name, table.path, table.format, facts.rows, table.tag, table.has_doc_ids)
    run = RunReport(source, coverage, summarize(scores, rules), scores)
    return run, [f"{name}: {warning}" for warning in [*table.warnings, *warnings_of(coverage, facts, judgments, rules)]]


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
