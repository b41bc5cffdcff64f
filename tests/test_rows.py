"""The small tools on keys by which duplicates and judged documents are found."""

import numpy as np
import pytest
from numpy.typing import NDArray

from rankeval_cli.rows import holds_repeats, rows_among

Hashes = NDArray[np.uint64]


def keys_of(*numbers: int) -> Hashes:
    return np.array(numbers, np.uint64)


def random_keys(count: int, seed: int) -> Hashes:
    return np.random.PCG64(seed).random_raw(count)


CROWDED = keys_of(*range(1000))  # the first slots of all are the same


@pytest.mark.parametrize(
    "keys",
    [keys_of(), keys_of(5), keys_of(0, 2**64 - 1), CROWDED, random_keys(5000, 1)],
    ids=["none", "one", "ends", "crowded", "random"],
)
def test_different_keys_are_no_repeats(keys: Hashes) -> None:
    assert not holds_repeats(keys)


@pytest.mark.parametrize("keys", [CROWDED, random_keys(1000, 2)], ids=["crowded", "random"])
@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 999), (500, 501), (998, 999)])
def test_a_key_that_is_there_twice_is_found(keys: Hashes, first: int, second: int) -> None:
    repeated = keys.copy()
    repeated[second] = repeated[first]
    assert holds_repeats(repeated)


def test_a_pair_of_equal_keys_is_found_behind_others_of_its_slot() -> None:
    """The last of a slot stays there: equal keys that both lose against a third one meet later."""
    assert holds_repeats(keys_of(7, 7, 8, 9))


def test_rows_among_finds_the_wanted_keys_and_none_that_begins_alike() -> None:
    keys = keys_of(3 << 48, (3 << 48) + 1, 9, (3 << 48) + 1, 2**64 - 1)
    assert rows_among(keys, keys_of((3 << 48) + 1, 2**64 - 1, 17)).tolist() == [1, 3, 4]


@pytest.mark.parametrize("keys", [keys_of(), keys_of(1, 2)], ids=["no rows", "two rows"])
def test_nothing_is_among_nothing(keys: Hashes) -> None:
    assert rows_among(keys, keys_of()).tolist() == []
