"""One query taken apart, for people and for programs.

Rows of tsv: the ranks, then the relevant documents that are missed (status `missed`, no rank), then the value of the
query (status `value`), which the ranks add up to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from rankeval_cli.findings import Explanation, MeasureOfQuery, Missed, QueryRanking, RankRow
from rankeval_cli.model import SCHEMA_VERSION
from rankeval_cli.report.layout import Cell, Grid, Group, grid
from rankeval_cli.report.listing import Listing, indented, notes, whole, widest
from rankeval_cli.report.table import INDENT, Pen
from rankeval_cli.report.text import UNDEFINED, counted, number, visible, wrapped

COLUMNS = ("run", "query", "rank", "doc", "score", "grade", "status", "relevant", "tied", "ideal")
MOST_MISSED = 20  # that a table names
SMALL = 0.1  # scores that are all smaller are shown with significant digits
GAP_ROW = "..."


def listing(found: Explanation, version: str) -> Listing:
    """The explanation in every form."""
    measures = list(dict.fromkeys(each.measure for ranking in found.rankings for each in ranking.measures))
    rows = [row for ranking in found.rankings for row in _long(found.query, ranking, measures)]
    return Listing((*COLUMNS, *measures), rows, _document(found, version), partial(_table, found))


def _long(query: str, ranking: QueryRanking, measures: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    names = [each.measure for each in ranking.measures]

    def by_measure(values: Sequence[float | None]) -> list[float | None]:
        known = dict(zip(names, values, strict=True))
        return [known.get(measure) for measure in measures]

    for row in ranking.rows:
        facts = (row.status, row.is_relevant, row.is_tied, whole(row.ideal))
        yield (ranking.run, query, row.rank, row.doc, row.score, whole(row.grade), *facts, *by_measure(row.adds))
    for missed in ranking.missed:
        rest = (None, None, *[None] * len(measures))
        yield (ranking.run, query, None, missed.doc, None, whole(missed.grade), "missed", True, *rest)
    values = by_measure([each.value for each in ranking.measures])
    yield (ranking.run, query, *[None] * 4, "value", *[None] * 3, *values)


def _document(found: Explanation, version: str) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "rankeval": version,
        "query": found.query,
        "qrels": found.qrels,
        "rules": found.rules,
        "rankings": [_ranking(ranking) for ranking in found.rankings],
        "warnings": list(found.warnings),
    }


def _ranking(ranking: QueryRanking) -> dict[str, Any]:
    names = [each.measure for each in ranking.measures]
    return {
        "run": ranking.run,
        "path": ranking.path,
        "format": ranking.format,
        "rules": ranking.rules,
        "measures": {each.measure: {"value": each.value, "note": each.note} for each in ranking.measures},
        "results": ranking.results,
        "relevant": ranking.num_relevant,
        "num_missed": ranking.num_missed,
        "ranks": [_rank(row, names) for row in ranking.rows],
        "missed": [{**asdict(missed), "grade": whole(missed.grade)} for missed in ranking.missed],
    }


def _rank(row: RankRow, names: Sequence[str]) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "doc": row.doc,
        "score": row.score,
        "grade": whole(row.grade),
        "status": row.status,
        "relevant": row.is_relevant,
        "tied": row.is_tied,
        "ideal": whole(row.ideal),
        "adds": dict(zip(names, row.adds, strict=True)),
    }


def _table(found: Explanation, pen: Pen) -> Iterator[str]:
    yield pen.paint(f"query {visible(found.query)}", "bold")
    for ranking in found.rankings:
        yield from wrapped(_headline(ranking), pen.width)
    yield from _rank_lines([_Side(ranking) for ranking in found.rankings if ranking.rows], pen)
    for ranking in found.rankings:
        yield from _missed_lines(ranking, len(found.rankings) > 1, pen)
    yield from notes(_footnotes(found), pen)


def _rank_lines(sides: Sequence[_Side], pen: Pen) -> Iterator[str]:
    """All rankings side by side where that fits, else one below the other; nothing for empty ones."""
    if not sides:
        return
    yield ""
    table = widest([_beside(sides, True, pen), _beside(sides, False, pen)], pen)
    if table is not None:
        yield from pen.draw(table)
    for side in sides if table is None else ():
        if len(sides) > 1:
            yield pen.paint(visible(side.ranking.run), "bold")
        own = widest([_beside([side], True, pen), _beside([side], False, pen), side.narrow(pen)], pen)
        yield from pen.draw(own) if own is not None else side.records(pen)
        yield from [""] if side is not sides[-1] else []


def _headline(ranking: QueryRanking) -> str:
    values = ", ".join(f"{visible(each.measure)} {number(each.value)}" for each in ranking.measures)
    found = ranking.num_relevant - ranking.num_missed
    relevant = f"{found:,} of {counted(ranking.num_relevant, 'relevant document', 'relevant documents')}"
    return f"{visible(ranking.run)}: {values}; {relevant} in {counted(ranking.results, 'result', 'results')}"


class _Side:
    """One ranking as cells; columns that say nothing are left out."""

    def __init__(self, ranking: QueryRanking) -> None:
        self.ranking = ranking
        self.rows = {row.rank: row for row in ranking.rows}
        self.shown = [place for place, each in enumerate(ranking.measures) if each.has_shares]
        self.has_docs = any(row.doc is not None for row in ranking.rows)
        self.score = _score_text([row.score for row in ranking.rows])
        self.mark = any(row.is_tied for row in ranking.rows)

    def group(self, title: str, with_scores: bool) -> Group:
        columns, align = (["document"], "<") if self.has_docs else ([], "")
        if with_scores and self.score is not None:
            columns, align = [*columns, "score"], align + ">"
        names = [visible(self.ranking.measures[place].measure) for place in self.shown]
        return Group(title, (*columns, "grade", *names), align + ">" + ">" * len(names))

    def cells(self, rank: int | None, with_scores: bool) -> list[Cell]:
        """The cells of one rank; of none beyond the end, or for the row that stands for ranks left out."""
        row = None if rank is None else self.rows.get(rank)
        if row is None:
            return [Cell("")] * len(self.group("", with_scores).columns)
        style = "dim" if row.status != "judged" else "bold" if row.is_relevant else ""
        mark = ("=" if row.is_tied else " ") if self.mark else ""
        cells = [Cell(visible(row.doc or ""), style)] if self.has_docs else []
        if with_scores and self.score is not None and row.score is not None:
            cells, mark = [*cells, Cell(self.score(row.score) + mark)], ""
        cells.append(Cell(_grade(row.grade) + mark, style))
        return [*cells, *(_share(row.adds[place]) for place in self.shown)]

    def narrow(self, pen: Pen) -> Grid:
        ranks = _with_gaps(sorted(self.rows))
        group = self.group("", False)
        cells = [[Cell(GAP_ROW if rank is None else str(rank)), *self.cells(rank, False)] for rank in ranks]
        return grid([Group("", ("rank", *group.columns), ">" + group.align)], cells, pen.measure)

    def records(self, pen: Pen) -> Iterator[str]:
        for rank in _with_gaps(sorted(self.rows)):
            if rank is None:
                yield GAP_ROW
                continue
            row = self.rows[rank]
            yield f"{rank}{INDENT}{visible(row.doc)}" if row.doc is not None else str(rank)
            facts = [f"grade {_grade(row.grade)}", *(["tied"] if row.is_tied else [])]
            for place in self.shown:
                facts.append(f"{visible(self.ranking.measures[place].measure)} {_share(row.adds[place]).text}".strip())
            yield from indented(", ".join(facts), pen)


def _beside(sides: Sequence[_Side], with_scores: bool, pen: Pen) -> Grid:
    """All rankings side by side, the grades of the ideal one at the end."""
    ranks = sorted({rank for side in sides for rank in side.rows})
    ideal = {rank: row.ideal for side in sides for rank, row in side.rows.items()}
    rows = []
    for rank in _with_gaps(ranks):
        first = Cell(GAP_ROW if rank is None else str(rank))
        best = None if rank is None else ideal[rank]
        last = Cell("" if best is None else _grade(best), "dim")
        rows.append([first, *(cell for side in sides for cell in side.cells(rank, with_scores)), last])
    titles = [visible(side.ranking.run) if len(sides) > 1 else "" for side in sides]
    groups = [side.group(title, with_scores) for side, title in zip(sides, titles, strict=True)]
    if len(sides) == 1:
        (own,) = groups
        return grid([Group("", ("rank", *own.columns, "ideal"), f">{own.align}>")], rows, pen.measure)
    return grid([Group("", ("rank",), ">"), *groups, Group("", ("ideal",), ">")], rows, pen.measure)


def _with_gaps(ranks: Sequence[int]) -> list[int | None]:
    """The ranks, None where some are left out between two."""
    shown: list[int | None] = []
    for rank in ranks:
        if shown and shown[-1] != rank - 1:
            shown.append(None)
        shown.append(rank)
    return shown


def _score_text(scores: Sequence[float | None]) -> Callable[[float], str] | None:
    """How to show scores: four decimals, or six digits where all are small; None without scores."""
    known = [abs(score) for score in scores if score is not None]
    if not known:
        return None
    return number if max(known) >= SMALL or not any(known) else lambda score: f"{score:.6g}"


def _grade(grade: float | None) -> str:
    return UNDEFINED if grade is None else f"{whole(grade)}"


def _share(share: float | None) -> Cell:
    return Cell("") if share is None else Cell(number(share), "" if share else "dim")


def _missed_lines(ranking: QueryRanking, with_name: bool, pen: Pen) -> Iterator[str]:
    if not ranking.num_missed:
        return
    yield ""
    where = f" by {visible(ranking.run)}" if with_name else ""
    title = f"{counted(ranking.num_missed, 'relevant document is', 'relevant documents are')} missed{where}"
    yield from (pen.paint(line, "bold") for line in wrapped(title, pen.width))
    shown = ranking.missed[:MOST_MISSED]
    cells = [[Cell(visible(each.doc)), Cell(_grade(each.grade)), Cell(each.why or "")] for each in shown]
    columns = 3 if any(each.why for each in shown) else 2
    table = grid([Group("", ("document", "grade", "why")[:columns], "<><"[:columns])],
                 [row[:columns] for row in cells], pen.measure)  # fmt: skip
    if shown:
        yield from pen.draw(table) if pen.fits(table) else _missed_records(shown, pen)
    if len(ranking.missed) > len(shown):
        yield from wrapped(f"... {len(ranking.missed):,} in all (-f tsv lists them)", pen.width)


def _missed_records(shown: Sequence[Missed], pen: Pen) -> Iterator[str]:
    for each in shown:
        yield visible(each.doc)
        yield from indented(f"grade {_grade(each.grade)}" + (f", {each.why}" if each.why else ""), pen)


def _footnotes(found: Explanation) -> list[str]:
    rows = [row for ranking in found.rankings for row in ranking.rows]
    texts = ["= the same score as a neighbour"] if any(row.is_tied for row in rows) else []
    if any(row.status == "unjudged" for row in rows):
        texts.append("grade -: unjudged")
    if any(row.status == "pooled" for row in rows):
        texts.append("a grade below 0 counts as unjudged")
    for ranking in found.rankings:
        texts += [_note(each) for each in ranking.measures if each.note]
    cut = [ranking for ranking in found.rankings if ranking.results > ranking.top]
    if cut:
        texts.append(f"--top N shows more than {cut[0].top:,} ranks; relevant documents below them are shown anyway")
    return list(dict.fromkeys(texts))


def _note(each: MeasureOfQuery) -> str:
    name = visible(each.measure)
    return f"{name}: {each.note}" if each.has_shares else f"no share of {name} a rank: {each.note}"
