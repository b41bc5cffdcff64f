"""Every value that other systems gave, and that reference texts print, through rankeval's public face.

The cases are the files of tests/golden, and those of a folder that RANKEVAL_REFERENCE_VALUES names; tests/peers maps
them by system and metric. A case that cannot hold stands with its reason in tests/peers/listed.py.
"""

from pathlib import Path

import pytest
from peers.cases import GOLDEN, all_cases
from peers.compare import problems_of
from peers.listed import LISTED, reasons

CASES = all_cases()
OURS = [case for case in CASES if case.is_ours]
EXCUSED = [(listed, case) for listed in LISTED for case in OURS if listed.holds_for(case)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id if case.is_ours else f"more-{case.id}")
def test_case_holds(case):
    problems = [problem for problem in problems_of(case) if not reasons(case, problem.field)]
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
