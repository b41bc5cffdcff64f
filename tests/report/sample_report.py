"""One report by hand, with everything that is awkward to show: two runs, four measures, names and ids that bite."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from rankeval_cli.comparing import Comparing, compared
from rankeval_cli.measures.spec import Measure, Metric, TrecEval
from rankeval_cli.model import (
    MACRO,
    Coverage,
    GroupReport,
    Report,
    Result,
    Rules,
    RunReport,
    Scores,
    Source,
    Subset,
    Verdict,
)

QUERIES = ["50%_&", "[red]x[/red]", "a|b", "all", "esc\x1b[31m\tz", "日本語"]


def _measure(name: str, **fields: Any) -> Measure:
    return Measure(name, name, "", "", lambda ranking, k, level, params: 0.0, **fields)


RR = _measure("rr", trec_eval=(TrecEval(10, "recip_rank"),), aliases=("mrr",))
NDCG = _measure("ndcg", trec_eval=(TrecEval(24, "ndcg", takes="pairs"), TrecEval(27, "ndcg_cut", takes="cutoffs")))
MEAN_RANK = _measure("mean_rank", direction="lower", bounds=(1.0, math.inf))
NUM_RET = _measure(
    "num_ret", direction="none", aggregate="sum", bounds=(0.0, math.inf), trec_eval=(TrecEval(3, "num_ret"),)
)

METRICS = (
    Metric(RR, "mrr@10", "rr@10", cutoff=10),
    Metric(NDCG, "ndcg_cut_10", "ndcg@10", cutoff=10),
    Metric(MEAN_RANK, "mean_rank", "mean_rank"),
    Metric(NUM_RET, "num_ret", "num_ret"),
)
NAN = math.nan
VALUES = {
    "bm25": [
        [1.0, 0.5, 0.0, 1 / 3, 0.25, 0.0],
        [0.9, 0.63092975357, 0.0, 0.5, 0.43067655807, 0.0],
        [1.0, 2.5, NAN, 3.0, 4.0, NAN],
        [1000.0, 1000.0, 0.0, 10.0, 1000.0, 1000.0],
    ],
    "dense": [
        [1.0, 0.5, 0.0, 1 / 3, 0.25, 0.0],
        [1.0, 0.63092975357, 0.0, 0.5, 0.43067655807, 0.1],
        [1.0, 2.0, NAN, 3.0, 4.0, 1.0],
        [1000.0, 1000.0, 0.0, 1000.0, 1000.0, 1000.0],
    ],
    "best": [
        [1.0, 1.0, 0.5, 1.0, 0.9, 1.0],
        [1.0, 0.93092975357, 0.3, 0.8, 0.93067655807, 0.4],
        [1.0, 1.0, NAN, 3.0, 4.0, 1.0],
        [1000.0, 1000.0, 1000.0, 1000.0, 1000.0, 1000.0],
    ],
}
# measure -> low, high, method, note
INTERVALS: dict[str, tuple[float | None, float | None, str | None, str | None]] = {
    "mrr@10": (0.0, 0.7428, "t", None),
    "ndcg_cut_10": (0.0318, 0.7888, "t", None),
    "mean_rank": (1.0, 12.9714, "t", None),
    "num_ret": (None, None, None, "a sum has no interval"),
}


def _result(metric: Metric, values: list[float]) -> Result:
    defined = [value for value in values if value == value]
    total = math.fsum(defined)
    value = total if metric.measure.aggregate == "sum" else total / len(defined)
    low, high, method, note = INTERVALS[metric.written]
    std = None if metric is METRICS[3] else float(np.std(defined, ddof=1))
    undefined = len(values) - len(defined)
    return Result(metric.written, metric.canonical, value, low, high, method, note, std, len(defined), undefined)


def _run(key: str, name: str, tag: str | None, path: str) -> RunReport:
    scores = Scores(QUERIES, METRICS, np.array(VALUES[key]), (0, 0, 2, 0), (False,) * 4)
    results = tuple(_result(metric, values) for metric, values in zip(METRICS, VALUES[key], strict=True))
    coverage = Coverage(6, 5, 1, 2, 1, 10, 0.4, 3, 0, 0)
    return RunReport(Source(name, path, "trec", 4010, tag), coverage, results, scores)


def _group(name: str, queries: int, mean: float | None) -> GroupReport:
    found = Result("mrr@10", "rr@10", mean, None, None, None, "one query", None, queries, 0)
    return GroupReport(name, queries, (found,))


REPORT = Report(
    version="0.1.0",
    rules=Rules(grade_map={"E": 3, "I": 0}, depth=1000),
    qrels=Source("qrels_50%.txt", "data/qrels_50%.txt", "trec", 1234),
    digest="sha256:0123",
    judged_queries=6,
    runs=(
        _run("bm25", "[bold]bm25[/bold].txt", "bm25", "runs/[bold]bm25[/bold].txt"),
        _run("dense", "dense|\u202e_é&.tsv", None, "runs/dense|\u202e_é&.tsv"),
    ),
    gates=(
        Verdict("mrr@10 >= 0.3", "[bold]bm25[/bold].txt", True, 0.3472222222, 0.3, 0.0472222222, 6),
        Verdict("ndcg_cut_10 >= 0.4102677", "[bold]bm25[/bold].txt", False, 0.4102677186, 0.41027, -2.2814e-06, 6),
        Verdict("mean_rank <= 2", "dense|\u202e_é&.tsv", False, None, 2.0, None, 1, True, "undefined\x1b[2J"),
    ),
    warnings=("[bold]bm25[/bold].txt: 1 judged query (`a\x1b]0;x\x07|b`) has no results",),
)

SINGLE = replace(REPORT, runs=REPORT.runs[:1], gates=(), warnings=())

# Two runs, and three with every pair: some significant, some without a test.
PAIR = compared(replace(REPORT, gates=()), Comparing())
PAIRS = compared(
    replace(REPORT, runs=(*REPORT.runs, _run("best", "best_of_50%.txt", None, "runs/best_of_50%.txt"))),
    Comparing(all_pairs=True, correction="bh"),
)

# One measure with groups, of which one has no value; a baseline; and a verdict of each rule.
_BM25 = SINGLE.runs[0]
_MRR = Scores(QUERIES, METRICS[:1], _BM25.scores.values[:1], (0,), (False,))
_RULE: dict[str, Any] = {"alpha": 0.05, "noticeable": 0.0421}
GROUPED = replace(
    SINGLE,
    runs=(
        replace(
            _BM25,
            results=_BM25.results[:1],
            scores=_MRR,
            groups=(_group("50%_&", 3, 0.125), _group("a|b", 3, 0.75), _group("no\tne", 0, None),
                    _group(MACRO, 6, 0.4375)),
        ),
    ),
    groups="groups_50%.tsv",
    subset=Subset("golden|.txt", 7, 6),
    baseline=RunReport(Source("main|.json", "main|.json", "report", 0), _BM25.coverage, _BM25.results[:1], _MRR),
    gates=(
        Verdict("improves(mrr@10)", _BM25.name, False, 0.01, 0.0, -0.0231, 6, p_value=0.31, limit=-0.0231, **_RULE,
                reason="inconclusive: the mean lies beyond the bound, and 6 queries are too few to be certain"),
        Verdict("non-inferior(mean_rank, 1)", _BM25.name, True, -0.5, 1.0, 0.75, 4, p_value=0.00001, limit=0.25,
                **_RULE),
        Verdict("no-regression(mrr@10[a|b], 1%)", _BM25.name, True, -0.02, -0.0075, -0.0125, 2, True, p_value=0.2,
                reason="the drop may be chance", **_RULE),
    ),
)  # fmt: skip
