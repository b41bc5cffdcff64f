"""Records of labelled tables and of weights as frames: one a row, or one a query with lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import InputError
from rankeval_cli.readers.columns import VALUES, Columns
from rankeval_cli.readers.format import Role
from rankeval_cli.readers.frames import shape
from rankeval_cli.readers.nested import FRAME_ROWS, Pairs, checked_id, is_list, is_object, items, named
from rankeval_cli.readers.records import RECORD_HINT, RecordLayout, record_layout
from rankeval_cli.readers.values import Reading, number, value_complaint, whole_rank

if TYPE_CHECKING:
    import polars as pl

Record = tuple[str, Any]  # where it stands, what was found there
Convert = Callable[[Any, str], Any]  # a value, where it stands -> what its column holds


def frames_of_records(records: Iterable[Record], reading: Reading) -> Iterator[pl.DataFrame]:
    """The rows of records as `Table.frames` promises them, about FRAME_ROWS a frame; the first one shows the layout.

    Raises InputError, naming the place, for a record that lacks a key, and for a value that is no id or no number.
    """
    layout: RecordLayout | None = None
    held: dict[str, list[Any]] = {}
    places: list[str] = []
    for where, record in records:
        if layout is None:
            layout = first_layout(record, reading, where)
        num_rows = _collect(record, layout.columns, layout.lists, where, held)
        places += [where] * num_rows
        if len(places) >= FRAME_ROWS:
            yield from _shaped(held, places, layout.columns, reading)
            held, places = {}, []
    if layout is not None and places:
        yield from _shaped(held, places, layout.columns, reading)


def first_layout(record: Any, reading: Reading, where: str) -> RecordLayout:
    """The layout that a first record shows; InputError when it is no record or lacks a column."""
    if not is_object(record):
        raise InputError(f"is {named(record)}, not an object", where, RECORD_HINT)
    return record_layout(record, reading.role, reading.options, where)


def records_by_query(document: Any, name: str) -> list[dict[str, Any]]:
    """`{query: value}` as records. name : what the value is, `weight` or `group`"""
    return [{"query": query, name: value} for query, value in items(document)]


def _collect(record: Any, columns: Columns, lists: bool, where: str, held: dict[str, list[Any]]) -> int:
    """Add the rows of one record to the columns in `held`; their number."""
    if not isinstance(record, Mapping):
        if isinstance(record, Pairs):
            raise InputError("has a key twice", where, "give each value its own key")
        raise InputError(f"is {named(record)}, not an object", where, f"it needs `{'`, `'.join(columns.used)}`")
    for name in columns.used:
        if name not in record:
            raise InputError(f"no key `{name}`", where, f"it has `{'`, `'.join(map(str, record))}`")
        if lists and name in columns.of_rows and not is_list(record[name]):
            raise InputError(f"`{name}` is {named(record[name])}, not a list", where, "its rows are lists in others")
    num_rows = len(record[columns.of_rows[0]]) if lists else 1
    for name in columns.used:
        values = record[name] if lists and name in columns.of_rows else [record[name]] * num_rows
        if len(values) != num_rows:
            first = columns.of_rows[0]
            what = f"`{first}` has length {num_rows:,} and `{name}` length {len(values):,}"
            raise InputError(what, where, "lists in one record are equally long")
        held.setdefault(name, []).extend(values)
    return num_rows


def _shaped(
    held: dict[str, list[Any]], places: list[str], columns: Columns, reading: Reading
) -> Iterator[pl.DataFrame]:
    import polars as pl

    found = {}
    for name, (convert, dtype) in _converters(columns, reading).items():
        values = [
            None if value is None else convert(value, where) for value, where in zip(held[name], places, strict=True)
        ]
        found[name] = pl.Series(name, values, dtype=dtype)
    yield from shape(pl.DataFrame(found), columns, reading, places.__getitem__)


def _converters(columns: Columns, reading: Reading) -> dict[str, tuple[Convert, Any]]:
    """For each column in use what makes its values, and their type."""
    import polars as pl

    text, numbers = pl.String(), pl.Float64()
    parts: dict[str | None, tuple[Convert, Any]] = {
        columns.mask: (lambda value, where: str(value), text),
        columns.rank: (lambda value, where: whole_rank(value), pl.Int64()),
        columns.weight: (partial(_number, reading, "weights", "weight"), numbers),
        columns.list_weight: (partial(_number, reading, "weights", "list_weight"), numbers),
        columns.grade: (partial(_number, reading, "qrels", "grade"), numbers),
        columns.value: (partial(_number, reading, reading.role, VALUES.get(reading.role, "")), numbers),
        columns.doc: (partial(_id, columns.doc), text),
        columns.group: (partial(_group, columns.group), text),
        columns.query: (partial(_id, columns.query), text),
    }
    return {name: part for name, part in parts.items() if name is not None}


def _group(column: str | None, value: Any, where: str) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value == "" else _id(column, value, where)


def _id(column: str | None, value: Any, where: str) -> str:
    return checked_id(value, lambda: where, f"`{column}`")


def _number(reading: Reading, role: Role, name: str, value: Any, where: str) -> float:
    result = number(value, role, reading.options.grade_map, reading.tally)
    if result is None:
        if is_object(value) or is_list(value):
            raise InputError(f"is {named(value)}, not a {name}", where, RECORD_HINT)
        what, hint = value_complaint(value, role, name)
        raise InputError(what, where, hint)
    return result
