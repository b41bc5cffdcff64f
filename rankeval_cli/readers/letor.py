"""LETOR / SVMlight: labels with `qid:` and perhaps `#docid = ...`, and beside them a file of one score a line.

Line i of the scores belongs to line i of the labels (blank lines and lines of comment aside).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from rankeval_cli.errors import SHOWN_PROBLEMS, InputError
from rankeval_cli.readers.format import Format, Progress, ReadOptions, Role
from rankeval_cli.readers.streams import UTF8_HINT
from rankeval_cli.readers.values import Reading, parse_number, parse_value, value_complaint

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.readers.source import Input

FRAME_ROWS = 100_000
LABELS_SHAPE = "label qid:QUERY 1:0.5 2:0.1 ... # docid = DOCUMENT"
RUN_HINT = "give the labels as the judgments: rankeval SCORES LABELS"
_DOCID = re.compile(rb"#.*?\bdocid\s*=\s*(\S+)")


class Line(NamedTuple):
    """One line that holds data. place : `path:line`"""

    place: str
    text: bytes


class Row(NamedTuple):
    """One judged document. label : the grade as it is written"""

    place: str
    query: str
    doc: str
    label: bytes


def lines_of(source: Input, progress: Progress | None = None) -> Iterator[Line]:
    """The lines that are neither blank nor a comment."""
    for chunk in source.chunks(progress):
        for number, text in enumerate(chunk.data.split(b"\n"), chunk.first_line):
            text = text.strip()
            if text and not text.startswith(b"#"):
                yield Line(f"{chunk.path}:{number}", text)


def labels_of(source: Input, progress: Progress | None = None) -> Iterator[Row]:
    """The labels, each with the id that its comment gives; without such comments the number of the row is the id.

    Raises InputError naming the line that has no label, no query, or a docid where others have none.
    """
    has_docids: bool | None = None
    for number, (place, text) in enumerate(lines_of(source, progress), 1):
        fields = text.split(None, 2)
        if len(fields) < 2 or not fields[1].startswith(b"qid:") or len(fields[1]) == 4:
            raise InputError(f"`{_shown(text)}` has no query", place, f"lines look like {LABELS_SHAPE}")
        found = _DOCID.search(text)
        has_docids = found is not None if has_docids is None else has_docids
        if has_docids != (found is not None):
            other = "no docid, and lines before it have one" if has_docids else "a docid, and lines before it have none"
            raise InputError(f"has {other}", place, "give every line a docid, or none")
        doc = _text(found[1], place) if found else str(number)
        yield Row(place, _text(fields[1][4:], place), doc, fields[0])


def _text(text: bytes, place: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise InputError(f"{text!r} is not valid UTF-8", place, UTF8_HINT) from None


def _number(text: bytes, role: Role, options: ReadOptions, place: str) -> float:
    decoded = text.decode(errors="backslashreplace")
    value = parse_value(decoded, role, options.grade_map)
    if value is None or math.isnan(value) or (role == "qrels" and math.isinf(value)):
        what, hint = value_complaint(decoded, role, "grade" if role == "qrels" else "score")
        raise InputError(what, place, hint or "one score a line" if role == "run" else hint)
    return value


def _shown(text: bytes) -> str:
    return text[:40].decode(errors="backslashreplace") + ("..." if len(text) > 40 else "")


class LetorQrels:
    """Judgments in LETOR's layout, opened."""

    format = "letor"
    tag: str | None = None
    has_rank = False

    def __init__(self, source: Input, role: Role, options: ReadOptions) -> None:
        self.source, self.options = source, options
        self.has_doc_ids = _has_docids(source)
        self.path, self.size_bytes = source.path, source.size_bytes
        self.warnings: list[str] = []

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The labels in file order, a part at a time; InputError names the line."""
        rows: list[Row] = []
        for row in labels_of(self.source, progress):
            rows.append(row)
            if len(rows) == FRAME_ROWS:
                yield self._graded(rows)
                rows = []
        if rows:
            yield self._graded(rows)

    def _graded(self, rows: list[Row]) -> pl.DataFrame:
        return _frame(rows, "grade", [_number(row.label, "qrels", self.options, row.place) for row in rows])

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands, as `path:line`, at most ten places."""
        rows = labels_of(self.source)
        return [row.place for row in rows if (row.query, row.doc) == (query, doc)][:SHOWN_PROBLEMS]


class LetorRun:
    """A file of one score a line, opened beside its labels."""

    format = "letor"
    tag: str | None = None
    has_rank = False

    def __init__(self, source: Input, role: Role, options: ReadOptions) -> None:
        self.path, self.size_bytes = source.path, source.size_bytes
        if options.beside is None or not is_labels(options.beside):
            what = "holds one score a line, without queries and documents, and the judgments are no LETOR file"
            raise InputError(what, source.where(), RUN_HINT)
        self.source, self.labels, self.options = source, options.beside, options
        self.has_doc_ids = _has_docids(options.beside)
        self.warnings: list[str] = []

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The scores in file order, with the ids of the labels; InputError when one file is longer than the other."""
        reading = Reading("run", self.options)
        rows: list[Row] = []
        scores: list[float] = []
        for row, score in self._pairs(progress):
            rows.append(row)
            scores.append(score)
            reading.tally.infinite += math.isinf(score)
            if len(rows) == FRAME_ROWS:
                yield _frame(rows, "score", scores)
                rows, scores = [], []
        if rows:
            yield _frame(rows, "score", scores)
        self.warnings[:] = reading.tally.warnings()

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands in the labels, as `path:line`, at most ten places."""
        return LetorQrels(self.labels, "qrels", self.options).locate(query, doc)

    def _pairs(self, progress: Progress | None) -> Iterator[tuple[Row, float]]:
        lines, labels = lines_of(self.source, progress), labels_of(self.labels)
        for before, (line, row) in enumerate(zip_longest(lines, labels)):
            if line is None or row is None:
                total = before + 1 + sum(1 for _ in (labels if line is None else lines))
                num_scores, num_labels = (before, total) if line is None else (total, before)
                what = f"has {num_scores:,} scores, and {self.labels.path} has {num_labels:,} labels"
                raise InputError(what, self.path, "line i of the scores belongs to line i of the labels")
            yield row, _number(line.text, "run", self.options, line.place)


def _frame(rows: list[Row], name: str, values: list[float]) -> pl.DataFrame:
    import polars as pl

    found = {
        "query": pl.Series([row.query for row in rows], dtype=pl.String),
        "doc": pl.Series([row.doc for row in rows], dtype=pl.String),
        name: pl.Series(values, dtype=pl.Float64),
    }
    return pl.DataFrame(found)


def _head_lines(source: Input) -> Iterator[bytes]:
    """The whole lines of the head, stripped, that are neither blank nor a comment."""
    lines = source.head().split(b"\n")
    if not source.head_is_whole:
        lines.pop()
    stripped = (line.strip() for line in lines)
    return (line for line in stripped if line and not line.startswith(b"#"))


def _hold(lines: Iterator[bytes], test: Callable[[bytes], bool]) -> bool:
    """Whether there is a line, and all pass the test; looks no further than the first that does not."""
    first = next(lines, None)
    return first is not None and test(first) and all(map(test, lines))


def _is_label(line: bytes) -> bool:
    fields = line.split(None, 2)
    return len(fields) > 1 and fields[1].startswith(b"qid:")


def is_labels(source: Input) -> bool:
    """Whether each line of the head begins with a label and `qid:`."""
    return _hold(_head_lines(source), _is_label)


def _has_docids(source: Input) -> bool:
    """Whether the first label has a docid; then all have one, or `labels_of` says which has none."""
    first = next(_head_lines(source), b"")
    return _DOCID.search(first) is not None


def _is_scores(source: Input) -> bool:
    """Whether each line of the head is one number."""
    return _hold(_head_lines(source), lambda line: parse_number(line.decode(errors="replace")) is not None)


FORMATS = (
    Format(
        name="letor",
        run="one score a line, in the order of the labels that are given as the judgments",
        qrels="a label, `qid:QUERY`, features, and perhaps `#docid = DOCUMENT`; else the row number is the document",
        fits=lambda source, role, options: _is_scores(source) if role == "run" else is_labels(source),
        open=lambda source, role, options: (LetorRun if role == "run" else LetorQrels)(source, role, options),
    ),
)
