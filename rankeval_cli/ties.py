"""How much of a score is luck: the same run under several rules for ties, and what a report says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from rankeval_cli.errors import UsageError
from rankeval_cli.model import Result, Rules, Scores, TieResult, Ties

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.measures.spec import Metric

VARIANTS: tuple[Ties, ...] = ("expected", "worst", "best")
ROUNDING = 1e-12  # two orders of one sum differ by less than this, relative


@dataclass(frozen=True)
class Part:
    """Measures, and the rules for them; several parts are scored while a run is read once."""

    metrics: tuple[Metric, ...]
    rules: Rules


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


def in_force(metrics: tuple[Metric, ...], rules: Rules) -> list[Part]:
    """All measures with the rule for ties in force.

    `expected` is also what documents without ids fall back on; then measures without a closed form take `random`.
    """
    if rules.ties != "expected":
        return [Part(metrics, rules)]
    known = tuple(metric for metric in metrics if metric.expected is not None)
    others = tuple(metric for metric in metrics if metric.expected is None)
    return [Part(known, rules), *([Part(others, replace(rules, ties="random"))] if others else [])]


def merged(metrics: tuple[Metric, ...], parts: Sequence[Scores]) -> Scores:
    """The scores of several parts as one, in the order of `metrics`."""
    if len(parts) == 1:
        return parts[0]
    import numpy as np

    places = {metric.canonical: (part, row) for part in parts for row, metric in enumerate(part.metrics)}
    found = [places[metric.canonical] for metric in metrics]
    return replace(
        parts[0],
        metrics=metrics,
        values=np.stack([part.values[row] for part, row in found]),
        undefined=tuple(part.undefined[row] for part, row in found),
        propagate=tuple(part.propagate[row] for part, row in found),
    )


def variants(metrics: tuple[Metric, ...], rules: Rules) -> dict[Ties, Part]:
    """What a tie report needs besides the measures under the rule in force.

    A part lacks the measures that have no such value: no mean over all orders where no closed form is known, or where
    --depth cuts through ties.
    """
    parts: dict[Ties, Part] = {}
    for ties in VARIANTS:
        if ties == "expected":
            known = tuple(metric for metric in metrics if metric.expected is not None and rules.depth is None)
        else:
            known = metrics
        if known:
            parts[ties] = Part(known, replace(rules, ties=ties))
    return parts


def tie_results(results: Sequence[Result], scored: Mapping[Ties, Scores], rules: Rules) -> tuple[TieResult, ...]:
    """One tie result a measure of the report.

    results : of the run under the rule in force; those that only a gate asked for stand behind those of the report
    scored : the scores of `variants`
    """
    worst, best, expected = scored["worst"], scored["best"], scored.get("expected")
    rows = {}
    if expected is not None:
        rows = {metric.canonical: values for metric, values in zip(expected.metrics, expected.values, strict=True)}
    means = {ties: _means(scores, rules) for ties, scores in scored.items()}
    return tuple(
        TieResult(
            measure=metric.written,
            canonical=metric.canonical,
            value=result.value,
            expected=means.get("expected", {}).get(metric.written),
            worst=means["worst"][metric.written],
            best=means["best"][metric.written],
            queries=_num_different(worst.values[place], best.values[place], rows.get(metric.canonical)),
            is_bound=metric.measure.ties_bound(metric),
        )
        for place, (metric, result) in enumerate(zip(best.metrics, results, strict=False))
    )


def _means(scores: Scores, rules: Rules) -> dict[str, float | None]:
    from rankeval_cli.inference.statistic import aggregate

    means = {}
    for place, metric in enumerate(scores.metrics):
        value = aggregate(scores.values[place], metric, rules, scores.propagate[place], scores.weights_of(place))
        means[metric.written] = None if value != value else value
    return means


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
