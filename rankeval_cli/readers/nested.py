"""Python values as JSON and dictionaries hold them, documents by query; and how such values become frames.

Everything here is one `Piece` after the other: a query with some documents, their numbers and perhaps their ranks.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rankeval_cli.errors import SHOWN_PROBLEMS, InputError
from rankeval_cli.readers.ids import id_complaint, id_text
from rankeval_cli.readers.problems import leave_out
from rankeval_cli.readers.values import Reading, Tally, number, value_complaint

if TYPE_CHECKING:
    import polars as pl

FRAME_ROWS = 100_000
SHAPE_HINT = "the layout is {query: {document: number}}, {query: [document, ...]}, or records with named values"

# What a query holds: documents with their numbers, (document, number) pairs, or documents in rank order.
Kind = Literal["scores", "pairs", "ranks"]


class Pairs(list[tuple[Any, Any]]):
    """An object of JSON in which a key is repeated, as its keys and values in order."""


class Piece(NamedTuple):
    """Some documents of one query. number : line or entry, from 1; what a table's messages make of it."""

    number: int
    query: str
    docs: list[str]
    values: list[float]
    ranks: list[int | None] | None


Place = Callable[[Piece, int], str]  # a piece and the place of a document in it -> where it stands, for messages


def is_object(held: object) -> bool:
    """Whether a value is an object of JSON or a dictionary."""
    return isinstance(held, (Mapping, Pairs))


def is_list(held: object) -> bool:
    """Whether a value is an array of JSON, or a list or tuple."""
    return isinstance(held, (list, tuple)) and not isinstance(held, Pairs)


def items(held: Any) -> Iterable[tuple[Any, Any]]:
    """Keys and values of what `is_object` says yes to; repeated keys are repeated."""
    return held if isinstance(held, Pairs) else held.items()


def key_path(path: str, *keys: object) -> str:
    """A place in nested values, such as `run.json["q1"]["d7"]`."""
    return path + "".join(f"[{json.dumps(key, ensure_ascii=False, default=repr)}]" for key in keys)


def kind_of(held: Any) -> Kind | None:
    """How a query's documents are held; None when there are none or that cannot be said."""
    if not held or not (is_object(held) or is_list(held)):
        return None
    if is_object(held):
        return "scores"
    return "pairs" if is_list(held[0]) else "ranks"


def rankings(entries: Iterable[tuple[Any, Any]], reading: Reading, path: str, number: int = 0) -> Iterator[Piece]:
    """A piece for each query of `{query: documents}`.

    number : what the pieces are numbered with
    Raises InputError naming the keys that lead to a value which is no id or no number.
    """
    first: Kind | None = None
    for key, held in entries:
        try:
            query = checked_id(key, partial(key_path, path, key), "the query id")
            kind = kind_of(held)
            _check_held(held, kind, first, key_path(path, key))
            if kind is None:
                continue
            first = first or kind
            piece = ranking(query, held, kind, reading, key_path(path, key))
        except InputError as error:
            leave_out(error, reading.options.problems)
            continue
        yield piece._replace(number=number)


def _check_held(held: Any, kind: Kind | None, first: Kind | None, place: str) -> None:
    if kind is None and not (is_list(held) or is_object(held)):
        raise InputError(f"holds {named(held)}, not documents", place, SHAPE_HINT)
    if kind is not None and first is not None and (kind == "ranks") != (first == "ranks"):
        raise InputError("holds documents in another way than the queries before it", place, SHAPE_HINT)


def ranking(query: str, held: Any, kind: Kind, reading: Reading, path: str) -> Piece:
    """The documents of one query as a piece; a list of documents in rank order gives the score -rank, or grade 1.

    path : the keys that lead to `held`, for messages
    """
    if kind == "ranks":
        docs = [checked_id(doc, partial(key_path, path, i)) for i, doc in enumerate(held)]
        if reading.role == "qrels":
            return Piece(0, query, docs, [1.0] * len(docs), None)
        return Piece(0, query, docs, [-float(i) for i in range(1, len(docs) + 1)], list(range(1, len(docs) + 1)))
    if kind == "pairs":
        for i, pair in enumerate(held):
            if not is_list(pair) or len(pair) != 2:
                raise InputError(f"is {named(pair)}, not a document and a number", key_path(path, i), SHAPE_HINT)
        keys, values = [pair[0] for pair in held], [pair[1] for pair in held]
    elif isinstance(held, Mapping):
        keys, values = list(held.keys()), list(held.values())
    else:
        keys, values = [key for key, _ in held], [value for _, value in held]
    return Piece(0, query, _ids(keys, path), _numbers(values, keys, reading, path), None)


def _ids(keys: list[Any], path: str) -> list[str]:
    if all(type(key) is str for key in keys) and "" not in keys:
        return keys
    return [checked_id(key, partial(key_path, path, key)) for key in keys]


def _numbers(values: list[Any], keys: list[Any], reading: Reading, path: str) -> list[float]:
    if all(type(value) is float for value in values):
        return values
    return [
        checked_value(value, reading, partial(key_path, path, key)) for key, value in zip(keys, values, strict=True)
    ]


def checked_id(value: object, where: Callable[[], str], name: str = "the document id") -> str:
    """An id as text; InputError, placed by `where`, when it is none."""
    text = id_text(value)
    if text is None:
        if is_object(value) or is_list(value):
            raise InputError(f"{name} is {named(value)}, not text or a whole number", where(), SHAPE_HINT)
        what, hint = id_complaint(value, name)
        raise InputError(what, where(), hint)
    return text


def checked_value(value: object, reading: Reading, where: Callable[[], str]) -> float:
    """A score or grade; InputError, placed by `where`, when it is no number. NaN and infinities pass here."""
    result = number(value, reading.role, reading.options.grade_map, reading.tally)
    if result is None:
        if is_object(value) or is_list(value):
            raise InputError(f"is {named(value)}, not a {reading.noun}", where(), SHAPE_HINT)
        what, hint = value_complaint(value, reading.role, reading.noun)
        raise InputError(what, where(), hint)
    return result


def named(held: object) -> str:
    """A value that stands where another was expected, in words."""
    if is_object(held):
        return "an object"
    if is_list(held):
        return "a list"
    if held is None:
        return "null"
    return f"`{held}`" if isinstance(held, (str, int, float)) else f"a {type(held).__name__}"


def frames_of(pieces: Iterable[Piece], reading: Reading, has_rank: bool, place: Place) -> Iterator[pl.DataFrame]:
    """Pieces as frames of `Table.frames`, about FRAME_ROWS rows each.

    Raises InputError for a number that has no place in an order, and for text that UTF-8 cannot hold.
    """
    held: list[Piece] = []
    num_rows = 0
    for piece in pieces if reading.options.problems is None else _sound(pieces, reading, place):
        held.append(piece)
        num_rows += len(piece.docs)
        if num_rows >= FRAME_ROWS:
            yield _frame(held, reading, has_rank, place)
            held, num_rows = [], 0
    if num_rows:
        yield _frame(held, reading, has_rank, place)


def _sound(pieces: Iterable[Piece], reading: Reading, place: Place) -> Iterator[Piece]:
    """The pieces that make a frame; what is wrong with others is collected."""
    for piece in pieces:
        is_plain = piece.query.isascii() and all(map(str.isascii, piece.docs))
        if not (is_plain and all(map(math.isfinite, piece.values))):
            try:
                _frame([piece], replace(reading, tally=Tally()), False, place)
            except InputError as error:
                leave_out(error, reading.options.problems)
                continue
        yield piece


def _frame(pieces: list[Piece], reading: Reading, has_rank: bool, place: Place) -> pl.DataFrame:
    import polars as pl

    try:
        found = {
            "query": pl.Series([piece.query for piece in pieces for _ in piece.docs], dtype=pl.String),
            "doc": pl.Series([doc for piece in pieces for doc in piece.docs], dtype=pl.String),
        }
    except UnicodeEncodeError:
        raise _bad_unicode(pieces, place) from None
    values = pl.Series([value for piece in pieces for value in piece.values], dtype=pl.Float64)
    found[reading.noun] = values
    if not values.is_finite().all():
        _check_finite(values, pieces, reading, place)
    if has_rank:
        ranks = [rank for piece in pieces for rank in piece.ranks or [None] * len(piece.docs)]
        found["rank"] = pl.Series(ranks, dtype=pl.Int64)
    return pl.DataFrame(found)


def _check_finite(values: pl.Series, pieces: list[Piece], reading: Reading, place: Place) -> None:
    bad = values.is_nan() if reading.role == "run" else ~values.is_finite()
    if bad.any():
        row = int(bad.arg_true()[0])
        starts = [0]
        for piece in pieces:
            starts.append(starts[-1] + len(piece.docs))
        piece_at = bisect_right(starts, row) - 1
        what, hint = value_complaint(values[row], reading.role, reading.noun)
        raise InputError(what, place(pieces[piece_at], row - starts[piece_at]), hint)
    reading.tally.infinite += int(values.is_infinite().sum())


def _bad_unicode(pieces: list[Piece], place: Place) -> InputError:
    for piece in pieces:
        for i, doc in enumerate(piece.docs):
            for name, text in (("the query id", piece.query), ("the document id", doc)):
                try:
                    text.encode()
                except UnicodeEncodeError:
                    what, hint = id_complaint(text, name)
                    where = place(piece, i).encode(errors="backslashreplace").decode()
                    return InputError(what, where, hint)
    raise AssertionError("a text that Polars refuses can be encoded")


def places_of(pieces: Iterable[Piece], query: str, doc: str, place: Place) -> list[str]:
    """Where a pair stands among the pieces, at most ten places."""
    found: list[str] = []
    for piece in pieces:
        if piece.query == query and doc in piece.docs:
            found += [place(piece, i) for i, other in enumerate(piece.docs) if other == doc]
        if len(found) >= SHOWN_PROBLEMS:
            break
    return found[:SHOWN_PROBLEMS]
