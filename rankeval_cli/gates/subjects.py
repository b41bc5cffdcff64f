"""The left side of a comparison: a measure, a statistic of its values or of its differences, a share, a fact."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rankeval_cli.errors import UsageError, did_you_mean
from rankeval_cli.gates.expressions import DIFF_STATS, FACTS, STATS, Difference, Fact, Share, Subject, Value
from rankeval_cli.gates.scanning import EXAMPLE, call, comparison, is_compared, number_of

if TYPE_CHECKING:
    from rankeval_cli.measures.spec import Metric

Reader = Callable[[str], "tuple[Metric, ...]"]  # what a word for measures means


def read_plainly(word: str) -> tuple[Metric, ...]:
    """The metrics that a word names where no preset is chosen."""
    from rankeval_cli.measures.expression import parse

    return parse(word)


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
        return Difference(mean_metric(inside, read, "diff"))
    inner, differing = call(inside)
    if inner == "diff" and function in (*STATS, *DIFF_STATS):
        return _of_differences(function, differing, read)
    for stat in STATS:
        if function == stat:
            return Value(_metric_in(stat, inside, read), stat)
    return Value(metric_of(text, read))


def _of_differences(function: str, inside: str, read: Reader) -> Difference:
    for stat in DIFF_STATS:
        if function == stat:
            return Difference(mean_metric(inside, read, "diff"), stat)
    hint = f"`diff({inside})` is the mean; the others are {', '.join(DIFF_STATS)}"
    raise UsageError(f"there is no `{function}` of differences", hint=hint)


def _share(inside: str, read: Reader) -> Share:
    if not is_compared(inside):
        hint = f"write the share of queries as in 'share({EXAMPLE}) >= 80%'"
        raise UsageError(f"`share({inside})` holds no comparison", hint=hint)
    left, op, right = comparison(inside)
    if call(left)[0] == "diff":
        raise UsageError("`share` takes a measure, not a difference", hint=f"write 'min({left}) >= -0.1'")
    return Share(metric_of(left, read), op, number_of(right)[0])


def _metric_in(function: str, inside: str, read: Reader) -> Metric:
    if is_compared(inside):
        hint = f"write 'share({inside}) >= 80%' for the share of queries"
        raise UsageError(f"`{function}` takes a measure, not a comparison", hint=hint)
    return metric_of(inside, read)


def mean_metric(text: str, read: Reader, function: str) -> Metric:
    """The one metric that a text names, inside of what compares means: no geometric one."""
    metric = _metric_in(function, text, read)
    if metric.measure.aggregate == "geometric":
        what = f"`{function}` is about means of differences, and `{metric.written}` is a geometric mean"
        raise UsageError(what, hint=f"write '{metric.written} >= baseline - 2%'")
    return metric


def metric_of(text: str, read: Reader) -> Metric:
    """The one metric that a text names."""
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
