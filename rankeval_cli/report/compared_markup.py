"""Comparisons for documents: every number in Markdown; in LaTeX means with the letters of the runs that they beat."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from string import ascii_lowercase

from rankeval_cli.model import Comparison, Report
from rankeval_cli.report.comparisons import entry, only_base, p_title, pairs_of, test_text
from rankeval_cli.report.escapes import latex_number, latex_row, latex_text, markdown_head, markdown_row, markdown_text
from rankeval_cli.report.text import interval_title, number, rows, visible


def markdown_comparisons(report: Report) -> Iterator[str]:
    """A table with a row a measure and pair; what is significant is bold."""
    names = ["measure", "run", *([] if only_base(report) else ["against"])]
    base = only_base(report)
    if base is not None:
        yield f"Against {markdown_text(base)}:\n\n"
    numbers = ["base", "mean", "diff", "", interval_title(report), p_title(report), "change", "effect", "w/t/l"]
    yield from markdown_head([*names, *numbers], num_texts=len(names))
    for found in report.comparisons:
        texts = [found.measure, found.run, *([] if base else [found.base])]
        yield markdown_row([*map(markdown_text, texts), *_markdown_numbers(found)])


def _markdown_numbers(found: Comparison) -> list[str]:
    each = entry(found)
    diff = f"**{each.diff}**" if found.significant else each.diff
    verdict = markdown_text(f"{each.verdict} {each.mark}".strip())
    p_value = markdown_text(each.p_value)
    return [each.base_value, each.value, diff, verdict, each.interval, p_value, each.change, each.effect, each.counts]


def latex_comparisons(report: Report) -> Iterator[str]:
    """A booktabs tabular with a row a run and a column a measure, the best mean bold, and a note below.

    Every comparison is a comment above it.
    """
    p_value = p_title(report)
    yield "".join(f"% {_told(found, p_value)}\n" for found in report.comparisons)
    measures = rows(report)
    letters, beaten = _letters(report), _beaten(report)
    yield f"\\begin{{tabular}}{{ll{'l' * len(measures)}}}\n\\toprule\n"
    yield latex_row(["", "run", *(latex_text(row.measure) for row in measures)]) + "\\midrule\n"
    for place, run in enumerate(report.runs):
        cells = []
        for row in measures:
            result = row.results[place]
            mean = latex_number(number(result.value if result else None, row.is_count))
            bold = f"\\textbf{{{mean}}}" if place in row.best else mean
            others = beaten.get((row.measure, run.name), set())
            cells.append(bold + _superscript([letters[other.name] for other in report.runs if other.name in others]))
        yield latex_row([letters[run.name], latex_text(run.name), *cells])
    yield "\\bottomrule\n\\end{tabular}\n\n"
    yield f"\\smallskip\n{{\\footnotesize {_note(report, letters)}}}\n"


def _letters(report: Report) -> dict[str, str]:
    """Run -> a, b, .. z, aa, ab, .."""
    names = ["".join(pair) for pair in product(("", *ascii_lowercase), ascii_lowercase)]
    names += [str(place) for place in range(len(names), len(report.runs))]
    return dict(zip((run.name for run in report.runs), names, strict=False))


def _beaten(report: Report) -> dict[tuple[str, str], set[str]]:
    """Measure and run -> the runs that it is significantly better than."""
    beaten: dict[tuple[str, str], set[str]] = {}
    for found in report.comparisons:
        if found.significant and found.better is not None:
            winner, loser = (found.run, found.base) if found.better else (found.base, found.run)
            beaten.setdefault((found.measure, winner), set()).add(loser)
    return beaten


def _superscript(letters: list[str]) -> str:
    sign = "" if all(len(letter) == 1 for letter in letters) else ","
    return f"$^{{{sign.join(letters)}}}$" if letters else ""


def _note(report: Report, letters: dict[str, str]) -> str:
    """What the superscripts mean."""
    base = only_base(report)
    which = "" if base is None or len(pairs_of(report)) == 1 else f", all runs compared with {letters[base]}"
    alpha = f"$p \\leq {report.comparisons[0].alpha:g}$"
    return f"A superscript names a run that is significantly worse{which} ({latex_text(test_text(report))}, {alpha})."


def _told(found: Comparison, p_value: str) -> str:
    """A comparison in a line; p_value : what the p-values are called."""
    each = entry(found)
    names = f"{visible(found.run)} against {visible(found.base)}, {visible(found.measure)}"
    numbers = f"{each.diff} {each.interval}, {p_value} {each.p_value}, effect {each.effect}, {each.counts}"
    return f"{names}: {numbers}{' ' if each.mark else ''}{each.mark}"
