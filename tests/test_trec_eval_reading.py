"""How the drop-in trec_eval reads files: what it takes leniently, what it refuses, and with which exit status."""

from __future__ import annotations

import gzip
import math
import string
from pathlib import Path

import pytest
from dropin import QRELS, RUN, DropIn, lines
from hypothesis import given, settings
from hypothesis import strategies as st

from rankeval_cli.errors import InputError
from rankeval_cli.readers import open_input
from rankeval_cli.trec_eval import reading
from rankeval_cli.trec_eval.leniency import Leniency, real, whole
from rankeval_cli.trec_eval.reading import open_qrels, open_run

ONE_QREL, TWO_RESULTS = "q 0 a 1\n", "q Q0 a 1 {} t\nq Q0 b 2 {} t\n"


@pytest.mark.parametrize(
    ("text", "number", "is_all"),
    [
        ("1", 1.0, True), ("-2.5", -2.5, True), ("+1.5e+0", 1.5, True), ("1e-3", 0.001, True), ("1E2", 100.0, True),
        (".5", 0.5, True), ("5.", 5.0, True), ("1e400", math.inf, True), ("-1e400", -math.inf, True),
        ("1e-400", 0.0, True), ("inf", math.inf, True), ("-Infinity", -math.inf, True), ("0x10", 16.0, True),
        ("-0X1.8p1", -3.0, True), ("0x", 0.0, False), ("3,5", 3.0, False), ("2.0xyz", 2.0, False), ("1e", 1.0, False),
        ("1_000", 1.0, False), ("abc", 0.0, False), ("", 0.0, False), ("-", 0.0, False), ("e5", 0.0, False),
        ("0x1p99999", math.inf, True), ("infinite", math.inf, False), ("١", 0.0, False), (" 7", 7.0, True),
    ],
)  # fmt: skip
def test_real_numbers(text: str, number: float, is_all: bool) -> None:
    assert real(text) == (number, is_all)


@pytest.mark.parametrize("text", ["nan", "-NaN", "nan(12)"])
def test_not_a_number(text: str) -> None:
    number, is_all = real(text)
    assert math.isnan(number)
    assert is_all


@pytest.mark.parametrize(
    ("text", "number", "is_all"),
    [
        ("2", 2, True), ("-1", -1, True), ("+3", 3, True), ("007", 7, True), ("2.9", 2, False), ("0.9", 0, False),
        ("yes", 0, False), ("1e3", 1, False), ("0x10", 0, False), ("", 0, False), ("9" * 30, 2**63 - 1, True),
        ("-" + "9" * 30, -(2**63), True), ("9" * 9999, 2**63 - 1, True), (" 4", 4, True),
    ],
    ids=lambda value: str(value)[:12],
)  # fmt: skip
def test_whole_numbers(text: str, number: int, is_all: bool) -> None:
    assert whole(text) == (number, is_all)


# Two scores, and which document then comes first: a is relevant.
@pytest.mark.parametrize(
    ("first", "second", "reciprocal", "told"),
    [
        ("abc", "-1", "1.0000", "a score that is no number counts as 0"),
        ("abc", "0", "0.5000", "a score that is no number counts as 0"),
        ("3,5", "2.9", "1.0000", "only the number that it begins with is read"),
        ("2.0xyz", "1", "1.0000", "only the number that it begins with is read"),
        ("0x10", "15", "1.0000", "hexadecimal"),
        ("nan", "-1e9", "0.5000", "NaN is sorted last"),
        ("inf", "1e308", "1.0000", ""),
        ("-inf", "-1e308", "0.5000", ""),
        ("1e400", "1e308", "1.0000", ""),
        ("1e-3", "1E-4", "1.0000", ""),
        ("-0.0", "0.0", "0.5000", ""),
        ("1.00000002", "1.00000001", "1.0000", ""),
        ("7", "7", "0.5000", ""),
    ],
)
def test_scores(first: str, second: str, reciprocal: str, told: str, drop_in: DropIn) -> None:
    said = drop_in.on(ONE_QREL, TWO_RESULTS.format(first, second), "-m", "recip_rank")
    assert said.values == {("recip_rank", "all"): reciprocal}
    assert (told in said.err) if told else (said.err == "")
    strict = drop_in.on(ONE_QREL, TWO_RESULTS.format(first, second), "-m", "recip_rank", "--strict")
    assert strict.code == (2 if told else 0)
    assert (f"other.run:1: `{first}`" in strict.err) == bool(told)


@pytest.mark.parametrize(
    ("grade", "sign", "told"),
    [
        ("2.9", "2", "only the whole number that it begins with"),
        ("0.9", "0", "only the whole number that it begins with"),
        ("1e3", "1", "only the whole number that it begins with"),
        ("0x10", "0", "only the whole number that it begins with"),
        ("yes", "0", "a grade that is no number counts as 0"),
        ("3x", "3", "only the whole number that it begins with"),
        ("2.0", "2", ""),
        ("+3", "3", ""),
        ("1000000", ">", ""),
        ("-2", ".", ""),
    ],
)
def test_grades(grade: str, sign: str, told: str, drop_in: DropIn) -> None:
    files = (f"q 0 a {grade}\nq 0 b 1\n", "q Q0 a 1 2 t\n", "-q", "-m", "relstring")
    said = drop_in.on(*files)
    assert said.values == {("relstring", "q"): f"'{sign}'"}
    assert (told in said.err) if told else (said.err == "")
    assert drop_in.on(*files, "--strict").code == (2 if told else 0)


def test_a_kind_of_reading_is_told_once(drop_in: DropIn) -> None:
    said = drop_in.on(ONE_QREL, lines(("q", "Q0", f"d{i}", 0, "abc", "t") for i in range(5)), "-m", "num_ret")
    assert said.err.count("warning:") == 1
    assert "other.run:1: `abc`: a score that is no number counts as 0 (4 more)" in said.err


SAME = {
    "tabs": lambda text: text.replace(" ", "\t"),
    "many blanks": lambda text: text.replace(" ", "  \t "),
    "leading blanks": lambda text: "  " + text.replace("\n", "\n "),
    "trailing blanks": lambda text: text.replace("\n", " \t\n"),
    "form feeds": lambda text: text.replace(" ", "\f\v"),
    "CR LF": lambda text: text.replace("\n", "\r\n"),
    "no last newline": lambda text: text.rstrip("\n"),
    "comments": lambda text: "# one\n#two\n" + text.replace("\nq2", "\n#q2 0 d1 0 0 0\n  # x\nq2", 1) + "# end",
    "byte order mark": lambda text: "\ufeff" + text,
    "compressed": lambda text: gzip.compress(text.encode()),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_texts_that_mean_the_same(change, drop_in: DropIn) -> None:
    expected = drop_in.on_files("-q", "-m", "all_trec").out
    said = drop_in.on(change(QRELS), change(RUN), "-q", "-m", "all_trec")
    assert said.out == expected
    assert said.code == 0


@pytest.mark.parametrize("change", [lambda text: text.replace("\n", "\n\n"), lambda text: "\n \n" + text + "\n  "])
def test_blank_lines_of_a_run_are_skipped(change, drop_in: DropIn) -> None:
    assert drop_in.on(QRELS, change(RUN), "-q").out == drop_in.on_files("-q").out


def test_rank_and_order_of_lines_do_not_count(drop_in: DropIn) -> None:
    run = "".join(sorted(RUN.splitlines(keepends=True), key=lambda line: line[::-1]))
    run = run.replace(" 2 ", " x ").replace("q9 Q0 d1 1 1.0 last\n", "") + "q9 Q0 d1 1 1.0 last\n"
    assert drop_in.on(QRELS, run, "-q").out == drop_in.on_files("-q").out


def test_columns_behind_the_tag_are_told(drop_in: DropIn) -> None:
    said = drop_in.on(QRELS, RUN.replace("tag\n", "tag of a run\n"), "-q")
    assert said.out == drop_in.on_files("-q").out
    assert "other.run:1: `of a run`: what follows the tag is not read\n" in said.err
    strict = drop_in.on(QRELS, RUN.replace("tag\n", "tag of a run\n"), "--strict")
    assert (strict.code, strict.out) == (2, "")


def test_ids_may_hold_signs_and_numbers(drop_in: DropIn) -> None:
    said = drop_in.on("1 0 a#b 1\n1 0 007 1\n", "1 Q0 a#b 1 2 #t\n1 Q0 7 2 1 #t\n", "-m", "map", "-m", "runid")
    assert said.values == {("runid", "all"): "#t", ("map", "all"): "0.5000"}


def test_queries_are_in_byte_order(drop_in: DropIn) -> None:
    queries = ["q", "1", "é", "2", "Q", "10", "ﬀ", "𝄞"]
    said = drop_in.on(
        lines((query, 0, "a", 1) for query in queries), lines((query, "Q0", "a", 1, 1, "t") for query in queries),
        "-qn", "-m", "map",
    )  # fmt: skip
    assert [query for _, query in said.values] == sorted(queries, key=str.encode)


REFUSED = {
    "empty run": (QRELS, "", 2, "is empty: no results"),
    "empty judgments": ("", RUN, 2, "is empty: no judgments"),
    "only comments in the run": (QRELS, "# nothing\n", 2, "is empty: no results"),
    "only comments in the judgments": ("# nothing\n", RUN, 2, "is empty: no judgments"),
    "run without tag": (QRELS, "q1 Q0 d1 1 6.0\n", 2, "other.run:1: malformed line: 5 fields where 6 are expected"),
    "run of three columns": (QRELS, "q1 Q0 d1 1 6.0 t\n\nq1 d1 6.0\n", 2, "other.run:3: malformed line: 3 fields"),
    "judgments of three columns": ("q1 0 d1 1\nq1 d1 1\n", RUN, 2, "other.qrels:2: malformed line: 3 fields"),
    "judgments of five columns": ("q1 0 d1 1 x\n", RUN, 2, "other.qrels:1: malformed line: 5 fields"),
    "blank line in the judgments": ("q1 0 d1 1\n\nq1 0 d2 1\n", RUN, 2, "other.qrels:2: is blank"),
    "blank last line in the judgments": ("q1 0 d1 1\n\n", RUN, 2, "other.qrels:2: is blank"),
    "swapped files": (RUN, QRELS, 2, "judgments come first and the run last"),
    "NUL": (QRELS, b"q1 Q0 d\0 1 6.0 t\n", 2, "other.run:1: holds a NUL byte"),
    "Latin-1": (QRELS, "q1 Q0 d\xe9 1 6.0 t\n".encode("latin-1"), 2, "other.run:1: byte 0xe9 at column 8 is not valid"),
    "document twice in the run": (QRELS, RUN + "q1 Q0 d3 9 -5 t\n", 4, "document `d3` is more than once in query `q1`"),
    "document twice in the judgments": (QRELS + "q2 0 d3 0\n", RUN, 4, "document `d3` is judged more than once"),
    "no query in common": ("q7 0 d1 1\n", RUN, 4, "no query in common"),
}


@pytest.mark.parametrize(("qrels", "run", "code", "text"), REFUSED.values(), ids=REFUSED)
def test_refused_files(qrels: str, run: str | bytes, code: int, text: str, drop_in: DropIn) -> None:
    said = drop_in.on(qrels, run)
    assert (said.code, said.out) == (code, "")
    assert text in said.err
    assert "hint: " in said.err


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["run", "judgments"])
def test_files_that_are_not_there_have_status_2(order: tuple[int, int], drop_in: DropIn, tmp_path: Path) -> None:
    files = [drop_in.qrels if order[0] == 0 else str(tmp_path / "none"), drop_in.run]
    files[order[1]] = str(tmp_path / "none")
    said = drop_in(*files)
    assert (said.code, said.out) == (2, "")
    assert "none: no such file" in said.err


def test_repeats_that_the_evaluation_never_sees(drop_in: DropIn) -> None:
    cut = drop_in.on(QRELS, RUN + "q1 Q0 d3 9 -5 t\nq9 Q0 d1 2 2 last\n", "-M", "6")
    assert cut.out == drop_in.on_files("-M", "6").out  # behind the cut, and in a query that is not judged
    assert drop_in.on(QRELS + "q3 0 d1 1\n", RUN).out == drop_in.on_files().out  # q3 has no results
    assert drop_in.on(QRELS + "q3 0 d1 1\n", RUN, "-c").code == 4
    other = drop_in.on(QRELS, RUN + "q1 Q0 d3 9 -5 last\n", "-D", "0.q2")
    assert other.out == drop_in.on_files("-D", "0.q2").out


def test_judgments_that_are_all_negative(drop_in: DropIn) -> None:
    said = drop_in.on("q1 0 d1 -2\n" + QRELS.replace("q1", "q4"), RUN, "-q", "-m", "all_trec")
    assert said.code == 0
    assert said.values["map", "q1"] == "0.0000"
    assert said.values["relstring", "q1"] == "'.-----'"
    assert "nan" not in said.out


ids = st.text(string.ascii_letters + "#é", min_size=1, max_size=3)
scores = st.sampled_from(["1", "2.5", "-1e3", "inf", "nan", "abc", "3,5", "0x1F", "1e400", "+.5", "1_0", "5."])
blanks = st.sampled_from([" ", "\t", "  ", " \r", "\f"])
separated = st.tuples(ids, ids, ids, st.sampled_from(["1", "x"]), scores, ids, st.sampled_from(["", " more"]))
texts = st.lists(st.one_of(st.tuples(separated, blanks), st.just((("# note",), " ")), st.just((("",), " "))))


grades = st.sampled_from(["1", "-2", "+3", "2.0", "2.9", "1e3", "yes", "0x1", "9" * 25, "007"])
judged = st.lists(st.one_of(st.tuples(ids, ids, ids, grades), st.just(("# note",))), min_size=1)


@pytest.mark.parametrize("format", ["qrels", "qrels_jg", "qrels_prefs"])
@settings(max_examples=60, deadline=None)
@given(rows=judged, blank=blanks, has_end=st.booleans())
def test_fast_and_slow_reading_of_judgments_agree(
    format: str, rows, blank: str, has_end: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"lenient.{format}"
    text = "".join(blank.join(row) + "\n" for row in [*rows, ("q", "0", "d", "1")])
    path.write_bytes((text if has_end else text[:-1]).encode())
    table = open_qrels(open_input(str(path)), format, is_strict=False)
    fast = [row for frame in table.frames() for row in frame.rows()]
    notes = Leniency(False)
    slow = [
        (row.query, row.doc, row.value, *row.groups)
        for chunk in open_input(str(path)).chunks()
        for row in reading._rows(chunk, reading.QRELS[format], notes)
    ]
    assert fast == slow
    assert table.notes.tallies == notes.tallies


@settings(max_examples=150, deadline=None)
@given(parts=texts, has_end=st.booleans())
def test_fast_and_slow_reading_agree(parts, has_end: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "lenient.run"
    text = "".join(blank.join(fields) + "\n" for fields, blank in [*parts, (("q", "0", "d", "0", "1", "t"), " ")])
    path.write_bytes((text if has_end else text[:-1]).encode())
    table = open_run(open_input(str(path)), is_strict=False)
    fast = [row for frame in table.frames() for row in frame.rows()]
    notes = Leniency(False)
    slow = [
        (row.query, row.doc, row.value)
        for chunk in open_input(str(path)).chunks()
        for row in reading._rows(chunk, reading.RUN, notes)
    ]
    assert fast == slow
    assert table.notes.tallies.keys() == notes.tallies.keys()


@pytest.mark.parametrize("bad", ["q 0 d 0 1", "q 0 d 0 abc t"])
def test_only_the_chunk_that_fails_is_read_slowly(bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankeval_cli.readers.source.CHUNK_BYTES", 100)
    good = lines((f"q{i}", 0, "d", 0, i, "t") for i in range(100))
    read = []
    slowly = reading._rows
    monkeypatch.setattr(reading, "_rows", lambda chunk, *rest: read.append(chunk.first_line) or slowly(chunk, *rest))
    path = tmp_path / "run.txt"
    path.write_text(good + bad + "\n" + good)
    table = open_run(open_input(str(path)), is_strict=False)
    if bad.endswith("t"):
        assert sum(frame.height for frame in table.frames()) == 201
        assert table.notes.tallies.popitem()[1].where == f"{path}:101"
    else:
        with pytest.raises(InputError, match="malformed") as problem:
            list(table.frames())
        assert problem.value.where == f"{path}:101"
    assert len(read) == 1


@pytest.mark.parametrize(
    ("line", "is_fast"),
    [
        ("q\tQ0\td\t1\t2\tt", True),
        ("q Q0 d 1 2 t", True),
        ("q\tQ0\td\t1\t2\tt u", False),
        ("q\tQ0\td\t\t1\t2\tt", False),
        ("\tq\tQ0\td\t1\t2\tt", False),
        ("q Q0\td 1 2 t", False),
    ],
)
def test_which_lines_need_no_tidying(line: str, is_fast: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tidied = []
    tidy = reading._tidy
    monkeypatch.setattr(reading, "_tidy", lambda data, role: tidied.append(data) or tidy(data, role))
    path = tmp_path / "run.txt"
    path.write_text(f"{line}\n{line}\n")
    rows = [row for frame in open_run(open_input(str(path)), is_strict=False).frames() for row in frame.rows()]
    assert rows == [("q", "d", 2.0)] * 2
    assert (not tidied) == is_fast
