"""On the driver: paths and Spark DataFrames become tables whose rows Spark reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankeval_cli.engines.spark.parsing import ColumnParser, LineParser, LineSource, Parser, parsed
from rankeval_cli.engines.spark.session import collected, explained, mapped, with_setting
from rankeval_cli.engines.spark.wire import BLOCK, FILE, LINE, added, in_file_order, row_types, without_notes
from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.readers.columns import VALUES, choose
from rankeval_cli.readers.format import Progress, ReadOptions, Role
from rankeval_cli.readers.frames import check_types
from rankeval_cli.readers.jsonlines import JsonLinesTable
from rankeval_cli.readers.lines import Noted
from rankeval_cli.readers.ranks import RankWatch
from rankeval_cli.readers.sample import PARQUET_MARK, PARQUET_NAME
from rankeval_cli.readers.sniff import recognise
from rankeval_cli.readers.source import HEAD_BYTES
from rankeval_cli.readers.streams import compression
from rankeval_cli.readers.tables import DelimitedTable
from rankeval_cli.readers.text import TextTable
from rankeval_cli.readers.values import Tally

if TYPE_CHECKING:
    import polars as pl

HEAD_LINES = 2_000
_GLOB = re.compile(r"[*?[{]")
READABLE = "it reads Parquet, CSV, TSV, JSON Lines, and lines as of TREC"


@dataclass
class SparkTable:
    """A run or judgments that Spark reads, as a `Table`.

    frame : a Spark DataFrame of lines, or of the columns in use
    is_file : whether rows have an order, that of their files
    keeps_order : whether `frames` gives that order
    rank_base : where ranks must rise by one in each query, the first of them; else None
    """

    path: str
    format: str
    role: Role
    has_rank: bool
    frame: Any
    parser: Parser
    is_file: bool
    keeps_order: bool = False
    rank_base: int | None = None
    has_doc_ids: bool = True
    size_bytes: int | None = None
    tag: str | None = None
    warnings: list[str] = field(default_factory=list)

    def rows(self, has_places: bool) -> Any:
        """A Spark DataFrame of rows and notes, as `row_types` has them."""
        from pyspark.sql import functions as sql

        frame = self.frame
        if has_places:
            file, block = sql.col("_metadata.file_path"), sql.col("_metadata.file_block_start")
            frame = frame.select("*", file.alias(FILE), block.alias(BLOCK))
        types = row_types(self.has_rank, has_places)
        return mapped(frame, parsed, types, self.parser, self.has_rank, has_places)

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """All rows, as one frame."""
        notes: list[str] = []
        frame = without_notes(collected(self.rows(self.keeps_order), self.path), notes)
        self.heed(notes)
        if frame.height:
            yield (in_file_order(frame) if self.keeps_order else frame).rename({"value": VALUES[self.role]})

    def locate(self, query: str, doc: str) -> list[str]:
        """Nowhere: rows have left their files."""
        return []

    def heed(self, notes: list[str]) -> None:
        """Take over what the tasks that read it met."""
        met = added(notes, "read")
        self.tag = met.pop("tag", None)
        is_text = isinstance(self.parser, LineParser) and isinstance(self.parser.table, TextTable)
        self.warnings[:] = (Noted if is_text else Tally)(**met).warnings()

    def count(self) -> int:
        """How many rows it has, lines that are none included; a list counts as its elements."""
        from pyspark.sql import functions as sql

        parser = self.parser
        lists = parser.lists if isinstance(parser, ColumnParser) else []
        with explained(self.path):
            if not lists:
                return int(self.frame.count())
            return int(self.frame.select(sql.sum(sql.size(_column(lists[0])))).first()[0] or 0)


@dataclass(frozen=True)
class Found:
    """What a path or an object leads to. frame : a Spark DataFrame, of lines where `text` is their head"""

    path: str
    format: str
    frame: Any
    text: LineSource | None = None


def found(session: Any, source: Any, options: ReadOptions, name: str) -> Found:
    """A path or a Spark DataFrame, looked at. name : what messages call a DataFrame"""
    if not isinstance(source, str):
        return Found(name, "spark", source)
    if options.format == "parquet" or (options.format is None and PARQUET_NAME.search(source)):
        return _parquet(session, source)
    with explained(source):
        frame = session.read.option("lineSep", "\n").text(source).select("value")
        text = _head(frame, source)
    is_parquet = options.format is None and text.head().startswith(PARQUET_MARK)
    return _parquet(session, source) if is_parquet else Found(source, "text", frame, text)


def opened(source: Found, role: Role, options: ReadOptions) -> SparkTable:
    """The input as a table; nothing but the head has been read."""
    if source.text is None:
        return _typed(source, role, options)
    path, text = source.path, source.text
    format = recognise(text, role, options)
    table = format.open(text, role, options)
    if not isinstance(table, (TextTable, DelimitedTable, JsonLinesTable)):
        raise UsageError(f"the Spark engine does not read the format `{format.name}`", path, READABLE)
    if isinstance(table, DelimitedTable):
        text.header = text.head()[: table.layout.header.size_bytes]
    base = None
    if isinstance(table, TextTable) and table.ranks_rise:
        base, table = _rank_base(table), table.unwatched()
    lines, parser = _lines(source.frame), LineParser(text, table)
    return SparkTable(path, table.format, role, table.has_rank, lines, parser, is_file=True, rank_base=base)


def _rank_base(table: TextTable) -> int:
    """The first rank of each query; raises InputError where those of the head do not rise by one."""
    watch = RankWatch()
    for frame in table.frames():
        watch.follows(frame)
    return watch.base


def _lines(frame: Any) -> Any:
    """The lines with their ends: in Arrow's buffer they are then the text itself."""
    from pyspark.sql import functions as sql

    return frame.select(sql.concat("value", sql.lit("\n")).alias(LINE))


def _head(frame: Any, path: str) -> LineSource:
    from pyspark.sql import functions as sql

    start = sql.substring(sql.col("value").cast("binary"), 1, HEAD_BYTES)
    lines = frame.select(start.alias(LINE)).limit(HEAD_LINES).toArrow()[LINE].to_pylist()
    head = b"".join(line + b"\n" for line in lines)
    stop = head.rfind(b"\n", 0, HEAD_BYTES) + 1 or HEAD_BYTES
    if (kind := compression(head)) is not None:
        what = f"is {kind} under a name that does not say so, by which Spark tells what to decompress"
        raise InputError(what, path, "end the name in .gz, .bz2 or .zst")
    return LineSource(path, head[:stop], is_whole=len(lines) < HEAD_LINES and stop == len(head))


def _parquet(session: Any, path: str) -> Found:
    infers = "spark.sql.sources.partitionColumnTypeInference.enabled"  # else a folder `query=007` becomes 7
    with explained(path), with_setting(session, infers, "false"):
        reader = session.read
        if (glob := _GLOB.search(path)) is not None:  # the folders that it matches name columns too
            reader = reader.option("basePath", path[: path.rfind("/", 0, glob.start()) + 1] or ".")
        return Found(path, "parquet", reader.parquet(path))


def _typed(source: Found, role: Role, options: ReadOptions) -> SparkTable:
    import polars as pl

    path, frame = source.path, source.frame
    lists = [each.name for each in frame.schema.fields if each.dataType.typeName() == "array"]
    columns = choose(frame.columns, role, options, path, lists)
    with explained(path):
        used = frame.select(*map(_column, columns.used))
        schema = dict(pl.DataFrame(pl.from_arrow(used.limit(0).toArrow())).schema)
    check_types(schema, columns, role, path)
    has_rank = role != "qrels" and (columns.rank is not None or columns.value is None)
    parser = ColumnParser(path, columns, [name for name in columns.of_rows if name in lists], role, options)
    is_file = source.format == "parquet"
    return SparkTable(path, source.format, role, has_rank, used, parser, is_file)


def _column(name: str) -> Any:
    from pyspark.sql import functions as sql

    return sql.col(f"`{name.replace('`', '``')}`")
