"""Text with separators, as RFC 4180 has it: header, records with their physical lines, and a fast check of structure.

`records` is the definition: what it yields is what a file says. The check is there so that a faster parser may be
believed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankeval_cli.errors import InputError
from rankeval_cli.readers.problems import Problems, leave_out
from rankeval_cli.readers.streams import UTF8_HINT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_RECORD = 64 << 20  # bytes; beyond that an opening quote was left open, and memory would run out
NEWLINE, RETURN, QUOTE = 10, 13, 34
SLICE = 1 << 18  # bytes compared at a time: they stay in the processor's cache


@dataclass(frozen=True)
class Header:
    """The first record of a part.

    names : the columns, blanks around them taken off
    size_bytes, num_lines : what the header takes, blank lines before it included
    is_padded : names have a blank behind the separator, and so may the fields: it belongs to none of them
    """

    names: tuple[str, ...]
    separator: str
    size_bytes: int
    num_lines: int
    is_padded: bool


@dataclass
class Place:
    """How far `records` has come: bytes and lines up to the end of the last record; of use when a record is cut."""

    size_bytes: int = 0
    num_lines: int = 0


class OpenQuote(InputError):
    """The text ends inside a quoted field."""


def read_header(data: bytes, separator: str, where: str) -> Header:
    """The first record that is not blank.

    data : text from the beginning of a part; its last line may be cut off when there are lines before it
    Raises InputError when there is none, or when it cannot be read.
    """
    place = Place()
    for _, cells in records(data, 1, separator, where, place):
        names = tuple(cell.strip() for cell in cells)
        is_padded = any(cell.startswith(" ") for cell in cells[1:])
        return Header(names, separator, place.size_bytes, place.num_lines, is_padded)
    raise InputError("is empty: no header", where, "begin it with a line of column names")


def records(
    data: bytes,
    first_line: int,
    separator: str,
    where: str,
    place: Place | None = None,
    is_padded: bool = False,
    problems: Problems | None = None,
) -> Iterator[tuple[int, list[str]]]:
    """The records of a text, each with the number of its first line; blank lines are passed over.

    Quotes enclose a field or are text: `a"b` is a field, `"a"b` is none. Raises InputError naming the line, and
    OpenQuote when the text ends in a quoted field; `place` then tells where that field's record begins. Where problems
    are collected, a malformed record is left out, and only OpenQuote is raised.
    """
    csv.field_size_limit(LONGEST_RECORD)
    place = place or Place()
    taken = Place()
    lines = _lines(data, first_line, where, taken, problems)
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=is_padded)
    while True:
        line = first_line + place.num_lines
        try:
            cells = next(reader, None)
        except csv.Error as problem:
            error = _malformed(problem, f"{where}:{line}")
            if isinstance(error, OpenQuote):
                raise error from None
            leave_out(error, problems)
            cells = []
        if cells is None:
            return
        place.size_bytes, place.num_lines = taken.size_bytes, taken.num_lines
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield line, cells


def _lines(data: bytes, first_line: int, where: str, taken: Place, problems: Problems | None = None) -> Iterator[str]:
    start = 0
    while start < len(data):
        stop = data.find(b"\n", start) + 1 or len(data)
        try:
            text = data[start:stop].decode()
        except UnicodeDecodeError as problem:
            line = first_line + taken.num_lines
            what = f"byte 0x{data[start + problem.start]:02x} at column {problem.start + 1} is not valid UTF-8"
            leave_out(InputError(what, f"{where}:{line}", UTF8_HINT), problems)
            text = "\n"
        taken.size_bytes, taken.num_lines = stop, taken.num_lines + 1
        yield text
        start = stop


def _malformed(problem: csv.Error, where: str) -> InputError:
    text = str(problem)
    if "unexpected end of data" in text or "field larger" in text:
        kind = OpenQuote if "unexpected" in text else InputError
        return kind("a quote is opened and never closed", where, 'inside a quoted field write "" for a quote')
    if "expected after" in text:
        return InputError("text follows a closing quote", where, 'inside a quoted field write "" for a quote')
    if "new-line character" in text:
        return InputError("a carriage return stands within the line", where, "end lines with LF or CR LF")
    return InputError(f"cannot be read: {text}", where)


def count(data: bytes, byte: int) -> int:
    """How often a byte that is frequent stands in a text; `bytes.count` takes five times as long for these."""
    import numpy as np

    codes = np.frombuffer(data, dtype=np.uint8)
    return sum(int(np.count_nonzero(codes[i : i + SLICE] == byte)) for i in range(0, len(codes), SLICE))


def has_lone_return(data: bytes) -> bool:
    """Whether a carriage return stands elsewhere than before a line end."""
    return b"\r" in data and data.count(b"\r") != data.count(b"\r\n")


def count_records(data: bytes, separator: str, num_fields: int) -> int | None:
    """The number of records in a text that is well formed and has so many fields in each, blank lines aside.

    None when that is not so, or cannot be told cheaply (a carriage return within a line, a quote within an unquoted
    field): then only `records` can say what the text holds.
    """
    import numpy as np

    if has_lone_return(data):
        return None
    codes = np.frombuffer(data, dtype=np.uint8)
    marks = np.flatnonzero((codes == ord(separator)) | (codes == NEWLINE) | (codes == QUOTE))
    kinds = codes[marks]
    if b'"' in data:
        is_quote = kinds == QUOTE
        if not _are_quotes_in_place(codes, marks[is_quote], separator):
            return None
        outside = (np.cumsum(is_quote) % 2 == 0) & ~is_quote
        marks, kinds = marks[outside], kinds[outside]
    fields = _fields_of_lines(codes, marks, kinds)
    is_whole = fields == num_fields
    return int(is_whole.sum()) if (is_whole | (fields == 0)).all() else None


def _are_quotes_in_place(codes: NDArray[np.uint8], quotes: NDArray[np.int64], separator: str) -> bool:
    """Whether each quote opens a field at its beginning, closes it at its end, or is one half of a doubled one."""
    import numpy as np

    if len(quotes) % 2:
        return False
    opening, closing = quotes[0::2], quotes[1::2]
    is_border = np.zeros(256, dtype=bool)
    is_border[[ord(separator), NEWLINE]] = True
    begins = (opening == 0) | is_border[codes[opening - 1]]
    begins[1:] |= opening[1:] == closing[:-1] + 1
    is_border[RETURN] = True
    after = np.minimum(closing + 1, len(codes) - 1)
    ends = (closing == len(codes) - 1) | is_border[codes[after]]
    ends[:-1] |= closing[:-1] + 1 == opening[1:]
    return bool(begins.all() and ends.all())


def _fields_of_lines(codes: NDArray[np.uint8], marks: NDArray[np.int64], kinds: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The number of fields of each line, 0 for a blank one."""
    import numpy as np

    at = np.flatnonzero(kinds == NEWLINE)
    ends, before = marks[at], at
    if len(codes) and (not len(ends) or ends[-1] != len(codes) - 1):  # the last line has no line end
        ends, before = np.append(ends, len(codes)), np.append(at, len(kinds))
    starts = np.concatenate(([0], ends[:-1] + 1))
    fields = np.diff(np.concatenate(([-1], before)))
    has_return = codes[np.maximum(ends - 1, 0)] == RETURN
    fields[ends - starts - has_return <= 0] = 0
    return fields


def headers_by_separator(data: bytes, separators: Sequence[str], where: str) -> list[Header]:
    """The first record as each separator reads it, for those that split it into two columns or more."""
    headers = []
    for separator in separators:
        try:
            header = read_header(data, separator, where)
        except InputError:
            continue
        if len(header.names) > 1:
            headers.append(header)
    return headers
