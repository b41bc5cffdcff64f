"""Parquet: every column type that can hold ids and numbers, lists, parts, and what is refused."""

import gzip
import io
import os
import shutil
import threading
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankeval_cli.errors import InputError
from rankeval_cli.readers import frames as frames_module
from rankeval_cli.readers import parquet
from rankeval_cli.readers.format import ReadOptions, Role, Table
from rankeval_cli.readers.source import open_input


def opened(path: Path, role: Role = "run", **options: Any) -> Table:
    found, how = open_input(str(path)), ReadOptions(**options)
    [format] = parquet.FORMATS
    assert format.fits(found, role, how)
    return format.open(found, role, how)


def rows(table: Table) -> list[tuple[Any, ...]]:
    return [row for frame in table.frames() for row in frame.rows()]


def written(path: Path, types: dict[str, Any] | None = None, **columns: list[Any]) -> Path:
    """A file with these columns; query and doc are added when they are not given."""
    height = len(next(iter(columns.values())))
    default = {"query": ["q"] * height, "doc": [f"d{i}" for i in range(height)]}
    pl.DataFrame({**default, **columns}, schema_overrides=types).write_parquet(path)
    return path


IDS: dict[str, tuple[Any, list[Any], list[str]]] = {
    "text": (pl.String, ["007", "NA", "null"], ["007", "NA", "null"]),
    "int64": (pl.Int64, [2**62 + 1, 2**62 + 2, -1], [str(2**62 + 1), str(2**62 + 2), "-1"]),
    "uint64": (pl.UInt64, [2**64 - 1, 2**64 - 2], [str(2**64 - 1), str(2**64 - 2)]),
    "int8": (pl.Int8, [-128, 7], ["-128", "7"]),
    "int128": (pl.Int128, [2**100], [str(2**100)]),
    "decimal of scale 0": (pl.Decimal(38, 0), [Decimal(10**30 + 1)], [str(10**30 + 1)]),
    "category": (pl.Categorical, ["b", "a", "b"], ["b", "a", "b"]),
    "enum": (pl.Enum(["a", "b"]), ["b", "a"], ["b", "a"]),
    "UTF-8 bytes": (pl.Binary, ["é".encode(), b"7"], ["é", "7"]),
}


@pytest.mark.parametrize(("dtype", "ids", "texts"), IDS.values(), ids=IDS)
def test_ids_become_text(dtype: Any, ids: list[Any], texts: list[str], tmp_path: Path) -> None:
    path = written(tmp_path / "run.parquet", {"doc": dtype, "query": dtype}, query=ids, doc=ids, score=[1.0] * len(ids))
    table = opened(path)
    assert [row[:2] for row in rows(table)] == [(text, text) for text in texts]
    assert table.locate(texts[-1], texts[-1])[-1] == f"{path}, row {len(texts)}"


NUMBERS: dict[str, tuple[Any, list[Any], list[float]]] = {
    "float32 is widened": (pl.Float32, [0.1], [0.10000000149011612]),
    "float16 is widened": (pl.Float16, [0.1], [0.0999755859375]),
    "decimal": (
        pl.Decimal(38, 20),
        [Decimal("0.1"), Decimal("-123456789012345678.30000000000000000001")],
        [0.1, -123456789012345678.3],
    ),
    "uint8": (pl.UInt8, [255], [255.0]),
    "int64": (pl.Int64, [2**53, -(2**53)], [2.0**53, -(2.0**53)]),
    "text": (pl.String, ["0.1", " 1e-3 ", "5."], [0.1, 0.001, 5.0]),
}


@pytest.mark.parametrize(("dtype", "values", "expected"), NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("role", ["run", "qrels"])
def test_numbers_are_exact(role: Role, dtype: Any, values: list[Any], expected: list[float], tmp_path: Path) -> None:
    table = opened(written(tmp_path / "run.parquet", {"score": dtype}, score=values), role)
    assert [row[2] for row in rows(table)] == expected
    assert table.warnings == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.decimals(min_value=-(10**20), max_value=10**20, places=15), min_size=1, max_size=20))
def test_decimals_are_the_float_of_their_text(tmp_path_factory: pytest.TempPathFactory, values: list[Decimal]) -> None:
    path = written(tmp_path_factory.mktemp("decimal") / "run.parquet", {"score": pl.Decimal(38, 15)}, score=values)
    assert [row[2] for row in rows(opened(path))] == [float(str(value)) for value in values]


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int128], ids=str)
def test_scores_beyond_float64_are_told(dtype: Any, tmp_path: Path) -> None:
    values = [2**53, 2**53 + 1, 2**60, 2**60 + 1, 2**60 + 2]
    table = opened(written(tmp_path / "run.parquet", {"score": dtype}, score=values))
    assert [row[2] for row in rows(table)] == [float(value) for value in values]
    assert table.warnings == ["3 scores are beyond 2^53 and had to be rounded: those that differ only there are ties"]


def test_true_and_false_are_grades(tmp_path: Path) -> None:
    assert [row[2] for row in rows(opened(written(tmp_path / "q.parquet", label=[True, False]), "qrels"))] == [1.0, 0.0]


def test_words_are_grades_by_the_map(tmp_path: Path) -> None:
    path = written(tmp_path / "q.parquet", {"label": pl.Categorical}, label=["E", "0.5", "E"])
    assert [row[2] for row in rows(opened(path, "qrels", grade_map={"E": 3.0}))] == [3.0, 0.5, 3.0]


def test_infinite_scores_are_kept_and_told(tmp_path: Path) -> None:
    table = opened(written(tmp_path / "run.parquet", score=[float("inf"), 1.0]))
    assert [row[2] for row in rows(table)] == [float("inf"), 1.0]
    assert table.warnings == ["1 infinite score, sorted first or last"]


RANKS: dict[str, tuple[dict[str, list[Any]], list[tuple[float, int | None]]]] = {
    "beside a score": ({"score": [0.5, 0.7], "rank": [2, 1]}, [(0.5, 2), (0.7, 1)]),
    "alone": ({"rank": [1, 2]}, [(-1.0, 1), (-2.0, 2)]),
    "floats": ({"score": [0.5, 0.7], "rank": [2.0, 1.5]}, [(0.5, 2), (0.7, None)]),
    "text": ({"score": [0.5, 0.7], "rank": [" 2", "x"]}, [(0.5, 2), (0.7, None)]),
    "true and false": ({"score": [0.5, 0.7], "rank": [True, None]}, [(0.5, None), (0.7, None)]),
}


@pytest.mark.parametrize(("columns", "expected"), RANKS.values(), ids=RANKS)
def test_ranks_are_whole_numbers_or_null(columns: dict[str, Any], expected: list[Any], tmp_path: Path) -> None:
    table = opened(written(tmp_path / "run.parquet", **columns))
    assert table.has_rank
    assert [row[2:] for row in rows(table)] == expected
    assert all(frame.schema["rank"] == pl.Int64 for frame in table.frames())


LISTS: dict[str, tuple[Role, dict[str, list[Any]], list[tuple[Any, ...]]]] = {
    "scores": ("run", {"scores": [[2.0, 1.0], [], [5.0]]}, [("1", "a", 2.0), ("1", "b", 1.0), ("3", "c", 5.0)]),
    "ranks": ("run", {"ranks": [[1, 2], [], [1]]}, [("1", "a", -1.0, 1), ("1", "b", -2.0, 2), ("3", "c", -1.0, 1)]),
    "order": ("run", {}, [("1", "a", -1.0, 1), ("1", "b", -2.0, 2), ("3", "c", -1.0, 1)]),
    "grades": ("qrels", {"labels": [[1, 0], [], [2]]}, [("1", "a", 1.0), ("1", "b", 0.0), ("3", "c", 2.0)]),
    "relevant": ("qrels", {}, [("1", "a", 1.0), ("1", "b", 1.0), ("3", "c", 1.0)]),
}


@pytest.mark.parametrize("part_rows", [1, 2, 100])
@pytest.mark.parametrize(("role", "columns", "expected"), LISTS.values(), ids=LISTS)
def test_one_row_a_query_is_unnested(
    role: Role,
    columns: dict[str, Any],
    expected: list[Any],
    part_rows: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames_module, "LIST_ROWS", part_rows)
    path = written(
        tmp_path / "run.parquet", query=[1, 2, 3], docs=[["a", "b"], [], ["c"]], doc=["x", "y", "z"], **columns
    )
    pl.read_parquet(path).drop("doc").write_parquet(path)
    table = opened(path, role)
    assert rows(table) == expected
    assert table.locate("3", "c") == [f"{path}, row 3"]


def test_arrays_of_fixed_length_are_lists(tmp_path: Path) -> None:
    types = {"doc": pl.Array(pl.Int64, 2), "score": pl.Array(pl.Float32, 2)}
    path = written(tmp_path / "run.parquet", types, doc=[[1, 2]], score=[[0.5, 0.25]])
    assert rows(opened(path)) == [("q", "1", 0.5), ("q", "2", 0.25)]


ERRORS: dict[str, tuple[Role, dict[str, Any], dict[str, list[Any]], str, tuple[str, ...]]] = {
    "null id": ("run", {}, {"doc": ["a", None], "score": [1.0, 2.0]}, ", row 2", ("`doc`", "null")),
    "only null ids": ("run", {"doc": pl.Null}, {"doc": [None], "score": [1.0]}, ", row 1", ("`doc`", "null")),
    "empty id": ("run", {}, {"doc": ["a", "b", ""], "score": [1.0, 2.0, 3.0]}, ", row 3", ("`doc`", "empty")),
    "null among numbers": ("run", {}, {"doc": [1, None], "score": [1.0, 2.0]}, ", row 2", ("`doc`", "null")),
    "float ids": ("run", {}, {"doc": [1.0], "score": [1.0]}, "", ("`doc`", "float64", "whole numbers or text")),
    "decimal ids": ("run", {"doc": pl.Decimal(9, 2)}, {"doc": [1], "score": [1.0]}, "", ("`doc`", "decimal")),
    "true as id": ("run", {}, {"doc": [True], "score": [1.0]}, "", ("`doc`", "true/false")),
    "date as id": ("run", {}, {"doc": [date(2020, 1, 1)], "score": [1.0]}, "", ("`doc`", "date")),
    "bytes": ("run", {}, {"doc": [b"a", b"\xff"], "score": [1.0, 2.0]}, ", row 2", ("`doc`", "not UTF-8")),
    "list of structs": ("run", {}, {"doc": [[{"a": 1}]], "score": [[1.0]]}, "", ("`doc`", "struct")),
    "list of lists": ("run", {}, {"doc": [[["a"]]], "score": [[1.0]]}, "", ("`doc`", "list of text")),
    "list beside one score": ("run", {}, {"doc": [["a"]], "score": [1.0]}, "", ("`score` holds no lists", "`doc`")),
    "scores beside one document": ("run", {}, {"score": [[1.0]]}, "", ("`doc` holds no lists", "`score`")),
    "list of queries": ("run", {}, {"query": [["q"]], "doc": [["d"]], "score": [[1.0]]}, "", ("lists of queries",)),
    "uneven lists": ("run", {}, {"doc": [[1], [1]], "score": [[1.0], [1.0, 2.0]]}, ", row 2", ("length 1", "length 2")),
    "null list": ("run", {}, {"doc": [["a"], None], "score": [[1.0], None]}, ", row 2", ("`doc` is null", "empty")),
    "null in a list": ("run", {}, {"doc": [["a", None]], "score": [[1.0, 2.0]]}, ", row 1", ("`doc` is null",)),
    "null score": ("run", {}, {"score": [1.0, None]}, ", row 2", ("score is null",)),
    "NaN score": ("run", {}, {"score": [1.0, float("nan")]}, ", row 2", ("score is NaN",)),
    "score is a word": ("run", {}, {"sim": ["1", "x"]}, ", row 2", ("score (`sim`) `x`", "not a number")),
    "score is true": ("run", {}, {"score": [True]}, "", ("`score`", "true/false")),
    "score is a category": ("run", {"score": pl.Categorical}, {"score": ["1"]}, "", ("`score`", "categorical")),
    "infinite grade": ("qrels", {}, {"label": [float("inf")]}, ", row 1", ("infinite",)),
    "grade is a word": ("qrels", {}, {"label": ["E"]}, ", row 1", ("`E`", "--grade-map")),
    "rank decides and is null": ("run", {}, {"rank": [1, None]}, ", row 2", ("rank is null",)),
    "rank decides and is not whole": ("run", {}, {"rank": [1.5]}, ", row 1", ("rank `1.5`", "whole")),
    "no score": ("run", {}, {"title": ["a"]}, "", ("the score", "`title`", "--columns score=")),
    "lists of unknown numbers": ("run", {}, {"doc": [["a"]], "num": [[1.0]]}, "", ("the score", "`num`")),
}  # fmt: skip


@pytest.mark.parametrize(("role", "types", "columns", "where", "mentions"), ERRORS.values(), ids=ERRORS)
def test_what_is_wrong_is_named_with_its_row(
    role: Role, types: dict[str, Any], columns: dict[str, Any], where: str, mentions: tuple[str, ...], tmp_path: Path
) -> None:
    path = written(tmp_path / "run.parquet", types, **columns)
    with pytest.raises(InputError) as caught:
        rows(opened(path, role))
    assert caught.value.where == f"{path}{where}"
    for mention in mentions:
        assert mention in str(caught.value)


def test_rows_are_counted_across_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_ROWS", 10)
    path = tmp_path / "run.parquet"
    ids = [*map(str, range(99)), None]
    pl.DataFrame({"query": ["q"] * 100, "doc": ids, "score": [0.5] * 100}).write_parquet(path, row_group_size=25)
    with pytest.raises(InputError, match="null") as caught:
        rows(opened(path))
    assert caught.value.where == f"{path}, row 100"


def test_parts_of_other_types_go_together(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    (folder / ".part-1.crc").write_bytes(b"crc")
    written(folder / "part-1.parquet", {"doc": pl.Int32, "score": pl.Float32}, doc=[1], score=[0.5])
    written(folder / "part-2.parquet", {"doc": pl.Int64, "score": pl.Float64}, score=[0.25], doc=[2**40])
    written(folder / "part-10.parquet", {"doc": pl.Categorical}, doc=["x"], score=[3], title=["t"])
    written(folder / "part-11.parquet", doc=[], score=[])
    table = opened(folder)
    expected = [("q", "1", 0.5), ("q", str(2**40), 0.25), ("q", "x", 3.0)]
    assert rows(table) == expected
    assert rows(opened(Path(f"{folder}/part-*"))) == expected
    assert table.locate("q", "x") == [f"{folder}/part-10.parquet, row 1"]


def test_a_part_without_a_column_is_named(tmp_path: Path) -> None:
    written(tmp_path / "part-1.parquet", score=[1.0])
    written(tmp_path / "part-2.parquet", sim=[1.0])
    with pytest.raises(InputError, match="no column `score`") as caught:
        rows(opened(tmp_path))
    assert caught.value.where == f"{tmp_path}/part-2.parquet"


def test_folders_of_a_partition_are_a_column(tmp_path: Path) -> None:
    for name in ("query=007", "query=a%3Ab"):
        (tmp_path / name).mkdir()
        pl.DataFrame({"doc": ["d"], "score": [1.0]}).write_parquet(tmp_path / name / "part.parquet")
    assert rows(opened(tmp_path / "*" / "*.parquet")) == [("007", "d", 1.0), ("a:b", "d", 1.0)]


def test_the_null_partition_is_a_null_id(tmp_path: Path) -> None:
    (tmp_path / "query=__HIVE_DEFAULT_PARTITION__").mkdir()
    path = tmp_path / "query=__HIVE_DEFAULT_PARTITION__" / "part.parquet"
    pl.DataFrame({"doc": ["d"], "score": [1.0]}).write_parquet(path)
    with pytest.raises(InputError, match="`query` is null"):
        rows(opened(tmp_path / "*" / "*.parquet"))


def good_bytes() -> bytes:
    file = io.BytesIO()
    pl.DataFrame({"query": ["q"] * 50, "doc": [f"d{i}" for i in range(50)], "score": [0.5] * 50}).write_parquet(file)
    return file.getvalue()


DAMAGE = {
    "cut": lambda data: data[:-20],
    "empty": lambda data: b"",
    "footer": lambda data: data[:-60] + b"\xff" * 52 + data[-8:],
    "pages": lambda data: data[:8] + b"\0" * 60 + data[68:],
    "zeros": lambda data: b"\0" * 100,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_files_are_refused(damage: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    path.write_bytes(damage(good_bytes()))
    with pytest.raises(InputError, match="cannot be read as Parquet") as caught:
        rows(opened(path))
    assert caught.value.where == str(path)


def test_compressed_and_piped_files_are_read_twice(tmp_path: Path) -> None:
    path, pipe = tmp_path / "run.parquet.gz", tmp_path / "pipe"
    path.write_bytes(gzip.compress(good_bytes()))
    os.mkfifo(pipe)
    feeder = threading.Thread(target=pipe.write_bytes, args=(good_bytes(),))
    feeder.start()
    for table in (opened(path), opened(pipe)):
        assert len(rows(table)) == len(rows(table)) == 50
        assert table.locate("q", "d7") == [f"{table.path}, row 8"]
    feeder.join()


def test_progress_adds_up_to_the_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_ROWS", 7)
    path = tmp_path / "run.parquet"
    path.write_bytes(good_bytes())
    shutil.copy(path, tmp_path / "second.parquet")
    told: list[int] = []
    table = opened(tmp_path)
    assert sum(frame.height for frame in table.frames(told.append)) == 100
    assert sum(told) == table.size_bytes


def test_a_path_is_no_pattern(tmp_path: Path) -> None:
    assert rows(opened(written(tmp_path / "run[1].parquet", score=[1.0]))) == [("q", "d0", 1.0)]
