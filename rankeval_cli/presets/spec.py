"""What a preset says: the conventions of another system, each with its sentence, and how they act on a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rankeval_cli.errors import UsageError
from rankeval_cli.measures.expression import Dialect, canonical_name, parse
from rankeval_cli.measures.registry import NAMES, normal
from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import Rules


def always(metric: Metric) -> bool:
    """For a convention that holds for every metric of its measures."""
    return True


@dataclass(frozen=True)
class Convention:
    """One thing that a system does otherwise than the default.

    sentence : what it does, and why the default does not
    measures : canonical names of the measures that it is about; () for all
    when : metric -> whether it is about this one
    rules : fields of `Rules`. A convention about some measures may set what orders a ranking, `missing`,
        `no_relevant`, and the rules without an option; all else is of the whole run
    params : parameters of the measure, where the user gave none
    fields : fields of the measure's record (another kernel, another reason to be undefined)
    is_arbitrary : the order of tied documents depends on what nobody sees there (a seed, an unstable sort)
    """

    sentence: str
    measures: tuple[str, ...] = ()
    when: Callable[[Metric], bool] = always
    rules: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    is_arbitrary: bool = False

    @property
    def is_general(self) -> bool:
        """Whether it is about every measure."""
        return not self.measures and self.when is always

    def concerns(self, metric: Metric) -> bool:
        """Whether it is about this metric."""
        return (not self.measures or metric.measure.name in self.measures) and self.when(metric)


@dataclass(frozen=True)
class Preset:
    """The rules of one system.

    source : release, and where the rules were found
    names : our name of each measure that it has -> its name there; for others the preset is refused
    conventions : what differs from the default; a later one wins over an earlier one
    whole_list, rewrites : as `Dialect` has them
    """

    name: str
    title: str
    source: str
    names: Mapping[str, str]
    conventions: tuple[Convention, ...]
    whole_list: frozenset[str] = frozenset()
    rewrites: tuple[tuple[str, str], ...] = ()

    @property
    def dialect(self) -> Dialect:
        """How it spells measures."""
        names = {normal(there): here for here, there in self.names.items() if there.replace("-", "_").isidentifier()}
        return Dialect(names, self.whole_list, self.rewrites)

    def of(self, metric: Metric) -> tuple[Convention, ...]:
        """The conventions that concern a metric."""
        return tuple(convention for convention in self.conventions if convention.concerns(metric))

    def is_chance(self, metric: Metric) -> bool:
        """Whether it leaves the order of tied documents to chance where this metric is computed."""
        return any(convention.is_arbitrary for convention in self.of(metric))

    def parse(self, word: str) -> tuple[Metric, ...]:
        """The metrics that a word names, as the system computes them.

        Raises UsageError for a measure that it does not have.
        """
        return tuple(self.metric(metric) for metric in parse(word, self.dialect))

    def metric(self, metric: Metric) -> Metric:
        """The metric as the system computes it; what the user gave stays.

        Raises UsageError for a measure that it does not have.
        """
        if metric.measure.name not in self.names:
            known = ", ".join(dict.fromkeys(self.names.values()))
            raise UsageError(f"{self.name} has no `{metric.written}`", hint=f"--preset {self.name} knows {known}")
        return with_conventions(metric, self.of(metric))

    def general_rules(self, rules: Rules, given: frozenset[str]) -> Rules:
        """The rules that hold for the whole run; those whose names are given stay."""
        return with_rules(rules, [each for each in self.conventions if each.is_general], given)

    def rules_for(self, metric: Metric, rules: Rules, given: frozenset[str]) -> Rules:
        """The rules for one metric; those whose names are given stay."""
        return with_rules(rules, self.of(metric), given)


def with_rules(rules: Rules, conventions: Any, given: frozenset[str]) -> Rules:
    """The rules with those of the conventions; those whose names are given stay."""
    changed = {name: value for each in conventions for name, value in each.rules.items() if name not in given}
    return replace(rules, **changed) if changed else rules


def with_conventions(metric: Metric, conventions: tuple[Convention, ...]) -> Metric:
    """The metric with the parameters and the record of the conventions; parameters that its word gives stay."""
    changed = {
        name: value
        for each in conventions
        for name, value in each.params.items()
        if name not in metric.given and name in metric.params
    }
    fields = {name: value for each in conventions for name, value in each.fields.items()}
    if not changed and not fields:
        return metric
    params = {**metric.params, **changed}
    base = NAMES[metric.measure.name]
    measure = base.variant(params, metric.level) or base
    measure = replace(measure, **fields) if fields else measure
    canonical = canonical_name(measure, params, metric.cutoff, metric.level, metric.judged_only)
    return replace(metric, measure=measure, params=params, canonical=canonical)
