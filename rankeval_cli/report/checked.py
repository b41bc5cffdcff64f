"""What was found in files, and what is wrong with them, for people and for programs.

Rows of tsv: what was found in each file (severity `found`), then a row for each place of a problem. `total` says how
many places its kind has, of which the first ten are listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from rankeval_cli.findings import Checked, CheckedFile, Problem
from rankeval_cli.model import SCHEMA_VERSION
from rankeval_cli.report.listing import Listing, indented
from rankeval_cli.report.summary import coverage_parts
from rankeval_cli.report.table import Pen
from rankeval_cli.report.text import counted, visible, visible_lines, wrapped

COLUMNS = ("severity", "file", "where", "what", "hint", "total")
STYLES = {"error": "bold red", "warning": "bold yellow", "hint": "bold cyan"}


def listing(found: Checked, version: str) -> Listing:
    """The check in every form."""
    rows: list[tuple[Any, ...]] = [("found", file.name, file.path, _facts(file), None, None) for file in found.files]
    rows += [
        (each.severity, each.file, where, what, each.hint, each.total)
        for each in found.problems
        for where, what in each.places
    ]
    return Listing(COLUMNS, rows, _document(found, version), partial(_table, found))


def _document(found: Checked, version: str) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "rankeval": version,
        "files": [asdict(file) for file in found.files],
        "problems": [_problem(each) for each in found.problems],
        "errors": found.count("error"),
        "warnings": found.count("warning"),
    }


def _problem(each: Problem) -> dict[str, Any]:
    places = [{"where": where, "what": what} for where, what in each.places]
    return {"severity": each.severity, "file": each.file, "total": each.total, "hint": each.hint, "places": places}


def _facts(file: CheckedFile) -> str:
    """`run, trec, 1,234 rows, tag bm25`"""
    parts: list[str] = [file.role]
    parts += [file.format, counted(file.rows, "row", "rows")] if file.format is not None else ["not read"]
    parts += [counted(file.queries, "query", "queries")] if file.queries is not None else []
    parts += [f"tag {file.tag}"] if file.tag else []
    return ", ".join(parts)


def _table(found: Checked, pen: Pen) -> Iterator[str]:
    for file in found.files:
        yield from wrapped(f"{visible(file.name)}: {visible(_facts(file))}", pen.width)
        if file.coverage is not None:
            yield from (pen.paint(line, "dim") for line in indented("; ".join(coverage_parts(file.coverage)), pen))
        for each in found.problems:
            if each.file == file.name:
                yield from _problem_lines(each, pen)
        if not file.is_whole and file.format is not None:
            text = f"{visible(file.name)} was read no further: there may be more problems behind this one"
            yield from wrapped(text, pen.width)
        yield ""
    yield _totals(found)


def _problem_lines(each: Problem, pen: Pen) -> Iterator[str]:
    for where, what in each.places:
        yield from _marked(each.severity, f"{visible(where)}: {visible_lines(what)}", pen)
    if each.total > len(each.places):
        yield f"... {each.total:,} of this kind"
    if each.hint:
        yield from _marked("hint", visible_lines(each.hint), pen)


def _marked(word: str, text: str, pen: Pen) -> Iterator[str]:
    """A message; what people copy from a hint stays in one line."""
    prefix = f"{word}:"
    message = f"{prefix} {text}"
    lines = message.split("\n") if word == "hint" or "\n" in text else wrapped(message, pen.width)
    yield pen.paint(prefix, STYLES[word]) + lines[0].removeprefix(prefix)
    yield from lines[1:]


def _totals(found: Checked) -> str:
    errors, warnings = found.count("error"), found.count("warning")
    if not errors and not warnings:
        return "no problems found"
    return f"{counted(errors, 'error', 'errors')}, {counted(warnings, 'warning', 'warnings')}"
