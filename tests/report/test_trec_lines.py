"""The lines of trec_eval, byte for byte, and what a measure is called there."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sample_report import METRICS, REPORT, SINGLE

from rankeval_cli.measures.expression import parse
from rankeval_cli.model import Report
from rankeval_cli.report import Options
from rankeval_cli.report.trec import render_trec, trec_name


def lines(report: Report, per_query: bool = False) -> list[str]:
    return "".join(render_trec(report, Options(per_query))).removesuffix("\n").split("\n")


def test_summary_lines_are_those_of_trec_eval() -> None:
    assert lines(SINGLE) == [
        "mrr@10                \tall\t0.3472",
        "ndcg_cut_10           \tall\t0.4103",
        "mean_rank             \tall\t2.6250",
        "num_ret               \tall\t4010",
    ]


def test_queries_come_first_and_undefined_is_nan_in_six_columns() -> None:
    shown = lines(SINGLE, per_query=True)
    assert shown[0] == "mrr@10                \t50%_&\t1.0000"
    assert shown[10] == "mean_rank             \ta|b\t   nan"
    assert shown[-4:] == lines(SINGLE)


def test_a_runid_begins_each_of_several_runs() -> None:
    starts = [line for line in lines(REPORT, per_query=True) if line.startswith("runid")]
    assert starts == ["runid                 \tall\tbm25", "runid                 \tall\tdense|\\u202e_é&.tsv"]
    assert lines(REPORT, per_query=True)[0] == starts[0]


def test_runs_with_one_tag_are_told_apart_by_their_names() -> None:
    named = zip(REPORT.runs, "ab", strict=True)
    runs = [replace(run, source=replace(run.source, tag="same", name=name)) for run, name in named]
    starts = [line for line in lines(replace(REPORT, runs=tuple(runs))) if line.startswith("runid")]
    assert [line.split("\t")[2] for line in starts] == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.00004, "0.0000"), (-0.5, "-0.5000"), (123456.78901, "123456.7890"), (math.inf, "   inf"), (None, "   nan")],
)
def test_values_are_printed_as_by_printf(value: float | None, shown: str) -> None:
    results = (replace(SINGLE.runs[0].results[0], value=value),)
    report = replace(SINGLE, runs=(replace(SINGLE.runs[0], results=results),))
    assert lines(report) == [f"mrr@10                \tall\t{shown}"]


def test_a_fraction_of_a_count_keeps_its_decimals() -> None:
    results = (replace(SINGLE.runs[0].results[3], value=668.5),)
    assert lines(replace(SINGLE, runs=(replace(SINGLE.runs[0], results=results),))) == [
        "num_ret               \tall\t668.5000"
    ]


def test_a_line_stays_one_line_whatever_the_id() -> None:
    run = SINGLE.runs[0]
    scores = replace(run.scores, queries=["a\tb\nc\\"], values=np.zeros((4, 1)))
    shown = lines(replace(SINGLE, runs=(replace(run, scores=scores),)), per_query=True)
    assert len(shown) == 8
    assert shown[0] == "mrr@10                \ta\\tb\\nc\\\t0.0000"


def test_long_names_overflow() -> None:
    long = "x" * 30
    metric, result = replace(METRICS[0], written=long), replace(SINGLE.runs[0].results[0], measure=long)
    run = replace(SINGLE.runs[0], results=(result,), scores=replace(SINGLE.runs[0].scores, metrics=(metric,)))
    assert lines(replace(SINGLE, runs=(run,))) == [f"{long}\tall\t0.3472"]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("map", "map"),
        ("P_5", "P_5"),
        ("P.5", "P_5"),
        ("p@5", "P_5"),
        ("nDCG@10", "ndcg_cut_10"),
        ("ndcg_cut.10", "ndcg_cut_10"),
        ("ndcg", "ndcg"),
        ("ap@100", "map_cut_100"),
        ("recall@1000", "recall_1000"),
        ("recall", "set_recall"),
        ("hit@10", "success_10"),
        ("mrr", "recip_rank"),
        ("iprec@0.1", "iprec_at_recall_0.10"),
        ("iprec_at_recall.0.00", "iprec_at_recall_0.00"),
        ("11pt_avg", "11pt_avg"),
        ("ndcg.1=3.5,2=9", "ndcg_1=3.5,2=9"),
        ("ndcg_1=3.5,2=9", "ndcg_1=3.5,2=9"),
        ("rbp", "rbp"),
        ("rbp.p=0.9", "rbp.p=0.9"),
        ("rbp(p=0.9,gain=scaled)", "rbp"),
        ("rbp(gain=scaled)", "rbp_p=0.8"),
        ("rbp(gain=scaled,gains={1:0.5})", "rbp_p=0.8,1=0.5"),
        ("rbp_resid(p=0.9)", "rbp_resid"),
        ("rbp_resid", "rbp_resid_p=0.8"),
        ("Rprec_mult.0.2", "Rprec_mult_0.20"),
        ("rprec_mult@2", "Rprec_mult_2.00"),
        ("utility", "utility"),
        ("utility.2,-1.0,0,0", "utility_2,-1.0,0,0"),
        ("utility(p1=2)", "utility_2,-1,0,0"),
        ("utility(num_docs=9)", "utility(num_docs=9)"),
        ("set_f(beta=0.5)", "set_F_0.5"),
        ("11pt_avg.0.5,0.2", "11pt_avg_0.5,0.2"),
        ("11pt(levels=[0.2,0.5])", "11pt_avg_0.2,0.5"),
        ("nDCG(gains={1:3.5,2:9})", "ndcg_1=3.5,2=9"),
        ("dcg(base=e)", "dcg(base=e)"),
        ("g", "G"),
        ("bing", "binG"),
        ("infap", "infAP"),
        ("r_cap@5", "relative_P_5"),
        ("SetP(relative=True)", "set_relative_P"),
        ("map_cut_10", "map_cut_10"),
        ("mrr@10", "mrr@10"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("p(judged_only=True)@5", "p(judged_only=True)@5"),
        ("ndcg_exp@10", "ndcg_exp@10"),
        ("dcg@10", "dcg@10"),
        ("err@10", "err@10"),
        ("rbp.95", "rbp.95"),
    ],
)
def test_a_measure_is_called_as_there_where_it_exists_there(written: str, name: str) -> None:
    assert [trec_name(metric) for metric in parse(written)] == [name]
