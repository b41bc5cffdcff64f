"""Configuration files: where they are found, what they may say, and what is told of mistakes in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankeval_cli.cli.config import Settings, load
from rankeval_cli.errors import UsageError


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    """A repository with a folder; the working directory is its top."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()


def write(text, path="rankeval.toml"):
    Path(path).write_text(text)


def test_without_a_file_there_are_no_settings():
    assert load() is None


@pytest.mark.parametrize(
    ("path", "text", "shown"),
    [
        ("rankeval.toml", 'measure = "mrr"', "rankeval.toml"),
        ("pyproject.toml", '[tool.rankeval]\nmeasure = "mrr"', "pyproject.toml"),
        ("pyproject.toml", '[tool."rankeval"]\nmeasure = "mrr"', "pyproject.toml"),
        ("pyproject.toml", 'tool.rankeval.measure = "mrr"', "pyproject.toml"),
        ("pyproject.toml", '[tool]\nrankeval = {measure = "mrr"}', "pyproject.toml"),
        ("pyproject.toml", 'tool = {rankeval = {measure = "mrr"}}', "pyproject.toml"),
    ],
)
@pytest.mark.parametrize("folder", [".", "sub"])
def test_a_file_is_found_here_and_above(path, text, shown, folder, monkeypatch):
    write(text, path)
    monkeypatch.chdir(folder)
    found = load()
    assert found == Settings(os.path.join("" if folder == "." else "..", shown), {"measure": ["mrr"]})


@pytest.mark.parametrize(
    "text",
    ['[project]\nname = "rankeval"\n', "[tool.rankeval-x]\na = 1\n", "# [tool.rankeval]\n", "[tool]\nrankeval = 1\n"],
    ids=["another name", "another table", "comment", "no table"],
)
def test_a_project_file_without_our_table_is_passed_over(text, monkeypatch):
    write('measure = "mrr"')
    write(text, "sub/pyproject.toml")
    monkeypatch.chdir("sub")
    found = load()
    assert found is not None
    assert found.path == "../rankeval.toml"


def test_a_project_file_that_is_not_ours_is_not_parsed():
    write("[project\n", "pyproject.toml")
    assert load() is None


def test_the_nearest_file_counts(monkeypatch):
    write("seed = 1")
    write("seed = 2", "sub/rankeval.toml")
    monkeypatch.chdir("sub")
    assert load() == Settings("rankeval.toml", {"seed": 2})


def test_of_two_in_one_folder_rankeval_toml_counts():
    write("seed = 1")
    write("[tool.rankeval]\nseed = 2", "pyproject.toml")
    assert load() == Settings("rankeval.toml", {"seed": 1})


def test_the_search_ends_at_the_top_of_the_repository(monkeypatch):
    write("seed = 1")
    Path("sub/.git").write_text("gitdir: elsewhere")  # as in a work tree or a submodule
    monkeypatch.chdir("sub")
    assert load() is None


def test_outside_of_a_repository_only_the_working_directory_is_searched(monkeypatch):
    Path(".git").rmdir()
    write("seed = 1")
    assert load() == Settings("rankeval.toml", {"seed": 1})
    monkeypatch.chdir("sub")
    assert load() is None


def test_a_removed_working_directory_has_no_file(monkeypatch):
    monkeypatch.chdir("sub")
    Path("../sub").rmdir()
    assert load() is None


def test_a_file_may_be_named():
    write("seed = 1")
    write("seed = 2", "sub/other.toml")
    assert load("sub/other.toml") == Settings("sub/other.toml", {"seed": 2})
    assert load("none") is None


def test_an_empty_file_is_a_file():
    write("")
    assert load() == Settings("rankeval.toml")


def test_a_byte_order_mark_is_fine():
    Path("rankeval.toml").write_bytes(b"\xef\xbb\xbfseed = 3\n")
    assert load() == Settings("rankeval.toml", {"seed": 3})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('measures = ["mrr", "p@5"]', {"measure": ["mrr", "p@5"]}),
        ('measure = "mrr"', {"measure": ["mrr"]}),
        ("per-query = true", {"per_query": True}),
        ("per_query = true", {"per_query": True}),
        ("relevance-level = 2", {"relevance_level": 2.0}),
        ("depth = 7", {"depth": 7}),
        ('ties = "docid-asc"', {"ties": "docid-asc"}),
        ('fail-under = {"mrr@10" = 0.35, "map" = "20%"}', {"fail_under": ["mrr@10=0.35", "map=20%"]}),
        ('fail-under = ["mrr@10=0.35"]', {"fail_under": ["mrr@10=0.35"]}),
        ("[fail-under]\nmap = 1", {"fail_under": ["map=1"]}),
        ('gates = "map >= 0.1"', {"gate": ["map >= 0.1"]}),
        ('columns = {query = "q", doc = "d"}', {"columns": ["query=q", "doc=d"]}),
        ('grade-map = {"E" = 3, "S" = 2.5}', {"grade_map": ["E=3", "S=2.5"]}),
        ('preset = "ranx"', {"preset": "ranx"}),
    ],
)
def test_values_are_those_of_the_options(text, values):
    write(text)
    found = load()
    assert found is not None
    assert found.values == values
    assert [type(value) for value in found.values.values()] == [type(value) for value in values.values()]


@pytest.mark.parametrize("key", ["exclude", "weights", "qrels", "save-baseline"])
@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("a.txt", "../a.txt"),
        ("data/a.txt", "../data/a.txt"),
        ("/a.txt", "/a.txt"),
        ("-", "-"),
        ("s3://a/b", "s3://a/b"),
        ("", ""),
    ],
)
def test_paths_are_relative_to_the_file(key, written, seen, monkeypatch):
    write(f'{key} = "{written}"')
    monkeypatch.chdir("sub")
    found = load()
    assert found is not None
    assert found.values == {key.replace("-", "_"): seen}


def test_lists_of_paths_are_relative_to_the_file(monkeypatch):
    write('output = ["a.json", "/b.md"]\nruns = ["run.txt", "*.gz"]')
    monkeypatch.chdir("sub")
    assert load() == Settings("../rankeval.toml", {"output": ["../a.json", "/b.md"]}, ("../run.txt", "../*.gz"))


def test_a_single_run_may_be_a_text():
    write('runs = "run.txt"')
    assert load() == Settings("rankeval.toml", {}, ("run.txt",))


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ('mesure = "x"', "`mesure` is not a key", "did you mean `measure`?"),
        ("nonsense = 1", "`nonsense` is not a key", "`rankeval init` writes a file with every key"),
        ("failunder = 1", "`failunder` is not a key", "did you mean `fail-under`?"),
        ("run = 1", "`run` is not a key", "did you mean `runs`?"),
        ("depths = 3", "`depths` is not a key", "did you mean `depth`?"),
        ('config = "x"', "`config` cannot be set in a file", "write --config on the command line"),
        ("no-config = true", "`no-config` cannot be set in a file", "write --no-config on the command line"),
        ("debug = true", "`debug` cannot be set in a file", "write --debug on the command line"),
        ("[tool.rankeval]", "`tool` is not a key", "only pyproject.toml needs [tool.rankeval]: leave the line out"),
        ('measure = "p"\nmeasures = "p"', "`measures` is given twice", "give each option once, under one name"),
        ("per-query = true\nper_query = true", "`per_query` is given twice", "give each option once, under one name"),
        ("measure = 3", "`measure` is `3`", "give a text or a list of texts, in quotes"),
        ("measure = [3]", "`measure` is `[3]`", "give a text or a list of texts, in quotes"),
        ("measure = {a = 1}", "`measure` is `{'a': 1}`", "give a text or a list of texts, in quotes"),
        ('depth = "3"', "`depth` is `3`", "give a whole number"),
        ("depth = true", "`depth` is `true`", "give a whole number"),
        ("depth = 3.0", "`depth` is `3.0`", "give a whole number"),
        ("seed = 1979-05-27", "`seed` is `1979-05-27`", "give a whole number"),
        ('confidence = "95%"', "`confidence` is `95%`", "give a number"),
        ("confidence = true", "`confidence` is `true`", "give a number"),
        ("strict = 1", "`strict` is `1`", "give true or false"),
        ("exclude = 1", "`exclude` is `1`", "give a text in quotes"),
        ('aggregate = "sum"', "`aggregate` is `sum`", "give one of mean, median, min, max"),
        ("aggregate = 1", "`aggregate` is `1`", "give one of mean, median, min, max"),
        ('missing = "skp"', "`missing` is `skp`", "did you mean `skip`? (give one of zero, skip, error)"),
        ("runs = 1", "`runs` is `1`", "give a path or a list of paths, in quotes"),
        ("runs = []", "`runs` is `[]`", "give a path or a list of paths, in quotes"),
        (
            "fail-under = {map = [1]}",
            "`fail-under` is `{'map': [1]}`",
            'give a list of texts, such as ["name=value"], or a table, such as {name = "value"}',
        ),
    ],
)
def test_an_unknown_key_or_a_wrong_type_is_told(text, what, hint):
    write(text)
    with pytest.raises(UsageError) as caught:
        load()
    assert (caught.value.where, caught.value.what, caught.value.hint) == ("rankeval.toml", what, hint)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (b"seed = 1\nx =\n", "rankeval.toml:2", "is not TOML: invalid value"),
        (b"seed = 1\nseed = 2\n", "rankeval.toml:2", "is not TOML: cannot overwrite a value"),
        (b"x = [", "rankeval.toml", "is not TOML: "),
        (b"measure = '\xff'", "rankeval.toml", "is not UTF-8"),
    ],
)
def test_what_is_no_toml_is_told(text, where, what):
    Path("rankeval.toml").write_bytes(text)
    with pytest.raises(UsageError) as caught:
        load()
    assert caught.value.where == where
    assert caught.value.what.startswith(what)


@pytest.mark.parametrize(
    ("choice", "what"),
    [
        ("absent.toml", "no such file"),
        ("sub", "cannot be read: is a directory"),
        ("pyproject.toml", "has no table [tool.rankeval]"),
    ],
)
def test_a_named_file_must_be_a_configuration(choice, what):
    write("[project]\n", "pyproject.toml")
    with pytest.raises(UsageError) as caught:
        load(choice)
    assert (caught.value.where, caught.value.what) == (choice, what)
