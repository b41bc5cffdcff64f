"""The lines of trec_eval: name in 22 columns, query or `all`, value, parted by tabs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from rankeval_cli.measures.printed import output_name
from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import Report, RunReport, query_values
from rankeval_cli.report.reporter import Options
from rankeval_cli.report.text import grouped, is_count, metrics_by_name, visible


def render_trec(report: Report, options: Options) -> Iterator[str]:
    """Per run: the queries if asked for, then the means as `all`; with several runs, a `runid` line begins each."""
    metrics = metrics_by_name(report)
    names = {written: trec_name(metric) for written, metric in metrics.items()}
    counts = {written: is_count(metric) for written, metric in metrics.items()}
    for run, label in zip(report.runs, _labels(report.runs), strict=True):
        if len(report.runs) > 1:
            yield f"{'runid':<22}\tall\t{visible(label)}\n"
        for query, values in query_values(run.scores) if options.per_query else ():
            yield "".join(_line(names[name], visible(query), value, counts[name]) for name, value in values.items())
        for result in run.results:
            value = math.nan if result.value is None else result.value
            yield _line(names[result.measure], "all", value, counts[result.measure])
        yield from _groups(run, names, counts)
        yield from _ties(run, names, counts)


def _groups(run: RunReport, names: Mapping[str, str], counts: Mapping[str, bool]) -> Iterator[str]:
    """The means of groups: the name of each measure with the group in brackets behind it."""
    for group in run.groups:
        for result in group.results:
            value = math.nan if result.value is None else result.value
            yield _line(grouped(names[result.measure], group.name), "all", value, counts[result.measure])


def _ties(run: RunReport, names: Mapping[str, str], counts: Mapping[str, bool]) -> Iterator[str]:
    """The tie report: the name of each measure with `_expected`, `_worst` and `_best` behind it."""
    for ties in run.ties:
        for rule, value in (("expected", ties.expected), ("worst", ties.worst), ("best", ties.best)):
            shown = math.nan if value is None else value
            yield _line(f"{names[ties.measure]}_{rule}", "all", shown, counts[ties.measure])


def _line(name: str, query: str, value: float, is_whole: bool) -> str:
    if is_whole and math.isfinite(value) and value == int(value):
        return f"{visible(name):<22}\t{query}\t{int(value)}\n"
    return f"{visible(name):<22}\t{query}\t{value:6.4f}\n"


def _labels(runs: tuple[RunReport, ...]) -> list[str]:
    """The tags of the runs, as trec_eval prints; their names where a tag is absent or shared, to tell runs apart."""
    tags = [run.source.tag for run in runs]
    return [run.name if not tag or tags.count(tag) > 1 else tag for run, tag in zip(runs, tags, strict=True)]


def trec_name(metric: Metric) -> str:
    """What trec_eval calls the measure (`P_5`, `ndcg_cut_10`, `recip_rank`), or else what the user wrote.

    trec_eval has no parameter for the level of one measure, and no cutoff on most measures: `mrr@10` stays `mrr@10`.
    """
    return output_name(metric) or metric.written
