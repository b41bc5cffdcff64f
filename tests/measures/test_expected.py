"""Means over all orders of tied documents, and their bounds, for every measure that claims them: against all orders."""

import math

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from kernels import expected_value, kernel_value
from naive import Query, naive, orders
from strategies import metrics, queries
from test_measure_compiled import METRICS

from rankeval_cli.measures.expression import parse
from rankeval_cli.measures.registry import MEASURES

LEVELS = st.sampled_from([0.0, 0.5, 1.0, 2.0])
EXAMPLES = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much]
)
ASKED = [*METRICS, *parse("ap:norm=found@3"), *parse("auc@5"), *parse("mean_rank@5")]
WITHOUT_FORM = {"11pt", "err", "g", "gm_bpref", "gm_map", "infap", "iprec", "yaap"}
CLAIMING = [measure for measure in MEASURES if measure.name not in WITHOUT_FORM]
UNBOUNDED = {"infap"}
BOUNDED = [measure for measure in MEASURES if measure.name not in UNBOUNDED]


def ids(measure) -> str:
    return measure.name


def by_grade(query: Query, best_first: bool) -> Query:
    """Tied documents by grade; those without a judgment, and negative grades, count as the lowest."""
    grade = [-1.0 if value is None or value < 0 else value for value in query.ranked]
    sign = -1 if best_first else 1
    places = sorted(range(len(grade)), key=lambda place: (-query.score(place), sign * grade[place]))
    return Query([query.ranked[place] for place in places], query.unretrieved, query.scores)


def over_all_orders(metric, query, level) -> list[float | None]:
    return [naive(metric, order, level, 3.0) for order in orders(query)]


@pytest.mark.parametrize("measure", CLAIMING, ids=ids)
@given(data=st.data(), query=queries(max_size=5), level=LEVELS)
@EXAMPLES
def test_expected_value_is_the_mean_over_all_orders(measure, data, query, level):
    metric = data.draw(metrics(measure))
    assume(metric.expected)
    values = over_all_orders(metric, query, level)
    expected = None if None in values else math.fsum(values) / len(values)
    assert expected_value(metric, query, level, 3.0) == (expected and pytest.approx(expected, rel=1e-12, abs=1e-12))


@pytest.mark.parametrize("measure", BOUNDED, ids=ids)
@given(data=st.data(), query=queries(max_size=5), level=LEVELS)
@EXAMPLES
def test_best_and_worst_order_bound_the_value_of_every_order(measure, data, query, level):
    metric = data.draw(metrics(measure))
    assume(metric.measure.ties_bound(metric))
    values = over_all_orders(metric, query, level)
    assume(None not in values)
    ends = [naive(metric, by_grade(query, best_first), level, 3.0) for best_first in (False, True)]
    assert (min(ends), max(ends)) == pytest.approx((min(values), max(values)), rel=1e-12, abs=1e-12)
    if measure.direction == "higher":
        assert ends == sorted(ends)
    if metric.expected:
        assert min(ends) - 1e-12 <= expected_value(metric, query, level, 3.0) <= max(ends) + 1e-12


@pytest.mark.parametrize("measure", CLAIMING, ids=ids)
@given(data=st.data(), query=queries(max_size=30), level=LEVELS)
@EXAMPLES
def test_expected_value_without_ties_has_the_bits_of_the_measure(measure, data, query, level):
    metric = data.draw(metrics(measure))
    assume(metric.expected)
    untied = Query(query.ranked, query.unretrieved)
    assert expected_value(metric, untied, level, 3.0) == kernel_value(metric, untied, level, 3.0)


@pytest.mark.parametrize("measure", CLAIMING, ids=ids)
@given(data=st.data(), query=queries(max_size=30), level=LEVELS)
@EXAMPLES
def test_expected_value_is_within_the_declared_range(measure, data, query, level):
    metric = data.draw(metrics(measure))
    assume(metric.expected)
    value = expected_value(metric, query, level, 3.0)
    assert value is None or metric.measure.bounds[0] <= value <= metric.measure.bounds[1]


@pytest.mark.parametrize("measure", MEASURES, ids=ids)
def test_record_claims_what_is_tested_here(measure):
    forms = {bool(metric.expected) for metric in ASKED if metric.measure.name == measure.name}
    assert (True in forms) == (measure.name not in WITHOUT_FORM)
    bounds = {measure.ties_bound(metric) for metric in ASKED if metric.measure.name == measure.name}
    assert (True in bounds) == (measure.name not in UNBOUNDED)


@pytest.mark.parametrize(
    ("word", "query", "beyond"),
    [
        ("ap:norm=found@3", Query([1.0, 0.0, 0.0, 1.0], [], [3.0, 2.0, 1.0, 1.0]), 1.0),
        ("fallout@1", Query([0.0, None], [], [1.0, 1.0]), 0.0),
        ("mean_rank@2", Query([1.0, 0.0, 1.0], [], [2.0, 1.0, 1.0]), 1.0),
        ("ndcg:gains={1:5,2:1}@1", Query([1.0, 2.0], [], [1.0, 1.0]), 1.0),
    ],
    ids=["ap", "fallout", "mean_rank", "gains"],
)
def test_measure_that_may_go_beyond_its_best_order_says_so(word, query, beyond):
    (metric,) = parse(word)
    best = naive(metric, by_grade(query, best_first=True))
    assert not metric.measure.ties_bound(metric)
    assert beyond in over_all_orders(metric, query, 1.0)
    assert beyond != best
