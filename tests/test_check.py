"""`rankeval check`: every problem of every file, what is suspicious, and the exit code."""

from __future__ import annotations

import gzip
import json
import random
import shlex
from pathlib import Path

import polars as pl
import pytest
from test_cases import CASES, unmentioned

from rankeval_cli.cli import run as program
from rankeval_cli.readers.problems import Problems, leave_out

RUN = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\n"
QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n"


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run.txt").write_text(RUN)
    Path("qrels.txt").write_text(QRELS)


@pytest.fixture
def call(capfd):
    """`call("run.txt qrels.txt")` -> exit code, JSON document of `rankeval check`."""

    def call(line: str) -> tuple[int, dict]:
        code = program(["check", *line.split(), "-f", "json"])
        out, err = capfd.readouterr()
        assert err == ""
        return code, json.loads(out)

    return call


def places(found: dict, severity: str = "error") -> list[tuple[str, str]]:
    return [
        (place["where"], place["what"])
        for problem in found["problems"]
        if problem["severity"] == severity
        for place in problem["places"]
    ]


def test_good_files_have_no_problem(call):
    code, found = call("run.txt qrels.txt")
    assert (code, found["problems"], found["errors"], found["warnings"]) == (0, [], 0, 0)
    run, qrels = found["files"]
    assert (run["role"], run["format"], run["rows"], run["tag"], run["is_whole"]) == ("run", "trec", 3, "t", True)
    assert (qrels["role"], qrels["format"], qrels["rows"], qrels["queries"]) == ("judgments", "trec", 3, 2)
    assert run["coverage"]["answered"] == 2


BAD_RUNS = {
    "trec": (
        "run.txt",
        "q1 Q0 a 1 3 t\nq1 Q0 b 2 x t\nq1 Q0 c 2\nq1 Q0 d 3 nan t\n# comment\n\nq2 Q0 c 1 1 t\n",
        {
            2: "score `x` is not a number",
            4: "score is NaN, which has no place in an order",
            3: "4 fields where 6 are expected (query, Q0, document, rank, score, tag): `q1 Q0 c 2`",
        },
        2,
    ),
    "ranks of MS MARCO": (
        "run.tsv",
        "q1\ta\t1\nq1\tb\t2\nq1\tc\tx\nq2\tc\t1\nq2\tb\t3\nq2\td\t9\n",
        {
            3: "rank `x` is no whole number",
            5: "`3` does not follow, though the first lines have ranks that rise by one in each query",
        },
        5,
    ),
    "csv": (
        "run.csv",
        'query,doc,score\nq1,a,3\nq1,b\nq1,,2\nq1,"c"x,2\nq1,d,high\nq1,"e\nf",0.5\nq1,g,1,1\nq2,c,1\n',
        {
            3: "2 fields where the header has 3",
            4: "column `doc` is empty",
            5: "text follows a closing quote",
            6: "score `high` is not a number",
            9: "4 fields where the header has 3",
        },
        3,
    ),
    "json lines": (
        "run.jsonl",
        '{"query":"q1","doc":"a","score":3}\n{"query":"q1","doc":"b"\n{"query":"q1","score":1}\n[1]\n'
        '{"query":"q1","doc":"c","score":NaN}\n{"query":"q1","doc":1.5,"score":1}\n{"query":"q2","doc":"c","score":1}\n',
        {
            2: "is no valid JSON: expecting ',' delimiter (column 24)",
            3: "no key `doc`",
            4: "is a list, not an object",
            5: "score is NaN, which has no place in an order",
            6: "`doc` is the float `1.5`, and ids are text or whole numbers",
        },
        2,
    ),
}


@pytest.mark.parametrize(("name", "text", "expected", "rows"), BAD_RUNS.values(), ids=BAD_RUNS)
def test_all_malformed_rows_are_named(call, name, text, expected, rows):
    Path(name).write_text(text)
    options = "--run-format msmarco-rank" if name.endswith("tsv") else ""
    code, found = call(f"{name} qrels.txt {options}")
    if options:  # the format by name takes ranks as they come
        del expected[5]
    assert code == 2
    assert sorted(places(found)) == sorted((f"{name}:{line}", what) for line, what in expected.items())
    assert (found["files"][0]["rows"], found["files"][0]["is_whole"]) == (rows, True)
    assert found["files"][0]["coverage"]["answered"] == 2


def test_ranks_that_do_not_rise_are_named_once(call):
    Path("run.tsv").write_text(
        "q1\ta\t1\nq1\tb\t2\n" * 1 + "".join(f"x{i}\td\t1\n" for i in range(9000)) + "q2\tc\t7\n"
    )
    code, found = call("run.tsv qrels.txt")
    assert code == 2
    assert places(found)[0] == (
        "run.tsv:9003",
        "`7` does not follow, though the first lines have ranks that rise by one in each query",
    )


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"q1": {"a": 3, "b": "x"}, "q2": 5, "q3": {"c": None}}, ['["q1"]["b"]', '["q2"]', '["q3"]["c"]']),
        ([{"query": "q1", "doc": "a", "score": 1}, {"query": "q1"}, 7], [", entry 2", ", entry 3"]),
    ],
    ids=["by query", "records"],
)
def test_all_queries_and_records_of_a_json_document_are_looked_at(call, document, expected):
    Path("run.json").write_text(json.dumps(document))
    code, found = call("run.json qrels.txt")
    assert code == 2
    assert sorted(where for where, _ in places(found)) == sorted(f"run.json{place}" for place in expected)


def test_bytes_that_are_no_utf8_are_named_in_text_and_csv(call):
    Path("run.txt").write_bytes(RUN.encode() + b"q1 Q0 \xff 3 1 t\n")
    Path("run.csv").write_bytes(b'query,doc,score\nq1,"a",1\nq1,\xff,1\nq2,c,1\n')
    assert places(call("run.txt qrels.txt")[1])[0][0] == "run.txt:4"
    assert places(call("run.csv qrels.txt")[1])[0][0] == "run.csv:3"


def test_the_first_ten_of_a_kind_and_the_total_are_told(call, capfd):
    Path("run.txt").write_text(RUN + "".join(f"q1 Q0 d{i} 1 bad{i} t\n" for i in range(25)))
    code, found = call("run.txt qrels.txt")
    (problem,) = (each for each in found["problems"] if each["severity"] == "error")
    assert (code, problem["total"], len(problem["places"])) == (2, 25, 10)
    assert found["errors"] == 25
    program(["check", "run.txt", "qrels.txt", "-f", "table"])
    assert "... 25 of this kind\nhint: columns are" in capfd.readouterr().out


MIXED = {
    "trec": ("run.txt", [], lambda i: f"q1 Q0 d{i} 1 {i} t", ["q1 Q0 x 1 y t", "q1 Q0 x", "q1\0Q0 x 1 1 t"]),
    "csv": (
        "run.csv",
        ["query,doc,score"],
        lambda i: f'q1,"d{i}",{i}' if i % 3 else f"q1,d{i},{i}",
        ["q1,x", 'q1,"x"y,1', "q1,,1", "q1,x,high"],
    ),
    "json lines": (
        "run.jsonl",
        [],
        lambda i: json.dumps({"query": "q1", "doc": f"d{i}é", "score": i}),
        ['{"query":', "[]", '{"query":"q1","doc":"x"}', '{"query":"q1","doc":"x","score":NaN}'],
    ),
}


@pytest.mark.parametrize("size", [16, 64, 1 << 20], ids=lambda size: f"chunks of {size}")
@pytest.mark.parametrize(("name", "header", "good", "bad"), MIXED.values(), ids=MIXED)
def test_every_malformed_line_is_left_out_and_no_other(name, header, good, bad, size, monkeypatch):
    from rankeval_cli.readers import ReadOptions, open_table

    rng = random.Random(5)
    lines, wrong, docs = list(header), [], []
    for i in range(300):
        if i > 5 and rng.random() < 0.1:  # the first lines decide the layout
            lines.append(rng.choice(bad))
            wrong.append(len(lines))
        lines.append(good(i))
        docs.append(f"d{i}é" if name.endswith("jsonl") else f"d{i}")
    Path(name).write_text("\n".join(lines) + "\n")
    monkeypatch.setattr("rankeval_cli.readers.source.CHUNK_BYTES", size)
    monkeypatch.setattr("rankeval_cli.readers.problems.SHOWN_PROBLEMS", 1000)
    problems = Problems()
    table = open_table(name, "run", ReadOptions(problems=problems))
    assert pl.concat(list(table.frames()))["doc"].to_list() == docs
    found = [error.where for kind in problems.kinds.values() for error in kind.first]
    assert sorted(found) == sorted(f"{name}:{line}" for line in wrong)


def test_problems_are_counted_once_where_queries_do_not_stand_together(call, monkeypatch):
    monkeypatch.setattr("rankeval_cli.readers.source.CHUNK_BYTES", 16)
    Path("run.txt").write_text("q1 Q0 a 1 3 t\nq2 Q0 c 1 1 t\nq1 Q0 b 2 x t\nq1 Q0 e 2 1 t\nq2 Q0 f 1 0 t\n")
    code, found = call("run.txt qrels.txt")
    assert (code, found["errors"]) == (2, 1)
    assert found["files"][0]["rows"] == 4


def test_other_layouts_stop_at_their_first_problem_and_say_so(call, capfd):
    frame = pl.DataFrame({"query": ["q1", "q1", None], "doc": ["a", None, "c"], "score": [1.0, 2.0, 3.0]})
    frame.write_parquet("run.parquet")
    code, found = call("run.parquet qrels.txt")
    assert (code, found["errors"], found["files"][0]["is_whole"]) == (2, 1, False)
    assert found["files"][0]["coverage"] is None
    assert program(["check", "run.parquet", "qrels.txt", "-f", "table"]) == 2
    assert "run.parquet was read no further: there may be more problems behind this one" in capfd.readouterr().out


def test_duplicates_are_collected_with_the_place_of_the_first(call):
    Path("run.txt").write_text(RUN + "q3 Q0 x 1 9 t\nq3 Q0 x 1 8 t\nq2 Q0 c 2 0.5 t\n")
    Path("qrels.txt").write_text(QRELS + "q3 0 y 1\n")
    code, found = call("run.txt qrels.txt")
    assert code == 2
    assert sorted(places(found)) == [
        ("run.txt", "document `x` is more than once in query `q3`"),
        ("run.txt:3, run.txt:6", "document `c` is more than once in query `q2`"),
    ]
    assert found["files"][0]["coverage"]["duplicates"] == 2
    code, found = call("run.txt qrels.txt --duplicates best")
    assert (code, found["errors"]) == (0, 0)
    assert "2 repeated documents left out (--duplicates best)" in dict(places(found, "warning")).values()


def test_duplicates_in_csv_are_found_beside_malformed_rows(call):
    Path("run.csv").write_text('query,doc,score\nq1,a,1\nq1,bad\nq1,"a",2\nq2,c,1\n')
    assert set(places(call("run.csv qrels.txt")[1])) == {
        ("run.csv:3", "2 fields where the header has 3"),
        ("run.csv:2, run.csv:4", "document `a` is more than once in query `q1`"),
    }


def test_judgments_that_disagree_are_collected(call):
    Path("qrels.txt").write_text(QRELS + "q1 0 a 2\nq2 0 c 0\nq1 0 b 0\n")
    code, found = call("run.txt qrels.txt")
    assert code == 2
    assert places(found) == [
        ("qrels.txt:1, qrels.txt:4", "document `a` of query `q1` is judged with different grades `1` and `2`"),
        ("qrels.txt", "document `c` of query `q2` is judged with different grades `1` and `0`"),
    ]
    assert places(found, "warning") == [("qrels.txt", "3 repeated judgments: each pair counts once")]
    assert call("run.txt qrels.txt --qrels-duplicates max")[0] == 0


SUSPICIOUS = {
    "equal scores": ("q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\nq2 Q0 c 1 1 t\n", QRELS, "all scores are equal in 1 query"),
    "ranks against scores": ("q1 Q0 a 2 3 t\nq1 Q0 b 1 2 t\nq2 Q0 c 1 1 t\n", QRELS, "ranks disagree with scores"),
    "the query itself": ("q1 Q0 q1 1 3 t\nq1 Q0 a 2 2 t\nq2 Q0 c 1 1 t\n", QRELS, "is the query itself"),
    "leading zeros": ("q1 Q0 007 1 3 t\nq2 Q0 c 1 1 t\n", "q1 0 7 1\nq2 0 c 1\n", "`007` for `7`"),
    "case of documents": ("q1 Q0 DOC1 1 3 t\nq2 Q0 c 1 1 t\n", "q1 0 doc1 1\nq2 0 c 1\n", "`DOC1` for `doc1`"),
    "case of queries": ("Q1 Q0 a 1 3 t\nq2 Q0 c 1 1 t\n", QRELS, "`Q1` here, `q1` in the judgments"),
    "missing queries": ("q1 Q0 a 1 3 t\n", QRELS, "1 of 2 judged queries (q2) has no results here"),
    "queries not judged": (RUN + "q9 Q0 a 1 3 t\n", QRELS, "1 query of the run not judged"),
    "nothing relevant": (RUN, "q1 0 a 1\nq2 0 c 0\n", "1 query judged with nothing relevant"),
    "comments that could be data": (RUN + "#q1 Q0 z 3 1 t\n", QRELS, "left out as comments"),
}


@pytest.mark.parametrize(("run", "qrels", "words"), SUSPICIOUS.values(), ids=SUSPICIOUS)
def test_what_is_suspicious_is_a_warning(call, run, qrels, words):
    Path("run.txt").write_text(run)
    Path("qrels.txt").write_text(qrels)
    code, found = call("run.txt qrels.txt")
    assert (code, found["errors"]) == (0, 0)
    assert any(words in what for _, what in places(found, "warning"))
    assert call("run.txt qrels.txt --strict")[0] == 2


UNREADABLE = {
    "absent run": ("absent.txt qrels.txt", "absent.txt", "no such file"),
    "absent judgments": ("run.txt absent.txt", "absent.txt", "no such file"),
    "swapped": ("qrels.txt run.txt", "run.txt", "run and judgments are swapped"),
    "empty run": ("empty.txt qrels.txt", "empty.txt", "is empty: no results"),
    "empty judgments": ("run.txt empty.txt", "empty.txt", "is empty: no judgments"),
    "no layout": ("odd.txt qrels.txt", "odd.txt:1", "which fits no layout of a run"),
    "truncated archive": ("cut.txt.gz qrels.txt", "cut.txt.gz", "is truncated"),
    "no query in common": ("other.txt qrels.txt", "other.txt", "no query in common with the judgments"),
    "no column": ("bad.csv qrels.txt", "bad.csv", "no column for the document"),
}


@pytest.mark.parametrize(("line", "where", "words"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_used_is_an_error_beside_the_others(call, line, where, words):
    Path("empty.txt").write_text("")
    Path("odd.txt").write_text("one two three four five six seven\n")
    Path("cut.txt.gz").write_bytes(gzip.compress((RUN * 50).encode())[:-20])
    Path("other.txt").write_text("z1 Q0 a 1 1 t\n")
    Path("bad.csv").write_text("query,score\nq1,1\n")
    code, found = call(line)
    assert code == 2
    assert any(place == where and words in what for place, what in places(found)), found["problems"]
    assert len(found["files"]) == 2


def test_several_runs_are_all_checked(call):
    Path("bad.txt").write_text("q1 Q0 a 1 x t\nq2 Q0 c 1 1 t\n")
    code, found = call("bad.txt absent.txt run.txt qrels.txt")
    assert code == 2
    assert [where for where, _ in places(found)] == ["bad.txt:1", "absent.txt"]
    assert [file["is_whole"] for file in found["files"]] == [True, False, True, True]


def test_a_labelled_table_is_checked_alone(call):
    Path("table.csv").write_text("query,score,label\nq1,1,1\nq1,0.5,0\nq2,1,0\n")
    code, found = call("table.csv")
    assert (code, found["errors"]) == (0, 0)
    (file,) = found["files"]
    assert (file["role"], file["rows"], file["queries"]) == ("labelled table", 3, 2)
    assert any("nothing relevant" in what for _, what in places(found, "warning"))
    Path("table.csv").write_text("query,score,label\nq1,1,1\nq1,x,0\n")
    assert places(call("table.csv")[1]) == [("table.csv:3", "score `x` is not a number")]


def test_tables_and_rows_show_the_same(capfd):
    Path("run.txt").write_text(RUN + "q1 Q0 c 9 x\x1b[31m t\n")
    assert program(["check", "run.txt", "qrels.txt", "-f", "table"]) == 2
    assert capfd.readouterr().out == (
        "run.txt: run, trec, 3 rows, tag t\n"
        "  2 judged queries: 2 answered, 0 missing, 0 with nothing relevant; 0 unjudged in the run; judged@10 100.0%, "
        "0 tied at rank 10; 0 duplicates, 0 self-hits\n"
        "error: run.txt:4: score `x\\x1b[31m` is not a number\n"
        "hint: columns are query, Q0, document, rank, score, tag\n"
        "\n"
        "qrels.txt: judgments, trec, 3 rows, 2 queries\n"
        "\n"
        "1 error, 0 warnings\n"
    )
    program(["check", "run.txt", "qrels.txt"])
    assert capfd.readouterr().out.splitlines() == [
        "severity\tfile\twhere\twhat\thint\ttotal",
        "found\trun.txt\trun.txt\trun, trec, 3 rows, tag t\t\t",
        "found\tqrels.txt\tqrels.txt\tjudgments, trec, 3 rows, 2 queries\t\t",
        "error\trun.txt\trun.txt:4\tscore `x\\\\x1b[31m` is not a number\t"
        "columns are query, Q0, document, rank, score, tag\t1",
    ]


def test_usage_is_checked_first(capfd):
    assert program(["check"]) == 2
    assert "a run and the judgments are missing" in capfd.readouterr().err
    assert program(["check", "run.txt", "qrels.txt", "-m", "mrr"]) == 2
    assert "-m" in capfd.readouterr().err
    assert program(["check", "run.txt", "qrels.txt", "--columns", "query=nothing"]) == 2
    assert "no input has a column `nothing`" in capfd.readouterr().err


def test_collected_problems_are_grouped_by_what_differs_not():
    from rankeval_cli.errors import InputError

    problems = Problems()
    for text in ("score `a` is not a number", "score `b` is not a number", "4 fields where 6 are expected"):
        leave_out(InputError(text), problems)
    assert [kind.total for kind in problems.kinds.values()] == [2, 1]
    with problems.closed():
        problems.add(InputError("score `c` is not a number"))
    assert [kind.total for kind in problems.kinds.values()] == [2, 1]
    with pytest.raises(InputError, match="score `d`"):
        leave_out(InputError("score `d` is not a number"), None)


ABOUT_FILES = [
    folder
    for folder in CASES
    if (folder / "case.json").read_text(encoding="utf-8").count("python ") == 0 and "126-gate" not in folder.name
]


@pytest.mark.parametrize("folder", ABOUT_FILES, ids=lambda folder: folder.name)
def test_errors_are_those_of_an_evaluation(folder, capfd, monkeypatch):
    """Where an evaluation stops with exit 2 the check does too, for the same reason; else it finds no error."""
    case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    monkeypatch.chdir(folder)
    words = shlex.split(case["command"])[1:]
    for option in ("-m", "--fail-under"):
        while option in words:
            place = words.index(option)
            del words[place : place + 2]
    code = program(["check", *words])
    out = capfd.readouterr().out
    expected = [case["expect"], *case["expect"].get("accept_any", [])]
    assert code in {2 if outcome["exit"] == 2 else 0 for outcome in expected}, out
    if code == 2:
        assert [] in [list(unmentioned(out, outcome.get("error_mentions", []))) for outcome in expected]
