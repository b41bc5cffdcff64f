"""Every value that other systems gave, and that reference texts print, through rankeval's public face.

The cases are the files of tests/golden, and those of a folder that RANKEVAL_REFERENCE_VALUES names; tests/peers maps
them by system and metric. A case that cannot hold stands with its reason in tests/peers/listed.py.
"""

import json
from pathlib import Path

import pytest
from peers import calls
from peers.cases import GOLDEN, all_cases, read_folder
from peers.compare import find_problems, problems_of
from peers.listed import LISTED, reasons

CASES = all_cases()
OURS = [case for case in CASES if case.is_ours]
KINDS = {}  # the first case of each system, by its parameters and by what its queries hold
for each in OURS:
    KINDS.setdefault((each.system, *each.params, *(each.queries[0] if each.queries else ())), each)
EXCUSED = [(listed, case) for listed in LISTED for case in OURS if listed.holds_for(case)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id if case.is_ours else f"more-{case.id}")
def test_case_holds(case):
    problems = [problem for problem in problems_of(case) if not reasons(case, problem.field)]
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.parametrize("case", KINDS.values(), ids=lambda case: case.id)
def test_first_case_of_a_kind_holds_through_the_program(case, monkeypatch):
    monkeypatch.setattr(calls, "is_through_program", True)
    problems = [problem for problem in find_problems(case) if not reasons(case, problem.field)]
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.parametrize(("listed", "case"), EXCUSED, ids=[f"{case.id}-{listed.field}" for listed, case in EXCUSED])
def test_listed_case_would_fail(listed, case):
    fields = [problem.field for problem in problems_of(case)]
    assert any(listed.excuses(field) for field in fields), f"it holds, so it must not be listed: {listed.reason}"


@pytest.mark.parametrize("listed", LISTED, ids=lambda listed: f"{listed.system}-{listed.metric}-{listed.field}")
def test_listed_reason_is_about_a_case(listed):
    assert any(listed.holds_for(case) for case in OURS)


def test_every_fixture_is_the_input_of_a_case():
    used = {case.fixture for case in OURS}
    assert {case.id for case in OURS if case.system == "fixture"} == used - {None}


def test_files_in_another_format_have_a_test_of_their_own():
    others = {path.name for path in GOLDEN.glob("*.json")} - {"reference_values.json"}
    tests = [path for path in Path(__file__).parent.rglob("test_*.py") if path != Path(__file__)]
    texts = [path.read_text(encoding="utf-8") for path in tests]
    assert {name for name in others if not any(name in text for text in texts)} == set()


def new_cases(folder, **fields):
    """The cases of a file with one case, whose fixture is ours."""
    case = {"id": "new", "version": "1", "fixture": "trec-fixture", "queries": [], "params": {}, "tolerance": 1e-9}
    (folder / "more.json").write_text(json.dumps([{**case, **fields}]), encoding="utf-8")
    return read_folder(folder, False, {case.id: case for case in OURS})


NEW = (
    {"system": "ranx", "metric": "precision@4", "expected_mean": 0.25},
    {
        "system": "ir_measures",
        "metric": "R(rel=1)@4",
        "expected_per_query": {"q1": 0.5, "q2": 1, "q5": 0.5, "q3": 0, "q4": 0},
    },
    {"system": "pytrec_eval", "metric": "success_3", "params": {"relevance_level": 3}, "expected_mean": 0.25},
    {"system": "trec_eval", "version": "9.0.8", "metric": "P_4", "expected_mean": 0.3125, "tolerance": 5e-5},
    {
        "system": "rankkit",
        "metric": "hit",
        "params": {"k": 3},
        "expected_per_query": {"q1": 1, "q2": 1, "q3": None, "q5": 1},
    },
    {
        "system": "toolkit-rag-quality",
        "metric": "recall",
        "params": {"k": 4, "relevance_level": 1},
        "expected_mean": 0.4,
    },
)


@pytest.mark.parametrize("fields", NEW, ids=lambda fields: fields["system"])
def test_new_case_needs_no_code(tmp_path, fields):
    (case,) = new_cases(tmp_path, **fields)
    assert problems_of(case) == ()
    stated = next(name for name in fields if name.startswith("expected"))
    (other,) = new_cases(tmp_path, **{**fields, stated: 0.7})
    assert [problem.field for problem in problems_of(other)] == [stated]


UNKNOWN = {
    "system": ({"system": "lemur", "expected_mean": 0.5}, "system 'lemur' is not known"),
    "metric": ({"metric": "nap", "expected_mean": 0.5}, "`nap` is not a measure"),
    "parameter": ({"params": {"h": 3}, "expected_mean": 0.5}, "without a counterpart: {'h': 3}"),
    "nothing": ({}, "the case states nothing"),
    "expectation": ({"expected_mode": 1.0}, "nothing to compare it with"),
    "field": ({"surprise": 1.0}, "nothing to compare it with"),
    "release": ({"system": "trec_eval", "expected_mean": 1.0}, "release '1' of trec_eval"),
}


@pytest.mark.parametrize(("fields", "message"), UNKNOWN.values(), ids=list(UNKNOWN))
def test_new_case_that_nobody_knows_fails_with_its_reason(tmp_path, fields, message):
    (case,) = new_cases(tmp_path, **{"system": "ranx", "metric": "mrr", **fields})
    (problem,) = problems_of(case)
    assert message in str(problem)


@pytest.mark.parametrize("text", ["{}", "[1]", "[]"], ids=["object", "numbers", "empty"])
def test_folder_without_cases_is_refused(tmp_path, text):
    (tmp_path / "more.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="case"):
        read_folder(tmp_path, False, {})
