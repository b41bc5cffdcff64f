"""Records: objects or dictionaries with named values, one a result or judgment, or one a query with lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rankeval_cli.errors import InputError
from rankeval_cli.readers.columns import Columns, choose, recognised
from rankeval_cli.readers.format import ReadOptions, Role
from rankeval_cli.readers.nested import (
    Pairs,
    Piece,
    checked_id,
    checked_value,
    is_list,
    is_object,
    items,
    key_path,
    named,
    ranking,
)
from rankeval_cli.readers.values import Reading, whole_rank

RECORD_HINT = 'records look like {"query_id": "q1", "doc_id": "d1", "score": 0.5}'


@dataclass(frozen=True)
class RecordLayout:
    """Where a record holds what. lists : whether it holds the documents of one query as lists"""

    columns: Columns
    lists: bool

    @property
    def has_rank(self) -> bool:
        """Whether runs of this layout have ranks."""
        return self.columns.rank is not None or self.columns.value is None


def is_record(held: object, role: Role, options: ReadOptions) -> bool:
    """Whether an object is one result or judgment with named values: it names query or document by a known name.

    An object of objects is none, though a query may be called `query`.
    """
    if not is_object(held):
        return False
    names = [key for key, value in items(held) if isinstance(key, str) and not is_object(value)]
    return bool(recognised(names, role, options) & {"query", "doc"})


def record_layout(record: Any, role: Role, options: ReadOptions, where: str) -> RecordLayout:
    """The layout that a first record shows; InputError as in `columns.choose`."""
    names = [str(key) for key, _ in items(record)]
    lists = [str(key) for key, value in items(record) if is_list(value)]
    columns = choose(names, role, options, where, lists)
    return RecordLayout(columns, any(name in lists for name in columns.of_rows[:1]))


def record_piece(record: Any, layout: RecordLayout, reading: Reading, number: int, where: str) -> Piece:
    """One record as a piece; InputError naming the key that is absent, or whose value is no id or no number."""
    columns = layout.columns
    if type(record) is dict and not layout.lists and columns.rank is None:  # the usual one, a fifth faster
        query, doc = record.get(columns.query), record.get(columns.doc)
        value = record.get(columns.value)
        if type(query) is str and type(doc) is str and type(value) is float and query and doc:
            return Piece(number, query, [doc], [value], None)
    if not isinstance(record, Mapping):
        if isinstance(record, Pairs):
            raise InputError("has a key twice", where, "give each value its own key")
        raise InputError(f"is {named(record)}, not an object", where, f"it needs `{'`, `'.join(columns.used)}`")
    for name in columns.used:
        if name not in record:
            raise InputError(f"no key `{name}`", where, f"it has `{'`, `'.join(map(str, record))}`")
    query = checked_id(record[columns.query], lambda: where, f"`{columns.query}`")
    if layout.lists:
        return _list_piece(record, query, layout, reading, number, where)
    doc = checked_id(record[str(columns.doc)], lambda: where, f"`{columns.doc}`")
    rank = None if columns.rank is None else whole_rank(record[columns.rank])
    value = 1.0
    if columns.value is not None:
        value = checked_value(record[columns.value], reading, lambda: where)
    elif columns.rank is not None:
        value = _score_of_rank(rank, record[columns.rank], where)
    return Piece(number, query, [doc], [value], None if columns.rank is None else [rank])


def _list_piece(
    record: Mapping[str, Any], query: str, layout: RecordLayout, reading: Reading, number: int, where: str
) -> Piece:
    columns, doc_column = layout.columns, str(layout.columns.doc)
    for name in columns.used[1:]:
        if not is_list(record[name]):
            raise InputError(f"`{name}` is {named(record[name])}, not a list", where, f"`{columns.doc}` is one")
        if len(record[name]) != len(record[doc_column]):
            what = f"`{columns.doc}` has length {len(record[doc_column]):,} and `{name}` length {len(record[name]):,}"
            raise InputError(what, where, "lists in one record are equally long")
    docs = record[doc_column]
    if columns.value is None and columns.rank is None:
        return ranking(query, docs, "ranks", reading, key_path(where, columns.doc))._replace(number=number)
    ids = [checked_id(doc, partial(key_path, where, columns.doc, i)) for i, doc in enumerate(docs)]
    ranks = None if columns.rank is None else [whole_rank(rank) for rank in record[columns.rank]]
    if columns.value is not None:
        held = record[columns.value]
        values = [
            checked_value(value, reading, partial(key_path, where, columns.value, i)) for i, value in enumerate(held)
        ]
    else:
        held = record[str(columns.rank)]
        values = [_score_of_rank(rank, value, where) for rank, value in zip(ranks or (), held, strict=True)]
    return Piece(number, query, ids, values, ranks)


def _score_of_rank(rank: int | None, held: object, where: str) -> float:
    if rank is None:
        raise InputError(
            f"rank `{held}` is no whole number", where, "without a score column the rank decides the order"
        )
    return float(-rank)
