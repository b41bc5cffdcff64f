"""Labelled tables and weights of queries: the same rows from every layout, and what is said when something is wrong."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rankeval_cli.errors import InputError, RankevalError, UsageError
from rankeval_cli.readers import ReadOptions, Table, open_input
from rankeval_cli.readers.labelled import open_labelled
from rankeval_cli.readers.weights import read_weights

ROWS: list[dict[str, Any]] = [
    {"query": "q1", "score": 0.5, "label": 1},
    {"query": "q1", "score": -2.0, "label": 0},
    {"query": "q2", "score": 0.25, "label": 3},
]
FRAME = pl.DataFrame({"query": ["q1", "q1", "q2"], "score": [0.5, -2.0, 0.25], "grade": [1.0, 0.0, 3.0]})


def labelled(source: Any, columns: dict[str, str] | None = None, **options: Any) -> Table:
    opened = open_input(str(source)) if isinstance(source, (str, Path)) else source
    return open_labelled(opened, ReadOptions(columns=columns or {}, **options), "table")


def rows_of(source: Any, columns: dict[str, str] | None = None, **options: Any) -> pl.DataFrame:
    return pl.concat(labelled(source, columns, **options).frames())


def text(rows: list[dict[str, Any]], separator: str) -> str:
    return "".join(separator.join(map(str, line)) + "\n" for line in [list(rows[0]), *(row.values() for row in rows)])


def as_csv(rows: list[dict[str, Any]], folder: Path) -> Path:
    return written(folder / "table.csv", text(rows, ","))


def as_tsv(rows: list[dict[str, Any]], folder: Path) -> Path:
    return written(folder / "table.tsv", text(rows, "\t"))


def as_jsonl(rows: list[dict[str, Any]], folder: Path) -> Path:
    return written(folder / "table.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def as_json(rows: list[dict[str, Any]], folder: Path) -> Path:
    return written(folder / "table.json", json.dumps(rows))


def as_parquet(rows: list[dict[str, Any]], folder: Path) -> Path:
    pl.DataFrame(rows).write_parquet(folder / "table.parquet")
    return folder / "table.parquet"


def as_frame(rows: list[dict[str, Any]], folder: Path) -> pl.DataFrame:
    return pl.DataFrame(rows)


def as_records(rows: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    return rows


def as_columns(rows: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def written(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


Write = Callable[[list[dict[str, Any]], Path], Any]
LAYOUTS: list[Write] = [as_csv, as_tsv, as_jsonl, as_json, as_parquet, as_frame, as_records, as_columns]
TYPED: list[Write] = [write for write in LAYOUTS if write not in (as_csv, as_tsv)]
every_layout = pytest.mark.parametrize("write", LAYOUTS)


def renamed(*names: str) -> list[dict[str, Any]]:
    return [dict(zip(names, row.values(), strict=True)) for row in ROWS]


@every_layout
@pytest.mark.parametrize(
    "names", [("query", "score", "label"), ("indexes", "preds", "target"), ("QID", "Scores", "Relevance")], ids=str
)
def test_known_names(write: Write, names: tuple[str, ...], tmp_path: Path) -> None:
    table = labelled(write(renamed(*names), tmp_path))
    assert (table.has_doc_ids, table.has_rank) == (False, False)
    assert pl.concat(table.frames()).equals(FRAME)


@every_layout
def test_names_of_the_user(write: Write, tmp_path: Path) -> None:
    columns = {"query": "list", "score": "y_pred", "grade": "y_true"}
    assert rows_of(write(renamed("list", "y_pred", "y_true"), tmp_path), columns).equals(FRAME)


@every_layout
def test_documents_and_weights_of_queries(write: Write, tmp_path: Path) -> None:
    rows = [{**row, "doc": f"d{i}", "list_weight": 1.5} for i, row in enumerate(ROWS)]
    table = labelled(write(rows, tmp_path))
    assert table.has_doc_ids
    found = pl.concat(table.frames())
    assert found["doc"].to_list() == ["d0", "d1", "d2"]
    assert found["list_weight"].to_list() == [1.5] * 3
    assert table.locate("q1", "d1")[0].startswith(table.path)


@every_layout
def test_ranks_stand_in_for_scores(write: Write, tmp_path: Path) -> None:
    table = labelled(write([{"query": "q", "rank": 2, "label": 1}, {"query": "q", "rank": 1, "label": 0}], tmp_path))
    assert table.has_rank
    found = pl.concat(table.frames())
    assert (found["score"].to_list(), found["rank"].to_list()) == ([-2.0, -1.0], [2, 1])


MASKS = {"booleans": (True, False), "numbers": (1, 0), "text": ("true", "False")}


@every_layout
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_a_mask_leaves_rows_out(write: Write, mask: tuple[Any, Any], tmp_path: Path) -> None:
    rows = [{**row, "mask": mask[i == 1]} for i, row in enumerate(ROWS)]
    found = rows_of(write(rows, tmp_path))
    assert found.select("score", "grade").rows() == [(0.5, 1.0), (None, None), (0.25, 3.0)]


@pytest.mark.parametrize("write", TYPED)
@pytest.mark.parametrize("filler", [None, float("nan")], ids=str)
def test_masked_rows_may_hold_anything(write: Write, filler: float | None, tmp_path: Path) -> None:
    if write in (as_json, as_jsonl) and filler is not None:
        filler = None  # JSON has no NaN
    rows = [{**row, "label": float(row["label"]), "mask": True} for row in ROWS]
    rows[1] |= {"score": filler, "label": filler, "mask": False}
    assert rows_of(write(rows, tmp_path))["grade"].to_list() == [1.0, None, 3.0]


def test_masked_rows_of_text_may_be_empty(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "query,score,label,mask\nq1,0.5,1,1\nq1,,,0\nq1,nan,nan,0\n")
    assert rows_of(path)["score"].to_list() == [0.5, None, None]


LISTS = [
    {"query": "q1", "scores": [0.5, -2.0, None], "labels": [1, 0, None], "mask": [True, True, False]},
    {"query": "q2", "scores": [0.25], "labels": [3], "mask": [True]},
]


@pytest.mark.parametrize("write", TYPED)
def test_lists_one_row_a_query(write: Write, tmp_path: Path) -> None:
    rows = [{**row, "list_weight": weight} for row, weight in zip(LISTS, (2, 0.5), strict=True)]
    found = rows_of(write(rows, tmp_path))
    assert found.filter(pl.col("grade").is_not_null()).select("query", "score", "grade").equals(FRAME)
    assert found["list_weight"].to_list() == [2.0, 2.0, 2.0, 0.5]


@every_layout
def test_rows_of_an_ignored_label_are_left_out(write: Write, tmp_path: Path) -> None:
    found = rows_of(write(ROWS, tmp_path), ignore_label=0.0)
    assert found.select("score", "grade").rows() == [(0.5, 1.0), (None, None), (0.25, 3.0)]


@pytest.mark.parametrize("write", [as_csv, as_jsonl, as_parquet])
def test_labels_may_be_words_or_truths(write: Write, tmp_path: Path) -> None:
    rows = [{**row, "label": word} for row, word in zip(ROWS, ("E", "I", "E"), strict=True)]
    assert rows_of(write(rows, tmp_path), grade_map={"E": 3, "I": 0})["grade"].to_list() == [3.0, 0.0, 3.0]
    rows = [{**row, "label": row["label"] > 0} for row in ROWS]
    assert rows_of(write(rows, tmp_path))["grade"].to_list() == [1.0, 0.0, 1.0]


@every_layout
def test_weights_of_rows_are_told(write: Write, tmp_path: Path) -> None:
    table = labelled(write([{**row, "weight": 2.0} for row in ROWS], tmp_path))
    assert pl.concat(table.frames()).equals(FRAME)
    assert table.warnings == ["column `weight` holds weights of rows, which only --preset keras and tf-ranking use"]


@every_layout
def test_weights_of_rows_are_read_where_they_are_asked_for(write: Write, tmp_path: Path) -> None:
    rows = [{**row, "weight": 2.0 + i} for i, row in enumerate(ROWS)]
    table = labelled(write(rows, tmp_path), item_weights=True)
    assert pl.concat(table.frames())["weight"].to_list() == [row["weight"] for row in rows]
    assert table.warnings == []


WRONG = {
    "score is null": ({"score": None}, "score is null"),
    "label is null": ({"label": None}, "grade (`label`) is null"),
    "label is a word": ({"label": "good"}, "`good` is not a number"),
    "mask is null": ({"mask": None}, "mask is null"),
    "mask is a word": ({"mask": "maybe"}, "mask `maybe` is neither true nor false"),
    "query is null": ({"query": None}, "`query` is null"),
}
PLACES = {as_csv: r"table\.csv:3", as_jsonl: r"table\.jsonl:2", as_json: r"table\.json, entry 2", as_records: "entry 2"}


@pytest.mark.parametrize("write", PLACES)
@pytest.mark.parametrize(("change", "what"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_with_its_place(write: Write, change: Any, what: str, tmp_path: Path) -> None:
    if write is as_csv:
        change = {name: "" if value is None else value for name, value in change.items()}
    rows = [{**row, "mask": True} for row in ROWS]
    rows[1] |= change
    with pytest.raises(InputError) as problem:
        rows_of(write(rows, tmp_path))
    assert re.search(PLACES[write], str(problem.value))
    assert what in problem.value.what


def test_rows_of_parquet_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"query": [1, 1], "score": [0.5, float("nan")], "label": [1, 0]}).write_parquet(path)
    with pytest.raises(InputError, match="score is NaN") as problem:
        rows_of(path)
    assert problem.value.where == f"{path}, row 2"


TYPES = {
    "lists of queries": ({"query": [[1]], "score": [[0.5]], "label": [[1]]}, "`query` holds lists of queries"),
    "labels without lists": ({"query": [1], "score": [[0.5]], "label": [1]}, "`label` holds no lists"),
    "lists of weights": (
        {"query": [1], "score": [[0.5]], "label": [[1]], "list_weight": [[1.0]]},
        "`list_weight` holds lists of weights of queries",
    ),
    "mask of dates": (
        {"query": [1], "score": [0.5], "label": [1], "mask": pl.Series([0]).cast(pl.Date)},
        "`mask` holds a mask of type date",
    ),
    "ragged": ({"query": [1], "score": [[0.5, 0.1]], "label": [[1]]}, "`score` has length 2 and `label` length 1"),
}


@pytest.mark.parametrize(("columns", "what"), TYPES.values(), ids=TYPES)
def test_types_and_lengths_that_do_not_fit(columns: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=re.escape(what)):
        rows_of(pl.DataFrame(columns))


HALVES = {
    "a TREC run": ("run.txt", "q1 Q0 d1 1 0.5 t\n", "the judgments are missing"),
    "a run in CSV": ("run.csv", "query,doc,score\nq1,d1,0.5\n", "the judgments are missing"),
    "a run in JSON Lines": ("r.jsonl", '{"query":"q","doc":"d","score":1}\n' * 2, "the judgments are missing"),
    "TREC judgments": ("qrels.txt", "q1 0 d1 1\n", "the run is missing"),
    "judgments in CSV": ("qrels.csv", "query,doc,label\nq1,d1,1\n", "the run is missing"),
}


@pytest.mark.parametrize(("name", "content", "what"), HALVES.values(), ids=HALVES)
def test_a_run_or_judgments_alone(name: str, content: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{what}: .*{name}. holds") as problem:
        labelled(written(tmp_path / name, content))
    assert "one table that holds query, score and label" in str(problem.value.hint)


NO_TABLE = {
    "no label": ("t.csv", "query,score,quality\nq1,0.5,1\n", "no column for the grade"),
    "no score": ("t.csv", "query,quality,label\nq1,0.5,1\n", "no column for the score"),
    "no query": ("t.csv", "group,score,label\nq1,0.5,1\n", "no column for the query"),
    "nothing known": ("t.txt", "hello world, this is prose\n", "no layout of a labelled table"),
    "an object of objects": ("t.json", '{"q1": {"d1": 0.5}}', "the judgments are missing"),
    "empty": ("t.csv", "", "is empty"),
}


@pytest.mark.parametrize(("name", "content", "what"), NO_TABLE.values(), ids=NO_TABLE)
def test_what_is_no_labelled_table(name: str, content: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(RankevalError) as problem:
        rows_of(written(tmp_path / name, content))
    assert what in problem.value.what


def test_a_dict_of_dicts_holds_no_labels() -> None:
    with pytest.raises(InputError, match="holds no labels"):
        rows_of({"q1": {"d1": 0.5}})


# --- weights -----------------------------------------------------------------------------------------------------

WEIGHTS = {"q1": 0.5, "q2": 2.0}
FILES = {
    "blanks": ("w.txt", "q1 0.5\n\n# a comment\nq2   2\n"),
    "tabs": ("w.txt", "q1\t0.5\nq2\t2\n"),
    "csv": ("w.csv", "weight,query\n0.5,q1\n2,q2\n"),
    "tsv": ("w.tsv", "query_id\tweight\nq1\t0.5\nq2\t2\n"),
    "jsonl": ("w.jsonl", '{"query": "q1", "weight": 0.5}\n{"query": "q2", "weight": 2}\n'),
    "json records": ("w.json", '[{"query": "q1", "weight": 0.5}, {"query": "q2", "weight": 2}]'),
    "json object": ("w.json", '{"q1": 0.5, "q2": 2}'),
    "said twice": ("w.txt", "q1 0.5\nq2 2\nq1 0.5\n"),
}


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES)
def test_weights_in_any_layout(name: str, content: str, tmp_path: Path) -> None:
    assert read_weights(written(tmp_path / name, content)) == WEIGHTS


def test_weights_in_parquet_and_in_memory(tmp_path: Path) -> None:
    frame = pl.DataFrame({"query": ["q1", "q2"], "weight": [0.5, 2.0]})
    frame.write_parquet(tmp_path / "w.parquet")
    for source in (tmp_path / "w.parquet", frame, WEIGHTS, frame.to_dict(as_series=False), frame.to_arrow()):
        assert read_weights(source) == WEIGHTS


BAD_WEIGHTS = {
    "negative": ("w.txt", "q1 -1\n", "the weight of query `q1` is `-1`"),
    "NaN": ("w.csv", "query,weight\nq1,nan\n", "the weight of query `q1` is NaN"),
    "infinite": ("w.txt", "q1 inf\n", "the weight of query `q1` is `inf`"),
    "a word": ("w.csv", "query,weight\nq1,heavy\n", "the weight of query `q1` is no number"),
    "empty": ("w.csv", "query,weight\nq1,\n", "the weight of query `q1` is no number"),
    "null": ("w.jsonl", '{"query": "q1", "weight": null}\n', "the weight of query `q1` is no number"),
    "two weights": ("w.txt", "q1 1\nq1 2\n", "query `q1` has two weights"),
    "three columns": ("w.txt", "q1 1\nq2 2 3\n", "3 columns, not a query and a weight"),
    "one column": ("w.txt", "q1\nq2\n", "1 column, not a query and a weight"),
    "no weight": ("w.csv", "query,load\nq1,1\n", "no column for the weight"),
    "nothing": ("w.txt", "", "is empty: no weights"),
}


@pytest.mark.parametrize(("name", "content", "what"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_weights_that_are_none(name: str, content: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as problem:
        read_weights(str(written(tmp_path / name, content)))
    assert what in problem.value.what
    assert name in str(problem.value.where)
