r"""Formats for programs: tsv, csv, json, jsonl, parquet, with full double precision.

All but json are long: one row a run, measure and query, in the columns `COLUMNS`. A mean has the query `all` and says
how many queries it is over; the row of one query leaves `queries` (and the interval) empty, so that a query whose id
is `all` stays apart. Per run, the queries come first, in ascending byte order, and the means last, as in trec_eval.
Undefined values are empty, null in jsonl and parquet. --tie-report adds the columns `TIE_COLUMNS` behind the others,
empty in the rows of queries: who looks for rows, or for columns by name or place, finds what stood there without it.
--groups adds rows behind those of the means, whose measure names the group: `ndcg@10[golden]`, `ndcg@10[macro]`.
Where a report has comparisons, these are the rows instead (`comparison_rows`).

tsv keeps one line a row for cut, awk and join: nothing is quoted, and a backslash, tab, line feed or carriage return in
an id is written `\\`, `\t`, `\n`, `\r`. csv quotes as RFC 4180 says, with a line feed at the end of a row.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from rankeval_cli.model import Report, RunReport, query_values, query_weights
from rankeval_cli.report.reporter import Options
from rankeval_cli.report.text import grouped, utf8

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("run", "measure", "query", "value", "ci_low", "ci_high", "queries")
TIE_COLUMNS = ("ties_expected", "ties_worst", "ties_best", "ties_queries")
MEAN = "all"

_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_CSV_QUOTED = re.compile(r'[",\r\n]|^\s|\s$')  # blanks at the ends too: many readers strip them from bare fields


def render_tsv(report: Report, options: Options) -> Iterator[str]:
    """Tab-separated values, the format of a pipe."""
    if report.comparisons:
        return _separated_comparisons(report, options, is_csv=False)
    return _separated(report, options, "\t", lambda text: text.translate(_TSV_ESCAPES))


def render_csv(report: Report, options: Options) -> Iterator[str]:
    """Comma-separated values."""
    if report.comparisons:
        return _separated_comparisons(report, options, is_csv=True)
    return _separated(report, options, ",", _csv_field)


def _csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _CSV_QUOTED.search(text) or not text else text


def _separated(report: Report, options: Options, sign: str, field: Callable[[str], str]) -> Iterator[str]:
    columns = columns_of(report)
    yield sign.join(columns) + "\n"
    end = sign * (len(columns) - 4) + "\n"
    for run in report.runs:
        name = field(run.name)
        for query, values in query_values(run.scores) if options.per_query else ():
            quoted = field(query)
            yield "".join(
                f"{name}{sign}{field(measure)}{sign}{quoted}{sign}{_text(value)}{end}"
                for measure, value in values.items()
            )
        for row in _means(run, run.name):
            yield separated_row(row, is_csv=sign == ",")


def _separated_comparisons(report: Report, options: Options, is_csv: bool) -> Iterator[str]:
    from rankeval_cli.report.comparison_rows import COMPARISON_COLUMNS, comparison_rows

    for row in chain([COMPARISON_COLUMNS], comparison_rows(report, options.per_query)):
        yield separated_row(row, is_csv)


def columns_of(report: Report) -> tuple[str, ...]:
    """The columns of the long form."""
    return (*COLUMNS, *TIE_COLUMNS) if any(run.ties for run in report.runs) else COLUMNS


def _ties_of(run: RunReport) -> list[tuple[Any, ...]]:
    """The values of TIE_COLUMNS of each measure; () each where there is no tie report."""
    return [(ties.expected, ties.worst, ties.best, ties.queries) for ties in run.ties] or [()] * len(run.results)


def _text(value: float | None) -> str:
    # float() because the repr of a NumPy number names its type.
    return "" if value is None or value != value else repr(float(value))


def render_json(report: Report, options: Options) -> Iterator[str]:
    """The document of `Report.to_dict`, in ASCII, the values of one query a line.

    The per-query part is written as it goes: for a million queries it would not fit in memory as one string.
    """
    document = _plain(report.to_dict())
    keys = list(document)
    place = keys.index("runs")
    yield _indented({key: document[key] for key in keys[:place]}).removesuffix("\n}") + ',\n  "runs": ['
    for i, run in enumerate(report.runs):
        yield ("," if i else "") + "\n    "
        yield _indented(document["runs"][i]).replace("\n", "\n    ").removesuffix("\n    }")
        yield from _json_queries(run) if options.per_query else ()
        yield "\n    }"
    yield "\n  ],\n" + _indented({key: document[key] for key in keys[place + 1 :]}).removeprefix("{\n") + "\n"


def _json_queries(run: RunReport) -> Iterator[str]:
    yield from _json_object("per_query", query_values(run.scores))
    if run.scores.weights is not None:
        yield from _json_object("weights", query_weights(run.scores))


def _json_object(name: str, entries: Iterator[tuple[str, dict[str, float]]]) -> Iterator[str]:
    yield f',\n      "{name}": {{'
    separator = ""
    for query, values in entries:
        yield f"{separator}\n        {json.dumps(query)}: {_compact(values)}"
        separator = ","
    yield "\n      }"


def _indented(value: Any) -> str:
    return json.dumps(value, indent=2, allow_nan=False)


def _compact(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:  # NaN: undefined; infinite: JSON has no word for it
        return json.dumps(_plain(value), allow_nan=False)


def _plain(value: Any) -> Any:
    """The value as JSON knows it: NumPy scalars as Python numbers, NaN and infinity as None."""
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def render_jsonl(report: Report, options: Options) -> Iterator[str]:
    """One JSON object a line with the columns of the long form."""
    if report.comparisons:
        from rankeval_cli.report.comparison_rows import COMPARISON_COLUMNS, comparison_rows

        for row in comparison_rows(report, options.per_query):
            yield _json_row(COMPARISON_COLUMNS, row)
        return
    columns = columns_of(report)
    empty = (None,) * (len(columns) - 4)
    for run in report.runs:
        for query, values in query_values(run.scores) if options.per_query else ():
            yield "".join(
                _json_row(columns, (run.name, measure, query, value, *empty)) for measure, value in values.items()
            )
        for row in _means(run, run.name):
            yield _json_row(columns, row)


def _json_row(columns: tuple[str, ...], values: tuple[Any, ...]) -> str:
    return _compact(dict(zip(columns, values, strict=True))) + "\n"


def _means(run: RunReport, name: str) -> list[tuple[Any, ...]]:
    """The rows of the means, then of the means of groups, as numbers."""
    means = [
        (name, result.measure, MEAN, result.value, result.ci_low, result.ci_high, result.queries, *ties)
        for result, ties in zip(run.results, _ties_of(run), strict=True)
    ]
    empty = (None,) * len(TIE_COLUMNS if run.ties else ())
    return [*means, *((name, *values, *empty) for values in _group_means(run))]


def _group_means(run: RunReport) -> Iterator[tuple[Any, ...]]:
    for group in run.groups:
        for found in group.results:
            measure = grouped(found.measure, utf8(group.name))
            yield measure, MEAN, found.value, found.ci_low, found.ci_high, found.queries


def separated_row(cells: Iterable[Any], is_csv: bool) -> str:
    """Any cells as a row of tsv or csv: empty for None and NaN, `1` and `0` for true and false."""
    sign, field = (",", _csv_field) if is_csv else ("\t", lambda text: text.translate(_TSV_ESCAPES))
    return sign.join(field(cell) if isinstance(cell, str) else _cell(cell) for cell in cells) + "\n"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(value) if isinstance(value, int) else _text(value)


def json_line(record: Mapping[str, Any]) -> str:
    """A record as one line of JSON, null for NaN."""
    return _compact(record) + "\n"


def json_text(document: Mapping[str, Any]) -> str:
    """A document as JSON in ASCII, null for NaN."""
    return _indented(_plain(document)) + "\n"


def write_parquet(report: Report, options: Options, file: IO[bytes]) -> None:
    """The long form as one Parquet table; its key-value metadata `rankeval` is the JSON document without queries."""
    from io import BytesIO

    import polars as pl

    buffer = BytesIO()  # so that a full disk is Python's OSError, not an error of the writer's own
    document = json.dumps(_plain(report.to_dict()), allow_nan=False)
    if report.comparisons:
        from rankeval_cli.report.comparison_rows import comparison_frame

        frames = [comparison_frame(report, options.per_query)]
    else:
        frames = [frame for run in report.runs for frame in _frames(run, columns_of(report), options)]
    pl.concat(frames).write_parquet(buffer, metadata={"rankeval": document})
    file.write(buffer.getbuffer())


def _frames(run: RunReport, names: tuple[str, ...], options: Options) -> Iterator[pl.DataFrame]:
    import polars as pl

    texts, counts = ("run", "measure", "query"), ("queries", "ties_queries")
    schema = {name: pl.String if name in texts else pl.Int64 if name in counts else pl.Float64 for name in names}
    if options.per_query:
        metrics, queries = run.scores.metrics, run.scores.queries
        num_rows = len(metrics) * len(queries)
        columns = {
            "run": [utf8(run.name)] * num_rows,
            "measure": [metric.written for metric in metrics] * len(queries),
            "query": [query for query in queries for _ in metrics],
            "value": run.scores.values.T.ravel(),
        }
        frame = pl.DataFrame(columns | {name: [None] * num_rows for name in names[4:]}, schema=schema)
        yield frame.with_columns(pl.col("value").fill_nan(None))
    yield pl.DataFrame(_means(run, utf8(run.name)), schema=schema, orient="row")
