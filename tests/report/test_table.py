"""The table of a terminal: it fits, cuts nothing, marks the best run and never obeys an id."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from sample_report import METRICS, QUERIES, REPORT, SINGLE

from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import Report, Rules, Scores
from rankeval_cli.report import Options
from rankeval_cli.report.terminal import render_table
from rankeval_cli.report.text import counted, number, rows, visible

STYLE = re.compile(r"\x1b\[[0-9;]*m")


def table(report: Report, **options: object) -> str:
    return "".join(render_table(report, Options(**options)))  # type: ignore[arg-type]


def with_means(direction: str, *values: float | None) -> Report:
    """One measure over as many runs as there are values."""
    metric = Metric(replace(METRICS[0].measure, direction=direction), "m", "m")  # type: ignore[arg-type]
    runs = []
    for i, value in enumerate(values):
        run = SINGLE.runs[0]
        scores = Scores(QUERIES, (metric,), np.zeros((1, 6)), (0,), (False,))
        result = replace(run.results[0], measure="m", value=value)
        runs.append(replace(run, source=replace(run.source, name=f"r{i}"), scores=scores, results=(result,)))
    return replace(SINGLE, runs=tuple(runs))


@pytest.mark.parametrize(
    ("direction", "values", "best"),
    [
        ("higher", (0.1, 0.3, 0.2), {1}),
        ("lower", (0.1, 0.3, 0.2), {0}),
        ("none", (0.1, 0.3, 0.2), set()),
        ("higher", (0.3, 0.3, 0.2), {0, 1}),
        ("higher", (0.30000000000000004, 0.3, 0.2), {0}),
        ("higher", (None, 0.3), {1}),
        ("higher", (None, None), set()),
        ("higher", (math.nan, 0.3), {1}),
        ("higher", (0.3,), set()),
    ],
    ids=["higher", "lower", "no direction", "tie", "tie only when rounded", "undefined", "none", "nan", "single run"],
)
def test_the_best_run_goes_by_direction_and_unrounded_values(direction, values, best) -> None:
    report = with_means(direction, *values)
    assert rows(report)[0].best == best
    assert table(report).count("*") == len(best) + bool(best)  # the marks and the footnote


def test_bold_marks_the_best_run_where_there_is_style() -> None:
    text = table(with_means("higher", 0.1, 0.3), color=True)
    assert "\x1b[1m0.3000\x1b[0m" in text
    assert "\x1b[1m0.1000" not in text
    assert "*" not in text


@pytest.mark.parametrize(
    ("value", "is_count", "shown"),
    [
        (0.12345, False, "0.1235"),
        (0.375, False, "0.3750"),
        (-0.00001, False, "0.0000"),
        (-0.5, False, "-0.5000"),
        (None, False, "-"),
        (math.nan, True, "-"),
        (1234567.0, True, "1,234,567"),
        (1234567.0, False, "1234567.0000"),
        (2.5, True, "2.5000"),
        (0.0, True, "0"),
        (math.inf, True, "inf"),
        (1e300, True, "1e+300"),
    ],
)
def test_numbers(value: float | None, is_count: bool, shown: str) -> None:
    assert number(value, is_count) == shown


@pytest.mark.parametrize(("count", "shown"), [(0, "0 queries"), (1, "1 query"), (6980, "6,980 queries")])
def test_counted(count: int, shown: str) -> None:
    assert counted(count, "query", "queries") == shown


@given(text=st.text())
def test_visible_text_moves_no_cursor_and_stays_when_harmless(text: str) -> None:
    shown = visible(text)
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202e\ud800-\udfff]", shown)
    assert visible(shown) == shown


@pytest.mark.parametrize("text", ["[red]x[/red]", "a\\b", "50%_&", "日本語", "naïve", "👩‍🔬", "می‌خواهم"])
def test_harmless_text_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


WIDTHS = st.integers(10, 120)
NAMES = st.text("abc日é[]/_@.", min_size=1, max_size=40)


def named(report: Report, names: list[str], measures: list[str]) -> Report:
    """The report with other names of runs and measures."""
    metrics = tuple(replace(metric, written=name) for metric, name in zip(METRICS, measures, strict=True))
    runs = [
        replace(
            run,
            source=replace(run.source, name=name),
            scores=replace(run.scores, metrics=metrics),
            results=tuple(replace(result, measure=new) for result, new in zip(run.results, measures, strict=True)),
        )
        for run, name in zip(report.runs, names, strict=True)
    ]
    return replace(report, runs=tuple(runs))


@given(
    width=WIDTHS,
    names=st.lists(NAMES, min_size=2, max_size=2, unique=True),
    measures=st.lists(NAMES, min_size=4, max_size=4, unique=True),
)
def test_no_line_is_longer_than_the_terminal_but_a_name_or_the_last_resort(width, names, measures) -> None:
    tables = table(named(REPORT, names, measures), width=width, per_query=True).split("\n* best run\n")[0]
    lone = {*names, *(f"  {measure}" for measure in measures), *map(visible, QUERIES)}
    for line in tables.split("\n"):
        is_record = re.fullmatch(r"    [0-9.,-]+\*? ?  (\[.*\]|-)", line) or re.fullmatch(r"  .*  [0-9.,-]+", line)
        assert cell_len(line) <= width or line in lone or is_record


@given(width=WIDTHS)
def test_every_value_is_whole_at_any_width(width: int) -> None:
    text = table(REPORT, width=width, per_query=True)
    for run in REPORT.runs:
        for result in run.results[:3]:
            assert text.count(f"{result.value:.4f}") >= 1
            assert f"[{result.ci_low:.4f}, {result.ci_high:.4f}]" in text
    assert text.count("0.6309") == 2
    assert text.count("0.4307") == 2


@pytest.mark.parametrize("color", [False, True], ids=["plain", "styled"])
@pytest.mark.parametrize("width", [None, 80, 40, 20])
def test_no_escape_sequence_but_our_own(color: bool, width: int | None) -> None:
    text = table(REPORT, color=color, width=width, per_query=True)
    assert ("\x1b" in text) == color
    assert "\x1b" not in STYLE.sub("", text)
    assert set(STYLE.findall(text)) <= {"\x1b[1m", "\x1b[2m", "\x1b[0m"}


def test_ids_are_no_markup() -> None:
    text = table(REPORT, color=True, per_query=True)
    assert "[red]x[/red]" in text
    assert "[bold]bm25[/bold].txt" in text


def test_without_intervals_their_column_is_gone() -> None:
    results = tuple(replace(r, ci_low=None, ci_high=None, ci_note="none asked") for r in SINGLE.runs[0].results)
    report = replace(SINGLE, rules=Rules(ci="none"), runs=(replace(SINGLE.runs[0], results=results),))
    text = table(report)
    assert "interval" not in text
    assert "[0." not in text


def test_another_interval_than_asked_for_is_told() -> None:
    result = replace(SINGLE.runs[0].results[0], ci_note="bca is undefined here, so this is t")
    text = table(replace(SINGLE, runs=(replace(SINGLE.runs[0], results=(result,)),)))
    assert "interval of mrr@10: bca is undefined here, so this is t\n" in text


@pytest.mark.parametrize(("confidence", "title"), [(0.95, "95 % interval"), (0.999, "99.9 % interval")])
def test_headings_name_the_rules(confidence: float, title: str) -> None:
    text = table(replace(SINGLE, rules=Rules(confidence=confidence, aggregate="median")))
    assert title in text
    assert "median" in text
    assert "mean  " not in text


def test_wide_characters_keep_the_columns() -> None:
    lines = table(SINGLE, per_query=True).split("\n")
    ends = {cell_len(line) for line in lines[1:9] if not line.startswith("─")}
    assert len(ends) == 1
