"""Text layouts: which column of a line means what. Shared by the line reader and the fast path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rankeval_cli.readers.format import Role
from rankeval_cli.readers.problems import Problems

BLANKS = b" \t\r\v\f"
_WHOLE = re.compile(r"[+-]?[0-9]+")
LONGEST_RANK = 1000  # int() refuses far longer texts


@dataclass(frozen=True)
class Layout:
    """One text layout.

    format : what the report shows
    columns : what stands in each column: `query`, `doc`, `score`, `grade`, `rank`, `tag`, `group`, `subgroup`, or `-`
        for one that is not read
    shape : the columns as messages show them
    is_loose : more columns may follow and are not read
    ranks_rise : the ranks of a query must rise by one from `base` on, in file order
    """

    format: str
    role: Role
    columns: tuple[str, ...]
    shape: str
    is_loose: bool = False
    ranks_rise: bool = False

    @property
    def value(self) -> Literal["score", "grade", "rank"] | None:
        """The column that must hold a number: score, else grade, else rank; None when every row has grade 1."""
        if "score" in self.columns:
            return "score"
        if "grade" in self.columns:
            return "grade"
        return "rank" if "rank" in self.columns else None

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns that say for which group of judgments a line is."""
        return tuple(name for name in self.columns if name in ("group", "subgroup"))

    @property
    def width(self) -> int:
        """Number of columns that a line must have."""
        return len(self.columns)


def _layout(format: str, role: Role, columns: str, shape: str, **more: bool) -> Layout:
    return Layout(format, role, tuple(columns.split()), shape, **more)


TREC_RUN = _layout("trec", "run", "query - doc rank score tag", "query, Q0, document, rank, score, tag")
TREC_UNTAGGED = _layout("trec", "run", "query - doc rank score", "query, Q0, document, rank, score")
TREC_LOOSE = _layout(
    "trec-loose", "run", "query - doc rank score tag", "query, Q0, document, rank, score, tag", is_loose=True
)
TREC_QRELS = _layout("trec", "qrels", "query - doc grade", "query, iteration, document, grade")
MSMARCO_COUNTED = _layout("msmarco-rank", "run", "query doc rank", "query, document, rank", ranks_rise=True)
MSMARCO_RANK = _layout("msmarco-rank", "run", "query doc rank", "query, document, rank")
MSMARCO_SCORE = _layout("msmarco-score", "run", "query doc score", "query, document, score")
MSMARCO_GRADES = _layout("msmarco", "qrels", "query doc grade", "query, document, grade")
MSMARCO_PAIRS = _layout("msmarco", "qrels", "query doc", "query, document")
QRELS_JG = _layout("qrels_jg", "qrels", "query group doc grade", "query, judgment group, document, grade")
QRELS_PREFS = _layout("qrels_prefs", "qrels", "query group doc grade", "query, judgment group, document, level")
PREFS = _layout("prefs", "qrels", "query group subgroup doc grade", "query, judgment group, subgroup, document, level")
COLBERT = _layout("colbert", "run", "query doc rank score", "query, passage, rank, score")


@dataclass(frozen=True)
class Plan:
    """How one file is read.

    separator : b"\\t", or None for runs of blanks
    grade_map : word -> grade
    has_whole_grades : the fast path leaves any grade but a whole number to the line reader
    tabs_only : the fast path takes data with tabs and no other blank alone, since others separate fields too
    problems : where malformed lines are collected, which are then left out; None to raise the first
    """

    layout: Layout
    separator: bytes | None
    grade_map: Mapping[str, float] | None = None
    has_whole_grades: bool = False
    tabs_only: bool = False
    problems: Problems | None = None


def split(line: bytes, separator: bytes | None) -> list[bytes]:
    """The fields of one line, whose newline is gone; [] when it is blank.

    Blanks are space, tab, CR, VT and FF, and no others: `bytes.split` agrees, `str.split` does not.
    """
    if separator is None:
        return line.split()
    return line.removesuffix(b"\r").split(separator) if line.strip(BLANKS) else []


def whole(text: str) -> int | None:
    """A rank: a whole number that 64 bits hold, blanks around it allowed; None for any other text."""
    text = text.strip(" ")
    if len(text) > LONGEST_RANK or not _WHOLE.fullmatch(text):
        return None
    return int(text) if -(2**63) <= int(text) < 2**63 else None
