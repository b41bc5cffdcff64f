"""What stands beside every result, as plain lines: coverage, rules in force, layouts found, verdicts of gates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rankeval_cli.model import Coverage, Report, RunReport, Verdict
from rankeval_cli.report.text import counted, is_count, number, visible

MOST_DECIMALS = 9
SEEN_AS_ZERO = 1e-9  # the tolerance of decisions
LEAST_P = 0.0001  # what is smaller is shown as smaller than this


def summary_lines(report: Report) -> list[str]:
    """The coverage of each run, one line a run, and one line of rules in force and layouts found."""
    names = len(report.runs) > 1
    coverage = [_coverage(run, names) for run in report.runs]
    rules = [f"{rules_line(report)}; {layouts_line(report)}", *_own_rules(report), *_chosen(report)]
    config = [f"configuration: {visible(report.config)}"] if report.config is not None else []
    return [*coverage, *_ties_without_ids(report), *rules, *_baseline(report), *config]


def note_lines(report: Report) -> list[str]:
    """All that a document says beside its table: the summary, the warnings, the verdicts."""
    return [*summary_lines(report), *warning_lines(report), *map(verdict_line, report.gates)]


def warning_lines(report: Report) -> list[str]:
    """A line that begins with `warning:` for each warning."""
    return [f"warning: {visible(warning)}" for warning in report.warnings]


def _coverage(run: RunReport, with_name: bool) -> str:
    parts = coverage_parts(run.coverage)
    undefined = [f"{visible(result.measure)} {result.undefined:,}" for result in run.results if result.undefined]
    if undefined:
        parts.append(f"undefined: {', '.join(undefined)}")
    return (f"{visible(run.name)}: " if with_name else "") + "; ".join(parts)


def coverage_parts(coverage: Coverage) -> list[str]:
    """What was judged, answered, repeated and tied, in words."""
    share = "-" if coverage.judged_at_k is None else f"{coverage.judged_at_k:.1%}"
    return [
        f"{counted(coverage.judged, 'judged query', 'judged queries')}: {coverage.answered:,} answered, "
        f"{coverage.missing:,} missing, {coverage.no_relevant:,} with nothing relevant",
        f"{coverage.unjudged:,} unjudged in the run",
        f"judged@{coverage.k} {share}, {coverage.tied_at_k:,} tied at rank {coverage.k}",
        f"{counted(coverage.duplicates, 'duplicate', 'duplicates')}, "
        f"{counted(coverage.self_hits, 'self-hit', 'self-hits')}",
    ]


def _ties_without_ids(report: Report) -> list[str]:
    """What orders equal scores where it cannot be the document id."""
    nameless = [visible(run.name) for run in report.runs if not run.source.has_doc_ids]
    if not nameless:
        return []
    has = "has" if len(nameless) == 1 else "have"
    rules = report.rules
    seeded = f"--ties random, --seed {rules.seed}"
    rule = f"{seeded if rules.ties == 'random' else f'--ties {rules.ties}'} decides between equal scores"
    return [f"{', '.join(nameless)} {has} no document ids: {rule}"]


def _chosen(report: Report) -> list[str]:
    """Which queries count, where these are not all, and what groups them."""
    subset, lines = report.subset, []
    if subset is not None:
        lines.append(f"queries: {subset.judged:,} of {subset.asked:,} in {visible(subset.name)} are judged")
    return [*lines, *([f"groups: {visible(report.groups)}"] if report.groups is not None else [])]


def _baseline(report: Report) -> list[str]:
    """What the runs are compared with, and its values."""
    if report.baseline is None:
        return []
    counts = {metric.canonical for metric in report.baseline.scores.metrics if is_count(metric)}
    found = [
        f"{visible(result.measure)} {number(result.value, result.canonical in counts)}"
        for result in report.baseline.results
    ]
    name = f"{visible(report.baseline.name)} ({visible(report.baseline.source.format)})"
    return [f"baseline: {name}{': ' if found else ''}{', '.join(found)}"]


def _own_rules(report: Report) -> list[str]:
    """A line for the measures that have the same rules of their own."""
    lines: dict[str, list[str]] = {}
    for result in report.runs[0].results if report.runs else ():
        words = [_rule(name, value) for name, value in result.rules.items()]
        if any(words):
            lines.setdefault(" ".join(visible(word) for word in words if word), []).append(visible(result.measure))
    return [f"rules of {', '.join(measures)}: {rules}" for rules, measures in lines.items()]


def rules_line(report: Report) -> str:
    """Every rule in force, spelled as its option; what is switched off or not given is left out."""
    words = [_rule(name, value) for name, value in report.rules.to_dict().items()]
    return "rules: " + " ".join(visible(word) for word in words if word)


def _rule(name: str, value: Any) -> str:
    option = name.replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return option
    if isinstance(value, Mapping):
        value = ",".join(f"{word}={_plain(grade)}" for word, grade in value.items())
    return f"{option}={_plain(value)}"


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def layouts_line(report: Report) -> str:
    """The layout found in each file."""
    sources = [report.qrels, *(run.source for run in report.runs)]
    shown = dict.fromkeys(f"{visible(source.name)} {visible(source.format)}" for source in sources)
    return "files: " + ", ".join(shown)


def verdict_word(verdict: Verdict) -> str:
    """`passed`, `failed`, or `warning` for a failure that is only told."""
    if verdict.passed:
        return "passed"
    return "warning" if verdict.warn else "failed"


def verdict_line(verdict: Verdict) -> str:
    """The decision on one gate for one run: value, bound, distance, number of queries, and the reason if any.

    Of a rule, also what is certain of the difference, the p-value, and what would have been noticed.
    """
    queries = counted(verdict.queries, "query", "queries")
    facts = [fact for fact in (_comparison(verdict), _p_value(verdict), queries, _noticeable(verdict)) if fact]
    reason = f": {visible(verdict.reason)}" if verdict.reason else ""
    gate = f"gate {verdict_word(verdict)}: {visible(verdict.run)}: {visible(verdict.gate)}"
    return f"{gate} ({', '.join(facts)}){reason}"


def _comparison(verdict: Verdict) -> str:
    value, bound, distance = verdict_numbers(verdict)
    named = (("value" if verdict.alpha is None else "diff", value), ("bound", bound), ("distance", distance))
    shown = [f"{name} {number}" for name, number in named if number is not None]
    return ", ".join([*shown[:1], *_limit(verdict), *shown[1:]])


def verdict_details(verdict: Verdict) -> str:
    """What a table of verdicts has no column for: of a rule the limit, p-value and noticeable drop; the reason."""
    facts = ", ".join(fact for fact in (*_limit(verdict), _p_value(verdict), _noticeable(verdict)) if fact)
    return ": ".join(part for part in (facts, verdict.reason) if part)


def _limit(verdict: Verdict) -> list[str]:
    """What the difference certainly reaches, `at most` where less is better; nothing for what is no such rule."""
    if verdict.limit is None or verdict.value is None:
        return []
    side = "at most" if verdict.limit > verdict.value else "at least"
    return [f"{side} {_measured(verdict, verdict.limit, verdict.distance or 0.0)}"]


def _p_value(verdict: Verdict) -> str:
    """With as many decimals as tell it from the level."""
    if verdict.p_value is None or verdict.alpha is None:
        return ""
    if verdict.p_value < LEAST_P:
        return f"p < {LEAST_P}"
    return f"p {verdict.p_value:.{_decimals(verdict.p_value - verdict.alpha, 4)}f}"


def _noticeable(verdict: Verdict) -> str:
    if verdict.noticeable is None:
        return ""
    where = " beyond the bound" if verdict.bound else ""
    return f"would notice {_measured(verdict, verdict.noticeable, 0.0)}{where}"


def verdict_numbers(verdict: Verdict) -> tuple[str | None, str | None, str | None]:
    """Value, bound and distance in the unit of the gate, with as many decimals as show that the distance is not 0."""
    if verdict.value is None or verdict.bound is None or verdict.distance is None:
        return None, None if verdict.bound is None else _measured(verdict, verdict.bound, 0.0), None
    value, bound, distance = (
        _measured(verdict, number, verdict.distance) for number in (verdict.value, verdict.bound, verdict.distance)
    )
    return value, bound, distance if distance.startswith("-") else f"+{distance}"


def _measured(verdict: Verdict, value: float, distance: float) -> str:
    if verdict.unit == "count":
        return f"{value:z,.10g}"
    scale, least, sign = (100.0, 2, "%") if verdict.unit == "percent" else (1.0, 4, "")
    return f"{scale * value:z,.{_decimals(scale * distance, least)}f}{sign}"


def _decimals(distance: float, least: int) -> int:
    """0.34996 against 0.35 must not read as 0.3500 against 0.3500 in a line that says "failed"."""
    if abs(distance) <= SEEN_AS_ZERO:
        return least
    return max(least, min(MOST_DECIMALS, math.ceil(-math.log10(abs(distance)))))
