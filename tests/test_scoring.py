"""The driver: both loops, policies for queries with nothing to find, views of gains and of judged documents."""

from __future__ import annotations

import numpy as np
import pytest

from rankeval_cli import scoring
from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.judgments import ideal_grades
from rankeval_cli.measures.expression import parse_all
from rankeval_cli.measures.registry import MEASURES
from rankeval_cli.model import Judgments, Ranked, Rules, Source

EVERY_MEASURE = [
    {"required": f"{measure.name}@3", "value": f"{measure.name}@0.4"}.get(measure.cutoff, measure.name)
    for measure in MEASURES
]


def judgments_of(ideal_offsets, ideal):
    queries = [f"q{i:03d}" for i in range(len(ideal_offsets) - 1)]
    return Judgments(Source("qrels", "qrels", "trec", len(ideal)), queries, None, ideal_offsets, ideal, "sha256:0")


def random_block(seed, num_queries=40):
    """Rankings of 0 to 30 rows with every status; some queries without a judgment of 1 or more."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 30, num_queries)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    status = random.integers(0, 3, offsets[-1]).astype(np.uint8)
    grade = np.where(status == 2, random.integers(0, 4, offsets[-1]), -1).astype(np.float64)
    score = np.concatenate([-np.sort(-random.integers(0, 9, n)) for n in lengths]).astype(np.float64)
    query = np.repeat(np.arange(num_queries), lengths)
    unfound = np.arange(num_queries).repeat(3)
    every = np.concatenate((query[status == 2], unfound))
    grades = np.concatenate((grade[status == 2], random.integers(0, 3, len(unfound)).astype(np.float64)))
    order = np.argsort(every, kind="stable")
    goal, ideal = ideal_grades(every[order].astype(np.uint32), grades[order], num_queries)
    return Ranked(np.arange(num_queries), offsets, grade, status, score, goal, ideal)


def scores_of(ranked, words, rules=None):
    judgments = judgments_of(ranked.ideal_offsets, ranked.ideal)
    scorer = scoring.Scorer(parse_all(words), judgments, rules or Rules())
    scorer.add(ranked)
    return scorer.finish(np.diff(ranked.offsets) > 0)


@pytest.mark.parametrize("seed", [1, 2])
def test_plain_and_compiled_loops_give_the_same_bits(seed, monkeypatch):
    values = {}
    for mode in ("off", "on"):
        monkeypatch.setenv("RANKEVAL_JIT", mode)
        values[mode] = scores_of(random_block(seed), EVERY_MEASURE).values
    assert values["off"].tobytes() == values["on"].tobytes()


def test_long_work_goes_on_compiled(monkeypatch):
    monkeypatch.setattr(scoring, "BUSY_SHARE", 0.0)
    monkeypatch.setattr(scoring, "COMPILE_AFTER_S", 0.0)
    monkeypatch.setattr(scoring, "KERNEL_AFTER_S", 0.0)
    calls = []
    compiled = scoring._compiled_loop
    monkeypatch.setattr(scoring, "_compiled_loop", lambda *args: calls.append(1) or compiled(*args))
    ranked = random_block(3)
    scorer = scoring.Scorer(parse_all(["map"]), judgments_of(ranked.ideal_offsets, ranked.ideal), Rules())
    scorer.add(ranked)
    first = len(calls)
    scorer.add(ranked)
    assert (first, len(calls)) == (0, 1)
    monkeypatch.setattr(scoring, "COMPILE_AFTER_S", 60.0)
    scorer.add(ranked)
    assert len(calls) == 2, "what is compiled stays so"


@pytest.mark.parametrize(("share", "compiles"), [(1.0, False), (1e-9, True)], ids=["all read", "much to come"])
def test_what_is_still_to_come_decides_on_compiling(share, compiles, monkeypatch):
    calls = []
    compiled = scoring._compiled_loop
    monkeypatch.setattr(scoring, "_compiled_loop", lambda *args: calls.append(1) or compiled(*args))
    monkeypatch.setattr(scoring, "COMPILE_AFTER_S", 60.0)
    monkeypatch.setattr(scoring, "BUSY_SHARE", 0.0)
    ranked = random_block(3)
    judgments = judgments_of(ranked.ideal_offsets, ranked.ideal)
    scorer = scoring.Scorer(parse_all(["map"]), judgments, Rules(), lambda: share)
    scorer.add(ranked)
    assert not calls
    scorer.add(ranked)
    assert bool(calls) == compiles


@pytest.mark.parametrize(("idle_s", "compiles"), [(0.0, True), (3600.0, False)], ids=["busy", "waiting"])
def test_scoring_that_waits_for_the_reader_is_not_compiled(idle_s, compiles, monkeypatch):
    monkeypatch.setattr(scoring, "COMPILE_AFTER_S", 0.0)
    monkeypatch.setattr(scoring, "KERNEL_AFTER_S", 0.0)
    calls = []
    compiled = scoring._compiled_loop
    monkeypatch.setattr(scoring, "_compiled_loop", lambda *args: calls.append(1) or compiled(*args))
    ranked = random_block(3)
    scorer = scoring.Scorer(parse_all(["map"]), judgments_of(ranked.ideal_offsets, ranked.ideal), Rules())
    scorer.spent_s = {scorer.metrics[0].measure.kernel: 600.0}
    scorer.started -= idle_s
    scorer.add(ranked)
    assert bool(calls) == compiles


@pytest.mark.parametrize("kernel_after_s", [0.0, 60.0])
def test_a_kernel_that_takes_no_time_is_not_compiled(kernel_after_s, monkeypatch):
    monkeypatch.setattr(scoring, "COMPILE_AFTER_S", 0.0)
    monkeypatch.setattr(scoring, "BUSY_SHARE", 0.0)
    monkeypatch.setattr(scoring, "KERNEL_AFTER_S", kernel_after_s)
    calls = []
    compiled = scoring._compiled_loop
    monkeypatch.setattr(scoring, "_compiled_loop", lambda *args: calls.append(1) or compiled(*args))
    ranked = random_block(3)
    scorer = scoring.Scorer(parse_all(["map"]), judgments_of(ranked.ideal_offsets, ranked.ideal), Rules())
    scorer.add(ranked)
    scorer.add(ranked)
    assert bool(calls) == (kernel_after_s == 0.0)


TROUBLES = {
    "no folder": RuntimeError("cannot cache function: no locator available"),
    "full disk": OSError(28, "No space left on device"),
    "damaged": EOFError("Ran out of input"),
}


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_compiles_without_a_cache_where_it_fails(trouble, monkeypatch):
    import numba

    def refuse(signature, cache=False, **options):
        if cache:
            raise trouble
        return njit(signature, **options)

    njit = numba.njit
    monkeypatch.setattr(numba, "njit", refuse)
    monkeypatch.setenv("RANKEVAL_JIT", "on")
    for cached in (scoring._compiled_driver, scoring._compiled_kernel):
        cached.cache_clear()
    assert not np.isnan(scores_of(random_block(4), ["mrr"]).values).any()


def test_an_unknown_loop_is_refused(monkeypatch):
    monkeypatch.setenv("RANKEVAL_JIT", "maybe")
    with pytest.raises(UsageError, match="maybe"):
        scores_of(random_block(5), ["mrr"])


def one_query(grades, judged, score=None):
    """Grades in rank order (None: not in the pool), and the grades of all judged documents."""
    status = [0 if grade is None else 1 if grade < 0 else 2 for grade in grades]
    ideal = sorted((float(grade) for grade in judged if grade >= 0), reverse=True)
    return Ranked(
        np.array([0]),
        np.array([0, len(grades)]),
        np.array([-1.0 if grade is None or grade < 0 else float(grade) for grade in grades]),
        np.array(status, np.uint8),
        np.array(score or list(range(len(grades), 0, -1)), dtype=np.float64),
        np.array([0, len(ideal)]),
        np.array(ideal),
    )


@pytest.mark.parametrize(
    ("policy", "value", "undefined", "propagates"),
    [
        ("zero", 0.0, 0, False),
        ("one", 1.0, 0, False),
        ("skip", np.nan, 0, False),
        ("nan", np.nan, 1, True),
    ],
)
@pytest.mark.parametrize("measure", ["mrr", "map", "p@2", "ndcg"])
def test_a_query_with_nothing_relevant_follows_the_policy(policy, value, undefined, propagates, measure):
    scores = scores_of(one_query([0, None], [0]), [measure], Rules(no_relevant=policy))
    np.testing.assert_equal(scores.values, [[value]])
    assert scores.undefined == (undefined,)
    assert scores.propagate == (propagates,)


@pytest.mark.parametrize("measure", ["gm_map", "gm_bpref"])
def test_nothing_relevant_counts_as_the_floor_of_a_geometric_mean(measure):
    scores = scores_of(one_query([0, None], [0]), [measure])
    np.testing.assert_equal(scores.values, [[1e-5]])


def test_a_query_with_nothing_relevant_can_be_an_error():
    with pytest.raises(InputError, match="q000"):
        scores_of(one_query([0], [0]), ["mrr"], Rules(no_relevant="error"))


def test_the_policy_leaves_counts_alone():
    scores = scores_of(one_query([0, None], [0]), ["num_ret", "num_rel", "num_q"], Rules(no_relevant="one"))
    assert scores.values.ravel().tolist() == [2.0, 0.0, 1.0]


def test_skipped_queries_are_left_out_of_everything():
    ranked = random_block(6)
    answered = np.diff(ranked.offsets) > 0
    assert not answered.all()
    scores = scores_of(ranked, ["mrr", "num_q"], Rules(missing="skip"))
    assert len(scores.queries) == scores.values.shape[1] == answered.sum()


def test_level_of_the_measure_wins_over_the_level_of_the_rules():
    scores = scores_of(one_query([1, 2], [1, 2]), ["mrr", "mrr(rel=1)"], Rules(relevance_level=2))
    assert scores.values.ravel().tolist() == [0.5, 1.0]


def test_explicit_level_takes_lower_grades_out_of_gains_and_ideal():
    scores = scores_of(one_query([1, 2], [1, 2]), ["dcg(rel=2)", "ndcg(rel=2)"])
    half = 2 / np.log2(3)
    np.testing.assert_allclose(scores.values.ravel(), [half, half / 2], rtol=1e-15)


def test_the_level_option_leaves_gains_alone():
    ranked = one_query([1, 2], [1, 2])
    plain, two = (scores_of(ranked, ["ndcg", "dcg"], Rules(relevance_level=level)).values for level in (1, 2))
    assert plain.tobytes() == two.tobytes()


def test_judged_only_closes_ranks_up():
    ranked = one_query([None, -1, 0, 1], [-1, 0, 1])
    scores = scores_of(ranked, ["mrr", "mrr(judged_only=True)"])
    assert scores.values.ravel().tolist() == [0.25, 0.5]
    assert scores_of(ranked, ["mrr"], Rules(judged_only=True)).values.item() == 0.5


def test_gains_that_reverse_grades_sort_the_ideal_by_gain():
    scores = scores_of(one_query([1, 2], [1, 2]), ["ndcg(gains={1:5,2:1})"])
    assert scores.values.item() == 1.0


def test_block_size_does_not_matter():
    ranked = random_block(7)
    whole = scores_of(ranked, EVERY_MEASURE).values
    judgments = judgments_of(ranked.ideal_offsets, ranked.ideal)
    scorer = scoring.Scorer(parse_all(EVERY_MEASURE), judgments, Rules())
    for q in reversed(range(len(ranked.query))):
        rows, goal = ranked.offsets[q : q + 2], ranked.ideal_offsets[q : q + 2]
        part, ideal = slice(*rows), slice(*goal)
        scorer.add(
            Ranked(
                np.array([q]),
                rows - rows[0],
                ranked.grade[part],
                ranked.status[part],
                ranked.score[part],
                goal - goal[0],
                ranked.ideal[ideal],
            )
        )
    assert scorer.finish(np.ones(len(ranked.query), bool)).values.tobytes() == whole.tobytes()
