"""The first start on a machine: without caches, where nothing can be written, and several processes at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import rankeval_cli

SAMPLE = ROOT / "sample_data"
WORDS = [str(SAMPLE / "pixels.txt"), str(SAMPLE / "qrels.txt"), "-m", "ndcg@10", "map", "--no-config"]
START = "from rankeval_cli.cli import main; main()"
CACHES = ("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONDONTWRITEBYTECODE")


@pytest.fixture(scope="module")
def plain() -> str:
    """What the plain loop prints."""
    done = subprocess.run([sys.executable, "-P", "-c", START, *WORDS], env=environment(JIT="off"), capture_output=True)
    assert done.returncode == 0
    return done.stdout.decode()


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of the package as after an installation: no kernels compiled yet."""
    site = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(rankeval_cli.__file__).parent, site / "rankeval_cli", ignore=ignored)
    return site


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def environment(JIT: str, **named: object) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in CACHES}
    return kept | {"RANKEVAL_JIT": JIT} | {name: str(value) for name, value in named.items()}


def seal(site: Path) -> None:
    """Make it impossible to write compiled code beside the sources, even for a superuser."""
    for folder in (site, *site.rglob("*")):
        if folder.is_dir():
            (folder / "__pycache__").write_text("")


def start(site: Path, home: Path | str, **named: object) -> subprocess.Popen[str]:
    """Start the program with its kernels compiled."""
    variables = environment("on", PYTHONPATH=site, HOME=home, PYTHONDONTWRITEBYTECODE=1, **named)
    return subprocess.Popen(
        [sys.executable, "-P", "-c", START, *WORDS],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    return out


def kernels(folder: Path) -> set[Path]:
    """Files of compiled code."""
    return {path.relative_to(folder) for path in folder.rglob("*.nb[ci]")}


def test_compiled_kernels_are_kept_beside_the_code(installed, home, plain):
    assert finished(start(installed, home)) == plain
    first = kernels(installed)
    assert {path.name.split("-")[0] for path in first} >= {"scoring._drive", "graded.ndcg"}
    assert not list(home.iterdir())
    assert finished(start(installed, home)) == plain
    assert kernels(installed) == first


def test_where_the_code_cannot_be_written_they_are_in_the_home(installed, home, plain):
    seal(installed)
    assert finished(start(installed, home)) == plain
    assert kernels(home / ".cache" / "numba")
    assert not kernels(installed)


def test_where_nothing_can_be_written_it_works_all_the_same(installed, plain, tmp_path):
    seal(installed)
    before = set(tmp_path.rglob("*"))
    assert finished(start(installed, "/dev/null")) == plain
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("content", [b"", b"no code"], ids=["empty", "other"])
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_cache_does_no_harm(content, suffix, installed, home, plain):
    finished(start(installed, home))
    for path in installed.rglob(f"*.{suffix}"):
        path.write_bytes(content)
    assert finished(start(installed, home)) == plain


def test_processes_that_start_at_once_share_an_empty_cache(installed, home, plain):
    processes = [start(installed, home) for _ in range(3)]
    assert [finished(process) for process in processes] == [plain] * 3
    first = {path: (installed / path).read_bytes() for path in kernels(installed)}
    assert finished(start(installed, home)) == plain
    assert {path: (installed / path).read_bytes() for path in kernels(installed)} == first  # it was read, not written


def test_a_user_without_a_home_gets_no_folder_of_that_name(monkeypatch):
    from rankeval_cli import scoring

    for name in CACHES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert not scoring._may_cache()
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/me")
    assert scoring._may_cache()
