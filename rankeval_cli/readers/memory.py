"""Python objects as runs and judgments: dictionaries, records, Polars, pandas and Arrow tables. None is changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import SHOWN_PROBLEMS, InputError
from rankeval_cli.readers import pandas
from rankeval_cli.readers.columns import NEEDED, choose, recognised
from rankeval_cli.readers.format import COLUMN_ROLES, Progress, ReadOptions, Role, Table
from rankeval_cli.readers.frames import check_types, find, list_columns, shape
from rankeval_cli.readers.nested import frames_of, items, key_path, kind_of, places_of, rankings
from rankeval_cli.readers.recordframes import frames_of_records
from rankeval_cli.readers.records import RECORD_HINT, record_layout, record_piece
from rankeval_cli.readers.values import Reading

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.readers.nested import Piece

FRAME_ROWS = 500_000
LABELLED_HINT = "give the judgments too, or columns or records with query, score and label"
TYPES_HINT = "give a path, a dict {query: {document: number}}, or a Polars, pandas or Arrow table"


def open_object(obj: Any, role: Role, options: ReadOptions, name: str) -> Table:
    """A Python object as a Table; it is read when `frames` is called, and never changed.

    obj : `{query: {document: number}}`, `{query: [document, ...]}` (in rank order, or relevant), `{query: [(document,
        number), ...]}`, `{column: values}`, a list of records (dicts or named tuples), a Polars DataFrame or LazyFrame,
        a pandas DataFrame, a PyArrow Table, or anything else that gives an Arrow stream. Tables have the names and
        types that Parquet may have. Ids are text or whole numbers.
    name : what messages call it
    Raises InputError when the object is none of these, or a table's columns are not found.
    """
    library = type(obj).__module__.split(".")[0]
    if library == "polars" and hasattr(obj, "collect_schema"):
        return _polars_table(obj, role, options, name)
    if library == "pandas" and hasattr(obj, "iterrows"):
        return _pandas_table(obj, role, options, name)
    if hasattr(obj, "__arrow_c_stream__") or hasattr(obj, "__arrow_c_array__"):
        return _arrow_table(obj, role, options, name)
    if isinstance(obj, Mapping):
        if _is_columns(obj, role, options):
            return _columns_table(obj, role, options, name)
        if role == "labelled":
            raise InputError("is a dictionary that names no columns, so it holds no labels", name, LABELLED_HINT)
        if role in ("groups", "queries"):
            raise InputError("is a dictionary that names no columns", name, "give a table with a column of queries")
        return DictTable(obj, role, options, name)
    if hasattr(obj, "read"):
        raise InputError("is an open file", name, "give its path")
    if isinstance(obj, Iterable) and not isinstance(obj, (str, bytes)):
        return RecordsTable(list(obj), role, options, name)
    raise InputError(f"is of type {type(obj).__name__}, which cannot be read", name, TYPES_HINT)


class FrameTable:
    """A table in memory.

    frame : the columns in use
    """

    tag: str | None = None
    size_bytes: int | None = None

    def __init__(
        self, frame: pl.DataFrame, names: Sequence[str], role: Role, options: ReadOptions, name: str, format: str
    ) -> None:
        self.path, self.format, self.role, self.options = name, format, role, options
        self.warnings: list[str] = []
        schema = dict(frame.schema)
        self.columns = choose(list(names), role, options, name, list_columns(schema))
        check_types(schema, self.columns, role, name)
        self.frame = frame.select(self.columns.used)
        self.has_rank = role != "qrels" and (self.columns.rank is not None or self.columns.value is None)
        self.has_doc_ids = self.columns.doc is not None

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in order, a part at a time; InputError names row and column."""
        reading = Reading(self.role, self.options)
        for start in range(0, self.frame.height, FRAME_ROWS):
            place = partial(_row, self.path, start)
            yield from shape(self.frame.slice(start, FRAME_ROWS), self.columns, reading, place)
        self.warnings[:] = reading.tally.warnings()

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands, as `name, row n`, at most ten places."""
        return [_row(self.path, 0, row) for row in find(self.frame, self.columns, query, doc)[:SHOWN_PROBLEMS]]


def _row(name: str, start: int, row: int) -> str:
    return f"{name}, row {start + row + 1:,}"


def _polars_table(obj: pl.DataFrame | pl.LazyFrame, role: Role, options: ReadOptions, name: str) -> FrameTable:
    import polars as pl

    if isinstance(obj, pl.DataFrame):
        return FrameTable(obj, obj.columns, role, options, name, "polars")
    schema = dict(obj.collect_schema())
    columns = choose(list(schema), role, options, name, list_columns(schema))
    frame = obj.select(columns.used).collect()
    return FrameTable(frame, columns.used, role, options, name, "polars")


def _pandas_table(obj: Any, role: Role, options: ReadOptions, name: str) -> FrameTable:
    frame = pandas.with_index(obj, lambda names: recognised(names, role, options))
    names = [str(column) for column in frame.columns]
    columns = choose(names, role, options, name, pandas.list_columns(frame))
    found = pandas.to_polars(frame, columns, name)
    return FrameTable(found, names, role, options, name, "pandas")


def _arrow_table(obj: Any, role: Role, options: ReadOptions, name: str) -> FrameTable:
    """From a PyArrow table only the columns in use: others may have types that Polars does not know."""
    import polars as pl

    if hasattr(obj, "column_names") and hasattr(obj, "select"):
        names = list(obj.column_names)
        lists = [field.name for field in obj.schema if "list" in str(field.type)]
        columns = choose(names, role, options, name, lists)
        obj = obj.select(columns.used)
        wide = [str(field.type) for field in obj.schema if str(field.type).startswith("decimal256")]
        if wide:  # Polars would panic
            raise InputError(
                f"holds the type {wide[0]}, which cannot be read", name, "cast it to decimal128 or float64"
            )
    try:
        frame = pl.DataFrame(obj)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
        raise InputError(f"holds a type that cannot be read: {problem}", name, "cast it first") from problem
    return FrameTable(frame, frame.columns, role, options, name, "arrow")


def _is_columns(obj: Mapping[Any, Any], role: Role, options: ReadOptions) -> bool:
    """Whether a dict holds columns; a dict of queries is one of dicts, or has no query and document among its names."""
    names = [key for key in obj if isinstance(key, str)]
    has_names = len(names) == len(obj) and set(NEEDED[role]) <= recognised(names, role, options)
    return has_names and not any(isinstance(values, Mapping) for values in obj.values())


def _columns_table(obj: Mapping[str, Any], role: Role, options: ReadOptions, name: str) -> RecordsTable:
    columns = {key: _listed(values) for key, values in obj.items()}
    lengths = {key: len(values) for key, values in columns.items() if isinstance(values, (list, tuple))}
    if len(lengths) < len(columns) or len(set(lengths.values())) > 1:
        shown = ", ".join(f"`{key}`" for key in columns)
        raise InputError(f"has columns ({shown}) that are no lists of equal length", name, TYPES_HINT)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return RecordsTable(rows, role, options, name)


def _listed(values: Any) -> Any:
    """A NumPy array or another series of values as a list; anything else as it is."""
    return values.tolist() if hasattr(values, "tolist") else values


class DictTable:
    """A dictionary of queries."""

    format = "dict"
    tag: str | None = None
    has_doc_ids = True
    size_bytes: int | None = None

    def __init__(self, obj: Mapping[Any, Any], role: Role, options: ReadOptions, name: str) -> None:
        self.obj, self.role, self.options, self.path = obj, role, options, name
        self.warnings: list[str] = []
        kinds = (kind_of(held) for _, held in self._items())
        self.has_rank = role == "run" and next(filter(None, kinds), None) == "ranks"

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in the order of the dictionary; InputError names the keys that lead to what is wrong."""
        reading = Reading(self.role, self.options)
        yield from frames_of(self._pieces(reading), reading, self.has_rank, self._place)
        self.warnings[:] = reading.tally.warnings()

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands, as `name["query"]["document"]`."""
        return places_of(self._pieces(Reading(self.role, self.options)), query, doc, self._place)

    def _items(self) -> Iterator[tuple[Any, Any]]:
        return ((key, _listed(held)) for key, held in items(self.obj))

    def _pieces(self, reading: Reading) -> Iterator[Piece]:
        return rankings(self._items(), reading, self.path)

    def _place(self, piece: Piece, i: int) -> str:
        return key_path(self.path, piece.query, i if self.has_rank else piece.docs[i])


class RecordsTable:
    """A list of records: dictionaries or named tuples."""

    format = "records"
    tag: str | None = None
    size_bytes: int | None = None

    def __init__(self, records: list[Any], role: Role, options: ReadOptions, name: str) -> None:
        self.records, self.role, self.options, self.path = records, role, options, name
        self.warnings: list[str] = []
        self.layout = record_layout(self._record(0), role, options, name) if records else None
        self.has_rank = role != "qrels" and self.layout is not None and self.layout.has_rank
        self.has_doc_ids = self.layout is None or self.layout.columns.doc is not None

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in order; InputError names the entry and the key."""
        reading = Reading(self.role, self.options)
        if self.role in COLUMN_ROLES:
            records = ((f"{self.path}, entry {i + 1:,}", self._record(i)) for i in range(len(self.records)))
            yield from frames_of_records(records, reading)
        else:
            yield from frames_of(self._pieces(reading), reading, self.has_rank, self._place)
        self.warnings[:] = reading.tally.warnings()

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands, as `name, entry n`, at most ten places."""
        return places_of(self._pieces(Reading(self.role, self.options)), query, doc, self._place)

    def _record(self, i: int) -> Mapping[str, Any]:
        record = self.records[i]
        if hasattr(record, "_asdict"):
            record = record._asdict()
        if not isinstance(record, Mapping):
            what = f"is of type {type(record).__name__}, not a dict or a named tuple"
            raise InputError(what, f"{self.path}, entry {i + 1:,}", RECORD_HINT)
        return {str(key): _listed(value) for key, value in record.items()}

    def _pieces(self, reading: Reading) -> Iterator[Piece]:
        for i in range(len(self.records)):
            if self.layout is not None:
                where = f"{self.path}, entry {i + 1:,}"
                yield record_piece(self._record(i), self.layout, reading, i + 1, where)

    def _place(self, piece: Piece, i: int) -> str:
        return f"{self.path}, entry {piece.number:,}"
