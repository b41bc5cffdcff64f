"""Where a report goes: standard output, whose reader may leave, and files, which are whole or as they were."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, TextIO

from rankeval_cli.errors import OutputError
from rankeval_cli.report.reporter import Options, Reporter
from rankeval_cli.report.text import visible

if TYPE_CHECKING:
    from rankeval_cli.model import Report

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line feed
_OWN_STREAM = re.compile(r"(?:/dev|/proc/self)/fd/(\d+)|/dev/std(?:in|out|err)")
_OWN_NAMES = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_CLOSED_PIPE = (errno.EPIPE, errno.EINVAL)  # EINVAL is what Windows says

_HINTS = {
    errno.EACCES: "choose a place where you may write",
    errno.EPERM: "choose a place where you may write",
    errno.EROFS: "choose a place where you may write",
    errno.ENOSPC: "free some space, or choose another place",
    errno.EDQUOT: "free some space, or choose another place",
    errno.ENAMETOOLONG: "choose a shorter name",
}

Fill = Callable[[IO[bytes]], None]


def write_stdout(chunks: Iterable[str], is_styled: bool = False) -> None:
    """Write pieces of text to standard output, until they or its reader end.

    is_styled : the text holds escape sequences of our own; other text gets its control characters escaped where
        standard output is a terminal
    A reader that leaves (`| head`) is no error. What the encoding of the stream cannot say is written as an escape.
    Raises OutputError when standard output is closed or its disk is full.
    """
    stream = sys.stdout
    if stream is None or stream.closed:
        raise OutputError("standard output is closed", hint="use `-o report.json` to write a file")
    _accept_everything(stream)
    if not is_styled and stream.isatty():
        chunks = (_CONTROLS.sub(lambda match: visible(match[0]), chunk) for chunk in chunks)
    try:
        for chunk in chunks:
            stream.write(chunk)
        stream.flush()
    except OSError as error:
        _discard(stream)
        if error.errno not in _CLOSED_PIPE:
            raise _told("standard output", error) from error


def _accept_everything(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _discard(stream: TextIO) -> None:
    """Send what is still buffered nowhere: flushing it at exit would fail again, with a message of the interpreter."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def is_stream(path: str) -> bool:
    """Whether the path is a pipe, a device or one of our own open files: what is written straight into."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return _own_stream(path) is not None or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def write_file(path: str, reporter: Reporter, report: Report, per_query: bool = False) -> None:
    """Write a report into a file: all of it, or nothing changes.

    A link leads to its target. A new file has the usual mode, a replaced one keeps its mode and, where that is
    allowed, its owner. A pipe or device is written straight into. Text is UTF-8, without colour.
    Raises OutputError naming the path; no half-written or temporary file stays behind then, or on an interrupt.
    """
    options = Options(per_query)

    def fill(file: IO[bytes]) -> None:
        if reporter.write is not None:
            reporter.write(report, options, file)
        for chunk in reporter.render(report, options) if reporter.render is not None else ():
            file.write(chunk.encode("utf-8", "backslashreplace"))

    try:
        if is_stream(path):
            _write_stream(path, fill)
        else:
            _write_regular(path, fill)
    except OSError as error:
        raise _told(path, error) from error


def write_text(path: str, text: str) -> None:
    """Write a text into a file as `write_file` writes a report."""

    def fill(file: IO[bytes]) -> None:
        file.write(text.encode())

    try:
        _write_regular(path, fill)
    except OSError as error:
        raise _told(path, error) from error


def append_file(path: str, data: bytes) -> None:
    """Append to a file, which is made if it is not there. Raises OutputError naming the path."""
    try:
        with open(path, "ab") as file:
            file.write(data)
    except OSError as error:
        raise _told(path, error) from error


def _write_stream(path: str, fill: Fill) -> None:
    own = _own_stream(path)
    if own is not None and sys.stdout is not None:
        sys.stdout.flush()  # it may go to the same place
    # Opening /dev/stdout would cut off what a file behind it holds by now: share its position.
    with suppress(BrokenPipeError), open(path if own is None else os.dup(own), "wb") as file:
        fill(file)


def _own_stream(path: str) -> int | None:
    match = _OWN_STREAM.fullmatch(path)
    if not match:
        return None
    return int(match[1]) if match[1] else _OWN_NAMES[path]


def _write_regular(path: str, fill: Fill) -> None:
    found = _found(path)
    target = os.path.realpath(path)
    if found is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    try:
        with _temporary(target, found) as file:
            fill(file)
    except OSError as error:
        # The folder takes no new file, or the file is a mount of its own (one file mounted into a container).
        if found is None or error.errno not in (errno.EACCES, errno.EBUSY, errno.EPERM):
            raise
        with open(target, "wb") as file:
            fill(file)


def _found(path: str) -> os.stat_result | None:
    """What stands at the path now; raises OutputError where it cannot be replaced."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        found = None
    if path.endswith(os.sep) or (found is not None and stat.S_ISDIR(found.st_mode)):
        raise OutputError("is a folder", path, f"name a file in it, such as `{os.path.join(path, 'report.json')}`")
    with suppress(OSError, ValueError, AttributeError):
        if found is not None and os.path.samestat(found, os.fstat(sys.stdout.fileno())):
            raise OutputError("is where standard output goes too", path, "name another file after -o")
    return found


@contextmanager
def _temporary(target: str, found: os.stat_result | None) -> Iterator[IO[bytes]]:
    """A file beside the target that takes its place in the end."""
    # Not `tempfile`: its files are for the owner alone, and the umask cannot be asked for without being set.
    name = os.path.join(os.path.dirname(target), f".rankeval-{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(name, flags, 0o666), "wb") as file:
            yield file
            if found is not None:
                _keep_mode(file.fileno(), found)
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _keep_mode(file: int, found: os.stat_result) -> None:
    if not hasattr(os, "fchown"):
        return
    for owner in (found.st_uid, -1):  # who may not give files away may still keep the group
        with suppress(OSError):
            os.fchown(file, owner, found.st_gid)
            break
    os.fchmod(file, found.st_mode & 0o777)


def _told(path: str, error: OSError) -> OutputError:
    given = os.path.dirname(path) or "."
    folder = os.path.dirname(os.path.realpath(path)) if os.path.isdir(given) else given
    if error.errno == errno.ENOENT and not os.path.isdir(folder):
        return OutputError(f"the folder `{folder}` does not exist", path, f"create it: `mkdir -p {folder}`")
    reason = (error.strerror or str(error)).lower()
    return OutputError(f"cannot be written: {reason}", path, _HINTS.get(error.errno or 0, "choose another place"))
