"""Comparisons of runs from the values of their queries, against SciPy, golden values of other tools and slow sums."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from scipy import stats

from rankeval_cli.comparing import Comparing, check_comparing, compared
from rankeval_cli.errors import UsageError
from rankeval_cli.inference.attainable import of_resamples, of_signs, of_t
from rankeval_cli.inference.families import CORRECTIONS, adjust
from rankeval_cli.inference.paired import TESTS
from rankeval_cli.inference.ranks import AGAINST_MEAN
from rankeval_cli.measures.expression import parse_all
from rankeval_cli.model import Comparison, Coverage, Report, Rules, RunReport, Scores, Source

GOLDEN: dict[str, Any] = json.loads((ROOT / "tests/golden/comparisons.json").read_text(encoding="utf-8"))
PAIRED, EXPECTED = GOLDEN["paired"]["scores"], GOLDEN["paired"]["expected"]
NAN = math.nan
COVERAGE = Coverage(12, 12, 0, 0, 0, 10, 1.0, 0, 0, 0)
RULES = Rules(ci="none", resamples=10_000)


def report_of(
    values: dict[str, Any],
    measures: tuple[str, ...] = ("ndcg@10",),
    queries: dict[str, list[str]] | None = None,
    weights: Any = None,
    rules: Rules = RULES,
) -> Report:
    """A report with the values of queries alone. values : run -> (Q,) of the only measure, or (measures, Q)."""
    runs = []
    for name, rows in values.items():
        matrix = np.atleast_2d(np.array(rows, dtype=np.float64))
        ids = (queries or {}).get(name) or [f"q{i:03}" for i in range(matrix.shape[1])]
        heavy = None if weights is None else np.array(weights, dtype=np.float64)
        scores = Scores(ids, parse_all(measures), matrix, (0,) * len(matrix), (False,) * len(matrix), heavy)
        runs.append(RunReport(Source(name, f"runs/{name}", "trec", 1), COVERAGE, (), scores))
    return Report("0", rules, Source("qrels", "qrels", "trec", 1), "sha256:0", 12, tuple(runs))


def compare(values: dict[str, Any], options: Comparing | None = None, **given: Any) -> tuple[Comparison, ...]:
    return compared(report_of(values, **given), options or Comparing()).comparisons


def one(values: dict[str, Any], options: Comparing | None = None, **given: Any) -> Comparison:
    (found,) = compare(values, options, **given)
    return found


# --- one pair


def test_record_of_the_golden_pair() -> None:
    found = one({"A": PAIRED["A"], "B": PAIRED["B"]})
    a, b = np.array(PAIRED["A"]), np.array(PAIRED["B"])
    assert (found.base, found.run, found.measure, found.canonical) == ("A", "B", "ndcg@10", "ndcg@10")
    assert (found.base_value, found.value) == (pytest.approx(a.mean()), pytest.approx(b.mean()))
    assert found.diff == pytest.approx(0.024) == pytest.approx((b - a).mean())
    assert found.relative == pytest.approx(0.024 / a.mean())
    assert (found.ci_low, found.ci_high) == pytest.approx(EXPECTED["t"]["ci95"], rel=1e-9)
    assert found.p_value == found.p_adjusted == pytest.approx(EXPECTED["t"]["p"], rel=1e-12)
    assert found.effect == pytest.approx(EXPECTED["cohens_dz"], rel=1e-12)
    assert (found.wins, found.ties, found.losses, found.queries, found.undefined) == (7, 1, 4, 12, 0)
    assert (found.better, found.significant) == (True, False)
    assert (found.test, found.correction, found.family, found.alpha) == ("t", "holm", "measure", 0.05)
    assert (found.ci_method, found.ci_note, found.note, found.resamples) == ("t", None, None, None)


GOLDEN_P = {
    "t": EXPECTED["t"]["p"],
    "ttest": GOLDEN["toolkit"]["t"]["p_value"],
    "wilcoxon": EXPECTED["wilcoxon_zero_wilcox"]["p"],
    "sign": EXPECTED["sign"]["p"],
    "randomization": EXPECTED["randomization_exact_abs_mean"]["p"],
    "permutation": GOLDEN["toolkit"]["permutation"]["p_value"],
}


@pytest.mark.parametrize(("test", "p_value"), GOLDEN_P.items(), ids=GOLDEN_P)
def test_p_value_is_the_golden_one(test: str, p_value: float) -> None:
    found = one({"A": PAIRED["A"], "B": PAIRED["B"]}, Comparing(test=test))
    assert found.p_value == pytest.approx(p_value, rel=1e-9)


@pytest.mark.parametrize("measure", ["ndcg@10", "mrr"])
@pytest.mark.parametrize(("test", "there", "near"), [("t", "student", 1e-9), ("randomization", "fisher", 0.03)])
def test_p_values_and_wins_agree_with_ranx(measure: str, test: str, there: str, near: float) -> None:
    ranx = GOLDEN["ranx"]
    values = {name: scores[measure] for name, scores in ranx["scores"].items()}
    options = Comparing(test=test, all_pairs=True, correction="none")
    found = compare(values, options, measures=(measure,))
    assert [(each.base, each.run) for each in found] == [("A", "B"), ("A", "C"), ("B", "C")]
    for each in found:
        assert each.p_adjusted == pytest.approx(ranx["p_values"][there][each.base][each.run][measure], abs=near)
        counts = ranx["win_tie_loss"][each.run][each.base][measure]
        assert (each.wins, each.ties, each.losses) == (counts["W"], counts["T"], counts["L"])


LOWER = {"A": [3.0, 5.0, 2.0, 8.0], "B": [2.0, 5.0, 1.0, 4.0]}


def test_lower_is_an_improvement_where_the_measure_says_so() -> None:
    found = one(LOWER, measures=("mean_rank",))
    assert found.diff == pytest.approx(-1.5)
    assert (found.better, found.wins, found.ties, found.losses) == (True, 3, 1, 0)
    assert one(LOWER, measures=("num_ret",)).better is None
    assert one(LOWER, measures=("num_ret",)).losses == 3
    assert one(LOWER).better is False


def test_counts_are_compared_by_their_mean() -> None:
    found = one({"A": [1.0, 2.0, 3.0], "B": [2.0, 4.0, 3.0]}, measures=("num_rel_ret",))
    assert (found.base_value, found.value, found.diff) == (2.0, 3.0, 1.0)


@pytest.mark.parametrize(("test", "values"), [
    ("sign", [-0.01] * 30 + [0.9, 0.8]),
    ("wilcoxon", [-0.01 * (1 + i / 100) for i in range(30)] + [0.9, 0.8]),
], ids=["sign", "wilcoxon"])  # fmt: skip
def test_a_test_against_the_mean_is_no_improvement(test: str, values: list[float]) -> None:
    found = one({"A": [0.0] * 32, "B": values}, Comparing(test=test))
    assert found.significant
    assert (found.diff or 0.0) > 0.0
    assert (found.better, found.note) == (None, AGAINST_MEAN)
    other = one({"A": [0.0] * 32, "B": [-value for value in values[:30]] + values[30:]}, Comparing(test=test))
    assert (other.better, other.note) == (True, None)


# --- degenerate runs


@pytest.mark.parametrize("test", [test.name for test in TESTS])
def test_identical_runs_do_not_differ(test: str) -> None:
    found = one({"A": [0.5, 0.25, 1.0], "B": [0.5, 0.25, 1.0]}, Comparing(test=test))
    assert (found.p_value, found.p_adjusted, found.significant, found.better) == (1.0, 1.0, False, None)
    assert (found.ci_low, found.ci_high, found.diff, found.effect) == (0.0, 0.0, 0.0, None)
    assert (found.wins, found.ties, found.losses) == (0, 3, 0)


@pytest.mark.parametrize("test", [test.name for test in TESTS])
def test_one_query_is_no_test(test: str) -> None:
    found = one({"A": [0.5], "B": [1.0]}, Comparing(test=test))
    assert (found.p_value, found.p_adjusted, found.significant) == (None, None, False)
    assert (found.diff, found.better, found.note) == (0.5, True, "one query")


def test_differences_within_the_tolerance_are_ties() -> None:
    found = one({"A": [0.1, 0.2, 0.3], "B": [0.1 + 1e-10, 0.2, 0.4]})
    assert (found.wins, found.ties, found.losses) == (1, 2, 0)


@pytest.mark.parametrize("test", [test.name for test in TESTS])
def test_runs_without_a_query_in_common_are_told(test: str) -> None:
    values = {"A": [0.5, 1.0], "B": [0.25, 0.5]}
    report = report_of(values, queries={"A": ["q1", "q2"], "B": ["q3", "q4"]})
    found = compared(report, Comparing(test=test))
    (only,) = found.comparisons
    assert (only.queries, only.undefined, only.diff, only.p_value) == (0, 4, None, None)
    assert found.warnings == ("B: no query has a value in both this run and A",)


# --- the queries that are compared


def test_only_queries_with_a_value_in_both_runs_count() -> None:
    found = one({"A": [0.5, NAN, 0.25, 1.0], "B": [NAN, 0.1, 0.75, 0.5]})
    assert (found.base_value, found.value, found.queries, found.undefined) == (0.625, 0.625, 2, 2)


def test_queries_are_matched_by_id() -> None:
    values = {"A": [0.1, 0.2, 0.3], "B": [0.9, 0.5, 0.4], "C": [0.5]}
    queries = {"A": ["a", "b", "d"], "B": ["b", "c", "d"], "C": ["é"]}
    first, second = compare(values, queries=queries)
    assert (first.queries, first.undefined) == (2, 3)
    assert first.diff == pytest.approx(((0.9 - 0.2) + (0.4 - 0.3)) / 2)
    assert (second.run, second.queries) == ("C", 0)


def test_a_third_run_does_not_change_a_pair() -> None:
    values = {"A": PAIRED["A"], "B": PAIRED["B"], "C": [NAN, *PAIRED["C"][1:]]}
    pair = one({"A": PAIRED["A"], "B": PAIRED["B"]})
    assert replace(compare(values)[0], p_adjusted=pair.p_adjusted) == pair
    assert compare(values, Comparing(test="tukey"))[0].queries == 11  # that test looks at all runs


# --- many runs

THREE = {name: PAIRED[name] for name in "ABC"}


@pytest.mark.parametrize("correction", [rule.name for rule in CORRECTIONS])
def test_all_pairs_are_corrected_together(correction: str) -> None:
    found = compare(THREE, Comparing(all_pairs=True, correction=correction))
    golden = EXPECTED["corrections_of"]
    assert [f"{each.base}-{each.run}" for each in found] == golden["pairs"]
    expected = golden["raw"] if correction == "none" else golden[correction]
    assert [each.p_adjusted for each in found] == pytest.approx(expected, rel=1e-9)
    assert {each.correction for each in found} == {correction}


@pytest.mark.parametrize("correction", ["fdr", "Benjamini_Hochberg"])
def test_corrections_have_other_names(correction: str) -> None:
    assert {each.correction for each in compare(THREE, Comparing(correction=correction))} == {"bh"}


def test_family_of_all_measures() -> None:
    rows = {name: [PAIRED[name], PAIRED[name][::-1]] for name in "ABC"}
    found = compare(rows, Comparing(family="all"), measures=("map", "ndcg@10"))
    assert [(each.measure, each.run) for each in found] == [
        ("map", "B"), ("map", "C"), ("ndcg@10", "B"), ("ndcg@10", "C"),
    ]  # fmt: skip
    assert [each.p_adjusted for each in found] == adjust([each.p_value for each in found], "holm")
    apart = compare(rows, Comparing(), measures=("map", "ndcg@10"))
    assert [each.p_adjusted for each in apart[:2]] == adjust([each.p_value for each in apart[:2]], "holm")
    assert found[0].p_adjusted != apart[0].p_adjusted


def test_tukey_is_not_corrected_again() -> None:
    found = compare(THREE, Comparing(test="tukey", all_pairs=True, correction="bonferroni"))
    blocked = EXPECTED["tukey_hsd_two_way_blocked"]
    for each in found:
        assert each.p_adjusted == each.p_value == pytest.approx(blocked[f"{each.base}-{each.run}"], abs=0.03)
        assert (each.correction, each.ci_method, each.resamples) == ("tukey", "tukey", 10_000)


def test_analysis_of_variance_of_three_runs() -> None:
    report = compared(report_of(THREE), Comparing())
    (found,) = report.anova
    assert (found.f, found.p_value) == pytest.approx((EXPECTED["anova_two_way_F"], EXPECTED["anova_two_way_p"]))
    assert (found.measure, found.runs_df, found.error_df, found.queries) == ("ndcg@10", 2, 22, 12)
    assert report.to_dict()["anova"] == [
        {"measure": "ndcg@10", "canonical": "ndcg@10", "f": found.f, "p_value": found.p_value, "runs_df": 2,
         "error_df": 22, "error": found.error, "queries": 12, "note": None}
    ]  # fmt: skip
    assert compared(report_of({"A": PAIRED["A"], "B": PAIRED["B"]}), Comparing()).anova == ()


BASES = {
    "first": (Comparing(), [("A", "B"), ("A", "C")]),
    "by name": (Comparing(baseline="B"), [("B", "A"), ("B", "C")]),
    "by path": (Comparing(baseline="runs/C"), [("C", "A"), ("C", "B")]),
    "all pairs": (Comparing(all_pairs=True), [("A", "B"), ("A", "C"), ("B", "C")]),
}


@pytest.mark.parametrize(("options", "pairs"), BASES.values(), ids=BASES)
def test_pairs(options: Comparing, pairs: list[tuple[str, str]]) -> None:
    assert [(each.base, each.run) for each in compare(THREE, options)] == pairs


# --- weights


def test_means_and_tests_are_weighted() -> None:
    weights = [1.0, 2.0, 0.0, 3.0]
    values = {"A": [0.1, 0.2, 0.9, 0.3], "B": [0.4, 0.3, 0.1, 0.3]}
    found = one(values, weights=weights)
    assert found.diff == pytest.approx((0.3 + 2 * 0.1) / 6)
    assert (found.queries, found.undefined, found.wins, found.ties) == (3, 1, 2, 1)
    again = one(values, weights=[weights])  # a row a measure
    assert again == found


def test_runs_may_lack_queries_that_have_weights() -> None:
    heavy = report_of({"A": [0.1, 0.2, 0.3]}, queries={"A": ["a", "b", "c"]}, weights=[1.0, 2.0, 4.0])
    other = report_of({"B": [0.4, 0.4]}, queries={"B": ["b", "c"]}, weights=[2.0, 4.0])
    (found,) = compared(replace(heavy, runs=(*heavy.runs, *other.runs)), Comparing()).comparisons
    assert found.diff == pytest.approx((2 * 0.2 + 4 * 0.1) / 6)


def test_analysis_of_variance_does_not_weigh() -> None:
    (found,) = compared(report_of(THREE, weights=[1.0] * 11 + [2.0]), Comparing()).anova
    assert (found.f, found.p_value, found.note) == (None, None, "the analysis of variance does not weigh")


# --- what cannot decide

HOPELESS = {
    "resamples": ("randomization", {"resamples": 30}, 12, 3, "30 resamples are too few for 2 comparisons; take"),
    "bootstrap": ("bootstrap", {"resamples": 10}, 12, 3, "10 resamples are too few for 2 comparisons; take"),
    "tukey": ("tukey", {"resamples": 10}, 12, 3, "10 resamples are too few; take --resamples 10000"),
    "few queries": ("sign", {}, 4, 3, "only 4 queries differ, too few for 2 comparisons"),
    "two runs": ("wilcoxon", {}, 5, 2, "only 5 queries differ"),
    "one query differs": ("t", {}, 1, 2, "one query differs"),
}


@pytest.mark.parametrize(("test", "rules", "differing", "runs", "text"), HOPELESS.values(), ids=HOPELESS)
def test_what_cannot_be_significant_is_told(
    test: str, rules: dict[str, Any], differing: int, runs: int, text: str
) -> None:
    values = {"A": [0.0] * 12}
    values |= {name: [0.5 + i / 100 for i in range(differing)] + [0.0] * (12 - differing) for name in "BC"[: runs - 1]}
    report = compared(report_of(values, rules=replace(RULES, **rules)), Comparing(test=test))
    (warning,) = report.warnings
    assert warning.startswith("ndcg@10: no difference could be significant at 0.05: ")
    assert text in warning
    assert not any(found.significant for found in report.comparisons)


CAPABLE = {
    "resamples": ("randomization", {"resamples": 100}, 12),
    "bh needs no more": ("randomization", {"resamples": 20}, 12),
    "six queries": ("sign", {}, 6),
    "no query": ("sign", {}, 0),
    "t": ("t", {}, 4),
}


@pytest.mark.parametrize(("test", "rules", "differing"), CAPABLE.values(), ids=CAPABLE)
def test_what_could_be_significant_is_not_warned_about(test: str, rules: dict[str, Any], differing: int) -> None:
    values = {"A": [0.0] * 12, "B": [(-1) ** i / 2 for i in range(differing)] + [0.0] * (12 - differing)}
    options = Comparing(test=test, correction="bh")
    assert compared(report_of(values, rules=replace(RULES, **rules)), options).warnings == ()


def test_a_family_of_all_measures_is_told_once() -> None:
    rows = {"A": [[0.0] * 5] * 2, "B": [[0.1, 0.2, 0.3, 0.4, 0.5]] * 2}
    report = compared(report_of(rows, measures=("map", "ndcg")), Comparing(test="sign", family="all"))
    (warning,) = report.warnings
    assert warning.startswith("all measures: ")


LEAST = {
    "randomization": (of_signs, 9, lambda n, m: 2.0 / 2**m),
    "sign": (of_signs, 9, lambda n, m: 2.0 / 2**m),
    "wilcoxon": (of_signs, 9, lambda n, m: 2.0 / 2**m),
    "t": (of_t, 9, lambda n, m: 2 * stats.t.sf(math.sqrt(m * (n - 1) / (n - m)), n - 1)),
}


@pytest.mark.parametrize(("name", "form"), [(name, each[2]) for name, each in LEAST.items()], ids=LEAST)
def test_least_p_value_is_that_of_equal_differences(name: str, form: Any) -> None:
    least = {test.name: test.least for test in TESTS}[name]
    found = one({"A": [0.0] * 12, "B": [0.1] * 9 + [0.0] * 3}, Comparing(test=name))
    assert found.p_value == pytest.approx(form(12, 9), rel=1e-9) == pytest.approx(least(12, 9, None), rel=1e-9)


def test_least_p_value_at_its_ends() -> None:
    assert of_t(5, 5, None) == 0.0
    assert of_t(5, 0, None) == of_signs(5, 0, None) == of_resamples(5, 0, None) == 1.0
    assert of_signs(5, 1, None) == 1.0
    assert of_signs(50, 50, 99) == of_resamples(50, 50, 99) == 0.01
    assert of_signs(5000, 5000, None) == 0.0


# --- words that cannot be used

OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown test": ({"test": "wilcoxen"}, "did you mean `wilcoxon`"),
    "unknown correction": ({"correction": "hulm"}, "did you mean `holm`"),
    "unknown family": ({"family": "every"}, "choose one of measure, all"),
    "alpha of 1": ({"alpha": 1.0}, "give a number between 0 and 1"),
    "alpha of 0": ({"alpha": 0.0}, "give a number between 0 and 1"),
    "alpha that is none": ({"alpha": NAN}, "give a number between 0 and 1"),
    "alpha in words": ({"alpha": "low"}, "give a number between 0 and 1"),
    "test that is no word": ({"test": 1}, "choose one of t, "),
    "baseline of all pairs": ({"all_pairs": True, "baseline": "A"}, "leave --baseline or --all-pairs out"),
    "tukey for all measures": ({"test": "tukey", "family": "all"}, "leave --family out"),
}


@pytest.mark.parametrize(("given", "hint"), OPTIONS.values(), ids=OPTIONS)
def test_options_that_cannot_be_used(given: dict[str, Any], hint: str) -> None:
    with pytest.raises(UsageError) as problem:
        Comparing(**given)
    assert hint in str(problem.value)


CHECKED: dict[str, tuple[dict[str, Any], list[str], str, dict[str, Any], str]] = {
    "one run": ({}, ["a/bm25.txt"], "map", {}, "give two runs or more"),
    "unknown baseline": ({"baseline": "bm52.txt"}, ["a/bm25.txt", "b/new.txt"], "map", {}, "did you mean `bm25.txt`"),
    "far baseline": ({"baseline": "x"}, ["a/bm25.txt", "b/new.txt"], "map", {}, "choose one of bm25.txt, new.txt"),
    "baseline by its place": ({"baseline": 1}, ["a/bm25.txt", "b/new.txt"], "map", {}, "choose one of bm25.txt, "),
    "geometric mean": ({}, ["a", "b"], "gm_map", {}, "compare map"),
    "median": ({}, ["a", "b"], "map", {"aggregate": "median"}, "the tests compare means"),
    "weights": ({"test": "sign"}, ["a", "b"], "map", {"weights": "w.tsv"}, "choose --test t"),
}


@pytest.mark.parametrize(("given", "runs", "measure", "rules", "hint"), CHECKED.values(), ids=CHECKED)
def test_what_cannot_be_compared(
    given: dict[str, Any], runs: list[str], measure: str, rules: dict[str, Any], hint: str
) -> None:
    with pytest.raises(UsageError) as problem:
        check_comparing(Comparing(**given), runs, parse_all([measure]), replace(RULES, **rules))
    assert hint in str(problem.value)


def test_a_baseline_may_be_named_or_given_as_it_was_written() -> None:
    for name in ("bm25.txt", "a/bm25.txt"):
        check_comparing(Comparing(baseline=name), ["b/new.txt", "a/bm25.txt"], parse_all(["map"]), RULES)
