"""The queries that a second run helps or hurts most, for people and for programs.

Rows of tsv: one for each relevant document that moved, and one without a document for a query in which none did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from rankeval_cli.findings import MeasureMoves, Move, MovedQuery, RunMoves
from rankeval_cli.model import SCHEMA_VERSION
from rankeval_cli.report.layout import Cell, Group, grid
from rankeval_cli.report.listing import Listing, indented, notes, whole
from rankeval_cli.report.table import INDENT, Pen
from rankeval_cli.report.text import UNDEFINED, counted, number, visible, wrapped

COLUMNS = ("measure", "effect", "query", "base", "run", "diff", "doc", "grade", "base_rank", "run_rank")
MOST_MOVES = 8  # of one query that a table names
ARROW = "->"


def listing(found: RunMoves, version: str) -> Listing:
    """The differences in every form."""
    rows = [
        (each.measure, effect, query.query, query.before, query.after, query.diff, *_long(move))
        for each in found.measures
        for effect, queries in (("helped", each.helped), ("hurt", each.hurt))
        for query in queries
        for move in query.moves or (None,)
    ]
    return Listing(COLUMNS, rows, _document(found, version), partial(_table, found))


def _long(move: Move | None) -> tuple[Any, ...]:
    return (None,) * 4 if move is None else (move.doc, whole(move.grade), move.before, move.after)


def _document(found: RunMoves, version: str) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "rankeval": version,
        "base": found.base,
        "run": found.run,
        "qrels": found.qrels,
        "rules": found.rules,
        "measures": {each.measure: _measure(each) for each in found.measures},
        "warnings": list(found.warnings),
    }


def _measure(each: MeasureMoves) -> dict[str, Any]:
    return {
        "canonical": each.canonical,
        "direction": each.direction,
        "base_value": each.before,
        "value": each.after,
        "helped": each.num_helped,
        "hurt": each.num_hurt,
        "same": each.num_same,
        "undefined": each.num_undefined,
        "most_helped": [_query(query) for query in each.helped],
        "most_hurt": [_query(query) for query in each.hurt],
    }


def _query(query: MovedQuery) -> dict[str, Any]:
    moves = [
        {"doc": move.doc, "grade": whole(move.grade), "base_rank": move.before, "run_rank": move.after}
        for move in query.moves
    ]
    return {"query": query.query, "base": query.before, "run": query.after, "diff": query.diff, "moves": moves}


def _table(found: RunMoves, pen: Pen) -> Iterator[str]:
    yield from wrapped(f"base {visible(found.base)}, run {visible(found.run)}", pen.width)
    for each in found.measures:
        yield ""
        yield from wrapped(_headline(each), pen.width)
        words = ("raised", "lowered") if each.direction == "none" else ("helped", "hurt")
        for word, count, queries in zip(words, (each.num_helped, each.num_hurt), (each.helped, each.hurt), strict=True):
            if queries:
                yield ""
                title = f"{word} most" if len(queries) < count else word
                yield pen.paint(title, "bold")
                yield from _queries(queries, pen)
    if any(query.moves for each in found.measures for query in (*each.helped, *each.hurt)):
        yield from notes([f"ranks of relevant documents: base {ARROW} run, {UNDEFINED} where not ranked"], pen)


def _headline(each: MeasureMoves) -> str:
    words = ("raised", "lowered") if each.direction == "none" else ("helped", "hurt")
    facts = [f"{each.num_helped:,} {words[0]}, {each.num_hurt:,} {words[1]}, {each.num_same:,} the same"]
    facts += [f"{each.num_undefined:,} undefined in a run"] if each.num_undefined else []
    total = counted(each.num_helped + each.num_hurt + each.num_same + each.num_undefined, "query", "queries")
    values = f"{number(each.before)} {ARROW} {number(each.after)}"
    lower = " (lower is better)" if each.direction == "lower" else ""
    return f"{visible(each.measure)}{lower}: {values}; {total}: {', '.join(facts)}"


def _queries(queries: Sequence[MovedQuery], pen: Pen) -> Iterator[str]:
    """A row a query, its moves below it; without columns where these do not fit."""
    cells = [[Cell(visible(query.query)), *map(Cell, _numbers(query))] for query in queries]
    table = grid([Group("", ("query", "base", "run", "diff"), "<>>>")], cells, pen.measure)
    drawn = iter(pen.draw(table)) if pen.fits(table) else None
    if drawn is not None:
        yield from (next(drawn), next(drawn))  # headings and the rule below them
    for query in queries:
        if drawn is not None:
            yield next(drawn)
        else:
            yield visible(query.query)
            yield from indented(INDENT.join(_numbers(query)), pen)
        yield from (pen.paint(line, "dim") for line in _moves(query, pen))


def _numbers(query: MovedQuery) -> tuple[str, str, str]:
    return number(query.before), number(query.after), f"{'+' if query.diff > 0 else ''}{number(query.diff)}"


def _moves(query: MovedQuery, pen: Pen) -> Iterator[str]:
    """Moves in lines that end between two of them."""
    shown = [f"{visible(move.doc)} {_rank(move.before)} {ARROW} {_rank(move.after)}" for move in query.moves]
    if len(shown) > MOST_MOVES:
        shown[MOST_MOVES:] = [f"... {len(shown):,} in all"]
    line = ""
    for place, text in enumerate(shown):
        text += "," if place < len(shown) - 1 else ""
        if line and pen.width is not None and pen.measure(f"{INDENT}{line} {text}") > pen.width:
            yield INDENT + line
            line = ""
        line = f"{line} {text}".lstrip()
    if line:
        yield INDENT + line


def _rank(rank: int | None) -> str:
    return UNDEFINED if rank is None else f"{rank}"
