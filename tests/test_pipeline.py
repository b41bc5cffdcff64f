"""A build pipeline in a real shell, with the installed program: red when a run got worse, green when it is mended."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

EXPECTED = """\
main: write the baseline
change: the first two results of every third query fall to the end
gate failed: run.txt: no-regression(ndcg@10) (
gate passed: run.txt: mrr@10 >= baseline - 1% (
gate warning: run.txt: improves(ndcg@10) (
exit 1
failures in JUnit: 1
gate failed: run.txt: no-regression(ndcg@10) (
gate passed: run.txt: mrr@10 >= baseline - 1% (
gate warning: run.txt: improves(ndcg@10) (
exit 1
mended
gate passed: run.txt: no-regression(ndcg@10) (
gate passed: run.txt: mrr@10 >= baseline - 1% (
gate warning: run.txt: improves(ndcg@10) (
exit 0
gate passed: run.txt: no-regression(ndcg@10) (
gate passed: run.txt: mrr@10 >= baseline - 1% (
gate warning: run.txt: improves(ndcg@10) (
exit 0
"""


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell")
def test_a_pipeline_turns_red_and_green(program: str) -> None:
    path = f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", ROOT / "tests/pipeline.sh", ROOT / "sample_data"],
        env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stderr, done.returncode) == ("", 0)
    lines = [line[: line.index(" (") + 2] if line.startswith("gate") else line for line in done.stdout.splitlines()]
    assert "\n".join(lines) + "\n" == EXPECTED
    verdicts = [line for line in done.stdout.splitlines() if line.startswith("gate")]
    assert verdicts[:3] == verdicts[3:6], "a report is as good as the run behind it"
    assert verdicts[6:9] == verdicts[9:12]
