"""Files of S3, Google Cloud Storage, Azure, Hugging Face and web servers, as Polars reads them: streamed, not copied.

Polars gives Parquet as it gives local files, and text as lines, gzip and zstd undone; the lines go the way of all text
here. It takes credentials and endpoints from the environment.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO

from rankeval_cli.errors import InputError
from rankeval_cli.readers.address import MissingError, explained, explanation, hub_address, is_about_parquet, scheme_of
from rankeval_cli.readers.ahead import apart, prefetch
from rankeval_cli.readers.format import Progress
from rankeval_cli.readers.sample import PARQUET_MARK, PARQUET_NAME
from rankeval_cli.readers.source import Input, natural, told
from rankeval_cli.readers.spool import Spool
from rankeval_cli.readers.streams import UTF8_HINT, Read

if TYPE_CHECKING:
    import polars as pl

BATCH_ROWS = 100_000  # lines: some megabytes of a run
_GLOB = re.compile(r"[*?[]")
_PACKED = re.compile(r"\.(?:bz2|xz|zip|7z|lz4)$", re.IGNORECASE)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f]")
NOT_FOUND = "no such file, and as a glob it matches none"


def open_remote(address: str) -> Input:
    """Find what an address leads to.

    address : a file, a folder (`/` at its end is not needed), or a glob; of web servers a file alone
    Raises InputError when there is no such thing, or it may not be read, or cannot be reached.
    """
    scheme = scheme_of(address)
    if scheme in ("http", "https"):
        return RemoteInput(address, (address,), _is_parquet(address))
    if not address.partition("://")[2].strip("/"):
        raise InputError("names no bucket", address, f"write {scheme}://BUCKET/FILE")
    if address.endswith("/") or address.count("/") == 2:  # a bucket is a folder
        return _folder(address)
    if _GLOB.search(address):
        return _glob(address)
    try:
        return RemoteInput(address, (address,), _is_parquet(address))
    except MissingError as problem:
        parts = [] if problem.what == "no such bucket" else _listed(f"{address}/*")
        if not parts:
            raise
        return RemoteInput(address, tuple(parts), _is_parquet(parts[0]))


def _glob(address: str) -> Input:
    """The files that it matches; the one of that very name where it matches none."""
    parts = _listed(address)
    if parts:
        return RemoteInput(address, tuple(parts), _is_parquet(parts[0]))
    try:
        return RemoteInput(address, (address,), _is_parquet(address))
    except MissingError:
        raise MissingError(NOT_FOUND, address, "check its spelling; `*` stops at `/`, `**` does not") from None


def _folder(address: str) -> Input:
    parts = _listed(f"{address.rstrip('/')}/*")
    if not parts:
        raise MissingError("the folder holds no data file", address, "names that begin with `_` or `.` are left out")
    return RemoteInput(address, tuple(parts), _is_parquet(parts[0]))


def _listed(glob: str) -> list[str]:
    """The files that are not empty and not hidden, in natural order."""
    import polars as pl

    with explained(glob):
        # Private, but what other engines use too, and the minor version is pinned: the scan with its paths expanded.
        # Nothing public lists a bucket without reading every file in it.
        node = apart(lambda: pl.scan_lines(glob)._ldf.visit()).view_current_node()
    paths = [hub_address(glob, str(path)) for path in getattr(node, "paths", ())]
    return sorted((path for path in paths if not PurePath(path).name.startswith(("_", "."))), key=natural)


def _is_parquet(part: str) -> bool:
    """Whether the file ends as Parquet does, or is called so; raises InputError when it cannot be read at all."""
    import polars as pl

    try:
        apart(pl.scan_parquet(part, glob=False, hive_partitioning=False).collect_schema)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if is_about_parquet(error):
            return bool(PARQUET_NAME.search(part))
        raise explanation(error, part) from error
    return True


class RemoteInput(Input):
    """What an address leads to. Text is read anew each time, but for what fits into the head."""

    def __init__(self, path: str, parts: tuple[str, ...], is_parquet: bool) -> None:
        super().__init__(path, parts, None)
        self._is_parquet = is_parquet
        self._texts: dict[str, bytes] = {}  # of parts that are smaller than a head

    @property
    def is_regular(self) -> bool:
        """Whether the parts are Parquet, which Polars opens by name."""
        return self._is_parquet

    @property
    def is_local(self) -> bool:
        """Never."""
        return False

    def head(self) -> bytes:
        """As for every input; the mark of Parquet alone where that is what the parts are."""
        return PARQUET_MARK if self._is_parquet else super().head()

    def stored_start(self, part: str | None = None) -> bytes:
        """The mark of Parquet, or nothing: what is compressed has been undone, and the rest is text."""
        return PARQUET_MARK if self._is_parquet else b""

    def open_binary(self, part: str | None = None) -> BinaryIO:
        """The text of a part, copied to an unlinked temporary file."""
        with self._reading(part or self.parts[0]) as read:
            return Spool(read).whole()

    def _read_head(self, part: str) -> bytes:
        data = super()._read_head(part)
        if self._is_whole:
            self._texts[part] = data
        return data

    @contextmanager
    def _reading(self, part: str, progress: Progress | None = None) -> Iterator[Read]:
        if part in self._texts:
            yield told(io.BytesIO(self._texts[part]).read, progress)
            return
        with closing(prefetch(_pieces(part))) as pieces:
            yield told(_reader(pieces), progress)


def _reader(pieces: Iterator[bytes]) -> Read:
    rest = memoryview(b"")

    def read(size: int) -> bytes:
        nonlocal rest
        while not rest:
            piece = next(pieces, None)
            if piece is None:
                return b""
            rest = memoryview(piece)
        data, rest = bytes(rest[:size]), rest[size:]
        return data

    return read


def _pieces(part: str) -> Iterator[bytes]:
    """The lines of a text file, each with a line end; raises InputError when it is no text or stops coming."""
    import polars as pl

    try:
        lines = pl.scan_lines(part, glob=False)
        # unstable in Polars: the minor version is pinned
        for batch in lines.collect_batches(maintain_order=True, chunk_size=BATCH_ROWS):
            yield _joined(batch)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise (_no_text(part) if "utf8" in str(error) else explanation(error, part)) from error


def _joined(lines: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    lines.write_csv(buffer, include_header=False, quote_style="never")  # faster than to join them
    return buffer.getvalue()


def _no_text(part: str) -> InputError:
    """Which line is not UTF-8, if it is text at all."""
    import polars as pl

    if _PACKED.search(part):
        return InputError("of remote files, only gzip and zstd are undone", part, "copy it first, or pack it anew")
    with explained(part):
        lines = pl.scan_csv(
            part,
            has_header=False,
            separator="\x01",
            quote_char=None,
            schema={"line": pl.String},
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
            extra_columns="ignore",
            glob=False,
        )
        bad = lines.with_row_index("row", 1).filter(pl.col("line").str.contains("\ufffd", literal=True)).head(1)
        found = apart(lambda: bad.collect(engine="streaming")).rows()
    if not found or _CONTROLS.search(found[0][1]):
        return InputError("is neither UTF-8 text nor Parquet", part, "`rankeval formats` shows what can be read")
    return InputError("is not valid UTF-8", f"{part}:{found[0][0]}", UTF8_HINT)
