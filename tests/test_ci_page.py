"""The files that docs/ci.md offers to build servers parse, and each command line in them does what the page says."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from conftest import ROOT

from rankeval_cli.cli import run

PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
SAMPLE = ROOT / "sample_data"
COMMAND_KEYS = ("run", "script", "before_script", "entry")


def blocks(language: str, section: str = "") -> list[str]:
    """The fenced blocks of a language, of the whole page or below one heading."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0] if section else PAGE
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def scripts(node: Any) -> Iterator[str]:
    """Every text that a server would hand to a shell."""
    if isinstance(node, list):
        for entry in node:
            yield from scripts(entry)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in COMMAND_KEYS:
                yield from value if isinstance(value, list) else [value]
            else:
                yield from scripts(value)


def commands_of(script: str) -> list[str]:
    return [line.strip() for line in script.splitlines() if line.strip().startswith("rankeval ")]


def all_commands() -> Iterator[Any]:
    """Every command line of the page that begins with the program's name, with the file it stands in."""
    for place, block in enumerate(blocks("yaml")):
        for script in scripts(yaml.safe_load(block)):
            for command in commands_of(script):
                yield pytest.param(command, id=f"yaml {place}: {command[:60]}")
    for language, pattern in {"sh": r"^(rankeval .*)$", "groovy": r"^sh '(rankeval .*)'$"}.items():
        for block in blocks(language):
            for command in re.findall(pattern, block, flags=re.MULTILINE):
                yield pytest.param(command, id=f"{language}: {command[:60]}")


COMMANDS = list(all_commands())
SAVE = next(param.values[0] for param in COMMANDS if param.id.startswith("sh: "))


def result_lines(turned: bool = False) -> str:
    """The better run of the sample data, or one that ranks its last results first."""
    lines = [line.split() for line in (SAMPLE / "pixels.txt").read_text().splitlines()]
    if turned:
        for line in lines:
            line[3], line[4] = str(101 - int(line[3])), repr(1.0 - float(line[4]))
        lines.sort(key=lambda line: (line[0], int(line[3])))
    return "".join(f"{' '.join(line)}\n" for line in lines)


# State of the run -> its text, and the exit code of a command with gates and of one without.
STATES = {
    "as good": (result_lines(), (0, 0)),
    "worse": (result_lines(turned=True), (1, 0)),
    "broken": (result_lines()[:200] + "\nq01 Q0\n", (2, 2)),
}


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """The working directory: a repository with the names of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    for folder in (".git", "data", "out"):
        Path(folder).mkdir()
    Path("data/qrels.txt").write_text((SAMPLE / "qrels.txt").read_text())
    Path("out/candidate.txt").write_text(STATES["as good"][0])
    assert call(SAVE) == 0
    capsys.readouterr()
    return tmp_path


def call(command: str) -> int:
    words = shlex.split(command)
    assert words[0] == "rankeval"
    return int(run(words[1:]))


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_ends_as_the_page_says(command: str, state: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, (gated, plain) = STATES[state]
    Path("out/candidate.txt").write_text(text)
    has_gates = "--gate" in command or "--fail-under" in command
    assert call(command) == (gated if has_gates else plain), capsys.readouterr().err
    if has_gates and state != "broken":
        assert f"gate {'failed' if gated else 'passed'}: " in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_needs_nothing_of_a_shell_but_quotes(command: str) -> None:
    """So that words are the same in a shell, and in pre-commit, which has none."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    assert not [word for word in lexer if set(word) <= set("();<>|&")]
    assert not set("$`\\!") & set(command)


def test_every_section_for_a_server_has_a_command_with_a_gate() -> None:
    for section in ("GitHub Actions", "GitLab", "pre-commit"):
        found = [command for block in blocks("yaml", section) for script in scripts(yaml.safe_load(block))
                 for command in commands_of(script)]  # fmt: skip
        assert any("--gate" in command and "--baseline" in command for command in found), section
    assert any("--baseline" in param.values[0] for param in COMMANDS if param.id.startswith("groovy"))
    assert len(COMMANDS) == PAGE.count("\nrankeval ") + len(re.findall(r"^ +(?:entry: |- )?rankeval ", PAGE, re.M)) + (
        PAGE.count("sh 'rankeval ")
    )


def test_the_workflow_of_github_is_whole() -> None:
    workflow = yaml.safe_load(blocks("yaml", "GitHub Actions")[0])
    triggers = workflow[True]  # YAML 1.1 reads `on` as a truth value, and so does this parser
    assert set(triggers) == {"pull_request", "push"}
    (job,) = workflow["jobs"].values()
    steps = job["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    upload = steps[-1]
    assert upload["if"] == "always()", "a red build is the one whose report is needed"
    evaluate = next(step["run"] for step in steps if step.get("name") == "Evaluate")
    assert "-f github" in evaluate
    written = re.findall(r"-o (\S+)", evaluate)
    assert written == ["out/junit.xml", "out/report.md"]
    assert all(path.startswith(upload["with"]["path"]) for path in written)


def test_the_other_steps_of_github_have_what_they_use() -> None:
    for block in blocks("yaml", "GitHub Actions")[1:]:
        for step in yaml.safe_load(block):
            variables = set(re.findall(r"\$\{?([A-Z_]+)", step["run"]))
            assert variables <= set(step.get("env", {}))
            assert "GH_TOKEN" in step.get("env", {}) or "gh " not in step["run"]
            assert "github.event" in step["if"]


def test_the_job_of_gitlab_reports_what_it_writes() -> None:
    (job,) = yaml.safe_load(blocks("yaml", "GitLab")[0]).values()
    assert all(isinstance(line, str) for line in (*job["before_script"], *job["script"]))
    (evaluate,) = commands_of(job["script"][-1])
    assert f"-o {job['artifacts']['reports']['junit']}" in evaluate
    assert job["artifacts"]["when"] == "always"


def test_the_hooks_of_pre_commit_watch_the_files_that_they_read() -> None:
    (repository,) = yaml.safe_load(blocks("yaml", "pre-commit")[0])["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert {"id", "name", "language", "entry"} <= set(hook)
        read = re.findall(r"(?:out|data)/\S+", hook["entry"])
        assert read
        assert all(re.search(hook["files"], path) for path in read)
        assert not re.search(hook["files"], "data/other.txt")


def test_jenkins_finds_the_file_that_it_publishes() -> None:
    (written,) = re.findall(r"-o (\S+)'", blocks("groovy")[0])
    assert f"junit '{written}'" in PAGE


def test_options_in_the_repository_take_the_place_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    (text,) = blocks("toml")
    Path("rankeval.toml").write_text(text)
    num_gates = len(tomllib.loads(text)["gate"]) + len(tomllib.loads(text)["fail-under"])
    (command,) = re.findall(r"`(rankeval -f github [^`]+)`", PAGE)
    assert call(command) == 0
    captured = capsys.readouterr()
    assert captured.err.count("gate passed: ") == num_gates
    assert captured.out.count("::notice title=rankeval%3A gate passed::") == num_gates
    assert len(ElementTree.parse("out/junit.xml").findall(".//testcase")) == num_gates
    Path("out/candidate.txt").write_text(STATES["worse"][0])
    assert call(command) == 1
    assert len(ElementTree.parse("out/junit.xml").findall(".//failure")) == 3


@pytest.mark.parametrize("gate", re.findall(r"^\|[^|]*\| `((?!--)[^`]+)`", PAGE.split("### What")[0], re.M))
def test_each_gate_of_the_table_passes_for_the_same_run_or_asks_for_more(gate: str) -> None:
    written = gate.replace("M", "ndcg@10")
    command = "rankeval out/candidate.txt data/qrels.txt --quiet --baseline data/baseline.json --gate"
    assert call(f"{command} '{written}'") == (1 if gate.startswith("improves") else 0)
    Path("out/candidate.txt").write_text(STATES["worse"][0])
    assert call(f"{command} '{written}'") == (0 if gate.startswith("missing") else 1)


def test_a_baseline_is_not_renewed_by_the_build_that_it_judges(capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("data/baseline.json").read_bytes()
    assert call(f"{SAVE} --baseline data/baseline.json") == 2
    assert "data/baseline.json would overwrite an input" in capsys.readouterr().err
    assert Path("data/baseline.json").read_bytes() == before
    assert 40 < len(before) / 100 < 60, "bytes a query and measure, as the page says"


def test_a_baseline_that_the_configuration_names_is_renewed_by_another_file() -> None:
    Path("rankeval.toml").write_text(blocks("toml")[0])
    Path("out/candidate.txt").write_text(STATES["worse"][0])
    assert call("rankeval --save-baseline data/baseline.json") == 2
    (command,) = re.findall(r"`(rankeval --save-baseline [^`]+)`", PAGE)
    assert call(command) == 1
    Path("out/new.json").replace("data/baseline.json")
    assert call("rankeval --quiet --gate 'no-regression(ndcg@10)' --fail-under ndcg@10=0") == 0


def test_a_report_is_refused_when_the_judgments_changed_and_a_run_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    Path("data/baseline.txt").write_text(STATES["as good"][0])
    with Path("data/qrels.txt").open("a") as file:
        file.write("q01 0 new 1\n")
    command = "rankeval out/candidate.txt data/qrels.txt --quiet --gate 'no-regression(ndcg@10)' --baseline"
    assert call(f"{command} data/baseline.json") == 2
    assert "has other judgments" in capsys.readouterr().err
    assert call(f"{command} data/baseline.txt") == 0
