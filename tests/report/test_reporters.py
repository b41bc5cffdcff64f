"""Formats are found by name and by file suffix; what cannot be is told with the next thing to type."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankeval_cli.errors import UsageError
from rankeval_cli.report import REPORTERS, default, find, for_path, names


@pytest.mark.parametrize("reporter", REPORTERS, ids=lambda reporter: reporter.name)
def test_a_reporter_renders_or_writes(reporter) -> None:
    assert (reporter.render is None) != (reporter.write is None)
    assert reporter.title
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in reporter.suffixes)


@pytest.mark.parametrize("reporter", REPORTERS, ids=lambda reporter: reporter.name)
def test_what_a_reporter_does_is_where_it_says(reporter) -> None:
    functions = [each for each in (reporter.render, reporter.write, reporter.also) if each is not None]
    assert all(each.load().__module__ == f"rankeval_cli.{each.module}" for each in functions)


def test_names_and_suffixes_are_unique() -> None:
    words = [word for reporter in REPORTERS for word in (f".{reporter.name}", *reporter.suffixes)]
    doubled = {word for word in words if words.count(word) > 1}
    assert doubled <= {f".{reporter.name}" for reporter in REPORTERS if f".{reporter.name}" in reporter.suffixes}


@pytest.mark.parametrize("name", names())
def test_every_text_format_is_found(name: str) -> None:
    assert find(name).name == find(name.upper()).name == name


@pytest.mark.parametrize(("word", "name"), [("md", "markdown"), ("tex", "latex"), ("ndjson", "jsonl")])
def test_a_suffix_names_its_format(word: str, name: str) -> None:
    assert find(word).name == name


@pytest.mark.parametrize(
    ("word", "what", "hint"),
    [
        ("jsn", "`jsn` is not a format", "did you mean `json` or `jsonl`?"),
        ("excel", "`excel` is not a format", f"choose one of {', '.join(names())}"),
        ("parquet", "`parquet` is binary and does not go to standard output", "write a file: `-o report.parquet`"),
        ("", "`` is not a format", f"choose one of {', '.join(names())}"),
    ],
)
def test_an_unknown_format_is_told(word: str, what: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        find(word)
    assert (caught.value.what, caught.value.hint) == (what, hint)


@pytest.mark.parametrize(
    ("path", "name"),
    [(f"some.dir/report{suffix}", reporter.name) for reporter in REPORTERS for suffix in reporter.suffixes]
    + [("REPORT.JSON", "json"), ("x.csv.tsv", "tsv")],
)
def test_the_suffix_chooses_the_format_of_a_file(path: str, name: str) -> None:
    assert for_path(path).name == name


@pytest.mark.parametrize(
    ("path", "what", "hint"),
    [
        ("report.xyz", "`report.xyz`: the suffix names no report format", "end the name in one of .txt .tsv .csv"),
        ("report", "`report`: the suffix names no report format", ".parquet"),
        ("a.json/report", "`a.json/report`: the suffix names no report format", ".json"),
        ("r.json.gz", "`r.json.gz`: reports are not compressed", "write `r.json` and compress it afterwards"),
        ("r.CSV.ZST", "`r.CSV.ZST`: reports are not compressed", "write `r.CSV` and compress it afterwards"),
        ("-", "`-o -` names no file", "-f chooses their format"),
    ],
)
def test_an_unknown_suffix_is_told(path: str, what: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        for_path(path)
    assert caught.value.what == what
    assert hint in str(caught.value.hint)


def test_a_device_takes_the_format_of_standard_output(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert for_path(os.devnull).name == "tsv"
    assert for_path(str(pipe), find("json")).name == "json"
    named = tmp_path / "pipe.csv"
    os.mkfifo(named)
    assert for_path(str(named), find("json")).name == "csv"


def test_a_pipe_gets_tsv_and_a_terminal_a_table() -> None:
    assert (default(is_terminal=False).name, default(is_terminal=True).name) == ("tsv", "table")


def test_loading_the_reporters_loads_nothing_heavy() -> None:
    script = (
        "import sys, rankeval_cli.report, rankeval_cli.report.terminal;"
        "print(sorted({'rich', 'polars', 'numpy', 'pyarrow', 'numba', 'typer'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
