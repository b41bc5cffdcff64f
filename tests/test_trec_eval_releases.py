"""`--as 9` against trec_eval 9 itself, in its Python wrapper; and what differs between the releases."""

from __future__ import annotations

import math
import random

import pytest
import pytrec_eval
from dropin import DropIn, Said, lines

NUM_QUERIES = 25
SUMMARIES = ("gm_map", "gm_bpref")  # whose values of a query are logarithms there, and not printed
Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def random_judgments(draw: random.Random) -> Grades:
    """Grades from -1 to 4; each query has one that is not negative, since the reference crashes without."""
    return {
        f"q{i}": {f"d{j}": draw.choice([-1, 0, 0, 0, 1, 1, 2, 4]) for j in draw.sample(range(60), draw.randint(1, 40))}
        | {"d60": draw.choice([0, 1])}
        for i in range(NUM_QUERIES)
    }


def random_run(draw: random.Random) -> Scores:
    """Scores with ties, some of which single precision alone makes."""
    near = [1.0 + step * 1e-8 for step in range(12)]
    return {
        f"q{i}": {
            f"d{j}": draw.choice([*near, draw.random(), float(draw.randint(-3, 3))])
            for j in draw.sample(range(90), draw.randint(1, 70))
        }
        for i in range(NUM_QUERIES + 3)
        if i % 9
    }


def in_files(drop_in: DropIn, run: Scores, qrels: Grades, *words: str) -> Said:
    judged = lines((query, 0, doc, grade) for query, grades in qrels.items() for doc, grade in grades.items())
    results = lines((q, "Q0", doc, 0, repr(score), "t") for q, scores in run.items() for doc, score in scores.items())
    return drop_in.on(judged, results, *words)


def printed(name: str, value: float) -> str:
    """As the lines have it; an empty ranking (after -J) is 0 there, and NaN in some measures of the reference."""
    return f"{value:.0f}" if name.startswith("num_") else f"{0.0 if math.isnan(value) else value:.4f}"


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("judged_only", [False, True], ids=["all", "judged"])
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_release_9(seed: int, judged_only: bool, level: int, drop_in: DropIn) -> None:
    draw = random.Random(seed)
    run, qrels = random_run(draw), random_judgments(draw)
    words = ["-q", "--as", "9", "-m", "all_trec", "-l", str(level), *(["-J"] if judged_only else [])]
    said = in_files(drop_in, run, qrels, *words)
    measures = pytrec_eval.supported_measures - {"runid", "num_q", "relstring"}
    reference = pytrec_eval.RelevanceEvaluator(
        qrels, measures, relevance_level=level, judged_docs_only_flag=judged_only
    ).evaluate(run)
    expected = {
        (name, query): printed(name, value)
        for query, values in reference.items()
        for name, value in values.items()
        if name not in SUMMARIES
    }
    found = {key: value for key, value in said.values.items() if key[1] != "all" and key[0] != "relstring"}
    assert len(expected) > 1500
    assert {key: (value, expected[key]) for key, value in found.items() if expected[key] != value} == {}
    assert found.keys() == expected.keys()
    for name in SUMMARIES:
        mean = math.fsum(values[name] for values in reference.values()) / len(reference)
        assert said.values[name, "all"] == f"{math.exp(mean):.4f}"


def both(drop_in: DropIn, *words: str) -> tuple[Said, Said]:
    """The small files by release 9 and by release 10."""
    return drop_in.on_files("--as", "9", *words), drop_in.on_files("--as", "10", *words)


def test_ten_is_the_default(drop_in: DropIn) -> None:
    assert drop_in.on_files("-q", "-m", "all_trec") == drop_in.on_files("-q", "-m", "all_trec", "--as", "10")


def test_scores_of_release_9_are_single_precision(drop_in: DropIn) -> None:
    files = ("q 0 a 1\n", "q Q0 a 1 1.00000003 t\nq Q0 b 2 1.00000001 t\n", "-m", "recip_rank", "--as")
    assert drop_in.on(*files, "9").values["recip_rank", "all"] == "0.5000"
    assert drop_in.on(*files, "10").values["recip_rank", "all"] == "1.0000"


@pytest.mark.parametrize(
    ("level", "old", "new"),
    [
        ("0.25", "0.5000", "0.5000"),  # one document in both
        ("0.3", "0.4000", "0.5000"),  # of 1.2 documents 9 makes two, 10 makes one
        ("0.6", "0.0000", "0.4000"),  # of 2.4 documents three, and two
    ],
)
def test_recall_levels_are_rounded_otherwise(level: str, old: str, new: str, drop_in: DropIn) -> None:
    qrels = lines(("q", 0, doc, 1) for doc in "abcd")
    run = lines(("q", "Q0", doc, 0, 9 - rank, "t") for rank, doc in enumerate("xayzb"))
    for release, expected in (("9", old), ("10", new)):
        said = drop_in.on(qrels, run, "--as", release, "-m", f"iprec_at_recall.{level}", "-m", f"11pt_avg.{level}")
        name = f"iprec_at_recall_{float(level):.2f}"
        assert said.values == {(name, "all"): expected, (f"11pt_avg_{level}", "all"): expected}


def test_missing_queries_are_counted_and_not_printed_in_release_9(drop_in: DropIn) -> None:
    old, new = both(drop_in, "-c", "-q", "-m", "set", "-m", "map", "-m", "gm_map", "-m", "P", "-m", "yaap")
    assert ("map", "q3") not in old.values
    assert new.values["map", "q3"] == "0.0000"
    assert {key: value for key, value in old.values.items() if key[0] != "yaap"} == {
        key: value for key, value in new.values.items() if key[0] != "yaap" and key[1] != "q3"
    }
    yaap = [float(new.values["yaap", query]) for query in ("q1", "q2", "q3")]
    assert float(new.values["yaap", "all"]) == pytest.approx(sum(yaap) / 3, abs=1e-4)
    assert float(old.values["yaap", "all"]) == pytest.approx(sum(yaap[:2]) / 3, abs=1e-4)


def test_release_9_has_no_rbp_in_its_groups(drop_in: DropIn) -> None:
    old, new = both(drop_in, "-m", "all_trec")
    assert [name for name in new.names if name not in old.names] == ["rbp", "rbp_resid", "unj_5", "unj_10", "unj_20"]
    assert drop_in.on_files("--as", "9", "-m", "rbp").names == ["rbp"]


def test_gains_of_words_are_those_of_grade_0_in_release_9(drop_in: DropIn) -> None:
    old, new = both(drop_in, "-q", "-m", "dcg.x=1")
    assert new.values["dcg_x=1", "q1"] == drop_in.on_files("-q", "-m", "dcg").values["dcg", "q1"]
    assert old.values["dcg_x=1", "q1"] == drop_in.on_files("-q", "-m", "dcg.0=1").values["dcg_0=1", "q1"]
    assert old.values != new.values


@pytest.mark.parametrize(
    ("words", "old", "new"), [((), 7, 4), (("-c",), 7, 0)], ids=["", "with all judged queries counted"]
)
def test_no_query_in_common(words: tuple[str, ...], old: int, new: int, drop_in: DropIn) -> None:
    for release, code in (("9", old), ("10", new)):
        said = drop_in.on("q1 0 a 1\n", "q2 Q0 a 1 1 t\n", *words, "--as", release, "-m", "map")
        assert said.code == code
        assert said.out == ("map                   \tall\t0.0000\n" if code == 0 else "")
        assert ("no query in common" in said.err) == (code != 0)
