"""The digest of the judgments that a labelled table holds, put together block by block.

What is kept of a block is small, and the digest depends neither on blocks nor on the order of lines.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankeval_cli.judgments import grade_text
from rankeval_cli.rows import offsets_of, places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankeval_cli.rows import BlockRows

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

PACKED = (np.uint8, np.float32)  # what may hold all grades of a block, the smallest first; else they stay float64
SLAB_ITEMS = 2**19  # grades hashed at once: a few arrays of 4 MB each


class Digest:
    """What the queries read so far are judged by: the grades of each, highest first, or a hash of its documents."""

    def __init__(self) -> None:
        self._counts: list[Places] = []  # grades, or bytes of a hash, of each query
        self._items: list[NDArray[Any]] = []  # these, one query after another
        self._type = "<f8"

    def add_grades(self, ordered: Floats, offsets: Places) -> None:
        """Add queries whose documents have no ids. ordered : (N,), highest first and NaN last in each query"""
        is_there = ~np.isnan(ordered)
        if not is_there.all():
            offsets = np.concatenate(([0], np.cumsum(is_there)))[offsets]
            ordered = ordered[is_there]
        self._counts.append(np.diff(offsets))
        self._items.append(_packed(ordered))

    def add_documents(self, rows: BlockRows, grade: Floats) -> None:
        """Add queries whose documents have ids. grade : (N,) of the rows, NaN where not judged"""
        hashes = _hashes_of_documents(rows, grade)
        self._type = "u1"
        self._counts.append(np.full(len(hashes), hashlib.sha256().digest_size))
        self._items.append(np.frombuffer(b"".join(hashes), np.uint8))

    def finish(self, queries: pl.Series, order: Places) -> str:
        """`sha256:...` of all that was added.

        queries : all ids, ascending; order : the number of each, in the order in which they were added
        Hashed are, as little-endian numbers of 8 bytes each: how many queries there are, the length of each id in
        bytes, the ids themselves, how many grades each query has, and the grades, as doubles. Where documents have ids,
        32 bytes a query stand for the grades: the sha256 of its lines (document, grade), sorted by bytes.
        """
        digest = hashlib.sha256(np.array([len(queries)], "<i8").data)
        digest.update(queries.str.len_bytes().to_numpy().astype("<i8").data)
        digest.update(queries.str.join("").item().encode())
        counts = np.concatenate([np.zeros(0, np.int64), *self._counts])
        digest.update(counts[order].astype("<i8").data)
        items, starts = np.concatenate([np.zeros(0, np.uint8), *self._items]), offsets_of(counts)
        step = max(1, SLAB_ITEMS // int(counts.max(initial=1)))
        for first in range(0, len(order), step):
            digest.update(items[places_of(starts, order[first : first + step])].astype(self._type).data)
        return f"sha256:{digest.hexdigest()}"


def _packed(grades: Floats) -> NDArray[Any]:
    """The same numbers in the smallest type that holds them."""
    for kind in PACKED:
        with np.errstate(invalid="ignore", over="ignore"):
            packed: NDArray[Any] = grades.astype(kind)
        if (packed == grades).all():
            return packed
    return grades


def _hashes_of_documents(rows: BlockRows, grade: Floats) -> list[bytes]:
    """sha256 of the lines (document, grade) of each query, sorted by bytes."""
    judged = ~np.isnan(grade)
    distinct = sorted(set(grade[judged].tolist()))
    texts = pl.Series([grade_text(value) for value in distinct], dtype=pl.String)
    text = texts[np.searchsorted(distinct, grade[judged])]
    docs = rows.frame["doc"].filter(pl.Series(judged))
    lines = pl.DataFrame({"query": rows.query_of_row()[judged], "doc": docs, "text": text})
    line = pl.concat_str("doc", "text", separator="\t") + "\n"
    sorted_lines = lines.select("query", line=line).sort("query", "line")
    joined = sorted_lines.group_by("query", maintain_order=True).agg(pl.col("line").str.join(""))
    return [hashlib.sha256(text.encode()).digest() for text in joined["line"]]
