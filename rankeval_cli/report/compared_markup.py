"""Comparisons for documents: every number in Markdown; in LaTeX means with the letters of the runs that they beat."""

from __future__ import annotations

from collections.abc import Iterator
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
    yield "".join(f"% {_told(found, report)}\n" for found in report.comparisons)
    measures = rows(report)
    letters = _letters(len(report.runs))
    yield f"\\begin{{tabular}}{{ll{'l' * len(measures)}}}\n\\toprule\n"
    yield latex_row(["", "run", *(latex_text(row.measure) for row in measures)]) + "\\midrule\n"
    for place, (run, letter) in enumerate(zip(report.runs, letters, strict=True)):
        cells = []
        for row in measures:
            result = row.results[place]
            mean = latex_number(number(result.value if result else None, row.is_count))
            bold = f"\\textbf{{{mean}}}" if place in row.best else mean
            cells.append(bold + _superscript(report, run.name, row.measure, letters))
        yield latex_row([letter, latex_text(run.name), *cells])
    yield "\\bottomrule\n\\end{tabular}\n\n"
    yield f"\\smallskip\n{{\\footnotesize {_note(report, letters)}}}\n"


def _letters(count: int) -> list[str]:
    """a, b, .. z, aa, ab, .."""
    if count <= len(ascii_lowercase):
        return list(ascii_lowercase[:count])
    return [f"{_letter(place // 26 - 1)}{_letter(place % 26)}" for place in range(count)]


def _letter(place: int) -> str:
    return ascii_lowercase[place] if place >= 0 else ""


def _superscript(report: Report, run: str, measure: str, letters: list[str]) -> str:
    beaten = [letter for other, letter in zip(report.runs, letters, strict=True)
              if any(_beats(found, run, other.name, measure) for found in report.comparisons)]  # fmt: skip
    sign = "" if len(letters) <= len(ascii_lowercase) else ","
    return f"$^{{{sign.join(beaten)}}}$" if beaten else ""


def _beats(found: Comparison, run: str, other: str, measure: str) -> bool:
    """Whether the comparison says that the run is significantly better than the other one."""
    if not found.significant or found.measure != measure:
        return False
    return (found.base, found.run, found.better) in ((other, run, True), (run, other, False))


def _note(report: Report, letters: list[str]) -> str:
    """What the superscripts mean."""
    base = only_base(report)
    places = {run.name: letter for run, letter in zip(report.runs, letters, strict=True)}
    which = "" if base is None or len(pairs_of(report)) == 1 else f", all runs compared with {places[base]}"
    alpha = f"$p \\leq {report.comparisons[0].alpha:g}$"
    return f"A superscript names a run that is significantly worse{which} ({latex_text(test_text(report))}, {alpha})."


def _told(found: Comparison, report: Report) -> str:
    """A comparison in a line."""
    each = entry(found)
    names = f"{visible(found.run)} against {visible(found.base)}, {visible(found.measure)}"
    numbers = f"{each.diff} {each.interval}, {p_title(report)} {each.p_value}, effect {each.effect}, {each.counts}"
    return f"{names}: {numbers}{' ' if each.mark else ''}{each.mark}"
