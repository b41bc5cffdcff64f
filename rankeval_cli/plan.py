"""Which measures are scored under which rules: every measure has its own where a preset or a tie report says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import UsageError
from rankeval_cli.model import Ordering, Rules, Scores, Ties

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.measures.spec import Metric
    from rankeval_cli.presets.spec import Preset

VARIANTS: tuple[Ties, ...] = ("expected", "worst", "best")


@dataclass(frozen=True)
class Part:
    """Measures, and the rules for them; several parts are scored while a run is read once."""

    metrics: tuple[Metric, ...]
    rules: Rules


@dataclass(frozen=True)
class Plan:
    """What is scored while a run is read once.

    rules : of the run as a whole, which all parts share but for what orders a ranking and what a query counts
    metrics : in the order of the report
    parts : these metrics, by rules
    variants : the same under other rules for ties, for a tie report, or for the metrics of `chance`
    chance : metrics whose ties the system of a preset leaves to chance
    """

    rules: Rules
    metrics: tuple[Metric, ...]
    parts: tuple[Part, ...]
    variants: Mapping[Ties, tuple[Part, ...]] = field(default_factory=dict)
    chance: tuple[Metric, ...] = ()
    is_tie_report: bool = False

    @property
    def every_part(self) -> list[Part]:
        """The parts, then those of the variants."""
        return [*self.parts, *(part for parts in self.variants.values() for part in parts)]

    @property
    def orderings(self) -> list[Ordering]:
        """What orders the rankings of each part."""
        return [part.rules.ordering for part in self.every_part]

    @property
    def told_rules(self) -> Rules:
        """The rules that warnings name: those of the run, with the rule for ties that all measures share."""
        ties = {part.rules.ties for part in self.parts}
        return replace(self.rules, ties=ties.pop()) if len(ties) == 1 else self.rules

    def collected(self, every: Sequence[Scores]) -> tuple[Scores, dict[Ties, Scores]]:
        """The scores of `every_part` as those of the report and those of the variants."""
        scores = iter(every)
        own = merged(self.metrics, _taken(scores, self.parts))
        return own, {ties: merged(self.metrics, _taken(scores, parts)) for ties, parts in self.variants.items()}

    def own_rules(self) -> dict[str, dict[str, Any]]:
        """Canonical name -> the rules of that metric which are not those of the run; without entries where none are."""
        found = {}
        for part in self.parts:
            if part.rules != self.rules:
                here, there = part.rules.to_dict(), self.rules.to_dict()
                own = {name: value for name, value in here.items() if there.get(name) != value}
                found.update({metric.canonical: own for metric in part.metrics})
        return found


def planned(
    metrics: tuple[Metric, ...],
    rules: Rules,
    given: frozenset[str],
    preset: Preset | None,
    nameless: str | None = None,
    shown: Sequence[Metric] = (),
) -> Plan:
    """Every metric with its rules.

    rules, given : those of the user, and the names of the ones that were given
    nameless : an input whose documents have no ids, None where all have
    shown : metrics of a tie report; () without one
    Raises UsageError when the user asked for ids to break ties, and there are none.
    """
    general = rules if preset is None else preset.general_rules(rules, given)
    each = [general if preset is None else preset.rules_for(metric, rules, given) for metric in metrics]
    if nameless is not None:
        if "ties" in given and rules.ties in ("docid", "docid-asc"):
            hint = "choose --ties expected, random or file, or name the column: --columns doc=NAME"
            raise UsageError(f"--ties {rules.ties} needs document ids, and {nameless} has none", hint=hint)
        if "exclude_self" not in given:  # a preset's: there are no ids to compare
            general, each = replace(general, exclude_self=False), [replace(own, exclude_self=False) for own in each]
        general = without_ids(general, metrics)
        each = [without_ids(own, (metric,)) for metric, own in zip(metrics, each, strict=True)]
    own_rules = dict(zip((metric.canonical for metric in metrics), each, strict=True))
    chance = () if preset is None or "ties" in given else tuple(m for m in metrics if preset.is_chance(m))
    varied = shown or chance
    variants = {ties: _parts(varied, [own_rules[m.canonical] for m in varied], ties) for ties in VARIANTS}
    variants = {ties: found for ties, found in variants.items() if found}
    return Plan(general, metrics, _parts(metrics, each), variants, chance, bool(shown))


def without_ids(rules: Rules, metrics: Sequence[Metric]) -> Rules:
    """The rules with another one for ties where it was the document id."""
    if rules.ties not in ("docid", "docid-asc"):
        return rules
    has_form = rules.depth is None and any(metric.expected is not None for metric in metrics)
    return replace(rules, ties="expected" if has_form else "random")


def _parts(metrics: Sequence[Metric], each: Sequence[Rules], ties: Ties | None = None) -> tuple[Part, ...]:
    """The metrics by rules, with another rule for ties where one is asked for.

    A metric whose mean over all orders is asked for and not known is ordered by chance where that is only the rule in
    force for documents without ids, and left out where a tie report asks.
    """
    found: list[tuple[Rules, list[Metric]]] = []
    for metric, own in zip(metrics, each, strict=True):
        has_form = metric.expected is not None and own.depth is None
        if ties == "expected" and not has_form:
            continue
        rules = own if ties is None else replace(own, ties=ties)
        if ties is None and own.ties == "expected" and not has_form:
            rules = replace(own, ties="random")
        same = next((members for known, members in found if known == rules), None)
        if same is None:
            found.append((rules, [metric]))
        else:
            same.append(metric)
    return tuple(Part(tuple(members), rules) for rules, members in found)


def _taken(scores: Iterator[Scores], parts: Sequence[Part]) -> list[Scores]:
    return [next(scores) for _ in parts]


def merged(metrics: Sequence[Metric], parts: Sequence[Scores]) -> Scores:
    """The scores of several parts as one, in the order of `metrics`, of which some may not be among them.

    A query that one part leaves out (`--missing skip`) has no value there.
    """
    if len(parts) == 1:
        return parts[0]
    import numpy as np

    queries = max((part.queries for part in parts), key=len)
    parts = [_widened(part, queries) for part in parts]
    places = {metric.canonical: (part, row) for part in parts for row, metric in enumerate(part.metrics)}
    kept = tuple(metric for metric in metrics if metric.canonical in places)
    found = [places[metric.canonical] for metric in kept]
    shares = None
    if any(part.shares is not None for part in parts):
        shares = np.stack([np.ones(len(queries)) if part.shares is None else part.shares[row] for part, row in found])
    return replace(
        parts[0],
        metrics=kept,
        values=np.stack([part.values[row] for part, row in found]),
        undefined=tuple(part.undefined[row] for part, row in found),
        propagate=tuple(part.propagate[row] for part, row in found),
        shares=shares,
    )


def _widened(scores: Scores, queries: list[str]) -> Scores:
    """The scores for more queries, NaN for those that are added."""
    if len(scores.queries) == len(queries):
        return scores
    import numpy as np

    places = {query: place for place, query in enumerate(queries)}
    columns = [places[query] for query in scores.queries]

    def widen(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        wide = np.full((len(matrix), len(queries)), np.nan)
        wide[:, columns] = matrix
        return wide

    shares = None if scores.shares is None else widen(scores.shares)
    return replace(scores, queries=queries, values=widen(scores.values), shares=shares)
