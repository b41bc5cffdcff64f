"""Judgment groups and preferences: read, refused, and scored through the flow; trec_eval's own files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from naive import Query, naive

from rankeval_cli.align import Aligner
from rankeval_cli.assessments import load_groups, load_preferences, score_groups, score_preferences
from rankeval_cli.errors import InputError
from rankeval_cli.measures.printed import known_names, lines_of
from rankeval_cli.measures.registry import MEASURES
from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import Rules, Scores
from rankeval_cli.preferences import MEASURES as PREFERENCES
from rankeval_cli.readers import ReadOptions, fast, open_table, source

BY_GROUP = tuple(
    line.metric for entry, measure in known_names(MEASURES) if entry.by_group for line in lines_of(measure, entry)
)
BY_PREFERENCE = tuple(line.metric for entry, measure in known_names(PREFERENCES) for line in lines_of(measure, entry))


class Files:
    """Writes judgments and a run into a folder, and scores the one by the other."""

    def __init__(self, folder: Path) -> None:
        self.run, self.judgments = folder / "run.txt", folder / "judgments.txt"

    def write(self, judgments: str, run: str = "q1 Q0 a 1 1 t\n") -> Files:
        self.judgments.write_text(judgments)
        self.run.write_text(run)
        return self

    def groups(self, metrics: Sequence[Metric] = BY_GROUP, rules: Rules | None = None) -> Scores:
        return by_groups(self.judgments, self.run, metrics, rules)

    def preferences(self, rules: Rules | None = None, layout: str = "prefs") -> Scores:
        return by_preferences(self.judgments, self.run, layout, rules)


def by_groups(judgments: Path, run: Path, metrics: Sequence[Metric] = BY_GROUP, rules: Rules | None = None) -> Scores:
    table = open_table(str(run), "run", ReadOptions())
    judged, rules = load_groups(str(judgments)), rules or Rules(missing="skip")
    make = lambda layer, rules: Aligner(table, layer, rules, 10)  # noqa: E731
    return score_groups(table, judged, tuple(metrics), rules, make, lambda facts: None)[1]


def by_preferences(judgments: Path, run: Path, layout: str = "prefs", rules: Rules | None = None) -> Scores:
    table = open_table(str(run), "run", ReadOptions())
    judged, rules = load_preferences(str(judgments), layout), rules or Rules(missing="skip")
    make = lambda judgments, rules: Aligner(table, judgments, rules, 10)  # noqa: E731
    return score_preferences(table, judged, BY_PREFERENCE, rules, make, lambda facts: None)[1]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def values_of(scores: Scores, query: str) -> dict[str, float]:
    column = scores.queries.index(query)
    return {metric.written: float(row[column]) for metric, row in zip(scores.metrics, scores.values, strict=True)}


def printed(scores: Scores) -> set[tuple[str, str, str]]:
    """The lines that trec_eval prints: measure, query, value; the summary under `all`."""
    lines = set()
    for metric, row in zip(scores.metrics, scores.values, strict=True):
        is_sum = metric.measure.aggregate == "sum"
        total = row.sum() if is_sum else row.sum() / len(row)
        for query, value in [*zip(scores.queries, row, strict=True), ("all", total)]:
            lines.add((metric.written, query, str(int(value)) if is_sum else f"{value:6.4f}"))
    return lines


SHARED = [
    ("out.test.prefs", "prefs.test", "prefs.results.test", "prefs"),
    ("out.test.prefs", "prefs.comment.test", "prefs.results.test", "prefs"),
    ("out.test.qrels_prefs", "qrels.test", "results.test", "qrels_prefs"),
    ("out.test.qrels_jg", "qrels.123", "results.test", "qrels_jg"),
    ("out.test.qrels_jg", "qrels.comments.123", "results.test", "qrels_jg"),
]


@pytest.mark.parametrize(("expected", "judgments", "run", "layout"), SHARED, ids=[case[1] for case in SHARED])
def test_lines_are_those_of_the_reference_tool(
    expected: str, judgments: str, run: str, layout: str, shared: Callable[[str], Path]
) -> None:
    folder = shared("trec_eval_data")
    lines = {tuple(line.split()) for line in (folder / expected).read_text().splitlines()}
    paths = folder / judgments, folder / run
    scores = by_groups(*paths) if layout == "qrels_jg" else by_preferences(*paths, layout)
    assert printed(scores) == {line for line in lines if line[0] not in ("runid", "num_q")}


GROUPS = """\
q1 g1 a 1
q1 g1 b 0
q1 g2 a 0
q1 g2 c 2
q1 g10 b 1
q2 g2 a 1
q3 g1 x 0
"""
RUN = """\
q1 Q0 a 1 4.0 t
q1 Q0 b 2 3.0 t
q1 Q0 c 3 2.0 t
q3 Q0 a 1 1.0 t
"""
# The rankings of RUN against each group of GROUPS: grades in rank order, grades of judged documents not retrieved.
CASES = {
    "q1": [Query([1.0, 0.0, None]), Query([0.0, None, 2.0]), Query([None, 1.0, None])],
    "q2": [Query([], [1.0])],
    "q3": [Query([None], [0.0])],
}


@pytest.mark.parametrize("level", [1.0, 2.0])
def test_values_are_means_over_the_groups_of_a_query(level: float, files: Files) -> None:
    scores = files.write(GROUPS, RUN).groups(rules=Rules(relevance_level=level))
    assert scores.queries == ["q1", "q2", "q3"]
    for query, groups in CASES.items():
        for metric in BY_GROUP:
            expected = [naive(metric, group, level) for group in groups]
            assert values_of(scores, query)[metric.written] == pytest.approx(sum(expected) / len(expected)), query


def test_judged_only_drops_what_the_group_has_not_judged(files: Files) -> None:
    scores = files.write(GROUPS, RUN).groups(rules=Rules(judged_only=True))
    assert values_of(scores, "q1")["map_avgjg"] == pytest.approx((1 + 1 / 2 + 1) / 3)


def test_unanswered_queries_are_left_out_or_count_nothing(files: Files) -> None:
    assert files.write(GROUPS, RUN).groups(rules=Rules(missing="skip")).queries == ["q1", "q3"]
    assert values_of(files.groups(rules=Rules(missing="zero")), "q2")["map_avgjg"] == 0.0


def test_order_of_lines_does_not_matter(files: Files) -> None:
    reordered = "".join(reversed(GROUPS.splitlines(keepends=True)))
    expected = files.write(GROUPS, RUN).groups().values.tobytes()
    assert files.write(reordered, RUN).groups().values.tobytes() == expected


PREFS = "q1 g s a 2\nq1 g s b 1\nq1 g s c 0\n"


def test_ties_are_broken_by_ascending_document_id(files: Files) -> None:
    run = "".join(f"q1 Q0 {doc} 1 1.0 t\n" for doc in "cba")
    scores = files.write(PREFS, run).preferences()
    assert values_of(scores, "q1")["prefs_simp_ret"] == 1.0


def test_depth_cuts_the_ranking(files: Files) -> None:
    run = "".join(f"q1 Q0 {doc} 1 {score} t\n" for score, doc in enumerate("cba"))
    files.write(PREFS, run)
    assert values_of(files.preferences(), "q1")["prefs_num_prefs_ful_ret"] == 3.0
    cut = files.preferences(Rules(depth=2))
    assert values_of(cut, "q1")["prefs_num_prefs_ful_ret"] == 1.0
    assert values_of(cut, "q1")["prefs_num_prefs_ful"] == 3.0


@pytest.mark.parametrize("rules", [Rules(judged_only=True), Rules(relevance_level=2.0)], ids=["-J", "-l"])
def test_relevance_level_and_judged_only_change_no_preference(rules: Rules, files: Files) -> None:
    files.write(PREFS, "q1 Q0 x 1 3 t\nq1 Q0 b 2 2 t\nq1 Q0 a 3 1 t\n")
    expected = files.preferences(Rules())
    np.testing.assert_array_equal(files.preferences(rules).values, expected.values)
    assert values_of(expected, "q1")["prefs_simp"] == 2 / 3


def test_a_query_without_results_has_its_preferences_unfulfilled(files: Files) -> None:
    files.write(PREFS + PREFS.replace("q1", "q2"), "q1 Q0 a 1 1 t\n")
    assert files.preferences().queries == ["q1"]
    values = values_of(files.preferences(Rules(missing="zero")), "q2")
    assert values["prefs_num_prefs_poss"] == 3.0
    assert values["prefs_num_prefs_ful"] == values["prefs_avgjg_Rnonrel"] == 0.0


def test_queries_scattered_over_a_long_run_are_gathered(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose queries do not stand together is read again, and every value is that of the sorted run."""
    monkeypatch.setattr(source, "CHUNK_BYTES", 500)
    lines = [f"q{query} Q0 d{doc:05d} 1 {1 / (doc + 1)} t\n" for doc in range(100) for query in (1, 2)]
    judged = "".join(f"q{query} g s d{doc:05d} {doc % 3}\n" for query in (1, 2) for doc in range(0, 90, 7))
    scores = files.write(judged, "".join(lines)).preferences()
    expected = files.write(judged, "".join(sorted(lines))).preferences()
    np.testing.assert_array_equal(scores.values, expected.values)
    assert scores.values.min() >= 0


def test_a_repeated_level_counts_once_and_is_told(files: Files) -> None:
    files.write(PREFS + "q1 g s a 2\n")
    judged = load_preferences(str(files.judgments), "prefs")
    assert judged.judgments.warnings == (f"{files.judgments}: 1 repeated level: each counts once",)
    assert values_of(files.preferences(), "q1")["prefs_num_prefs_poss"] == 3.0


@pytest.mark.parametrize("layout", ["prefs", "qrels_prefs", "qrels_jg"])
def test_the_line_reader_and_the_fast_path_read_the_same(
    layout: str, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    subgroup = " s" if layout == "prefs" else ""
    judgments = "".join(f"q{i % 3} g{i % 2}{subgroup} d{i} {i % 4}\n" for i in range(30))
    files.write(judgments, "".join(f"q{i % 3} Q0 d{i} 1 {i % 7} t\n" for i in range(40)))
    read = files.groups if layout == "qrels_jg" else lambda: files.preferences(layout=layout)
    expected = read().values
    monkeypatch.setattr(fast, "parse", lambda *data, **more: None)
    np.testing.assert_array_equal(read().values, expected)
    assert len(set(expected.ravel().tolist())) > 5


# layout -> judgments -> message, line numbers
REFUSED = {
    ("qrels_jg", "q1 g a 1\nq1 h a 1\nq1 g b 0\nq1 g a 1\n"): (
        "document `a` of query `q1` is judged more than once in group `g`",
        (1, 4),
    ),
    ("qrels_jg", "q1 g a 1\nq1 g a\n"): (
        "3 fields where 4 are expected (query, judgment group, document, grade)",
        (2,),
    ),
    ("qrels_jg", "q1 g a yes\n"): ("`yes`", (1,)),
    ("qrels_jg", "# nothing\n"): ("is empty: no judgments", ()),
    ("prefs", "q1 g s a 1\nq1 g a 1\n"): (
        "4 fields where 5 are expected (query, judgment group, subgroup, document, level)",
        (2,),
    ),
    ("prefs", "q1 g s a 1\nq1 g t a 2\nq1 g s a 2\n"): (
        "document `a` of query `q1` has two levels in subgroup `s` of group `g`",
        (1, 3),
    ),
    ("prefs", "q1 g s a 1\nq1 g s b 2\nq1 g t b 1\nq1 g t a 2\n"): (
        "the subgroups of group `g` of query `q1` prefer document `a` to `b` and `b` to `a`",
        (1, 4),
    ),
    ("prefs", "q1 g s a 1\nq2 g s a 1\nq1 g s b 0\nq1 g t b 1\n"): (
        "document `b` has level 0 in one subgroup and a higher one in another, in group `g` of query `q1`",
        (3, 4),
    ),
    ("qrels_prefs", "q1 g a 1\nq1 g a 2\n"): ("document `a` of query `q1` has two levels in group `g`", (1, 2)),
    ("qrels_prefs", ""): ("is empty: no judgments", ()),
}


@pytest.mark.parametrize(("layout", "text"), REFUSED, ids=[f"{case[0]}-{case[1]!r}" for case in REFUSED])
def test_judgments_that_cannot_be_are_refused_with_their_lines(layout: str, text: str, files: Files) -> None:
    message, lines = REFUSED[layout, text]
    files.write(text)
    with pytest.raises(InputError) as caught:
        load_groups(str(files.judgments)) if layout == "qrels_jg" else load_preferences(str(files.judgments), layout)
    assert message in caught.value.what
    assert caught.value.where == (", ".join(f"{files.judgments}:{line}" for line in lines) or str(files.judgments))
    assert caught.value.hint


def test_groups_that_contradict_each_other_are_fine(files: Files) -> None:
    files.write("q1 g s a 1\nq1 g s b 2\nq1 h s b 1\nq1 h s a 2\n")
    values = values_of(files.preferences(), "q1")
    assert values["prefs_num_prefs_poss"] == 2.0
    assert values["prefs_pair"] == 0.5


def test_a_document_twice_in_the_run_is_refused_by_its_query(files: Files) -> None:
    files.write(GROUPS, RUN + "q1 Q0 a 4 1.0 t\n")
    with pytest.raises(InputError, match="document `a` is more than once in query `q1`"):
        files.groups()
