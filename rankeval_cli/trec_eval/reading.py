"""Runs and judgments as trec_eval reads them: regular chunks by Polars, any other a line at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rankeval_cli.errors import InputError
from rankeval_cli.readers import fast, layout, lines
from rankeval_cli.readers.layout import Layout, Plan
from rankeval_cli.readers.text import TextTable
from rankeval_cli.trec_eval.leniency import Kind, Leniency, real, whole
from rankeval_cli.trec_eval.options import NOTHING, Refusal

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.readers.format import Progress, Role
    from rankeval_cli.readers.source import Chunk, Input

# The rank is never used, so it may be any text. Tabs and blanks separate alike.
RUN = replace(layout.TREC_RUN, columns=("query", "-", "doc", "-", "score", "tag"))
QRELS = layout.TREC_QRELS
_PLANS: dict[Role, tuple[Plan, ...]] = {
    "run": (Plan(RUN, None), Plan(replace(RUN, is_loose=True), None)),
    "qrels": (Plan(QRELS, None, has_whole_grades=True),),
}
_NOUNS = {"run": "results", "qrels": "judgments"}
_TO_SPACE = bytes.maketrans(b"\t\r\v\f", b"    ")
_COMMENT = re.compile(rb"^#.*\n?", re.MULTILINE)


class LenientTable(TextTable):
    """A file as trec_eval reads it, as a `Table`; `notes` holds what was read leniently in the last pass.

    only : the one query whose rows are given, None for all
    """

    def __init__(self, source: Input, role: Role, is_strict: bool, only: str | None = None) -> None:
        self._plans = _PLANS[role][:1] if is_strict else _PLANS[role]
        super().__init__(source, self._plans[0])
        self._role, self._only, self._is_strict = role, only, is_strict
        self.notes = Leniency(is_strict)

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in file order, a chunk at a time (see `Table.frames`).

        Raises InputError when there is none, and Refusal, status 7, when there is none of the only query.
        """
        import polars as pl

        self.notes = Leniency(self._is_strict)
        num_rows = num_kept = 0
        for frame in super().frames(progress):
            kept = frame if self._only is None else frame.filter(pl.col("query") == self._only)
            num_rows, num_kept = num_rows + frame.height, num_kept + kept.height
            yield kept
        if not num_rows:
            raise InputError(f"is empty: no {_NOUNS[self._role]}", self.path, "check that it was written whole")
        if not num_kept and self._role == "qrels":
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
    if wanted.role == "qrels":
        return lines.Row(number, texts[0], texts[2], _grade(texts[3], where, notes), None, None)
    if len(texts) > wanted.width:
        notes.note(Kind.MORE_COLUMNS, " ".join(texts[wanted.width :]), where)
    return lines.Row(number, texts[0], texts[2], _score(texts[4], where, notes), None, texts[5])


def _check(line: bytes, fields: list[bytes], where: str, wanted: Layout) -> None:
    if b"\0" in line:
        raise InputError("holds a NUL byte, so this is no text file", where, "give a text file")
    if not fields:
        raise InputError("is blank, and judgments may hold no blank line", where, "take the line out")
    if len(fields) < wanted.width or (len(fields) > wanted.width and wanted.role == "qrels"):
        text = lines.shown(line.decode(errors="replace").strip())
        count = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
        what = f"malformed line: {count} where {wanted.width} are expected ({wanted.shape}): `{text}`"
        raise InputError(what, where, "fields are separated by blanks or tabs")
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


def _score(text: str, where: str, notes: Leniency) -> float:
    score, is_all = real(text)
    if not is_all:
        notes.note(Kind.SCORE_PART if text.lstrip("+-.")[:1].isdigit() else Kind.SCORE_WORD, text, where)
    elif score != score:
        notes.note(Kind.SCORE_NAN, text, where)
    elif "x" in text.lower():
        notes.note(Kind.SCORE_HEX, text, where)
    return float("-inf") if score != score else score
