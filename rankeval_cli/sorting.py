"""Sort many short lists that stand one after another, all lists of one length at a time.

values : (N,), offsets : (lists + 1,), from 0 to N; list i is values[offsets[i]:offsets[i + 1]].

Sorting all rows by (list, value) compares lists that are in order already: 20,000,000 rows in lists of 20 take NumPy's
`lexsort` six times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]


def falling(values: Floats, offsets: Places) -> Floats:
    """The values of each list, highest first, NaN last."""
    length = _common_length(offsets)
    if length:
        return -np.sort(-values.reshape(-1, length), axis=1).ravel()
    out = np.empty(len(values))
    for at in _by_length(offsets):
        out[at] = -np.sort(-values[at], axis=1)
    return out


def falling_order(values: Floats, offsets: Places) -> Places:
    """(N,) the place of the highest value of each list, then of the next one; equal values in any order."""
    length = _common_length(offsets)
    if length:
        order: Places = np.argsort(-values.reshape(-1, length), axis=1)
        order += offsets[:-1, None]
        return order.ravel()
    out = np.empty(len(values), np.int64)
    for at in _by_length(offsets):
        out[at] = np.take_along_axis(at, np.argsort(-values[at], axis=1), axis=1)
    return out


def tied_places(values: Floats, offsets: Places) -> tuple[Places, Places]:
    """The places at which a list has a value that a neighbour has too, and for each the number of its run of equals.

    values : each list in order
    """
    same = values[1:] == values[:-1]
    same[borders(offsets)] = False
    if not same.any():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    tied = np.zeros(len(values), np.bool_)
    tied[1:] |= same
    tied[:-1] |= same
    places = np.flatnonzero(tied)
    runs = np.concatenate(([0], np.cumsum(~same)))[: len(values)]
    return places, runs[places]


def byte_order(ids: pl.Series) -> Places:
    """(Q,) the place of the lowest of Q different ids, in ascending order of their UTF-8 bytes, then of the next one.

    Ids of up to eight bytes are compared as one number: 1,000,000 of them take 0.14 s, where Polars takes 0.75 s.
    """
    text, lengths = ids.str.join("").item().encode(), ids.str.len_bytes().to_numpy().astype(np.int64)
    if lengths.max(initial=0) > 8 or b"\0" in text:
        return ids.arg_sort().to_numpy().astype(np.int64)
    data, key = np.frombuffer(text + bytes(8), np.uint8), np.zeros(len(ids), np.uint64)
    start = np.cumsum(lengths) - lengths
    for i in range(8):
        key = key << np.uint64(8) | np.where(i < lengths, data[start + i], 0).astype(np.uint64)
    return np.argsort(key, kind="stable")


def borders(offsets: Places) -> Places:
    """The places of all last values of lists but the very last one: what stands behind them is of another list."""
    ends: Places = offsets[1:-1] - 1
    return ends.compress((ends >= 0) & (ends < offsets[-1] - 1))


def _common_length(offsets: Places) -> int:
    """The length that all lists have; 0 where they differ."""
    lengths = np.diff(offsets)
    return int(lengths[0]) if len(lengths) and (lengths == lengths[0]).all() else 0


def _by_length(offsets: Places) -> Iterator[Places]:
    """For each length of list the places of its rows, (lists, length)."""
    lengths = np.diff(offsets)
    order = np.argsort(lengths, kind="stable")
    ends = np.flatnonzero(np.diff(lengths[order], append=-1))
    start = 0
    for end in ends.tolist():
        of_length = order[start : end + 1]
        length = int(lengths[of_length[0]])
        if length:
            yield offsets[of_length][:, None] + np.arange(length)
        start = end + 1
