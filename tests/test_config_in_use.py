"""Configuration files in use: who wins, what a report says of them, whose fault an error is, what they cost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from rankeval_cli.cli import config
from rankeval_cli.cli import run as run_program
from rankeval_cli.cli.keys import all_keys

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


def test_every_option_of_the_main_command_is_a_key(call):
    _, out, _ = call("--help")
    listed = set(re.findall(r"--([a-z][a-z-]+)", out.split("Measures:")[1].split("Commands:")[0]))
    only_words = {"help", "config", "no-config", "debug"}
    spelled = {key.spelled for key in all_keys().values()}
    assert only_words <= listed
    assert listed - only_words <= spelled
    assert spelled & only_words == set()


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


def test_explain_takes_a_run_and_a_query_where_the_file_names_the_judgments(call):
    write('qrels = "qrels.txt"\nruns = "absent.txt"\nmeasure = "mrr"')
    expected = call("explain run.txt qrels.txt q1 --no-config -m mrr")
    assert expected[0] == 0
    assert call("explain run.txt q1") == call("explain run.txt qrels.txt q1") == expected
    assert call("explain")[0] == 2


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


def test_the_drop_in_takes_no_configuration(call):
    write("broken")
    code, out, err = call("trec-eval -m recip_rank qrels.txt run.txt")
    assert (code, err, out.split()) == (0, "", ["recip_rank", "all", "0.7500"])
    _, _, err = call("trec-eval -m recip_rank absent.txt run.txt")
    assert "of rankeval.toml" not in err


def test_an_error_of_a_file_keeps_the_colour_that_it_asks_for(call):
    write('color = "always"\nmeasure = "x"')
    assert call("run.txt qrels.txt")[2].startswith("\x1b[1;31merror:\x1b[0m rankeval.toml: `measure`")
    assert call("run.txt qrels.txt --color never")[2].startswith("error: rankeval.toml")


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


def test_the_configuration_of_the_readme_is_legal(call):
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    Path("data").mkdir()
    Path("out").mkdir()
    Path("data/qrels.txt").write_text(QRELS)
    Path("out/candidate.txt").write_text(RUN)
    write(text)
    code, _, err = call("run.txt")
    assert code == 0, err
    assert "gate passed" in err


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
