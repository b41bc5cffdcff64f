"""Public runs with published values, in the folder beside the repository, through the checker that lies there."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from conftest import ROOT


def test_public_runs_give_the_published_values(shared: Callable[[str], Path], program: str) -> None:
    folder = shared("real")
    checker = [sys.executable, str(folder / "real_check.py"), program, str(folder)]
    done = subprocess.run(checker, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith(" 0 failed")
