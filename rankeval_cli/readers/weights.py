"""Weights of queries: two columns, query and weight, in any table layout or as text between blanks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import InputError
from rankeval_cli.readers.columns import MissingColumn
from rankeval_cli.readers.format import ReadOptions, Table
from rankeval_cli.readers.layout import split
from rankeval_cli.readers.memory import open_object
from rankeval_cli.readers.recordframes import records_by_query
from rankeval_cli.readers.sample import sample_of
from rankeval_cli.readers.sniff import fitting
from rankeval_cli.readers.source import Input, open_input
from rankeval_cli.readers.streams import UTF8_HINT
from rankeval_cli.readers.values import parse_number

if TYPE_CHECKING:
    import polars as pl

HINT = "weights are two columns: a query and a number of 0 or more"


def read_weights(source: Any) -> dict[str, float]:
    """The weight of each query.

    source : a path, a dict `{query: weight}`, or a table in memory
    Raises InputError naming the query whose weight is no number of 0 or more, or that has two.
    """
    import polars as pl

    if isinstance(source, (str, PurePath)):
        opened = open_input(str(source))
        name, frames = opened.path, _frames(opened)
    else:
        records = records_by_query(source, "weight") if _is_plain(source) else source
        table = open_object(records, "weights", ReadOptions(), "weights")
        name, frames = table.path, list(table.frames())
    rows = pl.concat(frames) if frames else pl.DataFrame()
    if not rows.height:
        raise InputError("is empty: no weights", name, HINT)
    return _checked(rows, name)


def check_weight(query: str, weight: float | None, where: str) -> float:
    """The weight; InputError naming the query when it is negative, NaN, infinite or no number."""
    if weight is None or not 0 <= weight < float("inf"):
        shown = "no number" if weight is None else "NaN" if weight != weight else f"`{weight:g}`"
        raise InputError(f"the weight of query `{query}` is {shown}", where, "weights are numbers of 0 or more")
    return weight


def _is_plain(source: Any) -> bool:
    """Whether it is `{query: weight}`: a dict of columns holds no numbers."""
    return isinstance(source, Mapping) and not any(hasattr(value, "__len__") for value in source.values())


def _checked(rows: pl.DataFrame, where: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for query, weight in rows.iter_rows():
        if query in weights and weights[query] != weight:
            raise InputError(f"query `{query}` has two weights", where, "give each query one weight")
        weights[query] = check_weight(query, weight, where)
    return weights


def _frames(source: Input) -> list[pl.DataFrame]:
    if not source.head():
        return []
    options = ReadOptions()
    found = fitting(source, "weights", options)
    try:
        table: Table | None = None if found is None else found.open(source, "weights", options)
    except MissingColumn:
        if not _are_two_columns(source):  # lines between blanks may be taken for a header
            raise
        table = None
    return list(table.frames()) if table is not None else [_text_frame(source)]


def _are_two_columns(source: Input) -> bool:
    return sample_of(source).shape("run")[1] == 2


def _text_frame(source: Input) -> pl.DataFrame:
    """Lines of a query and a weight, between tabs where every line has one, else between blanks."""
    import polars as pl

    separator, _ = sample_of(source).shape("run")
    rows = []
    for chunk in source.chunks():
        for number, line in enumerate(chunk.data.split(b"\n"), chunk.first_line):
            fields = [] if line.startswith(b"#") else split(line, separator)
            if fields:
                rows.append(_row(fields, f"{chunk.path}:{number}"))
    return pl.DataFrame(rows, {"query": pl.String, "weight": pl.Float64}, orient="row")


def _row(fields: list[bytes], where: str) -> tuple[str, float]:
    try:
        texts = [field.decode() for field in fields]
    except UnicodeDecodeError:
        raise InputError("is not valid UTF-8", where, UTF8_HINT) from None
    if len(texts) != 2 or not texts[0]:
        fields_text = "1 column" if len(texts) == 1 else f"{len(texts)} columns"
        raise InputError(f"{fields_text}, not a query and a weight", where, HINT)
    return texts[0], check_weight(texts[0], parse_number(texts[1]), where)
