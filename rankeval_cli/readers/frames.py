"""A frame with typed columns (Parquet, Polars, pandas, Arrow) becomes one of the schema of `Table`, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import InputError
from rankeval_cli.readers.columns import VALUES, Columns
from rankeval_cli.readers.format import Role
from rankeval_cli.readers.ids import check_id_type, id_complaint, id_texts, type_name
from rankeval_cli.readers.values import (
    Reading,
    check_mask_type,
    check_value_type,
    floats,
    truths,
    value_complaint,
    whole_ranks,
)

if TYPE_CHECKING:
    import polars as pl

Place = Callable[[int], str]  # row of a frame, from 0 -> `path, row n` for messages

LIST_ROWS = 500_000  # rows that list columns are unnested into at a time
ROW = "\0row"  # no column of a file has this name together with the others that are read


def list_columns(schema: Mapping[str, pl.DataType]) -> list[str]:
    """The names of the columns whose cells are lists."""
    import polars as pl

    return [name for name, dtype in schema.items() if isinstance(dtype, (pl.List, pl.Array))]


def check_types(schema: Mapping[str, pl.DataType], columns: Columns, role: Role, where: str) -> None:
    """Refuse columns whose types cannot be ids, scores or grades: InputError naming column and type.

    Either no column is a list, or all are but the query's (one row a query).
    """
    import polars as pl

    types = {name: schema[name] for name in columns.used}
    lists = list_columns(types)
    if lists:
        types = _inner_types(types, lists, columns, where)
    check_id_type(types[columns.query], columns.query, where)
    if columns.doc is not None:
        check_id_type(types[columns.doc], columns.doc, where)
    if columns.value is not None:
        check_value_type(types[columns.value], columns.value, role, where)
    if columns.grade is not None:
        check_value_type(types[columns.grade], columns.grade, "qrels", where)
    if columns.list_weight is not None:
        check_value_type(types[columns.list_weight], columns.list_weight, "weights", where)
    if columns.weight is not None:
        check_value_type(types[columns.weight], columns.weight, "weights", where)
    if columns.group is not None and types[columns.group] != pl.Boolean:
        check_id_type(types[columns.group], columns.group, where)
    if columns.mask is not None:
        check_mask_type(types[columns.mask], columns.mask, where)


def _inner_types(
    types: dict[str, pl.DataType], lists: list[str], columns: Columns, where: str
) -> dict[str, pl.DataType]:
    hint = "one row a query has a query id and lists of equal length, one of documents and one of numbers"
    for name in columns.used:
        is_of_rows = name in columns.of_rows
        if not is_of_rows and name in lists:
            noun = "queries" if name == columns.query else "weights of queries"
            raise InputError(f"column `{name}` holds lists of {noun}", where, hint)
        if is_of_rows and name not in lists:
            what = f"column `{name}` holds no lists (but {type_name(types[name])}), and `{lists[0]}` does"
            raise InputError(what, where, hint)
    return {name: inner_type(dtype) if name in lists else dtype for name, dtype in types.items()}


def inner_type(dtype: Any) -> pl.DataType:
    """The type of what a list holds."""
    inner: pl.DataType = dtype.inner if not isinstance(dtype.inner, type) else dtype.inner()
    return inner


def shape(
    frame: pl.DataFrame,
    columns: Columns,
    reading: Reading,
    place: Place,
) -> Iterator[pl.DataFrame]:
    """The rows of a frame as `Table.frames` promises them; list columns are unnested, a bounded part at a time.

    frame : holds the columns in use, of types that `check_types` allows
    place : where a row of `frame` stands
    Raises InputError for a value that is null, no id, or no number.
    """
    if not list_columns({name: frame.schema[name] for name in columns.of_rows[:1]}):
        yield _flat(frame, columns, reading, place)
        return
    for part, rows in _unnested(frame, columns, place):
        yield _flat(part, columns, reading, partial(_place_of_element, place, rows))


def _place_of_element(place: Place, rows: pl.Series, element: int) -> str:
    return place(int(rows[element]))


def find(frame: pl.DataFrame, columns: Columns, query: str, doc: str) -> list[int]:
    """The rows of a frame (as `shape` takes it) where a pair stands; in list columns one entry an element."""
    import polars as pl

    if columns.doc is None:
        return []
    rows = frame.select(columns.query, columns.doc).with_row_index(ROW)
    rows = rows.filter(id_texts(rows[columns.query]) == query)
    if list_columns({columns.doc: frame.schema[columns.doc]}):
        rows = rows.with_columns(pl.col(columns.doc).cast(pl.List(inner_type(frame.schema[columns.doc]))))
        rows = rows.explode(columns.doc, empty_as_null=False, keep_nulls=False)
    return rows.filter(id_texts(rows[columns.doc]) == doc)[ROW].to_list()


def _unnested(frame: pl.DataFrame, columns: Columns, place: Place) -> Iterator[tuple[pl.DataFrame, pl.Series]]:
    """Parts of a frame of lists with one row an element, and the row of `frame` from which each element came."""
    import polars as pl

    lists = columns.of_rows
    frame = frame.with_columns(pl.col(name).cast(pl.List(inner_type(frame.schema[name]))) for name in lists)
    lengths = frame.select(pl.col(name).list.len() for name in lists)
    _refuse_ragged(lengths, place)
    total = lengths[lists[0]].cum_sum()
    frame = frame.with_row_index(ROW)
    start = 0
    while start < frame.height:
        done = int(total[start - 1]) if start else 0
        stop = max(start + 1, int(total.search_sorted(done + LIST_ROWS, side="right")))
        part = frame[start:stop].explode(lists, empty_as_null=False, keep_nulls=False)
        if columns.value is None and columns.rank is None:
            part = part.with_columns(pl.int_range(1, pl.len() + 1).over(ROW).alias(ROW + "rank"))
        yield part, part[ROW]
        start = stop


def _refuse_ragged(lengths: pl.DataFrame, place: Place) -> None:
    for name in lengths.columns:
        if lengths[name].null_count():
            row = int(lengths[name].is_null().arg_true()[0])
            raise InputError(f"column `{name}` is null", place(row), "a query without results has an empty list")
    first = lengths.columns[0]
    for name in lengths.columns[1:]:
        differs = lengths[name] != lengths[first]
        if differs.any():
            row = int(differs.arg_true()[0])
            what = f"`{first}` has length {lengths[first][row]:,} and `{name}` length {lengths[name][row]:,}"
            raise InputError(what, place(row), "lists in one row are equally long")


def _flat(
    frame: pl.DataFrame,
    columns: Columns,
    reading: Reading,
    place: Place,
) -> pl.DataFrame:
    import polars as pl

    left_out = _left_out(frame, columns, reading, place) if reading.role == "labelled" else None
    reading.tally.unread = columns.unread
    found = {"query": _ids(frame[columns.query], place)}
    if reading.role not in VALUES:
        return pl.DataFrame(found if columns.group is None else {**found, "group": id_texts(frame[columns.group])})
    if columns.doc is not None:
        found["doc"] = _ids(frame[columns.doc], place, left_out)
    rank = _ranks(frame, columns) if reading.role in ("run", "labelled") else None
    name = reading.noun
    if columns.value is not None:
        found[name] = _values(frame[columns.value], reading, reading.role, name, place, left_out)
    elif rank is not None:
        found[name] = _scores_of_ranks(rank, frame, columns, place)
    else:
        found[name] = pl.repeat(1.0, frame.height, dtype=pl.Float64, eager=True)
    if columns.grade is not None:
        found["grade"] = _values(frame[columns.grade], reading, "qrels", "grade", place, left_out)
    if rank is not None:
        found["rank"] = rank
    if columns.weight is not None:
        found["weight"] = floats(frame[columns.weight], "weights", None, reading.tally)
    if columns.list_weight is not None:
        found["list_weight"] = floats(frame[columns.list_weight], "weights", None, reading.tally)
    shaped = pl.DataFrame(found)
    if left_out is None:
        return shaped
    return shaped.with_columns(pl.when(~left_out).then(pl.col("score", "grade")))


def _left_out(frame: pl.DataFrame, columns: Columns, reading: Reading, place: Place) -> pl.Series | None:
    """The rows of a labelled table that its mask or `ignore_label` leaves out; None when it leaves out none."""
    options, gone = reading.options, None
    if columns.mask is not None:
        kept = truths(frame[columns.mask])
        if kept.null_count():
            row = int(kept.is_null().arg_true()[0])
            value = frame[columns.mask][row]
            what = "mask is null" if value is None else f"mask `{value}` is neither true nor false"
            raise InputError(what, place(row), "a mask holds true and false, or 1 and 0")
        gone = ~kept
    if options.ignore_label is not None and columns.grade is not None:
        labels = floats(frame[columns.grade], "qrels", options.grade_map, reading.tally)
        ignored = (labels == options.ignore_label).fill_null(False)
        gone = ignored if gone is None else gone | ignored
    return gone if gone is not None and gone.any() else None


def _ids(ids: pl.Series, place: Place, left_out: pl.Series | None = None) -> pl.Series:
    texts = id_texts(ids)
    bad = texts.is_null() if left_out is None else texts.is_null() & ~left_out
    if texts.null_count() and bad.any():
        row = int(bad.arg_true()[0])
        what, hint = id_complaint(ids[row], f"column `{ids.name}`")
        raise InputError(what, place(row), hint)
    return texts


def _values(
    values: pl.Series, reading: Reading, role: Role, name: str, place: Place, left_out: pl.Series | None
) -> pl.Series:
    """The numbers of a column, none of them null or NaN but in rows that are left out; grades are never infinite.

    Weights are checked by who uses them, and can name the query.
    """
    result = floats(values, role, reading.options.grade_map, reading.tally)
    if role == "weights" or (not result.null_count() and result.is_finite().all()):
        return result
    bad = result.is_null() | result.is_nan() | (result.is_infinite() if role == "qrels" else False)
    bad = bad.fill_null(True)
    rows = (bad if left_out is None else bad & ~left_out).arg_true()
    if len(rows):
        row = int(rows[0])
        what, hint = value_complaint(values[row], role, name if values.name == name else f"{name} (`{values.name}`)")
        raise InputError(what, place(row), hint)
    reading.tally.infinite += int(result.is_infinite().sum()) if role != "qrels" else 0
    return result


def _ranks(frame: pl.DataFrame, columns: Columns) -> pl.Series | None:
    if columns.rank is not None:
        return whole_ranks(frame[columns.rank])
    return frame[ROW + "rank"] if ROW + "rank" in frame.columns else None


def _scores_of_ranks(rank: pl.Series, frame: pl.DataFrame, columns: Columns, place: Place) -> pl.Series:
    import polars as pl

    if rank.null_count():
        row = int(rank.is_null().arg_true()[0])
        value = frame[columns.rank][row] if columns.rank else None
        what = "rank is null" if value is None else f"rank `{value}` is no whole number"
        raise InputError(what, place(row), "without a score column the rank decides the order")
    return 0.0 - rank.cast(pl.Float64)  # never -0.0
