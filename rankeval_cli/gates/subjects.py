"""The left side of a comparison: a measure, a statistic of its values or of its differences, a share, a fact."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankeval_cli.errors import UsageError, did_you_mean
from rankeval_cli.gates.expressions import DIFF_STATS, FACTS, STATS, Difference, Fact, Share, Subject, Value
from rankeval_cli.gates.scanning import EXAMPLE, call, comparison, is_compared, number_of
from rankeval_cli.model import MACRO

if TYPE_CHECKING:
    from rankeval_cli.measures.spec import Metric

Reader = Callable[[str], "tuple[Metric, ...]"]  # what a word for measures means
GROUPED = re.compile(r"(.*?)\s*\[([^\[\]]*)\]", re.DOTALL)


def read_plainly(word: str) -> tuple[Metric, ...]:
    """The metrics that a word names where no preset is chosen."""
    from rankeval_cli.measures.expression import parse

    return parse(word)


@dataclass(frozen=True)
class Target:
    """A measure, and the group of queries that it is about: `hit@1[golden]`."""

    metric: Metric
    group: str | None = None


def subject_of(text: str, read: Reader) -> Subject:
    """What a text before a comparison is about. Raises UsageError for what is no subject."""
    name = text.lower().replace("-", "_")
    for fact in FACTS:
        if name == fact:
            return Fact(fact)
    function, inside = call(text)
    if function == "share":
        return _share(inside, read)
    if function == "diff":
        target = mean_target(inside, read, "diff")
        return Difference(target.metric, None, target.group)
    inner, differing = call(inside)
    if inner == "diff" and function in (*STATS, *DIFF_STATS):
        return _of_differences(function, differing, read)
    for stat in STATS:
        if function == stat:
            target = _target_in(stat, inside, read)
            return Value(target.metric, stat, target.group)
    target = target_of(text, read)
    return Value(target.metric, None, target.group)


def _of_differences(function: str, inside: str, read: Reader) -> Difference:
    for stat in DIFF_STATS:
        if function == stat:
            target = mean_target(inside, read, "diff")
            return Difference(target.metric, stat, target.group)
    hint = f"`diff({inside})` is the mean; the others are {', '.join(DIFF_STATS)}"
    raise UsageError(f"there is no `{function}` of differences", hint=hint)


def _share(inside: str, read: Reader) -> Share:
    if not is_compared(inside):
        hint = f"write the share of queries as in 'share({EXAMPLE}) >= 80%'"
        raise UsageError(f"`share({inside})` holds no comparison", hint=hint)
    left, op, right = comparison(inside)
    if call(left)[0] == "diff":
        raise UsageError("`share` takes a measure, not a difference", hint=f"write 'min({left}) >= -0.1'")
    target = _target_in("share", left, read)
    return Share(target.metric, op, number_of(right)[0], target.group)


def _target_in(function: str, inside: str, read: Reader) -> Target:
    if is_compared(inside):
        hint = f"write 'share({inside}) >= 80%' for the share of queries"
        raise UsageError(f"`{function}` takes a measure, not a comparison", hint=hint)
    target = target_of(inside, read)
    if target.group == MACRO:
        what = f"`{target.metric.written}[{MACRO}]` is one number, the mean of the groups' means"
        raise UsageError(f"{what}, which has no `{function}`", hint=f"write '{inside} >= 0.35', or name one group")
    return target


def mean_target(text: str, read: Reader, function: str) -> Target:
    """The one measure that a text names, inside of what compares means: no geometric one."""
    target = _target_in(function, text, read)
    written = target.metric.written
    if target.metric.measure.aggregate == "geometric":
        what = f"`{function}` is about means of differences, and `{written}` is a geometric mean"
        raise UsageError(what, hint=f"write '{text} >= baseline - 2%'")
    return target


def target_of(text: str, read: Reader) -> Target:
    """The one measure that a text names, perhaps with a group behind it in brackets."""
    grouped = GROUPED.fullmatch(text)
    if grouped is None:
        return Target(_metric(text, read))
    measure, group = grouped.group(1), grouped.group(2).strip()
    if not group:
        raise UsageError("no group stands between the brackets", hint=f"write '{measure}[NAME]', or '{measure}'")
    return Target(_metric(measure, read), group)


def _metric(text: str, read: Reader) -> Metric:
    try:
        metrics = read(text)
    except UsageError as error:
        raise UsageError(error.what, hint=_gate_hint(text) or error.hint) from None
    if len(metrics) > 1:
        listed = " and ".join(f"`{metric.written}`" for metric in metrics[:3])
        raise UsageError(f"`{text}` names {len(metrics)} measures", hint=f"write one gate each: {listed}")
    return metrics[0]


def _gate_hint(text: str) -> str | None:
    """A hint for what was meant as a fact or as a statistic of a measure, but is neither."""
    from rankeval_cli.measures.expression import is_measure, names_measure

    function, inside = call(text)
    if function and not names_measure(text) and is_measure(inside):
        near = did_you_mean(function, (*STATS, "share", "diff"))
        return near or f"the statistics are {', '.join(STATS)}, diff and share"
    return did_you_mean(text, FACTS)
