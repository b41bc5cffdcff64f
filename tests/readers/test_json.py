"""JSON documents and JSON Lines: what is read, what is refused and where."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankeval_cli.errors import InputError
from rankeval_cli.readers import json as json_formats
from rankeval_cli.readers import nested, source
from rankeval_cli.readers.format import ReadOptions, Role, Table
from rankeval_cli.readers.source import open_input

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(text: str | bytes) -> Path:
        path = tmp_path / "run"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return to_file


def opened(path: Path, role: Role = "run", **options: Any) -> Table:
    found, how = open_input(str(path)), ReadOptions(**options)
    format = next(format for format in json_formats.FORMATS if format.fits(found, role, how))
    return format.open(found, role, how)


def rows(table: Table) -> list[tuple[Any, ...]]:
    return [row for frame in table.frames() for row in frame.rows()]


RANKED = [("q1", "b", -1.0, 1), ("q1", "a", -2.0, 2)]
RUNS: dict[str, tuple[str, str, list[tuple[Any, ...]]]] = {
    "dict of dicts": ('{"q1": {"a": 3, "b": 0.5}, "q2": {}}', "json", [("q1", "a", 3.0), ("q1", "b", 0.5)]),
    "over lines": ('\n{\n "q1": {\n  "a": 3\n }\n}\n', "json", [("q1", "a", 3.0)]),
    "numbers as text": ('{"q1": {"a": "0.5"}}', "json", [("q1", "a", 0.5)]),
    "pairs": ('{"q1": [["b", 2], [7, 1.5]]}', "json", [("q1", "b", 2.0), ("q1", "7", 1.5)]),
    "ranked documents": ('{"q0": [], "q1": ["b", "a"]}', "json", RANKED),
    "ranked documents after nothing": ('{"q0": {}, "q1": ["b", "a"]}', "json", RANKED),
    "array of records": ('[{"qid": "q1", "docno": 7, "sim": 1}]', "json", [("q1", "7", 1.0)]),
    "records over lines": ('[\n {"doc": "a", "query": 1, "score": 1}\n]', "json", [("1", "a", 1.0)]),
    "records with ranks": (
        '[{"qid": "q1", "docno": "b", "rank": 1}, {"qid": "q1", "docno": "a", "rank": 2}]',
        "json",
        RANKED,
    ),
    "records with lists": (
        '[{"qid": "q1", "docs": ["a", 2], "scores": [2, 1]}]',
        "json",
        [("q1", "a", 2.0), ("q1", "2", 1.0)],
    ),
    "records with lists in order": ('[{"docs": ["b", "a"], "qid": "q1"}]', "json", RANKED),
    "record over lines": ('{\n"qid": "q1",\n"doc": "a", "score": 1}', "json", [("q1", "a", 1.0)]),
    "MTEB": ('{"mteb_model_meta": {"n": "m"}, "default": {"test": {"q1": {"a": 1.5}}}}', "json", [("q1", "a", 1.5)]),
    "MTEB, model last": (
        '{"default": {"test": {"q1": {"a": 1.5}}}, "mteb_model_meta": {}}',
        "json",
        [("q1", "a", 1.5)],
    ),
    "query called query": ('{"query": {"a": 1}, "user": {"b": 2}}', "json", [("query", "a", 1.0), ("user", "b", 2.0)]),
    "empty document": ("{}", "json", []),
    "empty array": ("[]", "json", []),
    "one line": ('{"query_id": "q1", "doc_id": "a", "score": 3}', "jsonl", [("q1", "a", 3.0)]),
    "lines": (
        '{"qid": 1, "doc": "a", "score": 3}\r\n\r\n{"score": 2, "doc": "b", "qid": 1}',
        "jsonl",
        [("1", "a", 3.0), ("1", "b", 2.0)],
    ),
    "lines with ranks": (
        '{"qid": "q1", "doc": "b", "rank": 1}\n{"qid": "q1", "doc": "a", "rank": 2}\n',
        "jsonl",
        RANKED,
    ),
    "lines with score and rank": (
        '{"qid": "q1", "doc": "b", "score": 1, "rank": null}\n',
        "jsonl",
        [("q1", "b", 1.0, None)],
    ),
    "lines with lists": (
        '{"qid": "q1", "doc_ids": ["a"], "scores": [1]}\n{"qid": "q2", "doc_ids": [], "scores": []}\n',
        "jsonl",
        [("q1", "a", 1.0)],
    ),
    "lines with ranks in lists": (
        '{"qid": "q1", "docs": ["b", "a"], "ranks": [1, 2]}\n{"qid": "q2", "docs": [], "ranks": []}\n',
        "jsonl",
        RANKED,
    ),
    "lines of dicts": ('{"q1": {"a": 1}}\n{"q2": {"a": 2}}\n', "jsonl", [("q1", "a", 1.0), ("q2", "a", 2.0)]),
}


@pytest.mark.parametrize(("text", "format", "expected"), RUNS.values(), ids=RUNS)
def test_runs_are_read_from_each_layout(text: str, format: str, expected: list[Any], write: Write) -> None:
    table = opened(write(text))
    assert (table.format, rows(table)) == (format, expected)
    assert table.has_rank == (len(expected) > 0 and len(expected[0]) == 4)
    names = ["query", "doc", "score", "rank"][: 4 if table.has_rank else 3]
    assert all(frame.columns == names for frame in table.frames())


QRELS: dict[str, tuple[str, dict[str, Any], list[tuple[Any, ...]]]] = {
    "dict of dicts": ('{"q1": {"a": 1, "b": true}}', {}, [("q1", "a", 1.0), ("q1", "b", 1.0)]),
    "relevant documents": ('{"q1": ["a", "b"]}', {}, [("q1", "a", 1.0), ("q1", "b", 1.0)]),
    "records": ('[{"qid": "q1", "doc": "a", "label": 2, "score": 0.3}]', {}, [("q1", "a", 2.0)]),
    "score is the grade": ('{"query-id": "q1", "corpus-id": "b", "score": 1}\n', {}, [("q1", "b", 1.0)]),
    "records of pairs": ('[{"qid": "q1", "doc": "a"}]', {}, [("q1", "a", 1.0)]),
    "lists of relevant documents": ('{"qid": "q1", "docs": ["a", 7]}\n', {}, [("q1", "a", 1.0), ("q1", "7", 1.0)]),
    "words": ('{"q1": {"a": "E", "b": 2}}', {"grade_map": {"E": 3.0}}, [("q1", "a", 3.0), ("q1", "b", 2.0)]),
    "named keys": (
        '[{"x": "q1", "y": "a", "z": 2}]',
        {"columns": {"query": "x", "doc": "y", "grade": "z"}},
        [("q1", "a", 2.0)],
    ),
}


@pytest.mark.parametrize(("text", "options", "expected"), QRELS.values(), ids=QRELS)
def test_judgments_are_read_from_each_layout(text: str, options: dict[str, Any], expected: Any, write: Write) -> None:
    table = opened(write(text), "qrels", **options)
    assert rows(table) == expected
    assert all(frame.columns == ["query", "doc", "grade"] for frame in table.frames())


LINE = '{"qid": "q1", "doc": "a", "score": 1}\n'
LIST = '{"qid": "q", "docs": ["b", "a"], "ranks": [2, 1]}\n'
ERRORS: dict[str, tuple[str | bytes, Role, str, tuple[str, ...]]] = {
    "score is a word": ('{"q1": {"a": "x"}}', "run", '["q1"]["a"]', ("score `x` is not a number",)),
    "score is null": ('{"q1": {"a": null}}', "run", '["q1"]["a"]', ("score is null",)),
    "score is NaN": ('{"q0": {"a": 1}, "q1": {"a": 1, "b": NaN}}', "run", '["q1"]["b"]', ("NaN",)),
    "score is true": ('{"q1": {"a": true}}', "run", '["q1"]["a"]', ("`True` is not a number",)),
    "score is an object": ('{"q1": {"a": {"b": 1}}}', "run", '["q1"]["a"]', ("is an object, not a score",)),
    "grade is a word": ('{"q1": {"a": "E"}}', "qrels", '["q1"]["a"]', ("`E`", "--grade-map")),
    "grade is infinite": ('{"q1": {"a": Infinity}}', "qrels", '["q1"]["a"]', ("infinite",)),
    "empty document id": ('{"q1": {"": 1}}', "run", '["q1"][""]', ("the document id is empty",)),
    "empty query id": ('{"": {"a": 1}}', "run", '[""]', ("the query id is empty",)),
    "query holds a number": ('{"q1": {"a": 1}, "q2": 3}', "run", '["q2"]', ("holds `3`, not documents", "{query:")),
    "pair of three": ('{"q1": [["a", 1, 2]]}', "run", '["q1"][0]', ("is a list, not a document and a number",)),
    "float in a ranked list": ('{"q1": ["a", 1.5]}', "run", '["q1"][1]', ("the document id is the float `1.5`",)),
    "object in a ranked list": ('{"q1": [{"doc": "a"}]}', "run", '["q1"][0]', ("the document id is an object",)),
    "ranks after scores": ('{"q1": {"a": 1}, "q2": ["a"]}', "run", '["q2"]', ("in another way",)),
    "scores after ranks": ('{"q1": ["a"], "q2": {"a": 1}}', "run", '["q2"]', ("in another way",)),
    "not Unicode": ('{"q1": {"a": 1, "\\ud800": 1}}', "run", '["q1"]["\\ud800"]', ("not valid Unicode",)),
    "record without a key": (
        '[{"qid": "q1", "doc_id": "a", "score": 1}, {"qid": "q2", "score": 1}]',
        "run",
        ", entry 2",
        ("no key `doc_id`", "it has `qid`, `score`"),
    ),
    "record is a number": (
        '[{"qid": "q1", "doc": "a", "score": 1}, 5]',
        "run",
        ", entry 2",
        ("is `5`, not an object",),
    ),
    "array of numbers": ("[1, 2]", "run", ", entry 1", ("is `1`, not an object",)),
    "array of arrays": ('[["q1", "a", 1]]', "run", ", entry 1", ("is a list, not an object",)),
    "record with unknown keys": (
        '[{"a": 1, "b": 2}]',
        "run",
        ", entry 1",
        ("the query", "`a`, `b`", "--columns query="),
    ),
    "float id": ('[{"qid": 1.0, "doc": "a", "score": 1}]', "run", ", entry 1", ("`qid` is the float `1.0`",)),
    "true as id": ('[{"qid": "q1", "doc": true, "score": 1}]', "run", ", entry 1", ("`doc` is `true`",)),
    "null id": ('[{"qid": "q1", "doc": null, "score": 1}]', "run", ", entry 1", ("`doc` is null",)),
    "NaN in a record": ('[{"qid": "q1", "doc": "a", "score": NaN}]', "run", ", entry 1", ("NaN",)),
    "uneven lists": ('[{"qid": "q1", "docs": ["a"], "scores": [1, 2]}]', "run", ", entry 1", ("length 1", "length 2")),
    "list of a word": ('[{"qid": "q1", "docs": ["a"], "scores": ["x"]}]', "run", ', entry 1["scores"][0]', ("`x`",)),
    "key twice in a record": (
        '[{"qid": "q", "doc": "a", "score": 1}, {"qid": "q", "doc": "a", "doc": "b", "score": 1}]',
        "run",
        ", entry 2",
        ("a key twice",),
    ),
    "columns": (
        '{"query": {"0": "q1"}, "doc": {"0": "a"}, "score": {"0": 1}}',
        "run",
        "",
        ("holds columns", "to_json"),
    ),
    "several subsets": (
        '{"mteb_model_meta": {}, "en": {"test": {}}, "de": {"test": {}}}',
        "run",
        "",
        ("several subsets: `en`, `de`", "mteb_model_meta"),
    ),
    "several splits": (
        '{"mteb_model_meta": {}, "en": {"dev": {}, "test": {}}}',
        "run",
        '["en"]',
        ("several splits: `dev`, `test`",),
    ),
    "no subset": ('{"mteb_model_meta": {"a": "b"}}', "run", "", ("without a subset",)),
    "subset holds a list": ('{"mteb_model_meta": {"a": "b"}, "en": []}', "run", '["en"]', ("holds a list",)),
    "cut off": ('{"q1": {"a": 1,\n "b": ', "run", ":2", ("no valid JSON", "written whole")),
    "trailing comma": ('{"q1": {"a": 1},\n}', "run", ":2", ("no valid JSON",)),
    "Latin-1": (b'{"q1":\n {"caf\xe9": 1}}', "run", ":2", ("0xe9", "UTF-8")),
    "deep": ('{"a": ' * 100_000, "run", ":1", ("recursion",)),
    "huge number": ('{"q1":\n {"a": 1' + "0" * 5000 + "}}", "run", ":1", ("cannot be read", "4300")),
    "line is cut off": (LINE + "\n" + '{"qid": "q1", "d', "run", ":3", ("no valid JSON",)),
    "line without a key": (LINE + '{"qid": "q1", "score": 1}\n', "run", ":2", ("no key `doc`",)),
    "first line is a list": ('["q1"]\n' + LINE, "run", ":2", ("extra data", "jsonl")),
    "later line of dicts is a list": ('{"q1": {"a": 1}}\n["q1"]\n', "run", ":2", ("is a list, not an object",)),
    "list without a list": (
        LIST + '{"qid": "q", "docs": ["a"], "ranks": 1}',
        "run",
        ":2",
        ("`ranks` is `1`, not a list",),
    ),
    "rank list with a word": (LIST + '{"qid": "q", "docs": ["a"], "ranks": ["x"]}', "run", ":2", ("rank `x`",)),
    "rank decides and is a word": ('[{"qid": "q", "doc": "a", "rank": "x"}]', "run", ", entry 1", ("rank `x`",)),
    "line is a list": (LINE + '["q1", "a", 1]\n', "run", ":2", ("is a list, not an object",)),
    "line with a word": (LINE + '\n{"qid": "q1", "doc": "b", "score": "x"}\n', "run", ":3", ("score `x`",)),
    "line with NaN": (LINE + LINE + '{"qid": "q1", "doc": "b", "score": NaN}\n', "run", ":3", ("NaN",)),
    "line in Latin-1": (LINE.encode() + b'{"qid": "q1", "doc": "caf\xe9", "score": 1}\n', "run", ":2", ("0xe9",)),
    "line with a key twice": (
        LINE + '{"qid": "q1", "doc": "b", "doc": "c", "score": 1}\n',
        "run",
        ":2",
        ("a key twice",),
    ),
    "line of dicts with a word": ('{"q1": {"a": 1}}\n{"q2": {"a": "x"}}\n', "run", ':2["q2"]["a"]', ("score `x`",)),
}


@pytest.mark.parametrize(("text", "role", "where", "mentions"), ERRORS.values(), ids=ERRORS)
def test_what_is_wrong_is_named_with_its_place(
    text: str | bytes, role: Role, where: str, mentions: tuple[str, ...], write: Write
) -> None:
    path = write(text)
    with pytest.raises(InputError) as caught:
        rows(opened(path, role))
    assert caught.value.where == f"{path}{where}"
    for mention in mentions:
        assert mention in str(caught.value)


def test_whole_numbers_of_any_size_are_ids(write: Write) -> None:
    big = 10**30
    assert rows(opened(write(f'[{{"qid": {big}, "doc": {2**53 + 1}, "score": 1}}]'))) == [
        (str(big), str(2**53 + 1), 1.0)
    ]


def test_numbers_beyond_float64_are_told(write: Write) -> None:
    table = opened(write(f'{{"q1": {{"a": {2**53 + 1}, "b": 1{"0" * 400}, "c": 1e999, "d": {2**60}}}}}'))
    assert [row[2] for row in rows(table)] == [2.0**53, math.inf, math.inf, 2.0**60]
    assert table.warnings == [
        "2 infinite scores, sorted first or last",
        "1 score is beyond 2^53 and had to be rounded: those that differ only there are ties",
    ]


@pytest.mark.parametrize("role", ["run", "qrels"])
def test_repeated_keys_give_repeated_rows(role: Role, write: Write) -> None:
    path = write('{"q1": {"a": 1, "a": 2}, "q2": {"b": 1}, "q1": {"c": 1}}')
    table = opened(path, role)
    assert rows(table) == [("q1", "a", 1.0), ("q1", "a", 2.0), ("q2", "b", 1.0), ("q1", "c", 1.0)]
    assert table.warnings == ["query `q1` stands more than once as a key: the documents are taken together"]
    assert table.locate("q1", "a") == [f'{path}["q1"]["a"]'] * 2


def test_places_of_a_pair(write: Write) -> None:
    path = write(LINE + "\n" + LINE.replace('"a"', '"b"') + LINE)
    assert opened(path).locate("q1", "a") == [f"{path}:1", f"{path}:4"]
    path = write('[{"qid": "q", "doc": "a", "score": 1}, {"qid": "q", "doc": "b", "score": 1}]')
    assert opened(path).locate("q", "b") == [f"{path}, entry 2"]
    path = write('{"q": ["b", "a"]}')
    assert opened(path).locate("q", "a") == [f'{path}["q"][1]']


def test_parts_are_documents_of_their_own(tmp_path: Path) -> None:
    for name, text in (("1", '{"q1": {"a": 1}}'), ("2", ""), ("3", '{"q2": {"a": 1}}')):
        (tmp_path / f"part-{name}.json").write_text(text, encoding="utf-8")
    assert rows(opened(tmp_path)) == [("q1", "a", 1.0), ("q2", "a", 1.0)]
    (tmp_path / "part-3.json").write_text('{"q2": ["a"]}', encoding="utf-8")
    with pytest.raises(InputError, match="ranked lists here and scores there"):
        rows(opened(tmp_path))


def test_a_first_record_longer_than_the_head_still_shows_its_ranks(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "HEAD_BYTES", 30)
    assert rows(opened(write('[{"text": "' + "x" * 50 + '", "qid": "q", "doc": "a", "rank": 2}]'))) == [
        ("q", "a", -2.0, 2)
    ]


@pytest.mark.parametrize("size", [1, 50, 1 << 20])
def test_lines_are_counted_right_across_chunks(size: int, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK_BYTES", size)
    path = write((LINE + "\n") * 20 + '{"qid": "q1", "doc": "a", "score": "x"}')
    with pytest.raises(InputError, match="`x`") as caught:
        rows(opened(path))
    assert caught.value.where == f"{path}:41"


ids = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4)
run = st.dictionaries(
    ids, st.dictionaries(ids, st.floats(allow_nan=False) | st.integers(-(2**53), 2**53), max_size=4), max_size=4
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(held=run, size=st.sampled_from([1, 3, 100_000]), indent=st.sampled_from([None, 1]), ascii=st.booleans())
def test_what_json_writes_is_read_back(
    held: dict[str, Any], size: int, indent: int | None, ascii: bool, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [(query, doc, float(score)) for query, docs in held.items() for doc, score in docs.items()]
    with monkeypatch.context() as patch:
        patch.setattr(nested, "FRAME_ROWS", size)
        document = opened(write(json.dumps(held, indent=indent, ensure_ascii=ascii)))
        assert rows(document) == expected
        names = ("query", "doc", "score")
        lines = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=ascii) for row in expected]
        if lines:
            assert rows(opened(write("\n".join(lines)))) == expected


def test_frames_are_bounded(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nested, "FRAME_ROWS", 10)
    table = opened(write(json.dumps({str(query): {str(doc): 1.0 for doc in range(7)} for query in range(20)})))
    assert [frame.height for frame in table.frames()] == [14] * 10
    assert isinstance(next(iter(table.frames())), pl.DataFrame)


@pytest.mark.parametrize("text", ["", "q1 Q0 d 1 0.5 t\n", "query,doc,score\nq,d,1\n", "[x]\n"], ids=repr)
def test_other_layouts_are_left_alone(text: str, write: Write) -> None:
    found = open_input(str(write(text)))
    assert [format.name for format in json_formats.FORMATS if format.fits(found, "run", ReadOptions())] == []
