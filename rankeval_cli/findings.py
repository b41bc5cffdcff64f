"""What the commands show that look into a result: one query taken apart, queries that moved, what is wrong with a file.

As `model`, this module loads neither NumPy nor Polars.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rankeval_cli.model import Coverage

Status = Literal["judged", "pooled", "unjudged"]


@dataclass(frozen=True)
class RankRow:
    """One rank of one query's ranking.

    doc, score : None where the run has no ids, or ranks alone
    grade : as it is judged, below 0 for a document that is only in the pool; None where unjudged
    is_relevant : the grade reaches the level
    is_tied : a neighbour has the same score
    ideal : the grade at this rank of the ideal ranking, None behind its end
    adds : for each measure of the ranking what this rank adds to its value; None where ranks have no share of it
    """

    rank: int
    doc: str | None
    score: float | None
    grade: float | None
    status: Status
    is_relevant: bool
    is_tied: bool
    ideal: float | None
    adds: tuple[float | None, ...]


@dataclass(frozen=True)
class Missed:
    """A relevant document that is not in the ranking. why : None where the run does not have it."""

    doc: str
    grade: float
    why: str | None


@dataclass(frozen=True)
class MeasureOfQuery:
    """The value of one measure for the query; None where undefined. note : what to know about its column, or None.

    has_shares : whether ranks have a share of the value
    """

    measure: str
    value: float | None
    has_shares: bool
    note: str | None = None


@dataclass(frozen=True)
class QueryRanking:
    """One query's ranking in one run, under one order.

    rules : what orders it
    results : documents that are ranked; `rows` holds the first `top` and the relevant ones below
    num_relevant, num_missed : relevant documents, and those of them that are not ranked; `missed` is empty where
        documents have no ids
    """

    run: str
    path: str
    format: str
    rules: Mapping[str, Any]
    measures: tuple[MeasureOfQuery, ...]
    results: int
    top: int
    rows: tuple[RankRow, ...]
    missed: tuple[Missed, ...]
    num_relevant: int
    num_missed: int


@dataclass(frozen=True)
class Explanation:
    """One query taken apart: a ranking for each run, and for each order where a preset has several.

    rules : as the report of an evaluation prints them
    """

    query: str
    qrels: str
    rules: Mapping[str, Any]
    rankings: tuple[QueryRanking, ...]
    warnings: tuple[str, ...] = ()


Severity = Literal["error", "warning"]
FileRole = Literal["run", "judgments", "labelled table"]


@dataclass(frozen=True)
class Problem:
    """Something wrong with one file, or suspicious in it.

    places : (where, what) of the first SHOWN_PROBLEMS of a kind; where is `path:line`, or the path alone
    total : how many there are
    """

    severity: Severity
    file: str
    places: tuple[tuple[str, str], ...]
    total: int = 1
    hint: str | None = None


@dataclass(frozen=True)
class CheckedFile:
    """What was found in one file.

    format : the layout, None where none fits
    rows : those that can be read
    queries : judged queries, or queries of a labelled table; None for runs
    is_whole : it was read to its end; else a problem stopped the reader, and there may be more behind it
    coverage : of a run that was compared with judgments
    """

    name: str
    path: str
    role: FileRole
    format: str | None = None
    tag: str | None = None
    rows: int = 0
    queries: int | None = None
    is_whole: bool = False
    coverage: Coverage | None = None


@dataclass(frozen=True)
class Checked:
    """All files, in the order of the command line, and all problems, by file."""

    files: tuple[CheckedFile, ...]
    problems: tuple[Problem, ...]

    def count(self, severity: Severity) -> int:
        """How many problems there are; every row of a kind is one."""
        return sum(problem.total for problem in self.problems if problem.severity == severity)


@dataclass(frozen=True)
class Move:
    """A relevant document whose rank differs between two runs. before, after : None where it is not ranked"""

    doc: str
    grade: float
    before: int | None
    after: int | None


@dataclass(frozen=True)
class MovedQuery:
    """One query whose value differs between two runs.

    moves : of its relevant documents, the highest ranks first
    """

    query: str
    before: float
    after: float
    moves: tuple[Move, ...]

    @property
    def diff(self) -> float:
        """The second run's value less that of the first."""
        return self.after - self.before


@dataclass(frozen=True)
class MeasureMoves:
    """What a second run changes in one measure.

    before, after : the values of the runs, None where undefined
    num_helped, num_hurt, num_same : queries by what becomes of them; where neither direction is better, a larger value
        is called help
    num_undefined : queries that have no value in one of the runs
    helped, hurt : those that differ most, the largest difference first
    """

    measure: str
    canonical: str
    direction: Literal["higher", "lower", "none"]
    before: float | None
    after: float | None
    num_helped: int
    num_hurt: int
    num_same: int
    num_undefined: int
    helped: tuple[MovedQuery, ...]
    hurt: tuple[MovedQuery, ...]


@dataclass(frozen=True)
class RunMoves:
    """What a second run changes against a first one, measure by measure."""

    base: str
    run: str
    qrels: str
    rules: Mapping[str, Any]
    measures: tuple[MeasureMoves, ...]
    warnings: tuple[str, ...] = ()
