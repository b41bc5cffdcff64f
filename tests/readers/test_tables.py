"""CSV and TSV: what is read, what is refused and where, and that the fast and the exact way agree."""

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rankeval_cli.errors import InputError
from rankeval_cli.readers import cells, source, tables
from rankeval_cli.readers.columns import choose
from rankeval_cli.readers.delimited import Place, read_header
from rankeval_cli.readers.format import ReadOptions, Role, Table
from rankeval_cli.readers.source import open_input
from rankeval_cli.readers.values import Reading

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(text: str | bytes) -> Path:
        path = tmp_path / "run.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return to_file


def opened(path: Path, role: Role = "run", **options: Any) -> Table:
    """The table that the first fitting format makes of a file."""
    found, how = open_input(str(path)), ReadOptions(**options)
    format = next(format for format in tables.FORMATS if format.fits(found, role, how))
    return format.open(found, role, how)


def rows(table: Table) -> list[tuple[Any, ...]]:
    return [row for frame in table.frames() for row in frame.rows()]


LAYOUTS = {
    "comma": "query,doc,score\nq,d,0.5\n",
    "semicolon": "query;doc;score\nq;d;0.5\n",
    "pipe": "query|doc|score\nq|d|0.5\n",
    "tab": "query\tdoc\tscore\nq\td\t0.5\n",
    "other order": "score,doc,query\n0.5,d,q\n",
    "upper case and dashes": "Query-ID,Corpus-Id,SCORE\nq,d,0.5\n",
    "camel case": "queryId,docId,score\nq,d,0.5\n",
    "quoted header": '"query","doc","score"\nq,d,0.5\n',
    "line end in the header": 'query,doc,score,"a\nb"\nq,d,0.5,\n',
    "further columns": "id,query,title,doc,score,note\n1,q,,d,0.5,\n",
    "CRLF": "query,doc,score\r\nq,d,0.5\r\n",
    "CRLF and quotes": 'query,doc,score\r\n"q","d","0.5"\r\n',
    "byte order mark": "\ufeffquery,doc,score\nq,d,0.5\n",
    "no line end": "query,doc,score\nq,d,0.5",
    "blank lines": "\n  \nquery,doc,score\n\n\nq,d,0.5\n\r\n \n",
    "blank behind the separator": 'query, doc, score\nq, "d", 0.5\n',
    "blanks around the number": "query,doc,score\nq,d, 0.5 \n",
    "line end in another column": 'query,doc,score,text\nq,d,0.5,"a\n\nb"\n',
    "query text beside its id": "query_id,query,doc_id,score\nq,what is it,d,0.5\n",
    "two columns without a name": "query,doc,score,,\nq,d,0.5,,\n",
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_one_result_is_read_from_each_layout(text: str, write: Write) -> None:
    assert rows(opened(write(text))) == [("q", "d", 0.5)]


IDS = [
    "007",
    "7",
    "07",
    "1e5",
    "NA",
    "null",
    "nan",
    "None",
    "true",
    "inf",
    "-",
    "#1",
    "a b",
    " a",
    "a\u00a0b",
    "9" * 40,
]


@pytest.mark.parametrize("text", IDS)
def test_ids_stay_the_text_they_are(text: str, write: Write) -> None:
    assert rows(opened(write(f"query,doc,score\n{text},{text},1\n"))) == [(text, text, 1.0)]


def test_quotes_enclose_separators_line_ends_and_doubled_quotes(write: Write) -> None:
    text = 'query,doc,score\n"a,b","the ""best"" one",1\nq2,"x\ny",2\nq3,"""",3\nq4,5" disk,4\nq5,"é\r\n",5\n'
    ids = [("a,b", 'the "best" one'), ("q2", "x\ny"), ("q3", '"'), ("q4", '5" disk'), ("q5", "é\r\n")]
    assert [row[:2] for row in rows(opened(write(text)))] == ids


RANKS = {
    "beside a score": ("query,doc,score,rank\nq,d,0.5,2\n", [("q", "d", 0.5, 2)]),
    "alone": ("query,doc,rank\nq,d,2\nq,e,0\n", [("q", "d", -2.0, 2), ("q", "e", 0.0, 0)]),
    "not whole": (
        "query,doc,score,rank\nq,d,1,1.5\nq,e,1,2.0\nq,f,1,\n",
        [("q", "d", 1, None), ("q", "e", 1, 2), ("q", "f", 1, None)],
    ),
    "no number": ("query,doc,score,rank\nq,d,1,first\nq,e,1,2\n", [("q", "d", 1, None), ("q", "e", 1, 2)]),
}


@pytest.mark.parametrize(("text", "expected"), RANKS.values(), ids=RANKS)
def test_ranks_are_whole_numbers_or_null(text: str, expected: list[Any], write: Write) -> None:
    table = opened(write(text))
    assert table.has_rank
    assert rows(table) == expected
    assert all(frame.schema["rank"] == pl.Int64 for frame in table.frames())


GRADES = {
    "score is the grade": ("query-id,corpus-id,score\nq,d,2\n", {}, 2.0),
    "grade wins over score": ("query,doc,score,relevance\nq,d,0.3,2\n", {}, 2.0),
    "true": ("query,doc,label\nq,d,True\n", {}, 1.0),
    "false": ("query,doc,label\nq,d,false\n", {}, 0.0),
    "two columns": ("query,doc\nq,d\n", {}, 1.0),
    "mapped word": ("query,doc,grade\nq,d,E\n", {"grade_map": {"E": 3.0}}, 3.0),
    "number beside mapped words": ("query,doc,grade\nq,d,0.5\n", {"grade_map": {"E": 3.0}}, 0.5),
    "mapped number": ("query,doc,grade\nq,d,1\n", {"grade_map": {"1": 0.0}}, 0.0),
    "named column": ("query,doc,grade,mine\nq,d,1,2\n", {"columns": {"grade": "mine"}}, 2.0),
}


@pytest.mark.parametrize(("text", "options", "grade"), GRADES.values(), ids=GRADES)
def test_grades_are_found_and_mapped(text: str, options: dict[str, Any], grade: float, write: Write) -> None:
    assert rows(opened(write(text), "qrels", **options)) == [("q", "d", grade)]


ERRORS: dict[str, tuple[str | bytes, Role, dict[str, Any], str, tuple[str, ...]]] = {
    "score is a word": ("query,doc,score\nq,d,1\nq,e,n/a\n", "run", {}, ":3", ("score `n/a`", "not a number")),
    "score is absent": ("query,doc,score\n\nq,d,\n", "run", {}, ":3", ("score is empty",)),
    "score is NaN": ("query,doc,score\nq,d,NaN\n", "run", {}, ":2", ("NaN",)),
    "score is true": ("query,doc,score\nq,d,true\n", "run", {}, ":2", ("`true` is not a number",)),
    "score with underscore": ("query,doc,score\nq,d,1_0\n", "run", {}, ":2", ("`1_0`",)),
    "decimal comma": ("query;doc;score\nq;d;0,5\n", "run", {}, ":2", ("decimal comma", "decimal point")),
    "grade is a word": ("query,doc,grade\nq,d,E\n", "qrels", {}, ":2", ("grade `E`", "--grade-map")),
    "grade is not in the map": ("query,doc,grade\nq,d,X\n", "qrels", {"grade_map": {"E": 3.0}}, ":2", ("`X`",)),
    "grade is infinite": ("query,doc,grade\nq,d,inf\n", "qrels", {}, ":2", ("`inf` is infinite",)),
    "grade overflows": ("query,doc,grade\nq,d,1e999\n", "qrels", {}, ":2", ("`1e999` is infinite",)),
    "short line": ("query,doc,score,t\nq,d,1,x\nq,d,1\n", "run", {}, ":3", ("3 fields", "has 4")),
    "long line": ("query,doc,score\nq,d,1\nq,d,1,x\n", "run", {}, ":3", ("4 fields", "has 3", "quote")),
    "long line, empty end": ("query,doc,score\nq,d,1,\n", "run", {}, ":2", ("4 fields", "has 3")),
    "short and long cancel out": ("query,doc,score,t\nq,d,1\nq,d,1,,\n", "run", {}, ":2", ("3 fields", "has 4")),
    "only separators": ("query,doc,score\n,,\n", "run", {}, ":2", ("`query` is empty",)),
    "empty document": ('query,doc_id,score\nq,"",1\n', "run", {}, ":2", ("`doc_id` is empty",)),
    "rank decides and is no number": ("query,doc,rank\nq,d,x\n", "run", {}, ":2", ("rank `x`", "whole number")),
    "open quote": ('query,doc,score\nq,d,1\nq,"d,1\nq,e,1\n', "run", {}, ":3", ("never closed",)),
    "text behind a quote": ('query,doc,score\nq,"d"x,1\n', "run", {}, ":2", ("closing quote",)),
    "carriage return in a line": ("query,doc,score\nq,d\re,1\n", "run", {}, ":2", ("carriage return",)),
    "Latin-1": (b"query,doc,score\nq,caf\xe9,1\n", "run", {}, ":2", ("0xe9", "UTF-8")),
    "Latin-1 in another column": (b"query,doc,score,t\nq,d,1,caf\xe9\n", "run", {}, ":2", ("0xe9", "UTF-8")),
    "lines count in quoted fields": ('query,doc,score,t\nq,d,1,"a\nb\n"\nq,e,x,\n', "run", {}, ":5", ("score `x`",)),
    "no document column": ("query,text,score\nq,d,1\n", "run", {}, "", ("the document", "`text`", "--columns doc=")),
    "no score column": ("query,doc,grades2\nq,d,1\n", "run", {}, "", ("the score", "`grades2`")),
    "no grade column": ("query,doc,note\nq,d,1\n", "qrels", {}, "", ("the grade", "`note`")),
    "two queries": (
        "qid,query_id,doc,score\nq,q,d,1\n",
        "run",
        {},
        "",
        ("`qid` and `query_id`", "--columns query=qid"),
    ),
    "two grades": ("query,doc,label,rating\nq,d,1,1\n", "qrels", {}, "", ("`label` and `rating`", "--columns grade=")),
    "column twice": ("query,doc,score,doc\nq,d,1,e\n", "run", {}, "", ("`doc`", "2 times")),
    "absent mapped column": (
        "query,doc,score\nq,d,1\n",
        "run",
        {"columns": {"score": "scores"}},
        "",
        ("no column `scores`", "`score`"),
    ),
    "no header": ("q,d,0.5\nq,e,0.4\n", "run", {}, ":1", ("no header", "q,d,0.5", "column names")),
}


@pytest.mark.parametrize(("text", "role", "options", "where", "mentions"), ERRORS.values(), ids=ERRORS)
def test_what_is_wrong_is_named_with_its_line(
    text: str | bytes, role: Role, options: dict[str, Any], where: str, mentions: tuple[str, ...], write: Write
) -> None:
    path = write(text)
    with pytest.raises(InputError) as caught:
        rows(opened(path, role, **options))
    assert caught.value.where == f"{path}{where}"
    for mention in mentions:
        assert mention in str(caught.value)


def test_a_mapping_for_another_role_is_not_looked_for(write: Write) -> None:
    path = write("query,doc,score\nq,d,1\n")
    assert rows(opened(path, columns={"grade": "relevance_label"})) == [("q", "d", 1.0)]


def test_mapped_names_make_a_header(write: Write) -> None:
    path = write("0\t1\t2\nq\td\t0.5\n")
    assert rows(opened(path, columns={"query": "0", "doc": "1", "score": "2"})) == [("q", "d", 0.5)]


def test_infinite_scores_are_counted_anew_in_each_pass(write: Write) -> None:
    table = opened(write("query,doc,score\nq,d,inf\nq,e,1\nq,f,-1e999\n"))
    for _ in range(2):
        assert [row[2] for row in rows(table)] == [math.inf, 1.0, -math.inf]
        assert table.warnings == ["2 infinite scores, sorted first or last"]


def test_header_alone_gives_no_frames(write: Write) -> None:
    assert list(opened(write("query-id,corpus-id,score\n"), "qrels").frames()) == []


def test_parts_may_order_their_columns_differently(tmp_path: Path) -> None:
    (tmp_path / "part-1.csv").write_text("query,doc,score\nq,a,1\n", encoding="utf-8")
    (tmp_path / "part-2.csv").write_text("", encoding="utf-8")
    (tmp_path / "part-3.csv").write_text("\nscore,doc,query\n2,b,q\n3,c,\n", encoding="utf-8")
    table = opened(tmp_path)
    with pytest.raises(InputError, match="`query` is empty") as caught:
        rows(table)
    assert caught.value.where == f"{tmp_path / 'part-3.csv'}:4"
    (tmp_path / "part-3.csv").write_text("score,doc,query\n2,b,q\n", encoding="utf-8")
    assert rows(table) == [("q", "a", 1.0), ("q", "b", 2.0)]


def test_places_of_a_pair_are_physical_lines(write: Write) -> None:
    path = write('query,doc,score,t\nq,"a""b",1,"\n\n"\nq,c,1,\nq,"a""b",1,x\nq2,"a""b",1,x\n')
    assert opened(path).locate("q", 'a"b') == [f"{path}:2", f"{path}:6"]


REGULAR = {
    "plain": "query,doc,score\n" + "q,d,0.5\n" * 50,
    "CRLF": "query,doc,score\r\n" + "q,d,0.5\r\n" * 50,
    "last column empty at times": "query,doc,score,t\n" + "q,d,0.5,\nq,d,0.5,x\n" * 50,
    "quotes and line ends": "query,doc,score,t\n" + 'q,"d,""x""",0.5,"a\nb"\n' * 50,
    "blank lines": "query,doc,score\n" + "q,d,0.5\n\n" * 50,
    "rank": "query,doc,rank\n" + "q,d,3\n" * 50,
}


@pytest.mark.parametrize("text", REGULAR.values(), ids=REGULAR)
def test_regular_text_takes_the_fast_way(text: str, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "exact", None)
    assert rows(opened(write(text)))


def test_words_of_a_grade_map_take_the_fast_way(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "exact", None)
    path = write("query,doc,grade\nq,a,E\nq,b,2\n")
    assert rows(opened(path, "qrels", grade_map={"E": 3.0})) == [("q", "a", 3.0), ("q", "b", 2.0)]


# Everything that the two ways could read differently, and little else.
SIGNS = ["q", "d", '"', '""', ",", "\n", "\r", "\r\n", "\n\n", " ", "\ufeff", "\0", "é", "E", "true"]
NUMBERS = ["1", "0.5", ".5", "5.", "+1", "1e5", "nan", "inf", "-Infinity", "1_0", "0x1", "-0.0"]
LINES = ["q,d,1\n", 'q,"d",1\n', "q,d,1\r\n", "q,d,1,\n"]
DOUBTFUL = st.sampled_from(SIGNS) | st.sampled_from(NUMBERS) | st.sampled_from(LINES)
HEADERS = (
    "query,doc,score\n",
    "query,doc,score,t\n",
    "query,t,doc,rank,score\n",
    "score,doc,query\n",
    "doc,rank,query\n",
)


@settings(max_examples=600, deadline=None)
@given(
    header=st.sampled_from(HEADERS),
    pieces=st.lists(DOUBTFUL, max_size=25),
    role=st.sampled_from(["run", "qrels"]),
    grade_map=st.sampled_from([None, {"E": 3.0}]),
)
@example(header="query,doc,score,t\n", pieces=["q,d,1\n", "q,d,1,,\n"], role="run", grade_map=None)
@example(header="query,doc,score\n", pieces=['q,d,"\n'], role="run", grade_map=None)
@example(header="query,doc,score\n", pieces=["q,d,1", "\r"], role="run", grade_map=None)
@example(header="query,doc,score\n", pieces=["q,d\r,1\n"], role="run", grade_map=None)
@example(header="query,doc,score,t\n", pieces=['q,d,1,"a"b\n'], role="run", grade_map=None)
@example(header="query,doc,score,t\n", pieces=['q,d,1,a"b,"c\n'], role="run", grade_map=None)
def test_what_the_fast_way_takes_the_exact_way_reads_the_same(
    header: str, pieces: list[str], role: Role, grade_map: dict[str, float] | None
) -> None:
    options = ReadOptions(grade_map=grade_map)
    if role == "qrels" and "score" not in header:
        header = "doc,grade,query\n"
    layout = cells.Layout(read_header(header.encode(), ",", ""), choose(header[:-1].split(","), role, options, ""))
    text = cells.Text("file", 2, "".join(pieces).encode(), layout, is_last=True)
    taken, read = Reading(role, options), Reading(role, options)
    frame = cells.fast(text, taken)
    if frame is not None:
        expected = cells.exact(text, read, Place())
        assert frame.equals(expected)
        assert frame.schema == expected.schema
        assert taken.tally == read.tally


field = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=6)
record = st.tuples(field, field, st.floats(allow_nan=False), st.text(alphabet='ab",\n', max_size=4))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    written=st.lists(record, min_size=1, max_size=12),
    delimiter=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n"]),
    size=st.sampled_from([1, 16, 40, 1 << 20]),
)
def test_what_csv_writes_is_read_back_in_chunks_of_any_size(
    written: list[tuple[str, str, float, str]],
    delimiter: str,
    line_end: str,
    size: int,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator=line_end)
    writer.writerows([("query", "doc", "score", "text"), *written])
    with monkeypatch.context() as patch:
        patch.setattr(source, "CHUNK_BYTES", size)
        found = rows(opened(write(file.getvalue())))
    assert [row[:2] for row in found] == [row[:2] for row in written]
    assert [row[2].hex() for row in found] == [row[2].hex() for row in written]


@pytest.mark.parametrize("size", [1, 10, 30, 1 << 20])
def test_lines_are_counted_right_across_chunks(size: int, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK_BYTES", size)
    body = 'q,d,1,"a\nb"\nq,5" disk,1,x\n\nq,d,1,"""\n"\nq,e,1,\n' * 20
    path = write("query,doc,score,t\n" + body + "q,f,oops,\n")
    with pytest.raises(InputError, match="`oops`") as caught:
        rows(opened(path))
    assert caught.value.where == f"{path}:{len((body + 'h').splitlines()) + 1}"
    assert opened(path).locate("q", "e") == [f"{path}:{8 + 7 * i}" for i in range(10)]


NO_TABLES = {
    "TREC run": "q1 Q0 d1 1 0.5 tag\n",
    "MS MARCO": "1048585\t7187155\t1\n",
    "JSON": '{"query": "q1", "doc": "d1", "score": 1}\n',
    "empty": "",
    "one column": "query\nq1\n",
}


@pytest.mark.parametrize("text", NO_TABLES.values(), ids=NO_TABLES)
def test_other_layouts_are_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text(text, encoding="utf-8")
    found = open_input(str(path))
    assert [format.name for format in tables.FORMATS if format.fits(found, "run", ReadOptions())] == []


def test_json_called_csv_is_left_alone(write: Write) -> None:
    found = open_input(str(write('{"q1": {"a": 1, "b": 2}}')))
    assert not any(format.fits(found, "run", ReadOptions()) for format in tables.FORMATS)


def test_a_format_asked_for_by_name_is_refused_when_there_is_no_header(write: Write) -> None:
    path = write("")
    format = next(format for format in tables.FORMATS if format.name == "csv")
    with pytest.raises(InputError, match="is empty: no header"):
        format.open(open_input(str(path)), "run", ReadOptions(format="csv"))
