"""How much of a score is luck: the same run under several rules for ties, and what a report says of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from rankeval_cli.errors import UsageError
from rankeval_cli.model import Result, Rules, Scores, TieResult, Ties

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.measures.spec import Metric
    from rankeval_cli.plan import Plan

ROUNDING = 1e-12  # two orders of one sum differ by less than this, relative


def check_ties(metrics: Iterable[Metric], rules: Rules) -> None:
    """Raise UsageError for a measure whose mean over all orders of tied documents is asked for and not known."""
    for metric in metrics if rules.ties == "expected" else ():
        if metric.expected is None:
            others = ", ".join(rule for rule in get_args(Ties) if rule != "expected")
            whole = metric.cutoff is not None and replace(metric, cutoff=None).expected is not None
            hint = "leave its cutoff out, or choose" if whole else "choose"
            raise UsageError(
                f"`{metric.written}` has no closed form for the mean over all orders of ties (--ties expected)",
                hint=f"{hint} another rule for ties: {others}",
            )


def tie_results(results: Sequence[Result], scored: Mapping[Ties, Scores], rules: Rules) -> tuple[TieResult, ...]:
    """One tie result a measure of the report.

    results : of the run under the rule in force; those that only a gate asked for stand behind those of the report
    scored : the scores of the variants of a plan
    """
    worst, best, expected = scored["worst"], scored["best"], scored.get("expected")
    rows = {}
    if expected is not None:
        rows = {metric.canonical: values for metric, values in zip(expected.metrics, expected.values, strict=True)}
    found = {ties: means(scores, rules) for ties, scores in scored.items()}
    return tuple(
        TieResult(
            measure=metric.written,
            canonical=metric.canonical,
            value=result.value,
            expected=found.get("expected", {}).get(metric.written),
            worst=found["worst"][metric.written],
            best=found["best"][metric.written],
            queries=_num_different(worst.values[place], best.values[place], rows.get(metric.canonical)),
            is_bound=metric.measure.ties_bound(metric),
        )
        for place, (metric, result) in enumerate(zip(best.metrics, results, strict=False))
    )


def chance_warnings(plan: Plan, scored: Mapping[Ties, Scores], rules: Rules) -> Iterator[str]:
    """What to say of metrics whose ties the system of the preset leaves to chance, where that changes the value."""
    worst, best = (means(scored[ties], rules) for ties in ("worst", "best"))
    for metric in plan.chance:
        low, high = worst[metric.written], best[metric.written]
        if low is not None and high is not None and abs(high - low) > ROUNDING * max(1.0, abs(low)):
            bounds = f"from {min(low, high):.4f} to {max(low, high):.4f}"
            beyond = "" if metric.measure.ties_bound(metric) else ", and some orders give values beyond"
            yield f"{rules.preset} orders ties by chance: its {metric.written} may be anything {bounds}{beyond}"


def means(scores: Scores, rules: Rules) -> dict[str, float | None]:
    """The value of each metric over all queries, by the name that was written; None where it is undefined."""
    from rankeval_cli.inference.statistic import aggregate

    found: dict[str, float | None] = {}
    for place, metric in enumerate(scores.metrics):
        value = aggregate(scores.values[place], metric, rules, scores.propagate[place], scores.weights_of(place))
        found[metric.written] = None if value != value else value
    return found


def _num_different(worst: NDArray[np.float64], *others: NDArray[np.float64] | None) -> int:
    """The queries with two values that differ by more than rounding, or of which only one is undefined."""
    import numpy as np

    differs = np.zeros(len(worst), np.bool_)
    scale = np.maximum(1.0, np.abs(worst))
    for other in others:
        if other is not None:
            differs |= np.abs(other - worst) > ROUNDING * scale  # false where one is NaN
            differs |= np.isnan(worst) != np.isnan(other)
    return int(np.count_nonzero(differs))
