"""Ids and numbers as people read them: control characters shown, four decimals, best results."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankeval_cli.model import MACRO, Report, Result, RunReport, query_values

if TYPE_CHECKING:
    from rankeval_cli.measures.spec import Metric

UNDEFINED = "-"
MACRO_MEAN = "macro mean"  # no group has a blank and this name in tables for people

# What an id could do to a terminal: C0 and C1 controls (ESC and the one-byte CSI among them), line and paragraph
# separators, text direction, invisible marks that make two ids look equal, halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

_LARGEST_PLAIN = 1e15  # beyond it doubles are no longer exact to the shown digit, and lines grow without end


def visible(text: str) -> str:
    r"""The text with everything that could move a cursor or hide shown as an escape.

    >>> visible("q\x1b[31m1")
    'q\\x1b[31m1'
    """
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def visible_lines(text: str) -> str:
    """As `visible`, for a text of several lines: line feeds stay."""
    return "\n".join(map(visible, text.split("\n")))


def utf8(text: str) -> str:
    """The text without half surrogates, which Arrow's strings cannot hold: a file name that is no UTF-8 has them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def wrapped(text: str, width: int | None) -> list[str]:
    """The text as lines of at most `width` columns, broken at blanks alone: ids and paths stay whole."""
    if width is None:
        return [text]
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) or [""]


def number(value: float | None, is_count: bool = False) -> str:
    """A value as tables show it: four decimals; a whole count with thousands separators; `-` where undefined."""
    if value is None or math.isnan(value):
        return UNDEFINED
    if abs(value) >= _LARGEST_PLAIN:
        return f"{value:.4g}"
    if is_count and value == int(value):
        return f"{int(value):,}"
    shown = f"{value:.4f}"
    return "0.0000" if shown == "-0.0000" else shown


def counted(count: int, one: str, many: str) -> str:
    """The count with its noun: `1 query`, `6,980 queries`."""
    return f"{count:,} {one if count == 1 else many}"


def interval(result: Result) -> str:
    """The interval as tables show it; `-` where there is none."""
    if result.ci_low is None or result.ci_high is None:
        return UNDEFINED
    return f"[{number(result.ci_low)}, {number(result.ci_high)}]"


@dataclass(frozen=True)
class Row:
    """One measure over all runs.

    results : one a run, None where a run has no such measure
    best : indices of the runs with the best value; empty for a single run and where neither direction is better
    """

    measure: str
    is_count: bool
    results: tuple[Result | None, ...]
    best: frozenset[int]


def rows(report: Report) -> list[Row]:
    """The measures in the order asked for."""
    metrics = metrics_by_name(report)
    names = dict.fromkeys(result.measure for run in report.runs for result in run.results)
    by_run = [{result.measure: result for result in run.results} for run in report.runs]
    return [_row(name, metrics[name], tuple(results.get(name) for results in by_run)) for name in names]


def metrics_by_name(report: Report) -> dict[str, Metric]:
    """Every measure of the report, by the spelling that it has there."""
    return {metric.written: metric for run in report.runs for metric in run.scores.metrics}


def is_count(metric: Metric) -> bool:
    """Whether the values are whole numbers of things."""
    return metric.measure.aggregate == "sum"


def query_cells(run: RunReport, measures: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (query id, its values of the measures as tables show them)."""
    counts = {metric.written: is_count(metric) for metric in run.scores.metrics}
    for query, values in query_values(run.scores):
        yield query, [number(values.get(name), counts.get(name, False)) for name in measures]


TIE_TITLES = ("value", "expected", "worst", "best", "queries")


def tie_rows(run: RunReport) -> Iterator[tuple[str, list[str]]]:
    """Yield (measure, the cells of TIE_TITLES) of a run's tie report."""
    counts = {metric.written: is_count(metric) for metric in run.scores.metrics}
    for ties in run.ties:
        values = (ties.value, ties.expected, ties.worst, ties.best)
        cells = [number(value, counts[ties.measure]) for value in values]
        yield ties.measure, [*cells, number(ties.queries, is_count=True)]


def group_rows(run: RunReport) -> Iterator[list[str]]:
    """Yield the cells of each group of a run: its name, how many queries are scored, the values of the measures."""
    counts = {metric.written: is_count(metric) for metric in run.scores.metrics}
    for group in run.groups:
        values = [number(result.value, counts[result.measure]) for result in group.results]
        yield [MACRO_MEAN if group.name == MACRO else group.name, number(group.queries, is_count=True), *values]


def group_titles(run: RunReport) -> list[str]:
    """The headings of `group_rows`."""
    return ["group", "queries", *(result.measure for result in run.results)]


def grouped(measure: str, group: str) -> str:
    """The name of a measure of one group, as gates spell it."""
    return f"{measure}[{group}]"


def tie_notes(report: Report) -> list[str]:
    """What a reader of a tie report must know; nothing without one."""
    if not any(run.ties for run in report.runs):
        return []
    loose = dict.fromkeys(ties.measure for run in report.runs for ties in run.ties if not ties.is_bound)
    notes = ["ties: expected is the mean over all orders of equal scores; worst and best have the lowest and highest "
             "grades first; queries are those for which these differ"]  # fmt: skip
    return [*notes, *([f"worst and best are no bounds for {visible(', '.join(loose))}"] if loose else [])]


def has_intervals(report: Report) -> bool:
    """Whether any result has an interval; if none has, tables leave the column out."""
    return any(result.ci_low is not None for run in report.runs for result in run.results)


def interval_title(report: Report) -> str:
    """The heading of the intervals."""
    return f"{report.rules.confidence * 100:g} % interval"


def _row(name: str, metric: Metric, results: tuple[Result | None, ...]) -> Row:
    values = {i: result.value for i, result in enumerate(results) if result is not None and result.value is not None}
    best = _best(values, metric.measure.direction) if len(results) > 1 else frozenset()
    return Row(name, is_count(metric), results, best)


def _best(values: dict[int, float], direction: str) -> frozenset[int]:
    defined = [value for value in values.values() if not math.isnan(value)]
    if direction == "none" or not defined:
        return frozenset()
    best = max(defined) if direction == "higher" else min(defined)
    return frozenset(i for i, value in values.items() if value == best)
