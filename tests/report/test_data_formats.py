"""tsv, csv, json, jsonl and parquet give back exactly what the report holds."""

import csv
import io
import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_report import METRICS, QUERIES, REPORT, VALUES

from rankeval_cli.model import Report, Scores
from rankeval_cli.report import REPORTERS, Options, find
from rankeval_cli.report.data import COLUMNS

Row = tuple[str, str, str, float | None, float | None, float | None, int | None]
QUERIES_TOO = Options(per_query=True)


def rendered(name: str, report: Report, options: Options = QUERIES_TOO) -> str:
    render = find(name).render
    assert render is not None
    return "".join(render(report, options))


def expected(report: Report) -> list[Row]:
    """The long form, spelled out: per run the queries, then the means."""
    rows: list[Row] = []
    for run in report.runs:
        for j, query in enumerate(run.scores.queries):
            for i, metric in enumerate(run.scores.metrics):
                value = float(run.scores.values[i, j])
                rows.append((run.name, metric.written, query, None if math.isnan(value) else value, None, None, None))
        rows += [(run.name, r.measure, "all", r.value, r.ci_low, r.ci_high, r.queries) for r in run.results]
    return rows


def typed(fields: list[str]) -> Row:
    run, measure, query, *numbers, queries = fields
    value, low, high = (float(number) if number else None for number in numbers)
    return run, measure, query, value, low, high, int(queries) if queries else None


def read_tsv(text: str) -> list[Row]:
    """Lines cut at line feeds, fields at tabs, and only then the escapes undone."""
    escapes = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}
    header, *lines = text.removesuffix("\n").split("\n")
    assert header == "\t".join(COLUMNS)
    fields = (line.split("\t") for line in lines)
    return [typed([re.sub(r"\\.", lambda match: escapes[match[0]], field) for field in row]) for row in fields]


def read_csv(text: str) -> list[Row]:
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert header == list(COLUMNS)
    return [typed(row) for row in rows]


def read_jsonl(text: str) -> list[Row]:
    objects = [json.loads(line, parse_constant=pytest.fail) for line in text.removesuffix("\n").split("\n")]
    assert all(list(entry) == list(COLUMNS) for entry in objects)
    return [tuple(entry.values()) for entry in objects]


READERS = {"tsv": read_tsv, "csv": read_csv, "jsonl": read_jsonl}


def parquet(report: Report, options: Options = QUERIES_TOO) -> io.BytesIO:
    write = next(reporter.write for reporter in REPORTERS if reporter.name == "parquet")
    assert write is not None
    buffer = io.BytesIO()
    write(report, options, buffer)
    buffer.seek(0)
    return buffer


def with_queries(queries: list[str], name: str = "run.txt") -> Report:
    """The sample with one run of that name, and these queries, whose values are all different."""
    run = REPORT.runs[0]
    values = np.arange(len(METRICS) * len(queries), dtype=np.float64).reshape(len(METRICS), -1) / 7
    scores = Scores(queries, METRICS, values, (0,) * 4, (False,) * 4)
    return replace(REPORT, runs=(replace(run, source=replace(run.source, name=name), scores=scores),))


ids = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)
awkward = st.text(st.sampled_from('\\\t\n\r",|a \x1b\x85\u2028é'), min_size=1)
queries = st.lists(ids | awkward, unique=True, max_size=5)


@pytest.mark.parametrize("name", READERS)
def test_long_form_of_the_sample(name: str) -> None:
    assert READERS[name](rendered(name, REPORT)) == expected(REPORT)


@pytest.mark.parametrize("name", READERS)
@given(queries=queries, run=ids | awkward)
def test_any_id_comes_back(name: str, queries: list[str], run: str) -> None:
    report = with_queries(queries, run)
    assert READERS[name](rendered(name, report)) == expected(report)


@pytest.mark.parametrize("name", READERS)
def test_means_only_unless_asked(name: str) -> None:
    means = [row for row in expected(REPORT) if row[-1] is not None]
    assert READERS[name](rendered(name, REPORT, Options())) == means


@given(queries=queries)
def test_a_tsv_row_is_one_line_of_seven_fields(queries: list[str]) -> None:
    lines = rendered("tsv", with_queries(queries)).removesuffix("\n").split("\n")
    assert len(lines) == 1 + 4 * len(queries) + 4
    assert {line.count("\t") for line in lines} == {6}
    assert not any("\r" in line for line in lines)


def test_a_query_named_all_is_told_from_the_mean() -> None:
    rows = [row for row in read_tsv(rendered("tsv", REPORT)) if row[:3] == (REPORT.runs[0].name, "mrr@10", "all")]
    assert [(row[3], row[6]) for row in rows] == [(1 / 3, None), (REPORT.runs[0].results[0].value, 6)]


def test_parquet_holds_the_long_form_with_its_types() -> None:
    frame = pl.read_parquet(parquet(REPORT))
    texts = dict.fromkeys(COLUMNS[:3], pl.String)
    numbers = dict.fromkeys(COLUMNS[3:6], pl.Float64)
    assert dict(frame.schema) == {**texts, **numbers, "queries": pl.Int64}
    assert frame.rows() == expected(REPORT)


def test_parquet_carries_the_document() -> None:
    metadata = pl.read_parquet_metadata(parquet(REPORT))
    assert json.loads(metadata["rankeval"]) == REPORT.to_dict()


def test_parquet_of_a_run_whose_name_is_not_utf8() -> None:
    frame = pl.read_parquet(parquet(with_queries(["q"], "run\udcff.txt"), Options()))
    assert frame["run"].unique().to_list() == ["run\\udcff.txt"]


@pytest.mark.parametrize("per_query", [False, True])
def test_json_is_the_document_of_the_report(per_query: bool) -> None:
    text = rendered("json", REPORT, Options(per_query))
    document = json.loads(text, parse_constant=pytest.fail)
    assert document == REPORT.to_dict(per_query)
    assert list(document) == list(REPORT.to_dict())
    assert list(document["runs"][0]) == list(REPORT.to_dict(per_query)["runs"][0])


@given(queries=queries)
def test_json_of_any_queries(queries: list[str]) -> None:
    report = with_queries(queries)
    assert json.loads(rendered("json", report)) == report.to_dict(per_query=True)


@pytest.mark.parametrize("name", ["json", "jsonl"])
def test_json_is_ascii(name: str) -> None:
    text = rendered(name, REPORT)
    assert text.isascii()
    assert "\x1b" not in text


def test_json_comes_a_query_at_a_time() -> None:
    render = find("json").render
    assert render is not None
    pieces = list(render(REPORT, QUERIES_TOO))
    assert all(sum(json.dumps(query) in piece for query in QUERIES) <= 1 for piece in pieces)


def test_infinite_values_are_null_in_json() -> None:
    run = REPORT.runs[0]
    values = run.scores.values.copy()
    values[2, 0] = math.inf
    result = replace(run.results[2], value=math.inf)
    results = (*run.results[:2], result, run.results[3])
    report = replace(REPORT, runs=(replace(run, results=results, scores=replace(run.scores, values=values)),))
    document = json.loads(rendered("json", report), parse_constant=pytest.fail)
    assert document["runs"][0]["measures"]["mean_rank"]["value"] is None
    assert document["runs"][0]["per_query"][QUERIES[0]]["mean_rank"] is None
    assert read_jsonl(rendered("jsonl", report))[2][3] is None


@pytest.mark.parametrize("name", ["tsv", "csv", "json", "jsonl", "markdown", "latex", "trec", "table"])
def test_numpy_numbers_look_like_any_others(name: str) -> None:
    def numpy(result: Any) -> Any:
        numbers = {"value": result.value, "ci_low": result.ci_low, "ci_high": result.ci_high}
        return replace(result, **{key: None if x is None else np.float64(x) for key, x in numbers.items()})

    run = REPORT.runs[0]
    counted = replace(run.coverage, judged=np.int64(6))
    other = replace(REPORT, runs=(replace(run, results=tuple(map(numpy, run.results)), coverage=counted),))
    assert rendered(name, other) == rendered(name, replace(REPORT, runs=REPORT.runs[:1]))


def test_doubles_keep_every_bit() -> None:
    values = [row[3] for row in read_tsv(rendered("tsv", REPORT)) if row[1] == "ndcg_cut_10" and row[6] is None]
    assert values == VALUES["bm25"][1] + VALUES["dense"][1]
