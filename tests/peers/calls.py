"""Calls of rankeval's public face, and what came back: `evaluate`, `evaluate_arrays`, and the program itself."""

from __future__ import annotations

import io
import json
import math
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from peers.cases import Case, NoCounterpart
from peers.compare import LEFT_OUT, Refused
from rankeval_cli import RankevalError, Report, evaluate, evaluate_arrays
from rankeval_cli.cli import run as run_program
from rankeval_cli.errors import ExitCode

FILLER = "judged, with grade 0"  # keeps a query judged whose ranking is empty and in which nothing is relevant


class Found(NamedTuple):
    """One measure of one run.

    values, weights : query -> number, NaN where undefined; a query that is left out is absent. weights is None where
        queries count alike
    """

    values: dict[str, float]
    mean: float
    interval: tuple[float, float]
    weights: dict[str, float] | None


def number(value: float | None) -> float:
    """A number of a report."""
    return math.nan if value is None else value


def word(name: str, k: Any = None, **params: Any) -> str:
    """A measure as `-m` takes it; parameters that are None are left out."""
    given = ",".join(f"{param}={value}" for param, value in params.items() if value is not None)
    return f"{name}{f'({given})' if given else ''}{'' if k is None else f'@{k}'}"


is_through_program = False  # a test sets it, to go through the program and not through the library


def score(case: Case, measure: str, **rules: Any) -> Found:
    """The input of a case, scored by one measure. Raises RankevalError as rankeval does."""
    if is_through_program:
        return found_in(report_of_program(case, measure, rules), measure)
    return found_in(report_of(case, measure, **rules).to_dict(per_query=True), measure)


def report_of(case: Case, measure: str, **rules: Any) -> Report:
    """The report on the input of a case: maps, labels in ranked order, or scores with labels."""
    if "scores" in (case.queries[0] if case.queries else {}):
        return on_arrays(case, measure, **rules)
    run, qrels = maps_of(case)
    return evaluate(run, qrels, measure, **rules)


def found_in(report: Mapping[str, Any], measure: str) -> Found:
    """One measure of the first run of a report as JSON has it."""
    run = report["runs"][0]
    result = run["measures"][measure]
    values = {query: number(found[measure]) for query, found in run["per_query"].items() if measure in found}
    weights = {query: found[measure] for query, found in run["weights"].items()} if "weights" in run else None
    return Found(values, number(result["value"]), (number(result["ci_low"]), number(result["ci_high"])), weights)


def maps_of(case: Case) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Run and judgments as `{query: {document: number}}`; ranked labels get falling scores: nothing is tied.

    They are no whole numbers, which could be grades of swapped files.
    """
    if case.run is not None and case.qrels is not None:
        return {q: dict(docs) for q, docs in case.run.items()}, {q: dict(docs) for q, docs in case.qrels.items()}
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, float]] = {}
    for name, query in zip(case.query_ids, case.queries, strict=True):
        if "ranked_relevance" not in query:
            raise NoCounterpart(f"a query holds {', '.join(query)} and no ranking")
        ranked, missed = query["ranked_relevance"], query.get("unretrieved_relevance", [])
        run[name] = {f"r{place}": len(ranked) - place - 0.5 for place in range(len(ranked))}
        judged = [(f"r{place}", label) for place, label in enumerate(ranked) if label is not None]
        judged += [(f"u{place}", label) for place, label in enumerate(missed)]
        qrels[name] = dict(judged or [(FILLER, 0)])
    return run, qrels


def on_arrays(case: Case, measure: str, **rules: Any) -> Report:
    """Scores and labels as arrays; masks and weights where a query has them."""
    queries = case.queries
    lists = {name: [query[name] for query in queries] for name in ("scores", "labels")}
    mask = _filled([query.get("mask") for query in queries], lists["scores"], True)
    weights = [query.get("weights") for query in queries]
    if any(isinstance(weight, list) for weight in weights):
        weights = _filled(weights, lists["scores"], 1.0)
    elif all(weight is None for weight in weights):
        weights = None
    else:
        weights = [1.0 if weight is None else weight for weight in weights]
    if mask is None and weights is None and any("qid" in query for query in queries):
        index = [query["qid"] for query in queries for _ in query["scores"]]
        flat = {name: [value for row in rows for value in row] for name, rows in lists.items()}
        return evaluate_arrays(flat["scores"], flat["labels"], index, measures=measure, **rules)
    if any("qid" in query for query in queries):
        raise NoCounterpart("masks or weights of queries that have ids")
    return evaluate_arrays(lists["scores"], lists["labels"], mask=mask, weights=weights, measures=measure, **rules)


def _filled(rows: list[Any], scores: list[list[float]], default: Any) -> list[list[Any]] | None:
    """One value an item: lists as they are, one number for a whole list repeated; None where no query has any."""
    if all(row is None for row in rows):
        return None
    full = [default if row is None else row for row in rows]
    return [_repeated(row, len(own)) for row, own in zip(full, scores, strict=True)]


def report_of_program(case: Case, measure: str, rules: Mapping[str, Any]) -> dict[str, Any]:
    """The report that the program writes as JSON; the input is in files. Raises RankevalError where it ends with 2."""
    words = ["-m", measure, "-q", "-f", "json", *options(rules)]
    if "scores" in (case.queries[0] if case.queries else {}):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "predictions.csv"
            path.write_text(labelled_rows(case), encoding="utf-8")
            said = program([str(path), *words])
    else:
        said = with_files(case, words)
    if said.code == ExitCode.INPUT:
        raise RankevalError(said.err)
    assert said.code == ExitCode.OK, said
    report: dict[str, Any] = json.loads(said.out)
    return report


def options(rules: Mapping[str, Any]) -> list[str]:
    """Rules as options of the program."""
    given = [(f"--{name.replace('_', '-')}", value) for name, value in rules.items() if value is not False]
    return [word for name, value in given for word in ([name] if value is True else [name, str(value)])]


def labelled_rows(case: Case) -> str:
    """Queries with scores and labels as CSV; masks and weights where a query has them."""
    names = ["query", "score", "label"]
    names += [name for name in ("mask",) if any(name in query for query in case.queries)]
    weights = [query["weights"] for query in case.queries if "weights" in query]
    if weights:
        names.append("weight" if any(isinstance(weight, list) for weight in weights) else "list_weight")
    lines = [",".join(names)]
    for name, query in zip(case.query_ids, case.queries, strict=True):
        size = len(query["scores"])
        mask, heavy = query.get("mask", True), query.get("weights", 1.0)
        columns = [[name] * size, query["scores"], query["labels"]]
        columns += [_repeated(mask, size)] if "mask" in names else []
        columns += [_repeated(heavy, size)] if weights else []
        lines += [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    return "\n".join(lines) + "\n"


def _repeated(value: Any, size: int) -> list[Any]:
    return value if isinstance(value, list) else [value] * size


def in_order(case: Case, values: Mapping[str, Any], absent: Any = LEFT_OUT) -> Any:
    """Values by query as the case states them: a list in the order of its queries, or a map."""
    if isinstance(case.stated.get("expected_per_query"), Mapping):
        return dict(values)
    return [values.get(query, absent) for query in case.query_ids]


def answers(case: Case, found: Found) -> dict[str, Any]:
    """What most cases state: values by query, their mean, its interval."""
    return {
        "expected_per_query": in_order(case, found.values),
        "expected_mean": found.mean,
        "expected_ci": list(found.interval),
    }


def refused(case: Case, measure: str, **rules: Any) -> dict[str, Any]:
    """The answers of a case in which a query raises an error: each query alone, and all of them together."""
    each = [_value(case.alone(place), measure, rules) for place in range(len(case.queries))]
    return {"expected_per_query": each, "expected_error": _value(case, measure, rules)}


def _value(case: Case, measure: str, rules: Mapping[str, Any]) -> float | Refused:
    try:
        return score(case, measure, **rules).mean
    except RankevalError as error:
        return Refused(str(error))


class Said(NamedTuple):
    """What the program said."""

    code: int
    out: str
    err: str


def program(words: Iterable[str]) -> Said:
    """Run the program on its words, in this process."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        code = run_program(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    return Said(code, out, err)


def with_files(case: Case, words: Iterable[str], *, qrels_first: bool = False, trec: bool = False) -> Said:
    """Run the program on the input of a case in two files: TREC lines, or JSON objects."""
    run, qrels = maps_of(case)
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, rows in (("qrels", qrels), ("run", run)):
            path = Path(folder) / f"{name}.{'txt' if trec else 'json'}"
            path.write_text(_lines(name, rows) if trec else json.dumps(rows), encoding="utf-8")
            files[name] = str(path)
        paths = [files["qrels"], files["run"]] if qrels_first else [files["run"], files["qrels"]]
        return program([*words, *paths])


def _lines(name: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    shape = "{} 0 {} {!r}\n" if name == "qrels" else "{} Q0 {} 0 {!r} tag\n"
    return "".join(shape.format(query, doc, value) for query, docs in rows.items() for doc, value in docs.items())
