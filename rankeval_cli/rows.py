"""The rows of one block while they are aligned: which rows each query owns, and their places in rank order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankeval_cli.judgments import DOC_SEED
from rankeval_cli.sorting import borders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]
    Hashes = NDArray[np.uint64]


MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that different keys stay different (Knuth's multiplicative hash)


@dataclass
class BlockRows:
    """Rows of judged queries in file order; `query` (Q,) index, `offsets` (Q+1,).

    marks : grade and status of each row; None until all rows that are not ranked have been left out
    """

    frame: pl.DataFrame
    query: Rows
    offsets: Rows
    hashes: Hashes | None = None
    keys: Hashes | None = None
    marks: tuple[NDArray[np.float64], NDArray[np.uint8]] | None = None

    @property
    def grades(self) -> NDArray[np.float64]:
        """(N,) -1 where there is none that counts."""
        assert self.marks is not None
        return self.marks[0]

    @property
    def status(self) -> NDArray[np.uint8]:
        """(N,) as in `Ranked`."""
        assert self.marks is not None
        return self.marks[1]

    @property
    def doc_hash(self) -> Hashes:
        """(N,) hash of each document, made once."""
        if self.hashes is None:
            self.hashes = self.frame["doc"].hash(DOC_SEED).to_numpy()
        return self.hashes

    @property
    def lengths(self) -> Rows:
        """(Q,) how many rows each query has."""
        lengths: Rows = np.diff(self.offsets)
        return lengths

    def place_of_row(self) -> Rows:
        """(N,) place of each row's query in `query`."""
        return np.repeat(np.arange(len(self.query)), self.lengths)

    def query_of_row(self) -> Rows:
        """(N,) index of each row's query."""
        return np.repeat(self.query, self.lengths)

    def row_in_query(self) -> Rows:
        """(N,) 0, 1, .. within each query."""
        return np.arange(self.offsets[-1]) - np.repeat(self.offsets[:-1], self.lengths)

    def last_rows(self) -> Rows:
        """Each query's last row but the block's; a query without rows has none."""
        return borders(self.offsets)

    def keep(self, kept: NDArray[np.bool_]) -> BlockRows:
        """Some of the rows; every query stays."""
        before = np.concatenate(([0], np.cumsum(kept)))
        frame = self.frame.filter(pl.Series(kept))
        hashes = None if self.hashes is None else self.hashes[kept]
        marks = None if self.marks is None else (self.marks[0][kept], self.marks[1][kept])
        return BlockRows(frame, self.query, before[self.offsets].astype(np.int64), hashes, marks=marks)


def holds_repeats(keys: Hashes) -> bool:
    """Whether some key is there twice.

    Each row goes to a slot that its key names, the last one stays, and those that find another key there try again
    with other slots: a fifth of the time of sorting.
    """
    while len(keys) > 1:
        bits = len(keys).bit_length() + 1
        slot = (keys >> np.uint64(64 - bits)).view(np.int64)
        row, winner = np.arange(len(keys), dtype=np.int32), np.empty(1 << bits, np.int32)
        winner[slot] = row
        lost = np.flatnonzero(winner[slot] != row)
        rivals, keys = keys[winner[slot[lost]]], keys[lost]
        if (keys == rivals).any():
            return True
        keys = keys * MIX
    return False


def rows_among(keys: Hashes, wanted: Hashes) -> Rows:
    """The rows whose key is wanted, ascending. The first bits leave most of the others out at little cost."""
    starts = np.zeros(1 << 16, np.bool_)
    starts[(wanted >> np.uint64(48)).view(np.int64)] = True
    near = np.flatnonzero(starts[(keys >> np.uint64(48)).view(np.int64)])
    rows: Rows = near[pl.Series(keys[near]).is_in(pl.Series(wanted).implode()).to_numpy()]
    return rows


@dataclass(frozen=True)
class RankOrder:
    """perm (N,): the row at each rank, queries one after another; score (N,): in rank order."""

    perm: Rows
    score: NDArray[np.float64]


def mask_of(rows: Rows, height: int) -> NDArray[np.bool_]:
    """(height,) true in some rows."""
    mask = np.zeros(height, np.bool_)
    mask[rows] = True
    return mask


def offsets_of(lengths: Rows) -> Rows:
    """(Q+1,) where the rows of each query start, from how many it has."""
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def places_of(starts: Rows, query: Rows) -> Rows:
    """The places from starts[q] up to starts[q + 1] of each query q, one query after another."""
    first, lengths = starts[query], starts[query + 1] - starts[query]
    offsets = offsets_of(lengths)
    places: Rows = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], lengths)
    return places
