"""Sorting many short lists: lists of one length, of many lengths, and empty ones."""

import math
import random

import numpy as np
import polars as pl
import pytest

from rankeval_cli.rows import offsets_of
from rankeval_cli.sorting import borders, byte_order, falling, falling_order, tied_places

LENGTHS = {
    "one length": [4] * 6,
    "length 1": [1] * 5,
    "many lengths": [3, 1, 7, 2, 2, 5],
    "empty lists": [0, 3, 0, 0, 2, 0],
    "only empty lists": [0, 0],
    "one list": [9],
    "no list": [],
}


def some_lists(lengths: list[int], levels: list[float]) -> list[list[float]]:
    rng = random.Random(len(lengths))
    return [rng.choices(levels, k=length) for length in lengths]


def joined(lists: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """values, offsets"""
    return np.array([x for each in lists for x in each]), offsets_of(np.array([len(x) for x in lists], dtype=np.int64))


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_values_fall_within_each_list_and_nan_comes_last(lengths: list[int]) -> None:
    lists = some_lists(lengths, [2.0, 0.5, -1.0, math.inf, -math.inf, math.nan])
    values, offsets = joined(lists)
    wanted = [x for each in lists for x in sorted(each, key=lambda x: (x != x, -x))]
    assert np.array_equal(falling(values, offsets), wanted, equal_nan=True)
    places = falling_order(values, offsets)
    assert np.array_equal(values[places], wanted, equal_nan=True)
    assert sorted(places.tolist()) == list(range(len(values)))
    assert places.dtype == np.int64


@pytest.mark.parametrize("levels", [[1.0], [1.0, 2.0], [float(i) for i in range(50)]], ids=["1", "2", "50"])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_tied_places_are_those_with_an_equal_neighbour_in_their_list(lengths: list[int], levels: list[float]) -> None:
    lists = [sorted(each, reverse=True) for each in some_lists(lengths, levels)]
    places, runs = tied_places(*joined(lists))
    owner = [(i, x) for i, each in enumerate(lists) for x in each]
    wanted = [place for place, own in enumerate(owner) if owner.count(own) > 1]
    assert places.tolist() == wanted
    for (a, run), (b, other) in zip(*[list(zip(places, runs, strict=True))[i:] for i in (0, 1)], strict=False):
        assert (run == other) == (owner[a] == owner[b])


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_borders_are_the_last_places_of_lists_but_the_last(lengths: list[int]) -> None:
    offsets = offsets_of(np.array(lengths, dtype=np.int64))
    ends = {sum(lengths[: i + 1]) - 1 for i in range(len(lengths)) if lengths[i]}
    assert set(borders(offsets).tolist()) == {end for end in ends if end < sum(lengths) - 1}


IDS = {
    "numbers": [str(number) for number in range(2000)],
    "eight bytes": ["abcdefgh", "abcdefg", "abcdefgi", "a", "abcdefg~", ""],
    "more than eight bytes": ["abcdefghi", "abcdefgh", "abcdefgha", "b"],
    "beyond ASCII": ["é", "e", "z", "\U0001f600", "\uffff", "éa", "Z"],
    "with NUL": ["a", "a\0", "\0", "a\0\0", "b"],
    "one": ["q"],
    "none": [],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_ids_are_ordered_by_their_bytes(ids: list[str]) -> None:
    mixed = random.Random(1).sample(ids, len(ids))
    order = byte_order(pl.Series(mixed, dtype=pl.String))
    assert [mixed[place] for place in order] == sorted(ids, key=str.encode)
    assert order.dtype == np.int64
