"""GitHub Actions: annotations that the runner reads back as they were meant, and a summary that fits."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_report import METRICS, REPORT, SINGLE

from rankeval_cli.errors import OutputError
from rankeval_cli.model import Report, Scores, Verdict
from rankeval_cli.report import Options, find, options_for, write_stdout
from rankeval_cli.report.github import SUMMARY_BYTES, append_summary, render_github
from rankeval_cli.report.markup import render_markdown
from rankeval_cli.report.text import visible

COMMAND = re.compile(r"::(?P<level>error|warning|notice) title=(?P<title>[^:,\r\n]*)::(?P<message>[^\r\n]*)\n")
names = st.text(min_size=1) | st.text("%:,\r\n0DA25[]#é", min_size=1)


def rendered(report: Report) -> list[tuple[str, str, str]]:
    """(level, title, message) of each line, as the runner reads it."""
    lines = "".join(render_github(report, Options())).splitlines(keepends=True)
    found = [COMMAND.fullmatch(line) for line in lines]
    assert None not in found, lines
    return [(match["level"], back(match["title"]), back(match["message"])) for match in found if match]


def back(text: str) -> str:
    """What the runner makes of an escaped text: each escape once, from left to right."""
    signs = {"%25": "%", "%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","}
    return re.sub("%25|%0D|%0A|%3A|%2C", lambda match: signs[match[0]], text)


def test_a_line_a_gate_then_warnings_then_means() -> None:
    found = rendered(REPORT)
    assert [(level, title) for level, title, _ in found] == [
        ("error", "rankeval: gate failed"),
        ("warning", "rankeval: gate warning"),
        ("notice", "rankeval: gate passed"),
        ("warning", "rankeval"),
        ("notice", "rankeval: [bold]bm25[/bold].txt"),
        ("notice", "rankeval: dense|\\u202e_é&.tsv"),
    ]
    assert found[0][2].startswith("[bold]bm25[/bold].txt: ndcg_cut_10 >= 0.4102677 (value 0.410268, bound 0.410270")
    assert found[4][2].startswith("mrr@10 0.3472 [0.0000, 0.7428], ndcg_cut_10 0.4103 [0.0318, 0.7888]")
    assert found[4][2].endswith("num_ret 4,010")


@pytest.mark.parametrize(
    ("name", "shown"),
    [("50%, a:b", "50%25%2C a%3Ab"), ("%0A", "%250A"), ("a,b::error::c", "a%2Cb%3A%3Aerror%3A%3Ac")],
)
def test_a_title_is_escaped(name: str, shown: str) -> None:
    run = SINGLE.runs[0]
    report = replace(SINGLE, runs=(replace(run, source=replace(run.source, name=name)),))
    assert "".join(render_github(report, Options())).startswith(f"::notice title=rankeval%3A {shown}::mrr@10 ")


@given(name=names, gate=names)
def test_the_runner_reads_names_as_they_are(name: str, gate: str) -> None:
    run = SINGLE.runs[0]
    run = replace(run, source=replace(run.source, name=name))
    verdict = Verdict(gate, name, False, None, None, None, 1)
    found = rendered(replace(SINGLE, runs=(run,), gates=(verdict,), warnings=(name,)))
    assert found[0] == ("error", "rankeval: gate failed", f"{visible(name)}: {visible(gate)} (1 query)")
    assert found[1] == ("warning", "rankeval", visible(name))
    assert found[2][:2] == ("notice", f"rankeval: {visible(name)}")


def test_a_measure_that_a_run_lacks_is_left_out() -> None:
    run = replace(REPORT.runs[1], results=REPORT.runs[1].results[3:])
    assert rendered(replace(REPORT, runs=(REPORT.runs[0], run)))[-1][2] == "num_ret 5,000"


@pytest.fixture
def summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


def many_queries(count: int) -> Report:
    scores = Scores([f"é{i:06}" for i in range(count)], METRICS, np.ones((4, count)), (0,) * 4, (False,) * 4)
    return replace(REPORT, runs=tuple(replace(run, scores=scores) for run in REPORT.runs))


def test_the_markdown_report_is_appended(summary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary.write_bytes(b"before")
    write_stdout(find("github"), REPORT, options_for())
    assert summary.read_bytes().decode() == "before\n" + "".join(render_markdown(REPORT, Options()))
    assert capsys.readouterr().out == "".join(render_github(REPORT, Options()))


@pytest.mark.parametrize("name", ["markdown", "tsv"])
def test_other_formats_append_nothing(name: str, summary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_stdout(find(name), REPORT, options_for())
    assert capsys.readouterr().out
    assert not summary.exists()


def test_a_long_summary_ends_with_a_whole_line_and_a_note(summary: Path) -> None:
    report = many_queries(5000)
    append_summary(report, Options(per_query=True))
    text = summary.read_bytes()
    assert SUMMARY_BYTES - 200 < len(text) <= SUMMARY_BYTES
    kept, note = text.decode().rsplit("\n\n", 1)
    assert "".join(render_markdown(report, Options(per_query=True))).startswith(kept.removeprefix("\n") + "\n")
    assert note == "*cut here: the whole report did not fit into the summary; `-o report.md` writes all of it*\n"


def test_a_summary_is_cut_at_sixty_kibibytes_not_before(summary: Path) -> None:
    append_summary(many_queries(400), Options(per_query=True))
    assert "cut here" not in summary.read_text()


@pytest.mark.parametrize("value", [None, ""], ids=["unset", "empty"])
def test_without_a_summary_file_nothing_is_written(
    value: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    if value is not None:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", value)
    append_summary(REPORT, Options())
    assert os.listdir(tmp_path) == []


def test_a_summary_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "absent" / "summary.md"))
    with pytest.raises(OutputError, match="does not exist"):
        append_summary(REPORT, Options())
