"""Agreement with trec_eval 9.0.8 (through pytrec-eval-terrier) and ir_measures on random judgments and runs.

trec_eval holds scores in single precision, orders by score and then document id, both downward, and rounds recall
levels in another way than its release 10 does; both are handled here by name.
"""

import math
import struct
from dataclasses import replace

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import kernel_value
from naive import Query

from rankeval_cli.measures.expression import parse
from rankeval_cli.measures.registry import MEASURES

CUTOFFS = "1,2,3,5,10"
MULTIPLES = "0.2,0.4,0.5,0.6,0.75,1,1.2,1.4,2,5"
WORDS = [
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "map", "Rprec", "bpref", "recip_rank"),
    *("infAP", "utility", "binG", "G", "ndcg", "ndcg_rel", "Rndcg"),
    *("set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    *(f"{name}.{CUTOFFS}" for name in ("P", "recall", "ndcg_cut", "map_cut", "relative_P", "success")),
    f"Rprec_mult.{MULTIPLES}",
]
LEVELS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)
DOCS = [f"d{i}" for i in range(12)]
SCORES = st.sampled_from([0.0, -1.0, 2.0, 2.5, 1.0, 1.00000001, 1.0000003, 1e-30, 3e9])  # some tie in single precision
EXAMPLES = settings(max_examples=150, deadline=None, derandomize=True)

QRELS = st.dictionaries(
    st.sampled_from(DOCS), st.sampled_from([-2, -1, 0, 0, 1, 1, 2, 3, 4]), min_size=1, max_size=10
).filter(
    lambda qrels: max(qrels.values()) >= 0  # trec_eval itself stops at a query with negative grades only
)
RUNS = st.dictionaries(st.sampled_from(DOCS), SCORES, min_size=1, max_size=12)


def ranked(qrels, run, single=True) -> Query:
    """The query in trec_eval's order."""
    score = {doc: to_single(value) if single else value for doc, value in run.items()}
    order = sorted(run, key=lambda doc: (score[doc], doc.encode()), reverse=True)
    grades = [None if doc not in qrels else float(qrels[doc]) for doc in order]
    unretrieved = [float(grade) for doc, grade in qrels.items() if doc not in run]
    return Query(grades, unretrieved, [score[doc] for doc in order])


def to_single(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def trec_eval(words, qrels, run, level, judged_only=False) -> dict[str, float]:
    evaluator = pytrec_eval.RelevanceEvaluator(
        {"q": qrels}, set(words), relevance_level=level, judged_docs_only_flag=judged_only
    )
    return evaluator.evaluate({"q": run}).get("q", {})


@given(qrels=QRELS, run=RUNS, level=st.sampled_from([1, 1, 2, 3]), judged_only=st.booleans())
@EXAMPLES
def test_values_are_those_of_trec_eval_to_the_last_bit(qrels, run, level, judged_only):
    query, theirs = ranked(qrels, run), trec_eval(WORDS, qrels, run, level, judged_only)
    ours = {
        metric.written: kernel_value(replace(metric, judged_only=judged_only), query, float(level))
        for word in WORDS
        for metric in parse(word)
    }
    assert ours == {name: theirs[name] for name in ours}


@given(qrels=QRELS, run=RUNS, level=st.sampled_from([1, 2]))
@EXAMPLES
def test_interpolated_precision_differs_from_release_9_in_its_rounding_only(qrels, run, level):
    query = ranked(qrels, run)
    num_rel = len([grade for grade in query.judged if grade >= level])
    theirs = trec_eval([f"iprec_at_recall.{','.join(map(str, LEVELS))}", "11pt_avg"], qrels, run, level)
    for metric in parse(f"iprec_at_recall.{','.join(map(str, LEVELS))}"):
        same = replace(metric, params={"recall": release_9_level(metric.params["recall"], num_rel)})
        assert kernel_value(same, query, float(level)) == theirs[metric.written]
    (mean,) = parse("11pt")
    levels = tuple(release_9_level(value, num_rel) for value in mean.params["levels"])
    assert kernel_value(replace(mean, params={"levels": levels}), query, float(level)) == theirs["11pt_avg"]


def release_9_level(level: float, num_rel: int) -> float:
    """The recall level whose nearest number of documents is what release 9 makes of `level`."""
    return math.floor(level * num_rel + 0.9) / num_rel if num_rel else level


@given(qrels=QRELS, run=RUNS, level=st.sampled_from([1, 2]))
@EXAMPLES
def test_geometric_means_are_of_the_values_whose_logarithms_trec_eval_has(qrels, run, level):
    theirs = trec_eval(["gm_map", "gm_bpref"], qrels, run, level)
    ours = {word: math.log(kernel_value(parse(word)[0], ranked(qrels, run), float(level))) for word in theirs}
    assert ours == theirs
    assert len(ours) == 2


@given(qrels=QRELS, run=RUNS, beta=st.sampled_from(["0.5", "0.3", "1.0", "2.5"]))
@EXAMPLES
def test_set_f_has_the_bits_of_trec_eval_for_any_weight(qrels, run, beta):
    word = f"set_F.{beta}"
    assert kernel_value(parse(word)[0], ranked(qrels, run)) == trec_eval([word], qrels, run, 1)["set_F"]


@given(qrels=QRELS, run=RUNS)
@EXAMPLES
def test_f1_is_the_set_measure_of_trec_eval_where_beta_is_one(qrels, run):
    theirs = trec_eval(["set_F"], qrels, run, 1)["set_F"]
    assert kernel_value(parse("f1")[0], ranked(qrels, run)) == pytest.approx(theirs, rel=1e-12)


IR_MEASURES = [
    *("RR(rel=2)@3", "Judged@1", "Judged@3", "Judged@10", "AP(rel=2,judged_only=True)@3", "P(rel=2)@5", "SetR(rel=2)"),
    *("SetP(rel=2)", "SetP(relative=True)", "SetAP", "SetF(rel=2)", "infAP"),
    *("nDCG(gains={1:0,2:5})@3", "nDCG(judged_only=True)@5", "NumRet(rel=2)", "Success(rel=3)@2"),
]


@given(qrels=QRELS, docs=st.lists(st.sampled_from(DOCS), min_size=1, unique=True))
@EXAMPLES
def test_values_are_those_of_ir_measures(qrels, docs):
    """Without ties, which its providers break differently; it counts a negative grade as a judgment, we do not."""
    run = {doc: float(-place) for place, doc in enumerate(docs)}
    for word in IR_MEASURES:
        if word.startswith("Judged") and min(qrels.values()) < 0:
            continue
        value = kernel_value(parse(word)[0], ranked(qrels, run))
        assert value == pytest.approx(ir_measures_value(word, qrels, run), rel=1e-12), word


def ir_measures_value(word, qrels, run) -> float:
    """One measure alone: asked for together, one with `gains` spoils the others, depending on the order of a set."""
    (found,) = ir_measures.iter_calc([ir_measures.parse_measure(word)], {"q": qrels}, {"q": run})
    return found.value


@given(labels=st.lists(st.sampled_from([0, 1]), min_size=2, max_size=15), data=st.data())
@EXAMPLES
def test_area_under_the_curve_is_that_of_scikit_learn(labels, data):
    from sklearn.metrics import roc_auc_score

    scores = sorted(data.draw(st.lists(SCORES, min_size=len(labels), max_size=len(labels))), reverse=True)
    value = kernel_value(parse("auc")[0], Query([float(label) for label in labels], [], scores))
    if len(set(labels)) < 2:
        assert value is None
    else:
        assert value == pytest.approx(roc_auc_score(labels, scores), rel=1e-12)


def test_every_measure_that_trec_eval_has_is_compared():
    compared = {
        metric.measure.name for word in [*WORDS, "11pt", "iprec@0", "gm_map", "gm_bpref"] for metric in parse(word)
    }
    absent = {"dcg", "ideal_dcg", "rbp", "rbp_resid", "unj", "yaap"}  # new in release 10; yaap: not in pytrec_eval
    assert {measure.name for measure in MEASURES if measure.trec_eval} - compared == absent
