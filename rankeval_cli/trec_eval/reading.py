"""Runs and judgments as trec_eval reads them: regular chunks by Polars, any other a line at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rankeval_cli.assessments import AssessmentTable
from rankeval_cli.errors import InputError
from rankeval_cli.readers import fast, layout, lines
from rankeval_cli.readers.layout import Layout, Plan
from rankeval_cli.trec_eval.leniency import Kind, Leniency, real, whole
from rankeval_cli.trec_eval.options import NOTHING, Refusal

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.readers.format import Progress, Role
    from rankeval_cli.readers.source import Chunk, Input

# The rank is never used, so it may be any text. Tabs and blanks separate alike.
RUN = replace(layout.TREC_RUN, columns=("query", "-", "doc", "-", "score", "tag"))
QRELS = {"qrels": layout.TREC_QRELS}
QRELS |= {found.format: found for found in (layout.QRELS_JG, layout.PREFS, layout.QRELS_PREFS)}
REAL_LEVELS = (layout.PREFS, layout.QRELS_PREFS)  # whose grades are numbers, not whole ones
_NOUNS = {"run": "results", "qrels": "judgments"}
_TO_SPACE = bytes.maketrans(b"\t\r\v\f", b"    ")
_COMMENT = re.compile(rb"^#.*\n?", re.MULTILINE)


def open_run(source: Input, is_strict: bool, only: str | None = None) -> LenientTable:
    """A run as trec_eval reads it; see `LenientTable`."""
    plans = (Plan(RUN, None), Plan(RUN, b"\t", tabs_only=True), Plan(replace(RUN, is_loose=True), None))
    return LenientTable(source, plans[:2] if is_strict else plans, is_strict, only)


def open_qrels(source: Input, format: str, is_strict: bool, only: str | None = None) -> LenientTable:
    """Judgments as trec_eval reads them, in one of its formats; see `LenientTable`."""
    blanks = Plan(QRELS[format], None, has_whole_grades=QRELS[format] not in REAL_LEVELS)
    return LenientTable(source, (blanks, replace(blanks, separator=b"\t", tabs_only=True)), is_strict, only)


class LenientTable(AssessmentTable):
    """A file as trec_eval reads it, as a `Table`.

    plans : what the fast path may find; the line reader has the layout of the first
    only : the one query whose rows are given, None for all
    notes, num_rows : what was read leniently, and how many rows were given, in the last pass
    """

    def __init__(self, source: Input, plans: tuple[Plan, ...], is_strict: bool, only: str | None) -> None:
        super().__init__(source, plans[0])
        self._plans, self._is_strict, self._only = plans, is_strict, only
        self._role: Role = plans[0].layout.role
        self.notes, self.num_rows = Leniency(is_strict), 0

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in file order, a chunk at a time (see `Table.frames`).

        Raises InputError when there is none, and Refusal, status 7, when there is none of the only query.
        """
        import polars as pl

        self.notes, self.num_rows = Leniency(self._is_strict), 0
        is_empty = True
        for frame in super().frames(progress):
            kept = frame if self._only is None else frame.filter(pl.col("query") == self._only)
            self.num_rows += kept.height
            is_empty = False
            yield kept
        if is_empty:
            raise InputError(f"is empty: no {_NOUNS[self._role]}", self.path, "check that it was written whole")
        if not self.num_rows and self._role == "qrels":
            raise Refusal(NOTHING, f"query `{self._only}` of -D is not judged", self.path, "name a judged query")

    def _frame(self, chunk: Chunk, noted: lines.Noted) -> pl.DataFrame:
        if not self._is_untidy and (frame := self._parsed(chunk.data, chunk)) is not None:
            chunk.num_lines = frame.height
            return frame
        data = _tidy(chunk.data, self._role)
        frame = self._parsed(data, chunk)
        self._is_untidy = frame is not None and data != chunk.data  # then so is the next chunk, most likely
        if frame is None:
            frame = lines.frame_of(list(_rows(chunk, self._plan.layout, self.notes)), self._plan.layout)
        return frame

    def _parsed(self, data: bytes, chunk: Chunk) -> pl.DataFrame | None:
        """The rows of regular data; the plan that fits them is tried first from then on."""
        for plan in self._plans:
            frame = fast.parse(data, plan)
            if frame is None:
                continue
            if plan.layout.is_loose and Kind.MORE_COLUMNS not in self.notes.tallies:
                _note_columns(chunk, self.notes)
            self._plans = (plan, *(other for other in self._plans if other is not plan))
            return frame
        return None


def _note_columns(chunk: Chunk, notes: Leniency) -> None:
    """Note the first line that has more columns than are read."""
    for number, line in enumerate(chunk.data.split(b"\n"), chunk.first_line):
        fields = line.split()
        if len(fields) > RUN.width and not fields[0].startswith(b"#"):
            more = b" ".join(fields[RUN.width :]).decode(errors="replace")
            notes.note(Kind.MORE_COLUMNS, more, f"{chunk.path}:{number}")
            return


def _tidy(data: bytes, role: Role) -> bytes:
    """The same lines with single spaces as separators, without comments; in a run also without blank lines.

    A blank line stays in judgments, where it is an error that the line reader tells.
    """
    data = _squeezed(data.translate(_TO_SPACE), b"  ", b" ").replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    if b"#" in data:
        data = _COMMENT.sub(b"", data)
    return _squeezed(data, b"\n\n", b"\n").lstrip(b"\n") if role == "run" else data


def _squeezed(data: bytes, double: bytes, single: bytes) -> bytes:
    while double in data:
        data = data.replace(double, single)
    return data


def _rows(chunk: Chunk, wanted: Layout, notes: Leniency) -> Iterator[lines.Row]:
    """The rows of a chunk in order, comments and (in a run) blank lines left out.

    Raises InputError naming the line that has too few fields (in judgments: or too many), is blank (in judgments), is
    no UTF-8, or holds a NUL byte; and for a lenient reading when those are refused.
    """
    found = chunk.data.split(b"\n")
    if not found[-1]:
        found.pop()
    for number, line in enumerate(found, chunk.first_line):
        fields = line.split()
        if (fields and fields[0].startswith(b"#")) or (not fields and wanted.role == "run"):
            continue
        yield _row(line, fields, number, f"{chunk.path}:{number}", wanted, notes)


def _row(line: bytes, fields: list[bytes], number: int, where: str, wanted: Layout, notes: Leniency) -> lines.Row:
    _check(line, fields, where, wanted)
    texts = [field.decode() for field in fields]
    if len(texts) > wanted.width:
        notes.note(Kind.MORE_COLUMNS, " ".join(texts[wanted.width :]), where)
    named = dict(zip(wanted.columns, texts, strict=False))
    read = _score if wanted.role == "run" else _level if wanted in REAL_LEVELS else _grade
    value = read(named[wanted.value or ""], where, notes)
    groups = tuple(named[name] for name in wanted.groups)
    return lines.Row(number, named["query"], named["doc"], value, None, named.get("tag"), groups)


def _check(line: bytes, fields: list[bytes], where: str, wanted: Layout) -> None:
    if b"\0" in line:
        raise InputError("holds a NUL byte, so this is no text file", where, "give a text file")
    if not fields:
        raise InputError("is blank, and judgments may hold no blank line", where, "take the line out")
    if len(fields) < wanted.width or (len(fields) > wanted.width and wanted.role == "qrels"):
        text = lines.shown(line.decode(errors="replace").strip())
        count = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
        what = f"malformed line: {count} where {wanted.width} are expected ({wanted.shape}): `{text}`"
        is_swapped = len(fields) == (RUN.width if wanted.role == "qrels" else layout.TREC_QRELS.width)
        order = "judgments come first and the run last: rankeval trec-eval QRELS RUN"
        raise InputError(what, where, order if is_swapped else "fields are separated by blanks or tabs")
    try:
        line.decode()
    except UnicodeDecodeError as problem:
        what = f"byte 0x{line[problem.start]:02x} at column {problem.start + 1} is not valid UTF-8"
        raise InputError(what, where, "convert both files: iconv -f LATIN1 -t UTF-8 OLD > NEW") from None


def _grade(text: str, where: str, notes: Leniency) -> float:
    grade, is_all = whole(text)
    if not is_all and real(text) != (float(grade), True):  # 2.0 loses nothing
        notes.note(Kind.GRADE_PART if real(text)[1] or grade else Kind.GRADE_WORD, text, where)
    return float(grade)


def _level(text: str, where: str, notes: Leniency) -> float:
    level, is_all = real(text)
    if not is_all:
        notes.note(Kind.LEVEL_PART if text.lstrip("+-.")[:1].isdigit() else Kind.GRADE_WORD, text, where)
    if not math.isfinite(level):
        raise InputError(f"level `{lines.shown(text)}` is no finite number", where, "give each document a number")
    return level


def _score(text: str, where: str, notes: Leniency) -> float:
    score, is_all = real(text)
    if not is_all:
        notes.note(Kind.SCORE_PART if text.lstrip("+-.")[:1].isdigit() else Kind.SCORE_WORD, text, where)
    elif score != score:
        notes.note(Kind.SCORE_NAN, text, where)
    elif "x" in text.lower():
        notes.note(Kind.SCORE_HEX, text, where)
    return float("-inf") if score != score else score
