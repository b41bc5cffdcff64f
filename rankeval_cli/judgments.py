"""Judgments: the rows of a qrels table become one `Judgments`, checked once and shared by all runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankeval_cli.errors import SHOWN_PROBLEMS, InputError, several
from rankeval_cli.model import Judgments, Rules, Source

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from rankeval_cli.readers.format import Progress, Table
    from rankeval_cli.readers.groups import Only

# Seeds of the id hashes; a pair's key is hash(query, 1) ^ hash(document, 0). Keys are a prefilter, never an identity:
# rows whose keys agree are compared as strings.
QUERY_SEED, DOC_SEED = 1, 0


@dataclass(frozen=True)
class Repeats:
    """Judgments that repeat a pair.

    rows : those beyond the first of each pair; conflicts : pairs whose grades differ
    """

    rows: int = 0
    conflicts: int = 0

    def text(self, rules: Rules) -> str:
        """What the report says of them, and which grade counts."""
        how = "first" if rules.qrels_duplicates == "error" else rules.qrels_duplicates
        rows = f"{self.rows:,} repeated judgment{'s' if self.rows != 1 else ''}: each pair counts once"
        pairs = "1 pair" if self.conflicts == 1 else f"{self.conflicts:,} pairs"
        return f"{rows}; where grades differ ({pairs}) the {how} grade is used" if self.conflicts else rows


def pair_keys(query: pl.Series, doc: pl.Series) -> pl.Series:
    """UInt64 key of each (query, document); equal pairs have equal keys, the reverse is only likely."""
    return query.hash(QUERY_SEED) ^ doc.hash(DOC_SEED)


def load_judgments(
    table: Table, rules: Rules, name: str, progress: Progress | None = None, only: Only | None = None
) -> Judgments:
    """Read a qrels table whole.

    only : the queries whose judgments count
    Raises InputError when there is no judgment, a grade is negative under `--negative error`, or a pair has two
    different grades (under `--qrels-duplicates error`).
    """
    import polars as pl

    frames = list(table.frames(progress))
    frame = pl.concat(frames) if frames else pl.DataFrame()
    if frame.height == 0:
        raise InputError("is empty: no judgments", table.path, "check that the file was written whole")
    frame, repeats = as_used(frame, table, rules)
    if frame.height == 0:
        raise all_negative(table.path)
    num_rows, highest = sum(part.height for part in frames), None
    if only is not None:
        highest = max(0.0, float(str(frame["grade"].max())))
        frame = _restricted(frame, only, table.path)
        num_rows = frame.height
    source = Source(name, table.path, table.format, num_rows)
    warnings = [*table.warnings, *([repeats.text(rules)] if repeats.rows else [])]
    told = tuple(f"{table.path}: {warning}" for warning in warnings)
    return replace(indexed(frame, source, digest_of(frame), told), highest=highest)


def _restricted(frame: pl.DataFrame, only: Only, path: str) -> pl.DataFrame:
    """The judgments of some queries."""
    import polars as pl

    from rankeval_cli.readers.groups import none_of_the_queries

    kept = frame.filter(pl.col("query").is_in(only.queries))
    if not kept.height:
        raise none_of_the_queries(path, only.name)
    return kept


def as_used(frame: pl.DataFrame, table: Table, rules: Rules) -> tuple[pl.DataFrame, Repeats]:
    """Judgments (query, doc, grade) as the rules have them: each pair once, perhaps none at all.

    frame : all rows of its queries
    Raises InputError as `load_judgments` does.
    """
    import polars as pl

    frame = frame.select("query", "doc", pl.col("grade") + 0.0)  # -0.0 is 0
    return _one_grade_a_pair(_apply_negative(frame, table, rules), table, rules)


def all_negative(path: str) -> InputError:
    """What is wrong when `--negative drop` leaves no judgment."""
    return InputError("every grade is negative, so `--negative drop` leaves no judgment", path)


def indexed(frame: pl.DataFrame, source: Source, digest: str, warnings: tuple[str, ...] = ()) -> Judgments:
    """The record of judgments as used. frame : query, doc, grade, each pair once"""
    import polars as pl

    queries = frame["query"].unique().sort()
    index = pl.DataFrame({"query": queries, "index": pl.Series(range(len(queries)), dtype=pl.UInt32)})
    keyed = frame.with_columns(key=pair_keys(frame["query"], frame["doc"]))
    keyed = keyed.join(index, on="query", how="left").sort("index", maintain_order=True)
    offsets, ideal = ideal_grades(keyed["index"].to_numpy(), keyed["grade"].to_numpy(), len(queries))
    judged = keyed.select(query="index", doc="doc", grade="grade", key="key")
    return Judgments(source, queries.to_list(), judged, offsets, ideal, digest, warnings)


def ideal_grades(
    query: NDArray[np.uint32], grade: NDArray[np.float64], num_queries: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Offsets (num_queries + 1,) and the judged grades >= 0 of each query, descending.

    query, grade : (rows,), queries ascending
    """
    import numpy as np

    kept = grade >= 0
    query, grade = query[kept], grade[kept]
    order = np.lexsort((-grade, query))
    counts = np.bincount(query, minlength=num_queries)
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64), np.ascontiguousarray(grade[order])


def _apply_negative(frame: pl.DataFrame, table: Table, rules: Rules) -> pl.DataFrame:
    import polars as pl

    if rules.negative in ("unjudged", "mask") or not (frame["grade"] < 0).any():
        return frame
    if rules.negative == "nonrelevant":
        return frame.with_columns(pl.col("grade").clip(lower_bound=0.0))
    if rules.negative == "drop":
        return frame.filter(pl.col("grade") >= 0)
    query, doc, grade = frame.filter(pl.col("grade") < 0).row(0)
    raise InputError(
        f"grade `{grade_text(grade)}` of document `{doc}` for query `{query}` is negative",
        _first_place(table, query, doc),
        "choose --negative unjudged, nonrelevant, drop or mask",
    )


def _one_grade_a_pair(frame: pl.DataFrame, table: Table, rules: Rules) -> tuple[pl.DataFrame, Repeats]:
    """The frame with each pair once, and how many rows repeated one."""
    import polars as pl

    if frame.select("query", "doc").n_unique() == frame.height:
        return frame, Repeats()
    pair = ["query", "doc"]
    grades = frame.group_by(pair, maintain_order=True).agg(
        first=pl.col("grade").first(),
        max=pl.col("grade").max(),
        mean=pl.col("grade").mean(),
        differ=pl.col("grade").n_unique() > 1,
    )
    conflicts = grades.filter("differ")
    if conflicts.height and rules.qrels_duplicates == "error":
        raise _conflict(conflicts, frame, table)
    how = "first" if rules.qrels_duplicates == "error" else rules.qrels_duplicates
    return grades.select(*pair, grade=pl.col(how)), Repeats(frame.height - grades.height, conflicts.height)


def _conflict(conflicts: pl.DataFrame, frame: pl.DataFrame, table: Table) -> InputError:
    import polars as pl

    lines = []
    for query, doc in conflicts.select("query", "doc").head(SHOWN_PROBLEMS).iter_rows():
        grades = frame.filter(pl.col("query") == query, pl.col("doc") == doc)["grade"].unique(maintain_order=True)
        shown = " and ".join(f"`{grade_text(grade)}`" for grade in grades)
        lines.append(f"document `{doc}` of query `{query}` is judged twice with different grades {shown}")
    query, doc = conflicts.select("query", "doc").row(0)
    return InputError(
        several(lines, conflicts.height),
        ", ".join(table.locate(query, doc)[:2]) or table.path,
        "choose --qrels-duplicates max, mean or first, or mend the file",
    )


def _first_place(table: Table, query: str, doc: str) -> str:
    places = table.locate(query, doc)
    return places[0] if places else table.path


def grade_text(grade: float) -> str:
    """A grade as people write it: `2`, `-1`, `0.5`."""
    return str(int(grade)) if grade.is_integer() else repr(grade)


def digest_of(frame: pl.DataFrame) -> str:
    """sha256 of the judgments as used, a line (query, doc, grade) each, sorted by bytes: the same for every layout."""
    lines = digest_lines(frame).sort()
    return sha256("".join(part["line"].to_list()).encode() for part in lines.to_frame("line").iter_slices(100_000))


def digest_lines(frame: pl.DataFrame) -> pl.Series:
    """The line of each judgment, in the order of the frame."""
    import polars as pl

    distinct = frame["grade"].unique()
    texts = pl.DataFrame({"grade": distinct, "text": [grade_text(grade) for grade in distinct]})
    line = pl.concat_str("query", "doc", "text", separator="\t") + "\n"
    return frame.join(texts, on="grade", how="left", maintain_order="left").select(line=line)["line"]


def sha256(pieces: Iterable[bytes]) -> str:
    """The digest of some text that comes in pieces."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return f"sha256:{digest.hexdigest()}"
