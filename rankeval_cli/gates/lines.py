"""Verdicts as lines of text, understandable without colour."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankeval_cli.gates.grammar import FACTS
from rankeval_cli.model import Verdict

DECIMALS = 4
PERCENT_DECIMALS = 2
MOST_DECIMALS = 9
SEEN_AS_ZERO = 1e-9  # the tolerance of decisions


def describe(verdict: Verdict, with_run: bool = False) -> str:
    """One verdict as a line: `FAIL mrr@10 >= 0.3  (0.2500, -0.0500, 4 queries)`.

    In the parentheses: the value, its distance from the bound (negative on the failing side) and the number of queries;
    or why there is no value. A failure that only warns says WARN. More decimals than four appear where the distance
    would look like 0. Control characters in names are shown as escapes.
    """
    return f"{_head(verdict, with_run)}  ({_details(verdict)})"


def describe_all(verdicts: Sequence[Verdict]) -> list[str]:
    """All verdicts as lines, the parentheses in one column, with the run's name where there are several runs."""
    with_run = len({verdict.run for verdict in verdicts}) > 1
    heads = [_head(verdict, with_run) for verdict in verdicts]
    width = max(map(len, heads), default=0)
    return [f"{head:<{width}}  ({_details(verdict)})" for head, verdict in zip(heads, verdicts, strict=True)]


def _head(verdict: Verdict, with_run: bool) -> str:
    word = "PASS" if verdict.passed else "WARN" if verdict.warn else "FAIL"
    run = f"{verdict.run}: " if with_run else ""
    return f"{word} {_visible(run + verdict.gate)}"


def _details(verdict: Verdict) -> str:
    if verdict.value is None or verdict.distance is None:
        return f"undefined: {_visible(verdict.reason or 'no value')}"
    value, distance = _numbers(verdict.gate, verdict.value, verdict.distance)
    queries = "1 query" if verdict.queries == 1 else f"{verdict.queries:,} queries"
    return f"{value}, {distance}, {queries}" + (f"; {_visible(verdict.reason)}" if verdict.reason else "")


def _numbers(gate: str, value: float, distance: float) -> tuple[str, str]:
    """Value and distance in the unit of the gate: percent, a whole count, or a plain number."""
    if gate.endswith("%"):
        places = _decimals(100.0 * distance, PERCENT_DECIMALS)
        return f"{100.0 * value:z.{places}f}%", f"{100.0 * distance:+z.{places}f}%"
    if gate.split(maxsplit=1)[0].lower().replace("-", "_") in FACTS:
        return f"{value:,.0f}", f"{distance:+z,.10g}"
    places = _decimals(distance, DECIMALS)
    return f"{value:z.{places}f}", f"{distance:+z.{places}f}"


def _decimals(distance: float, least: int) -> int:
    """How many decimals show that a distance is not 0."""
    if abs(distance) <= SEEN_AS_ZERO:
        return least
    return max(least, min(MOST_DECIMALS, math.ceil(-math.log10(abs(distance)))))


def _visible(text: str) -> str:
    """The text with what could move a cursor or hide shown as an escape: names are data, and lines reach terminals."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
