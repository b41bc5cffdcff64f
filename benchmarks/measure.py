"""Time, processor time and peak memory of whole processes, run in turn."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """One command to measure.

    rounds : how often; the median counts
    is_cold : every run gets an empty home and empty caches, as in a fresh container
    """

    name: str
    command: tuple[str, ...]
    rounds: int
    is_cold: bool = False


@dataclass(frozen=True)
class Usage:
    """What one process, or the median of several, used. cpu_s adds user and system time of all threads."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def measure(jobs: Sequence[Job], show: bool = True) -> dict[str, list[Usage]]:
    """Run every job `rounds` times, interleaved so that a change of the machine's speed meets all of them."""
    used: dict[str, list[Usage]] = {job.name: [] for job in jobs}
    for number in range(max(job.rounds for job in jobs)):
        for job in jobs:
            if number < job.rounds:
                used[job.name].append(run_once(job))
                if show:
                    last = used[job.name][-1]
                    print(f"  {job.name} {number + 1}/{job.rounds}: {last.wall_s:.3f} s", file=sys.stderr, flush=True)
    return used


def run_once(job: Job) -> Usage:
    """Run a command to its end; raises SystemExit with its messages when it fails."""
    caches = Path(tempfile.mkdtemp(prefix="bench-")) if job.is_cold else None
    try:
        return spawn(job.command, environment(caches))
    finally:
        if caches:
            shutil.rmtree(caches)


def environment(caches: Path | None) -> dict[str, str]:
    """The environment of a run; with `caches`, home and every cache lie in that empty folder.

    Compiled Python stays where pip put it: it comes with the installation.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RANKEVAL_", "NUMBA_", "PYTHON"))}
    if caches is None:
        return kept
    moved = {name: str(caches / name) for name in ("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    for folder in moved.values():
        Path(folder).mkdir()
    return kept | moved


def spawn(command: Sequence[str], variables: Mapping[str, str]) -> Usage:
    """Start a process with its output in files, wait for it, and read what the kernel counted for it alone."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=variables)
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            errors.seek(0)
            sys.exit(f"error: `{' '.join(command)}` ended with {child.returncode}\n{errors.read().decode()}")
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss counts bytes there, kilobytes elsewhere
    return Usage(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def median(runs: Sequence[Usage]) -> Usage:
    """The median of each figure on its own."""
    return Usage(*(statistics.median(values) for values in zip(*map(figures, runs), strict=True)))


def figures(usage: Usage) -> tuple[float, float, float]:
    """Wall time, processor time, peak memory."""
    return usage.wall_s, usage.cpu_s, usage.peak_mb
