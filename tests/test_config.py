"""Configuration files: where they are found, what they may say, who wins, and how mistakes are told."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from rankeval_cli.cli import config
from rankeval_cli.cli import run as run_program
from rankeval_cli.cli.config import Settings, load
from rankeval_cli.cli.keys import all_keys
from rankeval_cli.errors import UsageError

RUN = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 a 1 2 t\nq2 Q0 c 2 1 t\n"
QRELS = "q1 0 b 1\nq2 0 a 1\nq2 0 c 2\n"


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    """A repository with a run, judgments and a folder; the working directory is its top."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()


@pytest.fixture
def call(capfd):
    """`call("run.txt qrels.txt")` -> exit code, stdout, stderr."""

    def call(line, *words):
        code = run_program([*line.split(), *words])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return call


def write(text, path="rankeval.toml"):
    Path(path).write_text(text)


def measures_of(out):
    return list(json.loads(out)["runs"][0]["measures"])


# ---- where


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


# ---- what


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


def test_every_option_of_the_main_command_is_a_key(call):
    _, out, _ = call("--help")
    listed = set(re.findall(r"--([a-z][a-z-]+)", out.split("Measures:")[1].split("Commands:")[0]))
    only_words = {"help", "config", "no-config", "debug"}
    spelled = {key.spelled for key in all_keys().values()}
    assert only_words <= listed
    assert listed - only_words <= spelled
    assert spelled & only_words == set()


# ---- who wins


def test_a_file_sets_options(call):
    write('measure = ["p@1"]\nformat = "json"\nqrels = "qrels.txt"\nruns = ["run.txt"]\nties = "docid-asc"')
    code, out, err = call("")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert (document["config"], document["rules"]["ties"], measures_of(out)) == ("rankeval.toml", "docid-asc", ["p@1"])


def test_the_report_says_that_there_was_no_file(call):
    assert json.loads(call("run.txt qrels.txt -f json")[1])["config"] is None


def test_the_command_line_wins_key_by_key(call):
    write('measure = ["p@1"]\nformat = "json"\nrelevance-level = 2\nties = "docid-asc"')
    _, out, _ = call("run.txt qrels.txt -m mrr --ties docid")
    rules = json.loads(out)["rules"]
    assert (measures_of(out), rules["ties"], rules["relevance_level"]) == (["mrr"], "docid", 2.0)


@pytest.mark.parametrize("line", ["--no-config", "--config none", "--config=none", "--config sub/empty.toml"])
def test_a_file_may_be_left_out(call, line):
    write('measure = ["p@1"]')
    write("", "sub/empty.toml")
    _, out, _ = call(f"run.txt qrels.txt -f json {line}")
    assert len(measures_of(out)) == 5


def test_a_named_file_is_read_instead(call):
    write('measure = ["p@1"]')
    write('measure = ["p@2"]', "sub/other.toml")
    _, out, _ = call("run.txt qrels.txt -f json --config sub/other.toml")
    assert (json.loads(out)["config"], measures_of(out)) == ("sub/other.toml", ["p@2"])


def test_runs_of_the_command_line_replace_those_of_the_file(call):
    write('qrels = "qrels.txt"\nruns = "absent.txt"\nformat = "json"')
    code, out, _ = call("run.txt")
    assert (code, [run["name"] for run in json.loads(out)["runs"]]) == (0, ["run.txt"])


def test_judgments_may_be_named_twice(call):
    write('qrels = "qrels.txt"\nformat = "json"')
    code, out, _ = call("run.txt ./qrels.txt")
    assert (code, [run["name"] for run in json.loads(out)["runs"]]) == (0, ["run.txt"])


def test_who_gives_other_judgments_learns_of_those_in_the_file(call):
    write('qrels = "qrels.txt"')
    Path("others.txt").write_text(QRELS)
    code, _, err = call("run.txt others.txt")
    assert code == 2
    assert (
        "hint: rankeval.toml names the judgments, qrels.txt, so every file is a run; --qrels FILE takes others" in err
    )
    assert call("run.txt --qrels others.txt")[0] == 0


def test_gates_of_a_file_decide(call):
    write('fail-under = {"mrr" = 0.9}\ngate = "warn: map >= 1"')
    code, _, err = call("run.txt qrels.txt")
    assert code == 1
    assert [line.split(": ")[0] for line in err.splitlines()] == ["gate failed", "gate warning"]


def test_rules_of_a_file_count_as_given_beside_a_preset(call):
    write('preset = "ranx"\nformat = "json"')
    rules = json.loads(call("run.txt qrels.txt")[1])["rules"]
    assert rules["preset"] == "ranx"
    write(f'preset = "ranx"\nformat = "json"\nties = "docid"\nno-relevant = "{rules["no_relevant"]}"')
    assert rules["ties"] != "docid"
    assert json.loads(call("run.txt qrels.txt")[1])["rules"]["ties"] == "docid"


def test_measures_are_spelled_as_the_preset_of_the_file_has_them(call):
    write('preset = "keras"\nformat = "json"')
    code, out, _ = call("run.txt qrels.txt -m p")  # a usage error without that preset
    assert (code, measures_of(out)) == (0, ["p"])


def test_a_switch_of_a_file_is_on(call):
    write("strict = true\nquiet = true")
    Path("run.txt").write_text(RUN + "q9 Q0 a 1 1 t\n")
    code, _, err = call("run.txt qrels.txt")
    assert code == 2
    assert err.startswith("warning: ")


def test_options_that_another_command_has_otherwise_are_left_out_there(call):
    write('format = "markdown"\nmeasure = "mrr"')
    assert call("run.txt qrels.txt")[1].startswith("| measure |")
    code, out, _ = call("why-differs run.txt qrels.txt")
    assert code == 0
    assert "\t" in out
    write('format = "json"\nmeasure = "mrr"')
    assert json.loads(call("why-differs run.txt qrels.txt")[1])


def test_a_terminal_is_told_which_file_is_in_use(call, monkeypatch):
    monkeypatch.setattr("rankeval_cli.report.terminal.is_terminal", lambda stream: stream is sys.stderr)
    write('measure = "mrr"')
    _, _, err = call("run.txt qrels.txt --color never")
    assert "configuration: rankeval.toml" in err.splitlines()


# ---- mistakes


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


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("confidence = 95", "`confidence`: --confidence is `95.0`"),
        ("relevance-level = nan", "`relevance-level`: --relevance-level is `nan`"),
        ("depth = 0", "`depth`: --depth is `0`"),
        ('measures = ["mrr", "ndgc@10"]', "`measure`: `ndgc@10` is not a measure"),
        ('gate = "mrr"', "`gate`: gate `mrr`: nothing is compared"),
        ('fail-under = {"mrr" = "x"}', "`fail-under`: --fail-under mrr=x: `x` is not a number"),
        ('format = "jsn"', "`format`: `jsn` is not a format"),
        ('output = "a.doc"', "`output`: `a.doc`: the suffix names no report format"),
        ('save-baseline = "a.csv"', "`save-baseline`: --save-baseline a.csv is no name for JSON"),
        ('run-format = "trek"', "`run-format`: unknown format `trek`"),
        ('qrels-format = "letr"', "`qrels-format`: unknown format `letr`"),
        ('columns = {key = "a"}', "`columns`: --columns has no role `key`"),
        ('grade-map = {E = "x"}', "`grade-map`: --grade-map has `x` where a grade belongs"),
        ('preset = "ranks"', "`preset`: there is no preset `ranks`"),
        ('preset = "ranx"\nmeasure = "nonsense"', "`measure`: "),
        ('ties = "expected"\ndepth = 3', "--ties expected cannot tell which of the tied documents --depth 3 keeps"),
    ],
)
def test_an_illegal_value_names_file_and_key(call, text, error):
    write(text)
    code, out, err = call("run.txt qrels.txt")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: rankeval.toml: {error}")
    assert "\nhint: " in err


def test_a_mistake_on_the_command_line_is_not_blamed_on_the_file(call):
    write('confidence = 0.9\nmeasure = "mrr"')
    code, _, err = call("run.txt qrels.txt --confidence 95")
    assert (code, err.splitlines()[0]) == (2, "error: --confidence is `95.0`")


def test_a_value_that_the_command_line_replaces_does_not_matter(call):
    write("confidence = 95")
    assert call("run.txt qrels.txt --confidence 0.9")[0] == 0


@pytest.mark.parametrize("key", ["qrels", "exclude", "weights"])
def test_an_absent_file_names_its_key(call, key):
    write(f'{key} = "absent.txt"\nmeasure = "mrr"')
    code, _, err = call("run.txt" if key == "qrels" else "run.txt qrels.txt")
    assert (code, err.splitlines()[0]) == (2, f"error: absent.txt: no such file (`{key}` of rankeval.toml)")


def test_an_absent_run_names_its_key(call):
    write('runs = ["absent.txt"]\nqrels = "qrels.txt"')
    code, _, err = call("")
    assert (code, err.splitlines()[0]) == (2, "error: absent.txt: no such file (`runs` of rankeval.toml)")


def test_an_error_of_a_file_keeps_the_colour_that_it_asks_for(call):
    write('color = "always"\nmeasure = "x"')
    assert call("run.txt qrels.txt")[2].startswith("\x1b[1;31merror:\x1b[0m rankeval.toml: `measure`")
    assert call("run.txt qrels.txt --color never")[2].startswith("error: rankeval.toml")


# ---- the baseline


def test_a_baseline_is_the_json_report_with_the_values_of_queries(call):
    code, out, _ = call("run.txt qrels.txt -m mrr --save-baseline main.json -o plain.json")
    assert (code, len(out.splitlines())) == (0, 2)
    baseline, plain = (json.loads(Path(name).read_text()) for name in ("main.json", "plain.json"))
    assert baseline["runs"][0].pop("per_query") == {"q1": {"mrr": 0.5}, "q2": {"mrr": 1.0}}
    assert baseline == plain


@pytest.mark.parametrize("name", ["a.csv", "a", "-", "a.json.gz"])
def test_a_baseline_is_json(call, name):
    code, out, err = call("run.txt qrels.txt --save-baseline", name)
    assert (code, out) == (2, "")
    assert "json" in err.lower()


def test_a_baseline_does_not_replace_an_input(call):
    Path("run.json").write_text('{"q1": {"b": 1.0}}')
    code, _, err = call("run.json qrels.txt --save-baseline run.json")
    assert (code, err.splitlines()[0]) == (2, "error: -o run.json would overwrite an input")


# ---- the documentation


@pytest.mark.parametrize("page", ["README.md", "docs/ci.md"])
def test_the_configurations_of_the_documentation_are_legal(page, call):
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    Path("data").mkdir()
    Path("out").mkdir()
    Path("data/qrels.txt").write_text(QRELS)
    Path("out/candidate.txt").write_text(RUN)
    write(text)
    code, _, err = call("run.txt")
    assert code == 0, err
    assert "gate passed" in err


# ---- cost


def modules_of(words):
    script = (
        "import os, sys\n"
        "from rankeval_cli.cli import run\n"
        f"run({words!r})\n"
        "sys.stderr.write('\\n' + str('tomllib' in sys.modules) + str('rankeval_cli.cli.config' in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stderr.splitlines()[-1]


def test_without_a_file_nothing_reads_toml():
    write('[project]\nname = "rankeval-cli"\n[project.scripts]\nrankeval = "x:y"\n[tool.ruff]\n', "pyproject.toml")
    assert modules_of(["run.txt", "qrels.txt", "-m", "mrr"]) == "FalseTrue"


@pytest.mark.parametrize("words", [["--help"], ["run.txt", "-m", "mrr", "-h"], ["--version"], ["measures"]])
def test_help_looks_for_no_file(words, monkeypatch, capfd):
    write("no TOML at all")
    looked = []
    monkeypatch.setattr(config, "_folders", lambda: looked.append(1) or [])
    assert run_program(words) == 0
    assert looked == []
    capfd.readouterr()
