"""Which format is found, what is said when none is, and runs and judgments given the wrong way round."""

import gzip
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from rankeval_cli.errors import InputError, RankevalError, UsageError
from rankeval_cli.readers import FORMATS, ReadOptions, check_swapped, open_input, open_table, read_pairs, recognise

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(data, name)`: the path of a file that holds it."""

    def write(data: bytes | str, name: str = "file.txt") -> str:
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return str(tmp_path / name)

    return write


FOUND = {
    "trec run": ("q Q0 d 1 0.5 t\n", "run", "trec"),
    "trec run without tag": ("q Q0 d 1 0.5\n", "run", "trec"),
    "trec run in tabs, spaces in ids": ("q\tQ0\tNew York\t1\t0.5\tt\n", "run", "trec"),
    "trec qrels": ("q 0 d 1\n", "qrels", "trec"),
    "trec qrels in tabs, spaces in ids": ("q\t0\tNew York\t1\n", "qrels", "trec"),
    "three columns in tabs, spaces in ids": ("q\tNew York\t1\nq\tRome\t2\n", "qrels", "msmarco"),
    "one line too long, the first decides": ("q Q0 d 1 0.5 t\nq Q0 New York d 2 0.4 t\n", "run", "trec"),
    "one line too long, most decide": ("q 0 New York 1\nq 0 d 1\nq 0 e 1\n", "qrels", "trec"),
    "colbert": ("1\t7\t1\t0.9\n1\t8\t2\t0.8\n", "run", "colbert"),
    "ms marco": ("1\t7\t1\n1\t8\t2\n", "run", "msmarco"),
    "comments first": ("# query Q0 doc rank score tag\nq Q0 d 1 0.5 t\n", "run", "trec"),
    "ids like column names": ("user Q0 item 1 0.5 score\n", "run", "trec"),
    "csv": ("query,doc,score\nq,d,0.5\n", "run", "csv"),
    "csv with spaces in ids": ('query,doc,score\nq,"New York",0.5\n', "run", "csv"),
    "csv with blanks behind the commas": ("query, doc, score\nq, d, 0.5\n", "run", "csv"),
    "tsv": ("query-id\tcorpus-id\tscore\nq\td\t1\n", "qrels", "tsv"),
    "tsv with six columns": ("query\titer\tdoc\trank\tscore\ttag\nq\tQ0\td\t1\t0.5\tt\n", "run", "tsv"),
    "json": ('{"q": {"d": 0.5}}', "run", "json"),
    "json lines with six words": ('{"query": "q", "doc": "d", "score": 1}\n', "run", "jsonl"),
}


@pytest.mark.parametrize(("text", "role", "format"), FOUND.values(), ids=FOUND)
def test_formats_are_recognised_by_content(text: str, role: str, format: str, write: Write) -> None:
    assert recognise(open_input(write(text)), role, ReadOptions()).name == format


def test_names_of_formats_are_unique() -> None:
    names = [format.name for format in FORMATS]
    assert sorted(names) == sorted(set(names))
    assert all(format.run or format.qrels for format in FORMATS)


def test_the_user_decides(write: Write) -> None:
    path = write("1 a 1\n1 b 2\n")
    assert open_table(path, "run", ReadOptions("msmarco-score")).format == "msmarco-score"
    assert open_table(path, "run", ReadOptions("MSMARCO-Rank")).format == "msmarco-rank"


NAMES = {
    "misspelt": ("trek", "run", ["unknown format `trek`", "`trec`"]),
    "nothing near": ("xyzzy", "run", ["unknown format `xyzzy`", "trec", "parquet"]),
    "no judgments": ("trec-loose", "qrels", ["cannot have", "msmarco"]),
}


@pytest.mark.parametrize(("name", "role", "words"), NAMES.values(), ids=NAMES)
def test_wrong_names_of_formats(name: str, role: str, words: list[str], write: Write) -> None:
    with pytest.raises(UsageError) as caught:
        open_table(write("q 0 d 1\n"), role, ReadOptions(name))
    assert all(word in str(caught.value) for word in words)


def archive(kind: str) -> bytes:
    """A small archive of several files."""
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as file:
            file.writestr("run.txt", "q Q0 d 1 0.5 t\n")
    else:
        with tarfile.open(fileobj=buffer, mode="w") as file:
            file.addfile(tarfile.TarInfo("run.txt"), io.BytesIO())
    return buffer.getvalue()


UNKNOWN = {
    "spaces in ids on every line": (
        "q Q0 New York 1 0.5 t\nq Q0 Los Angeles 2 0.4 t\n",
        "run",
        ":1: 7 columns between blanks, which fits no layout of a run: `q Q0 New York 1 0.5 t`; "
        "in a TREC file there are 6 (query, Q0, document, rank, score, tag)",
        "--run-format trec-loose",
    ),
    "judgments with a column too many": ("# c\n\nq 0 d 1 x\n", "qrels", ":3: 5 columns", "tabs"),
    "csv without header": ("q1,d1,0.5\nq1,d2,0.4\n", "run", ":1: 1 column", "header"),
    "csv without header, with blanks": ("q1, d1, 0.5\nq1, d2, 0.4\n", "run", ":1: 3 columns", "header"),
    "a header between blanks": (
        "qid iter docid rank score\nq Q0 d 1 0.5\n",
        "run",
        ":1: a header between blanks",
        "commas or tabs",
    ),
    "a run as judgments": ("q Q0 d 1 0.5 t\n", "qrels", ": holds a run (trec), not judgments", "last"),
    "judgments as a run": ("q 0 d 1\n", "run", ": holds judgments (trec), not a run", "RUN QRELS"),
    "only comments": ("# nothing\n\n \n", "run", ": is empty: no results, only blank lines and comments", "whole"),
    "empty run": ("", "run", ": is empty: no results", "whole"),
    "empty judgments": ("", "qrels", ": is empty: no judgments", "whole"),
    "empty archive": (gzip.compress(b""), "run", ": is empty: no results", "whole"),
    "escape sequence": (
        "\x1b[31mred\n",
        "run",
        ":1: 1 column between blanks, which fits no layout of a run: `\\x1b[31mred`",
        "",
    ),
    "one endless line": (b"x" * 2_000_000, "run", ": one line of more than a megabyte", "formats"),
    "zip": (archive("zip"), "run", "is a zip archive", "unpack"),
    "tar": (archive("tar"), "run", "is a tar archive", "unpack"),
    "numpy": (b"\x93NUMPY\x01\0v\0{'descr'", "run", "is a NumPy array", "Parquet"),
    "binary": (bytes(range(256)) * 40, "run", "holds NUL bytes, so it is a binary file", ""),
    "utf-16 without mark": ("q Q0 d 1 0.5 t\n".encode("utf-16-le"), "run", "NUL bytes", "UTF-16"),
}


@pytest.mark.parametrize(("data", "role", "what", "hint"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_fits_nothing_is_shown(data: bytes | str, role: str, what: str, hint: str, write: Write) -> None:
    path = write(data)
    with pytest.raises(InputError) as caught:
        open_table(path, role, ReadOptions())
    assert str(caught.value).startswith(path + ":")
    assert what in str(caught.value)
    assert hint in caught.value.hint
    assert str(caught.value).replace("\n", "").isprintable()


RUN, QRELS = "q Q0 d 1 0.5 t\n", "q 0 d 1\n"
SCORES = "".join(f"q d{i} {i / 64}\n" for i in range(40))
GRADES = "".join(f"q d{i} {i % 3 - 1}\n" for i in range(40))
SWAPPED = {
    "trec": ([QRELS], RUN),
    "several runs": ([RUN, QRELS, RUN], RUN),
    "three columns": ([GRADES], SCORES),
    "csv": (["query,doc,score\nq,d,1\n"], "query,doc,score\n" + SCORES.replace(" ", ",")),
    "json": ([json.dumps({"q": {"d": 1}})], json.dumps({"q": {f"d{i}": i / 64 for i in range(40)}})),
}
NOT_SWAPPED = {
    "trec": ([RUN], QRELS),
    "two runs": ([RUN], RUN),
    "two judgments": ([QRELS], QRELS),
    "three columns": ([SCORES], GRADES),
    "few fractions": ([GRADES], "q d 0.5\nq e 0.25\n"),
    "twenty fractions": ([GRADES], "".join(f"q d{i} {i / 64}\n" for i in range(21))),
    "scores in both": ([SCORES], SCORES),
    "large numbers": (["q d 11\n"], SCORES),
    "empty": ([""], RUN),
    "damaged": ([GRADES], SCORES + "q d word\n"),
}


@pytest.mark.parametrize(("runs", "qrels"), SWAPPED.values(), ids=SWAPPED)
def test_swapped_files(runs: list[str], qrels: str, write: Write) -> None:
    paths = [write(text, f"run {i}") for i, text in enumerate(runs)]
    last = write(qrels, "last")
    with pytest.raises(UsageError, match="swapped") as caught:
        check_swapped([open_input(path) for path in paths], open_input(last))
    judgments = paths[1 if len(paths) > 1 else 0]
    order = [*(f"'{path}'" for path in paths if path != judgments), last, f"'{judgments}'"]
    assert caught.value.hint == "rankeval " + " ".join(order)


@pytest.mark.parametrize(("runs", "qrels"), NOT_SWAPPED.values(), ids=NOT_SWAPPED)
def test_files_taken_as_given(runs: list[str], qrels: str, write: Write) -> None:
    inputs = [open_input(write(text, f"run{i}")) for i, text in enumerate(runs)]
    check_swapped(inputs, open_input(write(qrels, "last")))


def test_a_named_format_is_taken_as_given(write: Write) -> None:
    runs, qrels = [open_input(write(GRADES, "run"))], open_input(write(SCORES, "qrels"))
    check_swapped(runs, qrels, ReadOptions("msmarco-score"))
    check_swapped(runs, qrels, None, ReadOptions("msmarco"))


PAIRS = {
    "two columns": "q d\nq e\nq d\n",
    "two columns in tabs": "q\td\nq\te\n",
    "judgments": "q 0 d 1\nq 0 e -1\n",
    "run": "q Q0 d 1 0.5 t\nq Q0 e 1 0.5 t\n",
    "csv": "query,doc\nq,d\nq,e\n",
}


@pytest.mark.parametrize("text", PAIRS.values(), ids=PAIRS)
def test_pairs(text: str, write: Write) -> None:
    expected = pl.DataFrame({"query": ["q", "q"], "doc": ["d", "e"]})
    assert read_pairs(write(text)).equals(expected)


@pytest.mark.parametrize("text", ["", "# none\n", "query,doc\n", "word\n"], ids=repr)
def test_no_pairs(text: str, write: Write) -> None:
    path = write(text)
    with pytest.raises(RankevalError) as caught:
        read_pairs(path)
    assert str(caught.value).startswith(path)


def test_recognising_loads_no_heavy_library(write: Write) -> None:
    run, qrels = write(RUN, "run"), write(QRELS, "qrels")
    script = f"""
import sys
from rankeval_cli.readers import ReadOptions, check_swapped, open_input, open_table
check_swapped([open_input({run!r})], open_input({qrels!r}))
open_table({run!r}, "run", ReadOptions())
print([name for name in ("polars", "numpy", "pyarrow", "numba", "rich") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
