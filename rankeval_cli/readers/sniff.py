"""Which format an input has: the user's word, else its content; and whether runs and judgments are swapped."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankeval_cli.errors import InputError, UsageError, did_you_mean
from rankeval_cli.readers.format import Format, ReadOptions, Role
from rankeval_cli.readers.layout import TREC_QRELS, TREC_RUN
from rankeval_cli.readers.lines import shown, width_hint
from rankeval_cli.readers.registry import FORMATS
from rankeval_cli.readers.sample import Sample, sample_of
from rankeval_cli.readers.source import Input

if TYPE_CHECKING:
    import polars as pl

SEE_FORMATS = "`rankeval formats` shows what can be read"
NOUNS: dict[Role, str] = {
    "run": "a run",
    "qrels": "judgments",
    "labelled": "a labelled table",
    "weights": "weights",
    "groups": "groups of queries",
    "queries": "a list of queries",
}
CONTENTS: dict[Role, str] = {
    "run": "no results",
    "qrels": "no judgments",
    "labelled": "no results",
    "weights": "no weights",
    "groups": "no groups",
    "queries": "no queries",
}
MIN_FRACTIONS = 20  # more distinct fractional values than that are scores, not grades
GRADES = (-2, 10)  # whole numbers in this range may all be grades
_FOREIGN = {
    b"PK\x03\x04": ("a zip archive", "unpack it first"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it first"),
    b"\x04\x22\x4d\x18": ("an lz4 archive", "unpack it first, or compress it with gzip or zstd"),
    b"\x80\x04\x95": ("a Python pickle", "write it as Parquet, CSV or JSON"),
    b"\x93NUMPY": ("a NumPy array", "write it as Parquet, CSV or JSON"),
    b"ARROW1": ("an Arrow file", "write it as Parquet"),
    b"SQLite format 3": ("a SQLite database", "export the table as CSV"),
}


def recognise(source: Input, role: Role, options: ReadOptions) -> Format:
    """The format of an input in a role.

    Raises UsageError for a format that is not known or cannot play the role, InputError when the input is empty or no
    format fits.
    """
    named = None if options.format is None else _named(options.format, role)
    if not source.head():
        raise InputError(f"is empty: {CONTENTS[role]}", source.where(), "check that it was written whole")
    found = named or fitting(source, role, options)
    if found is None:
        raise _unknown(source, role, options)
    return found


def fitting(source: Input, role: Role, options: ReadOptions) -> Format | None:
    """The first format that fits the content, None when none does."""
    fits = (format for format in FORMATS if format.plays(role) and format.fits(source, role, options))
    return next(fits, None)


def check_format(name: str | None, role: Role) -> None:
    """Raise UsageError when an input of this role cannot have the format of that name."""
    if name is not None:
        _named(name, role)


def _named(name: str, role: Role) -> Format:
    known = {format.name: format for format in FORMATS}
    fitting = [format.name for format in FORMATS if format.plays(role)]
    found = known.get(name.lower())
    if found is None:
        hint = did_you_mean(name, fitting) or f"formats are {', '.join(fitting)}"
        raise UsageError(f"unknown format `{shown(name)}`", hint=hint)
    if not found.plays(role):
        what = f"{NOUNS[role]} cannot have the format `{found.name}`"
        raise UsageError(what, hint=f"formats of {NOUNS[role]} are {', '.join(fitting)}")
    return found


def _unknown(source: Input, role: Role, options: ReadOptions) -> InputError:
    """What was seen and what was expected, for an input that no format fits."""
    where, sample = source.where(), sample_of(source)
    other: Role = "run" if role == "qrels" else "qrels"
    if (found := fitting(source, other, options)) is not None:
        what = f"holds {NOUNS[other]} ({found.name}), not {NOUNS[role]}"
        return InputError(what, where, "runs come first and judgments last: rankeval RUN QRELS")
    if sample.is_binary:
        return _binary(source, where)
    if sample.lines:
        return _unknown_lines(sample, role, options, where)
    if source.head_is_whole:
        what = f"is empty: {CONTENTS[role]}, only blank lines and comments"
        return InputError(what, where, "check that it was written whole")
    first = shown(source.head().split(b"\n", 1)[0].decode(errors="replace"))
    what = f"one line of more than a megabyte, which fits no layout of {NOUNS[role]}: `{first}`"
    return InputError(what, where, SEE_FORMATS)


def _binary(source: Input, where: str) -> InputError:
    start = source.stored_start()
    name, hint = next((found for magic, found in _FOREIGN.items() if start.startswith(magic)), (None, None))
    if name is None and start[257:262] == b"ustar":
        name, hint = "a tar archive", "unpack it first"
    if name is None and b"\0" in start[:2]:
        hint = "if it is UTF-16 text, save it as UTF-8"
    what = f"is {name}, which is not read" if name else "holds NUL bytes, so it is a binary file that is not known"
    return InputError(what, where, hint or SEE_FORMATS)


def _unknown_lines(sample: Sample, role: Role, options: ReadOptions, where: str) -> InputError:
    """For text lines: how many columns the first one has, and what a line of that role looks like."""
    separator, _ = sample.shape(role)
    line = sample.lines[0]
    width = line.count(b"\t") + 1 if separator else len(line.split())
    layout = TREC_RUN if role == "run" else TREC_QRELS
    place, text = f"{where}:{sample.first_line}", shown(line.decode(errors="replace").rstrip())
    columns = "1 column" if width == 1 else f"{width} columns"
    if sample.has_header(role, options):
        return InputError(
            f"a header between blanks: `{text}`",
            place,
            "separate its columns by commas or tabs, or take the header away",
        )
    what = f"{columns} between {'tabs' if separator else 'blanks'}, which fits no layout of {NOUNS[role]}: `{text}`"
    what += f"; in a TREC file there are {layout.width} ({layout.shape})"
    hint = width_hint(layout, separator) if width > layout.width else SEE_FORMATS
    if b"," in line and width < layout.width:
        hint = "a CSV file needs a header, such as query,doc," + ("score" if role == "run" else "grade")
    return InputError(what, place, hint)


def check_swapped(
    runs: Sequence[Input],
    qrels: Input,
    run_options: ReadOptions | None = None,
    qrels_options: ReadOptions | None = None,
) -> None:
    """Raise UsageError, with the corrected command, when a run was given as the judgments and judgments as a run.

    That is so when `qrels` fits only a run layout and one of `runs` only a layout of judgments; or when both fit both,
    `qrels` holds more than 20 distinct fractions and the other only whole numbers from -2 to 10 (in their first
    chunks). Nothing is raised when the user named a format, and nothing for files that cannot be read: their reader
    will say why.
    """
    as_run, as_qrels = run_options or ReadOptions(), qrels_options or ReadOptions()
    if as_run.format is not None or as_qrels.format is not None:
        return
    last = _roles(qrels, as_run, as_qrels)
    for run in runs if "run" in last else ():
        roles = _roles(run, as_run, as_qrels)
        is_clear = last == {"run"} and roles == {"qrels"}
        if is_clear or (last == roles == {"run", "qrels"} and _are_scores_and_grades(qrels, run, as_qrels)):
            order = [other.path for other in runs if other is not run] + [qrels.path, run.path]
            what = f"run and judgments are swapped: `{qrels.path}` holds a run, `{run.path}` judgments"
            raise UsageError(what, hint=f"rankeval {shlex.join(order)}")


def _roles(source: Input, as_run: ReadOptions, as_qrels: ReadOptions) -> set[str]:
    roles = set()
    try:
        if fitting(source, "run", as_run):
            roles.add("run")
        if fitting(source, "qrels", as_qrels):
            roles.add("qrels")
    except InputError:
        return set()
    return roles


def _are_scores_and_grades(scores: Input, grades: Input, options: ReadOptions) -> bool:
    fractions = _values(scores, options)
    if fractions.filter(fractions != fractions.floor()).n_unique() <= MIN_FRACTIONS:
        return False
    whole = _values(grades, options)
    return bool(len(whole)) and bool(((whole == whole.floor()) & whole.is_between(*GRADES)).all())


def _values(source: Input, options: ReadOptions) -> pl.Series:
    """The values of the first chunk, read as grades; none when they cannot be read."""
    import polars as pl

    none = pl.Series(dtype=pl.Float64)
    try:
        table = recognise(source, "qrels", options).open(source, "qrels", options)
        return next((frame["grade"] for frame in table.frames()), none)
    except InputError:
        return none
