"""The columns of a pandas DataFrame as Polars columns, without importing pandas and without changing the frame."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import InputError
from rankeval_cli.readers.columns import Columns
from rankeval_cli.readers.ids import id_complaint, id_text
from rankeval_cli.readers.nested import is_list

if TYPE_CHECKING:
    import polars as pl


def with_index(frame: Any, roles_of: Callable[[list[str]], set[str]]) -> Any:
    """The frame, its index made columns when the index has names that the columns lack a role without.

    roles_of : names -> the roles that they can play
    """
    levels = [str(level) for level in frame.index.names if level is not None]
    columns = [str(column) for column in frame.columns]
    if levels and roles_of(levels) - roles_of(columns):
        return frame.reset_index()
    return frame


def list_columns(frame: Any) -> list[str]:
    """The names of the columns that hold lists or arrays."""
    return [str(name) for i, name in enumerate(frame.columns) if _holds_lists(frame.iloc[:, i])]


def _holds_lists(column: Any) -> bool:
    if str(column.dtype) != "object":
        return "list" in str(column.dtype)
    return any(_is_array(value) or is_list(value) for value in column.head(1))


def _is_array(value: Any) -> bool:
    return type(value).__name__ == "ndarray" and value.ndim == 1


def to_polars(frame: Any, columns: Columns, where: str) -> pl.DataFrame:
    """The columns in use as a Polars frame; a missing value is null, except for NaN among numbers.

    Raises InputError naming row and column of an object that is no id.
    """
    import polars as pl

    names = [str(name) for name in frame.columns]
    found = {}
    for name in columns.used:
        column = frame.iloc[:, names.index(name)]
        is_id = name in (columns.query, columns.doc)
        found[name] = _column(column, name, is_id, where)
    return pl.DataFrame(found)


def _column(column: Any, name: str, is_id: bool, where: str) -> pl.Series:
    import polars as pl

    kind = getattr(column.dtype, "kind", "O") if type(column.dtype).__module__.startswith("numpy") else None
    if kind is not None and kind in "iufb":
        values = column.to_numpy()
        return pl.Series(name, values.astype("float64") if values.dtype == "float16" else values)
    if str(column.dtype) == "object":
        return _objects(column.tolist(), name, is_id, where)
    if str(column.dtype) == "category":
        return _objects(column.tolist(), name, is_id, where)
    return pl.Series(name, pl.from_pandas(column))


def _objects(values: list[Any], name: str, is_id: bool, where: str) -> pl.Series:
    """A column of Python objects: ids become text here, lists and numbers as Polars takes them."""
    import polars as pl

    if any(_is_array(value) or is_list(value) for value in values[:1]):
        values = [value.tolist() if _is_array(value) else value for value in values]
    elif is_id:
        return pl.Series(name, [_id(value, name, where, row) for row, value in enumerate(values, 1)], dtype=pl.String)
    try:
        return pl.Series(name, values)
    except (TypeError, pl.exceptions.PolarsError) as problem:
        reason = str(problem).strip().splitlines()[0]
        raise InputError(
            f"column `{name}` holds values of several types: {reason}", where, "give it one type"
        ) from None


def _id(value: Any, name: str, where: str, row: int) -> str:
    text = id_text(value)
    if text is None:
        is_missing = type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))
        what, hint = id_complaint(None if is_missing else value, f"column `{name}`")
        raise InputError(what, f"{where}, row {row:,}", hint)
    return text
