"""Judgments that are too many for every worker: brought to their rules, summed up and digested by Spark.

They stay with Spark, partitioned by query; the driver gets what the report says of them: the queries, the highest grade
of each, the digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankeval_cli.engines.spark.inputs import SparkTable
from rankeval_cli.engines.spark.parsing import one_thread
from rankeval_cli.engines.spark.partition import Rows
from rankeval_cli.engines.spark.session import collected, explained, mapped
from rankeval_cli.engines.spark.wire import (
    added,
    batches_of,
    frame_of,
    in_file_order,
    note,
    note_rows,
    row_types,
    telling,
    without_notes,
)
from rankeval_cli.errors import InputError
from rankeval_cli.model import Judgments, Rules, Source

if TYPE_CHECKING:
    import polars as pl

ROW = row_types(has_rank=False, has_places=False)
LINES = {"line": "string"}


@dataclass(frozen=True)
class Kept:
    """Judgments as used, which stay with Spark.

    stored : what Spark has in its cache; rows : the judgments in it
    sample : as `Work` has it
    """

    stored: Any
    rows: Any
    sample: pl.DataFrame


def kept(table: SparkTable, rules: Rules, name: str) -> tuple[Judgments, Kept]:
    """The judgments as the report needs them, without pairs; and those that Spark keeps.

    Raises InputError as `load_judgments` does.
    """
    from pyspark.sql import functions as sql

    has_places = table.keeps_order
    stored = mapped(table.rows(has_places).repartition("query"), used, ROW, table.path, rules, has_places).persist()
    notes = collected(stored.where(sql.col("query").isNull()), table.path)["doc"].to_list()
    table.heed(notes)
    met = added(notes, "used")
    if not met.get("read"):
        raise InputError("is empty: no judgments", table.path, "check that the file was written whole")
    rows = stored.where(sql.col("query").isNotNull())
    source = Source(name, table.path, table.format, met["read"])
    return _summary(rows, source, _warnings(table, met, rules)), Kept(stored, rows, _sample(rows))


def used(path: str, rules: Rules, has_places: bool, batches: Iterable[Any]) -> Iterator[Any]:
    """On a worker: the judgments of some whole queries as the rules have them, and a note of what was met."""
    import polars as pl

    from rankeval_cli.judgments import as_used

    one_thread()
    notes: list[str] = []
    with telling():
        frames = [without_notes(frame_of(batch), notes) for batch in batches]
        if not frames:
            return
        frame = pl.concat(frames)
        read = frame.height
        frame = (in_file_order(frame) if has_places and read else frame).rename({"value": "grade"})
        frame, repeats = as_used(frame, Rows(path, False, ()), rules)
        yield from batches_of(frame.rename({"grade": "value"}), ROW)
        yield from batches_of(note_rows(*notes, note("used", repeats, read=read)), ROW)


def _warnings(table: SparkTable, met: dict[str, int], rules: Rules) -> tuple[str, ...]:
    from rankeval_cli.judgments import Repeats

    repeats = Repeats(met["rows"], met["conflicts"])
    warnings = [*table.warnings, *([repeats.text(rules)] if repeats.rows else [])]
    return tuple(f"{table.path}: {warning}" for warning in warnings)


def _summary(rows: Any, source: Source, warnings: tuple[str, ...]) -> Judgments:
    """Judgments without pairs; of the grades of each query, the highest one."""
    import numpy as np
    import polars as pl
    from pyspark.sql import functions as sql

    from rankeval_cli.judgments import all_negative, indexed

    best = collected(rows.groupBy("query").agg(sql.max("value").alias("grade")), source.path).sort("query")
    if not best.height:
        raise all_negative(source.path)
    has_goal = best["grade"].to_numpy() >= 0
    none = indexed(pl.DataFrame(schema={"query": pl.String, "doc": pl.String, "grade": pl.Float64}), source, "")
    return Judgments(
        source,
        best["query"].to_list(),
        none.frame,
        np.concatenate(([0], np.cumsum(has_goal))).astype(np.int64),
        best["grade"].to_numpy()[has_goal],
        _digest(rows, source.path),
        warnings,
    )


def _sample(rows: Any) -> pl.DataFrame:
    """The judgments whose documents are looked for in other spellings."""
    from pyspark.sql import functions as sql

    from rankeval_cli.align import SPELLING_SAMPLE

    first = rows.where(sql.col("value") > 0).orderBy("query", "doc").limit(SPELLING_SAMPLE)
    return collected(first.select("query", "doc"))


def _digest(rows: Any, path: str) -> str:
    """As `digest_of`; the lines are sorted by Spark, and come one piece after another."""
    from rankeval_cli.judgments import sha256

    ordered = mapped(rows, written, LINES).orderBy("line")
    with explained(path):
        pieces = mapped(ordered, in_pieces, LINES).toLocalIterator(prefetchPartitions=True)
        return sha256(piece["line"].encode() for piece in pieces)


def written(batches: Iterable[Any]) -> Iterator[Any]:
    """On a worker: the lines of some judgments that the digest is made of."""
    from rankeval_cli.judgments import digest_lines

    one_thread()
    for batch in batches:
        frame = frame_of(batch).rename({"value": "grade"})
        if frame.height:
            yield from batches_of(digest_lines(frame).to_frame("line"), LINES)


def in_pieces(batches: Iterable[Any]) -> Iterator[Any]:
    """On a worker: the lines of each batch as one text."""
    import polars as pl

    one_thread()
    for batch in batches:
        frame = frame_of(batch)
        if frame.height:
            yield from batches_of(frame.select(pl.col("line").str.join("")), LINES)
