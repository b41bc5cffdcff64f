"""The Spark engine against the local one, for real: Spark runs in this process, with two workers."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import ROOT
from made import collection, write_trec

import rankeval_cli
from rankeval_cli.cli import run as program_of
from rankeval_cli.errors import RankevalError

pytest.importorskip("pyspark", reason="PySpark is not installed: `make spark` installs it")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("there is no Java, which Spark needs", allow_module_level=True)

from rankeval_cli.engines.spark import evaluate
from rankeval_cli.engines.spark.session import LOGGING, Settings, start

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]
SAMPLE = ROOT / "sample_data"
SPLIT_BYTES = 40_000
MEASURES = ["mrr@10", "ndcg(gain=exp)@10", "map", "err@5", "P(rel=2)@5"]
BROADCAST, JOINED = None, 10  # what `broadcast_rows` leads to: no collection here has so few judgments
MODES = pytest.mark.parametrize("rows", [BROADCAST, JOINED], ids=["broadcast", "joined"])


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[Any]:
    """The one session: several partitions, small splits of files, and nothing that pays on more data alone."""
    conf = {
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.files.maxPartitionBytes": str(SPLIT_BYTES),
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile={LOGGING.as_uri()}",
    }
    found = start(Settings("local[2]", conf))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A run in parts and judgments, in TREC's layout."""
    return write_trec(collection(7), tmp_path_factory.mktemp("made"))


def both(run: Any, qrels: Any, rows: int | None, measures: list[str], **options: Any) -> tuple[Any, Any]:
    """What Spark finds, and what the local engine does."""
    found = evaluate(run, qrels, measures, broadcast_rows=rows, **options)
    return found.to_dict(per_query=True), rankeval_cli.evaluate(run, qrels, measures, **options).to_dict(per_query=True)


@pytest.mark.parametrize(
    ("layout", "rows"),
    [("txt", BROADCAST), ("txt", JOINED), ("txt.gz", BROADCAST), ("csv", BROADCAST), ("parquet", JOINED)],
    ids=["text", "text, joined", "gzip", "csv", "parquet, joined"],
)
def test_every_layout_gives_the_report_of_the_local_engine(layout: str, rows: int | None) -> None:
    run, qrels = str(SAMPLE / f"pixels.{layout}"), str(SAMPLE / f"qrels.{layout.removesuffix('.gz')}")
    found, expected = both(run, qrels, rows, MEASURES)
    assert found == expected


def test_files_of_other_layouts(tmp_path: Path) -> None:
    made = collection(8)
    folder = tmp_path / "csv"
    folder.mkdir()
    parts = (made.run[:100], made.run[:0], made.run[:0], made.run[100:])  # Spark writes empty ones
    for part, rows in enumerate(parts):
        rows.select("score", "doc", "query").write_csv(folder / f"part-{part}.csv")
    made.qrels.write_ndjson(tmp_path / "qrels.jsonl")
    found, expected = both(str(folder), str(tmp_path / "qrels.jsonl"), BROADCAST, MEASURES)
    assert found == expected


def test_ranks_of_three_columns(tmp_path: Path) -> None:
    run = collection(8).run.sort("query", "rank").select("query", "doc", "rank")
    run.write_csv(tmp_path / "run.tsv", include_header=False, separator="\t")
    collection(8).qrels.select("query", "doc").write_csv(tmp_path / "qrels.tsv", include_header=False, separator="\t")
    paths = str(tmp_path / "run.tsv"), str(tmp_path / "qrels.tsv")
    found, expected = both(*paths, BROADCAST, MEASURES)
    assert found == expected
    assert found["runs"][0]["format"] == "msmarco-rank"


def test_ranks_that_break_off_in_a_later_split(tmp_path: Path) -> None:
    lines = [f"q{query}\td{rank}\t{rank}\n" for query in range(500) for rank in range(1, 21)]
    run, qrels = tmp_path / "run.tsv", tmp_path / "qrels.tsv"
    run.write_text("".join(lines))
    qrels.write_text("q1\td2\n")
    assert run.stat().st_size > 2 * SPLIT_BYTES
    assert evaluate(str(run), str(qrels), "mrr")["mrr"] == 0.5
    run.write_text("".join([*lines[:-1], "q499\td20\t21\n"]))
    with pytest.raises(RankevalError, match="ranks of query `q499` do not rise by one from 1, though") as raised:
        evaluate(str(run), str(qrels), "mrr")
    assert raised.value.hint is not None
    assert "--run-format msmarco-score" in raised.value.hint


def test_ids_in_folder_names_stay_text(tmp_path: Path) -> None:
    made = collection(8)
    for query in ("007", "q5", "q6"):
        folder = tmp_path / "run" / f"query={query}"
        folder.mkdir(parents=True)
        made.run.filter(pl.col("query") == query).drop("query").write_parquet(folder / "part.parquet")
    made.qrels.write_parquet(tmp_path / "qrels.parquet")
    qrels = str(tmp_path / "qrels.parquet")
    found, expected = both(str(tmp_path / "run" / "*" / "*.parquet"), qrels, BROADCAST, MEASURES)
    assert found == expected
    assert found["runs"][0]["coverage"]["answered"] == 3
    assert (
        evaluate(str(tmp_path / "run"), qrels, MEASURES).to_dict(True)["runs"][0]["measures"]
        == (expected["runs"][0]["measures"])
    )


# What happens to rows and queries is tested without Spark in test_spark_partitions.py; here, what goes through it.
RULES: dict[str, tuple[int | None, dict[str, Any]]] = {
    "missing skip, expected ties, joined": (JOINED, {"missing": "skip", "ties": "expected"}),
    "ties in file order": (BROADCAST, {"ties": "file", "score_precision": "single"}),
    "file order, depth, judged only, joined": (JOINED, {"order": "file", "depth": 9, "judged_only": True}),
    "random ties": (BROADCAST, {"ties": "random", "no_relevant": "nan", "relevance_level": 3, "seed": 5}),
    "by rank, negative dropped, joined": (JOINED, {"order": "rank", "negative": "drop", "exclude_self": True}),
    "tie report": (BROADCAST, {"tie_report": True, "weights": {f"q{i}": i for i in range(24)} | {"007": 1, "ü": 2}}),
    "preset": (BROADCAST, {"preset": "ranx"}),
}


@pytest.mark.parametrize(("rows", "rules"), RULES.values(), ids=RULES)
def test_rules_give_the_report_of_the_local_engine(
    rules: dict[str, Any], rows: int | None, files: tuple[str, str]
) -> None:
    found, expected = both(*files, rows, ["mrr@5", "map"], **rules)
    assert found == expected


@MODES
@pytest.mark.parametrize("rule", ["first", "best"])
def test_repeated_rows(rule: str, rows: int | None, tmp_path: Path) -> None:
    made = collection(9, repeats=30)
    again = made.qrels.head(20).with_columns(pl.col("grade") + 0.3)
    made = made._replace(qrels=pl.concat([made.qrels, again, again.with_columns(pl.col("grade") / 3)]))
    rules = {"duplicates": rule, "qrels_duplicates": {"first": "first", "best": "mean"}[rule]}
    found, expected = both(*write_trec(made, tmp_path), rows, ["map", "ndcg"], **rules)
    assert found == expected
    assert found["runs"][0]["coverage"]["duplicates"] > 10


def test_exclusion_and_comments(tmp_path: Path, files: tuple[str, str]) -> None:
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("q1\tD3\nq1\tD4\nq2\tD5\n")
    run = tmp_path / "run.txt"
    parts = sorted(Path(files[0]).iterdir(), key=lambda part: len(part.name))
    text = "".join(part.read_text(encoding="utf-8") for part in parts)
    run.write_text(f"# made\n\n{text}# q1 Q0 D39 40 0.0 made\nq1  Q0\tD38 41 -inf made\r\n", encoding="utf-8")
    found, expected = both(str(run), files[1], BROADCAST, MEASURES, exclude=str(pairs), duplicates="best")
    assert found == expected
    assert any("comments" in warning for warning in found["warnings"])
    assert any("infinite" in warning for warning in found["warnings"])


def test_data_frames(session: Any) -> None:
    made = collection(10)
    numbers = {query: i for i, query in enumerate(made.run["query"].unique().sort().to_list())}
    run = made.run.with_columns(pl.col("query").replace_strict(numbers).alias("topic"))
    qrels = made.qrels.filter(pl.col("query").is_in(list(numbers)))
    qrels = qrels.with_columns(pl.col("query").replace_strict(numbers).cast(pl.String))
    run_df = session.createDataFrame(run.select("topic", "doc", text="doc", s="score").to_arrow())
    found = evaluate(run_df, session.createDataFrame(qrels.to_arrow()), MEASURES, columns={"score": "s"})
    expected = rankeval_cli.evaluate(run.drop("query", "rank"), qrels, MEASURES)
    assert found.per_query.equals(expected.per_query)
    assert found.digest == expected.digest
    assert found.warnings == expected.warnings


def test_one_row_a_query(session: Any) -> None:
    made = collection(10)
    lists = made.run.group_by("query", maintain_order=True).agg("doc", "score")
    judged = made.qrels.group_by("query", maintain_order=True).agg("doc", "grade")
    frames = session.createDataFrame(lists.to_arrow()), session.createDataFrame(judged.to_arrow())
    for rows in (BROADCAST, JOINED):
        found = evaluate(*frames, MEASURES, broadcast_rows=rows)
        assert found.per_query.equals(rankeval_cli.evaluate(lists, judged, MEASURES).per_query)


@pytest.mark.parametrize(
    ("rules", "named"),
    [({"ties": "file"}, "--ties file"), ({"duplicates": "first"}, "--duplicates first")],
    ids=["ties", "duplicates"],
)
def test_a_data_frame_has_no_order(session: Any, rules: dict[str, Any], named: str) -> None:
    made = collection(10)
    frames = session.createDataFrame(made.run.to_arrow()), session.createDataFrame(made.qrels.to_arrow())
    with pytest.raises(RankevalError, match=f"^{named} needs rows in an order"):
        evaluate(*frames, MEASURES, **rules)


# Lines of a run and of judgments, and options: the errors are those of the local engine, less the numbers of lines.
WRONG = {
    "no number": ("q1 Q0 d1 1 n/a t\n", "q1 0 d1 1\n", []),
    "not a number": ("q1 Q0 d1 1 nan t\n", "q1 0 d1 1\n", []),
    "too few fields": ("q1 Q0 d1 1 0.5 t\nq1 Q0 d2\n", "q1 0 d1 1\n", []),
    "document twice": ("q1 Q0 d1 1 0.5 t\nq1 Q0 d1 2 0.4 t\n", "q1 0 d1 1\n", []),
    "judged twice": ("q1 Q0 d1 1 0.5 t\n", "q1 0 d1 1\nq1 0 d1 2\n", []),
    "negative": ("q1 Q0 d1 1 0.5 t\n", "q1 0 d1 -1\n", ["--negative", "error"]),
    "all negative": ("q1 Q0 d1 1 0.5 t\n", "q1 0 d1 -1\n", ["--negative", "drop"]),
    "nothing relevant": ("q1 Q0 d1 1 0.5 t\n", "q1 0 d1 0\n", ["--no-relevant", "error"]),
    "query missing": ("q1 Q0 d1 1 0.5 t\n", "q1 0 d1 1\nq2 0 d1 1\n", ["--missing", "error"]),
    "nothing in common": ("q1 Q0 d1 1 0.5 t\n", "q2 0 d1 1\n", []),
    "swapped": ("q1 0 d1 1\n", "q1 Q0 d1 1 0.5 t\n", []),
    "empty": ("", "q1 0 d1 1\n", []),
    "column of no file": ("q1 Q0 d1 1 0.5 t\n", "q1 0 d1 1\n", ["--columns", "score=s"]),
}


@pytest.mark.parametrize(("run", "qrels", "options"), WRONG.values(), ids=WRONG)
def test_errors_are_those_of_the_local_engine(
    run: str, qrels: str, options: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.txt").write_text(run)
    (tmp_path / "qrels.txt").write_text(qrels)
    words = [str(tmp_path / "run.txt"), str(tmp_path / "qrels.txt"), "-m", "map", *options]
    expected, found = [(program_of([*words, *engine]), *capfd.readouterr()) for engine in ([], ["--engine", "spark"])]
    assert found[:2] == expected[:2] == (2, "")
    assert re.sub(r", in the line `.*`", "", found[2]) == re.sub(r"(\.txt):\d+(, \S+:\d+)?", r"\1", expected[2])


def test_a_malformed_line_is_shown(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query,doc,score\nq1,d1,0.5\nq1,d2\n")
    (tmp_path / "qrels.csv").write_text("query,doc,grade\nq1,d1,1\n")
    with pytest.raises(RankevalError) as raised:
        evaluate(str(tmp_path / "run.csv"), str(tmp_path / "qrels.csv"), "map")
    assert raised.value.what == "2 fields where the header has 3, in the line `q1,d2`"
    assert raised.value.where == str(tmp_path / "run.csv")


REFUSED = {
    "labelled table": (["run.parquet"], "scores runs against judgments, not a labelled table"),
    "standard input": (["-", "qrels.txt"], "Spark cannot read standard input"),
    "groups in a column": (["run.txt", "qrels.txt", "--groups", "kind"], "does not read groups from the column `kind`"),
    "no such file": (["absent/run.txt", "qrels.txt"], "absent/run.txt: no such file"),
    "no such scheme": (["nofs://x/run.txt", "qrels.txt"], "nofs://x/run.txt: Spark cannot read `nofs`"),
    "json": (["run.json", "qrels.txt"], "run.json: the Spark engine does not read the format `json`"),
    "gzip under another name": (["run.bin", "qrels.txt"], "run.bin: is gzip under a name that does not say so"),
    "folder that is there": (["run.txt", "qrels.txt", "-o", "there/"], "there/: exists already"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_what_spark_cannot_do_is_said(
    words: list[str],
    message: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    shutil.copy(SAMPLE / "pixels.txt.gz", "run.bin")
    shutil.copy(SAMPLE / "pixels.txt", "run.txt")
    shutil.copy(SAMPLE / "qrels.txt", "qrels.txt")
    (tmp_path / "run.json").write_text('{"q01": {"img0001": 1.0}}')
    here = [f"file://{tmp_path}/{word}" if (tmp_path / word).exists() else word for word in words]
    assert program_of([*here, "-m", "map", "--engine", "spark"]) == 2
    out, err = capfd.readouterr()
    assert (out, message in err) == ("", True), err
    assert "Traceback" not in err
    assert "java" not in err


def test_comparisons_gates_and_folders_of_scores(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], session: Any
) -> None:
    words = [*(str(SAMPLE / name) for name in ("pixels.txt", "projection.txt", "qrels.txt")), "-m", "P(rel=2)@5", "map"]
    words += ["-f", "json", "-q"]
    expected = program_of(["compare", *words]), json.loads(capfd.readouterr().out)
    folder = f"{tmp_path}/scores/"
    found = program_of(["compare", *words, "--engine", "spark", "-o", folder]), json.loads(capfd.readouterr().out)
    assert found == expected
    rows = pl.DataFrame(pl.from_arrow(session.read.parquet(folder).toArrow()))
    per_query = found[1]["runs"][0]["per_query"]
    assert rows.columns == ["run", "query", "P(rel=2)@5", "map"]
    assert rows.filter(pl.col("run") == "pixels.txt").select("query", "map").rows() == [
        (query, values["map"]) for query, values in per_query.items()
    ]


def test_the_program_starts_spark_quietly(program: str, tmp_path: Path) -> None:
    words = [program, "pixels.txt", "qrels.txt", "-m", "ndcg@10", "map", "-f", "json"]
    spark = ["--engine", "spark", "--master", "local[1]", "--spark-conf", "spark.sql.shuffle.partitions=2"]
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_GATEWAY_PORT"}
    expected, found = [
        subprocess.run([*words, *engine], cwd=SAMPLE, env=environment, capture_output=True, text=True)
        for engine in ([], spark)
    ]
    assert (found.returncode, found.stdout, found.stderr) == (0, expected.stdout, expected.stderr)
