"""Every kind of gate, from the command line to exit code, text, JSON, JUnit and GitHub: all tell the same verdict."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rankeval_cli.cli import run

# Rank of the only relevant document of each query; 0: it is not found; None: the query has no results.
BASE = [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]
RUNS: dict[str, list[int | None]] = {
    "base": [*BASE],
    "better": [1, 1, 2, 2, 1, 1, 2, 3, 1, 1, 1, 2],
    "worse": [3, 4, 5, 6, 2, 5, 4, 9, 3, 3, 8, 7],
    "few": [9, *BASE[1:4], 9, *BASE[5:]],  # no drop of two queries in twelve can be certain
    "noisy": [2, 1, 2, 4, 1, 3, 1, 3, 2, 1, 3, 5],  # a little better in the mean
    "lost": [0] * 12,
    "partial": [*BASE[:9], None, None, None],
}
MRR = "mrr@10"


def write_files(folder: Path) -> None:
    for name, ranks in RUNS.items():
        lines = [
            f"q{query:02} Q0 {'rel' if rank == place else f'd{place}'} {place} {10 - place} {name}\n"
            for query, rank in enumerate(ranks)
            for place in (range(1, 10) if rank is not None else ())
        ]
        (folder / name).write_text("".join(lines))
    (folder / "qrels").write_text("".join(f"q{query:02} 0 rel 1\n" for query in range(12)))


# kind -> the gate, with a place for the measure; it passes for `better` and fails for `worse`
MEASURED = {
    "measure": "{} >= 0.4",
    "mean": "mean({}) > 40%",
    "median": "median({}) >= 0.4",
    "min": "min({}) >= 0.3",
    "max": "max({}) == 1",
    "ci_low": "ci_low({}) >= 0.4",
    "ci_high": "ci_high({}) >= 0.7",
    "share": "share({} >= 0.5) >= 50%",
    "baseline": "{} >= baseline",
    "baseline less a share": "{} >= baseline - 2%",
    "baseline and more": "{} > baseline + 0.01",
    "statistic of the baseline": "median({}) >= baseline",
    "share of the baseline": "share({} >= 0.5) >= baseline",
    "end above the baseline": "ci_high({}) >= baseline",
    "diff": "diff({}) >= -1%",
    "min of diff": "min(diff({})) >= -0.2",
    "max of diff": "max(diff({})) >= 0.2",
    "ci_low of diff": "ci_low(diff({})) >= -0.05",
    "ci_high of diff": "ci_high(diff({})) > 0",
    "no-regression": "no-regression({})",
    "no-regression by a margin": "no-regression({}, 2%)",
    "non-inferior": "non-inferior({}, 0.01)",
    "improves": "improves({})",
    "improves by a margin": "improves({}, 5%)",
}
# Gates about queries pass for `better` and fail for `partial`.
COUNTED = {
    "fact": "missing_queries <= 2",
    "share of a fact": "missing_queries < 20%",
    "fact of the baseline": "missing_queries <= baseline",
}

# state -> exit code, word of the line
STATES = {
    "pass": (0, "passed"),
    "fail": (1, "failed"),
    "warn": (0, "warning"),
    "undefined": (1, "failed"),
    "warn undefined": (0, "warning"),
    "inconclusive": (1, "failed"),
    "warn inconclusive": (0, "warning"),
}

CASES = [
    *(pytest.param(gate.format(MRR), "better", "pass", id=f"{kind}: pass") for kind, gate in MEASURED.items()),
    *(pytest.param(gate.format(MRR), "worse", "fail", id=f"{kind}: fail") for kind, gate in MEASURED.items()),
    *(pytest.param(gate.format(MRR), "worse", "warn", id=f"{kind}: warn") for kind, gate in MEASURED.items()),
    *(pytest.param(gate.format("mean_rank"), "lost", "undefined", id=f"{kind}: undefined")
      for kind, gate in MEASURED.items()),
    *(pytest.param(gate.format("mean_rank"), "lost", "warn undefined", id=f"{kind}: warn undefined")
      for kind, gate in MEASURED.items()),
    *(pytest.param(gate, "better", "pass", id=f"{kind}: pass") for kind, gate in COUNTED.items()),
    *(pytest.param(gate, "partial", "fail", id=f"{kind}: fail") for kind, gate in COUNTED.items()),
    *(pytest.param(gate, "partial", "warn", id=f"{kind}: warn") for kind, gate in COUNTED.items()),
    pytest.param("no-regression(mrr@10)", "few", "inconclusive", id="no-regression: inconclusive"),
    pytest.param("no-regression(mrr@10, 1%)", "few", "inconclusive", id="no-regression by a margin: inconclusive"),
    pytest.param("no-regression(mean_rank)", "few", "inconclusive", id="no-regression of ranks: inconclusive"),
    pytest.param("non-inferior(mrr@10, 0.01)", "noisy", "inconclusive", id="non-inferior: inconclusive"),
    pytest.param("improves(mrr@10)", "noisy", "inconclusive", id="improves: inconclusive"),
    pytest.param("improves(mean_rank)", "noisy", "inconclusive", id="improves of ranks: inconclusive"),
    pytest.param("no-regression(mrr@10)", "few", "warn inconclusive", id="no-regression: warn inconclusive"),
    pytest.param("improves(mrr@10)", "noisy", "warn inconclusive", id="improves: warn inconclusive"),
]  # fmt: skip


@pytest.mark.parametrize(("gate", "name", "state"), CASES)
def test_exit_code_text_and_files_tell_one_verdict(
    gate: str,
    name: str,
    state: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    expected, word = STATES[state]
    text = f"warn: {gate}" if state.startswith("warn") else gate
    words = [name, "qrels", "-m", MRR, "--baseline", "base", "--gate", text, "-f", "github", "-o", "all.json"]
    assert run([*words, "-o", "all.xml", "--quiet"]) == expected

    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert line.startswith(f"gate {word}: {name}: {gate} (")
    (verdict,) = json.loads(Path("all.json").read_text())["gates"]
    assert (verdict["gate"], verdict["run"], verdict["passed"]) == (gate, name, word == "passed")
    assert verdict["warn"] is state.startswith("warn")
    assert (verdict["reason"] or "").startswith("inconclusive: ") is state.endswith("inconclusive")
    assert (verdict["value"] is None) is state.endswith("undefined")
    assert (verdict["distance"] is None) is state.endswith("undefined")

    level = {"passed": "notice", "failed": "error", "warning": "warning"}[word]
    told = line.removeprefix(f"gate {word}: ").replace("%", "%25")
    assert f"::{level} title=rankeval%3A gate {word}::{told}" in out.splitlines()

    suites = ElementTree.parse("all.xml").getroot()
    (case,) = suites.iter("testcase")
    failures = [failure.text for failure in case.iter("failure")]
    assert (suites.get("failures"), failures) == (("1", [line]) if word == "failed" else ("0", []))
    assert word == "failed" or [output.text for output in case.iter("system-out")] == [line]


def test_a_gate_applies_to_every_run_but_the_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["-m", MRR, "--quiet", "--gate", "mrr@10 > baseline", "--gate", "no-regression(mrr@10)"]
    assert run(["base", "better", "worse", "qrels", "--baseline", "base", *words]) == 1
    lines = [line.split(" (")[0] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "gate passed: better: mrr@10 > baseline",
        "gate passed: better: no-regression(mrr@10)",
        "gate failed: worse: mrr@10 > baseline",
        "gate failed: worse: no-regression(mrr@10)",
    ]
