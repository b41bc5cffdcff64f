"""What holds for every measure in the registry, found from its record: a new measure is tested without a new test."""

import math
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import kernel_value
from naive import TWINS, Query, naive
from strategies import metrics, queries

from rankeval_cli.errors import UsageError
from rankeval_cli.measures.expression import parse
from rankeval_cli.measures.registry import MEASURES, NAMES, spellings
from rankeval_cli.measures.spec import Measure

LEVELS = st.sampled_from([0.0, 0.5, 1.0, 2.0])
EVERY = pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
WITH_CUTOFF = [measure for measure in MEASURES if measure.cutoff in ("optional", "required")]
RANKED = [measure for measure in MEASURES if measure.direction != "none"]

# Why `M@k` of a ranking need not be `M` of its first k documents: the definition looks at k itself.
LOOKS_AT_K = {
    ("ap", "min"): "divides by min(k, relevant)",
    ("f", "k"): "precision is over k, without a cutoff over the ranking",
    ("f", "min"): "recall is over min(k, relevant)",
    ("ideal_dcg", None): "the ideal is cut at k",
    ("dcg", "square"): "each of the k places counts, also one without a document",
    ("ndcg", "square"): "each of the k places counts, also one without a document",
    ("ndcg", None): "the ideal is cut at k",
    ("r_cap", None): "divides by min(k, relevant)",
}
# Why a relevant document that moves up across the cutoff may make the value worse.
LOOKS_AT_THE_FOUND = {
    ("ap", "found"): "the document that enters at rank k is averaged in with a low precision",
    ("auc", None): "the document that enters stands below the others of the top k",
    ("mean_rank", "found"): "the document that enters has the largest rank",
    ("mean_rank", "all"): "the document that enters adds its rank",
}

# Why an empty ranking is worth something.
NOT_NOUGHT_WHEN_EMPTY = {
    ("dcg", "square"): "each of the k places counts",
    ("ndcg", "square"): "each of the k places counts",
    ("utility", None): "what is not retrieved has a worth too",
    ("yaap", None): "a logarithm: ln(1 / (1 + R))",
}
# Why a relevant document that moves up may make the value worse.
NOT_MONOTONE = {
    ("infap", None): "unjudged documents of the pool above it raise the estimate",
    ("ndcg", "square"): "the ideal may be negative",
}

EXAMPLES = settings(max_examples=50, deadline=None, derandomize=True)


@EVERY
@given(data=st.data(), query=queries(), level=LEVELS)
@EXAMPLES
def test_kernel_gives_the_value_of_the_definition(measure, data, query, level):
    metric = data.draw(metrics(measure))
    value, expected = kernel_value(metric, query, level, 3.0), naive(metric, query, level, 3.0)
    assert (value is None) == (expected is None)
    assert value is None or value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@EVERY
@given(data=st.data(), query=queries(max_size=40), level=LEVELS)
@EXAMPLES
def test_values_are_within_the_declared_range(measure, data, query, level):
    metric = data.draw(metrics(measure))
    value = kernel_value(metric, query, level, 3.0)
    low, high = metric.measure.bounds
    if value is None:
        assert set(metric.measure.undefined) - {"no_relevant", "no_gain"}, "undefined without a declared reason"
    else:
        assert low <= value <= high
        assert not metric.is_binary or value in (0.0, 1.0)


@pytest.mark.parametrize("word", ["f(beta=0.16)", "f(beta=0.43)", "rbp(p=0.105)", "rbp(p=0.311,gain=scaled)"])
@pytest.mark.parametrize("size", [1, 5, 30, 60])
def test_perfect_ranking_does_not_exceed_one_by_rounding(word, size):
    (metric,) = parse(word)
    assert kernel_value(metric, Query([1.0] * size)) <= 1.0


@EVERY
@given(data=st.data(), level=LEVELS)
@EXAMPLES
def test_empty_ranking_is_zero_or_undefined(measure, data, level):
    metric = data.draw(metrics(measure))
    value = kernel_value(metric, Query([], [0.0, 1.0, 2.0]), level, 3.0)
    slowly = naive(metric, Query([], [0.0, 1.0, 2.0]), level, 3.0)
    if key(metric) in NOT_NOUGHT_WHEN_EMPTY:
        assert value == pytest.approx(slowly)
    elif measure.direction == "higher" and "one_class" not in measure.undefined:
        assert value == max(0.0, measure.bounds[0])
    elif measure.direction == "lower":
        assert value is None or value == slowly


@pytest.mark.parametrize("measure", WITH_CUTOFF, ids=lambda measure: measure.name)
@given(data=st.data(), query=queries(), level=LEVELS)
@EXAMPLES
def test_cutoff_looks_at_the_first_k_documents_only(measure, data, query, level):
    metric = data.draw(metrics(measure, cutoff=True, judged_only=False))
    value, cut = kernel_value(metric, query, level, 3.0), truncated(query, metric.cutoff)
    assert kernel_value(metric, cut, level, 3.0) == value
    if measure.cutoff == "optional" and key(metric) not in LOOKS_AT_K:
        assert kernel_value(replace(metric, cutoff=None), cut, level, 3.0) == value


def truncated(query: Query, k: int) -> Query:
    lost = [grade for grade in query.ranked[k:] if grade is not None and grade >= 0]
    return Query(query.ranked[:k], query.unretrieved + lost, query.scores[:k])


@pytest.mark.parametrize("measure", RANKED, ids=lambda measure: measure.name)
@given(data=st.data(), query=queries(), level=LEVELS)
@EXAMPLES
def test_moving_better_documents_up_never_hurts(measure, data, query, level):
    metric = data.draw(metrics(measure, judged_only=False))
    value = kernel_value(metric, query, level, 3.0)
    for place in range(len(query.ranked) - 1):
        above, below = (worth(metric, query.ranked[place + i], level) for i in (0, 1))
        is_exempt = key(metric) in NOT_MONOTONE or (metric.cutoff == place + 1 and key(metric) in LOOKS_AT_THE_FOUND)
        if below <= above or is_exempt:
            continue
        ranked = [*query.ranked[:place], query.ranked[place + 1], query.ranked[place], *query.ranked[place + 2 :]]
        moved = kernel_value(metric, Query(ranked, query.unretrieved, query.scores), level, 3.0)
        if measure.direction == "lower":
            assert value is None or moved <= value + 1e-12
        else:
            assert (moved is None) == (value is None)
            assert value is None or moved >= value - 1e-12


def key(metric) -> tuple[str, str | None]:
    """How the tables of exceptions name a metric: by measure, and by `norm` or the gain of a record of its own."""
    return metric.measure.name, "square" if metric.params.get("gain") == "square" else metric.params.get("norm")


def worth(metric, grade, level) -> float:
    """How good a document is for this metric: its gain, or whether it is relevant."""
    grade = -1.0 if grade is None or grade < 0 else grade
    if metric.measure.gain is None:
        return float(grade >= (level if metric.level is None else metric.level))
    lowest = 0.0 if metric.level is None else metric.level
    return metric.measure.gain(metric, 3.0).of(grade) if grade >= lowest else 0.0


@EVERY
@given(data=st.data())
@EXAMPLES
def test_canonical_name_parses_to_the_same_metric(measure, data):
    metric = data.draw(metrics(measure))
    (again,) = parse(metric.canonical)
    assert again == metric
    assert again.canonical == metric.canonical == again.written


@EVERY
def test_texts_of_the_record_are_filled(measure: Measure):
    texts = [field.name for field in fields(Measure) if field.type == "str"]
    assert texts
    for name in texts:
        assert getattr(measure, name).strip() == getattr(measure, name) != ""
    assert measure.examples
    assert all(param.help for param in measure.params)


@EVERY
def test_examples_name_the_measure(measure: Measure):
    for word in measure.examples:
        assert {metric.measure.name for metric in parse(word)} == {measure.name}


def test_no_name_means_two_measures():
    every = [name for measure in MEASURES for name in spellings(measure)]
    assert sorted(every) == sorted(set(every)) == sorted(NAMES)
    assert all(name == name.lower() and "-" not in name for name in every)


def test_every_measure_has_a_twin():
    assert set(TWINS) == {measure.name for measure in MEASURES}


@EVERY
def test_bounds_are_ordered_and_binary_measures_lie_in_zero_one(measure: Measure):
    low, high = measure.bounds
    assert low <= high
    assert not math.isinf(low) or (measure.name, None) in NOT_NOUGHT_WHEN_EMPTY


def test_gain_that_costs_at_every_place_has_a_largest_cutoff():
    (metric,) = parse("dcg(gain=square)@1000001")
    with pytest.raises(UsageError, match="adds up 1,000,001 places") as caught:
        kernel_value(metric, Query([1.0]))
    assert "at most 1,000,000" in (caught.value.hint or "")
    assert kernel_value(replace(metric, cutoff=None), Query([1.0, 0.0])) == -1 / math.log2(3)
