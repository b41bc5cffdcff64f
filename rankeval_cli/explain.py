"""One query taken apart: its ranking, what each rank adds to the measures, and the relevant documents it lacks.

What rank i adds is the value of the ranking cut behind i less that of the ranking cut behind i - 1, both from the
measure's own kernel: one way for all measures, and the parts add up to the value.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from rankeval_cli.errors import InputError, UsageError, did_you_mean
from rankeval_cli.findings import Explanation, MeasureOfQuery, Missed, QueryRanking, RankRow, Status
from rankeval_cli.flow import Request, ShowProgress, cutoff_of, plan_for
from rankeval_cli.model import Judgments, Ordering, Rules
from rankeval_cli.opening import check_columns, names_of, open_all, opened
from rankeval_cli.plan import Part, Plan
from rankeval_cli.readers import read_pairs
from rankeval_cli.ties import check_ties

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.cuts import Cuts
    from rankeval_cli.readers.format import Table
    from rankeval_cli.tracing import Trace, Traced, Tracer

NEAR_QUERIES = 5_000  # ids on each side in which one that is spelt alike is looked for: 0.2 s
STATUS: tuple[Status, ...] = ("unjudged", "pooled", "judged")


@dataclass(frozen=True)
class _Case:
    """What the rankings of all runs share.

    level : the lowest grade that is relevant for any measure
    grades : document -> grade of the query, as judged
    """

    plan: Plan
    judgments: Judgments
    query: str
    top: int
    level: float
    grades: dict[str, float]


def explain(request: Request, query: str, top: int | None, show: ShowProgress) -> Explanation:
    """Take one query of one run, or of two, apart.

    top : ranks to show besides relevant documents further down; the largest cutoff of the measures when None, else 10
    Raises InputError for a query that nobody judged, naming close matches, and for input that cannot be read.
    """
    check_ties(request.metrics, request.rules)
    shown = top or cutoff_of(request.metrics)
    if request.qrels is None:
        return _explain_labelled(request, query, shown, show)
    from rankeval_cli.judgments import load_judgments

    names = names_of(request.runs)
    tables, qrels = open_all(request.runs, request.qrels, names, request.run_options, request.qrels_options)
    plan = plan_for(request, tables)
    with show(qrels.path, qrels.size_bytes) as progress:
        judgments = load_judgments(qrels, plan.rules, PurePath(qrels.path).name, progress)
    index = bisect_left(judgments.queries, query)
    if judgments.queries[index : index + 1] != [query]:
        raise _unknown(query, judgments.queries, qrels.path)
    case = _Case(plan, judgments, query, shown, _level(plan), _grades(judgments, index))
    rankings, warnings = [], list(judgments.warnings)
    for name, table in zip(names, tables, strict=True):
        found, noticed = _of_run(name, table, case, index, show)
        rankings += found
        warnings += noticed
    check_columns(request.run_options, request.qrels_options)
    return Explanation(query, judgments.source.name, plan.rules.to_dict(), tuple(rankings), tuple(warnings))


def _unknown(query: str, known: Sequence[str], where: str) -> InputError:
    """known : all query ids in ascending byte order"""
    place = bisect_left(known, query)
    hint = did_you_mean(query, known[max(0, place - NEAR_QUERIES) : place + NEAR_QUERIES])
    named = ", ".join(f"`{name}`" for name in known[:3]) + (", ..." if len(known) > 3 else "")
    return InputError(f"no query `{query}` is judged here", where, hint or f"queries are {named}")


def _level(plan: Plan) -> float:
    parts = [(metric, part.rules) for part in plan.parts for metric in part.metrics]
    return min(rules.relevance_level if metric.level is None else metric.level for metric, rules in parts)


def _grades(judgments: Judgments, index: int) -> dict[str, float]:
    import polars as pl

    rows = judgments.frame.filter(pl.col("query") == index)
    return dict(rows.select("doc", "grade").iter_rows())


def _of_run(
    name: str, table: Table, case: _Case, index: int, show: ShowProgress
) -> tuple[list[QueryRanking], list[str]]:
    """The rankings of one run, and its warnings."""
    from rankeval_cli.tracing import Tracer, trace, unanswered

    plan, rules, query = case.plan, case.plan.rules, case.query
    exclude = None if rules.exclude is None else read_pairs(rules.exclude)
    aligner = Tracer(table, case.judgments, rules, case.top, exclude, plan.orderings)
    with show(name, table.size_bytes) as progress:
        found = trace(aligner, [query], progress)
    if not found.has_rows:
        raise InputError("is empty: no results", table.path, "check that the retrieval wrote its results")
    warnings = [*table.warnings, *_noticed(found, rules)]
    traced = found.rankings.get(query)
    if traced is None:
        if rules.missing == "error":
            hint = "complete the run, or choose --missing zero or skip"
            raise InputError(f"judged query `{query}` has no results", table.path, hint)
        outcome = "left out" if rules.missing == "skip" else "counted as an empty ranking"
        warnings.append(f"query {query} has no results here: {outcome} (--missing {rules.missing})")
        warnings += _spelt_otherwise(query, table)
        traced = (unanswered(aligner, index),) * len(aligner.orderings)
    rankings = _rankings(name, table, case, aligner, traced, found)
    return rankings, [f"{name}: {warning}" for warning in warnings]


def _spelt_otherwise(query: str, table: Table) -> list[str]:
    """What to say of a query that the run may have under another spelling; reads the run again."""
    from rankeval_cli.coverage import respelt

    known = {name for frame in table.frames() for name in frame["query"].unique()}
    pair = respelt(known, [query])
    return [f"query ids may be spelt differently: `{pair[0]}` here, `{query}` in the judgments"] if pair else []


def _noticed(found: Trace, rules: Rules) -> Iterator[str]:
    facts = found.facts
    if facts.duplicates:
        documents = "document" if facts.duplicates == 1 else "documents"
        yield f"{facts.duplicates:,} repeated {documents} left out (--duplicates {rules.duplicates})"
    if facts.self_hits and not rules.exclude_self:
        yield "a result is the query itself (same id): --exclude-self leaves it out"


def _explain_labelled(request: Request, query: str, top: int, show: ShowProgress) -> Explanation:
    """As `explain`, for one table that is run and judgments."""
    from rankeval_cli.labelled import labels_of
    from rankeval_cli.readers.labelled import open_labelled
    from rankeval_cli.tracing import LabelsTracer, trace

    if len(request.runs) > 1:
        raise UsageError("several runs without judgments", hint="explain one labelled table at a time")
    name, first = names_of(request.runs)[0], plan_for(request, []).rules
    options = replace(
        request.run_options,
        grade_map=request.qrels_options.grade_map,
        ignore_label=first.ignore_label,
        item_weights=first.list_weights,
    )
    table = open_labelled(opened(request.runs[0]), options, name)
    plan = plan_for(request, [table])
    labels = labels_of(table, name, plan.rules, any(m.measure.needs_highest(m) for m in plan.metrics))
    exclude = None if plan.rules.exclude is None else read_pairs(plan.rules.exclude)
    aligner = LabelsTracer(table, labels, plan.rules, top, exclude, plan.orderings)
    with show(name, table.size_bytes) as progress:
        found = trace(aligner, [query], progress)
    if query not in found.rankings:
        raise _not_in_table(query, table, found)
    case = _Case(plan, labels, query, top, _level(plan), _labels(found))
    rankings = _rankings(name, table, case, aligner, found.rankings[query], found)
    check_columns(request.run_options, request.qrels_options)
    warnings = [f"{name}: {warning}" for warning in (*table.warnings, *_noticed(found, plan.rules))]
    return Explanation(query, name, plan.rules.to_dict(), tuple(rankings), tuple(warnings))


def _not_in_table(query: str, table: Table, found: Trace) -> InputError:
    if found.frame.height:
        return InputError(f"query `{query}` has no row that counts", table.path, "look at its mask and labels")
    known = sorted({name for frame in table.frames() for name in frame["query"].unique()})
    return _unknown(query, known, table.path)


def _labels(found: Trace) -> dict[str, float]:
    """Document -> label of the query; {} where documents have no ids."""
    if "doc" not in found.frame.columns:
        return {}
    rows = found.frame.filter(found.frame["grade"].is_not_null())
    return dict(rows.select("doc", "grade").iter_rows())


def _rankings(
    name: str, table: Table, case: _Case, aligner: Tracer, traced: Sequence[Traced], found: Trace
) -> list[QueryRanking]:
    """One ranking for all parts of the plan that see the same one."""
    groups: dict[tuple[Ordering, bool], list[Part]] = {}
    for part in case.plan.parts:
        groups.setdefault((part.rules.ordering, part.rules.judged_only), []).append(part)
    return [
        _ranking(name, table, case, parts, traced[aligner.orderings.index(ordering)], found)
        for (ordering, _), parts in groups.items()
    ]


def _ranking(name: str, table: Table, case: _Case, parts: list[Part], traced: Traced, found: Trace) -> QueryRanking:
    import numpy as np

    from rankeval_cli.align import judged_only
    from rankeval_cli.cuts import cuts_of
    from rankeval_cli.tracing import Traced

    rules, ranked = parts[0].rules, traced.ranked
    rows = traced.rows[: len(ranked.grade)]
    if rules.judged_only:
        rows = rows.filter(ranked.status == 2)
        ranked = judged_only(ranked)
    is_relevant = (ranked.grade >= case.level) & (ranked.status == 2)
    below = np.flatnonzero(is_relevant[case.top :] | (ranked.grade[case.top :] > 0.0)) + case.top + 1
    ranks = [*range(1, min(case.top, len(ranked.grade)) + 1), *below.tolist()]
    is_answered = case.query in found.rankings
    cuts: dict[str, Cuts] = {}
    for part in parts:
        each = cuts_of(ranked, part, case.judgments, case.query, is_answered, ranks)
        cuts.update(zip((metric.written for metric in part.metrics), each, strict=True))
    written = [metric.written for metric in case.plan.metrics if metric.written in cuts]
    shown = Traced(ranked, rows)
    num_relevant = int(np.count_nonzero(ranked.ideal >= case.level))
    return QueryRanking(
        run=name,
        path=table.path,
        format=table.format,
        rules={**asdict(rules.ordering), "judged_only": rules.judged_only},
        measures=tuple(_measure(measure, cuts[measure]) for measure in written),
        results=len(ranked.grade),
        top=case.top,
        rows=tuple(_rows(shown, case, ranks, is_relevant.tolist(), [cuts[measure] for measure in written])),
        missed=tuple(_missed(case, traced, rules, found)),
        num_relevant=num_relevant,
        num_missed=num_relevant - int(np.count_nonzero(is_relevant)),
    )


def _measure(name: str, cuts: Cuts) -> MeasureOfQuery:
    value = None if cuts.value != cuts.value else cuts.value
    return MeasureOfQuery(name, value, cuts.adds is not None, cuts.note)


def _rows(
    shown: Traced, case: _Case, ranks: Sequence[int], is_relevant: Sequence[bool], cuts: Sequence[Cuts]
) -> Iterator[RankRow]:
    from rankeval_cli.cuts import tied_groups

    ranked, rows = shown.ranked, shown.rows
    starts, stops = tied_groups(ranked.score)
    docs = rows["doc"].to_list() if "doc" in rows.columns else None
    scores = _scores(rows)
    ideal = ranked.ideal.tolist()
    for place, rank in enumerate(ranks):
        i = rank - 1
        yield RankRow(
            rank=rank,
            doc=None if docs is None else docs[i],
            score=None if scores is None else scores[i],
            grade=_grade(shown, case, docs, i),
            status=STATUS[ranked.status[i]],
            is_relevant=is_relevant[i],
            is_tied=stops[i] - starts[i] > 1,
            ideal=ideal[i] if i < len(ideal) else None,
            adds=tuple(None if each.adds is None else each.adds[place] for each in cuts),
        )


def _grade(shown: Traced, case: _Case, docs: list[str] | None, i: int) -> float | None:
    """The grade as judged; what the rules made of it is in `Ranked`."""
    if docs is not None:
        return case.grades.get(docs[i])
    return float(shown.ranked.grade[i]) if shown.ranked.status[i] == 2 else None


def _scores(rows: pl.DataFrame) -> list[float] | None:
    """The scores as the run has them; None where it has ranks alone, of which readers make scores."""
    scores: list[float] = rows["score"].to_list()
    if "rank" in rows.columns and rows["rank"].null_count() == 0 and (rows["score"] == -rows["rank"]).all():
        return None
    return scores


def _missed(case: _Case, traced: Traced, rules: Rules, found: Trace) -> Iterator[Missed]:
    """The relevant documents that are not ranked, best grade first."""
    in_order = {doc: rank for rank, doc in enumerate(traced.rows["doc"], 1)} if "doc" in traced.rows.columns else {}
    kept = len(traced.ranked.grade)
    in_file = set(found.frame["doc"].to_list()) if "doc" in found.frame.columns else set()
    relevant = [(doc, grade) for doc, grade in case.grades.items() if grade >= case.level]
    for doc, grade in sorted(relevant, key=lambda pair: (-pair[1], pair[0].encode())):
        rank = in_order.get(doc)
        if rank is None:
            yield Missed(doc, grade, _why_out(rules) if doc in in_file else None)
        elif rank > kept:
            yield Missed(doc, grade, f"cut off at rank {rank:,} (--depth {rules.depth})")


def _why_out(rules: Rules) -> str:
    options = [*(["--exclude"] if rules.exclude else []), *(["--exclude-self"] if rules.exclude_self else [])]
    return f"left out ({' or '.join(options)})" if options else "not ranked"
