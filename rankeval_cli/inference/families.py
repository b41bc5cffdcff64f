"""Several comparisons at once: every pair of runs, and p-values that allow for their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from typing import TYPE_CHECKING

from rankeval_cli.errors import UsageError, did_you_mean
from rankeval_cli.inference.blocks import Tukey, tukey
from rankeval_cli.inference.differences import Outcome, Procedure, Sample, sample_of
from rankeval_cli.inference.intervals import Ends
from rankeval_cli.inference.paired import DEFAULT, PairedResult, compare, find_test, result_of, rows_of, settle
from rankeval_cli.model import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Correction:
    """The declaration of one correction; help and documentation derive from it.

    adjust : the p-values of one family, rising -> their adjusted values before they are capped at 1
    """

    name: str
    title: str
    description: str
    source: str
    adjust: Callable[[Sequence[float]], list[float]]
    aliases: tuple[str, ...] = ()


def compare_runs(
    values: NDArray[np.float64],
    procedure: Procedure = DEFAULT,
    pairs: Sequence[tuple[int, int]] | None = None,
    bounds: Sequence[Ends] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> tuple[tuple[PairedResult, ...], ...]:
    """What a test says of pairs of runs: for each pair the results of its measures.

    values : float64 (runs, measures, Q), two runs or more, the same queries in the same order, NaN where undefined
    pairs : (base, other) places of runs; every pair, the earlier run as the base, when not given
    bounds, weights : as in `paired.compare`
    A pair is compared over the queries that both runs have a value for; Tukey's test over those that all runs have one
    for, whatever the pairs. P-values are not corrected: see `adjusted`.
    """
    places = list(combinations(range(len(values)), 2)) if pairs is None else pairs
    if not find_test(procedure.test).is_simultaneous:
        return tuple(compare(values[a], values[b], procedure, bounds, weights) for a, b in places)
    return _simultaneous(values, procedure, places, bounds, weights)


def _simultaneous(
    values: NDArray[np.float64],
    procedure: Procedure,
    pairs: Sequence[tuple[int, int]],
    bounds: Sequence[Ends] | None,
    weights: NDArray[np.float64] | None,
) -> tuple[tuple[PairedResult, ...], ...]:
    """The pairs under Tukey's test. A query without a value in some run is left out of every pair."""
    import numpy as np

    found = tukey(values.transpose(1, 0, 2), procedure, weights)
    complete = np.where(np.isnan(values).any(axis=0), np.nan, values)
    test, heavy = find_test(procedure.test), rows_of(weights, values[0])
    results = []
    for a, b in pairs:
        row = []
        for place, whole in enumerate(found):
            sample = sample_of(complete[a, place], complete[b, place], heavy[place])
            outcome = settle(sample) or _outcome(sample, whole, (a, b), procedure)
            row.append(result_of(sample, test, outcome, procedure.confidence, bounds[place] if bounds else None))
        results.append(tuple(row))
    return tuple(results)


def _outcome(sample: Sample, whole: Tukey, pair: tuple[int, int], procedure: Procedure) -> Outcome:
    """The part of one pair in the test of all runs."""
    if whole.p_values is None:
        return Outcome(None, whole.note, interval=Interval(None, None, None, whole.note))
    p_value = float(whole.p_values[pair])
    if whole.margin is None:
        limits = Interval(None, None, None, "too few resamples for this confidence")
    else:
        limits = Interval(sample.mean - whole.margin, sample.mean + whole.margin, "tukey", None)
    return Outcome(p_value, None, procedure.resamples, limits)


def adjusted(results: Sequence[PairedResult], correction: str) -> list[float | None]:
    """The p-values of one family of results, corrected by name; those of a simultaneous test unchanged."""
    if results and find_test(results[0].test).is_simultaneous:
        return [result.p_value for result in results]
    return adjust([result.p_value for result in results], correction)


def adjust(p_values: Sequence[float | None], correction: str) -> list[float | None]:
    """The p-values of one family, corrected by the name of a correction, in their order.

    None stays None, and does not count as a test. Never below the p-value itself, never above 1, and in its order.
    Raises UsageError for a name that there is not.
    """
    rule = find_correction(correction)
    there = sorted((p_value, place) for place, p_value in enumerate(p_values) if p_value is not None)
    found: list[float | None] = [None] * len(p_values)
    for value, (_, place) in zip(rule.adjust([p_value for p_value, _ in there]), there, strict=True):
        found[place] = min(1.0, value)
    return found


def _holm(rising: Sequence[float]) -> list[float]:
    steps = [p_value * (len(rising) - place) for place, p_value in enumerate(rising)]
    return list(accumulate(steps, max))


def _bonferroni(rising: Sequence[float]) -> list[float]:
    return [p_value * len(rising) for p_value in rising]


def _benjamini_hochberg(rising: Sequence[float]) -> list[float]:
    # Divided before it is multiplied: p * m / m would not always give p back.
    steps = [p_value * (len(rising) / place) for place, p_value in enumerate(rising, 1)]
    return list(accumulate(reversed(steps), min))[::-1]


# The first is the default.
CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "holm",
        "Holm's step-down method",
        "Keeps the chance of any false alarm among all comparisons below the level, under any dependence; never "
        "weaker than Bonferroni.",
        "Holm 1979",
        _holm,
    ),
    Correction(
        "bonferroni",
        "Bonferroni: p times the number of tests",
        "Keeps the same chance below the level; a simple product that a reader can check.",
        "Dunn 1961",
        _bonferroni,
    ),
    Correction(
        "bh",
        "Benjamini and Hochberg's false discovery rate",
        "Keeps the expected share of false alarms among the alarms below the level, so it finds more; for tests that "
        "are independent or depend on each other positively.",
        "Benjamini & Hochberg 1995",
        _benjamini_hochberg,
        aliases=("fdr", "benjamini-hochberg"),
    ),
    Correction("none", "No correction", "Each comparison by itself.", "", list),
)


def find_correction(name: str) -> Correction:
    """The correction of this name or alias, in any case, `_` for `-`. Raises UsageError for one that there is not."""
    word = name.lower().replace("_", "-")
    for correction in CORRECTIONS:
        if word in (correction.name, *correction.aliases):
            return correction
    names = [correction.name for correction in CORRECTIONS]
    hint = did_you_mean(word, names) or f"choose one of {', '.join(names)}"
    raise UsageError(f"`{name}` is not a correction", hint=hint)
