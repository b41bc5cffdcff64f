"""Kernels of the means over all orders: compiled they give the same bits, and thousands of ties stay exact."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from kernels import expected_value, params_of, ranking_of
from naive import Query
from numba import njit
from test_measure_compiled import METRICS, arrays_of, random_query

from rankeval_cli.measures.expression import parse

ASKED = [*METRICS, *parse("ap:norm=found@3")]
KERNELS = {metric.expected: metric for metric in ASKED if metric.expected}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.__module__.split('.')[-1]}-{kernel.__name__}")
def test_compiled_kernel_gives_the_bits_of_the_plain_one(kernel):
    compiled, chance = njit(kernel), random.Random(11)
    for metric in (metric for metric in ASKED if metric.expected is kernel):
        params = params_of(metric)
        for _ in range(25):
            ranking = ranking_of(metric, random_query(chance), 1.0, 3.0, with_score=True)
            plain = kernel(ranking, metric.k, 1.0, params)
            value = compiled(arrays_of(ranking), metric.k, 1.0, np.array(params))
            assert value == plain or (math.isnan(value) and math.isnan(plain)), metric.canonical


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.__module__.split('.')[-1]}-{kernel.__name__}")
def test_kernel_calls_nothing_but_what_compiles_to_the_same_bits(kernel):
    called = set(kernel.__code__.co_names) - {"grade", "status", "ideal", "discount", "num_rel", "score"}
    assert called <= {"len", "min", "max", "range", "float", "int", "nan"}


def missed(size: int, relevant: int, places: int) -> Fraction:
    return Fraction(math.comb(size - relevant, places), math.comb(size, places))


def hit(size: int, relevant: int, k: int) -> Fraction:
    return 1 - missed(size, relevant, k)


def reciprocal_rank(size: int, relevant: int, k: int) -> Fraction:
    firsts = (missed(size, relevant, i - 1) - missed(size, relevant, i) for i in range(1, k + 1))
    return sum((first / i for i, first in enumerate(firsts, 1)), Fraction(0))


def first_rank(size: int, relevant: int, k: int) -> Fraction:
    return sum((missed(size, relevant, i) for i in range(size)), Fraction(0))


def average_precision(size: int, relevant: int, k: int) -> Fraction:
    terms = (Fraction(1 + Fraction((i - 1) * (relevant - 1), size - 1)) / i for i in range(1, k + 1))
    return Fraction(1, size) * sum(terms, Fraction(0))


def found_average_precision(size: int, relevant: int, k: int) -> Fraction:
    """Given j relevant documents in the top k, the precision at each of them is averaged over the ranks of all k."""
    plain = sum((Fraction(1, i) for i in range(1, k + 1)), Fraction(0))
    rising = sum((Fraction(i - 1, i) for i in range(1, k + 1)), Fraction(0))
    total = Fraction(0)
    for j in range(1, min(k, relevant) + 1):
        ways = math.comb(relevant, j) * math.comb(size - relevant, k - j)
        total += ways * (plain + (Fraction(j - 1, k - 1) * rising if k > 1 else 0)) / k
    return total / math.comb(size, k)


CLOSED = {
    "hit@{k}": hit,
    "rr@{k}": reciprocal_rank,
    "ap@{k}": average_precision,
    "ap:norm=found@{k}": found_average_precision,
    "first_rank": first_rank,
}


@pytest.mark.parametrize("relevant", [1, 7, 500, 999])
@pytest.mark.parametrize("k", [1, 10, 500, 999])
@pytest.mark.parametrize("word", CLOSED)
def test_thousand_tied_documents_are_exact(word, k, relevant):
    grades = [1.0] * relevant + [0.0] * (1000 - relevant)
    (metric,) = parse(word.format(k=k))
    value = expected_value(metric, Query(grades, [], [1.0] * 1000))
    exact = CLOSED[word](1000, relevant, k)
    assert value == pytest.approx(float(exact), rel=1e-11, abs=0)


def test_twenty_thousand_tied_documents_do_not_underflow():
    grades = [1.0, 0.0] * 10_000
    (metric,) = parse("ap:norm=found@10000")
    value = expected_value(metric, Query(grades, [], [1.0] * 20_000))
    assert value == pytest.approx(0.5, abs=0.001)
