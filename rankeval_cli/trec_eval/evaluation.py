"""From two files to the values of every line, through the flow that the program uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from rankeval_cli.flow import DEFAULT_CUTOFF, score_run
from rankeval_cli.judgments import load_judgments
from rankeval_cli.readers import open_input
from rankeval_cli.trec_eval.options import COMPUTING, NO_LIMIT, NOTHING, Options, Refusal, check_files
from rankeval_cli.trec_eval.reading import LenientTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.coverage import Facts
    from rankeval_cli.model import Judgments
    from rankeval_cli.trec_eval.alignment import DropInRules
    from rankeval_cli.trec_eval.selection import Line


@dataclass(frozen=True)
class Evaluated:
    """The values of Q queries in ascending byte order of their ids.

    answered : bool (Q,), whether the run has results for the query
    values : output name -> float64 (Q,), for every line that is a number
    signs : the relstring of each query, as long as the longest that is printed; () when none is
    tag : of the run's last line
    warnings : what was read leniently or left out
    facts : what was read, for -D
    """

    queries: Sequence[str]
    answered: NDArray[np.bool_]
    values: Mapping[str, NDArray[np.float64]]
    signs: Sequence[str]
    tag: str
    warnings: Sequence[str] = ()
    facts: Sequence[str] = ()


def evaluate(options: Options, lines: Sequence[Line]) -> Evaluated:
    """Evaluate the run of a command line.

    Raises RankevalError: status 2 for a file that cannot be read, 4 for a document that stands twice in the ranking or
    the judgments of an evaluated query and for a run without a judged query, 7 when the query of -D is not judged.
    """
    from rankeval_cli.trec_eval.alignment import DropInAligner, Relstrings

    judged, results = _tables(options)
    rules = _rules(options)
    judgments = load_judgments(judged, rules, PurePath(judged.path).name)
    metrics = tuple(line.metric for line in lines if line.metric is not None)
    relstrings = Relstrings(max((line.length for line in lines), default=0), options.judged_only)
    facts, scores = score_run(
        results,
        judgments,
        metrics,
        rules,
        partial(DropInAligner, results, judgments, rules, DEFAULT_CUTOFF),
        partial(_check, options, judged, results, judgments),
        relstrings.watch if relstrings.length else lambda ranked: None,
    )
    kept = _kept(options, facts)
    return Evaluated(
        scores.queries,
        facts.answered[kept],
        {metric.written: _defined(row) for metric, row in zip(metrics, scores.values, strict=True)},
        [relstrings.texts[query] for query in kept.nonzero()[0].tolist()] if relstrings.length else (),
        results.tag or "",
        [*judged.notes.warnings(), *results.notes.warnings(), *_left_out(options, results.path, facts)],
        list(_told(judgments, results.path, facts)),
    )


def _tables(options: Options) -> tuple[LenientTable, LenientTable]:
    """Judgments and run, opened."""
    qrels, run = (open_input(path) for path in check_files(options))
    only, is_strict = options.debug_query, options.is_strict
    return LenientTable(qrels, "qrels", is_strict, only), LenientTable(run, "run", is_strict, only)


def _rules(options: Options) -> DropInRules:
    from rankeval_cli.trec_eval.alignment import DropInRules

    return DropInRules(
        score_precision="single" if options.release == 9 else "double",
        relevance_level=float(options.level),
        missing="zero" if options.complete else "skip",
        qrels_duplicates="first",  # `_check` looks for repeats, of evaluated queries alone
        judged_only=options.judged_only,
        depth=None if options.depth == NO_LIMIT else options.depth,
    )


def _kept(options: Options, facts: Facts) -> NDArray[np.bool_]:
    """(judged queries,) whether each is evaluated."""
    return facts.answered | options.complete


def _check(options: Options, judged: LenientTable, results: LenientTable, judgments: Judgments, facts: Facts) -> None:
    """Refuse a run without a judged query, and repeated judgments."""
    if not facts.answered.any() and (options.release == 9 or not options.complete):
        first = min(facts.unjudged, default="")
        what = f"no query in common with the judgments: the run has `{first}`, they have `{judgments.queries[0]}`"
        hint = "check that both files number the queries alike, and that the judgments come first"
        raise Refusal(NOTHING if options.release == 9 else COMPUTING, what, results.path, hint)
    if judgments.source.rows > judgments.frame.height:
        _check_repeats(judged, judgments, _kept(options, facts))


def _check_repeats(judged: LenientTable, judgments: Judgments, kept: NDArray[np.bool_]) -> None:
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


def _told(judgments: Judgments, path: str, facts: Facts) -> Iterator[str]:
    yield f"{judgments.source.path}: {judgments.source.rows:,} judgments of {len(judgments.queries):,} queries"
    answered = int(facts.answered.sum())
    unjudged = len(facts.unjudged)
    yield f"{path}: {facts.rows:,} results, for {answered:,} of these queries; queries not judged: {unjudged:,}"
