"""Past one machine: the same blocks, kernels and report, driven by Spark.

from rankeval_cli.engines.spark import evaluate

report = evaluate(run_df, qrels_df, ["mrr@10", "ndcg@10"])

Spark reads, partitions by query and sorts; `mapInArrow` hands the rows of whole queries to the alignment and scoring
of this package, and the values of each query come back. They are those of the local engine, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from rankeval_cli.model import Report, Significance

__all__ = ["evaluate"]


def evaluate(
    run: Any,
    qrels: Any,
    measures: str | Iterable[str] = (),
    *,
    gates: str | Iterable[str] = (),
    columns: Mapping[str, str] | None = None,
    run_format: str | None = None,
    qrels_format: str | None = None,
    weights: Any = None,
    tie_report: bool = False,
    baseline: Any = None,
    alpha: float = 0.05,
    gate_correction: str = "none",
    session: Any = None,
    broadcast_rows: int | None = None,
    **rules: Any,
) -> Report:
    """Score one run, or a list of runs, against judgments with Spark.

    run : a Spark DataFrame with columns for query, document and score, or a path that Spark can read; or a list of
        these
    qrels : the same with grades
    session : the Spark session; None for that of this process, or a new one for this call
    broadcast_rows : more judgments than these are not sent to every worker, but joined by query; 1,000,000 when None
    measures, .., rules : as `rankeval_cli.evaluate` takes them. A DataFrame has no order of rows, so rules that need
        one (`ties="file"`, `duplicates="first"`) are refused for it

    Raises RankevalError, whose text is what the program prints.
    """
    from rankeval_cli import flow
    from rankeval_cli.engines.spark.engine import BROADCAST_ROWS, SparkEngine
    from rankeval_cli.library import request_for

    runs = [_path(each) for each in (run if isinstance(run, (list, tuple)) else [run])]
    request = request_for(runs, _path(qrels), measures, gates, columns, run_format, qrels_format, weights, rules)
    engine = SparkEngine(session, broadcast_rows=BROADCAST_ROWS if broadcast_rows is None else broadcast_rows)
    significance = Significance(alpha, gate_correction)
    request = replace(request, tie_report=tie_report, baseline=baseline, significance=significance, engine=engine)
    try:
        return flow.evaluate(request)
    finally:
        engine.close()


def _path(source: Any) -> Any:
    return str(source) if isinstance(source, PurePath) else source
