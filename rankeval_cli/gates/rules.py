"""Deciding rules: what the data say of each is found run by run, and judged when all are known.

A correction for the number of tests looks at the p-values of every rule and run, so no verdict stands before the last
run has been scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rankeval_cli.errors import UsageError
from rankeval_cli.gates.decision import NO_PAIR, decide, distance_of, holds
from rankeval_cli.gates.expressions import AnyGate, Gate, Rule
from rankeval_cli.gates.sides import Sides, paired, unpaired
from rankeval_cli.groups import Groups, check_group
from rankeval_cli.inference.differences import INFINITE, Sample, obstacle, sample_of
from rankeval_cli.inference.families import adjust, find_correction
from rankeval_cli.inference.margins import drop_p, least_p, lower_bound, noticeable_drop
from rankeval_cli.model import Significance, Verdict

POWER = 0.8


@dataclass(frozen=True)
class Finding:
    """What the data say of one rule for one run.

    gains : differences from the baseline, of which the positive ones are better
    unit : 1 where more is better, -1 where less is: a gain times it is a difference run - baseline
    margin : in the measure's unit, 0 or more
    p_value : of the test that the rule asks for, None where there is none
    reason : why it cannot be evaluated at all, None mostly
    """

    rule: Rule
    run: str
    gains: Sample
    unit: float
    margin: float = 0.0
    p_value: float | None = None
    reason: str | None = None

    @property
    def limit(self) -> float:
        """The gain that the rule compares with."""
        return self.rule.kind.sign * self.margin + 0.0


def check_gates(
    gates: Iterable[AnyGate], has_baseline: bool, significance: Significance, has_groups: bool = False
) -> None:
    """Raise UsageError for a correction that there is not, and naming a gate that needs a baseline, or groups, where
    there are none.
    """
    find_correction(significance.correction)
    for gate in gates:
        if gate.needs_baseline and not has_baseline:
            hint = "add --baseline FILE: a run, or a report written with `-o base.json -q`"
            raise UsageError("it compares with a baseline, and there is none", f"gate `{gate.text}`", hint)
        if gate.group is not None and not has_groups:
            hint = "add --groups FILE: a query and its group on each line; or the name of a column"
            raise UsageError(f"`[{gate.group}]` is a group of queries, and there is none", f"gate `{gate.text}`", hint)


def check_groups(gates: Iterable[AnyGate], groups: Groups) -> None:
    """Raise UsageError naming a gate about a group that there is not."""
    for gate in gates:
        if gate.group is not None:
            check_group(gate.group, groups, f"gate `{gate.text}`")


def decide_all(gates: Sequence[AnyGate], every: Sequence[Sides], significance: Significance) -> tuple[Verdict, ...]:
    """The verdicts on all gates for all runs, run by run in the order of the gates."""
    found = [
        decide(gate, sides) if isinstance(gate, Gate) else examine(gate, sides) for sides in every for gate in gates
    ]
    findings = [entry for entry in found if isinstance(entry, Finding)]
    judged = iter(_judged(findings, significance))
    return tuple(next(judged) if isinstance(entry, Finding) else entry for entry in found)


def examine(rule: Rule, sides: Sides) -> Finding:
    """What the data say of a rule; over the queries that have a value in both runs.

    A margin that is a share is one of the baseline's mean over these queries.
    """
    if rule.group is not None:
        sides = sides.within(rule.group)
    a, b, weights = paired(rule.metric, sides)
    is_higher = rule.metric.measure.direction == "higher"
    unit = 1.0 if is_higher else -1.0
    gains = sample_of(a, b, weights) if is_higher else sample_of(b, a, weights)
    finding = Finding(rule, sides.run.name, gains, unit)
    reason = unpaired(rule.metric, sides) or (None if gains.values else NO_PAIR)
    if reason or obstacle(gains) == INFINITE:
        return replace(finding, reason=reason or INFINITE)
    margin = rule.margin.of(gains.mean_a if is_higher else gains.mean_b)
    finding = replace(finding, margin=margin)
    return replace(
        finding, p_value=_p_value(finding, sample_of(b, a, weights) if is_higher else sample_of(a, b, weights))
    )


def _p_value(finding: Finding, drops: Sample) -> float | None:
    """The p-value of the drop being at most the margin, or, for what must be shown, of the gain being at most `limit`.

    drops : the gains with the other sign
    """
    if not finding.rule.kind.is_shown:
        return drop_p(finding.gains, finding.margin).value
    if finding.gains.differing == 0:  # certain on one side of the limit or the other, and no test
        return None
    return drop_p(drops, finding.limit).value


def _judged(findings: Sequence[Finding], significance: Significance) -> list[Verdict]:
    adjusted = adjust([finding.p_value for finding in findings], significance.correction)
    return [judge(finding, p_value, significance.alpha) for finding, p_value in zip(findings, adjusted, strict=True)]


def judge(finding: Finding, p_value: float | None, alpha: float) -> Verdict:
    """The verdict on one finding.

    p_value : corrected for the number of tests
    The level at which a lower bound and the noticeable drop stand is the one that the correction leaves this test:
    alpha times raw over corrected p-value, so that bound and p-value always agree.
    """
    rule, gains, unit = finding.rule, finding.gains, finding.unit
    verdict = Verdict(
        rule.text, finding.run, False, None, None, None, len(gains.values), rule.warn, finding.reason, alpha=alpha
    )
    if finding.reason is not None:
        return verdict
    level = alpha
    if p_value is not None and finding.p_value is not None and 0.0 < finding.p_value < p_value:
        level = alpha * (finding.p_value / p_value)
    drop = noticeable_drop(gains, level, POWER).value
    verdict = replace(
        verdict,
        value=unit * gains.mean + 0.0,
        bound=unit * finding.limit + 0.0,
        p_value=p_value,
        noticeable=drop,
    )
    return _shown(verdict, finding, level) if rule.kind.is_shown else _not_refuted(verdict, finding, level)


def _not_refuted(verdict: Verdict, finding: Finding, level: float) -> Verdict:
    """For a rule that fails on evidence against it."""
    gains, p_value = finding.gains, verdict.p_value
    verdict = replace(verdict, distance=distance_of(gains.mean, ">=", finding.limit))
    if holds(gains.mean, ">=", finding.limit):
        return replace(verdict, passed=True)
    if p_value is not None and verdict.alpha is not None and p_value <= verdict.alpha:
        return verdict
    least = least_p(gains)
    if p_value is None or least.value is None or least.value > level:
        reason = least.note or f"{gains.differing:,} of {len(gains.values):,} queries differ, too few for a verdict"
        return replace(verdict, reason=f"inconclusive: {reason}")
    return replace(verdict, passed=True, reason="the drop may be chance")


def _shown(verdict: Verdict, finding: Finding, level: float) -> Verdict:
    """For a rule that passes on evidence for it."""
    certain = lower_bound(finding.gains, level)
    if certain.value is None:
        return replace(verdict, reason=f"inconclusive: {certain.note}")
    verdict = replace(
        verdict,
        limit=finding.unit * certain.value + 0.0,
        distance=distance_of(certain.value, ">", finding.limit),
        passed=holds(certain.value, ">", finding.limit),
    )
    if not verdict.passed and holds(finding.gains.mean, ">", finding.limit):
        few = f"{verdict.queries:,} queries are too few to be certain"
        return replace(verdict, reason=f"inconclusive: the mean lies beyond the bound, and {few}")
    return verdict
