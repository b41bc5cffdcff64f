"""Text layouts: what is read, what is refused and where, and that the fast path agrees with the line reader."""

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankeval_cli.errors import InputError, RankevalError
from rankeval_cli.readers import ReadOptions, fast, lines, open_table, source, text
from rankeval_cli.readers.layout import (
    COLBERT,
    MSMARCO_COUNTED,
    MSMARCO_GRADES,
    MSMARCO_PAIRS,
    MSMARCO_RANK,
    MSMARCO_SCORE,
    TREC_LOOSE,
    TREC_QRELS,
    TREC_RUN,
    TREC_UNTAGGED,
    Plan,
)


@pytest.fixture
def write(tmp_path: Path):
    """`write(data)`: the path of a file that holds it."""

    def write(data: bytes, name: str = "run.txt") -> str:
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return write


def read(path: str, role: Any = "run", format: str | None = None, **options: Any) -> tuple[list[tuple], text.TextTable]:
    """All rows of a file, and its table afterwards."""
    table = open_table(path, role, ReadOptions(format, **options))
    rows = [row for frame in table.frames() for row in frame.rows()]
    return rows, table


ACCEPTED = {
    "plain": (b"q Q0 d 1 0.5 t\n", ("q", "d", 0.5, 1), "t"),
    "no last newline": (b"q Q0 d 1 0.5 t", ("q", "d", 0.5, 1), "t"),
    "crlf": (b"q Q0 d 1 0.5 t\r\n", ("q", "d", 0.5, 1), "t"),
    "crlf without last newline": (b"q Q0 d 1 0.5 t\r", ("q", "d", 0.5, 1), "t"),
    "blanks of all kinds": (b" \tq  Q0\td\v1\f0.5 \t t\t \n", ("q", "d", 0.5, 1), "t"),
    "blank lines": (b"\n \t\n\r\nq Q0 d 1 0.5 t\n\n\n", ("q", "d", 0.5, 1), "t"),
    "byte order mark": (b"\xef\xbb\xbfq Q0 d 1 0.5 t\n", ("q", "d", 0.5, 1), "t"),
    "utf-16": ("\ufeffq Q0 d\u00e9 1 0.5 t\n".encode("utf-16-le"), ("q", "d\u00e9", 0.5, 1), "t"),
    "utf-32": ("\ufeffq Q0 d\u00e9 1 0.5 t\n".encode("utf-32-be"), ("q", "d\u00e9", 0.5, 1), "t"),
    "cr alone": (b"q Q0 d 1 0.5 t\r", ("q", "d", 0.5, 1), "t"),
    "untagged": (b"q Q0 d 1 0.5\n", ("q", "d", 0.5, 1), None),
    "untagged with blank": (b"q Q0 d 1 0.5 \n", ("q", "d", 0.5, 1), None),
    "tabs": (b"q\tQ0\td\t1\t0.5\tt\n", ("q", "d", 0.5, 1), "t"),
    "tabs and ids with spaces": (b"q 1\tQ0\t New York \t1\t0.5\tmy run\n", ("q 1", " New York ", 0.5, 1), "my run"),
    "tabs and blanks at numbers": (b"q\tQ0\td\t 1 \t 0.5 \tt\n", ("q", "d", 0.5, 1), "t"),
    "tabs and an empty tag": (b"q\tQ0\td\t1\t0.5\t\n", ("q", "d", 0.5, 1), None),
    "tabs and an empty iteration and rank": (b"q\t\td\t\t0.5\tt\n", ("q", "d", 0.5, None), "t"),
    "rank is a word": (b"q Q0 d first 0.5 t\n", ("q", "d", 0.5, None), "t"),
    "rank is a fraction": (b"q Q0 d 1.0 0.5 t\n", ("q", "d", 0.5, None), "t"),
    "rank beyond 64 bits": (b"q Q0 d 9223372036854775808 0.5 t\n", ("q", "d", 0.5, None), "t"),
    "rank with sign": (b"q Q0 d +7 0.5 t\n", ("q", "d", 0.5, 7), "t"),
    "exponent": (b"q Q0 d 1 -1.5E-3 t\n", ("q", "d", -0.0015, 1), "t"),
    "infinite": (b"q Q0 d 1 -Infinity t\n", ("q", "d", -math.inf, 1), "t"),
    "overflow": (b"q Q0 d 1 1e400 t\n", ("q", "d", math.inf, 1), "t"),
    "underflow": (b"q Q0 d 1 1e-400 t\n", ("q", "d", 0.0, 1), "t"),
    "id with #": (b"q Q0 d#1 1 0.5 t\n", ("q", "d#1", 0.5, 1), "t"),
    "query with # behind a blank": (b" #q Q0 d 1 0.5 t\n", ("#q", "d", 0.5, 1), "t"),
    "id with quotes": (b'"q Q0 d" 1 0.5 t\n', ('"q', 'd"', 0.5, 1), "t"),
    "id with no-break space": ("q\u00a0r Q0 d\u2028e 1 0.5 t\n".encode(), ("q\u00a0r", "d\u2028e", 0.5, 1), "t"),
    "comment": (b"# q Q0\nq Q0 d 1 0.5 t\n#\xff\0\n# end", ("q", "d", 0.5, 1), "t"),
    "null words": (b"null Q0 None 1 0.5 NA\n", ("null", "None", 0.5, 1), "NA"),
}


@pytest.mark.parametrize(("data", "row", "tag"), ACCEPTED.values(), ids=ACCEPTED)
def test_trec_run(data: bytes, row: tuple, tag: str | None, write) -> None:
    rows, table = read(write(data))
    assert rows == [row]
    assert (table.format, table.has_rank, table.tag) == ("trec", True, tag)


REFUSED = {
    "score is a word": (b"q Q0 d 1 0.5 t\nq Q0 e 2 n/a t\n", 2, ["score `n/a` is not a number"]),
    "score is None": (b"q Q0 d 1 0.5 t\nq Q0 e 2 None t\n", 2, ["None"]),
    "nan": (b"q Q0 d 1 0.5 t\n\nq Q0 e 2 NaN t\n", 3, ["nan"]),
    "decimal comma": (b"q Q0 d 1 2,5 t\n", 1, ["`2,5`", "decimal point"]),
    "underscore": (b"q Q0 d 1 1_000 t\n", 1, ["`1_000`"]),
    "hexadecimal": (b"q Q0 d 1 0x10 t\n", 1, ["`0x10`"]),
    "number with a rest": (b"q Q0 d 1 2.0xyz t\n", 1, ["`2.0xyz`"]),
    "digits of another script": ("q Q0 d 1 \u0663 t\n".encode(), 1, ["not a number"]),
    "too few fields": (b"q Q0 d 1 0.5 t\nq Q0 d 0.5 t\n", 2, ["5 fields where 6 are expected", "query, Q0, document"]),
    "too few fields, doubled blank": (b"q Q0 d 1 0.5 t\nq  Q0 1 0.5 t\n", 2, ["5 fields where 6 are expected"]),
    "spaces in ids": (
        b"q Q0 a 1 0.5 t\nq Q0 New York 2 0.4 t\n",
        2,
        ["7 fields where 6 are expected", "spaces", "tabs", "--run-format trec-loose"],
    ),
    "the trap": (b"q Q0 a 1 0.5 t\nq1 Q0 New 7 3 0.25 t\n", 2, ["7 fields"]),
    "the trap behind two blanks": (b"q Q0 a 1 0.5 t\nq1 Q0 New 7 3 t  0.25\n", 2, ["7 fields"]),
    "the trap behind a tab": (b"q Q0 a 1 0.5 t\nq\tQ0 d 1 2 3 t\n", 2, ["7 fields"]),
    "a tag on some lines": (b"q Q0 a 1 0.5\nq Q0 b 2 0.4 t\n", 1, ["5 fields where 6 are expected"]),
    "too few tabs": (b"q\tQ0\td\t1\t0.5\tt\n" * 40000 + b"q\tQ0\td 1\t0.5\tt\n", 40001, ["5 fields", "tabs"]),
    "tabs and an empty document": (b"q\tQ0\td\t1\t0.5\tt\nq\tQ0\t\t1\t0.5\tt\n", 2, ["document id is empty"]),
    "tabs and an empty query": (b"q\tQ0\td\t1\t0.5\tt\n\tQ0\td\t1\t0.5\tt\n", 2, ["query id is empty"]),
    "tabs and an empty score": (b"q\tQ0\td\t1\t0.5\tt\nq\tQ0\td\t1\t\tt\n", 2, ["score is empty"]),
    "latin-1": (b"q Q0 a 1 0.5 t\nq Q0 caf\xe9 2 0.4 t\n", 2, ["0xe9", "UTF-8"]),
    "latin-1 in a column not read": (b"q \xe9 a 1 0.5 t\n", 1, ["UTF-8"]),
    "nul": (b"q Q0 a 1 0.5 t\n" * 20000 + b"q Q0 a\0 1 0.5 t\n", 20001, ["NUL"]),
    "escape sequence": (b"q Q0 a 1 0.5 t\nq Q0 a 1 \x1b[31mred t\n", 2, ["`\\x1b[31mred`"]),
}


@pytest.mark.parametrize(("data", "line", "words"), REFUSED.values(), ids=REFUSED)
def test_refused_trec_run(data: bytes, line: int, words: list[str], write) -> None:
    path = write(data)
    with pytest.raises(InputError) as caught:
        read(path, format="trec")
    assert caught.value.where == f"{path}:{line}"
    assert caught.value.hint
    for word in words:
        assert word.lower() in str(caught.value).lower()
    assert str(caught.value).isprintable() or "\n" in str(caught.value)


QRELS = {
    "trec": (b"q 0 d 1\n", "trec", [("q", "d", 1.0)]),
    "crlf": (b"q 0 d 1\r\nq 0 e 0\r\n", "trec", [("q", "d", 1.0), ("q", "e", 0.0)]),
    "fraction and negative": (b"q Q0 d 0.25\nq Q0 e -2\n", "trec", [("q", "d", 0.25), ("q", "e", -2.0)]),
    "tabs and spaces in ids": (b"q\t0\tNew York\t3\n", "trec", [("q", "New York", 3.0)]),
    "ms marco": (b"1 0 7067032 1\n", "trec", [("1", "7067032", 1.0)]),
    "three columns": (b"q d 2\n", "msmarco", [("q", "d", 2.0)]),
    "three columns, tabs": (b"q\tNew York\t2\nq\tRome\t1\n", "msmarco", [("q", "New York", 2.0), ("q", "Rome", 1.0)]),
    "two columns": (b"q\td\nq\te\n", "msmarco", [("q", "d", 1.0), ("q", "e", 1.0)]),
    "two columns, blanks": (b"q d\nq  e\n", "msmarco", [("q", "d", 1.0), ("q", "e", 1.0)]),
    "a tab here and there": (b"q 0\td 1\nq 0\te 0\n", "trec", [("q", "d", 1.0), ("q", "e", 0.0)]),
}


@pytest.mark.parametrize(("data", "format", "rows"), QRELS.values(), ids=QRELS)
def test_judgments(data: bytes, format: str, rows: list[tuple], write) -> None:
    got, table = read(write(data, "qrels.txt"), "qrels")
    assert (got, table.format, table.tag, table.has_rank) == (rows, format, None, False)


@pytest.mark.parametrize("grade", ["inf", "nan", "1e999", "E", "2,5", ""], ids=repr)
def test_grades_are_finite_numbers(grade: str, write) -> None:
    path = write(f"q\t0\td\t1\nq\t0\te\t{grade}\n".encode())
    with pytest.raises(InputError) as caught:
        read(path, "qrels")
    assert caught.value.where == f"{path}:2"
    assert f"`{grade}`" in caught.value.what or "NaN" in caught.value.what or "empty" in caught.value.what


def test_words_as_grades_need_a_map(write) -> None:
    path = write(b"q 0 d E\nq 0 e S\nq 0 f 2\n")
    with pytest.raises(InputError, match="`E`") as caught:
        read(path, "qrels")
    assert "--grade-map" in caught.value.hint
    rows, _ = read(path, "qrels", grade_map={"E": 3, "S": 2})
    assert [grade for _, _, grade in rows] == [3.0, 2.0, 2.0]
    with pytest.raises(InputError, match="`S`") as caught:
        read(path, "qrels", grade_map={"E": 3})
    assert caught.value.where == f"{path}:2"


def test_loose_runs_leave_out_further_columns(write) -> None:
    path = write(b"q Q0 d 1 0.5 t a b\nq Q0  e 2 0.4 t\nq Q0 f 3 0.3 t c \n")
    rows, table = read(path, format="trec-loose")
    assert rows == [("q", "d", 0.5, 1), ("q", "e", 0.4, 2), ("q", "f", 0.3, 3)]
    assert (table.format, table.tag) == ("trec-loose", "t")
    short = write(b"q Q0 d 1 0.5 t a\nq Q0 d 1 0.5\n", "short.txt")
    with pytest.raises(InputError, match="5 fields where at least 6"):
        read(short, format="trec-loose")


THREE = {
    "ranks from 1": (b"1 a 1\n1 b 2\n2 a 1\n", "msmarco-rank", [-1.0, -2.0, -1.0]),
    "ranks from 0": (b"1 a 0\n1 b 1\n2 a 0\n", "msmarco-rank", [0.0, -1.0, 0.0]),
    "queries interleaved": (b"1 a 1\n2 a 1\n1 b 2\n2 b 2\n", "msmarco-rank", [-1.0, -1.0, -2.0, -2.0]),
    "fractions": (b"1 a 0.5\n1 b 2\n", "msmarco-score", [0.5, 2.0]),
    "infinite": (b"1 a inf\n1 b 2\n", "msmarco-score", [math.inf, 2.0]),
}


@pytest.mark.parametrize(("data", "format", "scores"), THREE.values(), ids=THREE)
def test_three_columns(data: bytes, format: str, scores: list[float], write) -> None:
    rows, table = read(write(data))
    assert (table.format, table.has_rank) == (format, format == "msmarco-rank")
    assert [row[2] for row in rows] == scores
    if table.has_rank:
        assert [row[3] for row in rows] == [-score for score in scores]


UNCLEAR = {
    "falling": b"1 a 3\n1 b 2\n1 c 1\n",
    "from 2": b"1 a 2\n1 b 3\n",
    "gap": b"1 a 1\n1 b 3\n",
    "equal": b"1 a 1\n1 b 1\n",
    "whole with a point": b"1 a 3.0\n1 b 2.0\n",
    "two bases": b"1 a 0\n1 b 1\n2 a 1\n",
}


@pytest.mark.parametrize("data", UNCLEAR.values(), ids=UNCLEAR)
def test_whole_numbers_that_are_no_ranks_ask_for_the_format(data: bytes, write) -> None:
    path = write(data)
    with pytest.raises(InputError) as caught:
        read(path)
    assert "msmarco-rank" in caught.value.hint
    assert "msmarco-score" in caught.value.hint
    rows, _ = read(path, format="msmarco-score")
    assert all(row[2] > -0.5 for row in rows)


def test_ranks_given_as_such_may_leave_gaps_but_must_be_whole(write) -> None:
    rows, _ = read(write(b"1 a 3\n1 b 7\n"), format="msmarco-rank")
    assert rows == [("1", "a", -3.0, 3), ("1", "b", -7.0, 7)]
    path = write(b"1 a 3\n1 b 7.5\n")
    with pytest.raises(InputError, match=r"rank `7.5` is no whole number") as caught:
        read(path, format="msmarco-rank")
    assert caught.value.where == f"{path}:2"


@pytest.mark.parametrize("late", [b"9 x 3", b"9 x 0.5", b"1 z 1"], ids=["gap", "fraction", "again"])
def test_a_rank_that_contradicts_the_head_is_named(late: bytes, write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK_BYTES", 1000)
    lines = [b"%d d%d %d" % (q, r, r) for q in range(1, 4000) for r in range(1, 11)]
    lines.insert(35000, late)
    path = write(b"# ranks\n" + b"\n".join(lines))
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.where == f"{path}:35002"
    assert "msmarco-rank" in caught.value.hint


def test_colbert(write) -> None:
    rows, table = read(write(b"1\t77\t1\t0.9\n1\t78\t2\t0.8\n"))
    assert rows == [("1", "77", 0.9, 1), ("1", "78", 0.8, 2)]
    assert table.format == "colbert"


def test_tag_is_that_of_the_last_line(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK_BYTES", 10)
    _, table = read(write(b"q Q0 d 1 0.5 first\nq Q0 e 2 0.4 last\n# end\n"))
    assert table.tag == "last"


def test_warnings_count_infinite_scores_and_comments_that_could_be_data(write) -> None:
    path = write(b"# a comment\n#q Q0 d 1 0.5 t\nq Q0 e 1 inf t\nq Q0 f 2 -inf t\nq Q0 g 3 1 t\n")
    _, table = read(path)
    comments, infinite = table.warnings
    assert infinite.startswith("2 infinite scores")
    assert comments == "2 lines that begin with `#` left out as comments, of which 1 could be data"


def test_frames_start_over(write) -> None:
    table = open_table(write(b"q Q0 d 1 inf t\nq Q0 e 2 0.4 t\n"), "run", ReadOptions())
    first = [frame.rows() for frame in table.frames()]
    warnings = list(table.warnings)
    assert [frame.rows() for frame in table.frames()] == first
    assert table.warnings == warnings


def test_locate_names_every_line_up_to_ten(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK_BYTES", 30)
    path = write(b"q Q0 d 1 0.5 t\n\nq Q0 dd 2 0.5 t\n# c\n" + b"q Q0 d 3 0.4 t\n" * 20)
    table = open_table(path, "run", ReadOptions())
    assert table.locate("q", "d") == [f"{path}:{line}" for line in (1, *range(5, 14))]
    assert table.locate("q", "none") == []


def test_locate_does_not_mind_damaged_lines(write) -> None:
    path = write(b"q Q0 d 1 0.5 t\nq d\nq Q0 d 1 none t\n#q Q0 d 1 0.5 t\n")
    assert open_table(path, "run", ReadOptions("trec")).locate("q", "d") == [f"{path}:1", f"{path}:3"]


def test_progress_sums_up_to_the_size(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK_BYTES", 40)
    table = open_table(write(b"q Q0 d 1 0.5 t\n" * 9), "run", ReadOptions())
    read_bytes: list[int] = []
    list(table.frames(read_bytes.append))
    assert sum(read_bytes) == table.size_bytes
    assert len(read_bytes) > 1


# The fast path against the line reader, which is the definition of the format.

LAYOUTS = {
    "trec": TREC_RUN,
    "untagged": TREC_UNTAGGED,
    "loose": TREC_LOOSE,
    "qrels": TREC_QRELS,
    "ranks": MSMARCO_RANK,
    "counted ranks": MSMARCO_COUNTED,
    "scores": MSMARCO_SCORE,
    "grades": MSMARCO_GRADES,
    "pairs": MSMARCO_PAIRS,
    "colbert": COLBERT,
}
IDS = [
    "q",
    "d1",
    "#",
    "#q",
    "q#",
    "",
    "\ufeff",
    "\ufeffq",
    "\u00a0",
    "a\u2028b",
    '"',
    '"a',
    "t",
    "Q0",
    " ",
    "a\x1fb",
    "d\x85",
]
NUMBERS = ["0", "1", "2", "+1", "01", "-0", "1.5", "-2", "1e3", "1.", ".5", "inf", "-INF", "nan", "1e400", "Infinity"]
ODD_NUMBERS = ["0x1", "1_0", "2,5", "None", "\u0661", "9223372036854775808", "1 ", " 1", "E", "1e", "-"]
WORDS = st.sampled_from([*IDS, *NUMBERS, *NUMBERS, *ODD_NUMBERS])
GAPS = st.sampled_from([" ", "\t", " ", "\t", "  ", " \t", "\v", "\f", "\r", "\t\t", ""])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\t\n", "\n\n", "\n#\n", "\n \n", "\n# a b c\n"])
LINES = st.one_of(
    st.lists(st.tuples(WORDS, GAPS), max_size=8).map(lambda parts: "".join(itertools.chain(*parts))),
    st.lists(WORDS, min_size=2, max_size=7).map(" ".join),
    st.lists(WORDS, min_size=2, max_size=7).map("\t".join),
    st.tuples(WORDS, WORDS, WORDS).map(lambda words: f"{words[0]} Q0 d {words[1]} {words[2]} t"),
    st.tuples(WORDS, WORDS, WORDS).map(lambda words: f"q\t0\t{words[0]}\t{words[1]}\t{words[2]}\tt"),
    st.tuples(WORDS, WORDS).map(lambda words: f"q\td\t{words[0]}"),
    st.tuples(WORDS, WORDS).map(lambda words: f"q 0 {words[0]} {words[1]}"),
)
TEXTS = st.lists(st.tuples(LINES, ENDS), min_size=1, max_size=6).map(
    lambda parts: "".join(itertools.chain(*parts)).encode()
)
BYTES = st.one_of(
    TEXTS, TEXTS.map(lambda data: data.rstrip(b"\n")), TEXTS.map(lambda data: data.replace(b"a", b"\xff\0"))
)


def by_lines(data: bytes, plan: Plan) -> tuple[list[tuple], lines.Noted] | str:
    """Rows and notes of the line reader, or its message."""
    noted = lines.Noted()
    try:
        frame = lines.frame_of(list(lines.read_lines(data, "f", 1, plan, noted)), plan.layout)
    except InputError as error:
        return str(error)
    return frame.rows(), noted


def by_the_fast_path(data: bytes, plan: Plan) -> list[tuple[list[tuple], lines.Noted]]:
    """What each of the two fast ways gives; nothing for one that leaves the chunk to the line reader."""
    noted = lines.Noted()
    frames = [(fast.parse(data, plan), lines.Noted())]
    frames.append((fast.parse(fast.tidy(data, plan, noted), plan, may_hold_comments=False), noted))
    value = "score" if plan.layout.role == "run" else "grade"
    columns = ["query", "doc", value, *(name for name in ("rank", "tag") if name in plan.layout.columns)]
    return [(frame.select(columns).rows(), found) for frame, found in frames if frame is not None]


@pytest.mark.parametrize("separator", [None, b"\t"], ids=["blanks", "tabs"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@settings(max_examples=100, deadline=None)
@given(data=BYTES, has_map=st.booleans())
def test_the_fast_path_agrees_with_the_line_reader(layout, separator, data: bytes, has_map: bool) -> None:
    plan = Plan(layout, separator, {"E": 3.0, "1": 7.0, "nan": 1.0} if has_map and layout.role == "qrels" else None)
    for result in by_the_fast_path(data, plan):
        assert result == by_lines(data, plan)


REGULAR = {
    TREC_RUN: b"q Q0 d 1 0.5 t\n",
    TREC_UNTAGGED: b"q Q0 d 1 0.5\n",
    TREC_LOOSE: b"q Q0 d 1 0.5 t more\n",
    TREC_QRELS: b"q 0 d 1\n",
    MSMARCO_RANK: b"q d 1\n",
    MSMARCO_SCORE: b"q d 0.5\n",
    MSMARCO_GRADES: b"q d 1\n",
    MSMARCO_PAIRS: b"q d\n",
    COLBERT: b"q d 1 0.5\n",
}


@pytest.mark.parametrize("separator", [None, b"\t"], ids=["blanks", "tabs"])
@pytest.mark.parametrize(("layout", "line"), REGULAR.items(), ids=[found.shape for found in REGULAR])
def test_regular_lines_take_the_fast_path(layout, line: bytes, separator: bytes | None) -> None:
    data = (line if separator is None else line.replace(b" ", b"\t")) * 3
    assert fast.parse(data, Plan(layout, separator)).height == 3
    assert fast.parse(data.removesuffix(b"\n"), Plan(layout, separator)).height == 3


@pytest.mark.parametrize(
    "data",
    [b"q Q0 d 1 0.5 t\r\n", b"\tq  Q0 d 1 0.5 t\n\n", b"# c\nq Q0 d 1 0.5 t\n#", b"q Q0 d - 0.5 t \n"],
    ids=["crlf", "blanks", "comments", "no rank"],
)
def test_untidy_lines_take_the_fast_path_after_tidying(data: bytes) -> None:
    plan = Plan(TREC_RUN, None)
    assert fast.parse(data, plan) is None
    assert fast.parse(fast.tidy(data, plan, lines.Noted()), plan).height == 1


def test_all_short_numbers_are_read_alike() -> None:
    """Every text of up to four of these signs, in the score, the grade and the rank."""
    signs = "01.eE+-_xinfa,"
    words = ["".join(word) for size in range(1, 5) for word in itertools.product(signs, repeat=size)]
    for layout in (TREC_RUN, TREC_QRELS):
        shape = "q Q0 d {0} {0} t\n" if layout is TREC_RUN else "q 0 d {0}\n"
        readable = [
            word for word in words if not isinstance(by_lines(shape.format(word).encode(), Plan(layout, None)), str)
        ]
        assert {"0", "-1.", "+.0", "1e-0", "0e00"} <= set(readable)
        data = "".join(map(shape.format, readable)).encode()
        assert by_the_fast_path(data, Plan(layout, None))[0] == by_lines(data, Plan(layout, None))
    values = fast._scan("".join(f"q Q0 d 1 {word} t\n" for word in words).encode(), Plan(TREC_RUN, None))["score"]
    taken = [word for word, value in zip(words, values, strict=True) if value is not None and not math.isnan(value)]
    plan = Plan(TREC_RUN, None)
    assert taken == [w for w in words if not isinstance(by_lines(f"q Q0 d 1 {w} t\n".encode(), plan), str)]


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
@settings(max_examples=60, deadline=None)
@given(data=TEXTS)
def test_rows_and_errors_do_not_depend_on_the_chunk_size(size: int, data: bytes, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "chunks.txt"
    path.write_bytes(data)
    assert outcome(str(path), size) == outcome(str(path), 8 << 20)


def outcome(path: str, size: int) -> Any:
    """Rows, tag and warnings, or the message, with chunks of that size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "CHUNK_BYTES", size)
        try:
            rows, table = read(path, format="trec")
        except RankevalError as error:
            return str(error)
        return rows, table.tag, table.warnings
