"""Labelled tables through the flow: as run and judgments apart, whatever the order of lines and the size of chunks."""

import itertools
import json
import math
import random
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rankeval_cli import Report, evaluate
from rankeval_cli.cli import run as run_program
from rankeval_cli.errors import InputError, RankevalError, UsageError
from rankeval_cli.measures.expression import parse
from rankeval_cli.readers import parquet

MEASURES = ["mrr@10", "map", "ndcg@5", "ndcg:gain=exp", "p@3", "recall@5", "bpref", "err", "err(max=4)", "rbp", "auc"]
MEASURES += ["num_ret", "num_rel", "rprec", "judged@3", "gm_map", "infap", "mean_rank", "hit(rel=2)@3", "dcg(rel=2)"]
LABELS = (0, 0, 0, 1, 2, 3, -1)
Rows = list[tuple[str, float, int]]


def some_rows(seed: int, num_queries: int = 40, levels: int = 10**9) -> Rows:
    """Rows in groups of 1 to 12; scores are all different unless there are few levels."""
    rng = random.Random(seed)
    rows: Rows = []
    for query in range(num_queries):
        rows += [(f"q{query}", rng.randrange(levels) / levels, rng.choice(LABELS)) for _ in range(rng.randint(1, 12))]
    return rows


def frame_of(rows: Rows, **columns: Any) -> pl.DataFrame:
    schema = {"query": pl.String, "score": pl.Float64, "label": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row").with_columns(pl.Series(name, c) for name, c in columns.items())


def apart(rows: Rows) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """The same as a run and judgments; documents are numbered."""
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for number, (query, score, label) in enumerate(rows):
        run.setdefault(query, {})[f"d{number}"] = score
        qrels.setdefault(query, {})[f"d{number}"] = label
    return run, qrels


def values_of(report: Report) -> list[Any]:
    return [(result.measure, result.value, result.queries, result.undefined) for result in report.runs[0].results]


def same(one: Report, other: Report) -> None:
    assert values_of(one) == values_of(other)
    assert one.per_query.drop("run").equals(other.per_query.drop("run"))
    assert one.runs[0].coverage == other.runs[0].coverage


RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "level 2": {"relevance_level": 2},
    "judged only": {"judged_only": True},
    "negative grades are 0": {"negative": "nonrelevant"},
    "negative grades are dropped": {"negative": "drop"},
    "depth": {"depth": 3},
    "nothing relevant left out": {"no_relevant": "skip"},
    "nothing relevant propagates": {"no_relevant": "nan"},
    "distances": {"order": "ascending"},
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("has_docs", [False, True], ids=["without ids", "with ids"])
def test_as_run_and_judgments_apart(rules: dict[str, Any], seed: int, has_docs: bool) -> None:
    rows = some_rows(seed)
    docs = {"doc": [f"d{i}" for i in range(len(rows))]} if has_docs else {}
    found, expected = (
        evaluate(frame_of(rows, **docs), None, MEASURES, **rules),
        evaluate(*apart(rows), MEASURES, **rules),
    )
    if rules.get("negative") == "drop":  # a query without judgments is one that only the run has, or no query
        assert values_of(found) == values_of(expected)
    else:
        same(found, expected)


def test_ties_of_documents_with_ids_are_those_of_the_ids() -> None:
    rows = some_rows(1, levels=3)
    docs = [f"d{i}" for i in range(len(rows))]
    known = [word for word in MEASURES if all(metric.expected for metric in parse(word))]
    for ties in ("docid", "docid-asc", "random", "file", "expected", "best", "worst"):
        measures = known if ties == "expected" else MEASURES
        same(
            evaluate(frame_of(rows, doc=docs), None, measures, ties=ties),
            evaluate(*apart(rows), measures, ties=ties),
        )


@pytest.mark.parametrize("levels", [1, 2, 4])
def test_the_order_of_lines_plays_no_part(levels: int) -> None:
    rows = some_rows(2, levels=levels)
    measures = [*MEASURES, "err@5"]
    first = evaluate(frame_of(rows), None, measures)
    assert first.rules.ties == "expected"
    for seed in range(4):
        mixed = random.Random(seed).sample(rows, len(rows))
        other = evaluate(frame_of(mixed), None, measures)
        same(first, other)
        assert first.digest == other.digest


@pytest.mark.parametrize("preset", ["keras", "tf-ranking"])
def test_the_order_of_queries_plays_no_part_in_what_items_weigh(preset: str) -> None:
    rows, rng = some_rows(3), random.Random(5)
    frame = frame_of(rows, weight=[rng.random() for _ in rows]).filter(pl.col("label") >= 0)
    turned = pl.concat(frame.partition_by("query", maintain_order=True)[::-1])
    first, second = (evaluate(each, None, ["mrr", "ndcg", "map"], preset=preset) for each in (frame, turned))
    same(first, second)


@pytest.mark.parametrize("ties", ["random", "best", "worst", "rank"])
def test_the_order_of_lines_plays_no_part_in_ties_of_weighted_items(ties: Any) -> None:
    rng = random.Random(2)
    rows = [
        (f"q{i}", rng.randrange(2), rng.randrange(3), rng.choice([1, 2, 3]) / 7) for i in range(40) for _ in "12345"
    ]
    found = set()
    for seed in range(5):
        mixed = random.Random(seed).sample(rows, len(rows))
        frame = pl.DataFrame(mixed, ["query", "score", "label", "weight"], orient="row").with_columns(rank=1)
        report = evaluate(frame, None, ["mrr", "ndcg", "map", "dcg@2"], preset="keras", ties=ties)
        found.add(report.per_query.drop("run").write_csv() + str(values_of(report)))
    assert len(found) == 1


def test_the_worst_order_of_weighted_items_has_the_lightest_first() -> None:
    rows = [("q", 0.5, 1, 0.25), ("q", 0.5, 1, 1.0), ("q", 0.5, 0, 2.0)]
    frame = pl.DataFrame(rows, ["query", "score", "label", "weight"], orient="row")
    worst, best = (evaluate(frame, None, "dcg@2", preset="keras", ties=ties)["dcg@2"] for ties in ("worst", "best"))
    share = (0.25 + 1.0) / 2  # what the preset divides by
    assert worst == pytest.approx(0.25 / math.log2(3) / share)
    assert best == pytest.approx((1.0 + 0.25 / math.log2(3)) / share)


def test_random_ties_depend_on_the_seed_and_favour_nobody() -> None:
    frame = frame_of([(f"q{i}", 0.5, label) for i in range(600) for label in (1, 0, 0)])
    first, second = (evaluate(frame, None, "mrr", ties="random", seed=seed).per_query["mrr"] for seed in (0, 1))
    assert set(first) == {1.0, 1 / 2, 1 / 3}
    assert all(160 < (first == value).sum() < 240 for value in set(first))
    assert 150 < (first == second).sum() < 250


def test_random_ties_do_not_see_how_large_scores_are() -> None:
    rows = some_rows(4, levels=3)
    larger = [(query, 8 * score + 1, label) for query, score, label in rows]
    first, second = (evaluate(frame_of(each), None, MEASURES, ties="random") for each in (rows, larger))
    same(first, second)


def test_documents_without_ids_count_in_all_orders_where_that_is_known() -> None:
    frame = frame_of([("q", 0.5, 0), ("q", 0.5, 1), ("q", 0.5, 0)])
    report = evaluate(frame, None, ["err", "mrr", "mean_rank@2"], seed=5)
    document = report.to_dict()["runs"][0]["measures"]
    assert document["mrr"]["value"] == pytest.approx(11 / 18, rel=1e-15)
    assert [name for name, result in document.items() if result.get("rules") == {"ties": "random"}] == [
        "err",
        "mean_rank@2",
    ]
    for name in ("err", "mean_rank@2"):
        alone = evaluate(frame, None, name, ties="random", seed=5)
        assert document[name]["value"] == alone.to_dict()["runs"][0]["measures"][name]["value"]


@pytest.mark.parametrize(("measures", "rules"), [("err", {}), ("mrr", {"depth": 2})], ids=["no form", "depth"])
def test_documents_without_ids_are_in_random_order_where_no_mean_is_known(measures: str, rules: Any) -> None:
    report = evaluate(frame_of([("q", 0.5, 0), ("q", 0.5, 1)]), None, measures, **rules)
    assert report.rules.ties == "random"
    assert "ties" not in report.to_dict()["runs"][0]["measures"][measures]


def test_file_order_breaks_ties_only_when_asked() -> None:
    rows: Rows = [("q", 0.5, 0), ("q", 0.5, 1), ("q", 0.9, 0)]
    assert evaluate(frame_of(rows), None, "mrr", ties="file")["mrr"] == 1 / 3
    assert evaluate(frame_of(rows[::-1]), None, "mrr", ties="file")["mrr"] == 1 / 2


def test_ranks_break_ties_when_asked() -> None:
    rows: Rows = [("q", 0.5, 0), ("q", 0.5, 1), ("q", 0.5, 0)]
    assert evaluate(frame_of(rows, rank=[2, 1, 3]), None, "mrr", ties="rank")["mrr"] == 1.0
    assert evaluate(frame_of(rows, rank=[2, 3, 1]), None, "mrr", order="rank")["mrr"] == 1 / 3


@pytest.mark.parametrize("ties", ["docid", "docid-asc"])
def test_ids_that_are_not_there_cannot_break_ties(ties: Any) -> None:
    with pytest.raises(UsageError, match=f"--ties {ties} needs document ids, and run1 has none") as problem:
        evaluate(frame_of([("q", 0.5, 1)]), None, "mrr", ties=ties)
    assert problem.value.hint == "choose --ties expected, random or file, or name the column: --columns doc=NAME"


@pytest.mark.parametrize("batch", [1, 7, 100_000])
@pytest.mark.parametrize("together", [True, False], ids=["grouped", "scattered"])
def test_the_size_of_chunks_plays_no_part(
    batch: int, together: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = some_rows(5, levels=20)
    expected = evaluate(frame_of(rows), None, MEASURES)
    frame = frame_of(rows if together else random.Random(0).sample(rows, len(rows)))
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=16)
    monkeypatch.setattr(parquet, "BATCH_ROWS", batch)
    found = evaluate(tmp_path / "t.parquet", None, MEASURES)
    same(found, expected)
    assert found.digest == expected.digest


def test_a_query_that_cannot_be_scored_ends_the_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame_of([(f"q{i}", 0.5, int(i != 30)) for i in range(200)]).write_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(parquet, "BATCH_ROWS", 10)
    with pytest.raises(InputError, match="query `q30` is judged with nothing relevant"):
        evaluate(tmp_path / "t.parquet", None, "mrr", no_relevant="error")
    assert not any(thread.name == "prefetch" for thread in threading.enumerate())


def test_layouts_have_one_digest_and_other_labels_another() -> None:
    rows, docs = some_rows(6), [f"d{i}" for i in range(len(some_rows(6)))]
    lists = frame_of(rows).group_by("query", maintain_order=True).agg("score", "label")
    digests = [evaluate(table, None, "mrr").digest for table in (frame_of(rows), lists, frame_of(rows).to_dicts())]
    assert len(set(digests)) == 1
    other = [(query, score, label + (i == 3)) for i, (query, score, label) in enumerate(rows)]
    with_ids = [evaluate(frame_of(table, doc=docs), None, "mrr").digest for table in (rows, other)]
    assert len({*digests, *with_ids, evaluate(frame_of(other), None, "mrr").digest}) == 4
    moved = [(query, -score, label) for query, score, label in rows]
    assert evaluate(frame_of(moved), None, "mrr").digest == digests[0]


# --- masks, ignored labels, documents ----------------------------------------------------------------------------


def test_rows_that_are_left_out_are_as_if_they_were_not_there() -> None:
    rows = some_rows(7)
    kept = [bool(random.Random(i).randrange(4)) for i in range(len(rows))]
    left = [row for row, is_kept in zip(rows, kept, strict=True) if is_kept]
    same(evaluate(frame_of(rows, mask=kept), None, MEASURES), evaluate(frame_of(left), None, MEASURES))
    ignored = [row for row in rows if row[2] != -1]
    same(evaluate(frame_of(rows), None, MEASURES, ignore_label=-1), evaluate(frame_of(ignored), None, MEASURES))


def test_a_query_without_a_row_that_counts_is_left_out_and_named() -> None:
    report = evaluate(frame_of([("a", 0.5, 1), ("b", 0.5, 1)], mask=[True, False]), None, "mrr")
    assert (report["mrr"], report.judged_queries) == (1.0, 1)
    assert report.warnings == ("1 query has no row that counts and is left out: b",)


def test_a_table_without_a_row_that_counts_is_an_error() -> None:
    with pytest.raises(InputError, match="holds no row that counts"):
        evaluate(frame_of([("a", 0.5, 1)], mask=[False]), None, "mrr")


def test_negative_grades_may_be_an_error() -> None:
    with pytest.raises(InputError, match="grade `-1` of query `b` is negative"):
        evaluate(frame_of([("a", 0.5, 1), ("b", 0.5, -1)]), None, "mrr", negative="error")


def test_repeated_documents() -> None:
    frame = frame_of([("a", 0.5, 1), ("a", 0.9, 0), ("a", 0.7, 1)], doc=["x", "y", "x"])
    with pytest.raises(InputError, match="document `x` is more than once in query `a`"):
        evaluate(frame, None, "num_rel")
    first = evaluate(frame, None, ["num_rel", "num_ret", "mrr"], duplicates="first")
    assert [result.value for result in first.runs[0].results] == [1.0, 2.0, 0.5]


def test_exclusion_leaves_judgments_alone(tmp_path: Path) -> None:
    frame = frame_of([("a", 0.5, 1), ("a", 0.9, 1)], doc=["x", "a"])
    report = evaluate(frame, None, ["num_rel", "num_ret"], exclude_self=True)
    assert [result.value for result in report.runs[0].results] == [2.0, 1.0]
    (tmp_path / "pairs.txt").write_text("a x\n")
    assert evaluate(frame, None, "num_ret", exclude=str(tmp_path / "pairs.txt"))["num_ret"] == 1.0
    for rules in ({"exclude_self": True}, {"exclude": str(tmp_path / "pairs.txt")}):
        with pytest.raises(UsageError, match="needs document ids, and run1 has none"):
            evaluate(frame.drop("doc"), None, "mrr", **rules)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "several tables": ({"run": [frame_of([("q", 0.5, 1)])] * 2}, "entry 1: is of type DataFrame, not a dict"),
    "a rank that is not there": ({"ties": "rank"}, "has no rank column"),
    "an unknown column": ({"columns": {"doc": "item"}}, "no input has a column `item`|no column `item`"),
}


@pytest.mark.parametrize(("changes", "what"), WRONG.values(), ids=WRONG)
def test_what_is_wrong(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(RankevalError, match=what):
        evaluate(**{"run": frame_of([("q", 0.5, 1)]), "measures": "mrr", **changes})


def test_ignored_labels_are_for_labelled_tables() -> None:
    with pytest.raises(UsageError, match="--ignore-label is for labelled tables"):
        evaluate({"q": {"d": 1.0}}, {"q": {"d": 1}}, "mrr", ignore_label=-1)


# --- weights of queries ------------------------------------------------------------------------------------------


def test_a_column_weighs_queries() -> None:
    frame = frame_of([("a", 0.5, 1), ("b", 0.9, 0), ("b", 0.5, 1)], list_weight=[1.0, 3.0, 3.0])
    report = evaluate(frame, None, "mrr", resamples=50)
    assert (report["mrr"], report.rules.weights, report.runs[0].results[0].ci_method) == (
        0.625,
        "list_weight",
        "bootstrap",
    )
    scattered = evaluate(frame[[1, 0, 2]], None, "mrr", resamples=50)
    assert scattered.to_dict(per_query=True)["runs"] == report.to_dict(per_query=True)["runs"]
    assert report.to_dict(per_query=True)["runs"][0]["weights"] == {"a": {"mrr": 1.0}, "b": {"mrr": 3.0}}
    assert evaluate(frame, None, "mrr", weights={"a": 1, "b": 1})["mrr"] == 0.75


LIST_WEIGHTS = {
    "two": ([1.0, 2.0], "query `a` has two weights"),
    "negative": ([-1.0, -1.0], "the weight of query `a` is `-1`"),
    "NaN": ([float("nan")] * 2, "the weight of query `a` is NaN"),
    "null": ([None, None], "the weight of query `a` is no number"),
    "all 0": ([0.0, 0.0], "every judged query has weight 0"),
}


@pytest.mark.parametrize(("weights", "what"), LIST_WEIGHTS.values(), ids=LIST_WEIGHTS)
def test_weights_of_a_column_that_are_none(weights: list[Any], what: str) -> None:
    column = pl.Series(weights, dtype=pl.Float64)
    with pytest.raises(InputError, match=what):
        evaluate(frame_of([("a", 0.5, 1), ("a", 0.9, 0)], list_weight=column), None, "mrr")


# --- the command line --------------------------------------------------------------------------------------------


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = run_program(words)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def table(tmp_path: Path) -> str:
    frame_of([("a", 0.5, 1), ("b", 0.9, 0), ("b", 0.5, 1)]).write_csv(tmp_path / "table.csv")
    return str(tmp_path / "table.csv")


def test_one_table_on_the_command_line(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run([table, "-m", "mrr@10", "-f", "json"], capsys)
    document = json.loads(out)
    assert (code, document["runs"][0]["measures"]["mrr@10"]["value"]) == (0, 0.75)
    assert (document["rules"]["ties"], document["rules"]["weights"]) == ("expected", None)
    assert document["qrels"]["rows"] == 3
    assert document["qrels"]["queries"] == 2


def test_the_summary_says_what_orders_equal_scores(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run([table, "-m", "mrr", "err", "-f", "markdown", "--seed", "4"], capsys)
    assert "table.csv has no document ids: --ties expected decides between equal scores" in out
    assert "rules of err: ties=random" in out
    _, out, _ = run([table, "-m", "err", "-f", "markdown", "--seed", "4"], capsys)
    assert "table.csv has no document ids: --ties random, --seed 4 decides between equal scores" in out
    assert "files: table.csv csv" in out


def test_an_explicit_tie_rule_is_refused_or_heeded(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run([table, "-m", "mrr", "--ties", "docid"], capsys)
    assert code == 2
    assert "--ties docid needs document ids" in err
    code, out, _ = run([table, "-m", "mrr", "--ties", "file", "-f", "json"], capsys)
    assert (code, json.loads(out)["rules"]["ties"]) == (0, "file")


WEIGHTS = {"a": 1, "b": 3, "further": 7}


def test_weights_on_the_command_line(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "weights.txt"
    path.write_text("".join(f"{query} {weight}\n" for query, weight in WEIGHTS.items()))
    code, out, _ = run([table, "-m", "mrr", "--weights", str(path), "-f", "json", "-q"], capsys)
    document = json.loads(out)
    assert (code, document["runs"][0]["measures"]["mrr"]["value"]) == (0, 0.625)
    assert document["runs"][0]["weights"] == {"a": {"mrr": 1.0}, "b": {"mrr": 3.0}}
    assert document["rules"]["weights"] == str(path)
    _, out, _ = run([table, "-m", "mrr", "--weights", str(path), "-f", "markdown"], capsys)
    assert f"weights={path}" in out
    path.write_text("a 1\n")
    code, _, err = run([table, "-m", "mrr", "--weights", str(path)], capsys)
    assert code == 2
    assert "no weight for the judged query `b`" in err


def test_weights_go_with_runs_and_judgments_too() -> None:
    run, qrels = {"a": {"x": 1.0}, "b": {"x": 1.0}}, {"a": {"x": 1}, "b": {"x": 0}, "c": {"x": 1}}
    weights = {"a": 1, "b": 2, "c": 5}
    assert evaluate(run, qrels, "mrr", weights=weights)["mrr"] == 1 / 8
    assert evaluate(run, qrels, "mrr", weights=weights, missing="skip")["mrr"] == 1 / 3
    for absent, first in itertools.product("abc", [False, True]):
        order = reversed(weights) if first else weights
        with pytest.raises(InputError, match=f"no weight for the judged query `{absent}`"):
            evaluate(run, qrels, "mrr", weights={q: weights[q] for q in order if q != absent})


# --- LETOR without document ids ----------------------------------------------------------------------------------


def test_letor_without_ids_counts_ties_in_all_orders(tmp_path: Path) -> None:
    labels, scores = tmp_path / "labels.txt", tmp_path / "scores.txt"
    labels.write_text("0 qid:q 1:0.5\n1 qid:q 1:0.5\n")
    scores.write_text("0.5\n0.5\n")
    assert evaluate(scores, labels, "mrr").rules.ties == "expected"
    assert evaluate(scores, labels, "mrr")["mrr"] == 0.75
    assert {evaluate(scores, labels, "mrr", ties="random", seed=seed)["mrr"] for seed in range(20)} == {0.5, 1.0}
    with pytest.raises(UsageError, match="--ties docid needs document ids"):
        evaluate(scores, labels, "mrr", ties="docid")
    labels.write_text("0 qid:q 1:0.5 # docid = a\n1 qid:q 1:0.5 # docid = b\n")
    assert evaluate(scores, labels, "mrr").rules.ties == "docid"
