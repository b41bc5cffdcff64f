"""The plain line reader of text layouts: it is their definition, and names the line that breaks it.

The fast path reads what is regular; any other chunk comes here, and gives the same rows or an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rankeval_cli.errors import InputError
from rankeval_cli.readers.layout import TREC_RUN, Layout, Plan, split, whole
from rankeval_cli.readers.problems import leave_out
from rankeval_cli.readers.streams import UTF8_HINT
from rankeval_cli.readers.values import parse_number, value_complaint

if TYPE_CHECKING:
    import polars as pl

SHOWN_CHARACTERS = 60


class Row(NamedTuple):
    """One result or judgment.

    value : the score or grade
    rank : None where it is no whole number
    groups : what stands in the columns `Layout.groups`
    """

    line: int
    query: str
    doc: str
    value: float
    rank: int | None
    tag: str | None
    groups: tuple[str, ...] = ()


@dataclass
class Noted:
    """What was met on the way and is told as warnings afterwards.

    comments : lines that begin with `#`
    data_comments : those of them that have the fields of a data line
    infinite : infinite scores
    """

    comments: int = 0
    data_comments: int = 0
    infinite: int = 0

    def warnings(self) -> list[str]:
        """One line a kind, none where nothing was met."""
        lines = []
        if self.data_comments:
            what = "1 line that begins" if self.comments == 1 else f"{self.comments:,} lines that begin"
            lines.append(f"{what} with `#` left out as comments, of which {self.data_comments:,} could be data")
        if self.infinite:
            what = "1 infinite score" if self.infinite == 1 else f"{self.infinite:,} infinite scores"
            lines.append(f"{what}, sorted first or last")
        return lines


def read_lines(data: bytes, where: str, first_line: int, plan: Plan, noted: Noted) -> Iterator[Row]:
    """The rows of some whole lines, in order.

    where : the file as messages name it
    Raises InputError naming the physical line, the value and what was expected, unless the plan collects problems.
    """
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, first_line):
        if line.startswith(b"#"):
            note_comment(line, plan, noted)
            continue
        fields = split(line, plan.separator)
        if not fields:
            continue
        try:
            row = _row(line, fields, number, plan)
        except InputError as error:
            error.where = f"{where}:{number}"
            leave_out(error, plan.problems)
            continue
        yield row


def note_comment(line: bytes, plan: Plan, noted: Noted) -> None:
    """Count a comment line, and whether it has the fields of a data line (with or without the sign)."""
    noted.comments += 1
    fields = split(line[1:], plan.separator)
    if not _has_width(fields, plan.layout):
        return
    try:
        _row(line[1:], fields, 0, plan)
    except InputError:
        return
    noted.data_comments += 1


def _has_width(fields: list[bytes], layout: Layout) -> bool:
    return len(fields) == layout.width or (layout.is_loose and len(fields) > layout.width)


def _row(line: bytes, fields: list[bytes], number: int, plan: Plan) -> Row:
    """One row; the InputError that it raises has no place yet."""
    if b"\0" in line:
        raise InputError("holds a NUL byte, so this is no text file", hint="give a text file")
    if not _has_width(fields, plan.layout):
        raise _wrong_width(line, fields, plan)
    try:
        line.decode()
    except UnicodeDecodeError as problem:
        raise _not_utf8(line, problem) from None
    named = {name: text.decode() for name, text in zip(plan.layout.columns, fields, strict=False)}
    for name, word in (("query", "query id"), ("doc", "document id")):
        if not named[name]:
            raise InputError(f"the {word} is empty", hint=f"columns are {plan.layout.shape}")
    rank = whole(named["rank"]) if "rank" in named else None
    groups = tuple(named[name] for name in plan.layout.groups) if "group" in named else ()
    return Row(number, named["query"], named["doc"], _value(named, rank, plan), rank, named.get("tag"), groups)


def _value(named: dict[str, str], rank: int | None, plan: Plan) -> float:
    kind = plan.layout.value
    if kind is None:
        return 1.0
    text = named[kind]
    if kind == "rank":
        if rank is None:
            raise InputError(f"rank `{shown(text)}` is no whole number", hint=_rank_hint(plan.layout))
        return 0.0 - rank  # no -0.0
    mapped = (plan.grade_map or {}).get(text) if kind == "grade" else None
    value = parse_number(text) if mapped is None else float(mapped)
    if value is None or value != value or (kind == "grade" and value in (float("inf"), float("-inf"))):
        what, hint = value_complaint(shown(text), plan.layout.role, kind)
        raise InputError(what, hint=hint or f"columns are {plan.layout.shape}")
    return value


def _rank_hint(layout: Layout) -> str:
    if layout.ranks_rise:
        return "say what the third column is: --run-format msmarco-rank or --run-format msmarco-score"
    return "if the third column is a score: --run-format msmarco-score"


def _wrong_width(line: bytes, fields: list[bytes], plan: Plan) -> InputError:
    layout, found = plan.layout, len(fields)
    count = "1 field" if found == 1 else f"{found} fields"
    least = "at least " if layout.is_loose else ""
    text = shown(line.decode(errors="replace").rstrip("\r"))
    what = f"{count} where {least}{layout.width} are expected ({layout.shape}): `{text}`"
    if found > layout.width:
        return InputError(what, hint=width_hint(layout, plan.separator))
    if plan.separator is not None:
        return InputError(what, hint="the first lines separate columns by tabs, so every line must")
    return InputError(what, hint="every line needs the same columns, separated by blanks")


def width_hint(layout: Layout, separator: bytes | None) -> str:
    """What to do about lines with too many fields."""
    if separator is not None:
        return "the first lines separate columns by tabs, so no id may hold one"
    hint = "ids with spaces need columns separated by tabs"
    if layout == TREC_RUN:
        return f"{hint}; to leave out what follows column 6: --run-format trec-loose"
    return hint


def _not_utf8(line: bytes, problem: UnicodeDecodeError) -> InputError:
    what = f"byte 0x{line[problem.start]:02x} at column {problem.start + 1} is not valid UTF-8"
    return InputError(what, hint=UTF8_HINT)


def shown(text: str) -> str:
    """Text of a file as a message may show it: shortened, control characters escaped."""
    cut = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "..."
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in cut)


def frame_of(rows: list[Row], layout: Layout) -> pl.DataFrame:
    """The rows as a frame: the columns of the layout that are read, and the score or grade that stands for them."""
    import polars as pl

    value = "score" if layout.role == "run" else "grade"
    columns: dict[str, pl.Series] = {
        "query": pl.Series([row.query for row in rows], dtype=pl.String),
        "doc": pl.Series([row.doc for row in rows], dtype=pl.String),
        value: pl.Series([row.value for row in rows], dtype=pl.Float64),
    }
    if "rank" in layout.columns:
        columns["rank"] = pl.Series([row.rank for row in rows], dtype=pl.Int64)
    for place, name in enumerate(layout.groups):
        columns[name] = pl.Series([row.groups[place] for row in rows], dtype=pl.String)
    if "tag" in layout.columns:
        columns["tag"] = pl.Series([row.tag for row in rows], dtype=pl.String)
    return pl.DataFrame(columns)
