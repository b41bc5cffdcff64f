"""What the head of a text file shows: its lines, how they are separated, and whether they are some other format's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rankeval_cli.readers.columns import recognised
from rankeval_cli.readers.format import ReadOptions, Role
from rankeval_cli.readers.layout import BLANKS, split
from rankeval_cli.readers.source import Input
from rankeval_cli.readers.values import parse_number

PARQUET_MARK = b"PAR1"
PARQUET_NAME = re.compile(r"\.(?:parquet|pq)$", re.IGNORECASE)
SAMPLE_BYTES = 1 << 16  # some thousand lines, looked at in a few ms
TREC_WIDTH = {"run": 6, "qrels": 4}
_ITERATION = re.compile(rb"[Qq]?[0-9]+")
_CELLS = re.compile(r"[,;|\s]+")


@dataclass(frozen=True)
class Sample:
    """The whole lines of a head that are neither blank nor comments.

    lines : bytes, without line end
    tabs : the numbers of tabs that occur on a line
    widths : number of fields between blanks -> number of lines
    first_line : number of the first of the lines in the file, counted from 1
    is_binary : Parquet, or a NUL byte stands in the first of the lines (one further down is a damaged line, and named)
    """

    lines: tuple[bytes, ...]
    tabs: frozenset[int]
    widths: Counter[int]
    first_line: int
    is_binary: bool

    def shape(self, role: Role) -> tuple[bytes | None, int]:
        """Separator (a tab, or None for blanks) and number of columns; 0 columns when there is no line.

        The same number of tabs on every line means tabs, and blanks then belong to ids, unless the file is a TREC
        file by its blanks (constant width, iterations in the second column).
        """
        width = self.widths.most_common(1)[0][0] if self.widths else 0
        if self.tabs <= {0} or len(self.tabs) > 1:
            return None, width
        tabbed = min(self.tabs) + 1
        trec = TREC_WIDTH[role]
        if tabbed != trec and set(self.widths) == {trec} and self._has_iterations():
            return None, trec
        return b"\t", tabbed

    def _has_iterations(self) -> bool:
        return all(_ITERATION.fullmatch(line.split()[1]) for line in self.lines)

    def columns(self, separator: bytes | None, width: int, *chosen: int) -> Iterator[tuple[str, str]]:
        """Two columns of the lines of that width, as text (bytes that are no UTF-8 replaced)."""
        first, second = chosen
        for line in self.lines:
            row = split(line, separator)
            if len(row) == width:
                yield row[first].decode(errors="replace"), row[second].decode(errors="replace")

    def is_something_else(self, role: Role, options: ReadOptions) -> bool:
        """Whether the lines are JSON, a table with a header or commas, LETOR features, or no text at all."""
        if self.is_binary or not self.lines or self.lines[0].lstrip(BLANKS)[:1] in (b"{", b"["):
            return True
        return self.has_header(role, options) or self._has_commas() or self._is_letor()

    def has_header(self, role: Role, options: ReadOptions) -> bool:
        """Whether the first line names columns: two known names or more, and no number."""
        cells = [cell.strip("\"'") for cell in _CELLS.split(self.lines[0].decode(errors="replace").strip())]
        if any(parse_number(cell) is not None for cell in cells):
            return False
        return len(recognised(cells, role, options)) >= 2

    def _has_commas(self) -> bool:
        """The same number of commas on every line, and as many cells as there are fields between blanks."""
        commas = {line.count(b",") for line in self.lines}
        return len(commas) == 1 and min(commas) > 0 and all(width <= min(commas) + 1 for width in self.widths)

    def _is_letor(self) -> bool:
        return all(len(fields) > 1 and fields[1].startswith(b"qid:") for fields in map(bytes.split, self.lines))


def sample_of(source: Input) -> Sample:
    """The sample of an input's head; the last line is left out when it may be cut off."""
    head = source.head()
    return _sample(head[:SAMPLE_BYTES], source.head_is_whole and len(head) <= SAMPLE_BYTES)


@lru_cache(maxsize=4)
def _sample(head: bytes, is_whole: bool) -> Sample:
    lines = head.split(b"\n")
    if not is_whole or not lines[-1]:
        lines.pop()
    numbered = [(i, line) for i, line in enumerate(lines, 1) if not line.startswith(b"#") and line.strip(BLANKS)]
    kept = tuple(line for _, line in numbered)
    tabs = frozenset(line.count(b"\t") for line in kept)
    widths = Counter(len(line.split()) for line in kept)
    is_binary = head.startswith(PARQUET_MARK) or b"\0" in (kept[0] if kept else head)
    return Sample(kept, tabs, widths, numbered[0][0] if numbered else 1, is_binary)
