"""The script behind the figures of docs/statistics.md still runs, and tells when a test leaves its range."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from rankeval_cli.inference.paired import TESTS, find_test

sys.path.insert(0, str(ROOT / "docs"))

import calibration
from calibration import Cell, coverage, rejections

PAGE = (ROOT / "docs/statistics.md").read_text(encoding="utf-8")


def cell(name: str, experiments: int = 60, queries: int = 25) -> Cell:
    kind = next(kind for kind in calibration.KINDS if kind.name == name)
    values = kind.draw(np.random.default_rng(0), calibration.RUNS, experiments, queries)
    return Cell(kind, queries, values, None)


@pytest.mark.parametrize("kind", calibration.KINDS, ids=lambda kind: kind.name)
def test_runs_have_the_mean_that_is_said(kind: calibration.Kind) -> None:
    values = kind.draw(np.random.default_rng(1), 2, 4000, 25)
    assert values.mean(axis=(1, 2)).tolist() == pytest.approx([kind.mean] * 2, abs=0.02)


@pytest.mark.parametrize("name", [test.name for test in TESTS])
def test_every_test_rejects_a_false_null_and_seldom_a_true_one(name: str) -> None:
    same = cell("normal")
    apart = replace(same, values=same.values + np.arange(4.0)[:, None, None] * 3)
    assert rejections(same, find_test(name)) < 0.2
    assert rejections(apart, find_test(name)) == 1.0


def test_intervals_hold_the_true_mean_and_not_another() -> None:
    same = cell("P@10")
    assert all(share > 0.8 for share in coverage(same, same.values[0]).values())
    assert set(coverage(same, same.values[0] - 5.0).values()) == {0.0}
    assert coverage(same, same.values[0]).keys() == calibration.METHODS.keys()


def test_a_test_that_leaves_its_range_is_told() -> None:
    assert calibration.leaves(cell("normal"), "t", 0.039)
    assert not calibration.leaves(cell("P@10"), "t", 0.039)
    assert calibration.leaves(cell("P@10"), "t", 0.061)
    assert not calibration.leaves(cell("skewed"), "t", 0.2)
    assert not calibration.leaves(cell("normal"), "bootstrap", 0.2)


def test_tables_are_written_between_their_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- measured means -->\n\nold\n\n<!-- end -->\nafter\n")
    monkeypatch.setattr(calibration, "PAGE", page)
    table = calibration.markdown(["values", "t"], [["normal", "0.95"]])
    calibration.write("means", table)
    assert page.read_text() == f"before\n<!-- measured means -->\n\n{table}\n\n<!-- end -->\nafter\n"
    assert table == "| values | t |\n| --- | ---: |\n| normal | 0.95 |"


def test_the_page_shows_every_kind_and_test() -> None:
    table = PAGE.split("<!-- measured rejections -->")[1].split("<!-- end -->")[0]
    assert [test.name for test in TESTS] == table.strip().splitlines()[0].strip("| ").split(" | ")[2:]
    for kind in calibration.KINDS:
        for queries in calibration.QUERIES:
            assert f"| {kind.name} | {queries} | 0." in table
