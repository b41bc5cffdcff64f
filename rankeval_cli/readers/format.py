"""What the declaration of a file format may say, and what an opened input offers to the flow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, Literal, Protocol

from rankeval_cli.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.readers.problems import Problems
    from rankeval_cli.readers.source import Input

# labelled: run and judgments in one; weights, groups: of queries; queries: a list of them
Role = Literal["run", "qrels", "labelled", "weights", "groups", "queries"]
COLUMN_ROLES: tuple[Role, ...] = ("labelled", "weights", "groups", "queries")  # of any columns, not ids and a number
Progress = Callable[[int], None]  # called with the number of bytes (as stored) read since the last call

# Column names that are understood without --columns, any case, `-` and `_` alike, plurals for list columns.
KNOWN_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "qid", "q_id", "query_id", "topic", "user", "user_id", "indexes"),
    "doc": ("doc", "docid", "docno", "doc_id", "corpus_id", "pid", "passage_id", "item", "item_id"),
    "score": ("score", "scores", "sim", "prediction", "preds"),
    "grade": ("grade", "relevance", "rel", "label", "rating", "target"),
    "rank": ("rank",),
    "mask": ("mask",),
    "weight": ("weight", "sample_weight"),
    "list_weight": ("list_weight", "query_weight"),
    "group": ("group", "segment", "slice"),
}


@dataclass(frozen=True)
class ReadOptions:
    """How the user wants an input read.

    format : a name in FORMATS, or None to recognise it
    columns : part (`query`, `doc`, `score`, .., the keys of KNOWN_COLUMNS) -> column name in the file
    grade_map : word -> grade, for grades that are words
    matched : filled by the readers with the roles of `columns` that an input had
    beside : the judgments' input when a run is opened, for layouts whose runs have no ids of their own (LETOR)
    ignore_label : rows of a labelled table that have this label are left out
    item_weights : rows of a labelled table have weights, if it has a column for them; those of weight 0 are left out
    problems : collects malformed rows of text, CSV and JSON, which are then left out; None to raise the first
    """

    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    grade_map: Mapping[str, float] | None = None
    matched: set[str] = field(default_factory=set, compare=False)
    beside: Input | None = None
    ignore_label: float | None = None
    item_weights: bool = False
    problems: Problems | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.format, (str, NoneType)):
            raise UsageError(f"unknown format `{self.format}`", hint="`rankeval formats` lists the names")
        for role in self.columns:
            if role not in KNOWN_COLUMNS:
                raise UsageError(f"--columns has no role `{role}`", hint=f"roles are {', '.join(KNOWN_COLUMNS)}")


class Table(Protocol):
    """One run, or one set of judgments, opened: its layout is decided, nothing but its head has been read.

    A frame of a run has the columns query (String), doc (String), score (Float64), and rank (Int64, null where it is
    no whole number) when `has_rank`; a frame of judgments query, doc (String), grade (Float64). No null elsewhere, no
    NaN. A layout with ranks and no scores gives score = -rank, and the rank.

    A frame of a labelled table has query, doc when `has_doc_ids`, score, grade, rank when `has_rank`, and list_weight
    (Float64) where the table weighs queries. A row that a mask or `ignore_label` leaves out has neither score nor
    grade (null); a row with a grade alone is judged and not ranked. A frame of weights has query and weight, which is
    null where it is no number; one of groups query and group (String), which is null where a query has none; one of
    queries has query.

    has_doc_ids : whether the documents have ids of their own; if not, the order of rows must not break ties
    """

    path: str
    format: str
    has_rank: bool
    has_doc_ids: bool
    size_bytes: int | None
    tag: str | None
    warnings: list[str]  # complete once `frames` is used up

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in file order, a chunk at a time. May be called again, and then starts over.

        Raises InputError naming path, line, value, and what was expected.
        """
        ...

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands, as `path:line` (or `path, row n` for Parquet), for messages; reads the input again."""
        ...


@dataclass(frozen=True)
class Format:
    """The declaration of one file format.

    name : what --run-format and --qrels-format take
    run, qrels, labelled : one line on the layout in that role, for `rankeval formats`; None where it cannot play it.
        What can hold a labelled table can hold weights, groups and queries
    fits : head of an input, role, options -> whether this format reads it in that role
    open : the input -> a Table
    """

    name: str
    run: str | None
    qrels: str | None
    fits: Callable[[Input, Role, ReadOptions], bool]
    open: Callable[[Input, Role, ReadOptions], Table]
    labelled: str | None = None

    def plays(self, role: Role) -> bool:
        """Whether an input of this layout can have that role."""
        return {"run": self.run, "qrels": self.qrels}.get(role, self.labelled) is not None
