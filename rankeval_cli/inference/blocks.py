"""Many runs on the same queries at once: Tukey's test, randomised within queries, and the two-way analysis of variance.

A query is a block: some queries are hard for every run, and what the runs differ by is judged within queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankeval_cli.inference.differences import IDENTICAL, INFINITE, TIE, Procedure
from rankeval_cli.inference.intervals import NO_VALUE, ONE_QUERY, ROUNDING
from rankeval_cli.inference.resampling import critical_value
from rankeval_cli.inference.statistic import exact_sum
from rankeval_cli.inference.tails import f_tail

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Random orders held at once, of all runs: 4 MB an array.
BATCH_CELLS = 2**19


@dataclass(frozen=True)
class Tukey:
    """What the test says of one measure, over the queries that have a value in every run.

    p_values : float64 (runs, runs), symmetric, 1 on the diagonal; None where there is no test, which `note` explains
    margin : half the width of the simultaneous intervals of all differences of two means; None when the resamples are
        too few for the confidence
    queries : those compared
    """

    p_values: NDArray[np.float64] | None
    margin: float | None
    queries: int
    note: str | None = None


@dataclass(frozen=True)
class Variance:
    """The two-way analysis of variance of one measure: query plus run, no interaction.

    f, p_value : of the hypothesis that all runs have the same mean; None where there is none, which `note` explains
    runs_df, error_df : degrees of freedom of the runs and of the residuals
    error : mean square of the residuals, None where there is none
    queries : those that have a value in every run
    """

    f: float | None
    p_value: float | None
    runs_df: int
    error_df: int
    error: float | None
    queries: int
    note: str | None = None


def tukey(values: NDArray[np.float64], procedure: Procedure, weights: NDArray[np.float64] | None = None) -> list[Tukey]:
    """Randomised Tukey tests of several measures, under the same random orders.

    values : float64 (measures, runs, Q), two runs or more, NaN where undefined; such a query is left out of the measure
    weights : float64 (Q,) or (measures, Q), 0 or more, or None; the means are then weighted
    The values of each query are dealt to the runs in random order, and the largest difference of two means is compared
    with every observed difference: p is (1 + hits) / (1 + resamples). A difference that falls short by no more than
    1e-12 of the values' sum is a hit. The orders depend on the runs, Q, the resamples and the seed only.
    Two runs that differ nowhere have p = 1.
    Source: Carterette 2012, after Tukey 1953.
    """
    terms = _terms(values, weights)
    ranges = _random_ranges(terms, procedure)
    return [_tukey(*rows, procedure.confidence) for rows in zip(values, terms, ranges, strict=True)]


def _terms(values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """What each value adds to the mean of its run: float64 (measures, runs, Q), NaN where the query is left out."""
    import numpy as np

    kept = ~np.isnan(values).any(axis=1)
    heavy = np.ones(kept.shape) if weights is None else np.broadcast_to(weights, kept.shape)
    kept &= heavy > 0.0
    scaled = np.where(kept, heavy / max(float(heavy.max(initial=0.0)), np.finfo(np.float64).tiny), 0.0)
    totals = np.array([exact_sum(row) or 1.0 for row in scaled.tolist()])
    shares = (scaled / totals[:, None])[:, None, :]
    return np.where(kept[:, None, :], values * shares, np.nan)


def _random_ranges(terms: NDArray[np.float64], procedure: Procedure) -> NDArray[np.float64]:
    """The largest difference of two means, once the terms of each query are dealt anew: float64 (measures, resamples).

    An order of the runs is that of random words, whose lowest bits are replaced by the run: no two are equal. Sums run
    over the queries in their order.
    """
    import numpy as np

    measures, runs, num_queries = terms.shape
    there = np.where(np.isnan(terms), 0.0, terms)
    stream, low = np.random.PCG64(procedure.seed), np.uint64((1 << (runs - 1).bit_length()) - 1)
    ranges = np.empty((measures, procedure.resamples))
    batch = max(1, BATCH_CELLS // (runs * measures))
    for start in range(0, procedure.resamples, batch):
        size = min(batch, procedure.resamples - start)
        sums = np.zeros((measures, size, runs))
        for query in range(num_queries):
            words = stream.random_raw(size * runs).reshape(size, runs)
            keys = np.sort((words & ~low) | np.arange(runs, dtype=np.uint64), axis=1)
            order = (keys & low).astype(np.intp)
            for total, row in zip(sums, there[:, :, query], strict=True):
                total += row[order]
        ranges[:, start : start + size] = sums.max(axis=2) - sums.min(axis=2)
    return ranges


def _tukey(
    values: NDArray[np.float64], terms: NDArray[np.float64], ranges: NDArray[np.float64], confidence: float
) -> Tukey:
    """One measure. values, terms : float64 (runs, Q); ranges : float64 (resamples,)."""
    import numpy as np

    kept = ~np.isnan(terms[0])
    queries = int(np.count_nonzero(kept))
    reason = _obstacle(values[:, kept])
    if reason == IDENTICAL:
        return Tukey(np.ones((len(terms), len(terms))), 0.0, queries, reason)
    if reason:
        return Tukey(None, None, queries, reason)
    means = np.array([exact_sum(row) for row in terms[:, kept].tolist()])
    slack = ROUNDING * max(exact_sum(row) for row in np.abs(terms[:, kept]).tolist())
    ordered = np.sort(ranges)
    below = np.searchsorted(ordered, np.abs(means[:, None] - means) - slack, side="left")
    return Tukey((1.0 + len(ranges) - below) / (1.0 + len(ranges)), critical_value(ranges, confidence), queries)


def _obstacle(values: NDArray[np.float64]) -> str | None:
    """Why the values (runs, queries) allow no test of many runs, or need none."""
    import numpy as np

    if values.shape[1] == 0:
        return NO_VALUE
    if not np.isfinite(values).all():
        return INFINITE
    if values.shape[1] == 1:
        return ONE_QUERY
    return IDENTICAL if float((values.max(axis=0) - values.min(axis=0)).max()) <= TIE else None


def variance(values: NDArray[np.float64]) -> Variance:
    """The two-way analysis of variance of one measure, and its F test.

    values : float64 (runs, Q), two runs or more, NaN where undefined; a query without a value in some run is left out
    No test where nothing is left over: one query, or differences that are the same for every query.
    With two runs F is the square of Student's t of the differences. Source: Fisher 1925; Carterette 2012.
    """
    import numpy as np

    there = values[:, ~np.isnan(values).any(axis=0)]
    runs, queries = there.shape
    runs_df, error_df = runs - 1, (runs - 1) * max(queries - 1, 0)
    reason = _obstacle(there)
    if reason:
        return Variance(None, None, runs_df, error_df, None, queries, reason)
    run_means = np.array([exact_sum(row) / queries for row in there.tolist()])
    query_means = np.array([exact_sum(row) / runs for row in there.T.tolist()])
    grand = exact_sum(run_means.tolist()) / runs
    rest = there - run_means[:, None] - query_means + grand
    if float(np.abs(rest).max()) <= max(TIE, ROUNDING * float(np.abs(there).max())):
        return Variance(None, None, runs_df, error_df, 0.0, queries, "the runs differ by the same amount everywhere")
    between = queries * exact_sum([(mean - grand) ** 2 for mean in run_means.tolist()]) / runs_df
    error = exact_sum([value * value for value in rest.ravel().tolist()]) / error_df
    return Variance(between / error, f_tail(between / error, runs_df, error_df), runs_df, error_df, error, queries)
