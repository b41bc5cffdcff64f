"""Baselines: a run, a report, which of its runs; and what may not differ between a report and a run."""

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankeval_cli import Report, evaluate
from rankeval_cli.cli import run
from rankeval_cli.errors import InputError, RankevalError, UsageError

QRELS = {f"q{n}": {"a": 2, "b": 1, "c": 0} for n in range(8)}
OLD = {f"q{n}": {"a": 3.0, "x": 2.0, "b": 1.0} if n % 3 else {"x": 3.0, "a": 2.0} for n in range(8)}
NEW = {f"q{n}": {"a": 3.0, "b": 2.0} if n % 2 else {"x": 3.0, "y": 2.0, "a": 1.0} for n in range(8)}
GATES = [
    "ndcg@10 >= baseline - 1%",
    "median(mrr@10) >= baseline",
    "share(ndcg@10 > 0.7) >= baseline",
    "diff(ndcg@10) >= 0",
    "min(diff(mrr@10)) >= -0.3",
    "ci_low(diff(ndcg@10)) >= -1",
    "no-regression(ndcg@10, 1%)",
    "non-inferior(mrr@10, 0.2)",
    "improves(ndcg@10)",
    "missing_queries <= baseline",
    "undefined <= baseline",
]
MEASURES = ["ndcg@10", "mrr@10"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, also the working one, with `qrels.json`, `old.json` and `new.json`."""
    for name, content in (("qrels", QRELS), ("old", OLD), ("new", NEW)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report_of(path: str, *words: str, source: str = "old.json") -> str:
    """Write a report with the values of queries; its path."""
    assert run([source, "qrels.json", "-m", *MEASURES, "-q", "-o", path, "--quiet", "-f", "tsv", *words]) == 0
    return path


def verdicts(baseline: Any, **options: Any) -> list[Any]:
    return [*evaluate("new.json", "qrels.json", MEASURES, gates=GATES, baseline=baseline, **options).gates]


def plain(path: str) -> Any:
    return json.loads(Path(path).read_text())


def changed(path: str, change: Callable[[Any], Any]) -> str:
    """The report with a change, in another file."""
    document = plain(path)
    change(document)
    Path("changed.json").write_text(json.dumps(document))
    return "changed.json"


# --- a report is as good as its run --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="defaults"),
        pytest.param({"aggregate": "median"}, id="median"),
        pytest.param({"ties": "random", "seed": 4}, id="random ties"),
        pytest.param({"no_relevant": "nan", "relevance_level": 2}, id="level"),
        pytest.param({"preset": "ranx"}, id="preset"),
    ],
)
def test_a_report_gives_the_verdicts_of_its_run(options: dict[str, Any], folder: Path) -> None:
    expected = verdicts("old.json", **options)
    assert {verdict.passed for verdict in expected} == {True, False}
    report = evaluate("old.json", "qrels.json", MEASURES, **options)
    Path("base.json").write_text(json.dumps(report.to_dict(per_query=True)))
    for baseline in ("base.json", Path("base.json"), report, plain("base.json")):
        assert verdicts(baseline, **options) == expected


def test_objects_are_baselines_too(folder: Path) -> None:
    found = evaluate(NEW, QRELS, MEASURES, gates=GATES, baseline=OLD)
    assert [verdict.passed for verdict in found.gates] == [verdict.passed for verdict in verdicts("old.json")]
    assert found.baseline is not None
    assert (found.baseline.name, [entry.name for entry in found.runs]) == ("baseline", ["run1"])


def test_weights_of_a_report_are_compared_by_their_values(folder: Path) -> None:
    weights = {query: n + 1.0 for n, query in enumerate(QRELS)}
    report = evaluate("old.json", "qrels.json", MEASURES, weights=weights)
    assert verdicts(report, weights=weights) == verdicts("old.json", weights=weights)
    with pytest.raises(InputError, match="has other weights: query `q3` weighs 4 there, 5 here"):
        verdicts(report, weights={**weights, "q3": 5.0})
    with pytest.raises(InputError, match=r"has other weights: query `q[1-7]` weighs [2-8] there, 1 here"):
        verdicts(report)


def test_measures_are_found_by_their_canonical_names(folder: Path) -> None:
    report = evaluate("old.json", "qrels.json", ["nDCG_cut_10", "recip_rank", "RR@10"])
    assert [verdict.passed for verdict in verdicts(report)] == [verdict.passed for verdict in verdicts("old.json")]


@pytest.mark.parametrize("where", ["compressed", "sorted keys", "standard input", "in a folder with a colon"])
def test_reports_are_known_by_their_content(where: str, folder: Path, program: str) -> None:
    path = report_of("base.json")
    data = Path(path).read_bytes()
    if where == "compressed":
        path, data = "base.gz", gzip.compress(data)
    if where == "sorted keys":
        path, data = "base.txt", json.dumps(json.loads(data), sort_keys=True).encode()
    if where == "in a folder with a colon":
        Path("a:b").mkdir()
        path = "a:b/base"
    if where != "standard input":
        Path(path).write_bytes(data)
    words = [program, "new.json", "qrels.json", "--baseline", "-" if where == "standard input" else path]
    done = subprocess.run([*words, "--gate", "improves(mrr@10)"], input=data, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"gate failed: new.json: improves(mrr@10) (diff -0.1" in done.stderr


# --- which run -----------------------------------------------------------------------------------------------------


def test_one_run_of_several_is_named_behind_a_colon(folder: Path) -> None:
    assert run(["old.json", "new.json", "qrels.json", "-m", *MEASURES, "-q", "-o", "two.json", "-f", "tsv"]) == 0
    assert verdicts("two.json:old.json") == verdicts("old.json")
    with pytest.raises(InputError, match=r"two.json: holds 2 runs: `old.json`, `new.json`") as caught:
        verdicts("two.json")
    assert caught.value.hint == "name one behind a colon: --baseline two.json:old.json"
    with pytest.raises(InputError, match=r"has no run `odl.json`; its runs are `old.json`, `new.json`") as caught:
        verdicts("two.json:odl.json")
    assert "did you mean `old.json`" in caught.value.hint
    with pytest.raises(InputError, match=r"old.json: is no report, so it has no run `x`"):
        verdicts("old.json:x")
    with pytest.raises(InputError, match="no such file"):
        verdicts("none.json:x")


def test_a_baseline_among_the_runs_is_scored_once_and_not_judged(folder: Path) -> None:
    found = evaluate(["./old.json", "new.json"], "qrels.json", MEASURES, gates=GATES, baseline="old.json")
    assert [entry.name for entry in found.runs] == ["old.json", "new.json"]
    assert {verdict.run for verdict in found.gates} == {"new.json"}
    assert [verdict.value for verdict in found.gates] == [verdict.value for verdict in verdicts("old.json")]


def test_a_run_is_not_judged_by_itself_alone(folder: Path) -> None:
    with pytest.raises(UsageError, match="the run is its own baseline"):
        evaluate("old.json", "qrels.json", MEASURES, gates="improves(map)", baseline="./old.json")


def test_a_run_that_is_no_path_is_known_again(folder: Path) -> None:
    found = evaluate([OLD, NEW], QRELS, MEASURES, gates="improves(map)", baseline=OLD)
    assert [verdict.run for verdict in found.gates] == ["run2"]


# --- what reports show ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["run", "report"])
def test_reports_name_the_baseline_with_its_values(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = "old.json" if kind == "run" else report_of("base.json")
    capsys.readouterr()
    gate = ["--gate", "improves(p@1)"] if kind == "run" else []
    run(["new.json", "qrels.json", "-m", *MEASURES, "--baseline", path, *gate, "-f", "markdown", "-o", "out.json"])
    expected = evaluate("old.json", "qrels.json", MEASURES)
    means = f"ndcg@10 {expected['ndcg@10']:.4f}, mrr@10 {expected['mrr@10']:.4f}"
    layout = "json" if kind == "run" else "report"
    assert f"- baseline: {path} ({layout}): {means}\n" in capsys.readouterr().out
    found = plain("out.json")["baseline"]
    assert (found["name"], found["format"]) == (path, layout)
    assert found["measures"] == expected.to_dict()["runs"][0]["measures"]
    assert [entry["name"] for entry in plain("out.json")["runs"]] == ["new.json"]


def test_without_a_baseline_reports_say_so(folder: Path) -> None:
    assert evaluate(NEW, QRELS, MEASURES).to_dict()["baseline"] is None


def test_warnings_of_a_baseline_are_warnings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("part.json").write_text(json.dumps({query: OLD[query] for query in ("q0", "q1")}))
    words = ["new.json", "qrels.json", "-m", "mrr@10", "--gate", "diff(mrr@10) > -1", "--baseline", "part.json"]
    assert run(words) == 0
    assert "warning: part.json: 6 of 8 judged queries (q2, q3, q4, ...) have no results here" in capsys.readouterr().err
    assert run([*words, "--strict"]) == 2
    assert run([*words, "--missing", "skip"]) == 0
    assert "(value -0.0833, bound -1.0000, distance +0.9167, 2 queries)" in capsys.readouterr().err.splitlines()[-1]


# --- what is refused -------------------------------------------------------------------------------------------------


def refused(baseline: Any, **options: Any) -> RankevalError:
    with pytest.raises(RankevalError) as caught:
        verdicts(baseline, **options)
    assert caught.value.code == 2
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("options", "what"),
    [
        pytest.param({"ties": "docid-asc"}, "ties `docid` there, `docid-asc` here", id="ties"),
        pytest.param({"ties": "random", "seed": 3}, "`random` here, seed `0` there, `3` here", id="ties and seed"),
        pytest.param({"relevance_level": 2}, "relevance-level `1.0` there, `2` here", id="level"),
        pytest.param({"depth": 5}, "depth `None` there, `5` here", id="depth"),
        pytest.param({"judged_only": True}, "judged-only `False` there, `True` here", id="judged only"),
        pytest.param({"missing": "skip"}, "missing `zero` there, `skip` here", id="missing"),
        pytest.param({"exclude_self": True}, "exclude-self `False` there, `True` here", id="exclude self"),
        pytest.param({"preset": "ranx"}, "ties `docid` there, `file` here", id="rules of a preset"),
    ],
)  # fmt: skip
def test_other_rules_are_refused(options: dict[str, Any], what: str, folder: Path) -> None:
    path = report_of("base.json")
    error = refused(path, **options)
    assert error.where == path
    assert error.what.startswith("has other rules for ndcg@10: ")
    assert what in error.what


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"ci": "bootstrap", "resamples": 50, "confidence": 0.9}, id="intervals"),
        pytest.param({"seed": 9}, id="a seed that decides nothing"),
        pytest.param({"aggregate": "median"}, id="aggregate"),
        pytest.param({"qrels_duplicates": "max"}, id="repeated judgments"),
        pytest.param({"grade_map": {"E": 3}}, id="words"),
    ],
)
def test_rules_that_cannot_change_values_may_differ(options: dict[str, Any], folder: Path) -> None:
    assert verdicts(report_of("base.json"), **options) == verdicts("old.json", **options)


def test_the_seed_counts_where_chance_breaks_ties(folder: Path) -> None:
    path = report_of("base.json", "--ties", "random")
    assert "seed `0` there, `3` here" in refused(path, ties="random", seed=3).what
    assert verdicts(path, ties="random")


def test_excluded_pairs_are_known_by_the_name_of_their_file(folder: Path) -> None:
    Path("sub").mkdir()
    for name in ("pairs.tsv", "sub/pairs.tsv", "others.tsv"):
        Path(name).write_text("q1\ta\n")
    path = report_of("base.json", "--exclude", "pairs.tsv")
    assert verdicts(path, exclude="sub/pairs.tsv") == verdicts("old.json", exclude="pairs.tsv")
    assert "exclude `pairs.tsv` there, `others.tsv` here" in refused(path, exclude="others.tsv").what
    assert "exclude `pairs.tsv` there, `None` here" in refused(path).what


def test_rules_that_a_report_does_not_know_are_those_by_default(folder: Path) -> None:
    path = changed(report_of("base.json"), lambda report: report["rules"].pop("negative"))
    assert verdicts(path) == verdicts("old.json")
    assert "negative `unjudged` there, `drop` here" in refused(path, negative="drop").what
    path = changed("base.json", lambda report: report["rules"].update(order_of_life="random"))
    assert "order-of-life `random` there, `None` here" in refused(path).what


def test_other_judgments_are_refused(folder: Path) -> None:
    path = report_of("base.json")
    Path("qrels.json").write_text(json.dumps({**QRELS, "q9": {"a": 1}}))
    error = refused(path)
    assert error.what.startswith("has other judgments: qrels.json (8 queries, 24 rows, sha256:")
    assert "there, qrels.json (9 queries, 25 rows, sha256:" in error.what


def test_the_same_judgments_in_another_layout_are_the_same(folder: Path) -> None:
    path, expected = report_of("base.json"), verdicts("old.json")
    lines = [f"{query} 0 {doc} {grade}\n" for query, docs in QRELS.items() for doc, grade in docs.items()]
    Path("qrels.txt").write_text("".join(reversed(lines)))
    found = evaluate("new.json", "qrels.txt", MEASURES, gates=GATES, baseline=path)
    assert [*found.gates] == expected


def test_a_measure_that_the_report_lacks_is_named(folder: Path) -> None:
    path = report_of("base.json")
    with pytest.raises(InputError, match=r"base.json: has no `map` \(it has ndcg@10, mrr@10\)") as caught:
        evaluate("new.json", "qrels.json", MEASURES, gates="improves(map)", baseline=path)
    assert "-m map" in caught.value.hint
    evaluate("new.json", "qrels.json", MEASURES, gates=["map >= 0", "improves(mrr@10)"], baseline=path)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        pytest.param(lambda report: report["runs"][0].pop("per_query"), "holds means alone", id="without -q"),
        pytest.param(lambda report: report.update(schema_version=2), "was written by rankeval", id="version"),
        pytest.param(lambda report: report.pop("schema_version"), "is not a whole report (KeyError", id="no version"),
        pytest.param(lambda report: report.update(runs=[]), "holds 0 runs: none", id="no run"),
        pytest.param(lambda report: report.update(runs=3), "is not a whole report", id="runs of another kind"),
        pytest.param(lambda report: report["runs"][0].pop("coverage"), "whole report (KeyError", id="coverage"),
        pytest.param(lambda report: report.pop("rules"), "is not a whole report (KeyError: 'rules'", id="rules"),
        pytest.param(lambda report: report["runs"][0]["per_query"]["q1"].pop("mrr@10"), "is not a whole", id="value"),
        pytest.param(lambda report: report["runs"][0]["per_query"].update(q1={"mrr@10": "x", "ndcg@10": 1}),
                     "is not a whole report (ValueError", id="word"),
        pytest.param(lambda report: report["runs"][0].update(measures=[1]), "is not a whole report", id="measures"),
    ],
)  # fmt: skip
def test_what_is_no_whole_report_is_refused(change: Callable[[Any], Any], what: str, folder: Path) -> None:
    error = refused(changed(report_of("base.json"), change))
    assert what in error.what
    assert (error.where, "-o base.json -q" in error.hint) == ("changed.json", True)


def test_a_report_that_was_cut_off_is_refused(folder: Path) -> None:
    text = Path(report_of("base.json")).read_text()
    Path("cut.json").write_text(text[: len(text) // 2])
    error = refused("cut.json")
    assert (error.where, error.what[:13]) == ("cut.json", "is not JSON: ")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        pytest.param(
            ["--gate", "improves(map)"], "gate `improves(map)`: it compares with a baseline", id="no baseline"
        ),
        pytest.param(["--gate", "improves(map", "--baseline", "x"], "a `(` is never closed", id="no gate"),
        pytest.param(["--alpha", "0.5"], "--alpha is `0.5`", id="level"),
        pytest.param(["--gate-correction", "hulm"], "`hulm` is not a correction", id="correction"),
    ],
)
def test_what_cannot_be_understood_is_told_before_data_are_read(
    words: list[str], what: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["no-run", "no-qrels", *words]) == 2
    assert what in capsys.readouterr().err


def test_a_baseline_is_not_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = report_of("base.json")
    words = ["new.json", "qrels.json", "-m", *MEASURES, "--baseline", path, "--gate", "improves(mrr@10)"]
    assert run([*words, "-o", path]) == 2
    assert "-o base.json would overwrite an input" in capsys.readouterr().err


def test_the_configuration_may_name_the_baseline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report_of("base.json")
    Path("sub").mkdir()
    Path("sub/rankeval.toml").write_text(
        'baseline = "../base.json"\ngates = ["improves(mrr@10)"]\nalpha = 0.01\ngate-correction = "holm"\n'
    )
    words = ["new.json", "qrels.json", "-m", *MEASURES]
    assert run([*words, "--config", "sub/rankeval.toml"]) == 1
    assert "gate failed: new.json: improves(mrr@10)" in capsys.readouterr().err
    Path("rankeval.toml").write_text('gates = ["improves(mrr@10)"]\n')
    assert run(words) == 2
    assert "rankeval.toml: `gate`: gate `improves(mrr@10)`: it compares with" in capsys.readouterr().err


# --- labelled tables -------------------------------------------------------------------------------------------------

TABLE = "query,score,label\nq1,0.9,0\nq1,0.8,1\nq2,0.5,1\nq2,0.4,0\nq3,0.1,1\nq3,0.2,0\n"
BETTER = TABLE.replace("q1,0.8,1", "q1,1.8,1")


@pytest.mark.parametrize("kind", ["table", "report"])
def test_labelled_tables_have_baselines(kind: str, folder: Path) -> None:
    Path("old.csv").write_text(TABLE)
    Path("new.csv").write_text(BETTER)
    baseline: Any = "old.csv" if kind == "table" else evaluate("old.csv", measures="mrr@10")
    found = evaluate("new.csv", measures="mrr@10", gates="diff(mrr@10) >= 0.1", baseline=baseline)
    assert isinstance(found, Report)
    assert (found.gates[0].value, found.gates[0].queries) == (pytest.approx(0.5 / 3), 3)
    assert [entry.name for entry in found.runs] == ["new.csv"]


@pytest.mark.parametrize("kind", ["table", "report"])
def test_a_labelled_baseline_has_the_same_labels(kind: str, folder: Path) -> None:
    Path("old.csv").write_text(TABLE.replace("q3,0.1,1", "q3,0.1,2"))
    Path("new.csv").write_text(BETTER)
    baseline: Any = "old.csv" if kind == "table" else evaluate("old.csv", measures="mrr@10")
    with pytest.raises(InputError, match=r"has other (labels|judgments)"):
        evaluate("new.csv", measures="mrr@10", gates="diff(mrr@10) >= 0.1", baseline=baseline)


def test_a_labelled_baseline_is_read_by_the_same_rules(folder: Path) -> None:
    Path("old.csv").write_text(TABLE)
    Path("new.csv").write_text("query,doc,score,label\n" + "".join(
        f"{line.split(',')[0]},d{n},{','.join(line.split(',')[1:])}\n" for n, line in enumerate(BETTER.split()[1:])
    ))  # fmt: skip
    with pytest.raises(InputError, match=r"has other labels|is read by other rules: ties `expected` there"):
        evaluate("new.csv", measures="mrr@10", gates="diff(mrr@10) >= 0.1", baseline="old.csv")
