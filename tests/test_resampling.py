"""Bootstrap resamples: their bytes, their distribution, and the statistics against a slow twin."""

import itertools
import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_cli.inference import resampling
from rankeval_cli.inference.resampling import bounded_integers, draw_counts, linear_quantile, resample


class Words:
    """A stand-in for a bit generator that gives these 32-bit words as the upper halves."""

    def __init__(self, words: Sequence[int]) -> None:
        self.words = iter(words)

    def random_raw(self, size: int) -> np.ndarray:
        return np.array([(word << 32) + 12345 for word in itertools.islice(self.words, size)], dtype=np.uint64)


def naive_counts(num_queries: int, resamples: int, seed: int) -> list[list[int]]:
    """How often each query is drawn, one raw value at a time."""
    stream = np.random.PCG64(seed)
    table = []
    for _ in range(resamples):
        counts = [0] * num_queries
        for _ in range(num_queries):
            product = (stream.random_raw() >> 32) * num_queries
            while product % 2**32 < 2**32 % num_queries:
                product = (stream.random_raw() >> 32) * num_queries
            counts[product >> 32] += 1
        table.append(counts)
    return table


def test_words_that_would_favour_some_integers_are_dropped() -> None:
    # 2^32 = 3 * 1431655765 + 1: of the words, only 0 is one too many.
    words = [0, 1, 0, 1431655765, 1431655766, 2863311531, 2**32 - 1, 0, 5]
    assert bounded_integers(Words(words), 3, 6).tolist() == [0, 0, 1, 2, 2, 0]


@pytest.mark.parametrize("bound", [1, 2, 1000, 2**16 + 1, 3 * 2**30, 2**32])
def test_two_calls_give_what_one_gives(bound: int) -> None:
    once, twice = np.random.PCG64(7), np.random.PCG64(7)
    whole = bounded_integers(once, bound, 1000)
    parts = [bounded_integers(twice, bound, size) for size in (0, 1, 499, 500)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert whole.min() >= 0
    assert whole.max() < bound
    assert once.random_raw() == twice.random_raw()


def test_integers_are_uniform_where_a_quarter_of_the_words_is_dropped() -> None:
    bound = 3 * 2**30
    drawn = bounded_integers(np.random.PCG64(0), bound, 60_000)
    counts = np.bincount(drawn // (bound // 12), minlength=12)
    assert stats.chisquare(counts).pvalue > 0.01


def test_the_resamples_of_a_seed_are_these() -> None:
    """Written down: they must be the same with every NumPy, on every machine."""
    assert np.concatenate(list(draw_counts(5, 4, seed=0))).astype(int).tolist() == PINNED
    assert naive_counts(5, 4, seed=0) == PINNED


PINNED = [[2, 1, 0, 1, 1], [0, 0, 1, 2, 2], [2, 0, 0, 1, 2], [1, 1, 2, 0, 1]]


@pytest.mark.parametrize("cells", [1, 13, 100, 10**6])
def test_results_do_not_depend_on_the_batch(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.Generator(np.random.PCG64(1)).random((2, 13))
    whole = resample(values, [False, True], 50, seed=3)
    monkeypatch.setattr(resampling, "BATCH_CELLS", cells)
    assert resample(values, [False, True], 50, seed=3).tobytes() == whole.tobytes()


values_of_queries = st.lists(st.floats(0, 1) | st.just(math.nan), min_size=1, max_size=12).filter(
    lambda values: any(value == value for value in values)
)


@given(values=values_of_queries, seed=st.integers(0, 2**70))
def test_statistics_equal_the_slow_twin(values: list[float], seed: int) -> None:
    means, medians = resample(np.array([values, values]), [False, True], 8, seed).tolist()
    (lowers,) = resample(np.array([values]), [True], 8, seed, lower=True).tolist()
    for counts, mean, median, low in zip(naive_counts(len(values), 8, seed), means, medians, lowers, strict=True):
        drawn = [v for v, count in zip(values, counts, strict=True) for _ in range(count) if v == v]
        if not drawn:
            assert mean != mean
            assert median != median
            continue
        total = 0.0
        for value, count in zip(values, counts, strict=True):
            total += count * value if value == value else 0.0
        assert mean == total / len(drawn)
        assert median == statistics.median(drawn)
        assert low == statistics.median_low(drawn)


def test_undefined_queries_are_drawn_and_left_out() -> None:
    values = np.array([[0.25] + [math.nan] * 9])
    replicates = resample(values, [False], 400, seed=0)[0]
    # One of ten queries has a value: a share of (9/10)^10 = 0.35 of the resamples holds none.
    assert np.isnan(replicates).mean() == pytest.approx(0.9**10, abs=0.08)
    assert set(replicates[~np.isnan(replicates)].tolist()) == {0.25}


def test_all_measures_see_the_same_resamples() -> None:
    values = np.random.Generator(np.random.PCG64(2)).random(20)
    one, two = resample(np.stack([values, 1.0 - values]), [False, False], 30, seed=0)
    assert one + two == pytest.approx(np.ones(30))


@given(
    numbers=st.lists(st.floats(-100, 100), min_size=1, max_size=20).map(sorted),
    p=st.floats(0, 1) | st.sampled_from([0.0, 0.025, 0.5, 0.975, 1.0]),
)
def test_quantiles_are_those_of_numpy(numbers: list[float], p: float) -> None:
    assert linear_quantile(numbers, p) == pytest.approx(np.quantile(numbers, p), rel=1e-13, abs=1e-13)
    assert numbers[0] <= linear_quantile(numbers, p) <= numbers[-1]
