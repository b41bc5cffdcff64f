"""The list of commands, and how they are built: lazily, and without pydantic."""

from __future__ import annotations

import os
import subprocess

import pytest

from rankeval_cli.cli import ahead, run
from rankeval_cli.cli.app import app, built
from rankeval_cli.cli.coercion import UNSURE, Plain
from rankeval_cli.cli.commands import COMMANDS, DEFAULT

PROBES = (
    None, "", " ", "a", "0", "1", " 1", "1 ", "+1", "-1", "007", "1_000", "1.0", "1.", ".5", "0.1", "1e3", "nan", "inf",
    "١", "9" * 30, "true", "docid", "DOCID", "mean", "json", "measure", 0, 1, 0.5, 1.0, True, [], ["a"], ["1", "b"],
    ("a",), [1], (), [None],
)  # fmt: skip
PARAMS = {
    f"{name} {param.name}": param
    for name, command in [("", app()), *((each.name, built(each)) for each in COMMANDS)]
    for param in command.params
}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_line_of_a_command_is_the_first_one_of_its_docstring(command):
    assert command.about == command.load().__doc__.partition("\n")[0]


def test_names_of_commands_differ_and_the_default_is_one_of_them():
    names = [command.name for command in COMMANDS]
    assert len(set(names)) == len(names)
    assert DEFAULT in names


def test_listed_commands_are_not_built():
    assert all(not command.params for command in app().commands.values())


@pytest.mark.parametrize("param", PARAMS.values(), ids=PARAMS)
def test_a_value_that_is_sure_is_what_typer_makes_of_it(param):
    checker, plain = param.get_runtime_param(), Plain(param.type_descriptor, param.get_runtime_param)
    sure = {repr(value): plain.sure(value) for value in PROBES if plain.sure(value) is not UNSURE}
    found = {repr(value): checker.coerce(value, param=param, ctx=None) for value in PROBES if repr(value) in sure}
    assert {text: same(value) for text, value in sure.items()} == {text: same(value) for text, value in found.items()}
    assert "None" in sure


def same(value):
    """The value with its type; Typer makes a list of any sequence in the end."""
    return type(value), list(value) if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("command", ahead.commands(), ids=lambda command: command.name)
def test_help_that_was_rendered_ahead_is_what_typer_renders(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert ahead.help_of([command.name, "--help"]) == ahead.rendered(command), "run `make docs`"


def test_no_help_is_left_of_a_command_that_has_gone():
    assert {name.removesuffix(".txt") for name in os.listdir(ahead.FOLDER)} == {
        command.name for command in ahead.commands()
    }


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize("words", ["--help", "-h", "evaluate --help", "diff -h", "formats --help"])
def test_help_is_the_same_with_and_without_typer(words, columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    shown = printed(words.split(), capsys)
    monkeypatch.setattr(ahead, "FOLDER", "nowhere")
    assert ahead.help_of(words.split()) is None
    assert printed(words.split(), capsys) == shown


def printed(words, capsys):
    assert run(words) == 0
    return capsys.readouterr().out


def test_help_fits_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    assert max(len(line) for line in printed(["--help"], capsys).splitlines()) < 66  # a word or two stand out


@pytest.mark.parametrize("words", ["", "x --help", "--help x", "diff diff -h", "trec-eval -h", "run.txt qrels.txt"])
def test_other_words_are_typers(words):
    assert ahead.help_of(words.split()) is None


def test_the_version_is_the_same_with_and_without_typer(monkeypatch, capsys):
    shown = printed(["--version"], capsys)
    assert shown == ahead.text_of(["--version"])
    monkeypatch.setattr(ahead, "text_of", lambda words: None)
    assert printed(["--version"], capsys) == shown


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is always full")
@pytest.mark.parametrize(("target", "code", "told"), [("/dev/full", 2, "no space left"), ("| true", 0, "")])
def test_help_that_nobody_takes(target, code, told, program):
    line = f"{program} --help {target}" if target.startswith("|") else f"{program} --help > {target}"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True)
    assert done.returncode == code
    assert told in done.stderr.lower()
