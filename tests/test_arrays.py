"""Arrays of scores and labels score as the same data in dictionaries do; shapes that do not fit are named."""

import re
from typing import Any

import numpy as np
import pytest

from rankeval_cli import evaluate, evaluate_arrays, from_positives, from_rankings
from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.model import Report

MEASURES = ["mrr@10", "map", "ndcg@5", "p@3", "recall@5", "bpref", "err", "auc", "num_ret", "num_rel", "judged@3"]
RNG = np.random.default_rng(0)
SCORES = RNG.permutation(60).reshape(12, 5) / 60
LABELS = RNG.integers(-1, 4, (12, 5))
INDEX = np.repeat(np.arange(12), 5)


def by_query(scores: Any, labels: Any) -> Report:
    """Row i of both is query `i`, item j document `j`; a score or label that is None is not there."""
    run, qrels = (
        {str(i): {str(j): value for j, value in enumerate(row) if value is not None} for i, row in enumerate(rows)}
        for rows in (scores, labels)
    )
    return evaluate(run, qrels, MEASURES)


def same(one: Report, other: Report) -> None:
    assert one.per_query.drop("run").equals(other.per_query.drop("run"))
    assert [result.value for result in one.runs[0].results] == [result.value for result in other.runs[0].results]


EXPECTED = by_query(SCORES.tolist(), LABELS.tolist())


def test_an_empty_ranking_is_told() -> None:
    found = evaluate_arrays([[], [0.1, 0.2]], [[], [1, 0]], measures="mrr")
    assert found["mrr"] == 0.5
    assert "run1: 1 ranking is empty and left out" in found.warnings


def test_the_warning_of_equal_scores_names_the_rule_of_the_measures() -> None:
    found = evaluate_arrays([[1.0, 1.0]], [[0, 1]], measures="mrr", preset="torchmetrics")
    assert found["mrr"] == 0.5
    assert any("only --ties file orders their documents" in warning for warning in found.warnings)


@pytest.mark.parametrize("mask", [None, np.ones((2, 3), bool)])
def test_an_ignored_label_is_as_if_masked(mask: Any) -> None:
    scores, labels = [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]], [[-100, 1, 0], [1, -100, 1]]
    found = evaluate_arrays(scores, labels, mask=mask, measures=["mrr", "num_ret"], ignore_label=-100)
    assert (found["mrr"], found["num_ret"]) == (1.0, 4.0)


class Tensor:
    """What torch and JAX have: an array of their own that gives NumPy's."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values


class OnTheGraph:
    """A torch tensor that requires a gradient."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


SHUFFLED = RNG.permutation(60)
FLAT = (SCORES.ravel(), LABELS.ravel(), INDEX)
WAYS: dict[str, tuple[Any, ...]] = {
    "a batch": (SCORES, LABELS),
    "float32 scores, small labels": (SCORES.astype(np.float32), LABELS.astype(np.int8)),
    "lists": (SCORES.tolist(), LABELS.tolist()),
    "lists of arrays": (list(SCORES), tuple(LABELS)),
    "what gives an array": (Tensor(SCORES), Tensor(LABELS)),
    "flat": FLAT,
    "flat, text ids": (*FLAT[:2], INDEX.astype(str)),
    "flat, objects as ids": (*FLAT[:2], INDEX.astype(object)),
    "flat, in any order": tuple(array[SHUFFLED] for array in FLAT),
    "flat, what gives an array": tuple(map(Tensor, FLAT)),
    "a columnar layout": (np.asfortranarray(SCORES), np.asfortranarray(LABELS)),
}


@pytest.mark.parametrize("arrays", WAYS.values(), ids=WAYS)
def test_as_dictionaries(arrays: tuple[Any, ...]) -> None:
    same(evaluate_arrays(*arrays, measures=MEASURES), EXPECTED)


def test_many_rows_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankeval_cli.arrays.FRAME_ROWS", 7)
    same(evaluate_arrays(SCORES, LABELS, mask=np.ones((12, 5)), measures=MEASURES), EXPECTED)


def test_a_mask_leaves_items_out() -> None:
    mask = RNG.random((12, 5)) < 0.7
    mask[:, 0] = True
    scores = [[x if m else None for x, m in zip(*row, strict=True)] for row in zip(SCORES.tolist(), mask, strict=True)]
    labels = [[x if m else None for x, m in zip(*row, strict=True)] for row in zip(LABELS.tolist(), mask, strict=True)]
    padded = np.where(mask, SCORES, np.nan), np.where(mask, LABELS, np.nan)
    expected = by_query(scores, labels)
    same(evaluate_arrays(*padded, mask=mask, measures=MEASURES), expected)
    same(evaluate_arrays(*padded, mask=mask.astype(int).tolist(), measures=MEASURES), expected)
    flat = [array.ravel() for array in padded]
    same(evaluate_arrays(*flat, INDEX, mask.ravel(), measures=MEASURES), expected)


def test_rows_of_several_lengths() -> None:
    scores, labels = [[0.5, 0.1, 0.7], [0.2], [0.9, 0.3]], [[0, 1, 2], [1], [0, 0]]
    same(evaluate_arrays(scores, labels, measures=MEASURES), by_query(scores, labels))
    masked = evaluate_arrays(scores, labels, mask=[[1, 1, 0], [1], [1, 1]], measures=MEASURES)
    same(masked, by_query([[0.5, 0.1], [0.2], [0.9, 0.3]], [[0, 1], [1], [0, 0]]))


def test_one_row_of_labels_for_every_ranking() -> None:
    same(evaluate_arrays(SCORES, LABELS[0], measures=MEASURES), by_query(SCORES.tolist(), [LABELS[0].tolist()] * 12))


def test_flat_arrays_without_index_are_one_query() -> None:
    same(evaluate_arrays([0.5, 0.9], [1, 0], measures=MEASURES), by_query([[0.5, 0.9]], [[1, 0]]))


def test_positives_and_rankings_are_a_batch() -> None:
    scores, labels = from_rankings([[3, 0], [], [2, 1, 0]], 4), from_positives([[0, 1], [2], []], 4)
    assert labels.tolist() == [[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert scores.tolist() == [[-2.0, None, None, -1.0], [None] * 4, [-3.0, -2.0, -1.0, None]]
    same(evaluate_arrays(scores, labels, measures=MEASURES), by_query(scores.tolist(), labels.tolist()))
    report = evaluate_arrays(scores, labels, measures=["recall", "mrr"])
    assert report.per_query["recall"].to_list() == [0.5, 0.0, 0.0]


BAD_ITEMS = {
    "beyond": ([[0], [4]], "[1] holds item 4, and there are 4 items"),
    "negative": ([[-1]], "[0] holds item -1, and there are 4 items"),
    "a fraction": ([[0.5]], "[0] holds `0.5`, which is no item number"),
}


@pytest.mark.parametrize("make", [from_positives, from_rankings])
@pytest.mark.parametrize(("items", "what"), BAD_ITEMS.values(), ids=BAD_ITEMS)
def test_items_that_are_none(make: Any, items: Any, what: str) -> None:
    with pytest.raises(UsageError, match=re.escape(what)):
        make(items, 4)


def test_an_item_is_ranked_once() -> None:
    with pytest.raises(UsageError, match="item twice"):
        from_rankings([[1, 1]], 4)


def test_equal_scores_do_not_follow_the_order_of_items() -> None:
    first = evaluate_arrays(np.zeros((300, 4)), [1, 0, 0, 0], measures="mrr")
    last = evaluate_arrays(np.zeros((300, 4)), [0, 0, 0, 1], measures="mrr")
    assert first.rules.ties == "expected"
    assert first["mrr"] == last["mrr"] == pytest.approx(25 / 48, rel=1e-15)
    assert evaluate_arrays(np.zeros((300, 4)), [1, 0, 0, 0], measures="mrr", ties="file")["mrr"] == 1.0


# --- weights -----------------------------------------------------------------------------------------------------

TWO, TWO_LABELS = [[0.5, 0.9], [0.9, 0.5]], [[1, 0], [1, 0]]  # reciprocal ranks 1/2 and 1
HEAVY: dict[str, Any] = {
    "one a query": [3, 1],
    "a column": [[3], [1]],
    "alike in a row": [[3, 3], [1, 1]],
    "by query": {0: 3, "1": 1},
}


@pytest.mark.parametrize("weights", HEAVY.values(), ids=HEAVY)
def test_weights_of_a_batch(weights: Any) -> None:
    report = evaluate_arrays(TWO, TWO_LABELS, weights=weights, measures="mrr", resamples=20)
    assert (report["mrr"], report.rules.weights) == (0.625, "weights")


def test_weights_of_flat_arrays() -> None:
    flat = [0.5, 0.9, 0.9, 0.5], [1, 0, 1, 0], ["a", "a", "b", "b"]
    assert evaluate_arrays(*flat, weights=[3, 3, 1, 1], measures="mrr", resamples=20)["mrr"] == 0.625
    assert evaluate_arrays(*flat, weights={"a": 3, "b": 1}, measures="mrr", resamples=20)["mrr"] == 0.625
    masked = evaluate_arrays(*flat, [1, 1, 1, 0], weights=[3, 3, 1, 9], measures="mrr", resamples=20)
    assert masked["mrr"] == 0.625
    assert evaluate_arrays(*flat, weights=2.0, measures="mrr", resamples=20)["mrr"] == 0.75


# --- what does not fit -------------------------------------------------------------------------------------------

BATCH, BATCH_LABELS = np.zeros((4, 3)), np.zeros((4, 3))
UNFIT: dict[str, tuple[dict[str, Any], str]] = {
    "labels": ({"labels": np.zeros((4, 2))}, "labels have shape (4, 2), and scores have shape (4, 3)"),
    "labels of one length": ({"labels": np.zeros(4)}, "labels have shape (4,), and scores have shape (4, 3)"),
    "mask": ({"mask": np.ones(3)}, "mask has shape (3,), and scores have shape (4, 3)"),
    "three dimensions": ({"scores": np.zeros((2, 2, 2))}, "scores have shape (2, 2, 2)"),
    "one number": ({"scores": 0.5}, "scores have shape ()"),
    "an index for a batch": ({"index": [0, 1, 2, 3]}, "an index goes with flat scores, and these have shape (4, 3)"),
    "index": (
        {"scores": np.zeros(3), "labels": np.zeros(3), "index": [0, 1]},
        "index has shape (2,), and scores have shape (3,)",
    ),
    "fractional ids": (
        {"scores": np.zeros(2), "labels": np.zeros(2), "index": [0.0, 1.0]},
        "index holds float64, and ids are text or whole numbers",
    ),
    "weights": ({"weights": [1, 2, 3]}, "weights have shape (3,)"),
    "weights of items": ({"weights": np.arange(12).reshape(4, 3)}, "the items of query `0` have several weights"),
    "text": ({"scores": [["a", "b", "c"]] * 4}, "not numbers"),
    "a mask of counts": ({"mask": np.full((4, 3), 2)}, "mask holds other numbers than 0 and 1"),
    "a tensor on the graph": ({"scores": OnTheGraph()}, "scores of type OnTheGraph cannot be an array: Can't call"),
    "ragged labels": (
        {"scores": [[1.0], [1.0, 2.0]], "labels": [[1], [1]]},
        "scores[1] has length 2 and labels[1] length 1",
    ),
    "rows of labels": ({"scores": [[1.0], [1.0, 2.0]], "labels": [[1]]}, "scores have 2 rows and labels 1"),
    "flat labels": (
        {"scores": [[1.0], [1.0, 2.0]], "labels": [1, 1, 1]},
        "several lengths, and labels are not",
    ),
    "a rule": ({"tie": "random"}, "there is no rule `tie`"),
    "ids for ties": ({"ties": "docid"}, "--ties docid needs document ids"),
}


@pytest.mark.parametrize(("changes", "what"), UNFIT.values(), ids=UNFIT)
def test_what_does_not_fit_is_named(changes: dict[str, Any], what: str) -> None:
    arguments = {"scores": BATCH, "labels": BATCH_LABELS, "measures": "mrr", **changes}
    with pytest.raises(UsageError, match=re.escape(what)):
        evaluate_arrays(**arguments)


VALUES = {
    "NaN in a batch": ([[0.5, np.nan]], [[1, 0]], "score is NaN", "scores[0, 1]"),
    "NaN in a flat array": ([0.5, 0.1, np.nan], [1, 0, 0], "score is NaN", "scores[2]"),
    "NaN label": ([[0.5, 0.1]], [[1, np.nan]], "label is NaN", "labels[0, 1]"),
    "infinite label": ([[0.5, 0.1]], [[np.inf, 0]], "label is `inf`", "labels[0, 0]"),
}


@pytest.mark.parametrize(("scores", "labels", "what", "where"), VALUES.values(), ids=VALUES)
def test_values_that_have_no_place(scores: Any, labels: Any, what: str, where: str) -> None:
    with pytest.raises(InputError, match=what) as problem:
        evaluate_arrays(scores, labels, measures="mrr")
    assert problem.value.where == where


def test_nothing_to_score() -> None:
    with pytest.raises(InputError, match="holds no row that counts"):
        evaluate_arrays(np.zeros((0, 3)), np.zeros((0, 3)), measures="mrr")
    with pytest.raises(InputError, match="holds no row that counts"):
        evaluate_arrays(BATCH, BATCH_LABELS, mask=np.zeros((4, 3)), measures="mrr")


def test_arrays_are_not_changed() -> None:
    scores, labels = SCORES.copy(), LABELS.copy()
    evaluate_arrays(scores, labels, mask=np.ones((12, 5), bool), measures="mrr")
    assert (scores == SCORES).all()
    assert (labels == LABELS).all()
