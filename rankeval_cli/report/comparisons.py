"""Comparisons as people read them: the cells that tables share, and the lines that explain them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rankeval_cli.model import Anova, Comparison, Report
from rankeval_cli.report.text import (
    UNDEFINED,
    counted,
    interval_title,
    is_count,
    metrics_by_name,
    number,
    visible,
)

LEAST_P = 0.0001  # smaller p-values read as `<0.0001`
EQUAL = 1e-9  # the tolerance within which values are equal

Pair = tuple[str, str]  # names of base and run


@dataclass(frozen=True)
class Entry:
    """The cells of one comparison.

    verdict : better, worse or same; nothing where neither can be said. mark : `*` where it is significant
    """

    base_value: str
    value: str
    diff: str
    verdict: str
    mark: str
    change: str
    interval: str
    p_value: str
    effect: str
    counts: str

    @property
    def verdict_mark(self) -> str:
        """The verdict with its mark, as wide for all verdicts."""
        return f"{self.verdict:<6} {self.mark}".rstrip()


def entry(found: Comparison) -> Entry:
    """The cells of one comparison."""
    return Entry(
        base_value=number(found.base_value),
        value=number(found.value),
        diff=signed(found.diff),
        verdict=_verdict(found),
        mark="*" if found.significant else "",
        change=_with_sign(found.relative, ".1%"),
        interval=_interval(found),
        p_value=p_text(found.p_adjusted),
        effect=_with_sign(found.effect, ".2f"),
        counts=f"{found.wins:,}/{found.ties:,}/{found.losses:,}",
    )


def signed(value: float | None) -> str:
    """A difference with its sign, in the decimals of values."""
    shown = number(value)
    return f"+{shown}" if value is not None and value > 0.0 and shown != number(0.0) else shown


def _with_sign(value: float | None, form: str) -> str:
    """A number with its sign; what rounds to 0 has none."""
    if value is None:
        return UNDEFINED
    shown = f"{value:z{form}}"
    return f"+{shown}" if value > 0.0 and shown != f"{0.0:{form}}" else shown


def p_text(value: float | None) -> str:
    """A p-value in four decimals, never as 0."""
    if value is None:
        return UNDEFINED
    return f"<{LEAST_P}" if value < LEAST_P / 2 else f"{value:.4f}"


def _verdict(found: Comparison) -> str:
    if found.better is not None:
        return "better" if found.better else "worse"
    return "same" if found.diff is not None and abs(found.diff) <= EQUAL else ""


def _interval(found: Comparison) -> str:
    if found.ci_low is None or found.ci_high is None:
        return UNDEFINED
    return f"[{number(found.ci_low)}, {number(found.ci_high)}]"


def pairs_of(report: Report) -> list[Pair]:
    """The pairs that are compared, in their order."""
    return list(dict.fromkeys((found.base, found.run) for found in report.comparisons))


def only_base(report: Report) -> str | None:
    """The run that all others are compared with; None where there are several."""
    bases = {base for base, _ in pairs_of(report)}
    return bases.pop() if len(bases) == 1 else None


def by_pair(report: Report) -> dict[Pair, list[Comparison]]:
    """The comparisons of each pair, by measure."""
    found: dict[Pair, list[Comparison]] = {}
    for each in report.comparisons:
        found.setdefault((each.base, each.run), []).append(each)
    return found


def p_title(report: Report) -> str:
    """The heading of the p-values, with the correction if there is one."""
    first = report.comparisons[0]
    return "p" if first.correction == "none" or _family_size(report) <= 1 else f"p ({first.correction})"


def _family_size(report: Report) -> int:
    """How many p-values are corrected together, at most."""
    with_p = [found for found in report.comparisons if found.p_value is not None]
    if report.comparisons[0].family == "all":
        return len(with_p)
    return max(Counter(found.measure for found in with_p).values(), default=0)


def test_text(report: Report) -> str:
    """Which test, and over what its p-values are corrected."""
    first, size = report.comparisons[0], _family_size(report)
    if first.correction == first.test:
        return f"{first.test} test, which allows for all pairs of the {len(report.runs)} runs"
    test = f"paired {first.test} test"
    if size <= 1:
        return test
    which = "of all measures" if first.family == "all" else "of each measure"
    over = f"{size:,} comparisons {which}"
    return f"{test}, not corrected for {over}" if first.correction == "none" else (
        f"{test}, corrected by {first.correction} over {over}"
    )  # fmt: skip


def notes(report: Report) -> list[str]:
    """What a reader of the table must know: the test, the columns, whatever is not as usual, analyses of variance."""
    first = report.comparisons[0]
    methods = dict.fromkeys(found.ci_method for found in report.comparisons if found.ci_method)
    lines = [f"* p <= {first.alpha:g} ({test_text(report)})"]
    lines += [f"{interval_title(report)} of diff: {', '.join(methods)}"] if methods else []
    lines += ["effect: diff / standard deviation of the differences; w/t/l: queries better, equal, worse"]
    return [*lines, *_about_measures(report), *_counts(report), *_reasons(report), *anova_lines(report.anova)]


def _about_measures(report: Report) -> list[str]:
    metrics = metrics_by_name(report)
    names = list(dict.fromkeys(found.measure for found in report.comparisons))
    about = {
        "lower is better": [name for name in names if metrics[name].measure.direction == "lower"],
        "neither is better": [name for name in names if metrics[name].measure.direction == "none"],
        "mean per query": [name for name in names if is_count(metrics[name])],
    }
    return [f"{what}: {_joined(names)}" for what, names in about.items() if names]


def _counts(report: Report) -> list[str]:
    """The comparisons that are not over all judged queries, by how many they are over."""
    judged = max((run.coverage.judged for run in report.runs), default=0)
    counts: dict[int, list[str]] = {}
    for found, name in _named(report):
        if found.queries != judged:
            counts.setdefault(found.queries, []).append(name)
    every = counted(judged, "query", "queries")
    return [f"over {count:,} of {every}: {_joined(names)}" for count, names in counts.items()]


def _reasons(report: Report) -> list[str]:
    """Why there is no p-value or interval, or which one it is; once where both have one reason."""
    reasons: dict[str, list[str]] = {}
    for found, name in _named(report):
        for note in dict.fromkeys((found.note, found.ci_note)):
            if note:
                reasons.setdefault(note, []).append(name)
    return [f"{_joined(names)}: {visible(note)}" for note, names in reasons.items()]


def _named(report: Report) -> Iterator[tuple[Comparison, str]]:
    """Each comparison with the name of its measure, and of its runs where there are several pairs."""
    is_single, has_base = len(pairs_of(report)) == 1, only_base(report) is not None
    for found in report.comparisons:
        runs = found.run if has_base else f"{found.run}, {found.base}"
        yield found, found.measure if is_single else f"{found.measure} ({runs})"


def _joined(names: Iterable[str]) -> str:
    return ", ".join(visible(name) for name in dict.fromkeys(names))


def anova_lines(found: Sequence[Anova]) -> list[str]:
    """A line for the analysis of variance of each measure."""
    return [f"analysis of variance, {visible(each.measure)}: {_anova(each)}" for each in found]


def _anova(found: Anova) -> str:
    if found.f is None or not math.isfinite(found.f):
        return visible(found.note or UNDEFINED)
    p_value = p_text(found.p_value)
    shown = p_value if p_value.startswith("<") else f"= {p_value}"
    return f"F({found.runs_df}, {found.error_df:,}) = {found.f:.4g}, p {shown}"
