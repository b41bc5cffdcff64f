"""`rankeval init`: a file in which every key is a comment that may be made a setting."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from rankeval_cli.cli import run as run_program
from rankeval_cli.cli.config import Settings, load
from rankeval_cli.cli.keys import all_keys


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def uncommented(text):
    return re.sub(r"^#(?=\S)", "", text, flags=re.MULTILINE)


def test_as_it_stands_the_file_changes_nothing(capfd):
    assert run_program(["init"]) == 0
    assert capfd.readouterr() == ("", "rankeval.toml: written; remove the # before a key to set it\n")
    assert load() == Settings("rankeval.toml")


def test_every_key_is_there_with_its_default():
    run_program(["init"])
    text = Path("rankeval.toml").read_text()
    table = tomllib.loads(uncommented(text))
    keys = {key.spelled: key for key in all_keys().values()}
    assert table.keys() == keys.keys() | {"runs"}
    for name, value in table.items():
        if name != "runs" and not keys[name].is_optional:
            assert (value, type(value)) == (keys[name].default, type(keys[name].default)), name


def test_the_keys_parse_back():
    run_program(["init"])
    text = Path("rankeval.toml").read_text()
    Path("rankeval.toml").write_text(uncommented(text))
    found = load()
    assert found is not None
    assert found.values.keys() == all_keys().keys()
    assert found.runs == ("run.txt",)


def test_every_key_is_explained_by_the_help_of_its_option():
    run_program(["init"])
    text = " ".join(Path("rankeval.toml").read_text().replace("\n# ", " ").split())
    for key in all_keys().values():
        assert key.help
        assert " ".join(key.help.split()) in text
        assert f"#{key.spelled} = " in text


def test_lines_are_not_longer_than_a_terminal():
    run_program(["init"])
    assert max(map(len, Path("rankeval.toml").read_text().splitlines())) <= 100


def test_a_file_is_not_replaced_without_force(capfd):
    Path("rankeval.toml").write_text("seed = 1\n")
    assert run_program(["init"]) == 2
    assert capfd.readouterr().err == (
        "error: rankeval.toml: exists already\nhint: add --force to replace it, or name another file\n"
    )
    assert Path("rankeval.toml").read_text() == "seed = 1\n"
    assert run_program(["init", "--force"]) == 0
    assert load() == Settings("rankeval.toml")


def test_a_dangling_link_is_not_followed(capfd):
    Path("rankeval.toml").symlink_to("elsewhere.toml")
    assert run_program(["init"]) == 2
    assert not Path("elsewhere.toml").exists()


def test_another_name_may_be_given():
    assert run_program(["init", "other.toml"]) == 0
    assert load("other.toml") == Settings("other.toml")


def test_a_folder_that_is_absent_is_told(capfd):
    assert run_program(["init", "absent/rankeval.toml"]) == 2
    assert "the folder `absent` does not exist" in capfd.readouterr().err


def test_a_broken_configuration_does_not_keep_init_from_writing_one(capfd):
    Path("rankeval.toml").write_text("broken")
    assert run_program(["init", "--force"]) == 0


@pytest.mark.parametrize(
    ("project", "file", "is_told"),
    [
        ("[tool.rankeval]\nseed = 1\n", "rankeval.toml", True),
        ("[tool.rankeval]\nseed = 1\n", "other.toml", False),
        ("[tool.ruff]\n", "rankeval.toml", False),
        ("broken", "rankeval.toml", False),
    ],
)
def test_options_that_count_no_longer_are_told(project, file, is_told, capfd):
    Path("pyproject.toml").write_text(project)
    assert run_program(["init", file]) == 0
    told = "warning: pyproject.toml: [tool.rankeval] does not count beside rankeval.toml\n"
    assert (told in capfd.readouterr().err) == is_told
