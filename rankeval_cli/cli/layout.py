"""Plain lists on the terminal: cells aligned, the last one wrapped at its width."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence

READ_WIDTH = 100  # columns; longer lines are hard to read
LEAST_LAST = 20  # columns that the last cell needs beside the others


def screen_width() -> int | None:
    """Columns of the terminal; None in a pipe, where a row stays a line."""
    from rankeval_cli.report.terminal import columns_of

    return columns_of(sys.stdout)


def aligned(rows: Sequence[tuple[str, ...]], width: int | None) -> list[str]:
    """Rows as lines of aligned cells, the last cell wrapped; where it has no room, a cell a line."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    indent = sum(widths) + 2 * len(widths)
    if width is not None and width - indent < LEAST_LAST:
        return [line for row in rows for line in _stacked(row, width)]
    lines: list[str] = []
    for row in rows:
        start = "".join(cell.ljust(size + 2) for cell, size in zip(row, widths, strict=False))
        last = [row[-1]] if width is None else wrapped(row[-1], width - indent)
        lines += [start + last[0], *(" " * indent + line for line in last[1:])]
    return lines


def _stacked(row: tuple[str, ...], width: int) -> list[str]:
    head, *others = row
    lines = [head] if head else []
    for cell in filter(None, others):
        lines += wrapped(cell, width, "  ", "    ")
    return lines


def wrapped(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """The text in lines of that width, the first and the others with what stands before them."""
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=others, break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip
