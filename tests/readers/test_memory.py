"""Python objects as runs and judgments: what is read, what is refused and where, and that none is changed."""

import copy
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rankeval_cli.errors import InputError
from rankeval_cli.readers import memory
from rankeval_cli.readers.format import ReadOptions, Role
from rankeval_cli.readers.memory import open_object


def rows(obj: Any, role: Role = "run", **options: Any) -> list[tuple[Any, ...]]:
    table = open_object(obj, role, ReadOptions(**options), "run")
    found = [row for frame in table.frames() for row in frame.rows()]
    assert [row for frame in table.frames() for row in frame.rows()] == found, "the second pass differs"
    assert all(len(row) == (4 if table.has_rank else 3) for row in found)
    return found


Result = namedtuple("Result", "query_id doc_id score")
ONE = [("q", "d", 0.5)]
RANKED = [("q", "7", -1.0, 1), ("q", "d", -2.0, 2)]
FLAT = pl.DataFrame({"qid": ["q"], "docno": ["d"], "score": [0.5], "note": ["x"]})
PANDAS = pd.DataFrame({"qid": ["q"], "docno": ["d"], "score": [0.5], "note": [object()]})
ARROW = pa.table({"qid": ["q"], "docno": ["d"], "score": [0.5], "wide": pa.array([1], type=pa.decimal256(50, 2))})

RUNS: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "dict": ({"q": {"d": 0.5}}, ONE),
    "any mapping": (MappingProxyType({"q": MappingProxyType({"d": 0.5})}), ONE),
    "whole ids": ({1: {2**70: 1}}, [("1", str(2**70), 1.0)]),
    "NumPy ids and scores": ({np.int64(7): {np.str_("d"): np.float32(0.1)}}, [("7", "d", 0.10000000149011612)]),
    "NumPy whole score": ({"q": {"d": np.int16(3)}}, [("q", "d", 3.0)]),
    "bytes as ids": ({b"q": {"é".encode(): 0.5}}, [("q", "é", 0.5)]),
    "decimal and fraction": ({"q": {"a": Decimal("0.1"), "b": Fraction(1, 4)}}, [("q", "a", 0.1), ("q", "b", 0.25)]),
    "pairs": ({"q": [("d", 0.5)]}, ONE),
    "ranked documents": ({"p": [], "q": [7, "d"]}, RANKED),
    "ranked array": ({"q": np.array(["7", "d"])}, RANKED),
    "columns": ({"query": ["q"], "doc": np.array(["d"]), "score": (0.5,)}, ONE),
    "records": ([{"query_id": "q", "doc_id": "d", "score": 0.5}], ONE),
    "records with arrays": ([{"qid": "q", "docs": np.array([7]), "scores": np.array([0.5])}], [("q", "7", 0.5)]),
    "named tuples": ([Result("q", "d", 0.5)], ONE),
    "generator": ((Result("q", "d", 0.5) for _ in range(1)), ONE),
    "empty dict": ({}, []),
    "empty list": ([], []),
    "Polars": (FLAT, ONE),
    "Polars, lazy": (FLAT.lazy(), ONE),
    "Polars lists": (pl.DataFrame({"qid": ["q"], "docs": [["7", "d"]]}), RANKED),
    "pandas": (PANDAS, ONE),
    "pandas, named index": (PANDAS.set_index("qid"), ONE),
    "pandas, two levels": (PANDAS.set_index(["qid", "docno"]), ONE),
    "pandas, own types": (PANDAS.drop(columns="note").convert_dtypes(), ONE),
    "pandas, Arrow types": (PANDAS.drop(columns="note").convert_dtypes(dtype_backend="pyarrow"), ONE),
    "pandas, categories": (PANDAS.astype({"qid": "category", "docno": "category"}), ONE),
    "pandas, objects": (PANDAS.astype(object), ONE),
    "pandas, mixed ids": (PANDAS.assign(docno=pd.Series([2**60 + 1], dtype=object)), [("q", str(2**60 + 1), 0.5)]),
    "pandas, whole ids": (PANDAS.assign(docno=np.uint64(2**64 - 1)), [("q", str(2**64 - 1), 0.5)]),
    "pandas, float16": (PANDAS.assign(score=np.float16(0.5)), ONE),
    "pandas, sliced": (pd.concat([PANDAS, PANDAS]).iloc[1:], ONE),
    "pandas lists": (pd.DataFrame({"qid": ["q"], "docs": [np.array(["7", "d"])], "ranks": [[1, 2]]}), RANKED),
    "Arrow": (ARROW, ONE),
    "Arrow batch": (ARROW.drop_columns(["wide"]).to_batches()[0], ONE),
    "Arrow stream": (ARROW.drop_columns(["wide"]).to_reader(), ONE),
    "Arrow views and dictionaries": (
        pa.table(
            {
                "qid": pa.array(["q"], type=pa.string_view()),
                "doc": pa.array(["d"]).dictionary_encode(),
                "score": pa.array([Decimal("0.5")], type=pa.decimal128(9, 3)),
            }
        ),
        ONE,
    ),
}


@pytest.mark.parametrize(("obj", "expected"), RUNS.values(), ids=RUNS)
def test_runs_are_read_from_each_object(obj: Any, expected: list[tuple[Any, ...]]) -> None:
    assert rows(obj) == expected


QRELS: dict[str, tuple[Any, dict[str, Any], list[tuple[Any, ...]]]] = {
    "dict": ({"q": {"a": 1, "b": True, "c": np.bool_(False)}}, {}, [("q", "a", 1.0), ("q", "b", 1.0), ("q", "c", 0.0)]),
    "relevant documents": ({"q": ["a", 7]}, {}, [("q", "a", 1.0), ("q", "7", 1.0)]),
    "words": ({"q": {"a": "E"}}, {"grade_map": {"E": 3.0}}, [("q", "a", 3.0)]),
    "score is the grade": (FLAT, {}, ONE),
    "named columns": (FLAT.rename({"score": "s"}), {"columns": {"grade": "s"}}, ONE),
    "pandas words": (PANDAS.assign(label="E"), {"grade_map": {"E": 3.0}}, [("q", "d", 3.0)]),
}


@pytest.mark.parametrize(("obj", "options", "expected"), QRELS.values(), ids=QRELS)
def test_judgments_are_read_from_each_object(obj: Any, options: dict[str, Any], expected: list[Any]) -> None:
    assert rows(obj, "qrels", **options) == expected


def two(**columns: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"qid": ["q", "q"], "doc": ["a", "b"], "score": [1.0, 2.0], **columns})


ERRORS: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "text": (b"run.txt", "run", ("of type bytes", "give a path")),
    "number": (5, "run", ("of type int",)),
    "list of numbers": ([5], "run, entry 1", ("of type int", "records look like")),
    "second record": ([Result("q", "d", 1), 5], "run, entry 2", ("of type int",)),
    "record without a key": ([{"qid": "q", "doc": "d", "score": 1}, {"qid": "q"}], "run, entry 2", ("no key `doc`",)),
    "score is a word": ({"q": {"d": "x"}}, 'run["q"]["d"]', ("score `x` is not a number",)),
    "score is NaN": ({"q": {"a": 1.0, "d": np.float64("nan")}}, 'run["q"]["d"]', ("NaN",)),
    "score is a decimal NaN": ({"q": {"d": Decimal("NaN")}}, 'run["q"]["d"]', ("NaN",)),
    "score is an object": ({"q": {"d": object()}}, 'run["q"]["d"]', ("is not a number",)),
    "score is true": ({"q": {"d": np.bool_(True)}}, 'run["q"]["d"]', ("is not a number",)),
    "float id": ({1.0: {"d": 1}}, "run[1.0]", ("the query id is the float `1.0`", "whole numbers or text")),
    "true as id": ({"q": {True: 1}}, 'run["q"][true]', ("the document id is `true`",)),
    "None as id": ({"q": {None: 1}}, 'run["q"][null]', ("the document id is null",)),
    "tuple as id": ({"q": {(1, 2): 1}}, 'run["q"][[1, 2]]', ("the document id is a list",)),
    "query holds a number": ({"q": 1}, 'run["q"]', ("holds `1`, not documents",)),
    "query holds text": ({"q": "d"}, 'run["q"]', ("holds `d`, not documents",)),
    "query holds a set": ({"q": {"d", "e"}}, 'run["q"]', ("holds a set, not documents",)),
    "three levels": ({"q": {"d": {"e": 1}}}, 'run["q"]["d"]', ("is an object, not a score",)),
    "uneven columns": ({"query": ["q"], "doc": ["d", "e"], "score": [1]}, "run", ("equal length",)),
    "unknown columns": (FLAT.rename({"docno": "x"}), "run", ("the document", "`x`", "--columns doc=")),
    "pandas, missing id": (two(doc=["a", None]), "run, row 2", ("`doc` is null",)),
    "pandas, missing among objects": (two(doc=pd.Series([1, np.nan], dtype=object)), "run, row 2", ("`doc` is null",)),
    "pandas, NA": (two(doc=pd.array([1, pd.NA], dtype="Int64")), "run, row 2", ("`doc` is null",)),
    "pandas, float among objects": (two(doc=pd.Series(["a", 1.5], dtype=object)), "run, row 2", ("float `1.5`",)),
    "pandas, float ids": (two(doc=[1, np.nan]), "run", ("`doc`", "float64", "missing values")),
    "pandas, dates as ids": (two(doc=pd.to_datetime(["2020-01-01"] * 2)), "run", ("`doc`", "datetime")),
    "pandas, missing score": (two(score=[1.0, np.nan]), "run, row 2", ("NaN",)),
    "pandas, mixed scores": (two(score=pd.Series([1, "x"], dtype=object)), "run", ("`score`", "several types")),
    "pandas, column twice": (
        two().set_axis(["qid", "doc", "doc"], axis=1).assign(score=1.0),
        "run",
        ("`doc`", "2 times"),
    ),
    "Arrow type that Polars has not": (
        pa.table({"qid": ["q"], "doc": ["d"], "score": ARROW["wide"]}),
        "run",
        ("type",),
    ),
}


@pytest.mark.parametrize(("obj", "where", "mentions"), ERRORS.values(), ids=ERRORS)
def test_what_is_wrong_is_named_with_its_place(obj: Any, where: str, mentions: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        rows(obj)
    assert caught.value.where == where
    for mention in mentions:
        assert mention in str(caught.value)


def test_nothing_is_changed() -> None:
    held = {"q": {"d": 1}, 2: {3: 0.5}}
    kept = copy.deepcopy(held)
    rows(held)
    assert held == kept
    frame, pandas_frame = FLAT.clone(), PANDAS.set_index("qid")
    before = pandas_frame.copy()
    rows(frame), rows(pandas_frame)
    assert frame.equals(FLAT)
    pd.testing.assert_frame_equal(pandas_frame, before)


def test_ids_that_become_equal_are_repeated_rows() -> None:
    held = {"q": {"1": 0.5, 1: 0.25}}
    assert rows(held) == [("q", "1", 0.5), ("q", "1", 0.25)]
    assert open_object(held, "run", ReadOptions(), "run").locate("q", "1") == ['run["q"]["1"]'] * 2


PLACES: dict[str, tuple[Any, list[str]]] = {
    "dict": ({"p": {"d": 1}, "q": {"d": 1}}, ['run["q"]["d"]']),
    "ranked": ({"q": ["c", "d", "d"]}, ['run["q"][1]', 'run["q"][2]']),
    "records": ([Result("p", "d", 1), Result("q", "d", 1)], ["run, entry 2"]),
    "frame": (pl.concat([FLAT] * 12), [f"run, row {i}" for i in range(1, 11)]),
    "lists": (pl.DataFrame({"qid": ["p", "q"], "docs": [["d"], ["d", "d"]]}), ["run, row 2"] * 2),
    "absent": ({"q": {"c": 1}}, []),
}


@pytest.mark.parametrize(("obj", "places"), PLACES.values(), ids=PLACES)
def test_places_of_a_pair(obj: Any, places: list[str]) -> None:
    assert open_object(obj, "run", ReadOptions(), "run").locate("q", "d") == places


def test_rows_are_counted_across_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "FRAME_ROWS", 3)
    frame = pl.DataFrame({"qid": ["q"] * 8, "doc": [*"abcdefg", None], "score": [1.0] * 8})
    table = open_object(frame.head(7), "run", ReadOptions(), "run")
    assert [part.height for part in table.frames()] == [3, 3, 1]
    with pytest.raises(InputError, match="null") as caught:
        rows(frame)
    assert caught.value.where == "run, row 8"


def test_warnings_are_counted_anew_in_each_pass() -> None:
    table = open_object({"q": {"a": float("inf"), "b": 2**53 + 1}}, "run", ReadOptions(), "run")
    for _ in range(2):
        assert sum(frame.height for frame in table.frames()) == 2
        assert [warning[:7] for warning in table.warnings] == ["1 infin", "1 score"]
