"""Columns of text: widths, alignment, and headings over groups of columns. No terminal, no library.

Rich's own table needs 2.4 s for the values of 7,000 queries and has no heading over several columns; this one streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

GAP = "  "
GROUP_GAP = "    "

WidthOf = Callable[[str], int]  # text -> columns that it takes in a terminal
Paint = Callable[[str, str], str]  # text, style ("bold", "dim", "bold red") -> text


@dataclass(frozen=True)
class Cell:
    """One value. style : as Rich has it, such as "bold" or "dim"; or nothing."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Group:
    """Columns under one heading (empty for none). align : "<" or ">", one a column."""

    title: str
    columns: tuple[str, ...]
    align: str


@dataclass(frozen=True)
class Grid:
    """A table ready to be drawn: groups of columns, and rows of as many cells as there are columns in all.

    widths : of each column, in the columns of a terminal
    """

    groups: tuple[Group, ...]
    rows: Sequence[Sequence[Cell]]
    widths: tuple[int, ...]

    @property
    def width(self) -> int:
        """Columns of a terminal that a line takes."""
        num_gaps = len(self.widths) - len(self.groups)
        return sum(self.widths) + len(GAP) * num_gaps + len(GROUP_GAP) * (len(self.groups) - 1)


def grid(groups: Sequence[Group], rows: Sequence[Sequence[Cell]], measure: WidthOf) -> Grid:
    """The table with its widths; a group's last column grows when its title is wider than the group."""
    headings = [column for group in groups for column in group.columns]
    widths = [max([measure(heading), *(measure(row[i].text) for row in rows)]) for i, heading in enumerate(headings)]
    place = 0
    for group in groups:
        place += len(group.columns)
        spanned = sum(widths[place - len(group.columns) : place]) + len(GAP) * (len(group.columns) - 1)
        widths[place - 1] += max(0, measure(group.title) - spanned)
    return Grid(tuple(groups), rows, tuple(widths))


def lines(table: Grid, measure: WidthOf, paint: Paint, rule: str) -> Iterator[str]:
    """The lines of a table without line ends: titles if any, headings, a rule, rows.

    rule : the sign that is repeated under the headings
    """
    if any(group.title for group in table.groups):
        yield _titles(table, measure, paint)
    headings = [Cell(column, "bold") for group in table.groups for column in group.columns]
    yield _line(table, headings, measure, paint)
    yield paint(rule * table.width, "dim")
    for row in table.rows:
        yield _line(table, row, measure, paint)


def _titles(table: Grid, measure: WidthOf, paint: Paint) -> str:
    parts, place = [], 0
    for group in table.groups:
        widths = table.widths[place : place + len(group.columns)]
        place += len(group.columns)
        room = sum(widths) + len(GAP) * (len(widths) - 1) - measure(group.title)
        parts.append((paint(group.title, "bold") if group.title else "") + " " * room)
    return GROUP_GAP.join(parts).rstrip()


def _line(table: Grid, cells: Sequence[Cell], measure: WidthOf, paint: Paint) -> str:
    parts, place = [], 0
    for group in table.groups:
        columns = zip(cells[place:], table.widths[place:], group.align, strict=False)
        parts.append(GAP.join(_padded(cell, width, align, measure, paint) for cell, width, align in columns))
        place += len(group.columns)
    return GROUP_GAP.join(parts).rstrip()


def _padded(cell: Cell, width: int, align: str, measure: WidthOf, paint: Paint) -> str:
    room = " " * (width - measure(cell.text))
    text = paint(cell.text, cell.style) if cell.style and cell.text else cell.text
    return room + text if align == ">" else text + room
