"""Temporary files that have no name, and input that comes only once made readable again by one."""

from __future__ import annotations

import io
import os
import threading
import weakref
from collections.abc import Callable
from typing import IO

from rankeval_cli.errors import RankevalError
from rankeval_cli.readers.streams import STEP, Read


def temporary_file() -> IO[bytes]:
    """An unbuffered file without a name, gone as soon as it is closed or the program ends, however it ends."""
    import tempfile

    try:
        return tempfile.TemporaryFile(prefix="rankeval-", buffering=0)
    except OSError as problem:
        raise _no_space(problem) from problem


def write_all(handle: int, data: bytes | memoryview, place: int) -> None:
    """Write data to a temporary file at a place, however many calls it takes."""
    view = memoryview(data)
    try:
        while view:
            written = os.pwrite(handle, view, place)
            place, view = place + written, view[written:]
    except OSError as problem:
        raise _no_space(problem) from problem


def _no_space(problem: OSError) -> RankevalError:
    import tempfile

    reason = (problem.strerror or str(problem)).lower()
    return RankevalError(
        f"cannot write a temporary file: {reason}", tempfile.gettempdir(), "set TMPDIR to another folder"
    )


class Spool:
    """Input that comes only once, copied to an unlinked temporary file as it passes, so that it can be read again."""

    def __init__(self, read: Read, close: Callable[[], None] = lambda: None) -> None:
        self._read = read
        self._file = temporary_file()
        for finish in (close, self._file.close):
            weakref.finalize(self, finish)
        self._size = 0
        self._lock = threading.Lock()

    def reader(self) -> Read:
        """A function that reads from the beginning."""
        position = 0

        def read(size: int) -> bytes:
            nonlocal position
            data = self.read_at(position, size)
            position += len(data)
            return data

        return read

    def read_at(self, position: int, size: int) -> bytes:
        """At most `size` bytes from `position` on, which lies within what has passed or right behind it."""
        with self._lock:
            if position < self._size:
                return os.pread(self._file.fileno(), min(size, self._size - position), position)
            data = self._read(size)
            write_all(self._file.fileno(), data, self._size)
            self._size += len(data)
            return data

    def whole(self) -> io.BufferedReader:
        """All of it as a file that can be sought in; reads the input to its end. One at a time: they share a place."""
        read = self.reader()
        while read(STEP):
            pass
        copy = os.fdopen(os.dup(self._file.fileno()), "rb")
        copy.seek(0)
        return copy
