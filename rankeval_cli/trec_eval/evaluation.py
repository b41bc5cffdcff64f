"""From two files to the values of every line, through the flow that the program uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rankeval_cli.flow import DEFAULT_CUTOFF
from rankeval_cli.passes import score_run
from rankeval_cli.readers import open_input
from rankeval_cli.trec_eval.options import COMPUTING, NO_LIMIT, NOTHING, Options, Refusal, check_files
from rankeval_cli.trec_eval.reading import LenientTable, open_qrels, open_run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.coverage import Facts
    from rankeval_cli.measures.spec import Metric
    from rankeval_cli.model import Judgments, Rules, Scores
    from rankeval_cli.trec_eval.alignment import DropInAligner, DropInRules, Relstrings
    from rankeval_cli.trec_eval.selection import Line

    Metrics = tuple[Metric, ...]


@dataclass(frozen=True)
class Evaluated:
    """The values of Q queries in ascending byte order of their ids.

    answered : bool (Q,), whether the run has results for the query
    values : for each line float64 (Q,), or None where it is no number
    signs : the relstring of each query, as long as the longest that is printed; () when none is
    tag : of the run's last line
    warnings : what was read leniently or left out
    facts : what was read, for -D
    """

    queries: Sequence[str]
    answered: NDArray[np.bool_]
    values: Sequence[NDArray[np.float64] | None]
    signs: Sequence[str]
    tag: str
    warnings: Sequence[str] = ()
    facts: Sequence[str] = ()


def evaluate(options: Options, lines: Sequence[Line]) -> Evaluated:
    """Evaluate the run of a command line.

    Raises RankevalError: status 2 for a file that cannot be read, 4 for a document that stands twice in the ranking or
    the judgments of an evaluated query, for preferences that contradict each other and for a run without a judged
    query, 7 when the query of -D is not judged.
    """
    from rankeval_cli.trec_eval.alignment import Relstrings

    judged, results = _tables(options)
    metrics = tuple(line.metric for line in lines if line.metric is not None)
    relstrings = Relstrings(max((line.length for line in lines), default=0), options.judged_only)
    try:
        facts, scores = _SCORERS[options.rel_format](options, judged, results, metrics, relstrings)
    except ArithmeticError as problem:  # no default can divide by 0, but weights such as `set_F.-1` can
        what = f"a measure cannot be computed with these parameters: {problem}"
        raise Refusal(COMPUTING, what, hint="give weights and gains of at least 0") from problem
    kept, rows = _kept(options, facts), iter(scores.values)
    return Evaluated(
        scores.queries,
        facts.answered[kept],
        [None if line.metric is None else _defined(next(rows)) for line in lines],
        [relstrings.texts[query] for query in kept.nonzero()[0].tolist()] if relstrings.length else (),
        results.tag or "",
        [*judged.notes.warnings(), *results.notes.warnings(), *_left_out(options, results.path, facts)],
        list(_told(judged, results, facts)),
    )


def _tables(options: Options) -> tuple[LenientTable, LenientTable]:
    """Judgments and run, opened."""
    qrels, run = (open_input(path) for path in check_files(options))
    only, is_strict = options.debug_query, options.is_strict
    return open_qrels(qrels, options.rel_format, is_strict, only), open_run(run, is_strict, only)


def _rules(options: Options) -> DropInRules:
    from rankeval_cli.trec_eval.alignment import DropInRules

    return DropInRules(
        score_precision="single" if options.release == 9 else "double",
        relevance_level=float(options.level),
        missing="zero" if options.complete else "skip",
        qrels_duplicates="first",  # `_check_repeats` looks for them, in evaluated queries alone
        judged_only=options.judged_only,
        depth=None if options.depth == NO_LIMIT else options.depth,
    )


def _score_qrels(
    options: Options, judged: LenientTable, results: LenientTable, metrics: Metrics, relstrings: Relstrings
) -> tuple[Facts, Scores]:
    from rankeval_cli.judgments import load_judgments

    rules = _rules(options)
    judgments = load_judgments(judged, rules, judged.path)

    def check(facts: Facts) -> None:
        _check_answers(options, results, judgments, facts)
        if judgments.source.rows > judgments.frame.height:
            _check_repeats(judged, judgments, _kept(options, facts))

    watch = relstrings.watch if relstrings.length else lambda ranked: None
    make = partial(_aligner, results, judgments, rules)
    return score_run(results, judgments, metrics, rules, make, check, watch)


def _score_groups(
    options: Options, judged: LenientTable, results: LenientTable, metrics: Metrics, relstrings: Relstrings
) -> tuple[Facts, Scores]:
    from rankeval_cli.assessments import load_groups, score_groups

    groups = load_groups(judged)
    check = partial(_check_answers, options, results, groups.layers[0])
    return score_groups(results, groups, metrics, _rules(options), partial(_aligner, results), check)


def _score_preferences(
    options: Options, judged: LenientTable, results: LenientTable, metrics: Metrics, relstrings: Relstrings
) -> tuple[Facts, Scores]:
    from rankeval_cli.assessments import Contradiction, load_preferences, score_preferences

    try:
        preferences = load_preferences(judged, options.rel_format)
    except Contradiction as problem:
        problem.code = COMPUTING
        raise
    check = partial(_check_answers, options, results, preferences.judgments)
    return score_preferences(results, preferences, metrics, _rules(options), partial(_aligner, results), check)


_SCORERS = {
    "qrels": _score_qrels,
    "qrels_jg": _score_groups,
    "prefs": _score_preferences,
    "qrels_prefs": _score_preferences,
}


def _aligner(results: LenientTable, judgments: Judgments, rules: Rules) -> DropInAligner:
    from rankeval_cli.trec_eval.alignment import DropInAligner

    return DropInAligner(results, judgments, rules, DEFAULT_CUTOFF)


def _kept(options: Options, facts: Facts) -> NDArray[np.bool_]:
    """(judged queries,) whether each is evaluated."""
    return facts.answered | options.complete


def _check_answers(options: Options, results: LenientTable, judgments: Judgments, facts: Facts) -> None:
    """Refuse a run without a judged query."""
    if facts.answered.any() or (options.complete and options.release == 10):
        return
    found = min(facts.unjudged, default=None)
    theirs = "" if found is None else f": the run has `{found}`, they have `{judgments.queries[0]}`"
    what, hint = f"no query in common with the judgments{theirs}", "the judgments come first: trec-eval QRELS RUN"
    raise Refusal(NOTHING if options.release == 9 else COMPUTING, what, results.path, hint)


def _check_repeats(judged: LenientTable, judgments: Judgments, kept: NDArray[np.bool_]) -> None:
    """Refuse judgments of which an evaluated query has one twice."""
    import polars as pl

    names = pl.Series([query for query, is_kept in zip(judgments.queries, kept, strict=True) if is_kept])
    pairs = pl.concat([frame.select("query", "doc") for frame in judged.frames()])
    repeated = pairs.filter(pl.struct("query", "doc").is_duplicated(), pl.col("query").is_in(names.implode()))
    if repeated.height:
        query, doc = repeated.row(0)
        places = ", ".join(judged.locate(query, doc)[:2])
        what = f"document `{doc}` is judged more than once in query `{query}`"
        raise Refusal(COMPUTING, what, places or judged.path, "leave one judgment of each pair")


def _defined(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values with 0 where there is none: nothing is NaN here."""
    import numpy as np

    return np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _left_out(options: Options, path: str, facts: Facts) -> Iterator[str]:
    missing = int((~facts.answered).sum())
    if missing and not options.complete:
        queries = f"{missing:,} of {len(facts.answered):,} judged queries"
        yield f"{path}: left out, {queries} that {'has' if missing == 1 else 'have'} no results here (-c counts them)"


def _told(judged: LenientTable, results: LenientTable, facts: Facts) -> Iterator[str]:
    queries, answered, others = len(facts.answered), int(facts.answered.sum()), len(facts.unjudged)
    yield f"{judged.path}: {judged.num_rows:,} judgments of {queries:,} queries"
    yield f"{results.path}: {facts.rows:,} results, for {answered:,} of these queries; queries not judged: {others:,}"
