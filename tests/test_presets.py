"""What every preset must be: its conventions, its words, what the user gives over it, and what reports say of it."""

import dataclasses
import math
from dataclasses import fields, replace

import pytest
from peers.calls import program, word

from rankeval_cli import evaluate, evaluate_arrays
from rankeval_cli.errors import UsageError
from rankeval_cli.measures.expression import is_measure, parse
from rankeval_cli.measures.registry import MEASURES, NAMES, usual_values
from rankeval_cli.measures.spec import Measure
from rankeval_cli.model import PRESET_RULES, Rules
from rankeval_cli.presets.describe import describe, settings_of
from rankeval_cli.presets.registry import PRESETS, find

OF_A_MEASURE = {"order", "score_precision", "ties", "missing", "no_relevant", "judged_only", *PRESET_RULES}
CONVENTIONS = [(preset, convention) for preset in PRESETS for convention in preset.conventions]
CONVENTION_IDS = [f"{preset.name}-{place}" for preset in PRESETS for place, _ in enumerate(preset.conventions)]
WORDS = [(preset, here, there) for preset in PRESETS for here, there in preset.names.items()]
WORD_IDS = [f"{preset.name}-{here}" for preset, here, _ in WORDS]
OTHER = {  # a legal value for each rule that presets set, which none of them sets
    "order": "file",
    "score_precision": "double",
    "ties": "worst",
    "relevance_level": 2.0,
    "missing": "zero",
    "no_relevant": "zero",
    "negative": "drop",
    "exclude_self": False,
    "ci": "t",
}
RANKED = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7}, "q2": {"d1": 0.5, "d2": 0.5}, "q3": {"d9": 0.1}}
RUN = [
    {"query": query, "doc": doc, "score": score, "rank": rank}
    for query, docs in RANKED.items()
    for rank, (doc, score) in enumerate(docs.items(), 1)
]
QRELS = {"q1": {"d2": 1, "d3": 2}, "q2": {"d2": 1, "d1": 0}, "q3": {"d8": 1}}

every_preset = pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
every_convention = pytest.mark.parametrize(("preset", "convention"), CONVENTIONS, ids=CONVENTION_IDS)


def as_word(measure: Measure, name: str) -> str:
    """A name with what may stand behind it."""
    if measure.at is not None:
        return word(name, usual_values(measure)[1])
    return name if measure.cutoff == "never" else word(name, 10)


def concerned(preset, convention):
    """The measures that a convention is about, as the preset's words."""
    metrics = [parse(as_word(NAMES[here], here))[0] for here in preset.names]
    metrics += [replace(metric, cutoff=None) for metric in metrics if metric.measure.cutoff == "optional"]
    return [metric for metric in metrics if convention.concerns(metric)]


@every_convention
def test_convention_is_about_measures_that_the_system_has(preset, convention):
    assert set(convention.measures) <= set(preset.names)
    assert concerned(preset, convention), "it is about no measure at all"


@every_convention
def test_convention_sets_rules_that_exist(preset, convention):
    assert isinstance(replace(Rules(), **convention.rules), Rules)


@every_convention
def test_convention_sets_parameters_and_fields_that_exist(preset, convention):
    assert set(convention.fields) <= {each.name for each in fields(Measure)}
    for metric in concerned(preset, convention) if convention.params else []:
        for name, value in convention.params.items():
            given = parse(as_word(metric.measure, word(metric.measure.name, **{name: value})))[0]
            assert given.params[name] == value
            assert preset.metric(metric).params[name] == value


@every_convention
def test_convention_does_something_and_says_what(preset, convention):
    assert convention.rules or convention.params or convention.fields
    assert convention.sentence.endswith(".")
    assert (convention.sentence, settings_of(convention)) in [
        (text.partition(" [")[0], text.partition(" [")[2].rstrip("]").split(", ") if " [" in text else [])
        for _, text in describe(preset)
    ]


@every_convention
def test_convention_about_some_measures_leaves_the_rules_of_the_run(preset, convention):
    if not convention.is_general:
        assert set(convention.rules) <= OF_A_MEASURE


@pytest.mark.parametrize(("preset", "here", "there"), WORDS, ids=WORD_IDS)
def test_name_there_is_a_word_under_the_preset(preset, here, there):
    (metric,) = preset.parse(as_word(NAMES[here], there))
    assert metric.measure.name == here


@pytest.mark.parametrize(("preset", "here", "there"), WORDS, ids=WORD_IDS)
def test_our_name_means_the_same_under_the_preset(preset, here, there):
    (ours,), (theirs,) = preset.parse(as_word(NAMES[here], here)), preset.parse(as_word(NAMES[here], there))
    assert (ours.canonical, ours.params) == (theirs.canonical, theirs.params)


@every_preset
def test_measure_that_the_system_lacks_is_refused_with_those_it_has(preset):
    lacking = [measure for measure in MEASURES if measure.name not in preset.names]
    assert lacking
    for measure in lacking:
        with pytest.raises(UsageError, match=f"{preset.name} has no") as refused:
            preset.parse(as_word(measure, measure.name))
        assert all(name in refused.value.hint for name in preset.names.values())


@every_preset
def test_program_ends_with_2_for_a_measure_that_the_system_lacks(preset, tmp_path):
    lacking = next(measure for measure in MEASURES if measure.name not in preset.names)
    words = ["--preset", preset.name, "-m", as_word(lacking, lacking.name)]
    said = program([str(tmp_path / "run.txt"), str(tmp_path / "qrels.txt"), *words])
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert "\nhint: " in said.err


def test_program_ends_with_2_for_a_preset_that_is_none(tmp_path):
    said = program([str(tmp_path / "run.txt"), str(tmp_path / "qrels.txt"), "--preset", "torchmetric"])
    assert (said.code, said.out) == (2, "")
    assert "there is no preset `torchmetric`" in said.err
    assert "torchmetrics" in said.err.partition("hint:")[2]


GIVEN = [(preset, convention, rule) for preset, convention in CONVENTIONS for rule in convention.rules]
GIVEN = [(preset, convention, rule) for preset, convention, rule in GIVEN if rule not in PRESET_RULES]


@pytest.mark.parametrize(
    ("preset", "convention", "rule"), GIVEN, ids=[f"{GIVEN[i][0].name}-{GIVEN[i][2]}-{i}" for i in range(len(GIVEN))]
)
def test_rule_that_the_user_gives_wins(preset, convention, rule):
    assert OTHER[rule] != convention.rules[rule]
    metric = concerned(preset, convention)[0]
    report = evaluate(RUN, QRELS, metric.written, preset=preset.name, **{rule: OTHER[rule]}).to_dict()
    assert report["rules"][rule] == OTHER[rule]
    assert rule not in report["runs"][0]["measures"][metric.written].get("rules", {})


PARAMS = [(preset, name, param) for preset, each in CONVENTIONS for name in each.measures for param in each.params]


@pytest.mark.parametrize(("preset", "name", "param"), PARAMS, ids=lambda each: getattr(each, "name", each))
def test_parameter_that_the_user_gives_wins(preset, name, param):
    declared = next(each for each in NAMES[name].params if each.name == param)
    ours = preset.parse(as_word(NAMES[name], name))[0].params[param]
    others = [value for value in (declared.default, *declared.choices, 0.5, 2) if value not in (None, ours)]
    words = {value: as_word(NAMES[name], word(name, **{param: value})) for value in others}
    other = next(value for value in others if is_measure(words[value]))
    assert preset.parse(words[other])[0].params[param] == other


def test_numbers_change_with_a_preset_and_with_what_is_given_over_it():
    def mean(**rules):
        return evaluate(RUN, QRELS, "map@1", **rules)["map@1"]

    assert mean(missing="skip") == pytest.approx((0 + 1 + 0) / 3)
    assert mean(preset="torchmetrics", missing="skip") == pytest.approx(0.0)  # d1 of q2 stands first in the file
    assert mean(preset="torchmetrics", ties="docid") == pytest.approx((0 + 1 + 0) / 3)


@every_preset
def test_gate_reads_words_as_the_preset_does(preset):
    here = next(name for name in ("ndcg", "rr") if name in preset.names)
    asked, gated = as_word(NAMES[next(iter(preset.names))], next(iter(preset.names))), f"{preset.names[here]}@2"
    (verdict,) = evaluate(RUN, QRELS, asked, preset=preset.name, gates=f"{gated} >= 0.9").gates
    assert verdict.value == evaluate(RUN, QRELS, gated, preset=preset.name)[gated]


def test_gate_on_a_measure_that_the_system_lacks_is_refused():
    with pytest.raises(UsageError, match="torchmetrics has no `bpref`"):
        evaluate(RUN, QRELS, "mrr", preset="torchmetrics", gates="bpref >= 0.5")


def test_gate_fails_the_program_under_a_preset(tmp_path):
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    run.write_text("q Q0 d1 1 2.0 t\nq Q0 d2 2 1.0 t\n")
    qrels.write_text("q 0 d2 1\n")
    words = [str(run), str(qrels), "--preset", "keras", "-m", "MeanReciprocalRank@10", "--fail-under"]
    assert program([*words, "MeanReciprocalRank@10=0.6"]).code == 1
    assert program([*words, "mrr@10=0.5"]).code == 0


@every_preset
def test_report_says_the_rules_of_the_run_and_those_of_each_measure(preset):
    words = [as_word(NAMES[here], here) for here in preset.names]
    report = evaluate(RUN, QRELS, words, preset=preset.name).to_dict()
    rules = report["rules"]
    assert rules["preset"] == preset.name
    assert rules == {**Rules(preset=preset.name).to_dict(), **general(preset)}
    for measure in words:
        own = report["runs"][0]["measures"][measure].get("rules", {})
        (metric,) = preset.parse(measure)
        expected = preset.rules_for(metric, Rules(preset=preset.name), frozenset()).to_dict()
        assert {**rules, **own} == {**rules, **expected}
        assert all(rules.get(name) != value for name, value in own.items()), "it repeats a rule of the run"


def general(preset):
    """The rules that its conventions about all measures set."""
    return {name: value for each in preset.conventions if each.is_general for name, value in each.rules.items()}


def test_report_without_a_preset_has_no_rule_of_presets():
    report = evaluate(RUN, QRELS, "mrr").to_dict()
    assert not set(report["rules"]) & set(PRESET_RULES)
    assert "rules" not in report["runs"][0]["measures"]["mrr"]


@pytest.mark.parametrize("name", ["trec_eval9", "TREC-EVAL9", "Trec_Eval9"])
def test_names_of_presets_ignore_case_and_dashes(name):
    assert find(name).name == "trec_eval9"
    assert evaluate(RUN, QRELS, "map", preset=name)["map"] == evaluate(RUN, QRELS, "map", preset="trec_eval9")["map"]


def test_names_of_presets_are_unique():
    assert len({preset.name for preset in PRESETS}) == len(PRESETS)
    assert all(dataclasses.is_dataclass(preset) for preset in PRESETS)


def test_rank_that_is_never_found_is_infinite_under_rankereval():
    def frr(**rules):
        report = evaluate(RANKED, {**QRELS, "q3": {"d8": 1}}, "FirstRelevantRank", preset="rankereval", **rules)
        return report["FirstRelevantRank"], report.runs[0].results[0].ci_note

    assert frr() == (math.inf, "a value is infinite")
    assert frr(aggregate="median")[0] == 2.0


JUDGED = {"q": {"a": -1, "b": 0, "c": 1}, "r": {"a": -1}}
ANSWERS = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}, "r": {"a": 1.0, "z": 1.0}}


def test_judged_counts_negative_grades_under_ir_measures():
    assert evaluate(ANSWERS, JUDGED, "Judged@3", preset="ir_measures")["Judged@3"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert evaluate(ANSWERS, JUDGED, "Judged@3")["Judged@3"] == pytest.approx((1 / 3 + 0) / 2)


def test_scores_of_zero_or_less_are_not_relevant_in_some_measures_of_torchmetrics():
    report = evaluate_arrays(
        [0.5, 0.0, -1.0], [0, 1, 1], measures=["RetrievalMRR", "RetrievalHitRate"], preset="torchmetrics"
    )
    assert (report["RetrievalMRR"], report["RetrievalHitRate"]) == (0.0, 1.0)
