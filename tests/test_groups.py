"""Subsets of queries and groups of them: what counts, the means, the gates, and how reports show them."""

import io
import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankeval_cli import evaluate
from rankeval_cli.cli import run
from rankeval_cli.errors import InputError, RankevalError, UsageError
from rankeval_cli.gates import parse_gate
from rankeval_cli.model import MACRO, Report

# Rank of the relevant document of each query; None: the query has no results.
RANKS = {"q1": 1, "q2": 2, "q3": 4, "q4": 1, "q5": None, "q6": 5}
QRELS = {query: {"rel": 1, "not": 0} for query in RANKS}
RUN = {
    query: {("rel" if place == rank else f"d{place}"): 9.0 - place for place in range(1, 6)}
    for query, rank in RANKS.items()
    if rank is not None
}
GROUPS = {"q1": "golden", "q2": "golden", "q3": "long tail", "q4": "long tail", "q5": "long tail", "q6": "odd"}
MEANS = {"golden": 0.75, "long tail": 1.25 / 3, "odd": 0.2}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, also the working one, with `run.json`, `qrels.json` and `groups.tsv`."""
    for name, content in (("run", RUN), ("qrels", QRELS)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    (tmp_path / "groups.tsv").write_text("".join(f"{query}\t{group}\n" for query, group in GROUPS.items()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def grouped(report: Report, measure: str = "mrr@10") -> dict[str, float | None]:
    return {
        group.name: next(result.value for result in group.results if result.measure == measure)
        for group in report.runs[0].groups
    }


# --- queries ---------------------------------------------------------------------------------------------------------


def test_a_subset_is_an_evaluation_of_these_queries_alone(folder: Path) -> None:
    some = ["q2", "q5", "q6"]
    found = evaluate(RUN, QRELS, ["mrr@10", "ndcg@5"], queries=some)
    alone = evaluate(
        {query: RUN[query] for query in some if query in RUN},
        {query: QRELS[query] for query in some},
        ["mrr@10", "ndcg@5"],
    )
    assert found.runs[0].results == alone.runs[0].results
    assert found.runs[0].coverage == alone.runs[0].coverage
    assert (found.digest, found.judged_queries) == (alone.digest, 3)
    assert found.warnings == alone.warnings
    assert (found.qrels.rows, found.runs[0].source.rows) == (alone.qrels.rows, alone.runs[0].source.rows)
    assert found.subset is not None
    assert found.to_dict()["subset"] == {"name": "queries", "asked": 3, "judged": 3}
    assert alone.to_dict()["subset"] is None


def test_queries_of_the_run_that_nobody_asks_for_are_not_unjudged() -> None:
    more = {**RUN, "q8": {"rel": 1.0}, "q9": {"rel": 1.0}}
    found = evaluate(more, QRELS, "mrr@10", queries=["q1", "q9"])
    assert (found.runs[0].coverage.judged, found.runs[0].coverage.unjudged) == (1, 1)
    assert list(found.warnings) == [
        "queries: 1 of 2 queries (q9) is not judged and left out",
        "run1: 1 query of the run not judged and left out: q9",
    ]


def test_values_of_queries_do_not_depend_on_the_others(folder: Path) -> None:
    graded = {**QRELS, "q1": {"rel": 3}}  # err looks at the highest grade of all judgments
    whole = evaluate(RUN, graded, ["err@10", "ndcg@10"]).per_query
    part = evaluate(RUN, graded, ["err@10", "ndcg@10"], queries=["q2", "q3"]).per_query
    assert part.equals(whole.filter(pl.col("query").is_in(["q2", "q3"])))


def test_a_subset_of_a_labelled_table(folder: Path) -> None:
    rows = [(query, 9.0 - place, int(place == rank)) for query, rank in RANKS.items() for place in range(1, 6)]
    table = pl.DataFrame(rows, ["query", "score", "label"], orient="row")
    part = table.filter(pl.col("query").is_in(["q2", "q3"]))
    found, alone = (evaluate(data, measures=["mrr", "err"], **more) for data, more in (
        (table, {"queries": ["q3", "q2"]}), (part, {})
    ))  # fmt: skip
    assert found.runs[0].results == alone.runs[0].results
    assert (found.digest, found.judged_queries) == (alone.digest, 2)


def test_the_command_line_takes_queries(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("golden.txt").write_text("# ours\nq1\nq2\nnope\n")
    assert run(["run.json", "qrels.json", "-m", "mrr@10", "--queries", "golden.txt", "-f", "markdown"]) == 0
    out, err = capsys.readouterr()
    assert "| mrr@10 | 0.7500 [0.0000, 1.0000] |" in out
    assert "- queries: 2 of 3 in golden.txt are judged\n" in out
    assert err == "warning: golden.txt: 1 of 3 queries (nope) is not judged and left out\n"
    assert run(["run.json", "qrels.json", "-m", "mrr@10", "--queries", "golden.txt", "--strict"]) == 2


@pytest.mark.parametrize(
    ("queries", "where", "what"),
    [
        pytest.param(["x1", "x2"], "qrels", "holds none of the queries of queries", id="none judged"),
        pytest.param(["q5"], "run1", "holds none of the queries of queries", id="none answered"),
        pytest.param([], "queries", "is empty: no queries", id="none"),
    ],
)
def test_a_subset_without_a_query_is_refused(queries: list[str], where: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(RUN, QRELS, "mrr@10", queries=queries)
    assert (caught.value.where, caught.value.what) == (where, what)


# --- groups ----------------------------------------------------------------------------------------------------------


def test_means_of_groups_and_the_macro_mean(folder: Path) -> None:
    report = evaluate(RUN, QRELS, ["mrr@10", "num_rel_ret"], groups=GROUPS)
    expected = {**MEANS, MACRO: math.fsum(MEANS.values()) / 3}
    assert grouped(report) == pytest.approx(expected, rel=1e-15)
    assert list(grouped(report)) == ["golden", "long tail", "odd", MACRO]
    assert grouped(report, "num_rel_ret") == {"golden": 2, "long tail": 2, "odd": 1, MACRO: pytest.approx(5 / 3)}
    assert [group.queries for group in report.runs[0].groups] == [2, 3, 1, 6]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="defaults"),
        pytest.param({"aggregate": "median"}, id="median"),
        pytest.param({"ci": "bootstrap", "resamples": 50}, id="bootstrap"),
        pytest.param({"weights": {query: n + 1.0 for n, query in enumerate(RANKS)}, "resamples": 50}, id="weights"),
    ],
)
def test_a_group_is_the_subset_of_its_queries(options: dict[str, Any]) -> None:
    measures = ["mrr@10", "hit@1", "gm_map", "mean_rank"]
    groups = evaluate(RUN, QRELS, measures, groups=GROUPS, **options).runs[0].groups
    for group in groups[:-1]:
        queries = [query for query, name in GROUPS.items() if name == group.name]
        alone = evaluate(RUN, QRELS, measures, queries=queries, **options).runs[0]
        assert group.results == alone.results


@given(names=st.lists(st.sampled_from(["a", "b", "c"]), min_size=6, max_size=6))
def test_queries_of_groups_make_up_the_whole(names: list[str]) -> None:
    report = evaluate(RUN, QRELS, ["mrr@10", "num_rel_ret"], groups=dict(zip(RANKS, names, strict=True)))
    groups = report.runs[0].groups[:-1]
    assert {group.name for group in groups} == set(names)
    means = math.fsum(group.results[0].value * group.queries for group in groups) / 6
    assert means == pytest.approx(report["mrr@10"], rel=1e-12)
    assert sum(group.results[1].value for group in groups) == report["num_rel_ret"]
    values = [group.results[0].value for group in groups]
    assert min(values) - 1e-12 <= report.runs[0].groups[-1].results[0].value <= max(values) + 1e-12


def test_a_query_may_be_in_several_groups_or_in_none(folder: Path) -> None:
    Path("groups.tsv").write_text("q1\tgolden\nq1\tshort\nq2\tgolden\nnope\tempty\n")
    report = evaluate("run.json", "qrels.json", "mrr@10", groups="groups.tsv")
    assert grouped(report) == {"empty": None, "golden": 0.75, "short": 1.0, MACRO: 0.875}
    assert list(report.warnings[:2]) == [
        "groups.tsv: 4 of 6 judged queries (q3, q4, q5, ...) are in no group",
        "groups.tsv: 1 group has no judged query: empty",
    ]
    assert report.groups == report.to_dict()["groups"] == "groups.tsv"


def test_a_macro_mean_is_undefined_where_the_mean_of_a_group_is() -> None:
    qrels = {**QRELS, "q6": {"rel": 0}}
    report = evaluate(RUN, qrels, ["mrr@10", "mean_rank"], groups=GROUPS, no_relevant="nan")
    assert grouped(report) == pytest.approx({"golden": 0.75, "long tail": 1.25 / 3, "odd": None, MACRO: None})
    assert grouped(report, "mean_rank")[MACRO] is not None, "a group in which nothing was found has no rank"


def test_a_group_of_the_name_of_the_macro_mean_is_refused() -> None:
    with pytest.raises(InputError, match="a group is called `macro`"):
        evaluate(RUN, QRELS, "mrr@10", groups={**GROUPS, "q6": MACRO})


@pytest.mark.parametrize("kind", ["judgments", "judgments in memory", "labelled table", "records"])
def test_a_column_groups_queries(kind: str, folder: Path) -> None:
    rows = [(query, "rel", 1, GROUPS[query]) for query in RANKS] + [(query, "x", 0, GROUPS[query]) for query in RANKS]
    qrels = pl.DataFrame(rows, ["query", "doc", "grade", "kind"], orient="row")
    if kind == "judgments":
        qrels.write_csv("qrels.csv")
        report = evaluate("run.json", "qrels.csv", "mrr@10", groups="kind")
    elif kind == "labelled table":
        labelled = [(query, 9.0 - place, int(place == rank), GROUPS[query]) for query, rank in RANKS.items() if rank
                    for place in range(1, 6)]  # fmt: skip
        pl.DataFrame(labelled, ["query", "score", "label", "kind"], orient="row").write_parquet("table.parquet")
        report = evaluate("table.parquet", measures="mrr@10", groups="kind")
        assert grouped(report)["long tail"] == 0.625
        return
    else:
        report = evaluate(RUN, qrels.to_dicts() if kind == "records" else qrels, "mrr@10", groups="kind")
    assert report.groups == "column kind"
    assert grouped(report) == pytest.approx({**MEANS, MACRO: math.fsum(MEANS.values()) / 3})


@pytest.mark.parametrize(
    ("groups", "where", "what", "hint"),
    [
        pytest.param("kind", "qrels.csv", "no column `kind`; the columns are `query`", "`kinds`", id="misspelt column"),
        pytest.param("grade", "qrels.csv", "query `q1` has two values of `grade`: `1` and `0`", "one value", id="rows"),
        pytest.param("group.tsv", "group.tsv", "no such file", "`groups.tsv`", id="misspelt file"),
        pytest.param("empty.tsv", "empty.tsv", "is empty: no groups", "two columns", id="empty file"),
    ],
)
def test_what_groups_nothing_is_refused(groups: str, where: str, what: str, hint: str, folder: Path) -> None:
    Path("qrels.csv").write_text("query,doc,grade,kinds\nq1,rel,1,a\nq1,x,0,a\n")
    Path("empty.tsv").write_text("\n")
    with pytest.raises(RankevalError) as caught:
        evaluate("run.json", "qrels.csv", "mrr@10", groups=groups)
    assert (caught.value.where, caught.value.code) == (where, 2)
    assert what in caught.value.what
    assert hint in caught.value.hint


def test_judgments_without_names_of_columns_have_none(folder: Path) -> None:
    Path("qrels.txt").write_text("q1 0 rel 1\n")
    with pytest.raises(InputError, match="has no column `kind`, as its columns have no names, and there is no such"):
        evaluate("run.json", "qrels.txt", "mrr@10", groups="kind")


def test_columns_of_a_file_of_groups_may_be_named(folder: Path) -> None:
    Path("queries.csv").write_text("query,text,kind\n" + "".join(f"{q},t,{g}\n" for q, g in GROUPS.items()))
    words = ["run.json", "qrels.json", "-m", "mrr@10", "--groups", "queries.csv", "-o", "out.json", "--quiet"]
    assert run([*words, "--columns", "group=kind"]) == 0
    means = json.loads(Path("out.json").read_text())["runs"][0]["groups"]
    assert {name: group["measures"]["mrr@10"]["value"] for name, group in means.items()} == pytest.approx(
        {**MEANS, MACRO: math.fsum(MEANS.values()) / 3}
    )
    assert run(words) == 2


def test_the_configuration_may_name_groups_by_file_or_column(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sub").mkdir()
    Path("sub/kinds.tsv").write_text(Path("groups.tsv").read_text())
    config = Path("sub/rankeval.toml")
    words = ["run.json", "qrels.json", "-m", "mrr@10", "--config", str(config), "--quiet"]
    for name, code in (("kinds.tsv", 0), ("kind", 2), ("none.tsv", 2)):
        config.write_text(f'groups = "{name}"\n')
        assert run(words) == code
    err = capsys.readouterr().err
    assert "qrels.json, entry 1: no column `kind`" in err
    assert "none.tsv" in err


# --- gates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "value", "queries"),
    [
        pytest.param("mrr@10[golden] >= 0.7", 0.75, 2, id="measure"),
        pytest.param("RR@10 [ golden ] >= 70%", 0.75, 2, id="another spelling"),
        pytest.param("mean(mrr@10[long tail]) >= 0.4", 1.25 / 3, 3, id="mean"),
        pytest.param("median(mrr@10[golden]) >= 0.7", 0.75, 2, id="median"),
        pytest.param("min(mrr@10[golden]) >= 0.5", 0.5, 2, id="min"),
        pytest.param("max(mrr@10[odd]) <= 0.2", 0.2, 1, id="max"),
        pytest.param("ci_low(hit@1[golden]) >= 0.09", 0.0945312, 2, id="ci_low"),
        pytest.param("ci_high(hit@1[golden]) <= 0.91", 0.9054688, 2, id="ci_high"),
        pytest.param("share(mrr@10[golden] >= 0.6) == 50%", 0.5, 2, id="share"),
        pytest.param("mrr@10[macro] >= 0.4", math.fsum(MEANS.values()) / 3, 6, id="macro mean"),
        pytest.param("mrr@10[golden] >= baseline + 20%", 0.75, 2, id="baseline"),
        pytest.param("mrr@10[macro] >= baseline", math.fsum(MEANS.values()) / 3, 6, id="macro mean of the baseline"),
        pytest.param("diff(mrr@10[golden]) >= 0.25", 0.25, 2, id="diff"),
        pytest.param("min(diff(mrr@10[long tail])) >= -0.3", -0.25, 3, id="min of diff"),
        pytest.param("no-regression(mrr@10[golden], 1%)", 0.25, 2, id="no-regression"),
    ],
)
def test_gates_are_about_groups(gate: str, value: float, queries: int) -> None:
    base = {**RUN, "q1": RUN["q2"], "q3": RUN["q2"]}
    report = evaluate(RUN, QRELS, "mrr@10", gates=gate, groups=GROUPS, baseline=base)
    (verdict,) = report.gates
    assert (verdict.value, verdict.queries, verdict.passed) == (pytest.approx(value, abs=1e-7), queries, True)
    assert verdict.gate == gate


def test_the_baseline_of_a_group_is_that_of_the_group() -> None:
    base = {**RUN, "q1": RUN["q2"]}  # golden: 0.5
    gates = ["mrr@10[golden] >= baseline + 20%", "mrr@10[macro] >= baseline"]
    first, macro = evaluate(RUN, QRELS, "map", gates=gates, groups=GROUPS, baseline=base).gates
    assert first.bound == pytest.approx(0.6)
    assert macro.bound == pytest.approx((0.5 + MEANS["long tail"] + MEANS["odd"]) / 3)
    saved = evaluate(base, QRELS, "mrr@10")
    again = evaluate(RUN, QRELS, "map", gates=gates, groups=GROUPS, baseline=saved).gates
    assert [verdict.bound for verdict in again] == [first.bound, macro.bound]


def test_a_group_without_a_judged_query_fails() -> None:
    report = evaluate(
        RUN, QRELS, "mrr@10", gates=["mrr@10[x] >= 0", "mrr@10[macro] >= 0.4"], groups={**GROUPS, "z": "x"}
    )
    empty, macro = report.gates
    assert (empty.passed, empty.reason) == (False, "no query has a value")
    assert (macro.passed, macro.queries) == (True, 6)
    (macro,) = evaluate(RUN, QRELS, "mrr@10", gates="mrr@10[macro] >= 0", groups={"z": "x"}).gates
    assert (macro.passed, macro.value, macro.reason) == (False, None, "no query has a value")


def test_an_undefined_group_makes_a_gate_on_the_macro_mean_fail() -> None:
    qrels = {**QRELS, "q6": {"rel": 0}, "q2": {"rel": 0}}
    gates = ["mrr@10[macro] >= 0", "mrr@10[long tail] >= 0"]
    (alone,) = evaluate(
        RUN, {**QRELS, "q6": {"rel": 0}}, "map", gates=gates[:1], groups=GROUPS, no_relevant="nan"
    ).gates
    assert (alone.passed, alone.value) == (False, None), "the only query of `odd` is undefined"
    macro, tail = evaluate(RUN, qrels, "mrr@10", gates=gates, groups=GROUPS, no_relevant="nan").gates
    assert (macro.passed, macro.reason) == (False, "the value of a query is undefined")
    assert tail.passed


@pytest.mark.parametrize(
    ("gate", "hint"),
    [
        pytest.param("hit@1[goldem] == 1", "did you mean `golden`?", id="misspelt"),
        pytest.param("no-regression(hit@1[zz])", "groups has golden, long tail, odd, macro", id="unknown"),
    ],
)
def test_a_group_that_there_is_not_is_refused(gate: str, hint: str) -> None:
    with pytest.raises(UsageError, match="there is no group `") as caught:
        evaluate(RUN, QRELS, "mrr@10", gates=gate, groups=GROUPS, baseline=RUN | {})
    assert (caught.value.where, caught.value.hint) == (f"gate `{gate}`", hint)


def test_a_gate_about_a_group_needs_groups() -> None:
    with pytest.raises(UsageError, match=r"`\[golden\]` is a group of queries, and there is none") as caught:
        evaluate("no run", "no qrels", "mrr@10", gates="hit@1[golden] == 1")
    assert "--groups FILE" in caught.value.hint


@pytest.mark.parametrize(
    ("gate", "what", "hint"),
    [
        pytest.param("hit@1[] == 1", "no group stands between the brackets", "'hit@1[NAME]'", id="empty"),
        pytest.param(
            "median(mrr[macro]) > 0", "which has no `median`", "'mrr[macro] >= 0.35'", id="statistic of macro"
        ),
        pytest.param("share(mrr[macro] > 0) > 0", "which has no `share`", "name one group", id="share of macro"),
        pytest.param("diff(mrr[macro]) > 0", "which has no `diff`", "name one group", id="diff of macro"),
        pytest.param("improves(mrr[macro])", "which has no `improves`", "name one group", id="rule of macro"),
        pytest.param("ndgc@10[a] > 0", "`ndgc@10` is not a measure", "`ndcg@10`", id="misspelt measure"),
        pytest.param("mrr@10[a > 0", "nothing is compared", "in quotes", id="not closed"),
    ],
)
def test_what_is_no_gate_about_a_group_is_told(gate: str, what: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_gate(gate)
    assert what in caught.value.what
    assert hint in caught.value.hint


def test_a_floor_of_a_group(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run.json", "qrels.json", "-m", "map", "--groups", "groups.tsv", "--quiet", "--fail-under"]
    assert run([*words, "mrr@10[golden]=0.75", "mrr@10[long tail]=50%"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "gate passed: run.json: mrr@10[golden] >= 0.75 (value 0.7500, bound 0.7500, distance +0.0000, 2 queries)",
        "gate failed: run.json: mrr@10[long tail] >= 50% (value 41.67%, bound 50.00%, distance -8.33%, 3 queries)",
    ]


# --- reports ---------------------------------------------------------------------------------------------------------

BITING = {"q1": "a|b_c", "q2": "a|b_c", "q3": "<&%\t", "q4": "<&%\t", "q5": "[x]", "q6": "esc\x1b[31m"}


def rendered(name: str, folder: Path, capsys: pytest.CaptureFixture[str], runs: int = 1) -> str:
    Path("groups.json").write_text(json.dumps(BITING))
    paths = ["run.json"]
    if runs == 2:
        Path("other.json").write_text(json.dumps(RUN))
        paths.append("other.json")
    words = [*paths, "qrels.json", "-m", "mrr@10", "num_ret", "--groups", "groups.json", "--quiet"]
    assert run([*words, "-f", name]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("tsv", ["run.json\tmrr@10[<&%\\t]\tall\t0.625\t0.0\t1.0\t2", "run.json\tnum_ret[macro]\tall\t6.25\t\t\t6"]),
        ("csv", ["run.json,mrr@10[a|b_c],all,0.75,0.0,1.0,2", "run.json,num_ret[macro],all,6.25,,,6"]),
        ("jsonl", ['{"run": "run.json", "measure": "mrr@10[[x]]", "query": "all", "value": 0.0, "ci_low": null, '
                   '"ci_high": null, "queries": 1}']),
        ("trec", ["mrr@10[a|b_c]         \tall\t0.7500", "num_ret[a|b_c]        \tall\t10"]),
        ("markdown", ["| group | queries | mrr@10 | num_ret |", "| a\\|b_c | 2 | 0.7500 | 10 |",
                      "| macro mean | 6 | 0.3937 | 6.2500 |", "- groups: groups.json"]),
        ("latex", [r"group & queries & mrr@10 & num\_ret \\",
                   r"\textless{}\&\%\textbackslash{}t & 2 & 0.6250 & 10 \\"]),
        ("table", ["group        queries  mrr@10  num_ret", "a|b_c              2  0.7500       10",
                   "esc\\x1b[31m        1  0.2000        5", "macro mean         6  0.3937   6.2500"]),
        ("junit", ['      <property name="mrr@10[a|b_c]" value="0.75"/>']),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_reports_show_groups(name: str, lines: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = rendered(name, folder, capsys).splitlines()
    assert [line for line in lines if line not in shown] == []


@pytest.mark.parametrize("name", ["markdown", "latex", "table"])
def test_reports_of_several_runs_show_the_groups_of_each(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = rendered(name, folder, capsys, runs=2)
    start = shown.index("groups: run.json") if name == "table" else shown.index("macro mean")
    assert shown.count("macro mean") == 2
    assert "other.json" in shown[start:]


def test_json_has_groups_beside_the_measures_of_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(rendered("json", folder, capsys))
    groups = report["runs"][0]["groups"]
    assert list(groups) == ["<&%\t", "[x]", "a|b_c", "esc\x1b[31m", "macro"]
    assert groups["a|b_c"]["queries"] == 2
    assert groups["a|b_c"]["measures"]["mrr@10"].keys() == report["runs"][0]["measures"]["mrr@10"].keys()
    assert groups["macro"]["measures"]["mrr@10"]["ci_note"] == "the mean of the groups' means"
    assert "groups" not in json.loads(json.dumps(evaluate(RUN, QRELS).to_dict()))["runs"][0]


def test_parquet_has_the_rows_of_groups(folder: Path) -> None:
    assert (
        run(["run.json", "qrels.json", "-m", "mrr@10", "--groups", "groups.tsv", "-o", "out.parquet", "--tie-report"])
        == 0
    )
    frame = pl.read_parquet(io.BytesIO(Path("out.parquet").read_bytes()))
    rows = frame.filter(pl.col("measure").str.starts_with("mrr@10["))
    assert rows["measure"].to_list() == [f"mrr@10[{name}]" for name in (*MEANS, MACRO)]
    assert rows["value"].to_list() == pytest.approx([*MEANS.values(), math.fsum(MEANS.values()) / 3])
    assert rows["ties_expected"].null_count() == 4


def test_a_narrow_terminal_lists_the_values_of_groups(folder: Path) -> None:
    from rankeval_cli.report.reporter import Options
    from rankeval_cli.report.terminal import render_table

    report = evaluate(RUN, QRELS, ["mrr@10", "num_ret", "ndcg@10"], groups=GROUPS)
    shown = "".join(render_table(report, Options(width=24))).splitlines()
    place = shown.index("  golden")
    assert shown[place : place + 5] == [
        "  golden",
        "    queries 2",
        "    mrr@10 0.7500",
        "    num_ret 10",
        "    ndcg@10 0.8155",
    ]
