"""The comparisons as tables for people: of all pairs where they fit, else of each pair, else as lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rankeval_cli.model import Comparison, Report
from rankeval_cli.report.comparisons import Entry, by_pair, entry, notes, only_base, p_title, pairs_of
from rankeval_cli.report.layout import Cell, Grid, Group, grid
from rankeval_cli.report.reporter import Options
from rankeval_cli.report.table import INDENT, Pen, query_lines
from rankeval_cli.report.text import interval_title, visible, wrapped


@dataclass(frozen=True)
class Column:
    """One column of the numbers of a comparison."""

    title: str
    align: str
    cell: Callable[[Entry], str]


def comparison_lines(report: Report, options: Options, pen: Pen) -> Iterator[str]:
    """The values of the queries if asked for, the comparisons, and what to know about them."""
    if options.per_query:
        yield from query_lines(report, pen)
    yield from _all_pairs(report, pen) or _by_pair(report, pen)
    yield ""
    for note in notes(report):
        yield from (pen.paint(line, "dim") for line in wrapped(note, pen.width))


def _layouts(report: Report) -> tuple[list[list[Column]], ...]:
    """The columns of one table, and of two where that is too wide."""
    first = [
        Column("base", ">", lambda each: each.base_value),
        Column("mean", ">", lambda each: each.value),
        Column("diff", ">", lambda each: each.diff),
        Column("", "<", lambda each: each.verdict_mark),
        Column(interval_title(report), "<", lambda each: each.interval),
        Column(p_title(report), ">", lambda each: each.p_value),
    ]
    second = [
        Column("change", ">", lambda each: each.change),
        Column("effect", ">", lambda each: each.effect),
        Column("w/t/l", ">", lambda each: each.counts),
    ]
    return [[*first, *second]], [first, second]


def _all_pairs(report: Report, pen: Pen) -> list[str] | None:
    """All pairs in one table or two, by measure; None where they do not fit, and for a single pair."""
    base = only_base(report)
    for layout in _layouts(report) if len(pairs_of(report)) > 1 else ():
        tables = [_whole(report, columns, pen) for columns in layout]
        if all(map(pen.fits, tables)):
            title = [pen.paint(line, "bold") for line in wrapped(f"against {visible(base)}", pen.width)] if base else []
            return [*title, *_drawn(tables, pen)]
    return None


def _drawn(tables: Sequence[Grid], pen: Pen) -> Iterator[str]:
    for place, table in enumerate(tables):
        yield from [""] if place else []
        yield from pen.draw(table)


def _whole(report: Report, columns: Sequence[Column], pen: Pen) -> Grid:
    has_base = only_base(report) is not None
    rows, before = [], None
    for found in report.comparisons:
        texts = [found.measure if found.measure != before else "", found.run, *([] if has_base else [found.base])]
        rows.append([*(Cell(visible(text)) for text in texts), *_cells(found, columns)])
        before = found.measure
    return _grid(("measure", "run") if has_base else ("measure", "run", "against"), columns, rows, pen)


def _grid(titles: tuple[str, ...], columns: Sequence[Column], rows: list[list[Cell]], pen: Pen) -> Grid:
    headings = (*titles, *(column.title for column in columns))
    align = "<" * len(titles) + "".join(column.align for column in columns)
    return grid([Group("", headings, align)], rows, pen.measure)


def _cells(found: Comparison, columns: Sequence[Column]) -> list[Cell]:
    shown = entry(found)
    return [Cell(column.cell(shown), _style(found) if column.title == "" else "") for column in columns]


def _style(found: Comparison) -> str:
    if not found.significant:
        return "dim"
    return {True: "bold green", False: "bold red", None: "bold"}[found.better]


def _by_pair(report: Report, pen: Pen) -> Iterator[str]:
    """A table or two for each pair under its names; lines where they do not fit."""
    pairs = by_pair(report)
    layouts = [
        [[_single(found, columns, pen) for columns in layout] for found in pairs.values()]
        for layout in _layouts(report)
    ]
    fitting = next((each for each in layouts if all(pen.fits(table) for tables in each for table in tables)), None)
    for place, ((base, run), found) in enumerate(pairs.items()):
        yield from [""] if place else []
        title = f"{visible(run)} against {visible(base)}"
        yield from (pen.paint(line, "bold") for line in wrapped(title, pen.width))
        yield from _drawn(fitting[place], pen) if fitting else _records(found, p_title(report), pen)


def _single(found: Sequence[Comparison], columns: Sequence[Column], pen: Pen) -> Grid:
    rows = [[Cell(visible(each.measure)), *_cells(each, columns)] for each in found]
    return _grid(("measure",), columns, rows, pen)


def _records(comparisons: Sequence[Comparison], p_value: str, pen: Pen) -> Iterator[str]:
    """Every number of the comparisons of a pair, some lines a measure; p_value : what the p-values are called."""
    for found in comparisons:
        each = entry(found)
        verdict = pen.paint(f"{each.verdict} {each.mark}".strip(), _style(found))
        yield INDENT + visible(found.measure)
        lines = [
            f"{each.base_value} -> {each.value}",
            f"{each.diff} ({each.change}) {verdict}".rstrip(),
            each.interval,
            f"{p_value} {each.p_value}, effect {each.effect}",
            f"w/t/l {each.counts}",
        ]
        yield from (INDENT * 2 + line for line in lines)
