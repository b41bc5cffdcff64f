"""Deciding comparisons on the results of one run, and the exit code of all verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from rankeval_cli.errors import ExitCode
from rankeval_cli.gates.expressions import Amount, Difference, Fact, Gate, Op, Share, Subject, Value
from rankeval_cli.gates.sides import NO_BASELINE_VALUE, UNDEFINED_QUERY, Sides, is_undefined, paired, place_of, unpaired
from rankeval_cli.groups import has_mean, macro_mean
from rankeval_cli.inference import aggregate, interval
from rankeval_cli.inference.differences import Procedure, sample_of
from rankeval_cli.inference.intervals import NO_VALUE
from rankeval_cli.inference.paired import compare
from rankeval_cli.inference.statistic import defined, reduce_values, weights_of_defined
from rankeval_cli.model import MACRO, Rules, RunReport, Verdict

if TYPE_CHECKING:
    from rankeval_cli.measures.spec import Metric

TOLERANCE = 1e-9  # times max(1, |bound|): (0 + 0.3 + 0.3) / 3 must reach 0.2
NO_PAIR = "no query has a value in both"


@dataclass(frozen=True)
class _Found:
    """What the subject of a gate comes to: its value, or the reason why it has none."""

    value: float | None
    queries: int
    reason: str | None = None


def decide(gate: Gate, sides: Sides) -> Verdict:
    """Whether a comparison holds for one run.

    Values are compared unrounded, with a tolerance of 1e-9 * max(1, |bound|), which `>` and `<` must exceed. A subject
    without a value fails, with the reason, and so does a bound that the baseline has no value for. The ends of an
    interval are those of the results; under `--ci none` they are those of `--ci auto`.
    """
    if gate.group is not None and gate.group != MACRO:
        sides = sides.within(gate.group)
    bound, missing = _bound(gate, sides)
    found = _find(gate.subject, gate.is_percent, sides)
    reason = found.reason or missing
    verdict = Verdict(
        gate.text, sides.run.name, False, None, bound, None, found.queries, gate.warn, reason, _unit(gate)
    )
    if found.value is None or bound is None:
        return replace(verdict, value=found.value)
    passed = holds(found.value, gate.op, bound)
    reason = None if passed else _out_of_reach(gate, bound)
    distance = distance_of(found.value, gate.op, bound)
    return replace(verdict, passed=passed, value=found.value, distance=distance, reason=reason)


def _unit(gate: Gate) -> Literal["number", "percent", "count"]:
    if gate.is_percent:
        return "percent"
    return "count" if isinstance(gate.subject, Fact) else "number"


def exit_code(verdicts: Iterable[Verdict]) -> ExitCode:
    """1 when a gate failed that does not only warn, else 0."""
    failed = any(not verdict.passed and not verdict.warn for verdict in verdicts)
    return ExitCode.GATE if failed else ExitCode.OK


def holds(value: float, op: Op, bound: float) -> bool:
    """Whether `value op bound` holds, give or take the tolerance."""
    slack = TOLERANCE * max(1.0, abs(bound))
    if op == "==":
        return abs(value - bound) <= slack
    above = distance_of(value, op, bound)
    return above > slack if op in (">", "<") else above >= -slack


def distance_of(value: float, op: Op, bound: float) -> float:
    """How far the value lies on the passing side; for `==` never above 0."""
    if op == "==":
        return 0.0 - abs(value - bound)
    return value - bound if op in (">=", ">") else bound - value


def _bound(gate: Gate, sides: Sides) -> tuple[float | None, str | None]:
    """The bound as a number, or why there is none.

    Of the baseline it is what the subject comes to there; where that is an end of an interval, the measure's value: to
    compare two ends is no test of anything.
    """
    if not isinstance(gate.bound, Amount):
        return gate.bound, None
    assert sides.baseline is not None
    subject = gate.subject
    if isinstance(subject, Value) and subject.stat in ("ci_low", "ci_high"):
        subject = Value(subject.metric)
    base = _find(subject, False, replace(sides, run=sides.baseline))
    if base.value is None:
        return None, f"{NO_BASELINE_VALUE}: {base.reason}"
    return base.value + gate.bound.of(base.value), None


def _find(subject: Subject, is_percent: bool, sides: Sides) -> _Found:
    if isinstance(subject, Fact):
        return _fact(subject, is_percent, sides.run)
    if isinstance(subject, Difference):
        return _difference(subject, sides)
    if isinstance(subject, Value) and subject.group == MACRO:
        return _macro(subject, sides)
    scores = sides.run.scores
    place = place_of(subject.metric, scores)
    values, weights = scores.values[place], scores.weights_of(place)
    left = defined(values, weights)
    if not len(left):
        return _Found(None, 0, NO_VALUE)
    if is_undefined(scores, place):
        return _Found(None, len(left), UNDEFINED_QUERY)
    if isinstance(subject, Share):
        number = sum(holds(value, subject.op, subject.bound) for value in left.tolist())
        return _Found(number / len(left), len(left))
    if subject.stat == "ci_low" or subject.stat == "ci_high":  # mypy narrows this form only
        return _end(subject, place, sides)
    if subject.stat is None:
        value = aggregate(values, subject.metric, sides.rules, scores.propagate[place], weights)
    else:
        value = reduce_values(left, subject.stat, weights_of_defined(values, weights))
    return _found(value, len(left))


def _macro(subject: Value, sides: Sides) -> _Found:
    """The mean of the groups' values."""
    assert sides.groups is not None
    place = place_of(subject.metric, sides.run.scores)
    parts = [sides.within(group) for group in sides.groups.members]
    means = [_find(Value(subject.metric), False, part) for part in parts if has_mean(part.run.scores, place)]
    queries, value = sum(mean.queries for mean in means), macro_mean([mean.value for mean in means])
    reason = next((mean.reason for mean in means if mean.value is None), NO_VALUE)
    return _Found(None, queries, reason) if value is None else _found(value, queries)


def _found(value: float, queries: int) -> _Found:
    return _Found(value, queries) if math.isfinite(value) else _Found(None, queries, "the values are too large")


def _fact(fact: Fact, is_percent: bool, run: RunReport) -> _Found:
    """A count of queries; `queries` are those that are scored, `undefined` is the largest count of any measure."""
    scores, coverage = run.scores, run.coverage
    counts = {
        "queries": len(scores.queries),
        "missing_queries": coverage.missing,
        "unjudged_queries": coverage.unjudged,
        "undefined": max(scores.undefined, default=0),
    }
    count, judged = float(counts[fact.name]), coverage.judged
    if not scores.queries and fact.name == "undefined":
        return _Found(None, judged, "no query is scored")
    if is_percent:
        return _Found(count / judged, judged) if judged else _Found(None, judged, "no query is judged")
    return _Found(count, judged)


def _difference(subject: Difference, sides: Sides) -> _Found:
    """Of the queries that have a value in both runs: run - baseline."""
    a, b, weights = paired(subject.metric, sides)
    sample = sample_of(a, b, weights)
    queries = len(sample.values)
    reason = unpaired(subject.metric, sides) or (None if queries else NO_PAIR)
    if reason:
        return _Found(None, queries, reason)
    if subject.stat is None:
        return _found(sample.mean, queries)
    if subject.stat in ("min", "max"):
        return _found(reduce_values(sample.values, subject.stat), queries)
    heavy = None if weights is None else weights[None, :]
    procedure = Procedure(confidence=sides.rules.confidence)
    (result,) = compare(a[None, :], b[None, :], procedure, [subject.metric.measure.bounds], heavy)
    end = result.ci_low if subject.stat == "ci_low" else result.ci_high
    return _Found(end, queries, None if end is not None else f"no interval: {result.ci_note}")


def _end(subject: Value, place: int, sides: Sides) -> _Found:
    """The low or high end of the measure's interval."""
    scores = sides.run.scores
    queries = len(defined(scores.values[place], scores.weights_of(place)))
    low, high, note = _limits(subject.metric, place, sides.run, sides.rules)
    end = low if subject.stat == "ci_low" else high
    return _Found(end, queries, None if end is not None else f"no interval: {note}")


def _limits(metric: Metric, place: int, run: RunReport, rules: Rules) -> tuple[float | None, float | None, str | None]:
    """The interval of the results, or the one of `auto` where none was asked for; and the reason if there is none."""
    for result in run.results:
        if result.canonical == metric.canonical and rules.ci != "none":
            return result.ci_low, result.ci_high, result.ci_note
    asked = replace(rules, ci="auto") if rules.ci == "none" else rules
    limits = interval(run.scores.values[place], metric, asked, weights=run.scores.weights_of(place))
    return limits.low, limits.high, limits.note


def _out_of_reach(gate: Gate, bound: float) -> str | None:
    """What to know about a bound that no run can reach (`mrr@10 >= 35` for `35%`); None for any other."""
    subject = gate.subject
    if isinstance(subject, Fact):
        return None
    lowest, highest = (0.0, 1.0) if isinstance(subject, Share) else subject.metric.measure.bounds
    if isinstance(subject, Share):
        name = "a share"
    elif isinstance(subject, Difference):
        name, lowest, highest = f"a difference of {subject.metric.written}", lowest - highest, highest - lowest
    elif subject.metric.measure.aggregate == "sum" and subject.stat is None:
        return None
    else:
        name = subject.metric.written
    if not holds(highest, gate.op, bound) and bound > highest:
        return f"{name} is never above {highest:g}"
    if not holds(lowest, gate.op, bound) and bound < lowest:
        return f"{name} is never below {lowest:g}"
    return None
