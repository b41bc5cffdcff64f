"""Bytes as stored become bytes of text: decompressed, decoded, cut at line ends."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from typing import Any

from rankeval_cli.errors import InputError

Read = Callable[[int], bytes]  # at most that many bytes, b"" at the end

STEP = 1 << 18  # stored bytes read at a time
PIECE = 1 << 22  # decompressed bytes at a time: a tiny archive can hold gigabytes
MAGIC = {"gzip": b"\x1f\x8b", "bzip2": b"BZh", "xz": b"\xfd7zXZ\0", "zstd": b"\x28\xb5\x2f\xfd"}
SKIPPABLE = b"\x2a\x4d\x18"  # a zstd file may begin with a skippable frame: 5x 2a 4d 18
UTF8_MARK = codecs.BOM_UTF8
UTF8_HINT = "convert the file: iconv -f LATIN1 -t UTF-8 OLD > NEW"
# UTF-32 first: its little-endian mark begins with the one of UTF-16.
WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def compression(start: bytes) -> str | None:
    """Name of the compression that the first bytes of a file show; None when it is not compressed."""
    if start[1:4] == SKIPPABLE and 0x50 <= start[0] <= 0x5F:
        return "zstd"
    return next((name for name, magic in MAGIC.items() if start.startswith(magic)), None)


def wide_encoding(start: bytes) -> str | None:
    """`utf-16` or `utf-32` when the first bytes are such a byte order mark."""
    return next((name for mark, name in WIDE_MARKS.items() if start.startswith(mark)), None)


def decompressed(read: Read, start: bytes, where: str) -> Iterator[bytes]:
    """The pieces of a file, decompressed.

    read : gives the stored bytes from the beginning
    start : the first bytes of the file
    Raises InputError that says `truncated` or `corrupt`, naming the file, when the archive does not end as it should.
    """
    import bz2
    import lzma
    import zlib

    kind = compression(start)
    if kind == "gzip":
        return _members(read, lambda: zlib.decompressobj(31), zlib.error, kind, where)
    if kind == "bzip2":
        return _members(read, bz2.BZ2Decompressor, OSError, kind, where)
    if kind == "xz":
        return _members(read, lzma.LZMADecompressor, lzma.LZMAError, kind, where)
    return _zstd(read, where) if kind == "zstd" else iter(lambda: read(STEP), b"")


def _members(read: Read, new: Callable[[], Any], error: type[Exception], kind: str, where: str) -> Iterator[bytes]:
    """The pieces of an archive of one or more members, zero bytes between and behind them allowed (as gzip and xz)."""
    decoder, data = new(), read(STEP)
    while True:
        try:
            piece = decoder.decompress(data, PIECE)
        except error as problem:
            raise _corrupt(kind, where) from problem
        if piece:
            yield piece
        if decoder.eof:
            data = _next_member(read, decoder.unused_data)
            if not data:
                return
            decoder = new()
            continue
        data = getattr(decoder, "unconsumed_tail", b"")
        if not data and getattr(decoder, "needs_input", True):
            data = read(STEP)
            if not data and not piece:  # zlib may hold back output: only an empty answer is the end
                raise _truncated(kind, where)


def _next_member(read: Read, data: bytes) -> bytes:
    while not (data := data.lstrip(b"\0")):
        if not (data := read(STEP)):
            return b""
    return data


def _zstd(read: Read, where: str) -> Iterator[bytes]:
    """The standard library of Python 3.11 has no zstd; PyArrow does, and is loaded for it alone."""
    import pyarrow as pa  # type: ignore[import-untyped]

    stream = pa.CompressedInputStream(pa.PythonFile(readable(read), mode="r"), "zstd")
    while True:
        try:
            piece = stream.read(PIECE)
        except OSError as problem:
            is_cut = "truncated" in str(problem).lower()
            raise (_truncated if is_cut else _corrupt)("zstd", where) from problem
        if not piece:
            return
        yield piece


def _truncated(kind: str, where: str) -> InputError:
    return InputError(
        f"the {kind} archive is truncated: it ends before its data do", where, "copy or compress the file again"
    )


def _corrupt(kind: str, where: str) -> InputError:
    return InputError(f"the {kind} archive is corrupt", where, "copy or compress the file again")


def text_pieces(pieces: Iterator[bytes], where: str) -> Iterator[bytes]:
    """The same text as UTF-8 without a byte order mark; UTF-16 and UTF-32 are decoded when they begin with a mark.

    Raises InputError naming the encoding when such a text is damaged.
    """
    start = b""
    for piece in pieces:
        start += piece
        if len(start) >= 4:
            break
    encoding = wide_encoding(start)
    if encoding is None:
        start = start.removeprefix(UTF8_MARK)
        if start:
            yield start
        yield from pieces
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        yield decoder.decode(start).encode()
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as problem:
        name = encoding.upper()
        raise InputError(
            f"begins with the mark of {name} and is no valid {name}", where, "save it as UTF-8"
        ) from problem


def cut(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Join pieces to chunks of about `size` bytes that end at a line end; the last one ends where the text does.

    A chunk longer than that holds a longer line.
    """
    parts: list[bytes] = []
    length = 0
    for piece in _at_most(pieces, size):
        stop = piece.rfind(b"\n") + 1 if length + len(piece) >= size else 0
        if stop:
            parts.append(piece[:stop])
            piece = piece[stop:]
            yield _emptied(parts)
            length = 0
        parts.append(piece)
        length += len(piece)
    if length:
        yield b"".join(parts)


def _emptied(parts: list[bytes]) -> bytes:
    """All parts joined; they are not held while the whole is worked on."""
    whole = b"".join(parts)
    parts.clear()
    return whole


def _at_most(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        yield from (piece[i : i + size] for i in range(0, len(piece), size))


def readable(read: Read) -> io.RawIOBase:
    """A file object over a function that reads."""
    return _Readable(read)


class _Readable(io.RawIOBase):
    def __init__(self, read: Read) -> None:
        self._read, self._rest = read, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._rest or self._read(len(buffer))
        count = min(len(data), len(buffer))
        buffer[:count] = data[:count]
        self._rest = data[count:]
        return count


def reader_of(pieces: Iterator[bytes]) -> Read:
    """Pieces of any size as a function that reads."""
    rest = b""

    def read(size: int) -> bytes:
        nonlocal rest
        while not rest:
            if (piece := next(pieces, None)) is None:
                return b""
            rest = piece
        data, rest = rest[:size], rest[size:]
        return data

    return read
