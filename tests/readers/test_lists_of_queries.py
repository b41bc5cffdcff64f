"""Lists of queries and groups of them, as files of every layout and as objects."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rankeval_cli.errors import RankevalError
from rankeval_cli.readers import ReadOptions
from rankeval_cli.readers.groups import read_column, read_groups, read_queries
from rankeval_cli.readers.source import open_input


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], str]:
    """Write a text, bytes or a frame under a name in the working folder; the name."""
    monkeypatch.chdir(tmp_path)

    def put(name: str, content: Any) -> str:
        if isinstance(content, pl.DataFrame):
            content.write_parquet(name)
        else:
            Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return put


@pytest.mark.parametrize(
    ("name", "content", "ids"),
    [
        pytest.param("a", "q1\nq2\nq1\n\n# c\nq3", ["q1", "q2", "q3"], id="lines"),
        pytest.param("a", "\ufeffq1\r\nq2\r\n", ["q1", "q2"], id="byte order mark and CR LF"),
        pytest.param("a", "q1,2\nq|3\n", ["q1,2", "q|3"], id="ids with signs"),
        pytest.param("a", "Query-ID\nq2\n", ["q2"], id="header"),
        pytest.param("a.csv", "qid\nq2\n", ["q2"], id="csv of one column"),
        pytest.param("a", "text,query\na b,q01\nc,q02\nd,q01\n", ["q01", "q02"], id="csv"),
        pytest.param("a", "query_id\tquery\nq01\ta b\nq02\tc\n", ["q01", "q02"], id="tsv with texts of queries"),
        pytest.param("a", "q1 0 d1 1\nq2 0 d1 0\nq1 0 d2 1\n", ["q1", "q2"], id="judgments"),
        pytest.param("a", "q1 Q0 d1 1 0.5 t\nq2 Q0 d1 1 0.5 t\n", ["q1", "q2"], id="run"),
        pytest.param("a.jsonl", '{"query_id":7,"x":"t"}\n{"query_id":8,"x":"t"}\n', ["7", "8"], id="json lines"),
        pytest.param("a.json", '["q1","q2"]', ["q1", "q2"], id="json array"),
        pytest.param("a.json", '[{"query":"q1"},{"query":"q2"}]', ["q1", "q2"], id="json records"),
        pytest.param("a.json", '{"q1":{"d":1},"q2":{"d":1}}', ["q1", "q2"], id="json judgments"),
        pytest.param("a.pq", pl.DataFrame({"topic": [1, 2, 2]}), ["1", "2"], id="parquet"),
        pytest.param("a.gz", gzip.compress(b"q1\nq2\n"), ["q1", "q2"], id="compressed"),
    ],
)
def test_queries_of_files(name: str, content: Any, ids: list[str], write: Callable[[str, Any], str]) -> None:
    assert read_queries(write(name, content)) == ids


@pytest.mark.parametrize(
    ("source", "ids"),
    [
        pytest.param(["q1", "q2", "q1"], ["q1", "q2"], id="list"),
        pytest.param(("q1", 3), ["q1", "3"], id="tuple with a number"),
        pytest.param(iter(["a"]), ["a"], id="iterator"),
        pytest.param({"q1": {"d": 1}, "q2": {"d": 1}}, ["q1", "q2"], id="judgments"),
        pytest.param({"query": ["a", "b"], "digit": [1, 2]}, ["a", "b"], id="columns"),
        pytest.param(pl.Series(["a", "b"]), ["a", "b"], id="series"),
        pytest.param(pl.DataFrame({"query": ["a", "b", "a"]}), ["a", "b"], id="frame"),
    ],
)
def test_queries_of_objects(source: Any, ids: list[str]) -> None:
    assert read_queries(source) == ids


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        pytest.param("a", "", "a: is empty: no queries", id="empty"),
        pytest.param("a", "\n# c\n", "a: is empty: no queries", id="comments"),
        pytest.param("a", "query\n", "a: is empty: no queries", id="header alone"),
        pytest.param("a", "q1\nq2 x\n", "a:2: 2 columns, not 1", id="two columns on a line"),
        pytest.param("a", "q1 x y z w u v\n", "a:1: 7 columns, not 1", id="no layout"),
        pytest.param("a", b"q\xff\n", "a:1: is not valid UTF-8", id="not UTF-8"),
        pytest.param("a.pq", pl.DataFrame({"query": [0.5]}), "column `query` holds ids of type float64", id="floats"),
        pytest.param("a.json", '[["q1"]]', "a.json, entry 1: is", id="array in an array"),
    ],
)
def test_what_lists_no_queries_is_refused(
    name: str, content: Any, error: str, write: Callable[[str, Any], str]
) -> None:
    with pytest.raises(RankevalError) as caught:
        read_queries(write(name, content))
    assert error in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "content", "groups"),
    [
        pytest.param("g", "q1 golden\nq2 tail\nq1 short\n", {"golden": {"q1"}, "tail": {"q2"}, "short": {"q1"}},
                     id="between blanks"),
        pytest.param("g", "q1\tlong tail\nq 2\thead\n", {"long tail": {"q1"}, "head": {"q 2"}}, id="between tabs"),
        pytest.param("g", "query\tgroup\nq2\thead\n", {"head": {"q2"}}, id="header"),
        pytest.param("g.csv", "query,digit\nq2,5\nq3,\nq4,5\n", {"5": {"q2", "q4"}}, id="another name, an empty group"),
        pytest.param("g.csv", "query,x,Segment\nq2,5,a\nq3,1,b\n", {"a": {"q2"}, "b": {"q3"}}, id="known name"),
        pytest.param("g.json", '{"q1":"a","q2":null,"q3":true,"q4":7}', {"a": {"q1"}, "true": {"q3"}, "7": {"q4"}},
                     id="json object"),
        pytest.param("g.jsonl", '{"qid":"q1","group":"a"}\n{"qid":"q2","group":""}\n', {"a": {"q1"}}, id="json lines"),
        pytest.param("g.pq", pl.DataFrame({"qid": [1, 2], "group": [True, False]}), {"true": {"1"}, "false": {"2"}},
                     id="parquet, true and false"),
        pytest.param("g.pq", pl.DataFrame({"qid": [1, 2], "group": pl.Series(["a", None], dtype=pl.Categorical)}),
                     {"a": {"1"}}, id="parquet, categories and null"),
    ],
)  # fmt: skip
def test_groups_of_files(
    name: str, content: Any, groups: dict[str, set[str]], write: Callable[[str, Any], str]
) -> None:
    assert read_groups(write(name, content)) == groups


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"q1": "a", "q2": "b"}, id="dict"),
        pytest.param({"query": ["q1", "q2"], "group": ["a", "b"]}, id="columns"),
        pytest.param([{"query": "q1", "group": "a"}, {"query": "q2", "group": "b"}], id="records"),
        pytest.param(pl.DataFrame({"query": ["q1", "q2"], "slice": ["a", "b"]}), id="frame"),
    ],
)
def test_groups_of_objects(source: Any) -> None:
    assert read_groups(source) == {"a": {"q1"}, "b": {"q2"}}


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        pytest.param("g", "", "g: is empty: no groups", id="empty"),
        pytest.param("g.csv", "query,group\nq1,\n", "g.csv: is empty: no groups", id="no group"),
        pytest.param("g", "q1\n", "g:1: 1 column, not 2", id="one column"),
        pytest.param("g", "q1 a b\n", "g:1: 3 columns, not 2", id="three columns"),
        pytest.param("g.csv", "query,x,y\nq2,5,a\n", "no column for the group; the columns are", id="no known name"),
        pytest.param("g.csv", "query,group,group\nq2,5,a\n", "column `group` stands 2 times", id="twice"),
        pytest.param("g.pq", pl.DataFrame({"query": [1], "group": [0.5]}), "column `group` holds ids of", id="floats"),
        pytest.param("g.jsonl", '{"query":"q1","group":[1]}\n', "`group` is", id="list"),
    ],
)
def test_what_holds_no_groups_is_refused(name: str, content: Any, error: str, write: Callable[[str, Any], str]) -> None:
    with pytest.raises(RankevalError) as caught:
        read_groups(write(name, content))
    assert error in str(caught.value)
    assert caught.value.hint


def test_a_column_is_read_beside_any_other(write: Callable[[str, Any], str]) -> None:
    options = ReadOptions(columns={"query": "id", "doc": "page"})
    text = "id,page,grade,kind\n" + "".join(
        f"q{n},d{k},1,{'even' if n % 2 == 0 else 'odd'}\n" for n in range(4) for k in "ab"
    )
    expected = {"even": {"q0", "q2"}, "odd": {"q1", "q3"}}
    assert read_column(open_input(write("q.csv", text)), "kind", options, "") == expected
    assert read_column(pl.read_csv(text.encode()), "kind", options, "qrels") == expected
    lists = pl.DataFrame({"query": ["q0"], "doc": [["a", "b"]], "grade": [[1, 2]], "kind": ["even"]})
    assert read_column(open_input(write("q.pq", lists)), "kind", ReadOptions(), "") == {"even": {"q0"}}


@pytest.mark.parametrize(
    ("source", "error"),
    [
        pytest.param({"q1": {"d": 1}}, "qrels: is a dictionary that names no columns", id="dict of dicts"),
        pytest.param(
            [{"query": "q1", "kind": "a"}, {"query": "q1", "kind": "b"}], "has two values of `kind`", id="two"
        ),
        pytest.param(pl.DataFrame({"query": ["a"], "kin": [1]}), "no column `kind`; the columns are", id="misspelt"),
    ],
)
def test_objects_without_a_column_of_groups_are_refused(source: Any, error: str) -> None:
    with pytest.raises(RankevalError) as caught:
        read_column(source, "kind", ReadOptions(), "qrels")
    assert error in str(caught.value)
    assert caught.value.hint
