"""Every kernel, compiled by Numba, gives the bits of the plain function."""

import math
import random

import numpy as np
import pytest
from kernels import params_of, ranking_of
from naive import Query
from numba import njit

from rankeval_cli.measures.expression import parse
from rankeval_cli.measures.registry import MEASURES

METRICS = [metric for measure in MEASURES for word in measure.examples for metric in parse(word)]
KERNELS = {metric.measure.kernel: metric for metric in METRICS if not metric.measure.plain_only}
GRADES = [None, -1.0, 0.0, 0.0, 0.5, 1.0, 2.0, 3.0]


def random_query(chance: random.Random) -> Query:
    size = chance.choice([0, 1, 5, 40])
    scores = sorted((float(chance.randint(0, 9)) for _ in range(size)), reverse=True)
    return Query([chance.choice(GRADES) for _ in range(size)], [float(chance.randint(0, 3)) for _ in range(3)], scores)


def arrays_of(ranking):
    """The same ranking with NumPy arrays in place of memoryviews."""
    fields = (np.frombuffer(column, column.format) if isinstance(column, memoryview) else column for column in ranking)
    return type(ranking)(*fields)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_compiled_kernel_gives_the_same_bits(kernel):
    compiled, chance = njit(kernel), random.Random(7)
    for metric in (metric for metric in METRICS if metric.measure.kernel is kernel):
        params = params_of(metric)
        for _ in range(25):
            ranking = ranking_of(metric, random_query(chance), 1.0, 3.0)
            plain = kernel(ranking, metric.k, 1.0, params)
            value = compiled(arrays_of(ranking), metric.k, 1.0, np.array(params))
            assert value == plain or (math.isnan(value) and math.isnan(plain)), metric.canonical


def test_every_kernel_is_compiled_here_or_declared_plain_only():
    assert {measure.kernel for measure in MEASURES if not measure.plain_only} <= set(KERNELS)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_kernel_calls_nothing_but_what_compiles_to_the_same_bits(kernel):
    called = set(kernel.__code__.co_names) - {"grade", "status", "ideal", "discount", "num_rel", "score"}
    assert called <= {"len", "min", "max", "range", "float", "int", "nan"}
