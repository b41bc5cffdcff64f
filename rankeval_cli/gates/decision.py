"""Deciding a gate on the results of one run, and the exit code of all verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from rankeval_cli.errors import ExitCode
from rankeval_cli.gates.grammar import Fact, Gate, Op, Share, Value
from rankeval_cli.inference import aggregate, interval
from rankeval_cli.inference.statistic import defined, num_counted, reduce_values, weights_of_defined
from rankeval_cli.model import Coverage, Result, Rules, Scores, Verdict

if TYPE_CHECKING:
    from rankeval_cli.measures.spec import Metric

TOLERANCE = 1e-9  # times max(1, |bound|): (0 + 0.3 + 0.3) / 3 must reach 0.2


@dataclass(frozen=True)
class _Found:
    """What the subject of a gate comes to: its value, or the reason why it has none."""

    value: float | None
    queries: int
    reason: str | None = None


def decide(
    gate: Gate, run: str, results: Sequence[Result], scores: Scores, coverage: Coverage, rules: Rules
) -> Verdict:
    """Whether the gate holds for one run.

    results, scores : of that run; the gate's metrics are found in `scores` by their canonical names
    Values are compared unrounded, with a tolerance of 1e-9 * max(1, |bound|), which `>` and `<` must exceed. A subject
    without a value fails, with the reason. The ends of an interval are those of the results; under `--ci none` they
    are those of `--ci auto`.
    """
    found = _find(gate, results, scores, coverage, rules)
    verdict = Verdict(
        gate.text, run, False, None, gate.bound, None, found.queries, gate.warn, found.reason, _unit(gate)
    )
    if found.value is None:
        return verdict
    passed = holds(found.value, gate.op, gate.bound)
    reason = None if passed else _out_of_reach(gate)
    distance = _distance(found.value, gate.op, gate.bound)
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
    above = _distance(value, op, bound)
    return above > slack if op in (">", "<") else above >= -slack


def _distance(value: float, op: Op, bound: float) -> float:
    """How far the value lies on the passing side; for `==` never above 0."""
    if op == "==":
        return 0.0 - abs(value - bound)
    return value - bound if op in (">=", ">") else bound - value


def _find(gate: Gate, results: Sequence[Result], scores: Scores, coverage: Coverage, rules: Rules) -> _Found:
    subject = gate.subject
    if isinstance(subject, Fact):
        return _fact(gate, subject, scores, coverage)
    place = [metric.canonical for metric in scores.metrics].index(subject.metric.canonical)
    values, weights = scores.values[place], scores.weights_of(place)
    left = defined(values, weights)
    if not len(left):
        return _Found(None, 0, "no query has a value")
    if scores.propagate[place] and len(left) < num_counted(weights, len(values)):
        return _Found(None, len(left), "the value of a query is undefined")
    if isinstance(subject, Share):
        number = sum(holds(value, subject.op, subject.bound) for value in left.tolist())
        return _Found(number / len(left), len(left))
    if subject.stat == "ci_low" or subject.stat == "ci_high":  # mypy narrows this form only
        return _end(subject, place, results, scores, rules)
    if subject.stat is None:
        value = aggregate(values, subject.metric, rules, scores.propagate[place], weights)
    else:
        value = reduce_values(left, subject.stat, weights_of_defined(values, weights))
    return _Found(value, len(left)) if math.isfinite(value) else _Found(None, len(left), "the values are too large")


def _fact(gate: Gate, fact: Fact, scores: Scores, coverage: Coverage) -> _Found:
    """A count of queries; `queries` are those that are scored, `undefined` is the largest count of any measure."""
    counts = {
        "queries": len(scores.queries),
        "missing_queries": coverage.missing,
        "unjudged_queries": coverage.unjudged,
        "undefined": max(scores.undefined, default=0),
    }
    count, judged = float(counts[fact.name]), coverage.judged
    if not scores.queries and fact.name == "undefined":
        return _Found(None, judged, "no query is scored")
    if gate.is_percent:
        return _Found(count / judged, judged) if judged else _Found(None, judged, "no query is judged")
    return _Found(count, judged)


def _end(subject: Value, place: int, results: Sequence[Result], scores: Scores, rules: Rules) -> _Found:
    """The low or high end of the measure's interval."""
    queries = len(defined(scores.values[place], scores.weights_of(place)))
    low, high, note = _limits(subject.metric, place, results, scores, rules)
    end = low if subject.stat == "ci_low" else high
    return _Found(end, queries, None if end is not None else f"no interval: {note}")


def _limits(
    metric: Metric, place: int, results: Sequence[Result], scores: Scores, rules: Rules
) -> tuple[float | None, float | None, str | None]:
    """The interval of the results, or the one of `auto` where none was asked for; and the reason if there is none."""
    for result in results:
        if result.canonical == metric.canonical and rules.ci != "none":
            return result.ci_low, result.ci_high, result.ci_note
    asked = replace(rules, ci="auto") if rules.ci == "none" else rules
    limits = interval(scores.values[place], metric, asked, weights=scores.weights_of(place))
    return limits.low, limits.high, limits.note


def _out_of_reach(gate: Gate) -> str | None:
    """What to know about a bound that no run can reach (`mrr@10 >= 35` for `35%`); None for any other."""
    subject = gate.subject
    if isinstance(subject, Fact):
        return None
    if isinstance(subject, Share):
        name, lowest, highest = "a share", 0.0, 1.0
    elif subject.metric.measure.aggregate == "sum" and subject.stat is None:
        return None
    else:
        name, (lowest, highest) = subject.metric.written, subject.metric.measure.bounds
    if not holds(highest, gate.op, gate.bound) and gate.bound > highest:
        return f"{name} is never above {highest:g}"
    if not holds(lowest, gate.op, gate.bound) and gate.bound < lowest:
        return f"{name} is never below {lowest:g}"
    return None
