"""Rules for ties through the flow and the command line: expected, best, worst, and the tie report."""

import json
import math
import random
from fractions import Fraction
from pathlib import Path

import pytest

from rankeval_cli import evaluate
from rankeval_cli.cli import run as program
from rankeval_cli.errors import UsageError
from rankeval_cli.measures.expression import parse_all
from rankeval_cli.model import Rules
from rankeval_cli.passes import score_parts
from rankeval_cli.plan import Part

RUN = {"q1": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5}, "q2": {"a": 2.0, "b": 1.0}}
QRELS = {"q1": {"a": 1, "b": 0, "d": 2}, "q2": {"b": 1}}
RANKED = [
    "mrr@2",
    "map",
    "ndcg@2",
    "p@2",
    "recall@1",
    "hit@1",
    "rprec",
    "rbp",
    "bpref",
    "f1@2",
    "dcg",
    "ap:norm=found@2",
]


def per_query(measures, ties, run=RUN, qrels=QRELS, **rules) -> dict[str, dict[str, float]]:
    document = evaluate(run, qrels, measures, ties=ties, **rules).to_dict(per_query=True)
    return document["runs"][0]["per_query"]


def write_trec(folder: Path, run=RUN, qrels=QRELS) -> list[str]:
    lines = [f"{q} Q0 {doc} 1 {score} t" for q, docs in run.items() for doc, score in docs.items()]
    (folder / "run.txt").write_text("\n".join(lines) + "\n")
    judged = [f"{q} 0 {doc} {grade}" for q, docs in qrels.items() for doc, grade in docs.items()]
    (folder / "qrels.txt").write_text("\n".join(judged) + "\n")
    return [str(folder / "run.txt"), str(folder / "qrels.txt")]


@pytest.mark.parametrize(
    ("ties", "rr", "ndcg"),
    [
        ("worst", 1 / 3, 0.0),
        ("best", 1.0, 1 / (2 + 1 / math.log2(3))),
        ("expected", float(Fraction(1, 3) * (1 + Fraction(1, 2) + Fraction(1, 3))), None),
    ],
)
def test_tied_documents_by_grade_or_in_all_orders(ties, rr, ndcg):
    values = per_query(["mrr", "ndcg@2"], ties)
    assert values["q1"]["mrr"] == pytest.approx(rr, rel=1e-15)
    expected = (1 + 1 / math.log2(3)) / 3 / (2 + 1 / math.log2(3)) if ndcg is None else ndcg
    assert values["q1"]["ndcg@2"] == pytest.approx(expected, rel=1e-15)
    assert values["q2"]["mrr"] == 0.5


def test_unjudged_and_negative_documents_are_the_lowest_and_ids_break_what_is_left():
    run = {"q": dict.fromkeys("abcd", 1.0)}
    qrels = {"q": {"a": -1, "b": 0, "c": 1}}
    for ties, judged, unjudged in (("best", 1.0, 0.0), ("worst", 0.0, 1.0)):
        assert per_query(["judged@2", "unj@2"], ties, run, qrels)["q"] == {"judged@2": judged, "unj@2": unjudged}


def test_best_and_worst_order_inside_equal_scores_only():
    run = {"q": {"good": 1.0, "bad": 2.0, "worse": 2.0}}
    values = per_query(["mrr"], "best", run, {"q": {"good": 3, "bad": 0}})
    assert values["q"]["mrr"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_without_ties_every_rule_gives_the_bits_of_the_default(ties):
    chance = random.Random(3)
    run = {f"q{i}": {f"d{j}": score for j, score in enumerate(chance.sample(range(99), 20))} for i in range(5)}
    qrels = {f"q{i}": {f"d{j}": chance.choice([-1, 0, 1, 2]) for j in range(0, 25, 2)} for i in range(5)}
    assert per_query(RANKED, ties, run, qrels) == per_query(RANKED, "docid", run, qrels)


def tied_data(seed: int):
    chance = random.Random(seed)
    run = {f"q{i}": {f"d{j}": float(chance.randint(0, 5)) for j in range(40)} for i in range(6)}
    qrels = {f"q{i}": {f"d{j}": chance.choice([-1, 0, 0, 0.3, 1, 2]) for j in range(0, 45, 2)} for i in range(6)}
    return run, qrels


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_order_of_lines_changes_no_bit(ties):
    run, qrels = tied_data(5)
    turned = {query: dict(reversed(docs.items())) for query, docs in reversed(run.items())}
    assert per_query(RANKED, ties, run, qrels) == per_query(RANKED, ties, turned, qrels)


def run_in_order() -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """Queries of which two results are equal and the others fall, one that rises once, and one that only falls.

    On average a query has one line whose score does not fall: with more of them all lines are sorted.
    """
    docs = {f"d{(7 * j) % 40}": 40.0 - j + (j == 13) for j in range(40)}
    first, second, third, *rest = docs.items()
    run = {f"q{i}": docs for i in range(6)}
    run |= {"rises": dict([second, third, first, *rest]), "falls": {f"d{j}": 40.0 - j for j in range(40)}}
    return run, {query: {f"d{j}": j % 3 for j in range(40)} for query in run}


@pytest.mark.parametrize("ties", ["docid", "docid-asc", "random", "best", "worst"])
def test_few_ties_in_a_run_in_order_are_broken_as_among_lines_in_no_order(ties):
    run, qrels = run_in_order()
    chance = random.Random(4)
    mixed = {query: dict(chance.sample(list(docs.items()), len(docs))) for query, docs in run.items()}
    assert per_query(RANKED, ties, run, qrels) == per_query(RANKED, ties, mixed, qrels)


def test_few_ties_in_a_run_in_order_may_be_broken_by_that_order():
    run, qrels = run_in_order()
    apart = {query: {doc: docs[doc] - place / 1000 for place, doc in enumerate(docs)} for query, docs in run.items()}
    assert per_query(RANKED, "file", run, qrels) == per_query(RANKED, "docid", apart, qrels)


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_plain_and_compiled_loop_give_the_same_bits(ties, monkeypatch):
    run, qrels = tied_data(6)
    values = []
    for mode in ("off", "on"):
        monkeypatch.setenv("RANKEVAL_JIT", mode)
        values.append(per_query([*RANKED, "num_ret", "auc"], ties, run, qrels))
    assert values[0] == values[1]


def test_expected_lies_between_worst_and_best_and_near_the_mean_of_many_random_orders():
    run, qrels = tied_data(7)
    low, mean, high = (per_query(RANKED[:-1], ties, run, qrels) for ties in ("worst", "expected", "best"))
    orders = [per_query(RANKED[:-1], "random", run, qrels, seed=seed) for seed in range(150)]
    for query, values in mean.items():
        for measure, value in values.items():
            assert low[query][measure] - 1e-12 <= value <= high[query][measure] + 1e-12
            spread = high[query][measure] - low[query][measure]
            average = math.fsum(order[query][measure] for order in orders) / len(orders)
            assert average == pytest.approx(value, abs=0.15 * spread + 1e-12)


def test_judged_only_ranks_the_judged_documents_of_every_order():
    run = {"q": {"a": 1.0, "b": 1.0, "x": 1.0, "y": 1.0}}
    values = per_query(["mrr", "mrr(judged_only=True)"], "expected", run, {"q": {"a": 1, "b": 0}})["q"]
    assert values["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, rel=1e-15)
    assert values["mrr(judged_only=True)"] == 0.75
    assert per_query(["mrr"], "expected", run, {"q": {"a": 1, "b": 0}}, judged_only=True)["q"] == {"mrr": 0.75}


@pytest.mark.parametrize(
    ("labels", "scores", "measure", "value"),
    [
        ([3, 0, 1, 2], [0.5, 0.5, 0.5, 0.1], "ndcg@2", 0.5102404356002808),
        ([1, 0, 0], [0.5, 0.5, 0.5], "ndcg", 0.7103099226951599),
        ([1, 0, 0], [0.5, 0.5, 0.5], "ndcg@1", 0.3333333432674408),
        ([1, 0, 1, 0], [0.5, 0.5, 0.3, 0.1], "auc", 0.625),
    ],
    ids=["ndcg across the cutoff", "all tied", "all tied at 1", "auc"],
)
def test_values_of_torchmetrics(labels, scores, measure, value):
    """Single precision there."""
    docs = [f"d{i}" for i in range(len(labels))]
    report = evaluate(
        {"q": dict(zip(docs, scores, strict=True))},
        {"q": dict(zip(docs, labels, strict=True))},
        measure,
        ties="expected",
    )
    assert report[measure] == pytest.approx(value, abs=1e-6)


def test_equal_scores_throughout_are_warned_of_under_every_rule():
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    assert "only --ties best orders their documents" in evaluate(run, qrels, "mrr", ties="best").warnings[0]
    text = "the mean over all orders of their documents counts (--ties expected)"
    assert text in evaluate(run, qrels, "mrr", ties="expected").warnings[0]


@pytest.mark.parametrize("measure", ["err@3", "gm_map", "infAP", "iprec@0.1", "auc@5", "mean_rank@3"])
def test_measure_without_closed_form_is_refused_before_data_are_read(measure):
    with pytest.raises(UsageError, match=rf"`{measure}` has no closed form.*--ties expected") as caught:
        evaluate("absent.run", "absent.qrels", ["mrr", measure], ties="expected")
    assert caught.value.code == 2
    assert ("leave its cutoff out" in (caught.value.hint or "")) == (measure in ("auc@5", "mean_rank@3"))


def test_measure_of_a_gate_is_refused_too():
    with pytest.raises(UsageError, match="`err@3` has no closed form"):
        evaluate("absent.run", "absent.qrels", "mrr", ties="expected", gates=["err@3 >= 0.1"])


def test_expected_with_depth_is_refused_with_what_to_do():
    with pytest.raises(UsageError, match="--depth 5") as caught:
        Rules(ties="expected", depth=5)
    assert "ndcg@5" in (caught.value.hint or "")


def test_hit_rate_in_all_orders_is_no_share_of_successes():
    result = evaluate(RUN, QRELS, "hit@1", ties="expected").to_dict()["runs"][0]["measures"]["hit@1"]
    assert (result["value"], result["ci_method"]) == (pytest.approx(1 / 6), "t")
    asked = evaluate(RUN, QRELS, "hit@1", ties="expected", ci="wilson").to_dict()["runs"][0]["measures"]["hit@1"]
    assert asked["ci_note"] == "wilson is for measures that are 0 or 1 for each query"


def test_tie_report_has_the_values_that_each_rule_gives():
    measures = ["mrr@2", "ndcg@2", "err@3", "fallout@1", "num_ret"]
    found = evaluate(RUN, QRELS, measures, tie_report=True).to_dict()["runs"][0]
    for name, ties in found["ties"].items():
        assert ties["value"] == found["measures"][name]["value"] == evaluate(RUN, QRELS, name)[name]
        assert ties["worst"] == evaluate(RUN, QRELS, name, ties="worst")[name]
        assert ties["best"] == evaluate(RUN, QRELS, name, ties="best")[name]
        assert ties["expected"] == (None if name == "err@3" else evaluate(RUN, QRELS, name, ties="expected")[name])
    assert {name: ties["queries"] for name, ties in found["ties"].items()} == {
        "mrr@2": 1, "ndcg@2": 1, "err@3": 1, "fallout@1": 1, "num_ret": 0
    }  # fmt: skip
    assert [name for name, ties in found["ties"].items() if not ties["is_bound"]] == ["fallout@1"]


def test_tie_report_weighs_queries_and_leaves_out_what_only_a_gate_asks_for():
    report = evaluate(RUN, QRELS, "mrr", weights={"q1": 3, "q2": 1}, gates=["map >= 0"], tie_report=True)
    (ties,) = report.runs[0].ties
    assert (ties.worst, ties.best) == (pytest.approx((3 * (1 / 3) + 0.5) / 4), pytest.approx((3 * 1 + 0.5) / 4))


def test_tie_report_with_depth_lacks_the_expected_value_alone():
    (ties,) = evaluate(RUN, QRELS, "mrr", depth=1, tie_report=True).runs[0].ties
    assert (ties.expected, ties.worst, ties.best) == (None, 0.0, 0.5)


def test_tie_report_under_expected_has_it_as_the_value():
    (ties,) = evaluate(RUN, QRELS, "mrr", ties="expected", tie_report=True).runs[0].ties
    assert ties.value == ties.expected


def test_tie_report_of_a_labelled_table(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("query,score,label\nq1,1,0\nq1,1,1\nq2,2,0\nq2,1,1\n")
    (ties,) = evaluate(str(table), measures="mrr", tie_report=True).runs[0].ties
    assert (ties.expected, ties.worst, ties.best, ties.queries) == (0.625, 0.5, 0.75, 1)


def test_report_without_asking_says_nothing_of_ties():
    report = evaluate(RUN, QRELS, "mrr")
    assert report.runs[0].ties == ()
    assert "ties" not in report.to_dict()["runs"][0]


@pytest.mark.parametrize("queries_apart", [False, True], ids=["grouped", "gathered"])
def test_program_gives_rows_as_before_with_columns_behind_them(queries_apart, tmp_path, capsys):
    words = write_trec(tmp_path)
    if queries_apart:
        lines = (tmp_path / "run.txt").read_text().splitlines()
        (tmp_path / "run.txt").write_text("\n".join([*lines[1:], lines[0]]) + "\n")
    assert program([*words, "-m", "mrr@2", "map", "-q"]) == 0
    plain = capsys.readouterr().out.splitlines()
    assert program([*words, "-m", "mrr@2", "map", "-q", "--tie-report"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert ["\t".join(row.split("\t")[:7]) for row in shown] == plain
    assert shown[0].endswith("queries\tties_expected\tties_worst\tties_best\tties_queries")
    assert [row.split("\t")[7:] for row in shown if "\tmrr@2\tall\t" in row] == [["0.5", "0.25", "0.75", "1"]]
    assert all(row.split("\t")[7:] == [""] * 4 for row in shown[1:] if "\tall\t" not in row)


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("table", "mrr@2    0.2500    0.5000  0.2500  0.7500        1"),
        ("markdown", "| mrr@2 | 0.2500 | 0.5000 | 0.2500 | 0.7500 | 1 |"),
        ("latex", r"mrr@2 & 0.2500 & 0.5000 & 0.2500 & 0.7500 & 1 \\"),
        ("trec", "mrr@2_expected        \tall\t0.5000"),
        ("csv", ",2,0.5,0.25,0.75,1"),
        ("jsonl", '"ties_expected": 0.5, "ties_worst": 0.25, "ties_best": 0.75, "ties_queries": 1'),
    ],
)
def test_every_text_format_shows_the_tie_report(layout, expected, tmp_path, capsys):
    assert program([*write_trec(tmp_path), "-m", "mrr@2", "--tie-report", "-f", layout]) == 0
    assert expected in capsys.readouterr().out


def test_files_of_data_hold_the_tie_report(tmp_path, capsys):
    import polars as pl

    targets = [str(tmp_path / name) for name in ("report.json", "report.parquet")]
    assert (
        program([*write_trec(tmp_path), "-m", "mrr@2", "--tie-report", "-q", "-o", targets[0], "-o", targets[1]]) == 0
    )
    capsys.readouterr()
    ties = json.loads(Path(targets[0]).read_text())["runs"][0]["ties"]["mrr@2"]
    assert (ties["expected"], ties["worst"], ties["best"], ties["queries"]) == (0.5, 0.25, 0.75, 1)
    frame = pl.read_parquet(targets[1])
    assert frame["ties_queries"].to_list() == [None, None, 1]
    assert frame["ties_expected"].to_list() == [None, None, 0.5]


def test_table_names_measures_that_ties_can_push_beyond_the_best_order(tmp_path, capsys):
    assert program([*write_trec(tmp_path), "-m", "fallout@1", "--tie-report", "-f", "table"]) == 0
    assert "worst and best are no bounds for fallout@1" in capsys.readouterr().out


def test_parts_are_scored_while_the_run_is_read_once():
    from rankeval_cli.align import Aligner
    from rankeval_cli.judgments import load_judgments
    from rankeval_cli.opening import table_of
    from rankeval_cli.readers import ReadOptions

    table = table_of(RUN, "run", ReadOptions(), "run")
    judgments = load_judgments(table_of(QRELS, "qrels", ReadOptions(), "qrels"), Rules(), "qrels", lambda size: None)
    metrics = parse_all(["mrr", "hit@1"])
    ties = ("docid", "expected", "best", "docid-asc")
    parts = [Part(metrics[: 1 + (rule == "best")], Rules(ties=rule)) for rule in ties]
    aligners = []

    def make() -> Aligner:
        aligners.append(Aligner(table, judgments, Rules(), 10, None, [part.rules.ordering for part in parts]))
        return aligners[-1]

    _, scores = score_parts(table, judgments, parts, make, lambda facts: None)
    assert [one.values[:, 0].tolist() for one in scores] == [
        [pytest.approx(1 / 3)], [pytest.approx(11 / 18)], [1.0, 1.0], [1.0]
    ]  # fmt: skip
    assert len(aligners) == 1
    assert len(aligners[0].orderings) == 3  # all orders of ties start from the default one
