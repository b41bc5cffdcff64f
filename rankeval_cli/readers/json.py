"""JSON documents: `{query: {document: number}}`, arrays of records, MTEB's predictions; and the list of JSON formats.

A document is held in memory while it is read; JSON Lines are not.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import SHOWN_PROBLEMS, InputError
from rankeval_cli.readers import jsonlines
from rankeval_cli.readers.columns import MissingColumn, recognised
from rankeval_cli.readers.format import COLUMN_ROLES, Format, Progress, ReadOptions, Role
from rankeval_cli.readers.jsontext import DECODER, parse
from rankeval_cli.readers.nested import (
    Pairs,
    Piece,
    frames_of,
    is_list,
    is_object,
    items,
    key_path,
    named,
    places_of,
    rankings,
)
from rankeval_cli.readers.problems import leave_out
from rankeval_cli.readers.recordframes import first_layout, frames_of_records, records_by_query
from rankeval_cli.readers.records import RECORD_HINT, RecordLayout, is_record, record_layout, record_piece
from rankeval_cli.readers.values import Reading

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.readers.source import Input

MTEB_META = "mteb_model_meta"
_START = re.compile(rb'\s*(?:\{\s*["}]|\[\s*[\[{"\]0-9-])')
_TOKEN = re.compile(r'\s*(?:"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+)', re.DOTALL)


class JsonTable:
    """A run or judgments in a JSON document, opened; only the head has been read."""

    format = "json"
    tag: str | None = None
    has_doc_ids = True

    def __init__(self, source: Input, role: Role, options: ReadOptions) -> None:
        self.source, self.role, self.options = source, role, options
        self.path, self.size_bytes = source.path, source.size_bytes
        self.warnings: list[str] = []
        self.has_rank = role == "run" and self._decide_rank()
        if role == "labelled":
            layout = self._labelled_layout()
            self.has_rank, self.has_doc_ids = layout.has_rank, layout.columns.doc is not None

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in the order of the document; InputError names line, keys or entry."""
        reading = Reading(self.role, self.options)
        if self.role in COLUMN_ROLES:
            yield from frames_of_records(self._records(progress), reading)
            self.warnings[:] = reading.tally.warnings()
            return
        notes: list[str] = []
        for where, document in self._documents(progress):
            notes += _repeated_queries(document)
            pieces, place = _pieces(document, reading, where, self.has_rank)
            del document
            yield from frames_of(pieces, reading, self.has_rank, place)
        self.warnings[:] = [*notes, *reading.tally.warnings()]

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands, as `path["query"]["document"]` or `path, entry n`."""
        reading = Reading(self.role, self.options)
        found: list[str] = []
        for where, document in self._documents(None):
            pieces, place = _pieces(document, reading, where, self.has_rank)
            found += places_of(pieces, query, doc, place)
        return found

    def _decide_rank(self) -> bool:
        """Whether there are ranks: from the head, or, when its first record is longer than that, from the document."""
        decided = _head_has_rank(self.source.head(), self.role, self.options, self.source.where())
        if decided is None:
            where, document = next(self._documents(None))
            first = document[0] if is_list(document) else document
            decided = is_record(first, self.role, self.options) and (
                record_layout(first, self.role, self.options, where).has_rank
            )
        return decided

    def _labelled_layout(self) -> RecordLayout:
        where, record = next(self._records(None), (self.source.where(), None))
        return first_layout(record, Reading(self.role, self.options), where)

    def _records(self, progress: Progress | None) -> Iterator[tuple[str, Any]]:
        """The records of labelled tables and weights, each with its place."""
        for where, document in self._documents(progress):
            if is_object(document) and not is_record(document, self.role, self.options):
                if self.role == "labelled":
                    hint = "a labelled table is an array of records with query, score and label"
                    raise MissingColumn("grade", "is an object that holds no labels", where, hint)
                document = records_by_query(document, "group" if self.role == "groups" else "weight")
            entries = document if is_list(document) else [document]
            if self.role == "queries":  # a bare id too
                entries = [{"query": entry} if isinstance(entry, str) else entry for entry in entries]
            yield from ((f"{where}, entry {entry:,}", record) for entry, record in enumerate(entries, 1))

    def _documents(self, progress: Progress | None) -> Iterator[tuple[str, Any]]:
        """The document of each part that is not empty."""
        path, texts = "", list[bytes]()
        for chunk in self.source.chunks(progress):
            if chunk.path != path and texts:
                yield path, parse(b"".join(texts), path)
                texts.clear()
            path = chunk.path
            texts.append(chunk.data)
        if texts:
            yield path, parse(b"".join(texts), path)


def _pieces(document: Any, reading: Reading, where: str, has_rank: bool) -> tuple[Iterator[Piece], Any]:
    """The document as pieces, and the function that says where each stands."""
    role, options = reading.role, reading.options
    if is_list(document):
        return _entries(document, reading, where, has_rank), partial(_entry_place, where)
    if not is_object(document):
        raise InputError(f"is {named(document)}, not an object or a list", where, "{query: {document: number}}")
    if isinstance(document, dict) and MTEB_META in document:
        document, where = _mteb(document, where)
    elif is_record(document, role, options):
        return _entries([document], reading, where, has_rank), partial(_entry_place, where)
    else:
        _refuse_columns(document, role, options, where)
    pieces = _checked_kind(rankings(items(document), reading, where), where, reading.role, has_rank)
    return pieces, partial(_key_place, where, has_rank)


def _entry_place(where: str, piece: Piece, i: int) -> str:
    return f"{where}, entry {piece.number:,}"


def _key_place(where: str, has_rank: bool, piece: Piece, i: int) -> str:
    return key_path(where, piece.query, i if has_rank else piece.docs[i])


def _checked_kind(pieces: Iterator[Piece], where: str, role: Role, has_rank: bool) -> Iterator[Piece]:
    """The pieces, when they have ranks or have none as the head of the input did."""
    for piece in pieces:
        if role == "run" and (piece.ranks is not None) != has_rank:
            raise InputError("holds ranked lists here and scores there", where, "use one layout for all queries")
        yield piece


def _entries(entries: list[Any], reading: Reading, where: str, has_rank: bool) -> Iterator[Piece]:
    """The pieces of an array of records, numbered from 1."""
    layout: RecordLayout | None = None
    for entry, record in enumerate(entries, 1):
        place = f"{where}, entry {entry:,}"
        if layout is None and is_object(record):
            layout = record_layout(record, reading.role, reading.options, place)
            if reading.role == "run" and layout.has_rank != has_rank:
                raise InputError("has ranks where the parts before have none, or the reverse", place)
        if layout is None:
            raise InputError(f"is {named(record)}, not an object", place, RECORD_HINT)
        try:
            piece = record_piece(record, layout, reading, entry, place)
        except InputError as error:
            leave_out(error, reading.options.problems)
            continue
        yield piece


def _mteb(document: Mapping[str, Any], where: str) -> tuple[Any, str]:
    """MTEB's predictions lie two levels down (subset, split) beside a block about the model."""
    held: Any = {key: value for key, value in document.items() if key != MTEB_META}
    for level in ("subset", "split"):
        if not isinstance(held, dict):
            raise InputError(f"holds {named(held)} where {MTEB_META} has a {level} beside it", where)
        if len(held) != 1:
            names = ", ".join(f"`{name}`" for name in held) or "none"
            what = f"MTEB predictions of several {level}s: {names}" if held else f"MTEB predictions without a {level}"
            raise InputError(f"{what} (beside `{MTEB_META}`)", where, f"write one {level} to a file of its own")
        [(name, held)] = held.items()
        where = key_path(where, name)
    if not is_object(held):
        raise InputError(f"holds {named(held)}, not queries", where, "MTEB writes {query: {document: score}}")
    return held, where


def _refuse_columns(document: Any, role: Role, options: ReadOptions, where: str) -> None:
    """Refuse an object that holds columns, as pandas writes it: its column names would be read as queries."""
    if {"query", "doc"} <= recognised([str(key) for key, _ in items(document)], role, options):
        names = ", ".join(f"`{key}`" for key, _ in items(document))
        hint = 'write one record a row: in pandas to_json(orient="records")'
        raise InputError(f"holds columns ({names}), not queries", where, hint)


def _repeated_queries(document: Any) -> list[str]:
    if not isinstance(document, Pairs):
        return []
    repeated = [key for key, times in Counter(key for key, _ in document).items() if times > 1]
    shown = ", ".join(f"`{key}`" for key in repeated[:SHOWN_PROBLEMS]) + (", ..." if repeated[SHOWN_PROBLEMS:] else "")
    stands = "stands" if len(repeated) == 1 else "stand"
    return [f"query {shown} {stands} more than once as a key: the documents are taken together"]


def _head_has_rank(head: bytes, role: Role, options: ReadOptions, where: str) -> bool | None:
    """Whether a document that begins like this holds ranks; None when the head is too short to say so."""
    text = head.decode(errors="replace")
    opened = _opened(text)
    if opened == "{[":
        return True
    if opened[:2] not in ("[{", "{"):
        return False
    try:
        record, _ = DECODER.raw_decode(text, text.index("{"))
    except json.JSONDecodeError:
        return None
    return is_record(record, role, options) and record_layout(record, role, options, where).has_rank


def _opened(text: str) -> str:
    """The brackets that are open where the first value stands that is neither an object nor a list."""
    opened: list[str] = []
    is_value = True
    for found in _TOKEN.finditer(text):
        token = found.group().lstrip()
        if token in "{[":
            opened.append(token)
            is_value = token == "["
        elif token in "}]":
            del opened[-1:]
        elif token == ":":
            is_value = True
        elif token == ",":
            is_value = opened[-1:] == ["["]
        elif is_value:
            break
    return "".join(opened)


def _fits_document(source: Input, role: Role, options: ReadOptions) -> bool:
    """Whether the content begins as an object or a list does."""
    return bool(_START.match(source.head()))


FORMATS = (
    Format(
        name="jsonl",
        run="one result a line, with the names of a table; or one query a line, with lists of documents and scores",
        qrels="the same with a grade (or score)",
        fits=jsonlines.fits,
        open=jsonlines.JsonLinesTable,
        labelled="the same with a score and a label (grade); also without doc",
    ),
    Format(
        name="json",
        run="{query: {document: score}} (BEIR, ranx, pytrec_eval), {query: [document, ...]}, an array of records, or "
        "MTEB predictions; held in memory while it is read",
        qrels="{query: {document: grade}}, {query: [relevant document, ...]} or an array of records",
        fits=_fits_document,
        open=JsonTable,
        labelled="an array of records with query, score and label (grade)",
    ),
)
