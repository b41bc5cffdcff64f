"""Rules against a baseline: what they test, where they are red, and what the verdict says of it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankeval_cli.errors import UsageError
from rankeval_cli.gates import Sides, check_gates, decide_all, parse_gate
from rankeval_cli.inference.differences import sample_of
from rankeval_cli.inference.margins import noticeable_drop
from rankeval_cli.measures.expression import parse
from rankeval_cli.model import Coverage, Rules, RunReport, Scores, Significance, Source, Verdict
from rankeval_cli.report.summary import verdict_details, verdict_line

COVERAGE = Coverage(4, 4, 0, 0, 0, 10, 1.0, 0, 0, 0)
NAN = math.nan


def run_of(
    values: Any, name: str = "run", measure: str = "mrr@10", weights: Any = None, queries: list[str] | None = None
) -> RunReport:
    row = np.array(values, dtype=np.float64).reshape(1, -1)
    ids = queries or [f"q{place:04}" for place in range(row.shape[1])]
    heavy = None if weights is None else np.array(weights, dtype=np.float64)
    scores = Scores(ids, parse(measure), row, (0,), (False,), heavy)
    return RunReport(Source(name, name, "trec", 1), COVERAGE, (), scores)


def verdict_of(
    rule: str, before: Any, after: Any, measure: str = "mrr@10", alpha: float = 0.05, weights: Any = None
) -> Verdict:
    base, run = run_of(before, "base", measure, weights), run_of(after, "run", measure, weights)
    (verdict,) = decide_all([parse_gate(rule)], [Sides(run, Rules(), base)], Significance(alpha))
    return verdict


DRAWN = np.random.default_rng(5)
BEFORE = DRAWN.uniform(0.2, 0.8, size=60)
AFTER = np.clip(BEFORE - 0.03 + DRAWN.normal(0, 0.1, size=60), 0, 1)


@pytest.mark.parametrize("margin", [0.0, 0.01, 0.2])
@pytest.mark.parametrize("measure", ["mrr@10", "first_rank"])
def test_p_values_are_those_of_scipy(measure: str, margin: float) -> None:
    gains = (AFTER - BEFORE) * (1 if measure == "mrr@10" else -1)
    drop = stats.ttest_1samp(gains, -margin, alternative="less").pvalue
    rise = stats.ttest_1samp(gains, -margin, alternative="greater").pvalue
    more = stats.ttest_1samp(gains, margin, alternative="greater").pvalue
    expected = {"no-regression": drop, "non-inferior": rise, "improves": more}
    for rule, p_value in expected.items():
        found = verdict_of(f"{rule}({measure}, {margin})", BEFORE, AFTER, measure)
        assert found.p_value == pytest.approx(p_value, rel=1e-9)
        assert found.passed == (p_value > 0.05 if rule == "no-regression" else p_value < 0.05)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_limits_are_one_sided_bounds(alpha: float) -> None:
    found = verdict_of("non-inferior(mrr@10, 0.05)", BEFORE, AFTER, alpha=alpha)
    interval = stats.ttest_rel(AFTER, BEFORE).confidence_interval(1 - 2 * alpha)
    assert found.limit == pytest.approx(interval.low, rel=1e-9)
    assert (found.bound, found.value) == (-0.05, pytest.approx(float(np.mean(AFTER - BEFORE)), rel=1e-12))
    assert found.distance == found.limit + 0.05
    assert found.alpha == alpha


def test_where_less_is_better_signs_turn() -> None:
    found = verdict_of("non-inferior(first_rank, 1)", [1, 2, 3, 4, 5, 6], [1, 2, 4, 4, 6, 6], "first_rank")
    gains = [0, 0, -1, 0, -1, 0]
    low = stats.ttest_1samp(gains, 0).confidence_interval(0.9).low
    assert (found.value, found.bound) == (pytest.approx(1 / 3), 1.0)
    assert found.limit == pytest.approx(-low, rel=1e-9)
    assert found.distance == pytest.approx(low + 1.0, rel=1e-9)
    assert f"diff 0.3333, at most {-low:.4f}, bound 1.0000" in verdict_line(found)
    assert verdict_of("improves(first_rank)", [9, 8, 9, 8], [1, 2, 1, 1], "first_rank").passed


@pytest.mark.parametrize(
    ("rule", "bound"),
    [
        pytest.param("no-regression(mrr@10, 10%)", -0.05, id="of the baseline's mean"),
        pytest.param("improves(mrr@10, 10%)", 0.05, id="above it"),
        pytest.param("non-inferior(mrr@10, 0.1)", -0.1, id="a number"),
        pytest.param("no-regression(mrr@10)", 0.0, id="none"),
    ],
)
def test_margins_that_are_shares_are_of_the_mean_of_the_baseline(rule: str, bound: float) -> None:
    found = verdict_of(rule, [0.25, 0.75, 0.5, NAN], [0.5, 0.5, 0.25, 1.0])
    assert (found.bound, found.queries) == (bound, 3)
    assert math.copysign(1.0, found.bound) == (1.0 if bound >= 0 else -1.0)


# --- no-regression -----------------------------------------------------------------------------------------------


def test_a_drop_beyond_the_margin_that_may_be_chance_passes_and_says_so() -> None:
    found = verdict_of("no-regression(mrr@10)", [0.5, 0.4, 0.6, 0.3, 0.5, 0.8], [0.6, 0.1, 0.5, 0.4, 0.3, 0.9])
    assert (found.passed, found.reason) == (True, "the drop may be chance")
    assert found.distance == found.value < 0


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        pytest.param([1.0] * 50, [0.0, 0.0] + [1.0] * 48, "2 of 50 queries differ, too few for a verdict", id="two"),
        pytest.param([1.0] * 4, [0.5] * 4, "every query differs by the same amount", id="four alike"),
        pytest.param([1.0], [0.5], "one query", id="one query"),
    ],
)
def test_a_drop_that_no_test_can_judge_is_inconclusive(before: list[float], after: list[float], reason: str) -> None:
    found = verdict_of("no-regression(mrr@10)", before, after)
    assert (found.passed, found.reason) == (False, f"inconclusive: {reason}")


@pytest.mark.parametrize(
    ("before", "after", "passed"),
    [
        pytest.param([1.0] * 50, [0.0, 0.0, 0.0] + [1.0] * 47, False, id="three of fifty can be certain"),
        pytest.param([1.0] * 5, [0.5] * 5, False, id="five alike can"),
        pytest.param([1.0] * 5, [1.0] * 5, True, id="identical"),
        pytest.param([0.5], [1.0], True, id="one better query"),
        pytest.param([0.5], [0.5], True, id="one query alike"),
        pytest.param([0.5] * 4, [0.6] * 4, True, id="all better alike"),
    ],
)
def test_what_needs_no_excuse_has_no_reason(before: list[float], after: list[float], passed: bool) -> None:
    found = verdict_of("no-regression(mrr@10)", before, after)
    assert (found.passed, found.reason) == (passed, None)


def test_a_drop_within_the_margin_passes_whatever_is_certain() -> None:
    found = verdict_of("no-regression(mrr@10, 0.1)", [1.0] * 30, [0.95] * 15 + [0.9] * 15)
    assert (found.passed, found.reason) == (True, None)
    assert found.distance == pytest.approx(0.025)


# --- rules that must be shown ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "before", "after", "passed", "reason"),
    [
        pytest.param("non-inferior(mrr@10, 0.01)", [0.5] * 2, [0.5] * 2, True, None, id="identical runs"),
        pytest.param("non-inferior(mrr@10, 0)", [0.5] * 9, [0.5] * 9, False, None, id="identical, no margin"),
        pytest.param("improves(mrr@10)", [0.5] * 9, [0.5] * 9, False, None, id="identical runs improve nothing"),
        pytest.param("improves(mrr@10)", [0.5] * 5, [0.6] * 5, True, None, id="five alike"),
        pytest.param("improves(mrr@10)", [0.5] * 4, [0.6] * 4, False,
                     "inconclusive: every query differs by the same amount", id="four alike"),
        pytest.param("improves(mrr@10)", [0.5], [0.6], False, "inconclusive: one query", id="one query"),
        pytest.param("improves(mrr@10)", [0.5, 0.4, 0.6], [0.4, 0.3, 0.4], False, None, id="worse"),
        pytest.param("improves(mrr@10)", [0.5, 0.4, 0.6], [0.6, 0.3, 0.8], False,
                     "inconclusive: the mean lies beyond the bound, and 3 queries are too few to be certain",
                     id="a better mean"),
    ],
)  # fmt: skip
def test_what_must_be_shown(
    rule: str, before: list[float], after: list[float], passed: bool, reason: str | None
) -> None:
    found = verdict_of(rule, before, after)
    assert (found.passed, found.reason) == (passed, reason)


tenths = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=30)


@given(pairs=tenths, margin=st.integers(0, 5).map(lambda number: number / 10 + 0.001))
def test_rules_agree(pairs: list[tuple[int, int]], margin: float) -> None:
    before, after = ([pair[side] / 10 for pair in pairs] for side in (0, 1))
    harm, safe, gain = (
        verdict_of(f"{rule}(mrr@10, {margin})", before, after) for rule in ("no-regression", "non-inferior", "improves")
    )
    assert harm.passed or not safe.passed, "harm and safety are not both certain"
    assert safe.passed or not gain.passed, "what gains a margin does not lose it"
    assert not (gain.passed and verdict_of(f"improves(mrr@10, {margin})", after, before).passed)
    for found in (safe, gain):
        assert found.limit is None or found.passed is (found.distance > 1e-9)
        assert found.p_value is None or (found.p_value < 0.05) is found.passed or abs(found.p_value - 0.05) < 1e-6


# --- what cannot be evaluated ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["no-regression(mrr@10)", "non-inferior(mrr@10, 1%)", "improves(mrr@10)"])
@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        pytest.param([NAN, 1.0], [1.0, NAN], "no query has a value in both", id="no pair"),
        pytest.param([], [], "no query has a value in both", id="no query"),
        pytest.param([math.inf, 1.0], [1.0, 1.0], "a value is infinite", id="infinite"),
    ],
)
def test_without_pairs_there_is_no_verdict(rule: str, before: list[float], after: list[float], reason: str) -> None:
    found = verdict_of(rule, before, after)
    assert (found.passed, found.value, found.bound, found.reason) == (False, None, None, reason)
    assert found.p_value is found.limit is found.noticeable is None


@pytest.mark.parametrize("side", ["run", "base"])
def test_an_undefined_query_makes_a_rule_undefined_where_it_makes_the_mean(side: str) -> None:
    base, run = run_of([0.5, 0.5]), run_of([0.5, 0.6])
    spoilt = replace(base.scores, values=np.array([[NAN, 0.5]]), propagate=(True,))
    base = replace(base, scores=spoilt) if side == "base" else base
    run = replace(run, scores=spoilt) if side == "run" else run
    for text in ("improves(mrr@10)", "diff(mrr@10) >= 0"):
        (found,) = decide_all([parse_gate(text)], [Sides(run, Rules(), base)], Significance())
        assert (found.passed, found.reason) == (False, "the value of a query is undefined")


def test_queries_are_paired_by_their_ids() -> None:
    base = run_of([0.1, 0.2, 0.3], queries=["a", "b", "c"])
    run = run_of([0.4, 0.5, 0.6], queries=["b", "c", "d"], weights=[1.0, 3.0, 9.0])
    gates = [parse_gate("diff(mrr@10) >= 0"), parse_gate("min(diff(mrr@10)) >= 0"), parse_gate("improves(mrr@10)")]
    mean, least, rule = decide_all(gates, [Sides(run, Rules(), base)], Significance())
    assert (mean.queries, least.queries, rule.queries) == (2, 2, 2)
    assert (mean.value, least.value) == (pytest.approx(0.2), pytest.approx(0.2))
    run = run_of([0.4, 0.9, 0.6], queries=["b", "c", "d"], weights=[1.0, 3.0, 9.0])
    (mean,) = decide_all(gates[:1], [Sides(run, Rules(), base)], Significance())
    assert mean.value == pytest.approx((0.2 + 3 * 0.6) / 4)


# --- the level ---------------------------------------------------------------------------------------------------


def test_the_noticeable_drop_is_that_of_the_margins() -> None:
    for rule in ("no-regression(mrr@10, 1%)", "non-inferior(mrr@10, 1%)", "improves(mrr@10)"):
        found = verdict_of(rule, BEFORE, AFTER, alpha=0.01)
        assert found.noticeable == noticeable_drop(sample_of(BEFORE, AFTER), 0.01).value
    where = "would notice 0.0412 beyond the bound" if found.bound else f"would notice {found.noticeable:.4f})"
    assert where in verdict_line(found)


def several(correction: str) -> list[tuple[Verdict, ...]]:
    """Three rules, one of which has no p-value, for two runs: without and with a correction."""
    gates = [parse_gate(text) for text in ("no-regression(mrr@10)", "mrr@10 >= 0", "improves(mrr@10, 1%)")]
    base = run_of(BEFORE)
    runs = [run_of(AFTER), run_of(BEFORE), run_of(BEFORE + 0.03 * np.sin(np.arange(60) ** 2))]
    sides = [Sides(run, Rules(), base) for run in runs]
    return [decide_all(gates, sides, Significance(0.05, name)) for name in ("none", correction)]


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh"])
def test_corrections_are_over_all_rules_and_runs(correction: str) -> None:
    plain, corrected = several(correction)
    raw = [verdict.p_value for verdict in plain]
    there = [p_value for p_value in raw if p_value is not None]
    assert len(there) == 5, "six rules, of which one has identical runs and no test"
    if correction == "bh":
        expected = iter(stats.false_discovery_control(there).tolist())
    else:
        scaled = [min(1.0, p_value * len(there)) for p_value in there]
        expected = iter(scaled if correction == "bonferroni" else holm(there))
    for before, after in zip(plain, corrected, strict=True):
        if before.p_value is None:
            assert (after.p_value, after.limit) == (None, before.limit)
            continue
        assert after.p_value == pytest.approx(next(expected), rel=1e-12)
        assert after.passed is (after.p_value > 0.05 if "no-reg" in after.gate else after.p_value < 0.05)
        assert after.limit is None or (after.limit > after.bound) is after.passed
        assert before.noticeable is None or after.noticeable >= before.noticeable


def holm(p_values: list[float]) -> list[float]:
    found, largest = [0.0] * len(p_values), 0.0
    for step, place in enumerate(np.argsort(p_values)):
        largest = max(largest, min(1.0, (len(p_values) - step) * p_values[place]))
        found[place] = largest
    return found


def test_a_correction_can_turn_a_build_green() -> None:
    gates = [parse_gate("no-regression(mrr@10)"), parse_gate("improves(mrr@10)")]
    sides = [Sides(run_of(BEFORE - 0.01 + 0.08 * np.sin(np.arange(60) ** 2)), Rules(), run_of(BEFORE))]
    plain, corrected = (decide_all(gates, sides, Significance(0.05, name))[0] for name in ("none", "bonferroni"))
    assert (plain.passed, corrected.passed) == (False, True)
    assert 0.025 < plain.p_value < 0.05
    assert corrected.reason == "the drop may be chance"


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, -0.1, math.nan, "x"])
def test_a_level_that_is_none_is_refused(alpha: Any) -> None:
    with pytest.raises(UsageError, match="--alpha is"):
        Significance(alpha)


def test_a_correction_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="`hulm` is not a correction") as caught:
        check_gates([], False, Significance(correction="hulm"))
    assert caught.value.hint == "did you mean `holm`?"


@pytest.mark.parametrize(
    "gate", ["mrr@10 >= baseline", "queries >= baseline", "diff(map) > 0", "improves(map)", "warn: no-regression(map)"]
)
def test_a_gate_that_needs_a_baseline_is_refused_without_one(gate: str) -> None:
    with pytest.raises(UsageError, match="it compares with a baseline, and there is none") as caught:
        check_gates([parse_gate("map > 0"), parse_gate(gate)], False, Significance())
    assert caught.value.where == f"gate `{gate.removeprefix('warn: ')}`"
    assert "--baseline FILE" in caught.value.hint
    check_gates([parse_gate("map > 0"), parse_gate(gate)], True, Significance())


# --- lines -------------------------------------------------------------------------------------------------------


def rule_verdict(**fields: Any) -> Verdict:
    told = {"alpha": 0.05, "p_value": 0.25, "noticeable": 0.02, **fields}
    return Verdict("no-regression(m, 1%)", "r", False, -0.01, -0.004, -0.006, 50, **told)


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        (rule_verdict(), "(diff -0.0100, bound -0.0040, distance -0.0060, p 0.2500, 50 queries, would notice 0.0200 "
         "beyond the bound)"),
        (rule_verdict(limit=-0.03), "(diff -0.0100, at least -0.0300, bound -0.0040, distance"),
        (rule_verdict(limit=0.03), "(diff -0.0100, at most 0.0300, bound -0.0040, distance"),
        (rule_verdict(p_value=0.00001), "p < 0.0001, 50 queries"),
        (rule_verdict(p_value=0.0500004), "p 0.0500004, 50 queries"),
        (rule_verdict(p_value=None), "distance -0.0060, 50 queries"),
        (rule_verdict(noticeable=None), "50 queries)"),
    ],
)  # fmt: skip
def test_lines_of_rules_show_what_was_tested(verdict: Verdict, line: str) -> None:
    assert line in verdict_line(verdict)


def test_details_hold_what_tables_of_verdicts_have_no_column_for() -> None:
    verdict = rule_verdict(limit=-0.03, reason="inconclusive: so")
    assert verdict_details(verdict) == (
        "at least -0.0300, p 0.2500, would notice 0.0200 beyond the bound: inconclusive: so"
    )
    assert verdict_details(Verdict("m", "r", True, 1.0, 0.5, 0.5, 9)) == ""
