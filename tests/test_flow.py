"""The whole flow against its slow twin and against pytrec_eval, and what results must not depend on."""

from __future__ import annotations

import math
import random

import polars as pl
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate_slowly

from rankeval_cli import Rules, evaluate, opening
from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.measures.expression import parse_all
from rankeval_cli.measures.registry import MEASURES

EVERY_MEASURE = [
    {"required": f"{measure.name}@3", "value": f"{measure.name}@0.4"}.get(measure.cutoff, measure.name)
    for measure in MEASURES
]
EVERY_CUTOFF = [f"{measure.name}@2" for measure in MEASURES if measure.cutoff == "optional"]
DOCS = ["a", "b", "B", "é", "z10", "z9", "007", "7", "q1", "𝔸"]
QUERIES = ["q1", "q10", "q2", "Q2"]
SCORES = st.sampled_from([-1.5, -0.0, 0.0, 0.5, 1.0, 1.00000001, 1.00000002, 3e38, math.inf, -math.inf])
GRADES = st.sampled_from([-2.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.5, 1.5])

pairs = st.lists(st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCS)), unique=True, min_size=1, max_size=25)


@st.composite
def inputs(draw, scores=SCORES, grades=GRADES):
    run = [(query, doc, draw(scores)) for query, doc in draw(pairs)]
    qrels = [(query, doc, draw(grades)) for query, doc in draw(pairs)]
    return run, qrels


def tables(run, qrels):
    run_frame = pl.DataFrame(run, schema=["query", "doc", "score"], orient="row")
    return run_frame, pl.DataFrame(qrels, schema=["query", "doc", "grade"], orient="row")


def have_query_in_common(run, qrels):
    return {query for query, _, _ in run} & {query for query, _, _ in qrels}


rules = st.fixed_dictionaries(
    {},
    optional={
        "order": st.sampled_from(["score", "ascending", "file"]),
        "ties": st.sampled_from(["docid", "docid-asc", "file"]),
        "score_precision": st.sampled_from(["double", "single"]),
        "relevance_level": st.sampled_from([0.0, 0.5, 1.0, 2.0]),
        "missing": st.sampled_from(["zero", "skip"]),
        "no_relevant": st.sampled_from(["zero", "one", "skip", "nan"]),
        "judged_only": st.booleans(),
        "exclude_self": st.booleans(),
        "depth": st.integers(1, 4),
    },
)


@settings(max_examples=150, deadline=None)
@given(inputs(), rules)
def test_every_measure_agrees_with_the_slow_twin_under_every_rule(data, options):
    run, qrels = data
    if not have_query_in_common(run, qrels):
        with pytest.raises(InputError, match="no query in common"):
            evaluate(*tables(run, qrels), **options)
        return
    words = [*EVERY_MEASURE, *EVERY_CUTOFF]
    report = evaluate(*tables(run, qrels), words, ci="none", **options)
    expected = evaluate_slowly(run, qrels, list(parse_all(words)), Rules(**options))
    got = report.to_dict(per_query=True)["runs"][0]["per_query"]
    assert list(got) == list(expected)
    for query, values in expected.items():
        defined = {name: value for name, value in values.items() if value is not None}
        assert {name for name, value in got[query].items() if value is not None} == set(defined), query
        assert {name: got[query][name] for name in defined} == pytest.approx(defined, rel=1e-12, abs=1e-12), query


TREC_MEASURES = {
    "map": "map", "recip_rank": "mrr", "Rprec": "rprec", "bpref": "bpref", "P_5": "p@5", "recall_5": "recall@5",
    "ndcg": "ndcg", "ndcg_cut_5": "ndcg@5", "map_cut_5": "map@5", "success_1": "hit@1", "success_5": "hit@5",
    "num_ret": "num_ret", "num_rel": "num_rel", "num_rel_ret": "num_rel_ret",
}  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(inputs(scores=st.integers(-3, 3).map(float), grades=st.integers(-2, 3).map(float)), st.sampled_from([1, 2]))
def test_agrees_with_pytrec_eval(data, level):
    run, qrels = data
    judged: dict[str, dict[str, int]] = {}
    for query, doc, grade in qrels:
        judged.setdefault(query, {})[doc] = int(grade)
    scored: dict[str, dict[str, float]] = {}
    for query, doc, score in run:
        scored.setdefault(query, {})[doc] = score
    # pytrec_eval 0.5.11 reads memory it never wrote for a query all of whose judgments are negative
    judged = {query: grades for query, grades in judged.items() if max(grades.values()) >= 0}
    if not judged.keys() & scored.keys():
        return
    names = {"map", "recip_rank", "Rprec", "bpref", "P", "recall", "ndcg", "ndcg_cut", "map_cut", "success"}
    names |= {"num_ret", "num_rel", "num_rel_ret"}
    theirs = pytrec_eval.RelevanceEvaluator(judged, names, relevance_level=level).evaluate(scored)
    report = evaluate(scored, judged, list(TREC_MEASURES), relevance_level=level, ci="none")
    ours = report.to_dict(per_query=True)["runs"][0]["per_query"]
    for query, values in theirs.items():
        assert ours[query] == pytest.approx({name: values[name] for name in TREC_MEASURES}, abs=1e-9), query


SAMPLE = [*EVERY_MEASURE, "ndcg(gain=exp)@5", "map@5", "p@5"]


def some_rows(num_queries=30, seed=0):
    chance = random.Random(seed)
    docs = [f"d{i}" for i in range(60)]
    run, qrels = [], []
    for q in range(num_queries):
        run += [(f"q{q}", doc, chance.choice([0.5, 1.25, chance.random()])) for doc in chance.sample(docs, 40)]
        qrels += [(f"q{q}", doc, float(chance.choice([-1, 0, 0, 1, 2]))) for doc in chance.sample(docs, 15)]
    return run, qrels


def values_of(report):
    document = report.to_dict(per_query=True)
    return [(run["coverage"], run["measures"], run["per_query"]) for run in document["runs"]]


@pytest.mark.parametrize("ties", ["docid", "docid-asc", "random"])
def test_line_order_does_not_matter(ties):
    run, qrels = some_rows()
    whole = values_of(evaluate(*tables(run, qrels), SAMPLE, ties=ties))
    random.Random(1).shuffle(run)
    random.Random(2).shuffle(qrels)
    assert values_of(evaluate(*tables(run, qrels), SAMPLE, ties=ties)) == whole


def test_random_ties_depend_on_the_seed_alone():
    run, qrels = some_rows()
    first, again, other = (
        values_of(evaluate(*tables(run, qrels), SAMPLE, ties="random", ci="none", seed=seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_nothing_reaches_stdout(capfd):
    run, qrels = some_rows(3)
    evaluate([tables(run, qrels)[0]] * 1, tables(run, qrels)[1])
    assert capfd.readouterr() == ("", "")


def test_inputs_are_left_as_they_were():
    run, qrels = tables(*some_rows(3))
    before = run.clone(), qrels.clone()
    evaluate(run, qrels)
    assert run.equals(before[0])
    assert qrels.equals(before[1])


def test_a_report_finds_measures_by_either_name():
    report = evaluate({"q1": {"a": 1.0}}, {"q1": {"a": 1}}, ["mrr@10"])
    assert report["mrr@10"] == report["rr@10"] == 1.0
    with pytest.raises(KeyError, match="mrr@10"):
        report["map"]


def test_per_query_frame_has_a_column_a_measure():
    frame = evaluate({"q1": {"a": 1.0}}, {"q1": {"a": 1}, "q2": {"b": 1}}, ["mrr", "mean_rank"]).per_query
    assert frame.rows() == [("run1", "q1", 1.0, 1.0), ("run1", "q2", 0.0, None)]


def test_an_unknown_rule_is_told():
    with pytest.raises(UsageError, match="tie") as caught:
        evaluate({}, {}, tie="docid")
    assert "ties" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/run.txt"], ["run.txt"]),
        (["a/run.txt", "b/run.txt"], ["a/run.txt", "b/run.txt"]),
        (["x/a/run.txt", "y/a/run.txt", "other.txt"], ["x/a/run.txt", "y/a/run.txt", "other.txt"]),
        (["-"], ["-"]),
    ],
)
def test_names_are_lengthened_until_they_differ(paths, names):
    assert opening.unique_names(paths) == names


def test_the_same_run_twice_is_refused():
    with pytest.raises(UsageError, match=r"run\.txt"):
        opening.unique_names(["run.txt", "run.txt"])


RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
QRELS = {"q1": {"b": 1}, "q2": {"a": 1, "c": 2}}


@pytest.mark.parametrize(
    ("run", "qrels", "options", "words"),
    [
        pytest.param({"q1": RUN["q1"]}, QRELS, {}, "1 of 2 judged queries (q2) has no results", id="missing"),
        pytest.param({**RUN, "q9": {"a": 1.0}}, QRELS, {}, "1 query of the run not judged and left out: q9", id="new"),
        pytest.param(RUN, {**QRELS, "q2": {"a": 0}}, {}, "nothing relevant at level 1", id="nothing relevant"),
        pytest.param(RUN, QRELS, {"relevance_level": 9}, "no grade reaches the relevance level 9", id="level"),
        pytest.param({"q1": {"a": 1.0, "b": 1.0}}, QRELS, {}, "all scores are equal in 1 query", id="constant"),
        pytest.param({"q1": {"q1": 1.0, "b": 0.5}}, QRELS, {}, "1 result is the query itself", id="self"),
        pytest.param({"q1": {"x": 1.0, "y": 0.5}}, QRELS, {}, "no document in common", id="no document"),
        pytest.param({"q1": {"A": 1.0, "B": 0.5}}, QRELS, {}, "`B` for `b`", id="spelling of documents"),
        pytest.param({**RUN, "Q1": RUN["q1"]}, {**QRELS, "Q2": {"a": 1}}, {}, "judged and left out", id="other case"),
        pytest.param({"q1": RUN["q1"], "02": RUN["q2"]}, {"q1": {"b": 1}, "2": {"a": 1}}, {}, "`02` here", id="zero"),
    ],
)  # fmt: skip
def test_whatever_can_change_a_number_is_warned_of(run, qrels, options, words):
    warnings = evaluate(run, qrels, "mrr@10", **options).warnings
    assert any(words in warning for warning in warnings), warnings


def test_a_clean_evaluation_warns_of_nothing():
    assert evaluate(RUN, QRELS, "mrr@10").warnings == ()


def test_a_missing_query_can_be_an_error():
    with pytest.raises(InputError, match=r"1 of 2 judged queries \(q2\) has no results"):
        evaluate({"q1": RUN["q1"]}, QRELS, missing="error")


def test_gates_are_decided_and_their_measures_stay_out_of_the_report():
    report = evaluate(RUN, QRELS, "mrr@10", gates=["p@1 >= 0.5", "mean(mrr@10) > 0.9"])
    assert [verdict.passed for verdict in report.gates] == [True, False]
    assert [result.measure for result in report.runs[0].results] == ["mrr@10"]


def test_each_input_needs_only_its_own_column_names():
    run = pl.DataFrame({"question": ["q1"], "doc": ["a"], "sim": [1.0]})
    qrels = pl.DataFrame({"qid": ["q1"], "docid": ["a"], "rel": [1]})
    assert evaluate(run, qrels, "mrr", columns={"query": "question"})["mrr"] == 1.0


def test_a_column_name_that_no_input_has_is_refused():
    run = pl.DataFrame({"qid": ["q1"], "doc": ["a"], "sim": [1.0]})
    with pytest.raises(UsageError, match="no input has a column `qestion`"):
        evaluate(run, {"q1": {"a": 1}}, "mrr", columns={"query": "qestion"})


def test_an_unknown_role_of_columns_is_refused():
    with pytest.raises(UsageError, match="no role `question`"):
        evaluate({}, {}, columns={"question": "q"})
