"""Lists of queries, and groups of them: in any table layout, or as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import InputError
from rankeval_cli.readers.columns import MissingColumn, fold
from rankeval_cli.readers.format import KNOWN_COLUMNS, ReadOptions, Role, Table
from rankeval_cli.readers.layout import split
from rankeval_cli.readers.memory import open_object
from rankeval_cli.readers.recordframes import records_by_query
from rankeval_cli.readers.sample import sample_of
from rankeval_cli.readers.sniff import fitting
from rankeval_cli.readers.source import Input, open_input
from rankeval_cli.readers.streams import UTF8_HINT

if TYPE_CHECKING:
    import polars as pl

QUERIES_HINT = "write one query id a line, or give a table with a column of queries"
GROUPS_HINT = "groups are two columns: a query and its group"


def read_queries(source: Any) -> list[str]:
    """The ids in a list of queries, each once, in the order in which they stand there.

    source : a path, ids, or a table in memory. A file holds one id a line (`query_id` in the first names the column),
        or is a table, a run or judgments, whose queries count
    Raises InputError when it holds none, or is neither.
    """
    if not isinstance(source, (str, PurePath)):
        return _ids_of_object(source)
    opened = open_input(str(source))
    options = ReadOptions()
    table = _table(opened, "queries", options)
    if table is None and sample_of(opened).widths.keys() - {1}:
        role: Role = "qrels" if fitting(opened, "qrels", options) else "run"
        found = fitting(opened, role, options)
        table = None if found is None else found.open(opened, role, options)
    ids = _queries(table) if table is not None else [fields[0] for _, fields in _lines(opened, 1, QUERIES_HINT)]
    if table is None and ids and fold(ids[0]) in {fold(name) for name in KNOWN_COLUMNS["query"]}:
        ids = ids[1:]
    if not ids:
        raise InputError("is empty: no queries", opened.path, QUERIES_HINT)
    return list(dict.fromkeys(ids))


def _ids_of_object(source: Any) -> list[str]:
    is_ids = isinstance(source, Iterable) and not hasattr(source, "columns")
    if isinstance(source, Mapping):
        is_ids = not any(isinstance(value, (list, tuple)) for value in source.values())
    records = [{"query": query} for query in source] if is_ids else source
    found = list(dict.fromkeys(_queries(open_object(records, "queries", ReadOptions(), "queries"))))
    if not found:
        raise InputError("is empty: no queries", "queries", "give the ids of some queries, or leave it out")
    return found


def _queries(table: Table) -> list[str]:
    return [query for frame in table.frames() for query in frame["query"].unique(maintain_order=True)]


def read_groups(source: Any, options: ReadOptions | None = None) -> dict[str, set[str]]:
    """Group -> its queries; a query may be in several groups.

    source : a path, a dict `{query: group}`, or a table in memory
    Raises InputError when it holds no group.
    """
    options = options or ReadOptions()
    if isinstance(source, (str, PurePath)):
        opened = open_input(str(source))
        name, table = opened.path, _table(opened, "groups", options)
        pairs: Iterable[Any] = _pairs(table) if table is not None else _pairs_of_lines(opened)
    else:
        is_plain = isinstance(source, Mapping) and not any(isinstance(value, list) for value in source.values())
        name, records = "groups", records_by_query(source, "group") if is_plain else source
        pairs = _pairs(open_object(records, "groups", options, name))
    groups: dict[str, set[str]] = {}
    for query, group in pairs:
        groups.setdefault(group, set()).add(query)
    if not groups:
        raise InputError("is empty: no groups", name, GROUPS_HINT)
    return groups


def read_column(source: Any, column: str, options: ReadOptions, name: str) -> dict[str, set[str]]:
    """Group -> its queries, from a column of judgments or of a labelled table that says the group in every row.

    source : an opened input, or a table in memory; name : what messages call an object
    Raises InputError when there is no such column, and for a query that has two groups.
    """
    options = replace(options, format=None, columns={**_of_query(options), "group": column}, matched=set())
    if isinstance(source, Input):
        name = source.path
        found = fitting(source, "groups", options)
        if found is None:
            what = f"has no column `{column}`, as its columns have no names, and there is no such file"
            raise InputError(what, name, "give the groups in a file, as query and group: --groups FILE")
        table = found.open(source, "groups", options)
    else:
        table = open_object(source, "groups", options, name)
    group_of: dict[str, str] = {}
    for query, group in _pairs(table):
        if group_of.setdefault(query, group) != group:
            what = f"query `{query}` has two values of `{column}`: `{group_of[query]}` and `{group}`"
            raise InputError(what, name, "a column of groups has one value for all rows of a query")
    groups: dict[str, set[str]] = {}
    for query, group in group_of.items():
        groups.setdefault(group, set()).add(query)
    return groups


def _of_query(options: ReadOptions) -> dict[str, str]:
    return {part: name for part, name in options.columns.items() if part == "query"}


def _table(source: Input, role: Role, options: ReadOptions) -> Table | None:
    """The input as a table with columns; None where it has none."""
    found = fitting(source, role, options) if source.head() else None
    try:
        return None if found is None else found.open(source, role, options)
    except MissingColumn:
        if role == "groups" and sample_of(source).shape("run")[1] == 2:  # a line between blanks, taken for a header
            return None
        raise


def _pairs(table: Table) -> Iterator[tuple[str, str]]:
    """Query and group of the rows that have a group; repeated rows are left out, as far as they stand near."""
    for frame in table.frames():
        kept = frame.filter(frame["group"].is_not_null())
        yield from kept.select("query", "group").unique(maintain_order=True).iter_rows()


def _pairs_of_lines(source: Input) -> Iterator[tuple[str, str]]:
    for _, fields in _lines(source, 2, GROUPS_HINT):
        yield fields[0], fields[1]


def _lines(source: Input, width: int, hint: str) -> Iterator[tuple[str, list[str]]]:
    """Place and fields of lines of so many, between tabs where every line has one, else between blanks."""
    separator = sample_of(source).shape("run")[0] if width > 1 else None
    for chunk in source.chunks():
        for number, line in enumerate(chunk.data.split(b"\n"), chunk.first_line):
            fields = [] if line.startswith(b"#") else split(line, separator)
            if fields:
                yield f"{chunk.path}:{number}", _texts(fields, width, f"{chunk.path}:{number}", hint)


def _texts(fields: list[bytes], width: int, where: str, hint: str) -> list[str]:
    try:
        texts = [field.decode() for field in fields]
    except UnicodeDecodeError:
        raise InputError("is not valid UTF-8", where, UTF8_HINT) from None
    if len(texts) != width or not all(texts):
        columns = "1 column" if len(texts) == 1 else f"{len(texts)} columns"
        raise InputError(f"{columns}, not {width}", where, hint)
    return texts


@dataclass(frozen=True)
class Only:
    """The queries that an evaluation is about. name : what messages call the list of them"""

    name: str
    queries: list[str]


def load_only(source: Any) -> Only:
    """The queries that a user asks for, as `read_queries` takes them."""
    return Only(str(source) if isinstance(source, (str, PurePath)) else "queries", read_queries(source))


class Restricted:
    """A table without the rows of other queries."""

    def __init__(self, table: Table, only: Only) -> None:
        self.table, self.only = table, only
        self.path, self.format, self.size_bytes = table.path, table.format, table.size_bytes
        self.has_rank, self.has_doc_ids = table.has_rank, table.has_doc_ids
        self.tag, self.warnings = table.tag, table.warnings

    def frames(self, progress: Any = None) -> Iterator[pl.DataFrame]:
        """The rows of the queries; InputError where a table has rows and none is of them."""
        import polars as pl

        wanted = pl.Series(self.only.queries, dtype=pl.String).implode()
        rows = kept_rows = 0
        for frame in self.table.frames(progress):
            kept = frame.filter(pl.col("query").is_in(wanted))
            rows, kept_rows = rows + frame.height, kept_rows + kept.height
            if kept.height:
                yield kept
        self.tag, self.warnings = self.table.tag, self.table.warnings
        if rows and not kept_rows:
            raise none_of_the_queries(self.path, self.only.name)

    def locate(self, query: str, doc: str) -> list[str]:
        """As of the whole table."""
        return self.table.locate(query, doc)


def none_of_the_queries(path: str, name: str) -> InputError:
    """The error of an input that holds none of the queries that are asked for."""
    return InputError(f"holds none of the queries of {name}", path, "check that both spell the ids alike")
