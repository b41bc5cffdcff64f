"""What trec_eval prints for a metric, and which metrics stand behind a name that trec_eval knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rankeval_cli.errors import UsageError
from rankeval_cli.measures.expression import canonical_name
from rankeval_cli.measures.registry import MEASURES
from rankeval_cli.measures.spec import Measure, Metric, Param, TrecEval
from rankeval_cli.measures.values import write_value

Pairs = Mapping[str | float, float]


class Printed(NamedTuple):
    """One line of trec_eval: `name` is the output name, also what the metric says it was written as."""

    name: str
    entry: TrecEval
    metric: Metric


def known_names(measures: Iterable[Measure] = MEASURES) -> list[tuple[TrecEval, Measure]]:
    """Every name of trec_eval that these measures declare, in the order printed.

    The registry does not hold its preference measures (`preferences.MEASURES`), and nobody its `runid` and `relstring`.
    """
    entries = [(entry, measure) for measure in measures for entry in measure.trec_eval]
    return sorted(entries, key=lambda found: found[0].order)


def lines_of(
    measure: Measure, entry: TrecEval, numbers: Sequence[float] = (), pairs: Pairs | None = None, text: str = ""
) -> tuple[Printed, ...]:
    """The lines of one name of trec_eval, in the order in which its values are given.

    numbers : the list behind the name where it takes numbers: cutoffs, recall levels, weights; () for the bare name
    pairs : the list where it takes pairs, by grade or name of a parameter; values are not checked against their range
    text : the list as the user wrote it, which names that are not split by value print
    Raises UsageError when the name takes another count of numbers, or no parameter of that name.
    """
    if entry.takes in ("cutoffs", "points"):
        return tuple(_one_of_several(measure, entry, number) for number in numbers or entry.defaults)
    params = {**_filled(measure, numbers), **_paired(measure, entry, pairs or {})}
    name = f"{entry.stem}_{text}" if params else entry.stem
    return (_line(measure, entry, name, params, None),)


def output_name(metric: Metric) -> str | None:
    """What trec_eval prints for a metric (`P_5`, `ndcg_cut_10`, `recip_rank`); None where it has nothing like it.

    It has no level for one measure alone, and no cutoff on most measures: `mrr@10` has no name there.
    """
    if metric.level is not None or metric.judged_only:
        return None
    entries = (entry for entry in metric.measure.trec_eval if not entry.by_group)
    endings = ((entry.stem, _ending(entry, metric)) for entry in entries)
    return next((stem + ending for stem, ending in endings if ending is not None), None)


def _one_of_several(measure: Measure, entry: TrecEval, number: float) -> Printed:
    if measure.at:
        return _line(measure, entry, f"{entry.stem}_{number:3.2f}", {measure.at.name: number}, None)
    return _line(measure, entry, f"{entry.stem}_{int(number)}", {}, int(number))


def _line(measure: Measure, entry: TrecEval, name: str, given: Mapping[str, Any], cutoff: int | None) -> Printed:
    params = {param.name: param.default for param in measure.params} | {**entry.params, **given}
    record = measure.variant(params, None) or measure
    canonical = canonical_name(record, params, cutoff, None, judged_only=False)
    return Printed(name, entry, Metric(record, name, canonical, params, cutoff))


def _filled(measure: Measure, numbers: Sequence[float]) -> dict[str, Any]:
    """A list of numbers as parameters: one that takes a list, else those that are numbers, in declared order."""
    if not numbers:
        return {}
    lists = [param.name for param in measure.params if param.kind == "floats"]
    if lists:
        return {lists[0]: tuple(sorted(numbers))}
    names = [param.name for param in measure.params if param.kind == "float"]
    if len(names) != len(numbers):
        raise UsageError(
            f"{measure.name} takes {len(names)} number{'s' * (len(names) != 1)}, and {len(numbers)} were given",
            hint=f"they are {', '.join(names)}, in this order",
        )
    return dict(zip(names, numbers, strict=True))


def _paired(measure: Measure, entry: TrecEval, pairs: Pairs) -> dict[str, Any]:
    names = [param.name for param in measure.params if _is_listed(entry, param)]
    unknown = [key for key in pairs if key not in names and (isinstance(key, str) or "gains" not in names)]
    if unknown:
        raise UsageError(f"{measure.name} has no parameter `{unknown[0]}`", hint=f"it has {', '.join(names)}")
    gains = {key: value for key, value in pairs.items() if not isinstance(key, str)}
    given: dict[str, Any] = {key: value for key, value in pairs.items() if isinstance(key, str)}
    return {**given, "gains": dict(sorted(gains.items()))} if gains else given


def _ending(entry: TrecEval, metric: Metric) -> str | None:
    """What follows the stem; None when the entry does not mean this metric."""
    params = [param for param in metric.measure.params if not param.is_at]
    changed = [p for p in params if metric.params.get(p.name, p.default) != entry.params.get(p.name, p.default)]
    if entry.takes in ("numbers", "pairs"):
        return _list_ending(entry, metric, changed) if metric.cutoff is None else None
    at = metric.measure.at
    if changed or (entry.takes == "cutoffs") != (metric.cutoff is not None):
        return None
    return f"_{metric.params[at.name]:3.2f}" if at else "" if metric.cutoff is None else f"_{metric.cutoff}"


def _list_ending(entry: TrecEval, metric: Metric, changed: Sequence[Param]) -> str | None:
    """`_1=3.5,2=9`, as it was written where it was written so."""
    if not changed:
        return ""
    if not all(_is_listed(entry, param) for param in changed):
        return None
    size = len(entry.stem)
    stem, separator, rest = metric.written[:size], metric.written[size : size + 1], metric.written[size + 1 :]
    is_a_list = stem.lower() == entry.stem.lower() and separator in (".", "_") and rest
    if is_a_list and "(" not in rest and ("=" in rest or entry.takes == "numbers"):
        return f"_{rest}"
    shown = changed if entry.takes == "pairs" else [p for p in metric.measure.params if _is_listed(entry, p)]
    return "_" + ",".join(_item(param, metric.params[param.name], entry) for param in shown)


def _is_listed(entry: TrecEval, param: Param) -> bool:
    """Whether a list can set a parameter: pairs set gains, and what trec_eval has a value of its own for."""
    if entry.takes == "pairs":
        return param.kind == "gains" or (param.kind == "float" and param.name in entry.params)
    return param.kind in ("float", "floats")


def _item(param: Param, value: Any, entry: TrecEval) -> str:
    if param.kind == "gains":
        return ",".join(f"{write_value(grade)}={write_value(gain)}" for grade, gain in value.items())
    numbers = ",".join(map(write_value, value if isinstance(value, tuple) else (value,)))
    return f"{param.name}={numbers}" if entry.takes == "pairs" else numbers
