"""JUnit XML keeps to the structure that Jenkins publishes (junit-10.xsd of its xUnit plugin), whatever the names."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_report import METRICS, QUERIES, REPORT, SINGLE

from rankeval_cli.model import Report, Scores, TieResult, Verdict
from rankeval_cli.report import Options
from rankeval_cli.report.junit import render_junit
from rankeval_cli.report.summary import verdict_line

# element -> elements that it may hold, attributes that it must have, attributes that it may have; the published
# structure without what only a runner of tests could know (rerunFailure, line, log, ..).
STRUCTURE: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"testsuite"}, set(), {"name", "time", "tests", "failures", "disabled", "errors"}),
    "testsuite": (
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        {"tests"},
        {"name", "failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id", "package"},
    ),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, set()),
    "testcase": (
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name"},
        {"assertions", "time", "timestamp", "classname", "status", "class", "file", "line"},
    ),
    "failure": (set(), set(), {"type", "message"}),
    "error": (set(), set(), {"type", "message"}),
    "system-out": (set(), set(), set()),
    "system-err": (set(), set(), set()),
}
TEXT = {"failure", "error", "skipped", "system-out", "system-err"}

names = st.text(min_size=1) | st.text("<>&\"']]>\t\n\r\x00\x0b\x1b\x85\u2028\ud800\ufffe\uffff\U0001f600 ", min_size=1)


def rendered(report: Report, per_query: bool = False) -> str:
    return "".join(render_junit(report, Options(per_query=per_query)))


def parsed(report: Report, per_query: bool = False) -> ET.Element:
    return ET.fromstring(rendered(report, per_query))


def check_structure(element: ET.Element) -> None:
    children, must, may = STRUCTURE[element.tag]
    assert must <= element.attrib.keys() <= must | may, element.tag
    assert {child.tag for child in element} <= children, element.tag
    if element.tag not in TEXT:
        assert not (element.text or "").strip(), element.tag
    for child in element:
        assert not (child.tail or "").strip(), child.tag
        check_structure(child)


@pytest.mark.parametrize("report", [REPORT, SINGLE], ids=["two runs", "one run without gates"])
@pytest.mark.parametrize("per_query", [False, True], ids=["means", "queries"])
def test_the_structure_is_the_published_one(report: Report, per_query: bool) -> None:
    root = parsed(report, per_query)
    assert root.tag == "testsuites"
    check_structure(root)


@pytest.mark.parametrize(
    "wrong",
    ["<testsuites><testcase name='a'/></testsuites>", "<testsuite/>", "<testsuite tests='1'>x</testsuite>"],
    ids=["misplaced", "without tests", "text"],
)
def test_the_check_of_the_structure_finds_what_does_not_belong(wrong: str) -> None:
    with pytest.raises(AssertionError):
        check_structure(ET.fromstring(wrong))


@given(name=names, query=names, measure=names, reason=names)
def test_names_stay_data(name: str, query: str, measure: str, reason: str) -> None:
    run = SINGLE.runs[0]
    scores = Scores([query], METRICS, np.ones((4, 1)), (0,) * 4, (False,) * 4)
    result = replace(run.results[0], measure=measure)
    run = replace(run, source=replace(run.source, name=name), scores=scores, results=(result,))
    verdict = Verdict(measure, name, False, None, 1.0, None, 1, reason=reason)
    report = replace(SINGLE, runs=(run,), gates=(verdict,), warnings=(reason,))
    text = rendered(report, per_query=True)
    assert text.isascii()
    root = ET.fromstring(text)
    check_structure(root)
    assert [element.tag for element in root.iter()] == [
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "system-out", "system-err",
    ]  # fmt: skip


def test_ordinary_names_are_as_they_were() -> None:
    case = parsed(REPORT).findall("testsuite/testcase")[1]
    assert (case.get("classname"), case.get("name")) == ("[bold]bm25[/bold].txt", "ndcg_cut_10 >= 0.4102677")


def test_a_failed_gate_is_a_failure_with_the_line_of_the_terminal() -> None:
    (failure,) = parsed(REPORT).iter("failure")
    line = verdict_line(REPORT.gates[1])
    assert line.startswith("gate failed")
    assert (failure.get("message"), failure.text) == (line, line)


def test_a_gate_that_only_warns_is_a_passed_test_that_says_so() -> None:
    case = parsed(REPORT).findall("testsuite/testcase")[2]
    assert [child.tag for child in case] == ["system-out"]
    assert str(case[0].text).startswith("gate warning: ")


def test_counts_are_those_of_the_cases() -> None:
    root = parsed(REPORT)
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["3", "1", "0"]
    for suite in root:
        assert suite.get("tests") == str(len(suite.findall("testcase")))
        assert suite.get("failures") == str(len(suite.findall("testcase/failure")))


def test_the_means_are_properties_in_full_precision() -> None:
    root = parsed(REPORT)
    for suite, run in zip(root, REPORT.runs, strict=True):
        means = {found.get("name"): float(found.get("value", "")) for found in suite.iter("property")}
        assert means == {result.measure: result.value for result in run.results}


def test_an_undefined_mean_is_an_empty_property() -> None:
    run = SINGLE.runs[0]
    report = replace(SINGLE, runs=(replace(run, results=(replace(run.results[0], value=None),)),))
    assert [found.attrib for found in parsed(report).iter("property")] == [{"name": "mrr@10", "value": ""}]


def test_the_values_of_the_queries_are_output_of_their_suite() -> None:
    lines = str(parsed(REPORT, per_query=True)[1].findtext("system-out")).splitlines()
    assert len(lines) == len(QUERIES) * len(METRICS)
    assert lines[1] == "50%_&\tndcg_cut_10\t1.0"
    assert "a|b\tmean_rank\t" in lines


def test_a_tie_report_is_in_the_properties() -> None:
    run = replace(SINGLE.runs[0], ties=(TieResult("mrr@10", "rr@10", 0.5, None, 0.25, 0.75, 2, True),))
    found = {entry.get("name"): entry.get("value") for entry in parsed(replace(SINGLE, runs=(run,))).iter("property")}
    ties = {name: value for name, value in found.items() if "ties" in str(name)}
    assert ties == {"mrr@10 ties expected": "", "mrr@10 ties worst": "0.25", "mrr@10 ties best": "0.75"}


def test_coverage_rules_and_warnings_are_told_once() -> None:
    root = parsed(REPORT)
    assert "rules: order=score" in str(root[0].findtext("system-out"))
    assert str(root[0].findtext("system-err")).startswith("warning: ")
    assert [root[1].find(name) for name in ("system-out", "system-err")] == [None, None]
