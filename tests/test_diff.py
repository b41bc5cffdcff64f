"""`rankeval diff`: which queries a second run helps or hurts, and how their relevant documents moved."""

from __future__ import annotations

import json
import math
import random
from contextlib import nullcontext
from pathlib import Path

import pytest

from rankeval_cli import evaluate
from rankeval_cli.cli import run as program
from rankeval_cli.errors import UsageError
from rankeval_cli.findings import Move, RunMoves
from rankeval_cli.flow import Request
from rankeval_cli.measures.expression import parse_all
from rankeval_cli.model import Rules
from rankeval_cli.moves import moves
from rankeval_cli.presets import parser
from rankeval_cli.report import Options
from rankeval_cli.report.listing import render
from rankeval_cli.report.moved import listing

BASE = {
    "q1": {"d1": 9.0, "d2": 8.0, "d3": 7.0},
    "q2": {"d1": 9.0, "d2": 8.0},
    "q3": {"d1": 9.0, "d4": 8.0},
    "q4": {"d1": 1.0},
}
RUN = {
    "q1": {"d3": 9.0, "d2": 8.0, "d1": 7.0},
    "q2": {"d2": 9.0, "d8": 8.0, "d1": 7.0},
    "q4": {"d1": 1.0},
    "q5": {"d7": 1.0},
}
QRELS = {
    "q1": {"d1": 0, "d2": 1, "d3": 2},
    "q2": {"d1": 1, "d2": 0, "d8": -1, "d9": 1},
    "q3": {"d1": 1, "d4": 1},
    "q4": {"d1": 1},
    "q5": {"d7": 1},
}


def moved(
    measures: str | list[str] = "mrr@10", runs=(BASE, RUN), qrels=QRELS, top=10, preset=None, **rules
) -> RunMoves:
    words = [measures] if isinstance(measures, str) else measures
    request = Request(
        runs=tuple(runs),
        qrels=qrels,
        metrics=parse_all(words, parser(preset)),
        rules=Rules(preset=preset, **rules),
        given=frozenset(rules),
    )
    return moves(request, top, lambda label, size: nullcontext(lambda read: None))


def test_queries_are_helped_hurt_or_left_as_they_were():
    (each,) = moved().measures
    assert [(query.query, query.before, query.after) for query in each.helped] == [("q5", 0.0, 1.0), ("q1", 0.5, 1.0)]
    assert [(query.query, query.diff) for query in each.hurt] == [("q3", -1.0), ("q2", pytest.approx(1 / 3 - 1))]
    assert (each.num_helped, each.num_hurt, each.num_same, each.num_undefined) == (2, 2, 1, 0)
    assert (each.before, each.after) == (pytest.approx(3.5 / 5), pytest.approx((1 + 1 / 3 + 1 + 1) / 5))


def test_the_moves_of_relevant_documents_are_by_their_best_rank():
    (each,) = moved().measures
    found = {query.query: query.moves for query in (*each.helped, *each.hurt)}
    assert found["q1"] == (Move("d3", 2.0, 3, 1),)  # d2 stays, d1 is not relevant
    assert found["q2"] == (Move("d1", 1.0, 1, 3),)  # d9 is in neither run
    assert found["q3"] == (Move("d1", 1.0, 1, None), Move("d4", 1.0, 2, None))
    assert found["q5"] == (Move("d7", 1.0, None, 1),)


def test_rules_act_on_the_ranks_too():
    (each,) = moved(judged_only=True).measures
    assert {query.query: query.moves for query in each.hurt}["q2"] == (Move("d1", 1.0, 1, 2),)
    (each,) = moved(depth=2).measures
    assert {query.query: query.moves for query in each.hurt}["q2"] == (Move("d1", 1.0, 1, None),)
    (each,) = moved("mrr(rel=2)@10").measures
    assert [query.query for query in each.helped] == ["q1"]
    assert each.helped[0].moves == (Move("d3", 2.0, 3, 1),)


def test_smaller_is_better_where_the_measure_says_so():
    (each,) = moved("mean_rank").measures
    assert [query.query for query in each.helped] == ["q1"]
    assert [query.query for query in each.hurt] == ["q2"]
    assert each.helped[0].diff == pytest.approx(1.5 - 2.5)
    assert each.num_undefined == 2  # q3 in one run, q5 in the other


def test_queries_that_one_run_lacks_are_compared_only_where_they_count():
    (each,) = moved(missing="skip").measures
    assert (each.num_helped, each.num_hurt, each.num_same, each.num_undefined) == (1, 1, 1, 2)


def test_each_measure_of_a_preset_has_the_ranks_of_its_own_order():
    run = {"q": {"a": 1.0, "b": 1.0}}
    found = moved(["RR@10", "RR"], (run, {"q": {"b": 2.0, "a": 1.0}}), {"q": {"a": 1}}, preset="ir_measures")
    assert {each.measure: each.num_hurt for each in found.measures} == {"RR@10": 1, "RR": 0}
    assert found.measures[0].hurt[0].moves == (Move("a", 1.0, 1, 2),)


@pytest.mark.parametrize("measure", ["ndcg@5", "map", "p@3", "first_rank", "num_rel_ret"])
@pytest.mark.parametrize("top", [1, 3, 100])
def test_the_differences_are_those_of_two_evaluations(measure, top):
    rng = random.Random(7)
    docs = [f"d{i}" for i in range(12)]
    qrels = {f"q{i}": {doc: rng.choice([0, 0, 1, 2]) for doc in rng.sample(docs, 6)} for i in range(40)}
    runs = [
        {f"q{i}": {doc: rng.random() for doc in rng.sample(docs, 8)} for i in range(40) if rng.random() < 0.9}
        for _ in range(2)
    ]
    values = []
    for run in runs:
        document = evaluate(run, qrels, measure).to_dict(per_query=True)
        values.append({query: found[measure] for query, found in document["runs"][0]["per_query"].items()})
    diffs = {
        query: after - before
        for query, before in values[0].items()
        if before is not None and (after := values[1][query]) is not None
    }
    sign = -1 if measure == "first_rank" else 1
    (each,) = moved(measure, runs, qrels, top=top).measures
    better = [(query, diff) for query, diff in diffs.items() if sign * diff > 0]
    assert each.num_helped == len(better)
    assert [(query.query, query.diff) for query in each.helped] == sorted(
        better, key=lambda pair: (-abs(pair[1]), pair[0].encode())
    )[:top]
    assert each.num_helped + each.num_hurt + each.num_same + each.num_undefined == len(qrels)


def test_infinite_values_are_ordered_and_equal_ones_are_the_same():
    run = {"q1": {"x": 1.0}, "q2": {"a": 1.0}}
    (each,) = moved(
        "first_rank(absent=inf)", (run, {"q1": {"y": 1.0}, "q2": {"y": 1.0}}), {"q1": {"a": 1}, "q2": {"a": 1}}
    ).measures
    assert [(query.query, query.diff) for query in each.hurt] == [("q2", math.inf)]
    assert each.num_same == 1


@pytest.mark.parametrize("runs", [(BASE,), (BASE, RUN, {"q1": {"a": 1.0}})], ids=["one", "three"])
def test_other_than_two_runs_are_refused(runs):
    with pytest.raises(UsageError, match="diff takes two runs"):
        moved(runs=runs)


# How it looks


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    """`call("a.txt b.txt qrels.txt")` -> exit code, stdout, stderr of `rankeval diff`."""
    monkeypatch.chdir(tmp_path)
    for name, run in (("a.txt", BASE), ("b.txt", RUN)):
        lines = [f"{query} Q0 {doc} 1 {score} t" for query, docs in run.items() for doc, score in docs.items()]
        Path(name).write_text("\n".join(lines) + "\n")
    judged = [f"{query} 0 {doc} {grade}" for query, docs in QRELS.items() for doc, grade in docs.items()]
    Path("qrels.txt").write_text("\n".join(judged) + "\n")

    def call(line: str) -> tuple[int, str, str]:
        code = program(["diff", *line.split()])
        return code, *capfd.readouterr()

    return call


def test_a_table_for_people(call):
    code, out, err = call("a.txt b.txt qrels.txt -m mrr@10 --top 1 -f table")
    assert code == 0
    assert "warning: a.txt: 1 of 5 judged queries (q5) has no results here" in err
    assert out == (
        "base a.txt, run b.txt\n"
        "\n"
        "mrr@10: 0.7000 -> 0.6667; 5 queries: 2 helped, 2 hurt, 1 the same\n"
        "\n"
        "helped most\n"
        "query    base     run     diff\n"
        "──────────────────────────────\n"
        "q5     0.0000  1.0000  +1.0000\n"
        "  d7 - -> 1\n"
        "\n"
        "hurt most\n"
        "query    base     run     diff\n"
        "──────────────────────────────\n"
        "q3     1.0000  0.0000  -1.0000\n"
        "  d1 1 -> -, d4 2 -> -\n"
        "\n"
        "ranks of relevant documents: base -> run, - where not ranked\n"
    )


def test_rows_for_programs(call):
    code, out, err = call("a.txt b.txt qrels.txt -m num_ret mrr@10 --top 1 --quiet")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "measure\teffect\tquery\tbase\trun\tdiff\tdoc\tgrade\tbase_rank\trun_rank",
        "num_ret\thelped\tq2\t2.0\t3.0\t1.0\td1\t1\t1\t3",
        "num_ret\thurt\tq3\t2.0\t0.0\t-2.0\td1\t1\t1\t",
        "num_ret\thurt\tq3\t2.0\t0.0\t-2.0\td4\t1\t2\t",
        "mrr@10\thelped\tq5\t0.0\t1.0\t1.0\td7\t1\t\t1",
        "mrr@10\thurt\tq3\t1.0\t0.0\t-1.0\td1\t1\t1\t",
        "mrr@10\thurt\tq3\t1.0\t0.0\t-1.0\td4\t1\t2\t",
    ]


def test_a_query_without_moves_has_a_row_all_the_same(call):
    Path("b.txt").write_text(Path("a.txt").read_text() + "q2 Q0 x 3 1 t\n")
    out = call("a.txt b.txt qrels.txt -m num_ret")[1]
    assert out.splitlines()[1:] == ["num_ret\thelped\tq2\t2.0\t3.0\t1.0\t\t\t\t"]


def test_a_document_for_programs(call):
    found = json.loads(call("a.txt b.txt qrels.txt -m mrr@10 --top 1 -f json")[1])
    assert (found["base"], found["run"], found["qrels"]) == ("a.txt", "b.txt", "qrels.txt")
    measure = found["measures"]["mrr@10"]
    assert (measure["helped"], measure["hurt"], measure["same"], measure["undefined"]) == (2, 2, 1, 0)
    assert measure["most_hurt"] == [
        {
            "query": "q3", "base": 1.0, "run": 0.0, "diff": -1.0,
            "moves": [
                {"doc": "d1", "grade": 1, "base_rank": 1, "run_rank": None},
                {"doc": "d4", "grade": 1, "base_rank": 2, "run_rank": None},
            ],
        }
    ]  # fmt: skip


def test_runs_that_do_not_differ_show_no_query(call):
    Path("b.txt").write_text(Path("a.txt").read_text())
    code, out, _ = call("a.txt b.txt qrels.txt -f table")
    assert code == 0
    assert out.splitlines()[2:] == ["ndcg@10: 0.6466 -> 0.6466; 5 queries: 0 helped, 0 hurt, 5 the same"]


def test_a_run_from_standard_input_is_read_twice(call, monkeypatch):
    import io
    import sys

    expected = call("a.txt b.txt qrels.txt -m mrr")[1]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("b.txt").read_bytes())))
    assert call("a.txt - qrels.txt -m mrr")[1] == expected


@pytest.mark.parametrize("width", [120, 80, 40, 24])
def test_tables_fit_the_terminal(width):
    text = "".join(render(listing(moved(["mrr@10", "mean_rank"]), "0"), "table", Options(width=width)))
    assert max(map(len, text.splitlines())) <= width


def test_long_lists_of_moves_are_cut_in_tables_alone():
    docs = [f"document-{i}" for i in range(12)]
    run = {"q": {doc: float(-i) for i, doc in enumerate(docs)}}
    turned = {"q": {doc: float(i) for i, doc in enumerate(docs)} | {"x": 99.0}}
    found = moved("p@1", (run, turned), {"q": dict.fromkeys(docs, 1)})
    text = "".join(render(listing(found, "0"), "table", Options(width=80)))
    assert "... 11 in all" in text
    assert len(found.measures[0].hurt[0].moves) == 11
    assert max(map(len, text.splitlines())) <= 80


def test_ids_are_data(call):
    Path("b.txt").write_text("q1 Q0 d2 1 3 t\nq1 Q0 \x1b[2Jd 2 2 t\n")
    Path("qrels.txt").write_text("q1 0 \x1b[2Jd 1\n")
    out = call("a.txt b.txt qrels.txt -m mrr -f table --color always")[1]
    assert "\\x1b[2Jd - -> 2" in out
    assert "\x1b[2J" not in out


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("a.txt qrels.txt", "diff takes two runs and the judgments"),
        ("a.txt", "diff takes two runs and the judgments"),
        ("", "a run and the judgments are missing"),
        ("a.txt b.txt b.txt qrels.txt", "diff takes two runs and the judgments"),
        ("a.txt a.txt qrels.txt", "run `a.txt` is given twice"),
        ("a.txt absent.txt qrels.txt", "absent.txt: no such file"),
        ("a.txt b.txt qrels.txt -m ndgc", "ndgc"),
        ("a.txt b.txt qrels.txt --top 0", "'--top'"),
        ("a.txt b.txt qrels.txt --ci bca", "--ci"),
    ],
)
def test_errors_name_the_next_step(call, line, what):
    code, out, err = call(line)
    assert (code, out) == (2, "")
    assert what in err
    assert "hint: " in err


def test_judgments_may_be_named_by_option(call):
    assert call("a.txt b.txt --qrels qrels.txt -m mrr")[1] == call("a.txt b.txt qrels.txt -m mrr")[1]
