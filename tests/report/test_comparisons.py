"""Comparisons as people read them: numbers with signs, small p-values, letters of runs, narrow terminals."""

from dataclasses import replace
from typing import Any

import pytest
from sample_report import PAIR, PAIRS

from rankeval_cli.model import Report, Result
from rankeval_cli.report import Options, find
from rankeval_cli.report.comparisons import entry, p_text, signed


def rendered(name: str, report: Report, **options: Any) -> str:
    render = find(name).render
    assert render is not None
    return "".join(render(report, Options(**options)))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.25, "+0.2500"), (-0.25, "-0.2500"), (0.0, "0.0000"), (1e-7, "0.0000"), (-1e-7, "0.0000"), (None, "-"),
     (2e15, "+2e+15")],
)  # fmt: skip
def test_difference_has_its_sign(value: float | None, shown: str) -> None:
    assert signed(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.0, "1.0000"), (0.04999, "0.0500"), (0.0001, "0.0001"), (0.00006, "0.0001"), (0.00004, "<0.0001"),
     (1e-300, "<0.0001"), (0.0, "<0.0001"), (None, "-")],
)  # fmt: skip
def test_p_value_is_never_zero(value: float | None, shown: str) -> None:
    assert p_text(value) == shown


FOUND = PAIR.comparisons[1]
CELLS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "better": ({"better": True}, {"verdict": "better", "mark": "", "verdict_mark": "better"}),
    "significantly worse": ({"better": False, "significant": True}, {"verdict_mark": "worse  *"}),
    "no direction": ({"better": None, "significant": True}, {"verdict": "", "verdict_mark": "       *"}),
    "equal": ({"better": None, "diff": 1e-10}, {"verdict": "same", "diff": "0.0000"}),
    "no base": ({"relative": None, "effect": None}, {"change": "-", "effect": "-"}),
    "tiny change": ({"relative": -0.0001, "effect": 0.001}, {"change": "0.0%", "effect": "0.00"}),
    "no interval": ({"ci_low": None, "ci_high": None}, {"interval": "-"}),
    "nothing": ({"diff": None, "value": None, "better": None}, {"diff": "-", "value": "-", "verdict": ""}),
    "many queries": ({"wins": 1200, "ties": 0, "losses": 30}, {"counts": "1,200/0/30"}),
}


@pytest.mark.parametrize(("given", "cells"), CELLS.values(), ids=CELLS)
def test_cells(given: dict[str, Any], cells: dict[str, str]) -> None:
    shown = entry(replace(FOUND, **given))
    assert {name: getattr(shown, name) for name in cells} == cells


def test_more_runs_than_letters() -> None:
    first = PAIR.runs[0]
    names = [f"run{i}" for i in range(30)]
    results = tuple(replace(first.results[0], value=i / 30) for i in range(30))
    runs = tuple(
        replace(first, source=replace(first.source, name=name), results=(result,))
        for name, result in zip(names, results, strict=True)
    )
    found = [
        replace(FOUND, measure="mrr@10", base=base, run="run29", significant=True, better=True)
        for base in ("run0", "run25", "run26")
    ]
    text = rendered("latex", replace(PAIR, runs=runs, comparisons=tuple(found)))
    assert "\nz & run25 & 0.8333 \\\\\naa & run26 & " in text
    assert "\nad & run29 & \\textbf{0.9667}$^{a,z,aa}$ \\\\\n" in text


def test_a_mean_without_a_value_has_no_letters() -> None:
    none: Result = replace(PAIR.runs[1].results[0], value=None)
    runs = (PAIR.runs[0], replace(PAIR.runs[1], results=(none, *PAIR.runs[1].results[1:])))
    assert " & - & " in rendered("latex", replace(PAIR, runs=runs))


@pytest.mark.parametrize("width", [200, 120, 100, 80, 60, 50, 40])
@pytest.mark.parametrize("report", [PAIR, PAIRS], ids=["pair", "pairs"])
def test_lines_are_no_longer_than_the_terminal(report: Report, width: int) -> None:
    lines = rendered("table", report, width=width).splitlines()
    assert [line for line in lines if len(line) > width] == []


@pytest.mark.parametrize("width", [None, 80, 40])
def test_every_number_is_shown_at_every_width(width: int | None) -> None:
    text = rendered("table", PAIRS, width=width)
    for found in PAIRS.comparisons:
        each = entry(found)
        for cell in (each.base_value, each.value, each.diff, each.change, each.interval, each.p_value, each.counts):
            assert cell in text


def test_table_in_ascii_is_ascii() -> None:
    text = rendered("table", PAIRS, unicode=False)
    assert text.replace("é", "e").isascii()
