"""Preferences counted on matrices: against the twin, and contradictions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from preference_twin import Case, values

from rankeval_cli.measures.printed import lines_of
from rankeval_cli.preferences import MEASURES, JudgedGroup, contradiction, count

LINES = [line for measure in MEASURES for entry in measure.trec_eval for line in lines_of(measure, entry)]
DOCS = [f"d{i}" for i in range(8)]
NAN = float("nan")


@st.composite
def cases(draw) -> Case:
    groups = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    return Case([draw(subgroups(count)) for count in groups], draw(st.lists(st.sampled_from(DOCS), unique=True)))


@st.composite
def subgroups(draw, num: int) -> list[dict[str, float]]:
    """Subgroups that cannot contradict each other: all see the same levels, each of some documents."""
    level = {doc: draw(st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.5])) for doc in DOCS}
    subsets = st.lists(st.sampled_from(DOCS), min_size=1, max_size=8, unique=True)
    return [{doc: level[doc] for doc in draw(subsets)} for _ in range(num)]


def judged(group: list[dict[str, float]], docs: list[str]) -> JudgedGroup:
    """A group of the twin as arrays."""
    mine = [doc for doc in docs if any(doc in levels for levels in group)]
    levels = np.array([[levels.get(doc, NAN) for doc in mine] for levels in group])
    return JudgedGroup(np.array([docs.index(doc) for doc in mine]), levels)


def ours(case: Case) -> dict[str, float]:
    docs = case.docs
    order = [doc for doc in case.ranking if doc in docs] + [doc for doc in docs if doc not in case.ranking]
    place = np.array([order.index(doc) for doc in docs])
    counts = count([judged(group, docs) for group in case.groups], place, case.num_retrieved(*docs))
    encoded = [(line, line.metric.measure.encode(line.metric)) for line in LINES]
    return {line.name: line.metric.measure.kernel(counts, line.metric.k, 1.0, params) for line, params in encoded}


@given(case=cases())
@settings(max_examples=400, deadline=None, derandomize=True)
def test_values_are_those_of_the_definition(case):
    expected = values(case)
    found = ours(case)
    assert found.keys() == expected.keys()
    assert found == pytest.approx(expected, rel=1e-12)


# Worked out by hand from the definitions, over 3 relevant and 2 other documents of one subgroup.
ONE_SUBGROUP = Case([[{"a": 2.0, "b": 1.0, "c": 1.0, "x": 0.0, "y": 0.0}]], ["x", "b", "a", "z"])
BY_HAND = {
    "prefs_num_prefs_poss": 8.0,  # a over 4, b and c over 2 each
    "prefs_num_prefs_ful": 3.0,  # a over c, a and b over y
    "prefs_num_prefs_ful_ret": 0.0,  # of a over b, a and b over x
    "prefs_simp": 3 / 8,
    "prefs_simp_ret": 0.0,
    "prefs_simp_imp": 3 / 7,  # but for c over y
    "prefs_avgjg_Rnonrel": 5 / 11,  # one more of level 0: a and b stand above it, c does not
    "prefs_avgjg_Rnonrel_ret": 2 / 6,  # a and b, x: one more, which 2 of 3 relevant ones stand above
}


@pytest.mark.parametrize("name", BY_HAND)
def test_value_worked_out_by_hand(name):
    assert ours(ONE_SUBGROUP)[name] == BY_HAND[name]


def test_a_group_without_preferences_counts_nothing_in_the_mean():
    found = ours(Case([[{"a": 1.0, "x": 0.0}], [{"a": 1.0, "b": 1.0}]], ["a"]))
    assert found["prefs_avgjg"] == 0.5
    assert found["prefs_simp"] == 1.0


def test_a_group_without_relevant_documents_makes_the_balanced_mean_nought():
    found = ours(Case([[{"a": 1.0, "x": 0.0}], [{"x": 0.0}]], ["a"]))
    assert found["prefs_avgjg_Rnonrel"] == 0.0


def test_preferences_follow_through_subgroups():
    found = ours(Case([[{"a": 2.0, "b": 1.0}, {"b": 5.0, "c": 3.0}]], ["c", "a"]))
    assert found["prefs_num_prefs_poss"] == 3.0
    assert found["prefs_num_prefs_ful"] == 1.0  # a over b


def test_levels_of_different_subgroups_are_not_compared():
    assert ours(Case([[{"a": 2.0}, {"b": 1.0}]], ["a", "b"]))["prefs_num_prefs_poss"] == 0.0


def test_negative_levels_stand_below_level_0():
    found = ours(Case([[{"a": 1.0, "x": 0.0, "y": -1.0, "z": -1.0}]], ["y", "a", "x"]))
    assert found["prefs_num_prefs_poss"] == 5.0
    assert found["prefs_num_prefs_ful"] == 3.0


CONTRADICTIONS = {
    "none": ([[2, 1, 0], [3, 2, 0]], None),
    "equal in one, not in the other": ([[2, 2, 0], [3, 2, 0]], None),
    "two documents": ([[2, 1, NAN], [1, 2, NAN]], {0, 1}),
    "a circle of three": ([[2, 1, NAN], [NAN, 2, 1], [1, NAN, 2]], {0, 1, 2}),
    "level 0 and above": ([[2, 0, NAN], [NAN, 1, 1]], {1}),
    "level 0 and below": ([[2, 0, NAN], [NAN, -1, -2]], None),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_found(name):
    levels, torn = CONTRADICTIONS[name]
    found = contradiction(JudgedGroup(np.arange(3), np.array(levels, dtype=np.float64)))
    if torn is None:
        assert found is None
    else:
        assert found is not None
        assert set(found) <= torn
        assert len(set(found)) == min(len(torn), 2)
