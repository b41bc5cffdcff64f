"""Simulate how often each gate goes red for a change of known size: docs/gates_power.py [--experiments N] [--write].

Two versions of a system answer the same queries, drawn anew for every experiment; the gates of the program judge the
second by the first. Seed, model and `PROMISES` were written here before the first run. With `--write` the table goes
into docs/ci.md; the exit code is 1 when a gate breaks a promise.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from calibration import markdown, write
from numpy.typing import NDArray

from rankeval_cli.gates import AnyGate, Sides, decide_all, parse_fail_under, parse_gate
from rankeval_cli.measures.expression import parse
from rankeval_cli.model import Coverage, Rules, RunReport, Scores, Significance, Source, Verdict

PAGE = Path(__file__).resolve().parent / "ci.md"
SEED = 20_250_702
EXPERIMENTS = 5_000  # a share is then known to 0.007 (one standard error) or better
QUERIES = (50, 200)
CHANGES = (0.05, 0.0, -0.01, -0.02, -0.05, -0.10)  # of the mean over all queries there could be

MEASURE = "ndcg@10"
# Values of one query, a beta distribution: mean 0.57 and standard deviation 0.28. Of nDCG@10 in the weaker run of
# sample_data they are 0.57 and 0.29, in four public runs (TREC, BEIR, Cranfield) 0.45 to 0.60 and 0.26 to 0.40.
BETA = (1.2, 0.9)
TOUCHED = 0.5  # the share of queries whose results a change touches
KEPT = 0.85  # the share of a value that both versions have in common where it does; they correlate by 0.7 to 0.8

FLOOR = 0.95  # of the baseline's value
GATES = {
    "floor at 95 %": None,
    "`M >= baseline - 2%`": f"{MEASURE} >= baseline - 2%",
    "`no-regression(M)`": f"no-regression({MEASURE})",
    "`no-regression(M, 2%)`": f"no-regression({MEASURE}, 2%)",
    "`non-inferior(M, 2%)`": f"non-inferior({MEASURE}, 2%)",
    "`improves(M)`": f"improves({MEASURE})",
}

# Gate and change at the edge of what the gate tests -> lowest and highest share of red. The level of the tests is 0.05;
# 0.015 is what five standard errors of a share of 0.05 come to.
PROMISES = {
    ("`no-regression(M)`", 0.0): (0.0, 0.065),
    ("`no-regression(M, 2%)`", -0.02): (0.0, 0.065),
    ("`non-inferior(M, 2%)`", -0.02): (0.935, 1.0),
    ("`improves(M)`", 0.0): (0.935, 1.0),
}

Values = NDArray[np.float64]
UNUSED = Coverage(0, 0, 0, 0, 0, 10, None, 0, 0, 0)  # no gate here asks for it


@dataclass(frozen=True)
class Row:
    """What came of one change.

    red : gate -> share of the experiments in which it went red
    noticeable : the drop that a verdict says it would notice, mean over the experiments
    """

    queries: int
    change: float
    red: dict[str, float]
    noticeable: float


def draw(stream: np.random.Generator, experiments: int, queries: int, change: float) -> tuple[Values, Values]:
    """Values before and after: float64 (experiments, queries); their means differ by `change`, a share of the first.

    A value is x / (x + y) of two gamma variables, of which both versions share a part. A change moves shape from one to
    the other, so the sum of the shapes stays, and both versions are beta distributions with the means asked for.
    """
    size = (experiments, queries)
    moved = BETA[0] * change / TOUCHED
    pairs = [pair(stream, size, BETA[0], BETA[0] + moved), pair(stream, size, BETA[1], BETA[1] - moved)]
    before, after = (gained / (gained + lost) for gained, lost in zip(*pairs, strict=True))
    return before, np.where(stream.uniform(size=size) < TOUCHED, after, before)


def pair(stream: np.random.Generator, size: tuple[int, int], before: float, after: float) -> tuple[Values, Values]:
    """Two gamma variables of these shapes that share a part."""
    common = KEPT * min(before, after)
    shared = stream.standard_gamma(common, size)
    return shared + stream.standard_gamma(before - common, size), shared + stream.standard_gamma(after - common, size)


def simulate(queries: int, change: float, experiments: int) -> Row:
    """How often each gate goes red, from a stream of this row's own."""
    stream = np.random.default_rng([SEED, queries, CHANGES.index(change)])
    judged = [judge(*values) for values in zip(*draw(stream, experiments, queries, change), strict=True)]
    red = {
        gate: sum(not verdicts[place].passed for verdicts in judged) / experiments for place, gate in enumerate(GATES)
    }
    place = list(GATES).index("`no-regression(M)`")
    return Row(queries, change, red, sum(verdicts[place].noticeable or 0.0 for verdicts in judged) / experiments)


def judge(before: Values, after: Values) -> tuple[Verdict, ...]:
    """The verdicts of all gates on one experiment; float64 (queries,) each."""
    sides = Sides(run_of(after), Rules(), run_of(before))
    gates = [floor(before) if gate is None else gate for gate in PARSED]
    return decide_all(gates, [sides], Significance())


def floor(before: Values) -> AnyGate:
    """The gate that somebody writes who knows the baseline's value on these queries."""
    return replace(LOWEST, bound=FLOOR * float(np.mean(before)))


def run_of(values: Values) -> RunReport:
    """A scored run with these values."""
    names = [str(place) for place in range(len(values))]
    scores = Scores(names, parse(MEASURE), values[None, :], (0,), (False,))
    return RunReport(Source("run", "run", "trec", 0), UNUSED, (), scores)


PARSED = [None if text is None else parse_gate(text) for text in GATES.values()]
LOWEST = parse_fail_under(f"{MEASURE}=0")


def broken(row: Row) -> list[str]:
    """The promises that do not hold in a row."""
    return [
        f"{row.queries} queries, {row.change:+.0%}: {gate} red in {row.red[gate]:.4f}"
        for (gate, change), (low, high) in PROMISES.items()
        if change == row.change and not low <= row.red[gate] <= high
    ]


def table(rows: list[Row]) -> str:
    """The shares of red as whole percent, a line a row."""
    lines = [
        [str(row.queries), change_word(row.change), *map(percent, row.red.values()), f"{row.noticeable:.3f}"]
        for row in rows
    ]
    return markdown(["queries", "true change", *GATES, "would notice"], lines)


def percent(share: float) -> str:
    """A share as whole percent."""
    return f"{share:.0%}".replace("%", " %")


def change_word(change: float) -> str:
    """A change as a reader says it."""
    return f"{change:+.0%}".replace("%", " %").replace("-", "−") if change else "none"


def main() -> int:
    """Simulate, print the table or write it; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--experiments", type=int, default=EXPERIMENTS)
    parser.add_argument("--write", action="store_true", help="write the table into docs/ci.md")
    asked = parser.parse_args()
    rows = [simulate(queries, change, asked.experiments) for queries in QUERIES for change in CHANGES]
    print(f"{table(rows)}\n")
    if asked.write:
        write("gates", table(rows), PAGE)
    failures = [line for row in rows for line in broken(row)]
    print("".join(f"broken promise: {line}\n" for line in failures), end="", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
