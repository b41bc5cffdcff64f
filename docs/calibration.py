"""Measure how often each test rejects a true null, and how often each interval holds the true mean.

    docs/calibration.py [--experiments N] [--write]

Every figure comes from the functions that the program calls. The seed was written here before the first run. With
`--write` the tables go into docs/statistics.md; the exit code is 1 when a test leaves its range (`LIMITS`).
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankeval_cli.inference import interval
from rankeval_cli.inference.differences import Procedure
from rankeval_cli.inference.families import compare_runs
from rankeval_cli.inference.paired import TESTS, PairedResult, PairedTest, compare
from rankeval_cli.inference.resampling import resample
from rankeval_cli.measures.spec import Measure, Metric
from rankeval_cli.model import Rules

PAGE = Path(__file__).resolve().parent / "statistics.md"
SEED = 20_250_617
EXPERIMENTS = 10_000
QUERIES = (25, 50)
LEVEL = 0.05
RUNS = 4  # of an experiment for Tukey's test
RESAMPLES = {"randomization": 10_000, "bootstrap": 1_999, "tukey": 999}
# Experiments that share their resamples; each batch has a seed of its own.
BATCH = 50

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int, int], Values]

# Name of a test -> lowest and highest share of rejections on symmetric continuous and on discrete differences. What is
# not here is published without a limit.
LIMITS = {
    "t": ((0.040, 0.060), (0.0, 0.060)),
    "randomization": ((0.040, 0.060), (0.0, 0.060)),
    "tukey": ((0.040, 0.060), (0.0, 0.060)),
    "wilcoxon": ((0.0, 0.060), (0.0, 0.060)),
    "sign": ((0.0, 0.060), (0.0, 0.060)),
}


@dataclass(frozen=True)
class Kind:
    """One way in which the values of queries come about.

    draw : generator, runs, experiments, queries -> float64 (runs, experiments, queries); all runs have the same mean
    mean : the true mean of one run
    family : which of LIMITS holds: "continuous", "discrete" or "none"
    is_exchangeable : whether runs can be swapped within a query, which the randomised tests take for granted
    is_weighted : queries weigh exp(z), z standard normal
    """

    name: str
    draw: Draw
    mean: float
    family: str
    is_exchangeable: bool = True
    is_weighted: bool = False


def normal(stream: np.random.Generator, runs: int, experiments: int, queries: int) -> Values:
    """A query's difficulty plus noise, both normal."""
    return stream.normal(size=(experiments, queries)) + stream.normal(size=(runs, experiments, queries))


def heavy_tails(stream: np.random.Generator, runs: int, experiments: int, queries: int) -> Values:
    """A query's difficulty plus double-exponential noise whose scale varies from query to query."""
    scale = stream.uniform(size=(experiments, queries))
    noise = stream.laplace(size=(runs, experiments, queries)) * scale
    return stream.normal(size=(experiments, queries)) + noise


def precision(stream: np.random.Generator, runs: int, experiments: int, queries: int) -> Values:
    """P@10: each of ten documents is relevant with a probability that is the query's."""
    share = stream.beta(*BETA, size=(experiments, queries))
    return stream.binomial(10, share, size=(runs, experiments, queries)) / 10.0


def reciprocal_rank(stream: np.random.Generator, runs: int, experiments: int, queries: int) -> Values:
    """RR@10: the first relevant document of a list in which each is relevant with the query's probability."""
    share = stream.beta(*BETA, size=(experiments, queries))
    ranks = stream.geometric(np.maximum(share, 1e-9), size=(runs, experiments, queries))
    return np.where(ranks <= 10, 1.0 / ranks, 0.0)


def mostly_tied(stream: np.random.Generator, runs: int, experiments: int, queries: int) -> Values:
    """RR@10 of runs that share four rankings of five, as versions of one system do."""
    values = reciprocal_rank(stream, runs, experiments, queries)
    is_shared = stream.uniform(size=(experiments, queries)) < 0.8
    return np.where(is_shared, values[0], values)


def skewed(stream: np.random.Generator, runs: int, experiments: int, queries: int) -> Values:
    """Differences of mean 0 that are mostly small losses and now and then a large gain: exponential less 1."""
    gains = stream.exponential(size=(runs, experiments, queries)) - 1.0
    gains[0] = 0.0
    return gains


BETA = (1.0, 1.5)


def mean_reciprocal_rank() -> float:
    """E RR@10 = sum over k of E[(1 - p)^(k - 1) p] / k, p from the beta distribution."""
    a, b = BETA

    def log_beta(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    return math.fsum(math.exp(log_beta(a + 1, b + k - 1) - log_beta(a, b)) / k for k in range(1, 11))


KINDS = (
    Kind("normal", normal, 0.0, "continuous"),
    Kind("heavy tails", heavy_tails, 0.0, "continuous"),
    Kind("P@10", precision, BETA[0] / sum(BETA), "discrete"),
    Kind("RR@10", reciprocal_rank, mean_reciprocal_rank(), "discrete"),
    Kind("RR@10, mostly tied", mostly_tied, mean_reciprocal_rank(), "discrete"),
    Kind("skewed", skewed, 0.0, "none", is_exchangeable=False),
    Kind("normal, weighted", normal, 0.0, "none", is_weighted=True),
)

DIFFERENCE = Metric(
    Measure("difference", "difference", "", "", kernel=lambda ranking, k, level, params: 0.0,
            bounds=(-math.inf, math.inf)), "difference", "difference",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """Values of one kind for a number of queries: float64 (RUNS, experiments, queries), and weights or None."""

    kind: Kind
    queries: int
    values: Values
    weights: Values | None


def cells(experiments: int) -> Iterator[Cell]:
    """Every kind with every number of queries, each from a stream of its own."""
    for place, kind in enumerate(KINDS):
        for queries in QUERIES:
            stream = np.random.default_rng([SEED, place, queries])
            values = kind.draw(stream, RUNS, experiments, queries)
            weights = np.exp(stream.normal(size=(experiments, queries))) if kind.is_weighted else None
            yield Cell(kind, queries, values, weights)


def batches(cell: Cell) -> Iterator[tuple[int, Values, Values | None]]:
    """A seed, values (RUNS, BATCH, queries) and weights, batch for batch: experiments stand where measures would."""
    for start in range(0, cell.values.shape[1], BATCH):
        part = slice(start, start + BATCH)
        yield SEED + start, cell.values[:, part], None if cell.weights is None else cell.weights[part]


def paired(cell: Cell, test: PairedTest) -> Iterator[PairedResult]:
    """What a test of two runs says of each experiment."""
    for seed, values, weights in batches(cell):
        procedure = Procedure(test.name, 1.0 - LEVEL, RESAMPLES.get(test.name, 1), seed)
        yield from compare(values[0], values[1], procedure, weights=weights)


def rejections(cell: Cell, test: PairedTest) -> float | None:
    """The share of experiments that a test rejects; for Tukey's test, in any of the pairs of RUNS runs."""
    if (cell.kind.is_weighted and not test.takes_weights) or (test.is_simultaneous and not cell.kind.is_exchangeable):
        return None
    if not test.is_simultaneous:
        return share_of(result.p_value is not None and result.p_value <= LEVEL for result in paired(cell, test))
    found: list[bool] = []
    for seed, values, weights in batches(cell):
        pairs = compare_runs(values, Procedure(test.name, 1.0 - LEVEL, RESAMPLES[test.name], seed), weights=weights)
        found += [min(result.p_value or 0.0 for result in results) <= LEVEL for results in zip(*pairs, strict=True)]
    return share_of(found)


def share_of(facts: Iterator[bool] | list[bool]) -> float:
    """How many of the facts are true."""
    listed = list(facts)
    return sum(listed) / len(listed)


def coverage(cell: Cell, base: Values) -> dict[str, float]:
    """For each method, the share of intervals that hold the true mean, of the experiments that have one.

    base : float64 (experiments, queries), taken from the second run: the first run, or its true mean
    """
    centered = Cell(cell.kind, cell.queries, np.stack([base, cell.values[1]]), cell.weights)
    tests = {test.interval: test for test in TESTS if test.decide and test.interval in ("t", "bootstrap-t")}
    found = {
        method: covered((result.ci_low, result.ci_high) for result in paired(centered, test))
        for method, test in tests.items()
    }
    for method in ("bootstrap", "bca") if cell.weights is None else ("bootstrap",):
        found[method] = covered(resampled(centered, Rules(ci=method)))
    return found


def resampled(cell: Cell, rules: Rules) -> Iterator[tuple[float | None, float | None]]:
    """The percentile or BCa interval of each experiment, from as many resamples as the program takes by default."""
    for seed, values, weights in batches(cell):
        differences = values[1] - values[0]
        replicates = resample(differences, [False] * len(differences), rules.resamples, seed, weights)
        for place, row in enumerate(differences):
            found = interval(row, DIFFERENCE, rules, replicates[place], None if weights is None else weights[place])
            yield found.low, found.high


def covered(ends: Iterator[tuple[float | None, float | None]]) -> float:
    """The share of intervals, where there are any, that hold 0."""
    return share_of([low <= 0.0 <= high for low, high in ends if low is not None and high is not None])


# The methods as columns of the tables of intervals.
METHODS = {"t": "t", "bootstrap-t": "bootstrap-t", "bootstrap": "percentile", "bca": "BCa"}


def measure(experiments: int) -> tuple[dict[str, list[list[str]]], list[str]]:
    """The rows of each table, and what leaves its range."""
    tables: dict[str, list[list[str]]] = {"rejections": [], "differences": [], "means": []}
    outside: list[str] = []
    for cell in cells(experiments):
        label = [cell.kind.name, str(cell.queries)]
        shares = {test.name: rejections(cell, test) for test in TESTS}
        outside += [f"{' '.join(label)}: {name} {share}" for name, share in shares.items() if leaves(cell, name, share)]
        tables["rejections"].append([*label, *map(shown, shares.values())])
        found = coverage(cell, cell.values[0])
        tables["differences"].append([*label, *(shown(found.get(method)) for method in METHODS)])
        if cell.kind.is_exchangeable and cell.kind.draw is not mostly_tied:
            found = coverage(cell, np.full_like(cell.values[0], cell.kind.mean))
            tables["means"].append([*label, *(shown(found.get(method)) for method in METHODS)])
        print(*label, shares, file=sys.stderr, flush=True)
    return tables, outside


def leaves(cell: Cell, name: str, share: float | None) -> bool:
    """Whether a share of rejections is outside of what is promised."""
    if share is None or name not in LIMITS or cell.kind.family == "none":
        return False
    low, high = LIMITS[name][cell.kind.family == "discrete"]
    return not low <= share <= high


def shown(share: float | None) -> str:
    """A share with four decimals."""
    return "-" if share is None else f"{share:.4f}"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table, numbers to the right."""
    lines = [head, [" --- ", *([" ---: "] * (len(head) - 1))], *rows]
    return "\n".join(f"|{'|'.join(f' {cell.strip()} ' for cell in line)}|" for line in lines)


def main() -> int:
    """Measure, print the tables or write them; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--experiments", type=int, default=EXPERIMENTS)
    parser.add_argument("--write", action="store_true", help="write the tables into docs/statistics.md")
    asked = parser.parse_args()
    tables, outside = measure(asked.experiments)
    label = ["values", "queries"]
    heads = {name: [*label, *METHODS.values()] for name in tables} | {"rejections": [*label, *(t.name for t in TESTS)]}
    for name, rows in tables.items():
        table = markdown(heads[name], rows)
        print(f"{name}\n\n{table}\n")
        if asked.write:
            write(name, table)
    print("\n".join(f"outside of its range: {line}" for line in outside), file=sys.stderr)
    return 1 if outside else 0


def write(name: str, table: str, page: Path | None = None) -> None:
    """Put a table into a page (`PAGE` where none is named), between its marks."""
    page = page or PAGE
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- measured {name} -->", "<!-- end -->"
    new, times = re.subn(rf"{begin}\n.*?{end}", f"{begin}\n\n{table}\n\n{end}", text, count=1, flags=re.DOTALL)
    assert times == 1, f"{page.name} has no place for {name}"
    page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
