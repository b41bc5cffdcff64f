"""The whole output of every reporter over one report with awkward names (RANKEVAL_SNAPSHOTS=write renews the files)."""

import os
from pathlib import Path

import pytest
from sample_report import GROUPED, PAIR, PAIRS, REPORT, SINGLE

from rankeval_cli.model import Report
from rankeval_cli.report import REPORTERS, Options, find
from rankeval_cli.report.summary import note_lines

SNAPSHOTS = Path(__file__).parent / "snapshots"
TEXT = [reporter.name for reporter in REPORTERS if reporter.render is not None]
COMPARING = [name for name in TEXT if find(name).shows_comparisons]
WIDTHS = [120, 80, 40, 20]


def check(name: str, text: str) -> None:
    path = SNAPSHOTS / name
    if os.environ.get("RANKEVAL_SNAPSHOTS") == "write":
        path.write_bytes(text.encode())
    assert text == path.read_bytes().decode()


def rendered(name: str, report: Report, options: Options) -> str:
    render = find(name).render
    assert render is not None
    return "".join(render(report, options))


@pytest.mark.parametrize("name", TEXT)
def test_means(name: str) -> None:
    check(f"{name}.txt", rendered(name, REPORT, Options()))


@pytest.mark.parametrize("name", TEXT)
def test_values_of_queries(name: str) -> None:
    check(f"{name}_per_query.txt", rendered(name, REPORT, Options(per_query=True)))


@pytest.mark.parametrize("name", TEXT)
def test_a_single_run(name: str) -> None:
    check(f"{name}_single.txt", rendered(name, SINGLE, Options()))


@pytest.mark.parametrize("name", TEXT)
def test_groups_and_rules_against_a_baseline(name: str) -> None:
    check(f"{name}_grouped.txt", rendered(name, GROUPED, Options()))


@pytest.mark.parametrize("name", COMPARING)
def test_all_pairs_of_runs(name: str) -> None:
    check(f"{name}_pairs.txt", rendered(name, PAIRS, Options()))


@pytest.mark.parametrize("name", COMPARING)
def test_a_pair_of_runs_with_the_values_of_queries(name: str) -> None:
    check(f"{name}_pair.txt", rendered(name, PAIR, Options(per_query=True)))


@pytest.mark.parametrize("width", WIDTHS)
def test_pairs_on_a_narrow_terminal(width: int) -> None:
    check(f"table_pairs_{width}.txt", rendered("table", PAIRS, Options(width=width, color=True)))


@pytest.mark.parametrize("width", [80, 60, 40, 20])
def test_table_of_a_narrow_terminal(width: int) -> None:
    check(f"table_{width}.txt", rendered("table", REPORT, Options(per_query=True, width=width, color=True)))


def test_table_in_ascii() -> None:
    text = rendered("table", REPORT, Options(unicode=False))
    assert text.replace("é", "e").isascii()
    check("table_ascii.txt", text)


def test_notes() -> None:
    check("notes.txt", "".join(line + "\n" for line in note_lines(REPORT)))


def test_every_snapshot_is_checked() -> None:
    names = [f"{name}{end}.txt" for name in TEXT for end in ("", "_per_query", "_single", "_grouped")]
    names += [f"{name}{end}.txt" for name in COMPARING for end in ("_pair", "_pairs")]
    names += [f"table_pairs_{width}.txt" for width in WIDTHS]
    names += [f"table_{width}.txt" for width in (80, 60, 40, 20)] + ["table_ascii.txt", "notes.txt"]
    assert sorted(path.name for path in SNAPSHOTS.iterdir()) == sorted(names)
