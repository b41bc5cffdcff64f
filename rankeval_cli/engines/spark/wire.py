"""What goes between the driver and the workers: tables of one schema, notes among their rows, and errors.

Rows of a run or of judgments have the columns of `row_types`. A row without a query is a note: its `doc` is JSON that
says what a task met. Notes travel with the rows, so that they are exact however often Spark repeats a task.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import InputError, RankevalError, UsageError
from rankeval_cli.readers.source import natural

if TYPE_CHECKING:
    import polars as pl

Types = Mapping[str, str]  # column -> its type in Spark's words

LINE, FILE, BLOCK = "__line", "__file", "__block"  # of what is read: text, the file it is in, where its split begins
PLACE: Types = {"file": "string", "block": "bigint", "row": "bigint"}  # the order of rows in files
BATCH_ROWS = 100_000  # of an Arrow batch; Spark's own 10,000 cost 20 % more
_MARK = "rankeval-problem:"
_ERRORS: tuple[type[RankevalError], ...] = (InputError, UsageError)


class ToldError(Exception):
    """A RankevalError on a worker, as text that the driver finds again in what Spark makes of it."""


@contextmanager
def telling() -> Iterator[None]:
    """On a worker: raise what the user can mend in a form that reaches the driver."""
    try:
        yield
    except RankevalError as error:
        raise ToldError(_MARK + json.dumps([type(error).__name__, error.what, error.where, error.hint])) from None


def told(text: str) -> RankevalError | None:
    """On the driver: the error of a worker that a text of Spark holds; None where it holds none."""
    start = text.find(_MARK)
    if start < 0:
        return None
    name, what, where, hint = json.JSONDecoder().raw_decode(text, start + len(_MARK))[0]
    kinds = {kind.__name__: kind for kind in _ERRORS}
    return kinds.get(name, RankevalError)(what, where, hint)


def row_types(has_rank: bool, has_places: bool) -> Types:
    """The columns of rows; `value` is the score or the grade."""
    rank = {"rank": "bigint"} if has_rank else {}
    return {"query": "string", "doc": "string", "value": "double", **rank, **(PLACE if has_places else {})}


def schema_of(types: Types) -> str:
    """The types as Spark reads them."""
    return ", ".join(f"`{name}` {kind}" for name, kind in types.items())


def frame_of(batch: Any) -> pl.DataFrame:
    """An Arrow batch as a frame."""
    import polars as pl
    import pyarrow as pa  # type: ignore[import-untyped]

    return pl.DataFrame(pl.from_arrow(pa.Table.from_batches([batch])))


def batches_of(frame: pl.DataFrame, types: Types) -> Iterator[Any]:
    """A frame as Arrow batches of these types; columns that it does not have are null."""
    import polars as pl
    import pyarrow as pa

    arrow = {"string": pa.string(), "double": pa.float64(), "bigint": pa.int64(), "boolean": pa.bool_()}
    missing = [pl.lit(None).alias(name) for name in types if name not in frame.columns]
    table = frame.with_columns(missing).select(list(types)).to_arrow()
    schema = pa.schema([(name, arrow[kind]) for name, kind in types.items()])
    yield from table.cast(schema).to_batches(max_chunksize=BATCH_ROWS)


def in_file_order(frame: pl.DataFrame, *first: str) -> pl.DataFrame:
    """The rows, without their places, in the order of these columns and then as they stand in their files."""
    import polars as pl

    files = sorted(frame["file"].unique().to_list(), key=natural)
    order = {name: place for place, name in enumerate(files)}
    frame = frame.with_columns(pl.col("file").replace_strict(order, return_dtype=pl.Int64))
    return frame.sort(*first, *PLACE).drop(PLACE)


def note(kind: str, facts: Any, **more: Any) -> str:
    """A note. facts : a record of counts"""
    return json.dumps({"kind": kind, **asdict(facts), **more})


def note_rows(*notes: str) -> pl.DataFrame:
    """Rows that carry notes."""
    import polars as pl

    return pl.DataFrame({"query": None, "doc": list(notes)}, schema={"query": pl.String, "doc": pl.String})


def without_notes(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """The rows that are no notes; those that are go into `notes`."""
    query = frame["query"]
    if not query.null_count():
        return frame
    notes += frame.filter(query.is_null())["doc"].to_list()
    return frame.filter(query.is_not_null())


def added(notes: Iterable[str], kind: str) -> dict[str, Any]:
    """The counts of all notes of a kind added up; of their texts, that which all agree on, else None."""
    total: dict[str, Any] = {}
    for one in map(json.loads, notes):
        if one.pop("kind") != kind:
            continue
        for name, value in one.items():
            if isinstance(value, int):
                total[name] = total.get(name, 0) + value
            elif value is not None:
                total[name] = value if total.get(name, value) == value else None
    return total
