"""Gates: what they say, what they decide, how they are told."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankeval_cli.errors import ExitCode, UsageError
from rankeval_cli.gates import AnyGate, Sides, decide, exit_code, parse_fail_under, parse_gate
from rankeval_cli.gates.expressions import Amount, Difference, Fact, Share, Value
from rankeval_cli.inference import interval, summarize
from rankeval_cli.measures.expression import parse
from rankeval_cli.model import Coverage, Rules, RunReport, Scores, Source, Verdict
from rankeval_cli.report.summary import verdict_line

NAN = math.nan

COVERAGE = Coverage(
    judged=10,
    answered=8,
    missing=2,
    unjudged=1,
    no_relevant=0,
    k=10,
    judged_at_k=0.5,
    tied_at_k=0,
    duplicates=0,
    self_hits=0,
)

# Mean 0.5, median 0.6, smallest 0.1, largest 0.8; 3 of 4 reach 0.5; the 95 % interval by t is clipped to [0.0, 1.0].
VALUES = {
    "mrr@10": [0.1, 0.5, 0.7, 0.7, NAN],
    "hit@1": [1.0, 0.0, 1.0, 1.0, 1.0],
    "num_rel_ret": [3.0, 4.0, 0.0, 2.0, 1.0],
    "mean_rank": [2.0, NAN, 4.0, NAN, NAN],
    "ndcg@10": [NAN] * 5,
}


def scores(values: dict[str, list[float]] = VALUES, propagate: bool = False) -> Scores:
    metrics = tuple(metric for name in values for metric in parse(name))
    rows = list(values.values())
    return Scores(
        queries=[f"q{place}" for place in range(len(rows[0]))],
        metrics=metrics,
        values=np.array(rows).reshape(len(rows), len(rows[0])),
        undefined=tuple(sum(value != value for value in row) for row in rows),
        propagate=(propagate,) * len(rows),
    )


def verdict_of(text: str, given_scores: Scores | None = None, rules: Rules | None = None, **covered: int) -> Verdict:
    found, in_force = given_scores or scores(), rules or Rules()
    results, coverage = summarize(found, in_force), replace(COVERAGE, **covered)
    run = RunReport(Source("run.txt", "run.txt", "trec", 1), coverage, results, found)
    return decide(parse_gate(text), Sides(run, in_force))


# --- the matrix --------------------------------------------------------------------------------------------------

HIT = interval(np.array(VALUES["hit@1"]), parse("hit@1")[0], Rules())

# subject, passing bound, failing bound (both with >=), the value
SUBJECTS = [
    pytest.param("mrr@10", "0.5", "0.51", 0.5, id="measure"),
    pytest.param("num_rel_ret", "10", "11", 10.0, id="sum"),
    pytest.param("mean(mrr@10)", "50%", "51%", 0.5, id="mean"),
    pytest.param("mean(num_rel_ret)", "2", "2.1", 2.0, id="mean of counts"),
    pytest.param("median(mrr@10)", "0.6", "0.61", 0.6, id="median"),
    pytest.param("min(mrr@10)", "0.1", "0.2", 0.1, id="min"),
    pytest.param("max(mrr@10)", "0.7", "0.8", 0.7, id="max"),
    pytest.param("ci_low(hit@1)", "0.37", "0.38", HIT.low, id="ci_low"),
    pytest.param("ci_high(hit@1)", "0.96", "0.97", HIT.high, id="ci_high"),
    pytest.param("share(mrr@10 >= 0.5)", "75%", "80%", 0.75, id="share"),
    pytest.param("share(mrr@10 < 50%)", "0.25", "0.26", 0.25, id="share below"),
    pytest.param("queries", "5", "6", 5.0, id="queries"),
    pytest.param("queries", "50%", "51%", 0.5, id="queries of the judged"),
    pytest.param("missing_queries", "2", "3", 2.0, id="missing_queries"),
    pytest.param("missing_queries", "20%", "21%", 0.2, id="missing of the judged"),
    pytest.param("unjudged_queries", "1", "2", 1.0, id="unjudged_queries"),
    pytest.param("unjudged_queries", "10 %", "11 %", 0.1, id="unjudged of the judged"),
    pytest.param("undefined", "5", "6", 5.0, id="undefined"),
    pytest.param("undefined", "50%", "51%", 0.5, id="undefined of the judged"),
]


@pytest.mark.parametrize(("subject", "passing", "failing", "value"), SUBJECTS)
def test_a_subject_passes_and_fails(subject: str, passing: str, failing: str, value: float) -> None:
    good, bad = verdict_of(f"{subject} >= {passing}"), verdict_of(f"{subject} >= {failing}")
    assert (good.passed, bad.passed) == (True, False)
    assert good.value == bad.value == pytest.approx(value, rel=1e-12)
    assert good.distance == good.value - good.bound
    assert bad.distance == bad.value - bad.bound < 0
    assert (exit_code([good]), exit_code([bad]), exit_code([good, bad])) == (ExitCode.OK, ExitCode.GATE, ExitCode.GATE)


@pytest.mark.parametrize(("subject", "passing", "failing", "value"), SUBJECTS)
def test_a_warning_never_fails_the_build(subject: str, passing: str, failing: str, value: float) -> None:
    good, bad = verdict_of(f"warn: {subject} >= {passing}"), verdict_of(f"warn:{subject} >= {failing}")
    assert (good.passed, bad.passed) == (True, False)
    assert (good.warn, bad.warn) == (True, True)
    assert exit_code([good, bad]) is ExitCode.OK
    assert bad.gate == f"{subject} >= {failing}"


UNDEFINED = [
    pytest.param("ndcg@10", {}, "no query has a value", id="measure"),
    pytest.param("mean(ndcg@10)", {}, "no query has a value", id="mean"),
    pytest.param("median(ndcg@10)", {}, "no query has a value", id="median"),
    pytest.param("min(ndcg@10)", {}, "no query has a value", id="min"),
    pytest.param("max(ndcg@10)", {}, "no query has a value", id="max"),
    pytest.param("ci_low(ndcg@10)", {}, "no query has a value", id="ci_low"),
    pytest.param("ci_high(ndcg@10)", {}, "no query has a value", id="ci_high"),
    pytest.param("ci_low(num_rel_ret)", {}, "no interval: a sum has no interval", id="ci_low of a sum"),
    pytest.param("share(ndcg@10 >= 0)", {}, "no query has a value", id="share"),
    pytest.param("queries", {"judged": 0}, "no query is judged", id="queries of none"),
    pytest.param("missing_queries", {"judged": 0}, "no query is judged", id="missing of none"),
    pytest.param("unjudged_queries", {"judged": 0}, "no query is judged", id="unjudged of none"),
    pytest.param("undefined", {"judged": 0}, "no query is judged", id="undefined of none"),
]


@pytest.mark.parametrize("op", [">=", ">", "<=", "<", "=="])
@pytest.mark.parametrize(("subject", "covered", "reason"), UNDEFINED)
def test_a_subject_without_a_value_fails(subject: str, covered: dict[str, int], reason: str, op: str) -> None:
    found = verdict_of(f"{subject} {op} 0%", **covered)
    assert (found.passed, found.value, found.distance, found.reason) == (False, None, None, reason)
    assert found.bound == 0.0
    assert exit_code([found]) is ExitCode.GATE
    assert exit_code([verdict_of(f"warn: {subject} {op} 0%", **covered)]) is ExitCode.OK


@pytest.mark.parametrize("subject", ["mrr@10", "mean(mrr@10)", "min(mrr@10)", "share(mrr@10 > 0)", "ci_low(mrr@10)"])
def test_a_value_that_is_undefined_for_one_query_fails(subject: str) -> None:
    found = verdict_of(f"{subject} >= 0", scores(propagate=True), Rules(no_relevant="nan"))
    assert (found.passed, found.reason, found.queries) == (False, "the value of a query is undefined", 4)


@pytest.mark.parametrize("gate", ["mrr@10 >= 0", "undefined <= 0", "share(mrr@10 >= 0) >= 0"])
def test_without_any_query_nothing_passes(gate: str) -> None:
    found = verdict_of(gate, scores({"mrr@10": []}))
    assert (found.passed, found.value) == (False, None)
    assert found.reason in ("no query has a value", "no query is scored")


def test_no_gate_is_fine() -> None:
    assert exit_code([]) is ExitCode.OK


# --- comparing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "below", "equal", "above"),
    [
        pytest.param(">=", False, True, True, id="at least"),
        pytest.param(">", False, False, True, id="more"),
        pytest.param("<=", True, True, False, id="at most"),
        pytest.param("<", True, False, False, id="less"),
        pytest.param("==", False, True, False, id="equal"),
    ],
)
@pytest.mark.parametrize("slip", [0.0, 0.9e-9, -0.9e-9], ids=["exact", "a little above", "a little below"])
def test_comparisons_bear_rounding(op: str, below: bool, equal: bool, above: bool, slip: float) -> None:
    for value, expected in ((0.3, below), (0.5 + slip, equal), (0.7, above), (0.5 - 2e-9, below), (0.5 + 2e-9, above)):
        assert verdict_of(f"mrr@10 {op} 0.5", scores({"mrr@10": [value]})).passed is expected


def test_a_mean_a_rounding_below_its_bound_passes() -> None:
    found = verdict_of("p@10 >= 0.2", scores({"p@10": [0.0, 0.3, 0.3]}))
    assert found.value == 0.19999999999999998
    assert found.passed
    assert "value 0.2000, bound 0.2000, distance +0.0000" in verdict_line(found)


def test_the_tolerance_grows_with_the_bound() -> None:
    assert verdict_of("num_rel_ret >= 1e12", scores({"num_rel_ret": [1e12 - 900]})).passed
    assert not verdict_of("num_rel_ret >= 1e12", scores({"num_rel_ret": [1e12 - 1100]})).passed


@pytest.mark.parametrize(
    ("gate", "distance"),
    [
        pytest.param("mrr@10 >= 0.4", 0.1, id="at least"),
        pytest.param("mrr@10 > 0.6", -0.1, id="more"),
        pytest.param("mrr@10 <= 0.6", 0.1, id="at most"),
        pytest.param("mrr@10 < 0.4", -0.1, id="less"),
        pytest.param("mrr@10 == 0.4", -0.1, id="above equal"),
        pytest.param("mrr@10 == 0.6", -0.1, id="below equal"),
        pytest.param("mrr@10 == 0.5", 0.0, id="equal"),
    ],
)
def test_the_distance_is_positive_on_the_passing_side(gate: str, distance: float) -> None:
    found = verdict_of(gate)
    assert found.distance == pytest.approx(distance, abs=1e-12)
    assert math.copysign(1.0, found.distance) == math.copysign(1.0, distance)
    assert found.passed is (distance >= 0)


def test_shares_compare_each_query_with_the_tolerance() -> None:
    found = scores({"p@10": [0.1 + 0.2, 0.3, 0.7]})  # 0.1 + 0.2 is 0.30000000000000004
    assert verdict_of("share(p@10 <= 0.3) == 2", found).value == pytest.approx(2 / 3)
    assert verdict_of("share(p@10 > 0.3) == 1", found).value == pytest.approx(1 / 3)


# --- which value -------------------------------------------------------------------------------------------------


def test_a_plain_measure_is_what_the_report_shows() -> None:
    median = Rules(aggregate="median")
    assert verdict_of("mrr@10 >= 0", rules=median).value == 0.6
    assert verdict_of("mean(mrr@10) >= 0", rules=median).value == 0.5


def test_a_measure_is_found_by_its_canonical_name() -> None:
    assert verdict_of("reciprocal-rank@10 >= 0.5").value == 0.5
    assert verdict_of("RR@10 >= 0.5").gate == "RR@10 >= 0.5"


def test_counts_of_the_verdict_are_the_queries_with_a_value() -> None:
    assert [verdict_of(f"{name} >= 0").queries for name in VALUES] == [4, 5, 5, 2, 0]
    assert verdict_of("missing_queries >= 0").queries == 10


@pytest.mark.parametrize("ci", ["auto", "bootstrap", "bca"])
def test_ends_of_intervals_are_those_of_the_report(ci: Any) -> None:
    rules, found = Rules(ci=ci, resamples=50), scores()
    results = summarize(found, rules)
    for stat, expected in (("ci_low", results[0].ci_low), ("ci_high", results[0].ci_high)):
        assert verdict_of(f"{stat}(mrr@10) >= 0", found, rules).value == expected


def test_ends_of_intervals_are_those_of_auto_when_none_are_asked() -> None:
    assert verdict_of("ci_low(hit@1) >= 0", rules=Rules(ci="none")).value == HIT.low


def test_ends_of_intervals_need_no_result() -> None:
    run = RunReport(Source("run.txt", "run.txt", "trec", 1), COVERAGE, (), scores())
    assert decide(parse_gate("ci_high(hit@1) <= 1"), Sides(run, Rules())).value == HIT.high


def test_a_method_that_does_not_apply_leaves_no_end() -> None:
    found = verdict_of("ci_low(mrr@10) >= 0", rules=Rules(ci="wilson"))
    assert found.reason == "no interval: wilson is for measures that are 0 or 1 for each query"
    assert verdict_of("ci_low(mrr@10) >= 0", scores({"mrr@10": [0.5]})).reason == "no interval: one query"


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        pytest.param("mrr@10 >= 35", "mrr@10 is never above 1", id="percent without its sign"),
        pytest.param("ci_low(mrr@10) > 1", None, id="at the edge"),
        pytest.param("mrr@10 <= -0.1", "mrr@10 is never below 0", id="below"),
        pytest.param("mean_rank < 0.5", "mean_rank is never below 1", id="open above"),
        pytest.param("share(mrr@10 >= 0.5) == 80", "a share is never above 1", id="share"),
        pytest.param("num_rel_ret >= 100", None, id="sums have no range"),
        pytest.param("missing_queries >= 100", None, id="facts have no range"),
        pytest.param("mrr@10 >= 0.9", None, id="within"),
        pytest.param("mrr@10 <= 35", None, id="holds"),
    ],
)
def test_a_bound_out_of_reach_is_told(gate: str, reason: str | None) -> None:
    found = verdict_of(gate)
    assert found.reason == reason
    assert found.value is not None


# --- grammar -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "canonical", "stat"),
    [
        pytest.param("mrr@10 >= 0.3", "rr@10", None, id="plain"),
        pytest.param("  mrr@10>=0.3  ", "rr@10", None, id="without blanks"),
        pytest.param("ndcg(gain=exp)@10 >= 0.3", "ndcg(gain=exp)@10", None, id="parentheses"),
        pytest.param("ndcg:gain=exp@10 >= 0.3", "ndcg(gain=exp)@10", None, id="shell form"),
        pytest.param("P(rel=2)@5 >= 0.3", "p(rel=2)@5", None, id="level"),
        pytest.param("nDCG(dcg='exp-log2')@10 >= 0.3", "ndcg(gain=exp)@10", None, id="quotes"),
        pytest.param("ndcg(gains={1:0,2:5},rel=1)@3 >= 0.3", "ndcg(gains={1:0,2:5},rel=1)@3", None, id="commas"),
        pytest.param("ndcg.1=3.5,2=9 >= 0.3", "ndcg(gains={1:3.5,2:9})", None, id="equals signs"),
        pytest.param("ndcg@3-l2 >= 0.3", "ndcg(rel=2)@3", None, id="ranx level"),
        pytest.param("mean(map) >= 0.3", "ap", "mean", id="mean"),
        pytest.param("median( ap(norm=min)@10 ) >= 0.3", "ap(norm=min)@10", "median", id="nested parentheses"),
        pytest.param("MIN(mrr) >= 0.3", "rr", "min", id="capitals"),
        pytest.param("max (mrr) >= 0.3", "rr", "max", id="blank before the parenthesis"),
        pytest.param("ci_low(ndcg:gain=exp@10) >= 0.3", "ndcg(gain=exp)@10", "ci_low", id="shell form inside"),
        pytest.param("ci-high(mrr) >= 0.3", "rr", "ci_high", id="hyphen"),
    ],
)
def test_measures_of_every_spelling_are_understood(text: str, canonical: str, stat: str | None) -> None:
    gate = parse_gate(text)
    assert isinstance(gate.subject, Value)
    assert (gate.subject.metric.canonical, gate.subject.stat) == (canonical, stat)
    assert [metric.canonical for metric in gate.metrics] == [canonical]
    assert (gate.op, gate.bound, gate.is_percent, gate.warn) == (">=", 0.3, False, False)


@pytest.mark.parametrize("inside", [">=", ">", "<=", "<", "=="])
@pytest.mark.parametrize("outside", [">=", ">", "<=", "<", "=="])
def test_a_share_holds_a_comparison(inside: str, outside: str) -> None:
    gate = parse_gate(f"share(ndcg(gain=exp)@10{inside}0.5){outside}80%")
    assert gate.subject == Share(parse("ndcg(gain=exp)@10")[0], inside, 0.5)
    assert (gate.op, gate.bound, gate.is_percent) == (outside, 0.8, True)


@pytest.mark.parametrize("name", ["queries", "missing_queries", "unjudged_queries", "undefined"])
def test_facts_need_no_measure(name: str) -> None:
    for text in (name, name.upper(), name.replace("_", "-")):
        gate = parse_gate(f"{text} <= 3")
        assert (gate.subject, gate.metrics) == (Fact(name), ())


@pytest.mark.parametrize(
    ("text", "bound"),
    [("0.35", 0.35), (".5", 0.5), ("1.", 1.0), ("-2", -2.0), ("+1e-3", 0.001), ("35%", 0.35), ("7.5 %", 0.075)],
)
def test_bounds_of_every_spelling_are_understood(text: str, bound: float) -> None:
    gate = parse_gate(f"mrr@10 > {text}")
    assert gate.bound == pytest.approx(bound, rel=1e-15)
    assert gate.is_percent is text.endswith("%")


@given(bound=st.floats(allow_nan=False, allow_infinity=False), op=st.sampled_from([">=", ">", "<=", "<", "=="]))
def test_any_double_is_a_bound(bound: float, op: str) -> None:
    gate = parse_gate(f"mrr@10 {op} {bound!r}")
    assert (gate.bound, gate.op) == (bound, op)


def parsed(parser: Callable[[str], AnyGate], text: str) -> AnyGate | UsageError:
    try:
        return parser(text)
    except UsageError as error:
        return error


@given(text=st.text(alphabet="mr@10(){}'=<>.%,5: -queriesshare", max_size=25))
@example(text="a.<0")
@example(text="mrr >= baseline - 2%")
@example(text="warn:  improves( mrr@1 , .5% ) ")
@pytest.mark.parametrize("parser", [parse_gate, parse_fail_under])
def test_any_text_is_a_gate_or_a_usage_error(parser: Callable[[str], AnyGate], text: str) -> None:
    found = parsed(parser, text)
    if isinstance(found, UsageError):
        assert found.hint
        assert text.strip() in (found.where or "")
    else:
        assert parse_gate(found.text) == replace(found, warn=False)


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        pytest.param("", "nothing is compared", "'mrr@10 >= 0.35'", id="empty"),
        pytest.param("warn:", "nothing is compared", "'mrr@10 >= 0.35'", id="empty warning"),
        pytest.param("ndcg@10", "nothing is compared", "'ndcg@10 >= 0.35'", id="no comparison"),
        pytest.param("ndcg:gain=exp@10", "nothing is compared", "in quotes", id="no comparison but a parameter"),
        pytest.param("mrr@10 >=", "nothing stands after `>=`", "'mrr@10 >= 0.35'", id="no bound"),
        pytest.param(">= 0.3", "nothing stands before `>=`", "'mrr@10 >= 0.35'", id="no subject"),
        pytest.param("mrr@10 => 0.3", "`=>` is not a comparison", "'mrr@10 >= 0.3'", id="=>"),
        pytest.param("mrr@10 =< 0.3", "`=<` is not a comparison", "'mrr@10 <= 0.3'", id="=<"),
        pytest.param("mrr@10 ≤ 0.3", "`≤` is not a comparison", "'mrr@10 <= 0.3'", id="≤"),
        pytest.param("mrr@10 = 0.3", "`=` is not a comparison", "'mrr@10 >= 0.3'", id="="),
        pytest.param("mrr@10 != 0.3", "`!=` is not a comparison", "'mrr@10 >= 0.3'", id="!="),
        pytest.param("0.3 <= mrr@10", "the number `0.3` stands on the left", "'mrr@10 >= 0.3'", id="turned round"),
        pytest.param("0.3 <= mrr@10 <= 0.5", "two comparisons", "own --gate", id="chain"),
        pytest.param("mrr@10 > 0.3 and map > 0.2", "two comparisons", "own --gate", id="and"),
        pytest.param("median(mrr@10 >= 0.3", "a `(` is never closed", "'median(mrr@10) >= 0.35'", id="not closed"),
        pytest.param("mrr@10) >= 0.3", "`10)` is not a cutoff", "`mrr@10`", id="closed too often"),
        pytest.param("mrr@10 >= abc", "`abc` is not a number", "0.35 or 35%", id="word"),
        pytest.param("mrr@10 >= nan", "`nan` is not a number", "0.35 or 35%", id="nan"),
        pytest.param("mrr@10 >= 1e999", "`1e999` is not a number", "0.35 or 35%", id="infinite"),
        pytest.param("mrr@10 >= 0,35", "`0,35` is not a number", "`0.35`", id="decimal comma"),
        pytest.param("mrr@10 >= ١", "`١` is not a number", "0.35 or 35%", id="other digits"),
        pytest.param("ndgc@10 >= 0.5", "`ndgc@10` is not a measure", "did you mean `ndcg@10`?", id="misspelt"),
        pytest.param("querys >= 5", "`querys` is not a measure", "did you mean `queries`?", id="misspelt fact"),
        pytest.param("medain(map) > 0", "`medain(map)` is not a measure", "`median`", id="misspelt statistic"),
        pytest.param("avg(map) > 0", "`avg(map)` is not a measure", "mean, median", id="unknown statistic"),
        pytest.param("max(mrr)@5 > 0", "`max(mrr)@5` is not a measure", "", id="cutoff outside"),
        pytest.param("mean(ndgc@10) > 0", "`ndgc@10` is not a measure", "`ndcg@10`", id="misspelt inside"),
        pytest.param("share(ndgc@10 > 1) > 0", "`ndgc@10` is not a measure", "`ndcg@10`", id="misspelt in a share"),
        pytest.param("ndcg(gian=exp)@10 > 0", "ndcg has no parameter `gian`", "gain", id="wrong parameter"),
        pytest.param("p > 0", "`p` needs a cutoff", "`p@10`", id="no cutoff"),
        pytest.param("mrr@1,5 >= 0", "`mrr@1,5` names 2 measures", "`mrr@1` and `mrr@5`", id="two cutoffs"),
        pytest.param("mean(mrr > 0.5) > 0", "`mean` takes a measure", "'share(mrr > 0.5)", id="comparison inside"),
        pytest.param("share(mrr) >= 0.3", "`share(mrr)` holds no comparison", "share(mrr@10", id="share of nothing"),
        pytest.param("share(mrr > x) >= 0.3", "`x` is not a number", "0.35", id="share of no number"),
        pytest.param("baseline <= mrr", "the bound `baseline` stands on the left", "'mrr >= baseline'", id="base left"),
        pytest.param("mrr >= baseline * 2", "`baseline * 2` is not a bound", "`baseline - 2%`", id="base times"),
        pytest.param("mrr >= baseline - -1", "`baseline - -1` is not a bound", "`baseline - 2%`", id="two signs"),
        pytest.param("mrr >= baseline - x", "`baseline - x` is not a bound", "`baseline - 2%`", id="base less word"),
        pytest.param("mrr >= baselines", "`baselines` is not a number", "0.35 or 35%", id="misspelt baseline"),
        pytest.param("diff(mrr) >= baseline", "a difference is from the baseline already", ">= -0.01'", id="twice"),
        pytest.param("mean(diff(mrr)) > 0", "there is no `mean` of differences", "`diff(mrr)` is", id="mean of diff"),
        pytest.param("median(diff(mrr)) > 0", "there is no `median` of", "min, max, ci_low", id="median of diff"),
        pytest.param("share(diff(mrr) > 0) > 0", "`share` takes a measure, not a diff", "min(diff", id="share of diff"),
        pytest.param("diff(mrr > 0) > 0", "`diff` takes a measure, not a comparison", "share(mrr", id="diff of what"),
        pytest.param("diff(ndgc@10) > 0", "`ndgc@10` is not a measure", "`ndcg@10`", id="misspelt in a difference"),
        pytest.param("diff(gm_map) > 0", "`gm_map` is a geometric mean", "'gm_map >= baseline - 2%'", id="geometric"),
        pytest.param("dif(map) > 0", "`dif(map)` is not a measure", "`diff`", id="misspelt diff"),
        pytest.param(
            "no-regression()", "`no-regression` has no measure", "no-regression(ndcg@10, 1%)", id="no measure"
        ),
        pytest.param("no-regresion(map)", "nothing is compared", "`no-regression`", id="misspelt rule"),
        pytest.param(
            "no-regression(map) >= 0", "is a rule, which is not compared", "'no-regression(map)'", id="rule >="
        ),
        pytest.param("no-regression(map", "a `(` is never closed", "close it", id="rule not closed"),
        pytest.param("improves(map > 0.5)", "`improves` takes a measure, not a", "share(map", id="rule of comparison"),
        pytest.param("improves(ndgc@10)", "`ndgc@10` is not a measure", "`ndcg@10`", id="misspelt in a rule"),
        pytest.param("improves(map, -1%)", "the margin `-1%` is below 0", "without its sign", id="margin below 0"),
        pytest.param("improves(map, x)", "`x` is not a number", "0.35 or 35%", id="margin that is a word"),
        pytest.param("improves(map, 0,5)", "`map, 0` is not a measure", "", id="margin with a comma"),
        pytest.param(
            "improves(map, 1)", "no difference of `map` is beyond the margin `1`", "`1%`", id="margin too wide"
        ),
        pytest.param(
            "improves(mrr@5,10)", "no difference of `mrr@5` is beyond", "a gate each", id="rule of two cutoffs"
        ),
        pytest.param("non-inferior(map)", "`non-inferior` needs a margin", "'non-inferior(map, 1%)'", id="no margin"),
        pytest.param("improves(num_ret)", "neither more nor less is better", "'num_ret == base", id="no direction"),
        pytest.param(
            "improves(gm_map)", "`gm_map` is a geometric mean", "'gm_map >= base", id="rule of a geometric mean"
        ),
    ],
)
def test_what_is_no_gate_is_told_with_its_wrong_part(text: str, what: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_gate(text)
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    assert caught.value.where == f"gate `{text}`"
    assert caught.value.code is ExitCode.INPUT


@pytest.mark.parametrize(
    ("text", "number", "is_relative"),
    [
        pytest.param("baseline", 0.0, False, id="plain"),
        pytest.param("Baseline-2%", -0.02, True, id="relative"),
        pytest.param("baseline - 0.01", -0.01, False, id="number"),
        pytest.param("baseline+.5 %", 0.005, True, id="above"),
    ],
)
def test_a_bound_may_be_the_baseline(text: str, number: float, is_relative: bool) -> None:
    gate = parse_gate(f"median(mrr@10) >= {text}")
    assert (gate.bound, gate.is_percent, gate.needs_baseline) == (Amount(number, is_relative), False, True)
    assert gate.bound.of(-0.5) == (number * 0.5 if is_relative else number)


@pytest.mark.parametrize("stat", [None, "min", "max", "ci_low", "ci_high"])
def test_differences_have_statistics(stat: str | None) -> None:
    inside = "DIFF( rr(rel=2)@10 )"
    gate = parse_gate(f"{inside if stat is None else f'{stat.upper()}({inside})'} >= -1%")
    assert gate.subject == Difference(parse("rr(rel=2)@10")[0], stat)
    assert (gate.bound, gate.is_percent, gate.needs_baseline) == (-0.01, True, True)


@pytest.mark.parametrize(
    ("text", "name", "canonical", "margin"),
    [
        pytest.param("no-regression(mrr@10)", "no-regression", "rr@10", Amount(), id="no margin"),
        pytest.param("No_Regression ( mrr@10 , 1% )", "no-regression", "rr@10", Amount(0.01, True), id="relative"),
        pytest.param("non-inferior(map, 0.02)", "non-inferior", "ap", Amount(0.02), id="number"),
        pytest.param("improves(mean_rank@5, 2)", "improves", "mean_rank@5", Amount(2.0), id="ranks"),
        pytest.param("improves(num_rel_ret, 3)", "improves", "num_rel_ret", Amount(3.0), id="a sum"),
        pytest.param("improves(ndcg(gain=exp,rel=2)@5, 1%)", "improves", "ndcg(gain=exp,rel=2)@5", Amount(0.01, True),
                     id="commas in parentheses"),
        pytest.param("improves(ndcg:gain=exp,rel=2@5)", "improves", "ndcg(gain=exp,rel=2)@5", Amount(),
                     id="commas of the shell form"),
        pytest.param("improves(ndcg:gain=exp,rel=2@5, 0)", "improves", "ndcg(gain=exp,rel=2)@5", Amount(),
                     id="commas of the shell form and a margin"),
        pytest.param("improves(utility.1,-1,0,0)", "improves", "utility", Amount(), id="numbers of the measure"),
        pytest.param("improves(utility.1,-1,0,0, 0.5)", "improves", "utility", Amount(0.5), id="numbers and a margin"),
    ],
)  # fmt: skip
def test_rules_take_a_measure_and_a_margin(text: str, name: str, canonical: str, margin: Amount) -> None:
    rule = parse_gate(f"warn: {text}")
    assert (rule.text, rule.kind.name, rule.metric.canonical, rule.margin) == (text, name, canonical, margin)
    assert (rule.warn, rule.needs_baseline, rule.metrics) == (True, True, (rule.metric,))


# --- fail-under --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "text", "bound", "warn"),
    [
        pytest.param("mrr@10=0.35", "mrr@10 >= 0.35", 0.35, False, id="plain"),
        pytest.param("ndcg(gain=exp)@10=35%", "ndcg(gain=exp)@10 >= 35%", 0.35, False, id="parentheses"),
        pytest.param("ndcg:gain=exp@10=.5", "ndcg:gain=exp@10 >= .5", 0.5, False, id="shell form"),
        pytest.param(" map = 0.2 ", "map >= 0.2", 0.2, False, id="blanks"),
        pytest.param("num_rel_ret=100", "num_rel_ret >= 100", 100.0, False, id="a count"),
        pytest.param("warn:mrr@10=0.35", "mrr@10 >= 0.35", 0.35, True, id="warning"),
    ],
)
def test_fail_under_states_a_floor(word: str, text: str, bound: float, warn: bool) -> None:
    gate = parse_fail_under(word)
    assert (gate.text, gate.op, gate.bound, gate.warn) == (text, ">=", bound, warn)
    assert replace(gate, warn=False) == parse_gate(text)


@pytest.mark.parametrize(
    ("word", "what", "hint"),
    [
        pytest.param("mrr@10", "measure and number are needed", "`mrr@10=0.35`", id="no number"),
        pytest.param("mrr@10=", "measure and number are needed", "`mrr@10=0.35`", id="nothing after ="),
        pytest.param("=0.3", "measure and number are needed", "`mrr@10=0.3`", id="no measure"),
        pytest.param("", "measure and number are needed", "`mrr@10=0.35`", id="empty"),
        pytest.param(
            "ndcg:gain=exp@10", "measure and number are needed", "`ndcg:gain=exp@10=0.35`", id="a parameter's ="
        ),
        pytest.param("mrr@10>=0.3", "a comparison does not go here", "`mrr@10=0.3`", id=">="),
        pytest.param("mrr@10==0.3", "a comparison does not go here", "`mrr@10=0.3`", id="=="),
        pytest.param("mrr@10=0,3", "`0,3` is not a number", "`0.3`", id="decimal comma"),
        pytest.param("mrr@10=high", "`high` is not a number", "0.35 or 35%", id="word"),
        pytest.param("ndgc@10=0.5", "`ndgc@10` is not a measure", "did you mean `ndcg@10`?", id="misspelt"),
        pytest.param("mrr@5,10=0.3", "`mrr@5,10` names 2 measures", "`mrr@5` and `mrr@10`", id="two cutoffs"),
        pytest.param("mean_rank=3", "lower is better for `mean_rank`", "--gate 'mean_rank <= 3'", id="lower"),
        pytest.param("ci_low(map)=0.3", "`ci_low(map)` is not a measure", "'ci_low(map) >= 0.3'", id="statistic"),
        pytest.param("queries=50", "`queries` is not a measure", "--gate 'queries >= 50'", id="fact"),
    ],
)
def test_what_is_no_floor_is_told_with_its_wrong_part(word: str, what: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_fail_under(word)
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    assert caught.value.where == f"--fail-under {word}"


# --- lines -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "line"),
    [
        ("mrr@10 >= 0.3", "passed: run.txt: mrr@10 >= 0.3 (value 0.5000, bound 0.3000, distance +0.2000, 4 queries)"),
        ("warn: mrr@10 < 0.4", "warning: run.txt: mrr@10 < 0.4 (value 0.5000, bound 0.4000, distance -0.1000"),
        ("mrr@10 >= 35", "distance -34.5000, 4 queries): mrr@10 is never above 1"),
        ("ndcg@10 >= 0.3", "failed: run.txt: ndcg@10 >= 0.3 (bound 0.3000, 0 queries): no query has a value"),
        ("mrr@10 >= 45%", "(value 50.00%, bound 45.00%, distance +5.00%, 4 queries)"),
        ("share(mrr@10 > 0.5) >= 80%", "(value 50.00%, bound 80.00%, distance -30.00%, 4 queries)"),
        ("queries >= 50", "(value 5, bound 50, distance -45, 10 queries)"),
        ("missing_queries <= 2.5", "(value 2, bound 2.5, distance +0.5, 10 queries)"),
        ("missing-queries <= 5%", "(value 20.00%, bound 5.00%, distance -15.00%, 10 queries)"),
        ("mrr@10 >= 0.500003", "(value 0.500000, bound 0.500003, distance -0.000003, 4 queries)"),
        ("mrr@10 == 0.5", "distance +0.0000"),
    ],
)  # fmt: skip
def test_a_line_shows_value_bound_distance_and_queries(gate: str, line: str) -> None:
    assert line in verdict_line(verdict_of(gate))


@given(value=st.floats(-10, 10), bound=st.floats(-10, 10))
def test_a_failing_distance_never_looks_like_zero(value: float, bound: float) -> None:
    found = verdict_of(f"num_rel_ret >= {bound!r}", scores({"num_rel_ret": [value]}))
    shown = verdict_line(found).split("distance ")[1].split(",")[0]
    assert found.passed or (shown.startswith("-") and float(shown) != 0.0)
