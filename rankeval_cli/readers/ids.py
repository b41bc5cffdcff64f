"""Ids become text: strings stay as they are, whole numbers become their decimal text, all else is refused."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

from rankeval_cli.errors import InputError

if TYPE_CHECKING:
    import polars as pl

HEAD_ROWS = 1000  # by which a column is judged
FLOAT_HINT = "store ids as whole numbers or text (a column with missing values becomes float in pandas)"


def id_text(value: object) -> str | None:
    """One id as text; None where it is no id (None, empty, a float, true or false, anything else)."""
    if isinstance(value, str):
        return str(value) or None  # a plain one: NumPy's strings are strings too
    if isinstance(value, bytes):
        return _utf8(value) or None
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    return None


def id_complaint(value: object, name: str) -> tuple[str, str | None]:
    """What is wrong with a value that is no id, and a hint.

    name : what it is called in messages, such as ``column `doc_id` ``
    """
    if value is None:
        return f"{name} is null", "every row needs a query id and a document id"
    if isinstance(value, (str, bytes)) and not value:
        return f"{name} is empty", "every row needs a query id and a document id"
    if isinstance(value, bytes):
        return f"{name} holds bytes that are not UTF-8: {value[:20]!r}", "store ids as text"
    if isinstance(value, bool):
        return f"{name} is `{str(value).lower()}`, which is no id", "ids are text or whole numbers"
    if isinstance(value, float):
        return f"{name} is the float `{value}`, and ids are text or whole numbers", FLOAT_HINT
    if isinstance(value, str):
        return f"{name} is not valid Unicode: {value[:40]!r}", "ids are text that UTF-8 can hold"
    return f"{name} is of type {type(value).__name__}, and ids are text or whole numbers", None


def check_id_type(dtype: pl.DataType, column: str, where: str) -> None:
    """Refuse a column type that cannot hold ids: InputError naming column and type.

    Text, categories, whole numbers of any width, decimals of scale 0, UTF-8 bytes and a column of nothing but nulls
    (its rows are then refused one by one) are fine.
    """
    import polars as pl

    if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum, pl.Binary, pl.Null)) or dtype.is_integer():
        return
    if isinstance(dtype, pl.Decimal) and dtype.scale == 0:
        return
    hint = "store ids as text or whole numbers"
    if dtype.is_float() or isinstance(dtype, pl.Decimal):
        hint = FLOAT_HINT
    raise InputError(f"column `{column}` holds ids of type {type_name(dtype)}", where, hint)


def type_name(dtype: pl.DataType) -> str:
    """A column type in words that do not depend on Polars."""
    import polars as pl

    if isinstance(dtype, (pl.List, pl.Array)):
        inner = dtype.inner if isinstance(dtype.inner, pl.DataType) else dtype.inner()
        return f"list of {type_name(inner)}"
    names = {"Boolean": "true/false", "Struct": "struct", "Map": "map", "String": "text", "Object": "Python object"}
    base = type(dtype).__name__
    return names.get(base, base.lower())


def id_texts(ids: pl.Series) -> pl.Series:
    """A column of ids (any type that `check_id_type` allows) as String; null where a value is null or is no id."""
    import polars as pl

    if ids.dtype.is_integer():
        return _decimals(ids)
    if isinstance(ids.dtype, pl.Binary):
        texts = _decode(ids)
    elif isinstance(ids.dtype, pl.String):
        texts = ids
    else:
        texts = ids.cast(pl.String)
    lengths = texts.str.len_bytes().min()
    if lengths == 0:
        return texts.replace("", None)
    return texts


def _decimals(ids: pl.Series) -> pl.Series:
    """Whole numbers as text. Where equal ones stand together each run is written once, in a quarter of the time."""
    import polars as pl

    start = ids.head(HEAD_ROWS)
    if 4 * len(start.rle()) > len(start):
        return ids.cast(pl.String)
    runs = ids.rle().struct.unnest()
    return runs.select(pl.col("value").cast(pl.String).gather(pl.lit(ids.rle_id()))).to_series().alias(ids.name)


def _decode(ids: pl.Series) -> pl.Series:
    import polars as pl

    try:
        return ids.cast(pl.String)
    except pl.exceptions.ComputeError:
        return pl.Series(ids.name, [_utf8(value) for value in ids], dtype=pl.String)


def _utf8(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
