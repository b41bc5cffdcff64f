"""Markdown and LaTeX: nothing in an id or name breaks the table, and the best run of a measure is bold."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_report import METRICS, QUERIES, REPORT, SINGLE

from rankeval_cli.model import Report, Scores
from rankeval_cli.report import Options
from rankeval_cli.report.markup import render_latex, render_markdown

ids = st.text(st.characters(exclude_categories=("Cs",)), min_size=1) | st.text(
    '|\\`*_[]<~&$%#{}^"-\n\t \x1b', min_size=1
)


def with_query(query: str) -> Report:
    run = SINGLE.runs[0]
    scores = Scores([query], METRICS, np.ones((4, 1)), (0,) * 4, (False,) * 4)
    return replace(SINGLE, runs=(replace(run, scores=scores),))


def row_of(text: str, start: str) -> str:
    return next(line for line in text.split("\n") if line.startswith(start))


def unescaped(sign: str, line: str) -> int:
    """How often a sign stands without an odd number of backslashes before it."""
    return sum(len(match[1]) % 2 == 0 for match in re.finditer(rf"(\\*){re.escape(sign)}", line))


@given(query=ids)
def test_a_markdown_row_has_its_cells_whatever_the_id(query: str) -> None:
    lines = "".join(render_markdown(with_query(query), Options(per_query=True))).split("\n")
    table = lines[lines.index("") + 1 :]
    rows = table[: table.index("")]
    assert len(rows) == 3
    assert {unescaped("|", line) for line in rows} == {6}


@given(query=ids)
def test_an_id_forms_no_markdown(query: str) -> None:
    lines = "".join(render_markdown(with_query(query), Options(per_query=True))).split("\n")
    cell = lines[lines.index("") + 3].removeprefix("| ").removesuffix(" | 1.0000 | 1.0000 | 1.0000 | 1 |")
    assert {sign: unescaped(sign, cell) for sign in "`*[]<~&$"} == dict.fromkeys("`*[]<~&$", 0)


@given(query=ids)
def test_an_id_forms_no_latex(query: str) -> None:
    text = "".join(render_latex(with_query(query), Options(per_query=True)))
    row = text[text.index("\\endfoot\n") + 9 :].removesuffix("\\end{longtable}\n")
    assert row.count("\n") == 1
    cell = row.removesuffix(" & 1.0000 & 1.0000 & 1.0000 & 1 \\\\\n")
    assert {sign: unescaped(sign, cell) for sign in "&%$#_~^"} == dict.fromkeys("&%$#_~^", 0)
    assert not cell.startswith(("[", "*"))
    assert unescaped("{", cell) == unescaped("}", cell)
    commands = set(re.findall(r"\\([a-z]+)", cell))
    assert commands <= {
        "textbackslash",
        "textasciitilde",
        "textasciicircum",
        "textless",
        "textgreater",
        "textbar",
        "char",
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("a\\|b", r"a\\\|b"),
        ("ndcg_cut_10", "ndcg_cut_10"),
        ("_x_", r"\_x\_"),
        ("50%_&", r"50%\_\&"),
        ("a\nb", r"a\\nb"),
        ("\x1b[2J", r"\\x1b\[2J"),
        ("日本語", "日本語"),
    ],
)
def test_markdown_of_an_id(text: str, shown: str) -> None:
    assert f"\n| {shown} | 1.0000 |" in "".join(render_markdown(with_query(text), Options(per_query=True)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\textbar{}b"),
        ("50%_&", r"50\%\_\&"),
        ("[red]", "{[}red]"),
        ("*x", "{*}x"),
        ("a--b", "a-{}-b"),
        ("a\\b", r"a\textbackslash{}b"),
        ('"', r"{\char34}"),
        ("$x^2$", r"\$x\textasciicircum{}2\$"),
        ("日本語", "日本語"),
    ],
)
def test_latex_of_an_id(text: str, shown: str) -> None:
    assert f"\n{shown} & 1.0000" in "".join(render_latex(with_query(text), Options(per_query=True)))


def test_the_better_run_is_bold() -> None:
    markdown, latex = ("".join(render(REPORT, Options())) for render in (render_markdown, render_latex))
    assert "| 0.4103 [0.0318, 0.7888] | **0.4436** [0.0318, 0.7888] |" in row_of(markdown, "| ndcg_cut_10")
    assert "& 0.4103 & [0.0318, 0.7888] & \\textbf{0.4436} &" in row_of(latex, "ndcg\\_cut\\_10")
    assert "**2.2000**" in row_of(markdown, "| mean_rank")
    assert "**" not in row_of(markdown, "| num_ret")


def test_a_single_run_has_no_best() -> None:
    assert "**" not in "".join(render_markdown(SINGLE, Options()))
    assert "textbf" not in "".join(render_latex(SINGLE, Options()))


def test_without_intervals_their_column_is_gone() -> None:
    results = tuple(replace(result, ci_low=None, ci_high=None) for result in SINGLE.runs[0].results)
    report = replace(SINGLE, runs=(replace(SINGLE.runs[0], results=results),))
    latex = "".join(render_latex(report, Options()))
    assert "\\begin{tabular}{lr}" in latex
    assert "multicolumn" not in latex
    assert "interval" not in "".join(render_markdown(report, Options())).split("- rules")[0]


def test_latex_signs_negative_numbers() -> None:
    result = replace(SINGLE.runs[0].results[0], value=-0.25, ci_low=-0.5, ci_high=0.0)
    report = replace(SINGLE, runs=(replace(SINGLE.runs[0], results=(result,)),))
    assert "mrr@10 & $-$0.2500 & [$-$0.5000, 0.0000] \\\\" in "".join(render_latex(report, Options()))


def test_latex_comments_stay_on_their_lines() -> None:
    text = "".join(render_latex(replace(REPORT, warnings=("one\ntwo",)), Options()))
    assert "% warning: one\\ntwo\n" in text
    comments = text[: text.index("\\begin{tabular}")].removesuffix("\n").split("\n")
    assert all(line.startswith("% ") for line in comments)


def test_every_query_is_in_both() -> None:
    markdown, latex = ("".join(render(REPORT, Options(per_query=True))) for render in (render_markdown, render_latex))
    assert len(re.findall(r"^\| .* \| 1,000 \|$|^\| .* \| (?:0|10) \|$", markdown, re.MULTILINE)) == 2 * len(QUERIES)
    assert latex[latex.index("\\endfoot") :].count(" \\\\\n") == 2 * len(QUERIES)


def test_verdicts_stand_above_the_other_tables() -> None:
    lines = "".join(render_markdown(REPORT, Options())).split("\n")
    assert lines[0] == "**3 gates: 1 failed, 1 warning, 1 passed**"
    assert lines[2].startswith("| verdict | run | gate | value |")
    assert [line.split(" | ")[0] for line in lines[4:7]] == ["| passed", "| **failed**", "| **warning**"]
    assert {unescaped("|", line) for line in lines[2:7]} == {9}
    assert lines[8].startswith("| measure |")


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        ("p", "1 gate: 1 passed"),
        ("fpp", "3 gates: 1 failed, 2 passed"),
        ("wwff", "4 gates: 2 failed, 2 warnings"),
        ("wpf", "3 gates: 1 failed, 1 warning, 1 passed"),
    ],
)
def test_the_first_line_counts_the_verdicts(kinds: str, sentence: str) -> None:
    passed, failed, warning = REPORT.gates
    gates = tuple({"p": passed, "f": failed, "w": warning}[kind] for kind in kinds)
    assert "".join(render_markdown(replace(REPORT, gates=gates), Options())).startswith(f"**{sentence}**\n\n|")


def test_without_a_reason_there_is_no_column_of_reasons() -> None:
    lines = "".join(render_markdown(replace(REPORT, gates=REPORT.gates[:1]), Options())).split("\n")
    assert lines[0] == "**1 gate: 1 passed**"
    assert lines[2] == "| verdict | run | gate | value | bound | distance | queries |"
    assert lines[4].endswith("| mrr@10 >= 0.3 | 0.3472 | 0.3000 | +0.0472 | 6 |")
