"""Weights and masks of items, as Keras RS and TF-Ranking have them, against their formulas written out slowly."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rankeval_cli import evaluate, evaluate_arrays
from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.model import Report

MEASURES = ["MeanReciprocalRank", "MeanAveragePrecision@3", "PrecisionAtK@4", "RecallAtK@2", "DCG@3", "NDCG"]
RNG = np.random.default_rng(7)
SIZES = RNG.integers(1, 7, 60)
Items = list[tuple[float, float, float]]  # score, label, weight of the items of a list that count, best first


def a_list(size: int) -> list[dict[str, Any]]:
    scores = RNG.permutation(20)[:size] / 20
    return [
        {"score": float(score), "label": float(RNG.integers(-1, 4)), "weight": float(RNG.choice([0, 0.5, 1, 3])),
         "mask": bool(RNG.random() < 0.8)}
        for score in scores
    ]  # fmt: skip


LISTS = [a_list(int(size)) for size in SIZES]


def counting(rows: list[dict[str, Any]]) -> Items:
    kept = [row for row in rows if row["mask"] and row["label"] >= 0 and row["weight"] > 0]
    return sorted(((row["score"], row["label"], row["weight"]) for row in kept), reverse=True)


def value(name: str, k: int, items: Items) -> float:
    top, relevant = items[:k], [item for item in items if item[1] >= 1]
    hits = [i for i, item in enumerate(top) if item[1] >= 1]
    if name == "MeanReciprocalRank":
        return 1 / (hits[0] + 1) if hits else 0.0
    if name == "PrecisionAtK":
        return len(hits) / min(k, len(items))
    if name == "RecallAtK":
        return len(hits) / len(relevant) if relevant else 0.0
    if name == "MeanAveragePrecision":
        total = sum((n + 1) / (i + 1) * top[i][2] for n, i in enumerate(hits))
        return total / sum(item[2] for item in relevant) if relevant else 0.0
    gained = dcg(weighted_gains(top))
    if name == "NDCG":
        best = dcg(sorted(weighted_gains(items), reverse=True)[:k])
        return gained / best if best else 0.0
    share = weight(name, items)
    return gained / share if share else 0.0


def weighted_gains(items: Items) -> list[float]:
    return [heavy * (2.0**label - 1) for _, label, heavy in items]


def dcg(gains: list[float]) -> float:
    return sum(gain / math.log2(i + 2) for i, gain in enumerate(gains))


def weight(name: str, items: Items) -> float | None:
    """What the relevant items weigh on average, None where there is none."""
    shares = [2.0**label - 1 if name in ("DCG", "NDCG") else float(label >= 1) for _, label, _ in items]
    total = sum(shares)
    return sum(share * item[2] for share, item in zip(shares, items, strict=True)) / total if total else None


def slowly(word: str) -> tuple[list[float], list[float]]:
    """Values and weights of the lists that have an item that counts."""
    name, _, cutoff = word.partition("@")
    lists = [items for items in map(counting, LISTS) if items]
    found = [weight(name, items) for items in lists]
    known = [share for share in found if share is not None]
    average = sum(known) / len(known)
    return [value(name, int(cutoff or 99), items) for items in lists], [
        average if share is None else share for share in found
    ]


def same(report: Report) -> None:
    document = report.to_dict(per_query=True)["runs"][0]
    for word in MEASURES:
        values, weights = slowly(word)
        assert [query[word] for query in document["per_query"].values()] == pytest.approx(values, rel=1e-12)
        assert [query[word] for query in document["weights"].values()] == pytest.approx(weights, rel=1e-12)
        mean = sum(x * w for x, w in zip(values, weights, strict=True)) / sum(weights)
        assert report[word] == pytest.approx(mean, rel=1e-12)


def as_table(suffix: str, tmp_path: Path) -> str:
    rows = [{"query": f"{place:03}", **row} for place, rows in enumerate(LISTS) for row in rows]
    path = tmp_path / f"table.{suffix}"
    getattr(pl.DataFrame(rows), {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet"}[suffix])(path)
    return str(path)


@pytest.mark.parametrize("preset", ["keras", "tf-ranking"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_table_of_weighted_items(suffix: str, preset: str, tmp_path: Path) -> None:
    words = MEASURES
    if preset == "tf-ranking":
        words = ["mrr", "map@3", "p@4", "recall@2", "dcg@3", "ndcg"]
    report = evaluate(as_table(suffix, tmp_path), None, words, preset=preset)
    values = [slowly(word) for word in MEASURES]
    means = [sum(x * w for x, w in zip(*each, strict=True)) / sum(each[1]) for each in values]
    assert [report[word] for word in words] == pytest.approx(means, rel=1e-12)


def test_ragged_arrays_of_weighted_items() -> None:
    rows = {name: [[row[name] for row in rows] for rows in LISTS] for name in ("score", "label", "weight", "mask")}
    report = evaluate_arrays(
        rows["score"], rows["label"], mask=rows["mask"], weights=rows["weight"], measures=MEASURES, preset="keras"
    )
    same_by_place(report)


def same_by_place(report: Report) -> None:
    """Query ids are numbers here, and reports are sorted by their bytes."""
    document = report.to_dict(per_query=True)["runs"][0]["per_query"]
    places = [place for place, rows in enumerate(LISTS) if counting(rows)]
    for word in MEASURES:
        assert [document[str(place)][word] for place in places] == pytest.approx(slowly(word)[0], rel=1e-12)


def test_padded_arrays_of_weighted_items() -> None:
    size = int(SIZES.max())
    padded = {"score": 0.0, "label": -1.0, "weight": 1.0, "mask": True}
    batch = {
        name: np.array([[row[name] for row in rows] + [filler] * (size - len(rows)) for rows in LISTS])
        for name, filler in padded.items()
    }
    report = evaluate_arrays(
        batch["score"], batch["label"], mask=batch["mask"], weights=batch["weight"], measures=MEASURES, preset="keras"
    )
    same_by_place(report)


def test_a_frame_of_weighted_items_in_memory() -> None:
    rows = [{"query": f"{place:03}", **row} for place, rows in enumerate(LISTS) for row in rows]
    same(evaluate(pl.DataFrame(rows), None, MEASURES, preset="keras"))


def test_weights_of_items_need_a_preset_that_knows_them() -> None:
    with pytest.raises(UsageError, match="weights have shape"):
        evaluate_arrays([[1.0, 2.0]], [[0, 1]], weights=[[1.0, 2.0, 3.0]], measures="mrr")
    with pytest.raises(UsageError, match="several weights"):
        evaluate_arrays([[1.0, 2.0], [1.0, 2.0]], [[0, 1], [1, 0]], weights=[[1.0, 2.0], [1.0, 1.0]], measures="mrr")


@pytest.mark.parametrize(("bad", "shown"), [(-1.0, "`-1`"), (math.inf, "`inf`"), (math.nan, "NaN")])
def test_a_weight_that_is_none_is_refused(bad: float, shown: str) -> None:
    rows = [{"query": "q", "score": 1.0, "label": 1, "weight": bad}]
    with pytest.raises(InputError, match=f"the weight of query `q` is {shown}"):
        evaluate(pl.DataFrame(rows), None, "mrr", preset="keras")


def test_a_masked_grade_leaves_a_ranking_of_two_files() -> None:
    run, qrels = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"a": -1, "c": 1}}
    assert evaluate(run, qrels, "mrr", negative="mask")["mrr"] == 0.5
    assert evaluate(run, qrels, "mrr")["mrr"] == pytest.approx(1 / 3)
