"""The program: streams, exit codes, options in force, and what a shell does to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from rankeval_cli.cli import run as run_program

RUN = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 a 1 2 t\nq2 Q0 c 2 1 t\n"
QRELS = "q1 0 b 1\nq2 0 a 1\nq2 0 c 2\n"


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)


@pytest.fixture
def call(capfd):
    """`call("run.txt qrels.txt -m mrr")` -> exit code, stdout, stderr."""

    def call(line, *words):
        code = run_program([*line.split(), *words])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return call


def mean(out):
    return json.loads(out)["runs"][0]["measures"]


@pytest.mark.parametrize(
    "line",
    [
        "run.txt qrels.txt -m mrr@10 -f json",
        "-m mrr@10 -f json run.txt qrels.txt",
        "-f json -m mrr@10 run.txt qrels.txt",
        "evaluate run.txt qrels.txt -m mrr@10 -f json",
        "run.txt --qrels qrels.txt -m mrr@10 -f json",
        "-m mrr@10 -f json -- run.txt qrels.txt",
    ],
)
def test_options_may_stand_anywhere(call, line):
    code, out, err = call(line)
    assert (code, err) == (0, "")
    assert mean(out)["mrr@10"]["value"] == 0.75


def test_without_measures_the_usual_five_are_shown(call):
    code, out, _ = call("run.txt qrels.txt")
    names = [line.split("\t")[1] for line in out.splitlines()[1:]]
    assert (code, names) == (0, ["ndcg@10", "mrr@10", "map", "recall@100", "p@10"])


@pytest.mark.parametrize(
    ("option", "rule", "value"),
    [
        ("-l 2", "relevance_level", 2.0),
        ("-J", "judged_only", True),
        ("-M 1", "depth", 1),
        ("--missing skip", "missing", "skip"),
        ("--no-relevant skip", "no_relevant", "skip"),
        ("--negative drop", "negative", "drop"),
        ("--duplicates best", "duplicates", "best"),
        ("--qrels-duplicates max", "qrels_duplicates", "max"),
        ("--order rank", "order", "rank"),
        ("--score-precision single", "score_precision", "single"),
        ("--ties docid-asc", "ties", "docid-asc"),
        ("--exclude-self", "exclude_self", True),
        ("--aggregate median", "aggregate", "median"),
        ("--ci bca", "ci", "bca"),
        ("--confidence 0.9", "confidence", 0.9),
        ("--resamples 50", "resamples", 50),
        ("--seed 7", "seed", 7),
        ("--grade-map E=3,S=2.5", "grade_map", {"E": 3.0, "S": 2.5}),
    ],
)
def test_the_report_states_the_rules_in_force(call, option, rule, value):
    code, out, _ = call(f"run.txt qrels.txt -m mrr@10 -f json {option}")
    assert code == 0
    assert json.loads(out)["rules"][rule] == value


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-l 2", 0.25),
        ("-M 1", 0.5),
        ("--order ascending", 1.0),
        ("--exclude pairs.txt", 1.0),
        ("--aggregate min", 0.5),
        ("--aggregate max", 1.0),
    ],
)
def test_rules_change_values(call, tmp_path, line, expected):
    (tmp_path / "pairs.txt").write_text("q1 a\n")
    _, out, _ = call(f"run.txt qrels.txt -m mrr@10 -f json {line}")
    assert mean(out)["mrr@10"]["value"] == expected


def test_order_by_file_and_by_rank(call, tmp_path):
    (tmp_path / "run.txt").write_text("q1 Q0 b 2 1 t\nq1 Q0 a 1 1 t\n")
    (tmp_path / "qrels.txt").write_text("q1 0 b 1\n")
    values = [
        mean(call(f"run.txt qrels.txt -m mrr -f json {option}")[1])["mrr"]["value"]
        for option in ("--order file", "--order rank", "--ties file", "--ties rank", "--ties docid", "--ties docid-asc")
    ]
    assert values == [1.0, 0.5, 1.0, 0.5, 1.0, 0.5]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "a run and the judgments are missing"),
        ("run.txt", "the judgments are missing"),
        ("run.txt qrels.txt -m ndgc@10", "ndcg@10"),
        ("run.txt qrels.txt --nonsense", "--nonsense"),
        ("run.txt qrels.txt -f yaml", "yaml"),
        ("run.txt qrels.txt -f parquet", "-o"),
        ("run.txt qrels.txt -o x.doc", "x.doc"),
        ("run.txt qrels.txt --ties odd", "odd"),
        ("run.txt qrels.txt -M 0", "--depth"),
        ("run.txt qrels.txt -M x", "'--depth'"),
        ("run.txt qrels.txt --confidence 95", "--confidence"),
        ("run.txt qrels.txt --seed -1", "--seed"),
        ("run.txt qrels.txt -l nan", "--relevance-level"),
        ("run.txt qrels.txt --grade-map E", "--grade-map"),
        ("run.txt qrels.txt --grade-map E=x", "`x`"),
        ("run.txt qrels.txt --grade-map E=1,E=2", "twice"),
        ("run.txt qrels.txt --columns q=x", "roles are"),
        ("run.txt qrels.txt --run-format odd", "odd"),
        ("run.txt qrels.txt --gate mrr", "mrr"),
        ("run.txt qrels.txt --gate nothing>=0", "nothing"),
        ("run.txt qrels.txt --fail-under mean_rank=3", "--gate"),
        ("run.txt run.txt qrels.txt", "given twice"),
        ("absent.txt qrels.txt", "absent.txt"),
        ("run.txt absent.txt", "absent.txt"),
        ("qrels.txt run.txt", "rankeval run.txt qrels.txt"),
        ("measures ndgc", "ndcg"),
    ],
)
def test_what_is_wrong_is_told_with_a_next_step(call, line, words):
    code, out, err = call(line)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "hint: " in err
    assert words in err


def test_nothing_is_read_before_the_words_are_understood(call):
    code, _, err = call("absent.txt absent2.txt -m mrr@10 --fail-under ndgc@10=0.5")
    assert code == 2
    assert "ndgc@10" in err
    assert "absent" not in err


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("--fail-under mrr@10=0.75", 0, "gate passed"),
        ("--fail-under mrr@10=0.76", 1, "gate failed"),
        ("--fail-under mrr@10=0.1 recall@10=0.9", 0, "recall@10 >= 0.9"),
        ("--gate mean_rank<=1.6", 1, "gate failed"),
        ("--gate warn:mrr@10>=0.9", 0, "gate warning"),
        ("--gate missing_queries==0", 0, "gate passed"),
        ("--quiet --fail-under mrr@10=0.76", 1, "gate failed"),
    ],
)
def test_gates_decide_the_exit_code(call, line, code, words):
    found, out, err = call(f"run.txt qrels.txt -m mrr@10 {line}")
    assert found == code
    assert words in err
    assert out.startswith("run\tmeasure")


def test_strict_makes_warnings_count(call, tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS + "q3 0 a 1\n")
    line = "run.txt qrels.txt -m mrr@10 --fail-under mrr@10=0.9"
    code, out, err = call(f"{line} --strict")
    assert (code, out[:3]) == (2, "run")
    assert "warning: run.txt: 1 of 3 judged queries (q3) has no results" in err
    assert call(line)[0] == 1
    assert "warning:" not in call(f"{line} --quiet")[2]
    assert "warning:" in call(f"{line} --quiet --strict")[2]


def test_several_runs_and_per_query_values(call, tmp_path):
    (tmp_path / "other.txt").write_text("q1 Q0 b 1 1 t\n")
    code, out, err = call("run.txt other.txt qrels.txt -m mrr@10 -q")
    rows = [line.split("\t")[:4] for line in out.splitlines()[1:]]
    assert code == 0
    assert ["other.txt", "mrr@10", "q2", "0.0"] in rows
    assert ["run.txt", "mrr@10", "all", "0.75"] in rows
    assert "other.txt" in err


def test_reports_go_to_files_besides_stdout(call, tmp_path):
    outputs = "-o r.json -o r.csv -o r.tsv -o r.jsonl -o r.md -o r.tex -o r.parquet"
    code, out, _ = call(f"run.txt qrels.txt -m mrr@10 -q {outputs}")
    assert (code, out.count("\n")) == (0, 4)
    assert json.loads((tmp_path / "r.json").read_text())["runs"][0]["per_query"]["q1"] == {"mrr@10": 0.5}
    assert all((tmp_path / f"r.{suffix}").stat().st_size for suffix in ("csv", "tsv", "jsonl", "md", "tex", "parquet"))


def test_an_output_that_cannot_be_written_is_told(call):
    code, _, err = call("run.txt qrels.txt -m mrr@10 -o nowhere/r.json")
    assert code == 2
    assert "nowhere" in err


def test_standard_input_is_a_run(program):
    done = subprocess.run(f"cat run.txt | {program} - qrels.txt -m mrr -f json", shell=True, capture_output=True)
    assert mean(done.stdout)["mrr"]["value"] == 0.75


def test_a_reader_that_leaves_changes_nothing(program):
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {program} run.txt qrels.txt -q | head -1"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)


def test_closed_streams_do_no_harm(program):
    for closing in (">&-", "2>&-", "<&-"):
        done = subprocess.run(
            f"{program} run.txt qrels.txt -m mrr {closing}", shell=True, capture_output=True, text=True
        )
        assert "Traceback" not in done.stderr
        assert done.returncode == (2 if closing == ">&-" else 0)


def test_devices_are_written_straight(program):
    done = subprocess.run([program, "run.txt", "qrels.txt", "-o", "/dev/null"], capture_output=True, text=True)
    assert done.returncode == 0
    assert os.path.exists("/dev/null")
    assert not os.path.isfile("/dev/null")


def test_colour_comes_only_when_asked_for(program):
    def output(*words, **environment):
        line = [program, "run.txt", "qrels.txt", "-f", "table", *words]
        return subprocess.run(line, capture_output=True, env=os.environ | environment).stdout

    assert b"\x1b[" not in output()
    assert b"\x1b[" in output("--color", "always")
    assert b"\x1b[" in output("--color", "always", NO_COLOR="1")
    assert b"\x1b[" not in output("--color", "never")


@pytest.mark.parametrize("words", ["--color always", "--color=always"])
@pytest.mark.parametrize(
    "wrong", ["run.txt nowhere.txt", "-m nonsense@10", "--nonsense"], ids=["file", "measure", "option"]
)
def test_errors_have_colour_when_it_is_asked_for(call, words, wrong):
    for line in (f"{words} {wrong}", f"{wrong} {words}"):
        code, out, err = call(line)
        assert (code, out) == (2, "")
        assert err.startswith("\x1b[1;31merror:\x1b[0m ")


def test_help_is_plain_in_continuous_integration(program):
    done = subprocess.run([program, "--help"], capture_output=True, env=os.environ | {"GITHUB_ACTIONS": "1"})
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    assert b"-m, --measure" in done.stdout
    assert b"List the measures" in done.stdout


def test_an_interrupt_ends_with_130_and_leaves_nothing(program, tmp_path):
    os.mkfifo("pipe")
    started = subprocess.Popen(
        [program, "pipe", "qrels.txt", "-o", "out.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with open("pipe", "w") as pipe:
        pipe.write(RUN * 2000)
        pipe.flush()
        time.sleep(0.5)
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=20)
    assert (started.returncode, out, err) == (130, "", "interrupted\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "qrels.txt", "run.txt"]


HANDLERS = """
import ctypes
from rankeval_cli.cli import run

signal = ctypes.CDLL(None).signal
signal.restype, signal.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]

def handler():
    found = signal(2, None)
    signal(2, found)
    return found

before = handler()
code = run(["run.txt", "qrels.txt", "--quiet"])
print(code, handler() == before)
"""


def test_polars_does_not_keep_interrupts_for_itself():
    done = subprocess.run([sys.executable, "-c", HANDLERS], capture_output=True, text=True)
    assert (done.stdout.splitlines()[-1], done.stderr) == ("0 True", "")


def test_an_interrupt_that_comes_out_of_polars_as_a_panic_is_no_bug(call, monkeypatch):
    from polars.exceptions import PanicException

    from rankeval_cli import flow

    def panics(*_):
        raise PanicException("Err value: PyErr { type: <class 'KeyboardInterrupt'>, value: KeyboardInterrupt() }")

    monkeypatch.setattr(flow, "evaluate", panics)
    assert call("run.txt qrels.txt") == (130, "", "interrupted\n")


@pytest.fixture
def parts():
    os.mkdir("parts")
    for name in ("parts/a.tsv", "parts/b.tsv", "weights.tsv", "exclude.tsv"):
        with open(name, "w") as file:
            file.write("q1\ta\n")
    os.symlink("qrels.txt", "link.txt")


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("run.txt qrels.txt", "qrels.txt"),
        ("run.txt qrels.txt", "./run.txt"),
        ("run.txt qrels.txt", "link.txt"),
        ("run.txt --qrels qrels.txt", "qrels.txt"),
        ("parts qrels.txt", "parts/b.tsv"),
        ("parts/*.tsv qrels.txt", "parts/b.tsv"),
        ("run.txt qrels.txt --weights weights.tsv", "weights.tsv"),
        ("run.txt qrels.txt --exclude exclude.tsv", "exclude.tsv"),
    ],
)
def test_a_report_never_replaces_an_input(call, parts, line, target):
    with open(target) as file:
        before = file.read()
    code, out, err = call(f"{line} -o {target}")
    assert (code, out) == (2, "")
    assert f"error: -o {target} would overwrite an input" in err
    with open(target) as file:
        assert file.read() == before


def test_a_report_may_stand_beside_the_parts_of_a_run(call, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "run.txt").write_text(RUN)
    code, _, err = call("parts qrels.txt --quiet -o parts/report.json")
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("", "error: a file name is empty\nhint: a variable of the shell may be unset\n"),
        ("nowhere*.txt", "error: nowhere*.txt: no such file, and as a glob it matches none\n"),
        ("run[2].txt", "error: run[2].txt: no such file, and as a glob it matches none\n"),
        ("nowhere/run.txt", "error: nowhere/run.txt: no such file\nhint: the folder `nowhere` does not exist\n"),
        ("ran.txt", "error: ran.txt: no such file\nhint: did you mean `run.txt`"),
    ],
)
def test_a_run_that_is_not_there_is_told(call, run, message):
    code, out, err = call("", run, "qrels.txt")
    assert (code, out) == (2, "")
    assert err.startswith(message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--ties rnadom", "invalid value for '--ties': 'rnadom' is not one of 'docid'"),
        ("--seed x", "invalid value for '--seed': should be a valid integer\n"),
        ("--confidence high", "invalid value for '--confidence': should be a valid number\n"),
    ],
)
def test_a_wrong_value_is_told_in_plain_words(call, words, message):
    code, out, err = call(f"run.txt qrels.txt {words}")
    assert (code, out) == (2, "")
    assert f"error: {message}" in err


def test_a_bug_is_told_as_one(call, monkeypatch):
    from rankeval_cli import flow

    def broken(*_):
        raise ZeroDivisionError("nothing to divide")

    monkeypatch.setattr(flow, "evaluate", broken)
    code, out, err = call("run.txt qrels.txt")
    assert (code, out) == (70, "")
    assert "this is a bug in rankeval: ZeroDivisionError" in err
    run_program(["run.txt", "qrels.txt", "--debug"])


def test_version(call):
    from rankeval_cli import __version__

    assert call("--version") == (0, f"rankeval {__version__}\n", "")


def test_shell_completion_offers_measures(program):
    environment = os.environ | {
        "_RANKEVAL_COMPLETE": "complete_bash",
        "COMP_WORDS": "rankeval -m mr",
        "COMP_CWORD": "2",
    }
    done = subprocess.run([program], capture_output=True, text=True, env=environment)
    assert "mrr" in done.stdout.split()
