"""The table of a terminal, in the widest layout that fits: values are never cut and cells never wrapped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rankeval_cli.model import Report, RunReport
from rankeval_cli.report.layout import Cell, Grid, Group, Paint, WidthOf, grid, lines
from rankeval_cli.report.reporter import Options
from rankeval_cli.report.text import (
    TIE_TITLES,
    UNDEFINED,
    Row,
    counted,
    group_rows,
    group_titles,
    has_intervals,
    interval,
    interval_title,
    number,
    query_cells,
    rows,
    tie_notes,
    tie_rows,
    visible,
    wrapped,
)

INDENT = "  "


@dataclass(frozen=True)
class Pen:
    """How to draw: what a text measures, how it gets a style, the line under headings, the room.

    marks : the best run carries a `*`, since nothing can be bold
    """

    measure: WidthOf
    paint: Paint
    rule: str
    width: int | None
    marks: bool

    def fits(self, table: Grid) -> bool:
        """Whether the lines of a table are no longer than the terminal is wide."""
        return self.width is None or table.width <= self.width

    def draw(self, table: Grid) -> Iterator[str]:
        """The lines of a table."""
        return lines(table, self.measure, self.paint, self.rule)


def table_lines(report: Report, options: Options, pen: Pen) -> Iterator[str]:
    """The lines of all tables: values of the queries if asked for, then the means, where scrolling ends."""
    if options.per_query:
        yield from query_lines(report, pen)
    means = _Means(report, pen)
    yield from means.lines()
    for run in report.runs:
        if run.groups:
            yield ""
            yield from _groups(run, len(report.runs) > 1, pen)
    for run in report.runs:
        if run.ties:
            yield ""
            yield from _ties(run, len(report.runs) > 1, pen)
    yield from _footnotes(report, means.marks, pen)


def query_lines(report: Report, pen: Pen) -> Iterator[str]:
    """The values of the queries of each run under its name, and a blank line."""
    names = [row.measure for row in rows(report)]
    for run in report.runs:
        yield pen.paint(visible(run.name), "bold")
        yield from _queries(run, names, pen)
        yield ""


def _queries(run: RunReport, names: list[str], pen: Pen) -> Iterator[str]:
    values = list(query_cells(run, names))
    titles = [visible(name) for name in names]
    wide = [[Cell(visible(query)), *map(Cell, cells)] for query, cells in values]
    table = grid([Group("", ("query", *titles), "<" + ">" * len(names))], wide, pen.measure)
    if pen.fits(table):
        yield from pen.draw(table)
        return
    long = [
        [Cell(visible(query)), Cell(title), Cell(cell)]
        for query, cells in values
        for title, cell in zip(titles, cells, strict=True)
    ]
    table = grid([Group("", ("query", "measure", "value"), "<<>")], long, pen.measure)
    if pen.fits(table):
        yield from pen.draw(table)
        return
    for query, cells in values:
        yield visible(query)
        yield from (f"{INDENT}{title}{INDENT}{cell}" for title, cell in zip(titles, cells, strict=True))


def _groups(run: RunReport, with_name: bool, pen: Pen) -> Iterator[str]:
    """The means of the groups of a run, as a table where that fits."""
    yield pen.paint(f"groups: {visible(run.name)}" if with_name else "groups", "bold")
    titles = [visible(title) for title in group_titles(run)]
    cells = [[Cell(visible(name)), *map(Cell, values)] for name, *values in group_rows(run)]
    table = grid([Group("", tuple(titles), "<" + ">" * (len(titles) - 1))], cells, pen.measure)
    if pen.fits(table):
        yield from pen.draw(table)
        return
    for name, *values in cells:
        yield INDENT + name.text
        yield from (f"{INDENT * 2}{title} {cell.text}" for title, cell in zip(titles[1:], values, strict=True))


def _ties(run: RunReport, with_name: bool, pen: Pen) -> Iterator[str]:
    """The tie report of a run, as a table where that fits."""
    yield pen.paint(f"ties: {visible(run.name)}" if with_name else "ties", "bold")
    cells = [[Cell(visible(measure)), *map(Cell, values)] for measure, values in tie_rows(run)]
    table = grid([Group("", ("measure", *TIE_TITLES), "<" + ">" * len(TIE_TITLES))], cells, pen.measure)
    if pen.fits(table):
        yield from pen.draw(table)
        return
    for measure, *values in cells:
        yield INDENT + measure.text
        yield from (f"{INDENT * 2}{title} {cell.text}" for title, cell in zip(TIE_TITLES, values, strict=True))


class _Means:
    """The means of all runs; the state is what every layout needs to know."""

    def __init__(self, report: Report, pen: Pen) -> None:
        self.report, self.pen = report, pen
        self.rows = rows(report)
        self.marks = pen.marks and any(row.best for row in self.rows)
        self.intervals = has_intervals(report)

    def lines(self) -> Iterator[str]:
        """The widest of: runs side by side; a row a run and measure; a table a run; values under their names."""
        tables = [self.beside()] if len(self.report.runs) == 1 else [self.beside(), self.stacked()]
        for table in tables:
            if self.pen.fits(table):
                yield from self.pen.draw(table)
                return
        narrow = [self.single(i) for i in range(len(self.report.runs))]
        fits = all(map(self.pen.fits, narrow))
        for i, (run, table) in enumerate(zip(self.report.runs, narrow, strict=True)):
            yield from [""] if i else []
            yield self.pen.paint(visible(run.name), "bold")
            yield from self.pen.draw(table) if fits else self.records(i)

    def beside(self) -> Grid:
        titles, align = self.columns()
        groups = [Group(visible(run.name), titles, align) for run in self.report.runs]
        cells = [
            [Cell(visible(row.measure)), *(cell for i in range(len(groups)) for cell in self.values(row, i))]
            for row in self.rows
        ]
        return grid([Group("", ("measure",), "<"), *groups], cells, self.pen.measure)

    def stacked(self) -> Grid:
        titles, align = self.columns()
        cells = [
            [Cell("" if i else visible(row.measure)), Cell(visible(run.name)), *self.values(row, i)]
            for row in self.rows
            for i, run in enumerate(self.report.runs)
        ]
        return grid([Group("", ("measure", "run", *titles), "<<" + align)], cells, self.pen.measure)

    def single(self, run: int) -> Grid:
        titles, align = self.columns()
        cells = [[Cell(visible(row.measure)), *self.values(row, run)] for row in self.rows]
        return grid([Group("", ("measure", *titles), "<" + align)], cells, self.pen.measure)

    def records(self, run: int) -> Iterator[str]:
        for row in self.rows:
            yield INDENT + visible(row.measure)
            values = (self.pen.paint(cell.text, cell.style) for cell in self.values(row, run) if cell.text)
            yield INDENT * 2 + INDENT.join(values)

    def columns(self) -> tuple[tuple[str, ...], str]:
        """Headings and alignment of the columns of one run."""
        titles: list[str] = [self.report.rules.aggregate]
        titles += [interval_title(self.report)] if self.intervals else []
        return tuple(titles), ">" + "<" * self.intervals

    def values(self, row: Row, run: int) -> list[Cell]:
        """The cells of one measure of one run."""
        result = row.results[run]
        mean = number(result.value if result else None, row.is_count)
        is_best = run in row.best
        mark = ("*" if is_best else " ") if self.marks else ""
        cells = [Cell(mean + mark, "bold" if is_best else "")]
        cells += [Cell(interval(result) if result else UNDEFINED, "dim")] if self.intervals else []
        return cells


def _footnotes(report: Report, has_marks: bool, pen: Pen) -> Iterator[str]:
    notes = ["* best run"] if has_marks else []
    notes += [f"over {count}: {', '.join(names)}" for count, names in _counts(report).items()]
    notes += [f"{kind} {', '.join(names)}: {note}" for (kind, note), names in _reasons(report).items()]
    notes += tie_notes(report)
    if notes:
        yield ""
    for note in notes:
        yield from (pen.paint(line, "dim") for line in wrapped(note, pen.width))


def _counts(report: Report) -> dict[str, list[str]]:
    """The measures that are not over all judged queries, by how many they are over."""
    counts: dict[str, list[str]] = {}
    for run in report.runs:
        where = f" ({visible(run.name)})" if len(report.runs) > 1 else ""
        for result in run.results:
            if result.queries != run.coverage.judged:
                count = f"{result.queries:,} of {counted(run.coverage.judged, 'query', 'queries')}"
                counts.setdefault(count, []).append(visible(result.measure) + where)
    return counts


def _reasons(report: Report) -> dict[tuple[str, str], list[str]]:
    """Why measures have no interval, or another one than asked for; nothing where the user switched intervals off."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for run in report.runs if report.rules.ci != "none" else ():
        for result in run.results:
            if result.ci_note:
                kind = "no interval for" if result.ci_low is None else "interval of"
                names = reasons.setdefault((kind, visible(result.ci_note)), [])
                if visible(result.measure) not in names:
                    names.append(visible(result.measure))
    return reasons
