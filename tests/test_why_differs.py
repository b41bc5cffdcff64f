"""Why another system prints another number: `rankeval presets` and `rankeval why-differs`."""

import json
from pathlib import Path
from typing import Any

import pytest

from rankeval_cli.cli import run
from rankeval_cli.presets.registry import PRESETS

RUN = "q1 Q0 d1 1 5.0 t\nq1 Q0 d2 2 5.0 t\nq1 Q0 d3 3 1.0 t\nq2 Q0 d1 1 3.0 t\nq2 Q0 q2 2 2.9 t\nq2 Q0 d4 3 2.8 t\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d4 2\nq2 0 d9 1\nq3 0 d1 1\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)
    return [str(tmp_path / "run.txt"), str(tmp_path / "qrels.txt")]


def explained(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["why-differs", *words, "-f", "json"]) == 0
    (measure,) = json.loads(capsys.readouterr().out)
    return {"default": measure["default"], **measure["systems"]}


def test_the_convention_that_changes_the_number_is_named(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = explained([*files, "-m", "mrr@10"], capsys)
    assert found["default"] == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)
    values = {name: each["value"] for name, each in found.items() if name != "default"}
    assert values["trec_eval"] == found["default"]
    assert values["trec_eval9"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert values["ir_measures"] == pytest.approx((1 + 1 / 3) / 3)
    assert values["beir"] == pytest.approx((1 + 1 / 2) / 3)
    (only,) = found["trec_eval9"]["conventions"]
    assert "without results is left out" in only
    assert found["trec_eval"]["conventions"] == []


@pytest.mark.parametrize("system", ["ranx", "torchmetrics", "keras", "tf-ranking"])
def test_ties_left_to_chance_give_bounds(files: list[str], system: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = explained([*files, "-m", "mrr@10"], capsys)[system]
    assert (found["worst"], found["best"]) == (pytest.approx((1 / 2 + 1 / 3) / 3), pytest.approx((1 + 1 / 3) / 3))
    assert run(["why-differs", *files, "-m", "mrr@10", "-f", "text"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"{system} ")]
    assert "[0.2778, 0.4444]" in line


def test_a_rule_that_the_user_gives_holds_for_every_system(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = explained([*files, "-m", "mrr@10", "--ties", "best", "--missing", "skip", "--exclude-self"], capsys)
    default = found.pop("default")
    assert default == pytest.approx((1 + 1 / 2) / 2)
    same = [name for name, each in found.items() if each["value"] == default and each["worst"] is None]
    assert same == [preset.name for preset in PRESETS]


def test_what_a_system_needs_and_the_input_lacks_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.csv"
    table.write_text("query,score,label\nq,2,0\nq,2,1\nq,1,1\n")
    found = explained([str(table), "-m", "mrr@10"], capsys)
    assert found["msmarco"]["value"] is None
    assert "has no rank column" in str(found["msmarco"]["note"])
    assert found["trec_eval"]["value"] == found["default"] == 0.75
    assert found["rankereval"]["value"] == 0.5


def test_the_word_of_a_measure_is_read_as_the_system_reads_it(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = explained([*files, "-m", "rbp@95", "--ties", "file"], capsys)["ranx"]["value"]
    assert run([*files, "-m", "rbp.95", "--preset", "ranx", "--ties", "file", "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["measures"]["rbp.95"]["value"] == found


def test_ids_that_are_made_up_are_no_self_hits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "l.txt").write_text("1 qid:1 1:.1\n0 qid:1 1:.2\n1 qid:2 1:.3\n0 qid:2 1:.1\n")
    (tmp_path / "s.txt").write_text("9\n7\n5\n4\n")
    words = [str(tmp_path / "s.txt"), str(tmp_path / "l.txt"), "-m", "mrr", "--preset", "beir", "-f", "json"]
    assert run(words) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["measures"]["mrr"]["value"] == 1.0


def test_one_preset_is_shown_alone(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert list(explained([*files, "-m", "mrr@10", "--preset", "ranx"], capsys)) == ["default", "ranx"]


def test_only_the_systems_that_have_a_measure_are_shown(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why-differs", *files, "-m", "first_rank", "map", "-f", "text"]) == 0
    blocks = capsys.readouterr().out.split("\n\n")
    assert [block.splitlines()[0] for block in blocks] == ["first_rank: 2.5000 by default", "map: 0.2222 by default"]
    assert [line.split()[0] for line in blocks[0].splitlines()[1:] if not line.startswith(" ")] == ["rankereval"]


def test_several_runs_are_refused(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why-differs", files[0], *files, "-m", "mrr"]) == 2
    assert "takes one run" in capsys.readouterr().err


def test_tsv_has_one_row_a_system(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why-differs", *files, "-m", "mrr@10"]) == 0
    header, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert header[:5] == ["measure", "default", "system", "name_there", "value"]
    assert [row[2] for row in rows] == [preset.name for preset in PRESETS]
    assert {len(row) for row in rows} == {len(header)}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_is_explained(preset: object, capsys: pytest.CaptureFixture[str]) -> None:
    name = preset.name  # type: ignore[attr-defined]
    assert run(["presets", name]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert all(convention.sentence in out for convention in preset.conventions)  # type: ignore[attr-defined]
    assert run(["presets"]) == 0
    assert name in capsys.readouterr().out.split()


def test_an_unknown_preset_is_refused_with_the_next_one(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["presets", "kears"], [*files, "--preset", "kears"], [*files, "--preset", "kears", "-m", "mrr"]):
        assert run(words) == 2
        assert "did you mean `keras`?" in capsys.readouterr().err
