"""One input as the user named it (a file, a folder or glob of parts, standard input, a pipe), in chunks of lines.

What an address names is in remote.py.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePath
from typing import BinaryIO

from rankeval_cli.errors import InputError, close_matches
from rankeval_cli.readers.address import is_address
from rankeval_cli.readers.ahead import prefetch
from rankeval_cli.readers.format import Progress
from rankeval_cli.readers.spool import Spool
from rankeval_cli.readers.streams import (
    UTF8_MARK,
    Read,
    compression,
    cut,
    decompressed,
    readable,
    reader_of,
    text_pieces,
    wide_encoding,
)

CHUNK_BYTES = 8 << 20  # 4 MB are parsed 20 % more slowly, 16 MB no faster
HEAD_BYTES = 1 << 20
START_BYTES = 1 << 12
SHOWN_NAMES = 5
STDIN = "-"
_GLOB = re.compile(r"[*?[]")


@dataclass
class Chunk:
    """Some whole lines of one part.

    path : as messages name it
    first_line : number of the first line in its part, counted from 1
    data : decompressed UTF-8 without byte order mark; ends with a newline unless the part does not
    num_lines : a reader that has counted the lines may set it before it asks for the next chunk, to spare a pass
    """

    path: str
    first_line: int
    data: bytes
    num_lines: int | None = None


class Input:
    """What a path leads to. Make one with `open_input`; nothing is read before it is asked for.

    path : as the user gave it
    parts : the files it consists of, in natural order (`part-2` before `part-10`)
    size_bytes : stored bytes of all parts, None where that is not known (pipes)
    """

    def __init__(self, path: str, parts: tuple[str, ...], size_bytes: int | None, spool: Spool | None = None) -> None:
        self.path, self.parts, self.size_bytes = path, parts, size_bytes
        self._spool = spool
        self._head: bytes | None = None
        self._is_whole = False

    @property
    def is_regular(self) -> bool:
        """Whether the parts are files that other libraries can open by name."""
        return self.is_local

    @property
    def is_local(self) -> bool:
        """Whether the parts are files of this machine, with a size and a place to read from."""
        return self._spool is None

    def where(self, part: str | None = None) -> str:
        """How messages name a part (the first one when not told)."""
        part = part or self.parts[0]
        return "<stdin>" if part == STDIN else part

    def head(self) -> bytes:
        """The first megabyte of the first part that is not empty, as text (see `Chunk.data`); b"" when all are."""
        if self._head is None:
            self._head = next(filter(None, map(self._read_head, self.parts)), b"")
        return self._head

    @property
    def head_is_whole(self) -> bool:
        """Whether the head is all that its part holds."""
        self.head()
        return self._is_whole

    def _read_head(self, part: str) -> bytes:
        data = b""
        for piece in self._text(part):
            data += piece
            if len(data) > HEAD_BYTES:
                break
        self._is_whole = len(data) <= HEAD_BYTES
        return _line_ends(data[:HEAD_BYTES])

    def stored_start(self, part: str | None = None) -> bytes:
        """The first bytes of a part as stored, at most 4,096."""
        with self._reading(part or self.parts[0]) as read:
            return read(START_BYTES)

    def open_binary(self, part: str | None = None) -> BinaryIO:
        """The bytes of a part, decompressed and not decoded; can be sought in unless the part is compressed."""
        part = part or self.parts[0]
        start = self.stored_start(part)
        if compression(start):
            return io.BufferedReader(readable(reader_of(self._decompressed(part, start))))
        with _naming(self.where(part)):
            return self._spool.whole() if self._spool else _open(part)

    def chunks(self, progress: Progress | None = None) -> Iterator[Chunk]:
        """The text of all parts in chunks of about CHUNK_BYTES, each cut behind a line end.

        Raises InputError when a part cannot be read to its end.
        """
        for part in self.parts:
            first_line = 1
            for data in self._chunks(part, progress):
                chunk = Chunk(self.where(part), first_line, data)
                yield chunk
                first_line += data.count(b"\n") if chunk.num_lines is None else chunk.num_lines

    def _chunks(self, part: str, progress: Progress | None) -> Iterator[bytes]:
        start = self.stored_start(part)
        is_plain = self.is_local and not (compression(start) or wide_encoding(start))
        if is_plain and not _is_old_mac(start):
            with _naming(self.where(part)):
                yield from _plain_chunks(part, len(UTF8_MARK) if start.startswith(UTF8_MARK) else 0, progress)
            return
        chunks = self._cut(part, progress)
        if not self.is_local:  # a thread that waits for a pipe could not be told to stop, and a pipe has one reader
            yield from chunks
            return
        with closing(prefetch(chunks)) as ahead:  # decompressed while the one before is parsed
            yield from ahead

    def _cut(self, part: str, progress: Progress | None) -> Iterator[bytes]:
        pieces = self._text(part, progress)
        first = next(pieces, b"")
        if _is_old_mac(first):
            first, pieces = _line_ends(first), (piece.replace(b"\r", b"\n") for piece in pieces)
        yield from cut(chain([first], pieces), CHUNK_BYTES - CHUNK_BYTES // 4)  # with all of it 40 MB more are held

    def _text(self, part: str, progress: Progress | None = None) -> Iterator[bytes]:
        pieces = self._decompressed(part, self.stored_start(part), progress)
        return text_pieces(pieces, self.where(part))

    def _decompressed(self, part: str, start: bytes, progress: Progress | None = None) -> Iterator[bytes]:
        with self._reading(part, progress) as read:
            yield from decompressed(read, start, self.where(part))

    @contextmanager
    def _reading(self, part: str, progress: Progress | None = None) -> Iterator[Read]:
        """A function that reads the stored bytes of a part from its beginning."""
        with _naming(self.where(part)):
            if self._spool:
                yield told(self._spool.reader(), progress)
            else:
                with _open(part, buffering=0) as file:
                    yield told(file.read, progress)


def told(read: Read, progress: Progress | None) -> Read:
    """The same function, which tells how many bytes it has read."""
    if progress is None:
        return read

    def read_and_tell(size: int) -> bytes:
        data = read(size)
        progress(len(data))
        return data

    return read_and_tell


def _open(part: str, buffering: int = -1) -> BinaryIO:
    return open(part, "rb", buffering=buffering)


def _is_old_mac(text: bytes) -> bool:
    """Whether lines end with CR alone, as on a Macintosh before 2001."""
    return b"\r" in text and b"\n" not in text


def _line_ends(text: bytes) -> bytes:
    return text.replace(b"\r", b"\n") if _is_old_mac(text) else text


def _plain_chunks(part: str, position: int, progress: Progress | None) -> Iterator[bytes]:
    """Chunks of an uncompressed file: the cut is looked for first, so that each chunk is read once and never joined."""
    with _open(part, buffering=0) as file:
        handle, end = file.fileno(), os.fstat(file.fileno()).st_size
        while position < end:
            stop = _line_end_behind(handle, position + CHUNK_BYTES, end)
            data = os.pread(handle, stop - position, position)
            if len(data) < stop - position:
                raise InputError("became shorter while it was read", part, "wait until it is written, then try again")
            if progress:
                progress(len(data))
            position = stop
            yield data


def _line_end_behind(handle: int, position: int, end: int) -> int:
    """The place behind the first line end at or after `position`, or the end of the file."""
    step = 1 << 12
    while position < end:
        found = os.pread(handle, step, position).find(b"\n")
        if found >= 0:
            return position + found + 1
        position, step = position + step, 1 << 18
    return end


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Turn an OSError into an InputError that names the file."""
    try:
        yield
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InputError(f"cannot be read: {reason}", where, "check the file and its permissions") from problem


def open_input(path: str) -> Input:
    """Find what a path leads to.

    path : a file, a folder (its files, but those whose names begin with `_` or `.`), a glob (expanded unless a file of
        that very name exists), an address, `-` for standard input, a pipe
    Raises InputError when there is no such file, a folder or glob holds no data file, or reading is not permitted.
    """
    if path == STDIN:
        return _standard_input()
    if not path:
        raise InputError("a file name is empty", hint="a variable of the shell may be unset")
    with _naming(path):
        if os.path.isdir(path):
            return _in_parts(path, [str(PurePath(path, name)) for name in os.listdir(path)], "the folder")
        if os.path.lexists(path):
            return _one_file(path)
    if is_address(path):
        from rankeval_cli.readers.remote import open_remote

        return open_remote(path)
    if _GLOB.search(path):
        import glob

        found = glob.glob(path, recursive=True)
        if not found:
            raise InputError("no such file, and as a glob it matches none", path, "check its spelling")
        return _in_parts(path, found, "the glob")
    raise _missing(path)


def _one_file(path: str) -> Input:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise InputError(f"is a link to `{os.readlink(path)}`, which does not exist", path) from None
    if stat.S_ISREG(found.st_mode):
        with _open(path):
            return Input(path, (path,), found.st_size)
    file = _open(path, buffering=0)
    return Input(path, (path,), None, Spool(file.read, file.close))


def _in_parts(path: str, names: list[str], what: str) -> Input:
    parts = [name for name in names if os.path.isfile(name) and not PurePath(name).name.startswith(("_", "."))]
    if not parts:
        raise InputError(f"{what} holds no data file", path, "names that begin with `_` or `.` are left out")
    parts.sort(key=natural)
    for part in parts:
        with _naming(part), _open(part):
            pass
    return Input(path, tuple(parts), sum(os.path.getsize(part) for part in parts))


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts `part-2` before `part-10`."""
    words = re.split(r"([0-9]+)", name)
    return [(1, int(word), "") if i % 2 else (0, 0, word) for i, word in enumerate(words)]


def _standard_input() -> Input:
    if sys.stdin is None:
        raise InputError("standard input is closed", "<stdin>", "name a file")
    source = sys.stdin.buffer
    read = getattr(source, "read1", source.read)
    return Input(STDIN, (STDIN,), None, Spool(read))


def _missing(path: str) -> InputError:
    folder = Path(path).parent
    if not folder.is_dir():
        return InputError("no such file", path, f"the folder `{folder}` does not exist")
    names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    near = [str(folder / name) for name in close_matches(PurePath(path).name, names)]
    if near:
        return InputError("no such file", path, "did you mean " + " or ".join(f"`{name}`" for name in near) + "?")
    listed = ", ".join(f"`{name}`" for name in names[:SHOWN_NAMES]) or "nothing"
    more = f" and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else ""
    return InputError("no such file", path, f"the folder `{folder}` holds {listed}{more}")
