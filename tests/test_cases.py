"""Real-life inputs, each a folder of tests/cases with the command that a user would type and what must come of it.

`case.json` says where the case comes from and why the outcome is right. In its `expect`: `exit`; `values` and
`per_query` (measure as typed -> number); `values_per_run` (run -> values); `error_mentions` and `warning_mentions`
(each item must be named, ignoring case; of a list one word will do); `accept_any` (other outcomes that will do);
`limits` (seconds, and peak memory in MB).
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CASES = sorted(path.parent for path in (Path(__file__).parent / "cases").glob("*/case.json"))
TOLERANCE = 1e-6  # the values in case.json have ten digits
TIMEOUT_S = 60


@dataclass(frozen=True)
class Outcome:
    """What a command left behind. `report` is the JSON document of stdout, None where there is none."""

    code: int
    out: str
    err: str
    peak_mb: float

    @property
    def report(self) -> dict[str, Any] | None:
        try:
            return json.loads(self.out)
        except ValueError:
            return None

    @property
    def warnings(self) -> str:
        """Warnings as shown and as reported; other lines of stderr are not among them."""
        shown = [line for line in self.err.splitlines() if line.lstrip().lower().startswith("warning:")]
        return "\n".join([*shown, *(self.report or {}).get("warnings", [])])


def test_all_cases_are_here() -> None:
    assert len(CASES) == 65


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_real_life_input_comes_out_right(folder: Path, tmp_path: Path, program: str) -> None:
    case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    work = tmp_path / "case"
    shutil.copytree(folder, work)
    *steps, command = case["command"].split("&&")
    for step in steps:
        subprocess.run([sys.executable, *shlex.split(step)[1:]], cwd=work, check=True)
    outcome = run([program, *words_of(command, case["expect"])], work, case["expect"].get("limits", {}))
    accepted = [case["expect"], *case["expect"].get("accept_any", [])]
    faults = [list(faults_of(outcome, expect)) for expect in accepted]
    assert not all(faults), f"{case['title']}\n" + "\n".join(faults[0]) + f"\n{case['why_right']}\n{outcome.err}"


def words_of(command: str, expect: dict[str, Any]) -> list[str]:
    """The arguments as typed, with the JSON report asked for."""
    name, *words = shlex.split(command)
    assert name == "rankeval"
    return [*words, "-f", "json", *(["-q"] if "per_query" in expect else [])]


def run(command: list[str], work: Path, limits: dict[str, float]) -> Outcome:
    """Run to the end, watching the peak memory of this one process; what exceeds a limit fails the test."""
    with (work / "stdout").open("wb") as out, (work / "stderr").open("wb") as err:
        child = subprocess.Popen(command, cwd=work, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        status, usage = wait(child, limits.get("seconds", TIMEOUT_S))
    texts = [(work / name).read_text(encoding="utf-8") for name in ("stdout", "stderr")]
    peak_mb = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    assert peak_mb <= limits.get("peak_rss_mb", float("inf"))
    return Outcome(os.waitstatus_to_exitcode(status), *texts, peak_mb)


def wait(child: subprocess.Popen[bytes], seconds: float) -> tuple[int, Any]:
    """The exit status and the resource usage of a child; a hang is a failure."""
    end = time.monotonic() + seconds
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return status, usage
        if time.monotonic() > end:
            child.kill()
            child.wait()
            pytest.fail(f"no end after {seconds} s")
        time.sleep(0.01)  # polling: wait4 has no timeout


def faults_of(outcome: Outcome, expect: dict[str, Any]) -> Iterator[str]:
    """What is wrong with an outcome, a line each."""
    if outcome.code != expect["exit"]:
        yield f"exit {outcome.code}, expected {expect['exit']}"
    if "Traceback (most recent call last)" in outcome.out + outcome.err:
        yield "a traceback was shown"
    if expect["exit"] in (0, 1) and outcome.report is None:
        yield "stdout is no JSON document"
    if expect["exit"] == 2 and not re.search(r"^(error|warning): ", outcome.err, flags=re.MULTILINE):
        yield "stderr has no line with `error:`"
    yield from value_faults(outcome, expect)
    yield from unmentioned(outcome.err + outcome.warnings, expect.get("error_mentions", []))
    yield from unmentioned(outcome.warnings, expect.get("warning_mentions", []))


def value_faults(outcome: Outcome, expect: dict[str, Any]) -> Iterator[str]:
    """Values of the report that differ from the expected ones."""
    runs = {entry["name"]: entry for entry in (outcome.report or {}).get("runs", [])}
    only = next(iter(runs.values())) if len(runs) == 1 else {}
    per_run = {name: runs.get(name, {}) for name in expect.get("values_per_run", {})}
    pairs = [("", only.get("measures", {}), expect.get("values", {}))]
    pairs += [(name, run.get("measures", {}), expect["values_per_run"][name]) for name, run in per_run.items()]
    for where, measures, values in pairs:
        got = {measure: entry.get("value") for measure, entry in measures.items()}
        yield from different(where, got, values)
    for query, values in expect.get("per_query", {}).items():
        yield from different(query, only.get("per_query", {}).get(query, {}), values)


def different(where: str, got: dict[str, float | None], expected: dict[str, float]) -> Iterator[str]:
    """Measures whose value is not as expected."""
    for measure, value in expected.items():
        found = got.get(measure)
        if found is None or abs(found - value) > TOLERANCE:
            yield f"{where} {measure} = {found}, expected {value}"


def unmentioned(text: str, items: list[str | list[str]]) -> Iterator[str]:
    """Items that the text does not name."""
    for item in items:
        words = [item] if isinstance(item, str) else item
        if not any(word.lower() in text.lower() for word in words):
            yield f"nothing mentions {' or '.join(words)}"
