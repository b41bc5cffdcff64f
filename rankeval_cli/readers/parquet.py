"""Parquet: one file, a folder of parts, or a glob; flat, or one row a query with list columns."""

from __future__ import annotations

import io
import os
import re
import weakref
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from itertools import takewhile
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

from rankeval_cli.errors import SHOWN_PROBLEMS, InputError
from rankeval_cli.readers.address import explanation, hub_address, is_about_parquet, is_address
from rankeval_cli.readers.ahead import apart, prefetch, several_at_once
from rankeval_cli.readers.columns import choose
from rankeval_cli.readers.format import Format, Progress, ReadOptions, Role
from rankeval_cli.readers.frames import check_types, find, list_columns, shape
from rankeval_cli.readers.sample import PARQUET_MARK, PARQUET_NAME
from rankeval_cli.readers.spool import Spool
from rankeval_cli.readers.streams import compression
from rankeval_cli.readers.values import Reading

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.readers.source import Input

BATCH_ROWS = 200_000  # 6,980,000 rows: 0.11 s with 35 batches, 0.16 s with Polars' own choice of 57 smaller ones
_GLOB = re.compile(r"[*?[]")
PART = "\0part"  # a column that no file has
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


class ParquetTable:
    """A run or judgments in Parquet files, opened; the schema of the first part is read, no rows."""

    format = "parquet"
    tag: str | None = None

    def __init__(self, source: Input, role: Role, options: ReadOptions) -> None:
        self.source, self.role, self.options = source, role, options
        self.path, self.size_bytes = source.path, source.size_bytes
        self.warnings: list[str] = []
        self.files: dict[str, BinaryIO] = {}
        schema, where = self._schema(source.parts[0]), source.where()
        self.columns = choose(list(schema), role, options, where, list_columns(schema))
        check_types(schema, self.columns, role, where)
        self.has_rank = role != "qrels" and (self.columns.rank is not None or self.columns.value is None)
        self.has_doc_ids = self.columns.doc is not None

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in the order of parts, batch by batch; InputError names part, row and column."""
        reading = Reading(self.role, self.options)
        for part, first_row, batch in self._rows(progress):
            place = partial(_place, self.source.where(part), first_row)
            yield from shape(batch, self.columns, reading, place)
        self.warnings[:] = reading.tally.warnings()

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands, as `path, row n`, at most ten places."""
        places: list[str] = []
        with closing(self._rows(None)) as rows:
            for part, first_row, batch in rows:
                found = find(batch, self.columns, query, doc)
                places += [_place(self.source.where(part), first_row, row) for row in found]
                if len(places) >= SHOWN_PROBLEMS:
                    break
        return places[:SHOWN_PROBLEMS]

    def _rows(self, progress: Progress | None) -> Generator[tuple[str, int, pl.DataFrame], None, None]:
        """The columns in use, as (part, rows of it before, frame)."""
        if self.source.is_local:
            for part in self.source.parts:
                self._check_part(self._schema(part), part)
                yield from ((part, rows, batch) for rows, batch in self._batches(part, progress))
            return
        for parts in self._alike():
            if len(parts) == 1:
                yield from ((parts[0], rows, batch) for rows, batch in self._batches(parts[0], None))
            else:
                yield from self._batches_of_many(parts)

    def _alike(self) -> Iterator[list[str]]:
        """Neighbouring parts that one scan can read: their columns in use have the same types, none from a folder."""
        schemas = several_at_once(self._schema, self.source.parts)
        group, types = list[str](), None
        for part, schema in zip(self.source.parts, schemas, strict=True):
            self._check_part(schema, part)
            from_folders = not self._folders(part).keys().isdisjoint(self.columns.used)
            own = part if from_folders else [schema[name] for name in self.columns.used]
            if group and own != types:
                yield group
                group = []
            group, types = [*group, part], own
        yield group

    def _batches_of_many(self, parts: list[str]) -> Iterator[tuple[str, int, pl.DataFrame]]:
        """As `_rows`, of remote parts: Polars fetches the next ones meanwhile (200 parts: 1.8 s, 15 s one by one)."""
        import polars as pl

        lazy = pl.scan_parquet(
            parts,
            glob=False,
            hive_partitioning=False,
            include_file_paths=PART,
            missing_columns="insert",  # of the columns that are not in use
            extra_columns="ignore",
        ).select(*self.columns.used, PART)
        rows = Counter[str]()
        with _damage(parts[0]):
            for batch in prefetch(lazy.collect_batches(maintain_order=True, chunk_size=BATCH_ROWS)):
                for piece in batch.partition_by(PART, maintain_order=True):
                    part = hub_address(self.path, piece[PART][0])
                    yield part, rows[part], piece.drop(PART)
                    rows[part] += piece.height

    def _batches(self, part: str, progress: Progress | None) -> Iterator[tuple[int, pl.DataFrame]]:
        """The columns in use of one part, as (rows before, frame)."""
        import polars as pl

        lazy = self._scan(part).select(self.columns.used)
        size = os.path.getsize(part) if progress is not None and self.source.is_local else 0
        rows = 0
        with _damage(self.source.where(part)):
            total = lazy.select(pl.len()).collect().item() if size else 0
            # unstable in Polars: the minor version is pinned
            batches = lazy.collect_batches(maintain_order=True, chunk_size=BATCH_ROWS)
            for batch in batches if self.source.is_local else prefetch(batches):
                yield rows, batch
                if progress is not None and total:
                    progress(size * (rows + batch.height) // total - size * rows // total)
                rows += batch.height

    def _check_part(self, schema: Mapping[str, pl.DataType], part: str) -> None:
        """Later parts may have other types, but need the columns of the first, and lists where it has lists."""
        for name in self.columns.used:
            if name not in schema:
                raise InputError(
                    f"no column `{name}`, which {self.source.where()} has", part, "all parts need the same columns"
                )
        check_types(schema, self.columns, self.role, part)

    def _schema(self, part: str) -> dict[str, pl.DataType]:
        """Names and types of a part's columns, those of its folders (`query=7/`) included."""
        with _damage(self.source.where(part)):
            lazy = self._scan(part)
            return dict(lazy.collect_schema() if self.source.is_local else apart(lazy.collect_schema))

    def _folders(self, part: str) -> dict[str, str | None]:
        """The columns that stand in folder names below the input's own folder (Spark's `partitionBy`), as text."""
        below = PurePath(part).parts[len(_fixed(self.path).parts) : -1]
        pairs = [folder.split("=", 1) for folder in below if "=" in folder]
        return {unquote(name): None if value == HIVE_NULL else unquote(value) for name, value in pairs}

    def _scan(self, part: str) -> pl.LazyFrame:
        """One part, with the columns of its folders that it does not hold itself."""
        import polars as pl

        lazy = pl.scan_parquet(self._file(part), glob=False, hive_partitioning=False)
        folders = self._folders(part)
        inside = set(lazy.collect_schema().names()) if folders else set()
        return lazy.with_columns(
            pl.lit(value, pl.String).alias(name) for name, value in folders.items() if name not in inside
        )

    def _file(self, part: str) -> str | BinaryIO:
        """A part as Polars can open it: its path, or an unlinked copy of what came compressed or through a pipe."""
        if part not in self.files:
            start = self.source.stored_start(part)
            if self.source.is_regular and not compression(start):
                return part
            self.files[part] = _seekable(self.source.open_binary(part))
            weakref.finalize(self, self.files[part].close)
        self.files[part].seek(0)
        return self.files[part]


def _fixed(path: str) -> PurePath:
    """The part of a path before its first component with a glob sign."""
    parts = PurePath(path).parts
    return PurePath(*takewhile(lambda part: not _GLOB.search(part), parts))


def _seekable(file: BinaryIO) -> BinaryIO:
    """The file itself, or a temporary copy of one that can only be read once; Polars reads either piece by piece."""
    if isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO):
        return file
    return Spool(file.read, file.close).whole()


def _place(part: str, first_row: int, row: int) -> str:
    return f"{part}, row {first_row + row + 1:,}"


@contextmanager
def _damage(part: str) -> Iterator[None]:
    """Turn what Polars raises for a file that is no Parquet, or a damaged one, into InputError."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if is_address(part) and not is_about_parquet(error):
            raise explanation(error, part) from error
        reason = str(error).strip().splitlines()[0].removeprefix("parquet: ")
        raise InputError(f"cannot be read as Parquet: {reason}", part, "write or copy the file again") from error


def _fits(source: Input, role: Role, options: ReadOptions) -> bool:
    """Whether the content is Parquet, or a damaged file is called so."""
    start = source.stored_start()
    if compression(start):
        return source.head().startswith(PARQUET_MARK)
    return start.startswith(PARQUET_MARK) or (
        bool(PARQUET_NAME.search(source.parts[0])) and (not start or b"\0" in start)
    )


FORMATS = (
    Format(
        name="parquet",
        run="a file, a folder of parts or a glob; columns query, doc and score, or lists of them, one row a query",
        qrels="the same with a grade, as on Hugging Face (which calls it score)",
        labelled="the same with a score and a label (grade); also without doc",
        fits=_fits,
        open=ParquetTable,
    ),
)
