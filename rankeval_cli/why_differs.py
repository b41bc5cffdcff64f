"""Why another system prints another number: a measure under each preset, and the conventions that change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from rankeval_cli.errors import RankevalError
from rankeval_cli.flow import Request, score_under
from rankeval_cli.plan import Part, Plan, without_ids
from rankeval_cli.presets.spec import Convention, Preset, with_conventions, with_rules
from rankeval_cli.ties import ROUNDING, means

if TYPE_CHECKING:
    from rankeval_cli.measures.spec import Metric
    from rankeval_cli.model import Ties

# What is done once for all measures of a pass over a run; conventions about anything else share a pass.
OF_THE_RUN = (
    "negative", "duplicates", "qrels_duplicates", "exclude_self", "exclude", "ignore_label", "depth", "list_weights",
)  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """One measure as one system has it.

    system, there : name of the preset, and of the measure there
    value : None where it is undefined, or `note` says why there is none
    worst, best : lowest and highest value that an order of ties can have, where the system leaves it to chance
    conventions : those that change the value by themselves; all of them where only several together do
    """

    system: str
    there: str
    value: float | None
    worst: float | None = None
    best: float | None = None
    conventions: tuple[Convention, ...] = ()
    note: str | None = None


@dataclass(frozen=True)
class Explained:
    """The value of a measure by the rules of the request, and what each system makes of it."""

    measure: str
    value: float | None
    differences: tuple[Difference, ...]


def explain(request: Request, presets: Sequence[Preset]) -> list[Explained]:
    """Each metric of the request by the request's own rules, and under every preset that has it.

    request : one run; its rules hold for all systems where the user gave them
    Raises RankevalError for input that cannot be read.
    """
    defaults = _scored(request, [Part((metric,), request.rules) for metric in request.metrics])
    return [
        Explained(metric.written, default, tuple(_differences(request, presets, metric, default)))
        for metric, default in zip(request.metrics, defaults, strict=True)
    ]


def _differences(
    request: Request, presets: Sequence[Preset], metric: Metric, default: float | None
) -> Iterator[Difference]:
    for preset in presets:
        if metric.measure.name in preset.names:
            there = preset.names[metric.measure.name]
            try:
                yield _difference(request, preset, metric, default)
            except RankevalError as problem:
                yield Difference(preset.name, there, None, note=str(problem).partition("\n")[0])


def _difference(request: Request, preset: Preset, metric: Metric, default: float | None) -> Difference:
    own = _in_its_words(preset, metric)
    rules = preset.rules_for(own, request.rules, request.given)
    conventions = _effective(request, preset.of(metric), metric)
    is_chance = "ties" not in request.given and preset.is_chance(metric)
    bounds: tuple[Ties, ...] = ("worst", "best") if is_chance else ()
    wanted = [Part((own,), rules), *(Part((own,), replace(rules, ties=ties)) for ties in bounds)]
    values = _scored(request, [*wanted, *(_alone(request, convention, metric) for convention in conventions)])
    value, limits, alone = values[0], values[1 : 1 + len(bounds)], values[1 + len(bounds) :]
    found = [each for each, changed in zip(conventions, alone, strict=True) if _differ(changed, default)]
    worst, best = limits or (None, None)
    if _differ(worst, best):
        found += [each for each in conventions if each.is_arbitrary and each not in found]
    else:
        worst = best = None
    if not found and _differ(value, default):
        found = list(conventions)
    there = preset.names[metric.measure.name]
    return Difference(preset.name, there, value, worst, best, tuple(found))


def _in_its_words(preset: Preset, metric: Metric) -> Metric:
    """The metric as the system reads the word for it (`rbp@95` is p = 0.95 in ranx), where it is the same measure."""
    try:
        (read,) = preset.parse(metric.written)
    except RankevalError:
        return preset.metric(metric)
    return read if read.measure.name == metric.measure.name else preset.metric(metric)


def _effective(request: Request, conventions: Sequence[Convention], metric: Metric) -> list[Convention]:
    """The conventions that change a rule or the metric; what the user gave stays."""
    return [
        each
        for each in conventions
        if with_rules(request.rules, [each], request.given) != request.rules
        or with_conventions(metric, (each,)) != metric
    ]


def _alone(request: Request, convention: Convention, metric: Metric) -> Part:
    """The metric with this convention and no other."""
    rules = with_rules(request.rules, [convention], request.given)
    return Part((with_conventions(metric, (convention,)),), rules)


def _differ(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is not other
    return abs(one - other) > ROUNDING * max(1.0, abs(other))


def _scored(request: Request, parts: Sequence[Part]) -> list[float | None]:
    """The value of the metric of each part, in order; the run is read once for all that share how it is read."""
    values: list[float | None] = [None] * len(parts)
    for places in _passes(parts):
        own = tuple(parts[place] for place in places)
        plan = Plan(own[0].rules, tuple(part.metrics[0] for part in own), own)
        for place, scores in zip(places, score_under(request, partial(_for_ids, plan)), strict=True):
            values[place] = next(iter(means(scores, parts[place].rules).values()))
    return values


def _passes(parts: Sequence[Part]) -> list[list[int]]:
    """Places of parts that can be scored while the run is read once."""
    found: list[tuple[list[object], list[int]]] = []
    for place, part in enumerate(parts):
        key = [getattr(part.rules, name) for name in OF_THE_RUN]
        same = next((places for known, places in found if known == key), None)
        if same is None:
            found.append((key, [place]))
        else:
            same.append(place)
    return [places for _, places in found]


def _for_ids(plan: Plan, nameless: str | None) -> Plan:
    """The plan with other rules for ties where documents have no ids."""
    if nameless is None:
        return plan
    parts = tuple(replace(part, rules=without_ids(part.rules, part.metrics)) for part in plan.parts)
    return replace(plan, rules=without_ids(plan.rules, plan.metrics), parts=parts)
