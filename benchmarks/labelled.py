"""The part of the benchmark that scores one labelled table: rankeval all of it, torchmetrics a tenth."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measure import Job, measure, median

ROWS = 20_000_000
MEASURES = ("mrr@10", "ndcg@10", "map", "recall@10", "hit@10")
AGREE = 1e-5  # torchmetrics works in single precision
HEADER = (
    "| tool | rows | runs | wall s | CPU s | peak MB | rows / s |",
    "| --- | --: | --: | --: | --: | --: | --: |",
)


@dataclass(frozen=True)
class Scored:
    """How a tool is started to score a table of so many rows; `column` of its output holds the value of a measure."""

    tool: str
    rows: int
    command: tuple[str, ...]
    column: int

    @property
    def name(self) -> str:
        """A name for the job."""
        return f"{self.tool}, {self.rows:,} rows"


def contestants(data: Path, rankeval: str, python: str) -> tuple[Scored, Scored, Scored]:
    """rankeval on the table, and both tools on its tenth, which takes torchmetrics most of a minute."""
    peer = str(Path(__file__).parent / "peers" / "with_torchmetrics.py")
    full, tenth = str(data / "table.parquet"), str(data / "tenth.parquet")
    return (
        Scored("rankeval", ROWS, (rankeval, full, "-m", *MEASURES), 3),
        Scored("rankeval", ROWS // 10, (rankeval, tenth, "-m", *MEASURES), 3),
        Scored("torchmetrics", ROWS // 10, (python, peer, tenth), 1),
    )


def check_agreement(scored: Scored, other: Scored) -> None:
    """Stop when the tools give other values: then they did other work."""
    for measure_name, ours, theirs in zip(MEASURES, values_of(scored), values_of(other), strict=True):
        if abs(ours - theirs) > AGREE:
            sys.exit(f"error: {measure_name}: {scored.name} gives {ours}, {other.name} {theirs}")


def values_of(scored: Scored) -> list[float]:
    """The values that a tool prints, in the order of MEASURES."""
    done = subprocess.run(scored.command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    lines = [line.split("\t") for line in done.stdout.strip().splitlines()]
    found = {line[scored.column - 2 if scored.column > 1 else 0]: line[scored.column] for line in lines}
    return [float(found[measure_name]) for measure_name in MEASURES]


def rows_of(all_scored: tuple[Scored, ...], rounds: int, peer_rounds: int) -> Iterator[str]:
    """Measure, and yield the lines of the table."""
    jobs = [
        Job(scored.name, scored.command, rounds if scored.tool == "rankeval" else min(rounds, peer_rounds))
        for scored in all_scored
    ]
    used = measure(jobs)
    yield from HEADER
    for scored, job in zip(all_scored, jobs, strict=True):
        usage = median(used[job.name])
        figures = f"{usage.wall_s:.2f} | {usage.cpu_s:.2f} | {usage.peak_mb:.0f} | {scored.rows / usage.wall_s:,.0f}"
        yield f"| {scored.tool} | {scored.rows:,} | {job.rounds} | {figures} |"
