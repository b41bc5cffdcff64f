"""Judgment groups and preferences in the drop-in trec_eval, on files small enough to count by hand."""

from __future__ import annotations

import math

import pytest
from dropin import DropIn

# Ranking: a, b, c (not judged by anybody), d. Group 1 finds a and d relevant, group 2 only b.
RUN = "q Q0 a 1 4 t\nq Q0 b 2 3 t\nq Q0 c 3 2 t\nq Q0 d 4 1 t\n"
GROUPS = "q 1 a 1\nq 1 b 0\nq 1 d 1\nq 2 a 0\nq 2 b 2\nr 1 a 1\n"
# Group 1 prefers a (2) to b (1) and to x (0), b to x; group 2, in two subgroups, d to a and a to b.
PREFERENCES = "q 1 1 a 2\nq 1 1 b 1\nq 1 1 x 0\nq 2 1 d 3\nq 2 1 a 1\nq 2 2 a 2.5\nq 2 2 b 1.5\nr 1 1 a 1\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("-m map_avgjg", {"map_avgjg": ((1 + 2 / 4) / 2 + 1 / 2) / 2}),
        ("-m P_avgjg.1,2", {"P_avgjg_1": (1 + 0) / 2, "P_avgjg_2": (1 / 2 + 1 / 2) / 2}),
        ("-m Rprec_mult_avgjg.1.5", {"Rprec_mult_avgjg_1.50": (1 / 3 + 1 / 2) / 2}),
        ("-m map_avgjg -l 2", {"map_avgjg": (0 + 1 / 2) / 2}),
        ("-m map_avgjg -M 3", {"map_avgjg": (1 / 2 + 1 / 2) / 2}),
        ("-m map_avgjg -J", {"map_avgjg": ((1 + 2 / 3) / 2 + 1 / 2) / 2}),
    ],
)
def test_judgment_groups(words: str, expected: dict[str, float], drop_in: DropIn) -> None:
    said = drop_in.on(GROUPS, RUN, "-R", "qrels_jg", "-q", *words.split())
    assert said.code == 0
    assert said.values == {(name, query): f"{value:.4f}" for name, value in expected.items() for query in ("q", "all")}


def test_groups_count_missing_queries(drop_in: DropIn) -> None:
    said = drop_in.on(GROUPS, RUN, "-R", "qrels_jg", "-cq", "-m", "map_avgjg", "-m", "num_q")
    assert said.values["num_q", "all"] == "2"
    assert said.values["map_avgjg", "r"] == "0.0000"
    assert said.values["map_avgjg", "all"] == f"{((1 + 2 / 4) / 2 + 1 / 2) / 4:.4f}"


# Preferences of group 1: a > b, a > x, b > x, all fulfilled, one of them with both retrieved. Of group 2: d > a and
# d > b (by way of a) are not, a > b is; all of them are of retrieved documents.
COUNTED = {
    "prefs_num_prefs_poss": "6",
    "prefs_num_prefs_ful": "4",
    "prefs_num_prefs_ful_ret": "2",
    "prefs_simp": f"{4 / 6:.4f}",
    "prefs_simp_ret": f"{2 / 4:.4f}",
    "prefs_simp_imp": f"{4 / 6:.4f}",
    "prefs_pair": f"{3 / 5:.4f}",  # a-b twice the same vote, a-x, b-x; d-a, d-b
    "prefs_pair_ret": f"{1 / 3:.4f}",
    "prefs_avgjg": f"{(1 + 1 / 3) / 2:.4f}",
    "prefs_avgjg_ret": f"{(1 + 1 / 3) / 2:.4f}",
}


@pytest.mark.parametrize("name", COUNTED)
def test_preferences(name: str, drop_in: DropIn) -> None:
    said = drop_in.on(PREFERENCES, RUN, "-R", "prefs", "-q", "-m", "all_prefs")
    assert said.values[name, "q"] == said.values[name, "all"] == COUNTED[name]
    assert said.names[14:16] == ["runid", "num_q"]


def test_ties_of_preferences_are_broken_upward(drop_in: DropIn) -> None:
    tied = "q Q0 a 1 1 t\nq Q0 b 2 1 t\n"
    said = drop_in.on("q 1 1 a 2\nq 1 1 b 1\n", tied, "-R", "prefs", "-m", "prefs_simp")
    assert said.values == {("prefs_simp", "all"): "1.0000"}
    assert drop_in.on("q 0 a 1\n", tied, "-m", "recip_rank").values == {("recip_rank", "all"): "0.5000"}


def test_qrels_read_as_preferences(drop_in: DropIn) -> None:
    said = drop_in.on("q 1 a 2.5\nq 1 b 2.25\nq 1 x 0\n", RUN, "-R", "qrels_prefs", "-m", "prefs_num_prefs_ful")
    assert said.values == {("prefs_num_prefs_ful", "all"): "3"}


def test_level_and_judged_only_do_not_act_on_preferences(drop_in: DropIn) -> None:
    plain = drop_in.on(PREFERENCES, RUN, "-R", "prefs", "-q", "-m", "all_prefs").out
    assert drop_in.on(PREFERENCES, RUN, "-R", "prefs", "-q", "-m", "all_prefs", "-l", "3", "-J").out == plain
    assert drop_in.on(PREFERENCES, RUN, "-R", "prefs", "-q", "-m", "all_prefs", "-M", "1").out != plain


@pytest.mark.parametrize(
    ("format", "qrels", "code", "text"),
    [
        ("qrels_jg", "q 1 a 1\nq 1 a 1\n", 2, "judged more than once in group `1`"),
        ("qrels_jg", "q 1 a\n", 2, "malformed line: 3 fields where 4 are expected (query, judgment group, "),
        ("prefs", "q 1 a 1\n", 2, "malformed line: 4 fields where 5 are expected"),
        ("prefs", "q 1 1 a 1\n\n", 2, "is blank"),
        ("prefs", "q 1 1 a nan\n", 2, "level `nan` is no finite number"),
        ("prefs", "q 1 1 a 1\nq 1 1 a 2\n", 4, "has two levels"),
        ("prefs", "q 1 1 a 1\nq 1 2 a 0\n", 4, "has level 0 in one subgroup"),
        ("prefs", "q 1 1 a 2\nq 1 1 b 1\nq 1 2 a 1\nq 1 2 b 2\n", 4, "prefer document `a` to `b` and `b` to `a`"),
        ("prefs", "z 1 1 a 1\n", 4, "no query in common"),
        ("qrels_prefs", "q 1 a 1\nq 1 a 2\n", 4, "has two levels"),
    ],
    ids=str,
)
def test_refused_judgments(format: str, qrels: str, code: int, text: str, drop_in: DropIn) -> None:
    measure = "map_avgjg" if format == "qrels_jg" else "prefs_simp"
    said = drop_in.on(qrels, RUN, "-R", format, "-m", measure)
    assert (said.code, said.out) == (code, "")
    assert text in said.err


@pytest.mark.parametrize(
    ("format", "line", "told"),
    [
        ("qrels_jg", "q 1 {} 1.5", "of a grade only the whole number"),
        ("qrels_prefs", "q 1 {} 1.5x", "of a level only the number"),
        ("prefs", "q 1 1 {} good", "a grade that is no number counts as 0"),
    ],
)
def test_lenient_readings(format: str, line: str, told: str, drop_in: DropIn) -> None:
    measure = "map_avgjg" if format == "qrels_jg" else "prefs_num_prefs_poss"
    files = ("".join(line.format(doc) + "\n" for doc in "ab"), RUN, "-R", format, "-m", measure)
    said = drop_in.on(*files)
    assert said.code == 0
    assert f"{told}" in said.err
    assert "(1 more)" in said.err
    assert drop_in.on(*files, "--strict").code == 2


def test_only_the_query_of_debugging_is_evaluated(drop_in: DropIn) -> None:
    run = RUN + "r Q0 a 1 1 t\n"
    for format, qrels, measure in (("prefs", PREFERENCES, "prefs_simp"), ("qrels_jg", GROUPS, "map_avgjg")):
        whole = drop_in.on(qrels, run, "-R", format, "-qm", measure).values
        one = drop_in.on(qrels, run, "-R", format, "-qm", measure, "-D", "0.q").values
        assert one == {(measure, "q"): whole[measure, "q"], (measure, "all"): whole[measure, "q"]}
        mean = (float(whole[measure, "q"]) + float(whole[measure, "r"])) / 2
        assert math.isclose(float(whole[measure, "all"]), mean, abs_tol=1e-4)
