"""`rankeval compare` and `rankeval_cli.compare`: from files to comparisons in every format, and what is refused."""

import csv
import io
import json
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import polars as pl
import pytest
from conftest import ROOT
from scipy import stats

from rankeval_cli import RankevalError, compare, evaluate
from rankeval_cli.cli import run
from rankeval_cli.cli.compare import CompareOptions, ComparisonOutputOptions
from rankeval_cli.comparing import Comparing
from rankeval_cli.inference.families import CORRECTIONS
from rankeval_cli.inference.paired import TESTS
from rankeval_cli.model import Comparison
from rankeval_cli.report import REPORTERS, find
from rankeval_cli.report.comparison_rows import COMPARISON_COLUMNS

SAMPLE = [str(ROOT / "sample_data" / name) for name in ("pixels.txt", "projection.txt", "qrels.txt")]

QRELS = "".join(f"q{i} 0 d{j} {int(j == 0)}\n" for i in range(8) for j in range(8))


def ranking(ranks: dict[int, int], queries: Any = range(8)) -> str:
    """A run in which the relevant document of each query stands at the given rank, else at rank 1."""
    lines = []
    for i in queries:
        others = [j for j in range(8) if j]
        order = [*others[: ranks.get(i, 1) - 1], 0, *others[ranks.get(i, 1) - 1 :]]
        lines += [f"q{i} Q0 d{doc} {rank} {9 - rank} tag\n" for rank, doc in enumerate(order, 1)]
    return "".join(lines)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "base").write_text(ranking({i: i % 4 + 1 for i in range(8)}))
    (tmp_path / "new").write_text(ranking({i: i % 4 + 2 for i in range(8)} | {7: 1}))
    (tmp_path / "third").write_text(ranking({}, queries=range(4)))
    (tmp_path / "other").write_text(ranking({}, queries=range(4, 8)))
    return tmp_path


def said(words: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> tuple[str, str]:
    assert run(["compare", *words]) == code
    return capsys.readouterr()


def document(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said([*words, "-f", "json"], capsys)[0])
    return found


FILES = ["base", "new", "qrels"]


# --- values


def test_comparison_agrees_with_scipy_on_the_values_of_queries(capsys: pytest.CaptureFixture[str]) -> None:
    found = document([*SAMPLE, "-m", "ndcg@10", "map", "-q"], capsys)
    a, b = (run["per_query"] for run in found["runs"])
    for each in found["comparisons"]:
        base, new = (np.array([values[each["measure"]] for values in run.values()]) for run in (a, b))
        test = stats.ttest_rel(new, base)
        interval = test.confidence_interval(0.95)
        assert each["p_value"] == pytest.approx(test.pvalue, rel=1e-9)
        assert (each["ci_low"], each["ci_high"]) == pytest.approx((interval.low, interval.high), rel=1e-9)
        assert each["diff"] == pytest.approx((new - base).mean(), rel=1e-12)
        assert each["effect"] == pytest.approx((new - base).mean() / (new - base).std(ddof=1), rel=1e-9)
        assert (each["wins"], each["losses"]) == (int((new > base).sum()), int((new < base).sum()))
    assert [each["measure"] for each in found["comparisons"]] == ["ndcg@10", "map"]
    assert list(found["comparisons"][0]) == list(get_type_hints(Comparison))


def test_the_first_run_is_the_base_by_default(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document([*FILES, "-m", "mrr"], capsys)
    (only,) = found["comparisons"]
    assert (only["base"], only["run"]) == ("base", "new")
    assert only["base_value"] == pytest.approx(np.mean([1, 1 / 2, 1 / 3, 1 / 4]))
    assert (only["wins"], only["ties"], only["losses"], only["better"]) == (1, 0, 7, False)
    (other,) = document([*FILES, "-m", "mrr", "--baseline", "new"], capsys)["comparisons"]
    assert (other["base"], other["diff"]) == ("new", -only["diff"])


def test_resamples_are_ten_thousand(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document([*FILES, "-m", "mrr", "--test", "bootstrap"], capsys)
    assert found["rules"]["resamples"] == found["comparisons"][0]["resamples"] == 10_000
    found = document([*FILES, "-m", "mrr", "--test", "randomization", "--resamples", "99"], capsys)
    assert found["comparisons"][0]["resamples"] == 99


def test_three_runs_have_an_analysis_of_variance(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(["base", "new", "third", "qrels", "-m", "mrr", "map", "--all-pairs"], capsys)
    assert [(each["measure"], each["base"], each["run"]) for each in found["comparisons"]] == [
        (measure, *pair)
        for measure in ("mrr", "map")
        for pair in (("base", "new"), ("base", "third"), ("new", "third"))
    ]
    assert [each["measure"] for each in found["anova"]] == ["mrr", "map"]
    assert found["anova"][0]["error_df"] == 14


def test_missing_queries_follow_their_rule(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["base", "third", "qrels", "-m", "mrr"]
    assert document(words, capsys)["comparisons"][0]["queries"] == 8
    (skipped,) = document([*words, "--missing", "skip"], capsys)["comparisons"]
    assert (skipped["queries"], skipped["undefined"], skipped["value"]) == (4, 4, 1.0)


def test_runs_without_a_common_query(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = said(["third", "other", "qrels", "-m", "mrr", "--missing", "skip", "-f", "table"], capsys)
    assert "warning: other: no query has a value in both this run and third\n" in err
    assert "over 0 of 8 queries: mrr\nmrr: no query has a value\n" in out


def test_identical_runs(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "copy").write_text((files / "base").read_text())
    out, err = said(["base", "copy", "qrels", "-m", "mrr", "-f", "table"], capsys)
    assert "same" in out
    assert "1.0000" in out
    assert "mrr: no query differs" in out
    assert err == ""


def test_weights_are_weighed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "w").write_text("query\tweight\n" + "".join(f"q{i}\t{i}\n" for i in range(8)))
    (found,) = document([*FILES, "-m", "mrr", "--weights", "w"], capsys)["comparisons"]
    values = evaluate(["base", "new"], "qrels", "mrr", weights="w").runs
    assert (found["base_value"], found["value"]) == (values[0].results[0].value, values[1].results[0].value)
    assert (found["queries"], found["undefined"]) == (7, 1)


def test_the_rules_of_a_preset_hold(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["RetrievalMAP", "RetrievalMRR", "RetrievalNormalizedDCG"]
    found = document([*SAMPLE, "--preset", "torchmetrics", "-m", *words], capsys)
    report = evaluate(SAMPLE[:2], SAMPLE[2], words, preset="torchmetrics")
    means = [[result.value for result in run.results] for run in report.runs]
    assert [[each[key] for each in found["comparisons"]] for key in ("base_value", "value")] == means


@pytest.mark.parametrize("test", [test.name for test in TESTS])
def test_the_same_seed_gives_the_same_bytes(test: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["base", "new", "third", "qrels", "-m", "mrr", "map", "--test", test, "-f", "json", "--resamples", "200"]
    assert said(words, capsys) == said(words, capsys)
    changed = said([*words, "--seed", "1"], capsys)
    is_random = {test.name: test.is_random for test in TESTS}[test]
    (one, two) = (json.loads(out)["comparisons"] for out in (said(words, capsys)[0], changed[0]))
    assert (one != two) == is_random


# --- formats

SHOWING = [reporter.name for reporter in REPORTERS if reporter.shows_comparisons and reporter.render]


@pytest.mark.parametrize("form", SHOWING)
def test_every_format_shows_the_comparison(form: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said([*FILES, "-m", "mrr", "-f", form], capsys)
    assert "new" in out
    assert "base" in out
    assert said([*FILES, "-m", "mrr", "-f", form], capsys)[0] == out


@pytest.mark.parametrize("words", [["-f", "trec"], ["-o", "x.eval"], ["-f", "junit"], ["-o", "report.xml"]],
                         ids=["trec", "trec file", "junit", "junit file"])  # fmt: skip
def test_formats_without_a_place_for_comparisons_are_refused(
    words: list[str], files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = said([*FILES, "-m", "mrr", *words], capsys, code=2)
    assert out == ""
    assert "has no place for comparisons\nhint: choose another format" in err


@pytest.mark.parametrize("form", ["tsv", "csv"])
def test_separated_rows_have_every_field(form: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document([*FILES, "-m", "mrr", "map"], capsys)["comparisons"]
    out, _ = said([*FILES, "-m", "mrr", "map", "-f", form], capsys)
    header, *rows = csv.reader(io.StringIO(out), delimiter="\t" if form == "tsv" else ",")
    assert tuple(header) == COMPARISON_COLUMNS
    assert set(header) == {*get_type_hints(Comparison), "query"}
    for row, record in zip(rows, found, strict=True):
        cells = dict(zip(header, row, strict=True))
        assert cells.pop("query") == "all"
        shown = {name: "" if x is None else str(int(x) if isinstance(x, bool) else x) for name, x in record.items()}
        assert cells == shown


def test_values_of_queries_stand_before_the_comparisons(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(["base", "new", "third", "qrels", "-m", "mrr", "-q", "-f", "jsonl"], capsys)
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["query"] for row in rows] == [*(f"q{i}" for i in range(8)), "all"] * 2
    assert [row["run"] for row in rows] == ["new"] * 9 + ["third"] * 9
    assert (rows[1]["value"], rows[1]["base_value"], rows[1]["diff"]) == (1 / 3, 1 / 2, 1 / 3 - 1 / 2)
    assert rows[1]["p_value"] is rows[1]["queries"] is None
    assert np.mean([row["diff"] for row in rows[:8]]) == pytest.approx(rows[8]["diff"])


def test_parquet_has_the_same_rows(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["base", "third", "qrels", "-m", "mrr", "-q", "--missing", "skip"]
    out, _ = said([*words, "-f", "jsonl", "-o", "report.parquet"], capsys)
    frame = pl.read_parquet(files / "report.parquet")
    assert frame.to_dicts() == [json.loads(line) for line in out.splitlines()]
    types = {name: frame.schema[name] for name in ("run", "query", "diff", "wins", "better", "family", "note")}
    assert list(types.values()) == [pl.String, pl.String, pl.Float64, pl.Int64, pl.Boolean, pl.String, pl.String]


def test_latex_names_the_runs_that_a_mean_beats(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "bad_run").write_text(ranking(dict.fromkeys(range(8), 8)))
    (files / "good_run").write_text(ranking({}) + "q0 Q0 extra 9 0.1 tag\n")
    words = ["bad_run", "base", "good_run", "qrels", "-m", "mrr", "first_rank", "-f", "latex", "--test", "sign"]
    out, _ = said([*words, "--all-pairs", "--correction", "none"], capsys)
    assert "\na & bad\\_run & 0.1250 & 8.0000 \\\\\n" in out
    assert "\nb & base & 0.5208$^{a}$ & 2.5000$^{a}$ \\\\\n" in out
    assert "\nc & good\\_run & \\textbf{1.0000}$^{ab}$ & \\textbf{1.0000}$^{ab}$ \\\\\n" in out
    assert "(paired sign test, not corrected for 3 comparisons of each measure, $p \\leq 0.05$)" in out
    against = said([*words, "--baseline", "base"], capsys)[0]
    assert "\nc & good\\_run & \\textbf{1.0000}$^{b}$ " in against
    assert ", all runs compared with b (paired sign test, corrected by holm over 2 comparisons" in against


WORDS = {
    "one comparison": ([], "* p <= 0.05 (paired t test)"),
    "holm": (["third"], "* p <= 0.05 (paired t test, corrected by holm over 2 comparisons of each measure)"),
    "all": (["third", "--family", "all", "--correction", "bh", "--alpha", "0.01"],
            "* p <= 0.01 (paired t test, corrected by bh over 4 comparisons of all measures)"),
    "none": (["third", "--correction", "none"], "* p <= 0.05 (paired t test, not corrected for 2 comparisons of each "
             "measure)"),
    "tukey": (["third", "--test", "HSD"], "* p <= 0.05 (tukey test, which allows for all pairs of the 3 runs)"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "legend"), WORDS.values(), ids=WORDS)
def test_legend_names_test_and_correction(
    words: list[str], legend: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, options = [w for w in words if w == "third"], [w for w in words if w != "third"]
    command = ["base", "new", *runs, "qrels", "-m", "mrr", "first_rank", *options]
    assert f"\n{legend}\n" in said([*command, "-f", "table"], capsys)[0]
    shown = said([*command, "-f", "markdown"], capsys)[0].replace("\\", "")
    assert f"\n- {legend}\n" in shown


def test_contradicting_and_undecidable_results_are_explained(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "better").write_text(ranking({i: i % 4 + 1 for i in range(8)} | {1: 1}))
    out, err = said(["base", "better", "qrels", "-m", "mrr", "-f", "table"], capsys)
    assert "better  " in out
    assert err == "warning: mrr: no difference could be significant at 0.05: one query differs\n"
    out, err = said(["base", "better", "qrels", "-m", "mrr", "-f", "table", "--strict"], capsys, code=2)
    assert "better  " in out


# --- refusals

REFUSED: dict[str, tuple[list[str], str]] = {
    "one run": (["base", "qrels"], "there is nothing to compare the run with"),
    "no file": ([], "a run and the judgments are missing"),
    "a run twice": (["base", "base", "qrels"], "run `base` is given twice"),
    "unknown baseline": (["base", "new", "qrels", "--baseline", "bose"], "did you mean `base`?"),
    "unknown test": (["base", "new", "qrels", "--test", "wilcox"], "did you mean `wilcoxon`?"),
    "unknown correction": (["base", "new", "qrels", "--correction", "hom"], "did you mean `holm`?"),
    "unknown family": (["base", "new", "qrels", "--family", "each"], "'each' is not one of 'measure', 'all'"),
    "alpha": (["base", "new", "qrels", "--alpha", "5"], "give a number between 0 and 1"),
    "baseline of all pairs": (["base", "new", "qrels", "--all-pairs", "--baseline", "new"], "has no baseline"),
    "geometric mean": (["base", "new", "qrels", "-m", "gm_map"], "gm_map cannot be compared"),
    "weights": (["base", "new", "qrels", "--test", "sign", "--weights", "w"], "--test sign does not weigh queries"),
    "median": (["base", "new", "qrels", "--aggregate", "median"], "no such option: --aggregate"),
    "resamples": (["base", "new", "qrels", "--resamples", "0"], "give a whole number from 1 to"),
    "a target that is an input": (["base", "new", "qrels.txt", "-o", "qrels.txt"], "would overwrite an input"),
}


@pytest.mark.parametrize(("words", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(words: list[str], text: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "qrels.txt").write_text(QRELS)
    measures = [] if "-m" in words else ["-m", "mrr"]
    out, err = said([*words, *measures], capsys, code=2)
    assert out == ""
    assert text in err


def test_nothing_is_read_before_the_words_are_understood(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "base").write_text("this is no run\n")
    assert "did you mean `new`" in said([*FILES, "-m", "mrr", "--baseline", "net"], capsys, code=2)[1]


# --- options


def test_help_names_every_test_and_correction() -> None:
    hints = get_type_hints(CompareOptions, include_extras=True)
    for name, records in (("test", TESTS), ("correction", CORRECTIONS)):
        (option,) = hints[name].__metadata__
        names = [record.name for record in records]
        assert f"{', '.join(names[:-1])} or {names[-1]}" in option.help
        assert option.autocompletion(names[1][:2]) == [names[1]]


def test_help_names_the_formats_that_show_comparisons() -> None:
    (option,) = get_type_hints(ComparisonOutputOptions, include_extras=True)["format"].__metadata__
    assert option.help.startswith(f"{', '.join(SHOWING[:-1])} or {SHOWING[-1]}. ")
    assert not find("trec").shows_comparisons


def test_options_have_the_defaults_of_the_library() -> None:
    options = CompareOptions()
    values = (options.base, options.all_pairs, options.test, options.correction, options.family, options.alpha)
    assert Comparing(*values) == Comparing()


def test_configuration_decides_what_the_command_line_leaves_open(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "rankeval.toml").write_text('measures = ["mrr"]\ntest = "sign"\nqrels = "qrels"\nalpha = 0.2\n')
    (found,) = document(["base", "new"], capsys)["comparisons"]
    assert (found["test"], found["alpha"], found["measure"]) == ("sign", 0.2, "mrr")
    (found,) = document(["base", "new", "--test", "t"], capsys)["comparisons"]
    assert found["test"] == "t"
    (files / "rankeval.toml").write_text('test = "sing"\n')
    assert "rankeval.toml: `test`: `sing` is not a test" in said(FILES, capsys, code=2)[1]


def test_a_format_of_the_configuration_can_be_replaced(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "rankeval.toml").write_text('output = ["junit.xml"]\n')
    hint = "choose another format, such as json; -f and -o take the place of what rankeval.toml says"
    assert f"`junit` has no place for comparisons\nhint: {hint}\n" in said(FILES, capsys, code=2)[1]
    said([*FILES, "-o", "found.json"], capsys)
    assert sorted(path.name for path in files.glob("*.[jx]*")) == ["found.json"]


def test_a_baseline_of_the_configuration_is_no_name_of_a_run(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "rankeval.toml").write_text('base = "new"\n')
    assert "rankeval.toml: `base` is not a key" in said(FILES, capsys, code=2)[1]


# --- the library


def test_library_gives_what_the_program_prints(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "base",
        "new",
        "third",
        "qrels",
        "-m",
        "mrr",
        "--baseline",
        "new",
        "--test",
        "randomization",
        "--seed",
        "3",
    ]
    report = compare(["base", "new", "third"], "qrels", "mrr", baseline="new", test="randomization", seed=3)
    assert json.loads(json.dumps(report.to_dict())) == document(words, capsys)


def test_library_takes_objects(files: Path) -> None:
    base, new = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}}, {"q1": {"d1": 1.0, "d2": 2.0}, "q2": {"d1": 1.0}}
    report = compare(
        [base, new], {"q1": {"d2": 1}, "q2": {"d1": 1}}, ["mrr@10"], baseline="run2", weights={"q1": 3, "q2": 1}
    )
    (found,) = report.comparisons
    assert (found.base, found.run, found.diff, found.wins, found.ties) == ("run2", "run1", -0.375, 0, 1)
    assert "'run1' against 'run2': mrr@10 -0.375 (p -)" in repr(report)


@pytest.mark.parametrize("runs", ["base", ["base"], {"q1": {"d1": 1.0}}], ids=["path", "list of one", "dict"])
def test_library_needs_two_runs(runs: Any, files: Path) -> None:
    with pytest.raises(RankevalError, match="there is nothing to compare the run with"):
        compare(runs, "qrels", "mrr")


def test_library_may_ask_for_intervals_of_the_means(files: Path) -> None:
    assert compare(["base", "new"], "qrels", "mrr").runs[0].results[0].ci_method is None
    assert compare(["base", "new"], "qrels", "mrr", ci="t").runs[0].results[0].ci_method == "t"
