"""What several test files need: the installed program, and the folder of data beside the repository."""

import os
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from dropin import DropIn
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("RANKEVAL_SHARED", ROOT.parent / "shared"))
SHARED_PARTS = ("real", "trec_eval_data")


settings.register_profile("no deadline", deadline=None)  # a busy machine is no failure
settings.load_profile("no deadline")


@pytest.fixture(scope="session")
def program() -> str:
    """The path of the installed `rankeval`."""
    path = Path(sysconfig.get_path("scripts")) / "rankeval"
    assert path.exists(), f"{path} is absent: run `make test`"
    return str(path)


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """`shared("real")`: that folder of the data beside the repository; skips the test when it is absent."""

    def find(part: str) -> Path:
        if not (SHARED / part).is_dir():
            pytest.skip(f"{absent(part)}; set RANKEVAL_SHARED to the folder that holds it")
        return SHARED / part

    return find


@pytest.fixture
def drop_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> DropIn:
    """`drop_in("-m", "map", qrels, run)`: what `rankeval trec-eval` says."""
    return DropIn(tmp_path, capsys)


def absent(part: str) -> str:
    """What to say about a folder that is not there."""
    place = os.environ.get("RANKEVAL_SHARED") or "../shared"
    return f"{place}/{part} is absent"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly which data are missing: a skipped comparison must not look like a passed one."""
    for part in SHARED_PARTS:
        if not (SHARED / part).is_dir():
            terminalreporter.write_line(f"warning: {absent(part)}: its tests were SKIPPED", yellow=True, bold=True)
