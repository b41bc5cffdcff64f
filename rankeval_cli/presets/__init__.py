"""Presets: for each named system, measure -> rules. `registry.PRESETS` is the one list, loaded when one is named."""

from __future__ import annotations

from collections.abc import Callable

from rankeval_cli.measures import expression
from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import DEFAULT_MEASURES, Rules


def parser(name: str | None) -> Callable[[str], tuple[Metric, ...]]:
    """What reads the words for measures: as the preset of that name has them, or plainly.

    Raises UsageError when there is no such preset.
    """
    if name is None:
        return expression.parse
    from rankeval_cli.presets.registry import find

    return find(name).parse


def default_measures(name: str | None) -> tuple[str, ...]:
    """The measures of a report for which none was asked: the usual ones, those that the preset has."""
    if name is None:
        return DEFAULT_MEASURES
    from rankeval_cli.presets.registry import find

    has = find(name).names
    return tuple(word for word in DEFAULT_MEASURES if expression.parse(word)[0].measure.name in has)


def weighs_items(name: str | None) -> bool:
    """Whether the preset of that name takes weights of items."""
    if name is None:
        return False
    from rankeval_cli.presets.registry import find

    return find(name).general_rules(Rules(), frozenset()).list_weights
