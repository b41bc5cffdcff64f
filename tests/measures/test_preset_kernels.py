"""Kernels and fields that presets put into a record: their compiled bits, and what they leave undefined."""

import math
import random

import numpy as np
import pytest
from kernels import expected_value, kernel_value, params_of, ranking_of
from naive import Query
from numba import njit
from test_measure_compiled import arrays_of, random_query

from rankeval_cli.measures.registry import MEASURES, NAMES, usual_values
from rankeval_cli.presets.registry import PRESETS, find

OURS = {measure.kernel for measure in MEASURES}


def with_own_kernels():
    """The metrics that a preset computes with a kernel of its own."""
    for preset in PRESETS:
        for name in preset.names:
            at = {"required": "@3", "value": f"@{usual_values(NAMES[name])[1]}" if NAMES[name].at else ""}
            (metric,) = preset.parse(name + at.get(NAMES[name].cutoff, ""))
            if metric.measure.kernel not in OURS:
                yield preset.name, metric


OWN = {metric.measure.kernel: metric for _, metric in with_own_kernels() if not metric.measure.plain_only}


def test_presets_have_kernels_of_their_own():
    assert {metric.measure.name for metric in OWN.values()} >= {"hit", "ap", "iprec"}


@pytest.mark.parametrize("kernel", OWN, ids=lambda kernel: kernel.__name__)
def test_compiled_kernel_of_a_preset_gives_the_bits_of_the_plain_one(kernel):
    compiled, chance, metric = njit(kernel), random.Random(5), OWN[kernel]
    params = params_of(metric)
    for _ in range(50):
        ranking = ranking_of(metric, random_query(chance), 1.0, 3.0)
        plain = kernel(ranking, metric.k, 1.0, params)
        value = compiled(arrays_of(ranking), metric.k, 1.0, np.array(params))
        assert value == plain or (math.isnan(value) and math.isnan(plain))


@pytest.mark.parametrize("kernel", OWN, ids=lambda kernel: kernel.__name__)
def test_kernel_of_a_preset_calls_nothing_but_what_compiles_to_the_same_bits(kernel):
    called = set(kernel.__code__.co_names) - {"grade", "status", "ideal", "discount", "num_rel", "score"}
    assert called <= {"len", "min", "max", "range", "float", "int", "nan"}


@pytest.mark.parametrize(
    ("ranked", "missed", "value"),
    [
        ([0.0, 1.0], [], 1.0),
        ([None, None, 0.0, 1.0], [], 0.0),
        ([0.0], [3.0], 0.0),
        ([], [1.0], 0.0),
        ([1.0], [1.0], None),
        ([0.0], [], None),
    ],
    ids=["found", "below k", "not retrieved", "empty", "two relevant", "none relevant"],
)
def test_hit_of_one_is_defined_for_one_relevant_document(ranked, missed, value):
    (metric,) = find("rankereval").parse("HitRate@3")
    assert kernel_value(metric, Query(ranked, missed)) == value
    assert "not_one_relevant" in metric.measure.undefined


@pytest.mark.parametrize("kernel_of", [kernel_value, expected_value], ids=["in order", "over all orders"])
@pytest.mark.parametrize("word", ["Precision@3", "F1@3"])
def test_truncated_value_of_an_empty_ranking_is_undefined_under_rankereval(word, kernel_of):
    rankereval, name = find("rankereval"), word.partition("@")[0]
    (plain,), (truncated,) = rankereval.parse(word), rankereval.parse(f"{name}(truncated=True)@3")
    assert truncated.params["norm"] == "min"
    assert kernel_of(truncated, Query([], [1.0])) is None
    assert kernel_of(plain, Query([], [1.0])) == 0.0
    assert "empty_ranking" in truncated.measure.undefined
    (ours,) = find("keras").parse("p") if name == "Precision" else find("ranx").parse("f1(norm=min)@3")
    assert kernel_of(ours, Query([], [1.0])) == 0.0
