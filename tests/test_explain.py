"""`rankeval explain`: what a rank adds, what is marked, what is missed, and how it looks."""

from __future__ import annotations

import json
import math
import random
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from rankeval_cli import evaluate
from rankeval_cli.cli import run as program
from rankeval_cli.cuts import SAME_FOR_ALL, TOGETHER, UNDEFINED_WHEN_CUT
from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.explain import explain
from rankeval_cli.findings import Explanation
from rankeval_cli.flow import Request
from rankeval_cli.measures.expression import parse_all
from rankeval_cli.measures.registry import MEASURES
from rankeval_cli.model import Rules
from rankeval_cli.presets import parser
from rankeval_cli.report import Options
from rankeval_cli.report.explanation import listing
from rankeval_cli.report.listing import render

RUN = {"q1": {"d1": 5.0, "d2": 4.0, "d3": 4.0, "d4": 3.0, "d5": 2.0, "d6": 1.0}, "q2": {"d1": 1.0}}
OTHER = {"q1": {"d2": 9.0, "d9": 8.0, "d1": 7.0}, "q2": {"d1": 1.0}}
QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 3, "d4": -1, "d6": 2, "d9": 3}, "q2": {"d1": 1}, "q3": {"d7": 1}}


def explained(
    query: str = "q1", measures: str | list[str] = "ndcg@10", runs=(RUN,), qrels=QRELS, top=None, preset=None, **rules
) -> Explanation:
    words = [measures] if isinstance(measures, str) else measures
    request = Request(
        runs=tuple(runs),
        qrels=qrels,
        metrics=parse_all(words, parser(preset)),
        rules=Rules(preset=preset, **rules),
        given=frozenset(rules),
    )
    return explain(request, query, top, lambda label, size: nullcontext(lambda read: None))


def adds(found: Explanation, place: int = 0, ranking: int = 0) -> list[float | None]:
    return [row.adds[place] for row in found.rankings[ranking].rows]


def random_collection(seed: int) -> tuple[dict, dict]:
    rng = random.Random(seed)
    run, qrels = {}, {}
    for number in range(8):
        docs = [f"d{i}" for i in range(30)]
        rng.shuffle(docs)
        qrels[f"q{number}"] = {doc: rng.choice([-1, 0, 0, 1, 2, 3]) for doc in docs[:15]}
        rng.shuffle(docs)
        run[f"q{number}"] = {doc: float(rng.randint(0, 9)) for doc in docs[:20]}
    del run["q7"]
    qrels["q6"] = dict.fromkeys(qrels["q6"], 0)
    return run, qrels


RULES = {
    "default": {},
    "level": {"relevance_level": 2.0},
    "judged only": {"judged_only": True},
    "depth": {"depth": 5},
    "random ties": {"ties": "random", "seed": 3},
    "worst ties": {"ties": "worst"},
    "ascending": {"order": "ascending"},
    "negative counts": {"negative": "nonrelevant"},
    "nothing relevant is one": {"no_relevant": "one"},
    "nothing relevant is undefined": {"no_relevant": "nan"},
    "under a preset": {"preset": "ranx"},
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_the_value_is_that_of_an_evaluation_and_the_ranks_add_up_to_it(rules):
    run, qrels = random_collection(1)
    words = ["ndcg@10", "map", "mrr@10", "p@5", "recall@10", "bpref", "rbp", "mean_rank", "err"]
    if "preset" in rules:
        words = ["ndcg@10", "map", "mrr@10", "hits@5"]
    report = evaluate(run, qrels, words, **rules).to_dict(per_query=True)
    for query, values in report["runs"][0]["per_query"].items():
        found = explained(query, words, (run,), qrels, top=30, **rules)
        seen = {each.measure: each.value for ranking in found.rankings for each in ranking.measures}
        assert seen == values
        for ranking in found.rankings:
            for place, each in enumerate(ranking.measures):
                if each.has_shares and not each.note:
                    assert math.fsum(row.adds[place] for row in ranking.rows) == pytest.approx(each.value, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_every_measure_has_shares_that_add_up_or_a_reason(measure):
    run, qrels = random_collection(2)
    found = explained("q1", measure.examples[0], (run,), qrels, top=30)
    (each,) = found.rankings[0].measures[:1]
    if each.has_shares:
        start = float(re.match(r"(\S+) without results", each.note)[1]) if each.note else 0.0
        assert math.fsum(adds(found)) + start == pytest.approx(each.value, rel=1e-3 if each.note else 1e-12)
    else:
        assert each.note
        assert set(adds(found)) == {None}


def test_shares_of_well_known_measures_by_hand():
    found = explained(measures=["dcg", "mrr", "map", "recall", "p@4"], top=6)
    log2 = [1 / math.log2(rank + 1) for rank in range(1, 7)]
    assert adds(found, 0) == pytest.approx([log2[0], 3 * log2[1], 0, 0, 0, 2 * log2[5]])
    assert adds(found, 1) == [1, 0, 0, 0, 0, 0]
    assert adds(found, 2) == pytest.approx([1 / 4, 1 / 4, 0, 0, 0, 3 / 6 / 4])
    assert adds(found, 3) == pytest.approx([1 / 4, 1 / 4, 0, 0, 0, 1 / 4])
    assert adds(found, 4) == pytest.approx([1 / 4, 1 / 4, 0, 0, 0, 0])


def test_a_rank_may_lower_a_value():
    assert adds(explained(measures="set_p"))[:3] == pytest.approx([1, 0, 2 / 3 - 1])


@pytest.mark.parametrize(
    ("measure", "note"),
    [("mean_rank", UNDEFINED_WHEN_CUT), ("judged@5", UNDEFINED_WHEN_CUT), ("num_rel", SAME_FOR_ALL)],
)
def test_what_has_no_share_a_rank_says_why(measure, note):
    (each,) = explained(measures=measure).rankings[0].measures
    assert (each.has_shares, each.note) == (False, note)


def test_equal_scores_add_together_where_the_value_is_a_mean_over_their_orders():
    found = explained(measures=["mrr", "dcg"], ties="expected", runs=({"q1": {"d1": 1.0, "d2": 1.0, "d3": 0.5}},))
    first = found.rankings[0].measures[0]
    assert first.note == TOGETHER
    assert adds(found)[0] is None
    assert adds(found)[1:] == pytest.approx([(1 + 1 / 2) / 2, 0])
    assert first.value == pytest.approx(0.75)


def test_rows_carry_grade_status_ties_and_the_ideal():
    rows = explained().rankings[0].rows
    assert [row.doc for row in rows] == ["d1", "d3", "d2", "d4", "d5", "d6"]
    assert [row.grade for row in rows] == [1, 3, 0, -1, None, 2]
    assert [row.status for row in rows] == ["judged", "judged", "judged", "pooled", "unjudged", "judged"]
    assert [row.is_relevant for row in rows] == [True, True, False, False, False, True]
    assert [row.is_tied for row in rows] == [False, True, True, False, False, False]
    assert [row.ideal for row in rows] == [3, 3, 2, 1, 0, None]
    assert [row.score for row in rows] == [5, 4, 4, 3, 2, 1]


def test_only_the_top_and_relevant_documents_below_it_are_shown():
    ranking = explained(measures="ndcg@2").rankings[0]
    assert [row.rank for row in ranking.rows] == [1, 2, 6]
    assert (ranking.results, ranking.top) == (6, 2)
    assert [row.rank for row in explained(measures="ndcg@2", top=4).rankings[0].rows] == [1, 2, 3, 4, 6]


@pytest.mark.parametrize(
    ("rules", "why"),
    [({}, None), ({"depth": 5}, "cut off at rank 6 (--depth 5)"), ({"exclude": "pairs.txt"}, "left out (--exclude)")],
    ids=["absent", "depth", "exclude"],
)
def test_missed_documents_say_where_they_are(rules, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pairs.txt").write_text("q1 d6\n")
    ranking = explained(**rules).rankings[0]
    missed = {each.doc: each.why for each in ranking.missed}
    assert missed == {"d9": None, **({"d6": why} if why else {})}
    assert (ranking.num_relevant, ranking.num_missed) == (4, len(missed))


def test_judged_only_closes_the_ranks_up():
    rows = explained(judged_only=True).rankings[0].rows
    assert [(row.rank, row.doc) for row in rows] == [(1, "d1"), (2, "d3"), (3, "d2"), (4, "d6")]


def test_a_query_that_the_run_does_not_answer_has_an_empty_ranking():
    found = explained("q3", ["ndcg@10", "mean_rank"])
    ranking = found.rankings[0]
    assert (ranking.results, ranking.rows, [each.value for each in ranking.measures]) == (0, (), [0.0, None])
    assert "run1: query q3 has no results here: counted as an empty ranking (--missing zero)" in found.warnings
    assert explained("q3", missing="skip").rankings[0].measures[0].value is None
    with pytest.raises(InputError, match="judged query `q3` has no results"):
        explained("q3", missing="error")


def test_a_missing_query_may_be_spelt_otherwise(call):
    Path("run.txt").write_text("Q3 Q0 d7 1 1 t\nq1 Q0 d1 1 1 t\n")
    code, out, err = call("run.txt qrels.txt q3 -f table")
    assert code == 0
    assert "query ids may be spelt differently: `Q3` here, `q3` in the judgments" in err
    assert out == (
        "query q3\n"
        "run.txt: ndcg@10 0.0000; 0 of 1 relevant document in 0 results\n"
        "\n"
        "1 relevant document is missed\n"
        "document  grade\n"
        "───────────────\n"
        "d7            1\n"
    )


def test_two_runs_and_two_orders():
    assert [ranking.run for ranking in explained(runs=(RUN, OTHER)).rankings] == ["run1", "run2"]
    found = explained(measures=["RR@10", "RR"], preset="ir_measures")
    orders = {ranking.rules["ties"] for ranking in found.rankings}
    assert len(orders) == len(found.rankings) == 2


@pytest.mark.parametrize("has_docs", [True, False], ids=["with ids", "without ids"])
def test_a_labelled_table_is_explained_alone(has_docs):
    columns = {"query": ["q1", "q2", "q1"], "score": [0.5, 1.0, 0.9], "label": [2, 1, 0]}
    if has_docs:
        columns["doc"] = ["a", "b", "c"]
    ranking = explained(runs=(columns,), qrels=None).rankings[0]
    assert [(row.doc, row.grade, row.score) for row in ranking.rows] == [
        ("c" if has_docs else None, 0, 0.9),
        ("a" if has_docs else None, 2, 0.5),
    ]
    assert ranking.measures[0].value == pytest.approx(1 / math.log2(3))
    with pytest.raises(InputError, match="no query `q9` is judged here") as caught:
        explained("q9", runs=(columns,), qrels=None)
    assert "`q1`" in caught.value.hint


def test_a_run_of_ranks_shows_no_scores(tmp_path):
    (tmp_path / "run.tsv").write_text("q1\td1\t1\nq1\td9\t2\nq2\td1\t1\n")
    rows = explained(runs=(str(tmp_path / "run.tsv"),)).rankings[0].rows
    assert [(row.doc, row.score) for row in rows] == [("d1", None), ("d9", None)]


def test_duplicates_of_the_query_alone_matter(tmp_path):
    run = tmp_path / "run.txt"
    run.write_text("q1 Q0 d1 1 3 t\nq1 Q0 d3 2 2 t\nq2 Q0 d1 1 3 t\nq2 Q0 d1 2 2 t\n")
    assert explained(runs=(str(run),)).rankings[0].results == 2
    with pytest.raises(InputError, match="document `d1` is more than once in query `q2`"):
        explained("q2", runs=(str(run),))
    found = explained("q2", runs=(str(run),), duplicates="first")
    assert found.warnings == ("run.txt: 1 repeated document left out (--duplicates first)",)


def test_a_ranking_that_is_too_long_to_cut_is_refused(monkeypatch):
    monkeypatch.setattr("rankeval_cli.cuts.MOST_ROWS", 10)
    with pytest.raises(UsageError, match="the ranking of query `q1` has 6 documents"):
        explained()


def test_long_rankings_are_cut_in_slabs(monkeypatch):
    whole = explained(measures=["ndcg", "map"])
    monkeypatch.setattr("rankeval_cli.cuts.SLAB_ROWS", 7)
    assert explained(measures=["ndcg", "map"]) == whole


# How it looks


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    """`call("run.txt qrels.txt q1")` -> exit code, stdout, stderr of `rankeval explain`."""
    monkeypatch.chdir(tmp_path)
    for name, run in (("run.txt", RUN), ("other.txt", OTHER)):
        lines = [f"{query} Q0 {doc} 1 {score} t" for query, docs in run.items() for doc, score in docs.items()]
        Path(name).write_text("\n".join(lines) + "\n")
    judged = [f"{query} 0 {doc} {grade}" for query, docs in QRELS.items() for doc, grade in docs.items()]
    Path("qrels.txt").write_text("\n".join(judged) + "\n")

    def call(line: str, *words: str) -> tuple[int, str, str]:
        code = program(["explain", *line.split(), *words])
        return code, *capfd.readouterr()

    return call


def test_a_table_for_people(call):
    code, out, err = call("run.txt qrels.txt q1 -m ndcg@10 mean_rank -f table")
    assert (code, err) == (0, "")
    assert out == (
        "query q1\n"
        "run.txt: ndcg@10 0.5701, mean_rank 3.0000; 3 of 4 relevant documents in 6 results\n"
        "\n"
        "rank  document    score  grade  ndcg@10  ideal\n"
        "──────────────────────────────────────────────\n"
        "   1  d1        5.0000       1   0.1581      3\n"
        "   2  d3        4.0000=      3   0.2993      3\n"
        "   3  d2        4.0000=      0   0.0000      2\n"
        "   4  d4        3.0000      -1   0.0000      1\n"
        "   5  d5        2.0000       -   0.0000      0\n"
        "   6  d6        1.0000       2   0.1127\n"
        "\n"
        "1 relevant document is missed\n"
        "document  grade\n"
        "───────────────\n"
        "d9            3\n"
        "\n"
        "= the same score as a neighbour\n"
        "grade -: unjudged\n"
        "a grade below 0 counts as unjudged\n"
        f"no share of mean_rank a rank: {UNDEFINED_WHEN_CUT}\n"
    )


def test_rows_for_programs(call):
    code, out, err = call("run.txt qrels.txt q1 -m mrr@2")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "run\tquery\trank\tdoc\tscore\tgrade\tstatus\trelevant\ttied\tideal\tmrr@2",
        "run.txt\tq1\t1\td1\t5.0\t1\tjudged\t1\t0\t3\t1.0",
        "run.txt\tq1\t2\td3\t4.0\t3\tjudged\t1\t1\t3\t0.0",
        "run.txt\tq1\t6\td6\t1.0\t2\tjudged\t1\t0\t\t0.0",
        "run.txt\tq1\t\td9\t\t3\tmissed\t1\t\t\t",
        "run.txt\tq1\t\t\t\t\tvalue\t\t\t\t1.0",
    ]
    header, *rows = call("run.txt qrels.txt q1 -m mrr@2 -f csv")[1].splitlines()
    lines = [json.loads(line) for line in call("run.txt qrels.txt q1 -m mrr@2 -f jsonl")[1].splitlines()]
    assert [list(line) for line in lines] == [header.split(",")] * len(rows)


def test_a_document_for_programs(call):
    found = json.loads(call("run.txt other.txt qrels.txt q1 -m mrr@2 -f json -l 2")[1])
    assert [ranking["run"] for ranking in found["rankings"]] == ["run.txt", "other.txt"]
    assert found["rules"]["relevance_level"] == 2.0
    first = found["rankings"][0]
    assert first["measures"] == {"mrr@2": {"value": 0.5, "note": None}}
    assert first["ranks"][0] == {
        "rank": 1, "doc": "d1", "score": 5.0, "grade": 1, "status": "judged", "relevant": False, "tied": False,
        "ideal": 3, "adds": {"mrr@2": 0.0},
    }  # fmt: skip
    assert first["missed"] == [{"doc": "d9", "grade": 3, "why": None}]


@pytest.mark.parametrize("width", [120, 80, 60, 40, 24])
@pytest.mark.parametrize("runs", [(RUN,), (RUN, OTHER)], ids=["one run", "two runs"])
def test_tables_fit_the_terminal(width, runs):
    long = {query: {f"{doc}-of-a-shop": score for doc, score in docs.items()} for query, docs in RUN.items()}
    for chosen in (runs, (long,)):
        found = explained(measures=["ndcg@10", "map", "mrr@10"], runs=chosen)
        text = "".join(render(listing(found, "0"), "table", Options(width=width)))
        words = max(len(word) for word in text.split() if set(word) != {"─"})
        assert max(map(len, text.splitlines())) <= max(width, words + 5)
        assert all(row.doc in text for ranking in found.rankings for row in ranking.rows)


def test_ids_are_data(tmp_path, call):
    Path("run.txt").write_text("q1 Q0 \x1b[31md1 1 3 t\nq1 Q0 [bold]d2 2 2 t\n")
    for options in ("-f table", "-f table --color always"):
        out = call(f"run.txt qrels.txt q1 {options}")[1]
        assert "\\x1b[31md1" in out
        assert "[bold]d2" in out
        assert "\x1b[31m" not in out


def test_style_marks_what_is_relevant(call):
    out = call("run.txt qrels.txt q1 -f table --color always")[1]
    assert "\x1b[1md1\x1b[0m" in out
    assert "\x1b[2md5\x1b[0m" in out


@pytest.mark.parametrize(
    ("line", "what", "hint"),
    [
        ("run.txt qrels.txt q11", "qrels.txt: no query `q11` is judged here", "did you mean `q1`"),
        ("run.txt qrels.txt zzz", "no query `zzz` is judged here", "queries are `q1`, `q2`, `q3`"),
        ("run.txt qrels.txt", "", "the id of a query comes last: rankeval explain RUN QRELS QUERY"),
        ("run.txt other.txt qrels.txt", "", "the id of a query comes last"),
        ("run.txt", "a query is missing", "rankeval explain RUN QRELS QUERY"),
        ("", "a run, the judgments and a query are missing", "rankeval explain"),
        ("run.txt other.txt run.txt qrels.txt q1", "one run or two, not 3", "rankeval explain"),
        ("run.txt qrels.txt q1 --top 0", "'--top'", "--help"),
        ("run.txt qrels.txt q1 -m ndgc", "ndgc", "ndcg"),
        ("run.txt qrels.txt q1 --aggregate max", "--aggregate", "--help"),
        ("run.txt qrels.txt q1 -m err --ties expected", "`err` has no closed form", "choose another rule"),
        ("run.txt absent.txt q1", "absent.txt", "folder"),
        ("qrels.txt run.txt q1", "swapped", "rankeval run.txt qrels.txt"),
    ],
)
def test_errors_name_the_next_step(call, line, what, hint):
    code, out, err = call(line)
    assert (code, out) == (2, "")
    error, _, told = err.partition("hint: ")
    assert what in error
    assert hint in told
    assert "Traceback" not in err


def test_without_a_measure_the_first_of_the_defaults_is_shown(call):
    assert "ndcg@10" in call("run.txt qrels.txt q1")[1].splitlines()[0]
    assert call("run.txt qrels.txt q1 --preset ranx")[1].splitlines()[0].endswith("ndcg@10")


def test_warnings_can_be_silenced(call):
    assert "warning: run.txt: query q3 has no results here" in call("run.txt qrels.txt q3")[2]
    assert call("run.txt qrels.txt q3 --quiet")[2] == ""
