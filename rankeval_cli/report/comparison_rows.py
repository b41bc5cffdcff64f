"""Comparisons in the long form: one row a pair and measure; with the values of the queries, one a query before them.

As in the long form of results, a comparison has the query `all`; the row of one query has both values and their
difference, and leaves the rest empty. The columns are the fields of `Comparison`, those that name a row first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from rankeval_cli.model import Comparison, Report, RunReport, query_values
from rankeval_cli.report.comparisons import Pair, by_pair
from rankeval_cli.report.text import utf8

if TYPE_CHECKING:
    import polars as pl

ALL = "all"
_NAMES = ("run", "base", "measure")
_VALUES = ("value", "base_value", "diff")
COMPARISON_COLUMNS = (
    *_NAMES, "query", *_VALUES, *(each.name for each in fields(Comparison) if each.name not in _NAMES + _VALUES),
)  # fmt: skip


def comparison_rows(report: Report, per_query: bool) -> Iterator[tuple[Any, ...]]:
    """The rows of every pair, as COMPARISON_COLUMNS has them; None where undefined."""
    runs = {run.name: run for run in report.runs}
    for pair, found in by_pair(report).items():
        if per_query:
            yield from _query_rows(pair, [each.measure for each in found], runs)
        for each in found:
            record = asdict(each) | {"query": ALL}
            yield tuple(record[column] for column in COMPARISON_COLUMNS)


def _query_rows(pair: Pair, measures: list[str], runs: Mapping[str, RunReport]) -> Iterator[tuple[Any, ...]]:
    """The queries that either run has a value for, in ascending byte order."""
    base, run = (dict(query_values(runs[name].scores)) for name in pair)
    rest = (None,) * (len(COMPARISON_COLUMNS) - len(_NAMES) - len(_VALUES) - 1)
    for query in sorted(base.keys() | run.keys()):
        for measure in measures:
            before, value = (_defined(values.get(query, {}).get(measure)) for values in (base, run))
            diff = None if before is None or value is None else _defined(value - before)
            yield (pair[1], pair[0], measure, query, value, before, diff, *rest)


def _defined(value: float | None) -> float | None:
    return None if value is None or value != value else float(value)


def comparison_frame(report: Report, per_query: bool) -> pl.DataFrame:
    """The rows as a table."""
    import polars as pl

    types = {str: pl.String, float: pl.Float64, int: pl.Int64, bool: pl.Boolean}
    hints = get_type_hints(Comparison)
    schema = {name: types[_kind(hints.get(name, str))] for name in COMPARISON_COLUMNS}
    rows = (
        tuple(utf8(cell) if isinstance(cell, str) else cell for cell in row)
        for row in comparison_rows(report, per_query)
    )
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _kind(hint: Any) -> type:
    """The type of a field that may be None; words of a Literal are texts."""
    first = (get_args(hint) or (hint,))[0]
    return first if isinstance(first, type) else str
