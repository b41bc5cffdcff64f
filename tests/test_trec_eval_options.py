"""The options of the drop-in trec_eval: every one of them, in every spelling that GNU getopt takes."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from dropin import RUN, DropIn

from rankeval_cli.trec_eval.options import NO_LIMIT, OPTIONS, Options, Refusal, parse

FILES = ("qrels", "run")


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        ("-h", "wants_help", True),
        ("--help", "wants_help", True),
        ("-v", "wants_version", True),
        ("--ver", "wants_version", True),
        ("-q", "per_query", True),
        ("--query_eval_wanted", "per_query", True),
        ("--q", "per_query", True),
        ("-mP.5", "measures", ("P.5",)),
        ("-m P.5 --measure=map --meas recall", "measures", ("P.5", "map", "recall")),
        ("-c", "complete", True),
        ("--comp", "complete", True),
        ("-l2", "level", 2),
        ("-l 2", "level", 2),
        ("-l -1", "level", -1),
        ("--level_for_rel=2", "level", 2),
        ("-n", "summary", False),
        ("--nosummary", "summary", False),
        ("-M10", "depth", 10),
        ("--Max 10", "depth", 10),
        ("-M 0", "depth", 0),
        ("-J", "judged_only", True),
        ("--J", "judged_only", True),
        ("-N 500", "num_docs", 500),
        ("--Number_docs_in_coll 500", "num_docs", 500),
        ("-R qrels_jg", "rel_format", "qrels_jg"),
        ("--Rel=prefs", "rel_format", "prefs"),
        ("-T trec_results", "results_format", "trec_results"),
        ("--Res trec_results", "results_format", "trec_results"),
        ("-Z file", "zscores", "file"),
        ("--Zscore file", "zscores", "file"),
        ("-D 2", "debug_level", 2),
        ("-D 1.q1.b", "debug_query", "q1.b"),
        ("-D0.q1", "debug_query", "q1"),
        ("--Debug_level 1.7", "debug_query", "7"),
        ("--as 9", "release", 9),
        ("--as=10", "release", 10),
        ("--strict", "is_strict", True),
        ("-l 1 -l 3", "level", 3),
    ],
)  # fmt: skip
def test_one_option(words: str, field: str, value: object) -> None:
    given = parse([*words.split(), *FILES])
    assert getattr(given, field) == value
    assert given.paths == FILES
    others = [name for name in Options.__dataclass_fields__ if name not in (field, "notes", "debug_level", "is_strict")]
    assert all(getattr(given, name) == getattr(parse(FILES), name) for name in others)


@pytest.mark.parametrize(
    "words",
    [
        "-qc -l2 -m P.5 qrels run",
        "-qcl2 -mP.5 qrels run",
        "-c -q qrels -l 2 run -m P.5",
        "qrels run -qcmP.5 -l2",
        "-q --comp --level 2 --m=P.5 -- qrels run",
        "-o --Output_old_results_format x -q -c -l2 -mP.5 qrels run",
    ],
)
def test_options_stand_anywhere_and_may_be_joined(words: str) -> None:
    assert parse(words.split()) == Options(FILES, ("P.5",), per_query=True, complete=True, level=2)


def test_without_options_defaults_hold() -> None:
    assert parse(FILES) == Options(FILES, level=1, depth=NO_LIMIT, num_docs=0, rel_format="qrels", release=10)


def test_words_behind_two_dashes_are_files() -> None:
    assert parse(["-q", "--", "-c", "-"]).paths == ("-c", "-")


@pytest.mark.parametrize(
    "words", ["-W", "-U", "--bogus", "--Re qrels", "-m", "--measure", "--help=yes", "--as 8", "--as", "-M -3", "--HELP"]
)
def test_wrong_options_have_status_1(words: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse(words.split())
    assert refused.value.code == 1
    assert "rankeval trec-eval -h" in (refused.value.hint or "")


@pytest.mark.parametrize(("words", "field", "value"), [
    ("-l abc", "level", 0),
    ("-l 1.9", "level", 1),
    ("-M 12x", "depth", 12),
    ("-N 1e6", "num_docs", 1),
    ("-D x.q1", "debug_level", 0),
])  # fmt: skip
def test_numbers_are_read_leniently_and_told(words: str, field: str, value: int) -> None:
    given = parse(words.split())
    assert getattr(given, field) == value
    (warning,) = given.notes.warnings()
    assert warning.startswith(words[:2])


@pytest.mark.parametrize("files", [[], ["qrels"], ["a", "b", "c"], ["-", "-"]], ids=len)
def test_other_than_two_files_have_status_1(files: list[str], drop_in: DropIn) -> None:
    said = drop_in(*files)
    assert (said.code, said.out) == (1, "")
    assert "rankeval trec-eval [OPTIONS] QRELS RUN" in said.err


@pytest.mark.parametrize("words", ["-T other", "-R qrel", "-R all"])
def test_unknown_formats_have_status_2(words: str, drop_in: DropIn) -> None:
    said = drop_in.on_files(*words.split())
    assert (said.code, said.out) == (2, "")
    assert "is no format" in said.err


def test_help_names_every_option_and_measure(drop_in: DropIn) -> None:
    from rankeval_cli.trec_eval.selection import names

    said = drop_in("-h")
    assert (said.code, said.err) == (0, "")
    assert all(f"--{option.long}" in said.out for option in OPTIONS if option.long)
    assert all(f"\n  {stem} " in said.out for stem in names())


def test_help_explains_measures_that_are_named(drop_in: DropIn) -> None:
    plain, named = drop_in("-h").out, drop_in("-h", "-m", "bpref", "-m", "relstring").out
    more = named.removeprefix(plain)
    assert "binary_preference" not in more
    assert "bpref: Binary preference" in more
    assert "relstring: grades" in more
    assert "QRELS are qrels: " in more


def test_version_goes_to_standard_error(drop_in: DropIn) -> None:
    for release, name in (("9", "9.0.8"), ("10", "10.0")):
        said = drop_in("--as", release, "-v", "no", "such", "files")
        assert (said.code, said.out) == (0, "")
        assert said.err.endswith(f"trec_eval version {name}\n")


@pytest.mark.parametrize(("words", "queries"), [
    ("-m map", {"all"}),
    ("-q -m map", {"q1", "q2", "all"}),
    ("-qn -m map", {"q1", "q2"}),
    ("-n -m map", set()),
    ("-qc -m map", {"q1", "q2", "q3", "all"}),
    ("-qD 0.q2 -m map", {"q2", "all"}),
    ("-qcD 0.q3 -m map", {"q3", "all"}),
])  # fmt: skip
def test_which_queries_are_printed(words: str, queries: set[str], drop_in: DropIn) -> None:
    said = drop_in.on_files(*words.split())
    assert {query for _, query in said.values} == queries
    assert said.code == 0


@pytest.mark.parametrize(("words", "name", "value"), [
    ("", "num_q", "2"),
    ("-c", "num_q", "3"),
    ("-c", "num_rel", "6"),
    ("-c -l 2", "num_rel", "2"),  # the reference ignores -l in this summary
    ("-c", "map", "0.3611"),
    ("-l 2", "num_rel_ret", "2"),
    ("-l 0", "num_rel", "8"),
    ("-l -1", "num_rel_ret", "8"),  # not judged is -1 here, judged negative is below
    ("-l -2", "num_rel_ret", "9"),
    ("-M 2", "num_ret", "4"),
    ("-M 0", "num_ret", "0"),
    ("-M 0 -m all_trec", "11pt_avg", "0.0000"),
    ("-J", "num_ret", "7"),
    ("-J -M 3", "num_ret", "5"),  # cut first
    ("-J -c -m all_trec", "iprec_at_recall_0.00", "0.5556"),
    ("-N 50 -m utility.0,0,0,1", "utility_0,0,0,1", "45.0000"),
    ("-D 0.q2", "num_q", "1"),
    ("-c -D 0.q2", "num_rel", "2"),
    ("-o", "runid", "last"),
])  # fmt: skip
def test_what_options_do_to_the_summary(words: str, name: str, value: str, drop_in: DropIn) -> None:
    assert drop_in.on_files(*words.split()).values[name, "all"] == value


def test_relstring_is_cut_as_the_ranking_is(drop_in: DropIn) -> None:
    rows = {"": "'20-1.0'", "-J": "'2010'", "-M 3": "'20-'", "-M 3 -J": "'20'"}
    for words, expected in rows.items():
        said = drop_in.on_files("-q", "-m", "relstring", *words.split())
        assert said.values["relstring", "q1"] == expected


def test_a_query_that_is_not_judged_has_status_7(drop_in: DropIn) -> None:
    said = drop_in.on_files("-D", "0.q9")
    assert (said.code, said.out) == (7, "")
    assert "`q9`" in said.err


def test_debug_lines_tell_what_was_read(drop_in: DropIn) -> None:
    loud, quiet = drop_in.on_files("-D", "1"), drop_in.on_files("-D", "0")
    assert loud.out == quiet.out
    assert "10 judgments of 3 queries" in loud.err
    assert "10 results, for 2 of these queries; queries not judged: 1" in loud.err
    assert "debug:" not in quiet.err


def test_left_out_queries_are_told(drop_in: DropIn) -> None:
    assert "left out, 1 of 3 judged queries that has no results" in drop_in.on_files().err
    assert drop_in.on_files("-c").err == ""


def test_run_from_standard_input(drop_in: DropIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    assert drop_in(drop_in.qrels, "-").out == drop_in.on_files().out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell with pipes")
def test_installed_program_in_a_pipe(drop_in: DropIn, program: str, tmp_path: Path) -> None:
    expected = drop_in.on_files("-q", "-m", "map", "-m", "P.5,10").out
    command = f"'{program}' trec-eval qrels.txt -qm map - -mP.5,10 < run.txt 2>/dev/null | cat"
    shown = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout == expected
    status = subprocess.run([program, "trec-eval", "-W"], capture_output=True, text=True)
    assert (status.returncode, status.stdout) == (1, "")
