"""Tables for documents: GitHub Markdown and LaTeX. Ids and names are escaped; the best run of a measure is bold.

Both carry coverage, rules, layouts, warnings and verdicts too. Markdown is what people read below a change: verdicts
stand in a table above the others, the rest in a list under them. In LaTeX, where the table alone belongs to the paper,
all of it is comments.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankeval_cli.model import Report, Verdict
from rankeval_cli.report.compared_markup import latex_comparisons, markdown_comparisons
from rankeval_cli.report.comparisons import notes as comparison_notes
from rankeval_cli.report.escapes import latex_number, latex_row, latex_text, markdown_head, markdown_row, markdown_text
from rankeval_cli.report.reporter import Options
from rankeval_cli.report.summary import (
    note_lines,
    summary_lines,
    verdict_details,
    verdict_numbers,
    verdict_word,
    warning_lines,
)
from rankeval_cli.report.text import (
    TIE_TITLES,
    UNDEFINED,
    Row,
    counted,
    group_rows,
    group_titles,
    has_intervals,
    interval,
    interval_title,
    number,
    query_cells,
    rows,
    tie_notes,
    tie_rows,
    visible,
)


def render_markdown(report: Report, options: Options) -> Iterator[str]:
    """GitHub tables of verdicts, of means or comparisons, of the queries if asked for, and a list of notes."""
    if report.gates:
        yield from _markdown_verdicts(report)
        yield "\n"
    yield from markdown_comparisons(report) if report.comparisons else _markdown_table(report)
    if options.per_query:
        yield "\n"
        yield from _markdown_queries(report)
    if any(run.groups for run in report.runs):
        yield "\n"
        yield from _markdown_groups(report)
    if any(run.ties for run in report.runs):
        yield "\n"
        yield from _markdown_ties(report)
    yield "\n" + "".join(f"- {markdown_text(line)}\n" for line in _notes(report))


def _markdown_table(report: Report) -> Iterator[str]:
    yield from markdown_head(["measure", *(run.name for run in report.runs)], num_texts=1)
    for row in rows(report):
        yield markdown_row([markdown_text(row.measure), *_markdown_means(row)])


def _markdown_verdicts(report: Report) -> Iterator[str]:
    """A sentence with the counts, and a row a gate and run."""
    words = [verdict_word(verdict) for verdict in report.gates]
    nouns = {"failed": "failed", "warning": "warnings", "passed": "passed"}
    shown = (counted(words.count(word), word, nouns[word]) for word in nouns if word in words)
    yield f"**{counted(len(words), 'gate', 'gates')}: {', '.join(shown)}**\n\n"
    has_reasons = any(map(verdict_details, report.gates))
    titles = ["verdict", "run", "gate", "value", "bound", "distance", "queries", *(["reason"] if has_reasons else [])]
    yield from markdown_head(titles, num_texts=3, ends_in_text=has_reasons)
    for verdict in report.gates:
        cells = _markdown_verdict(verdict)
        yield markdown_row([*cells, markdown_text(verdict_details(verdict))] if has_reasons else cells)


def _markdown_verdict(verdict: Verdict) -> list[str]:
    word = verdict_word(verdict)
    numbers = [UNDEFINED if shown is None else shown for shown in verdict_numbers(verdict)]
    names = [markdown_text(verdict.run), markdown_text(verdict.gate)]
    return [word if verdict.passed else f"**{word}**", *names, *numbers, f"{verdict.queries:,}"]


def _markdown_means(row: Row) -> Iterator[str]:
    for i, result in enumerate(row.results):
        mean = number(result.value if result else None, row.is_count)
        bounds = interval(result) if result else UNDEFINED
        bold = f"**{mean}**" if i in row.best else mean
        yield bold if bounds == UNDEFINED else f"{bold} {bounds}"


def _markdown_queries(report: Report) -> Iterator[str]:
    several = len(report.runs) > 1
    names = [row.measure for row in rows(report)]
    yield from markdown_head([*(["run"] if several else []), "query", *names], num_texts=1 + several)
    for run in report.runs:
        prefix = [markdown_text(run.name)] if several else []
        for query, cells in query_cells(run, names):
            yield markdown_row([*prefix, markdown_text(query), *cells])


def _markdown_groups(report: Report) -> Iterator[str]:
    several = len(report.runs) > 1
    titles = [*(["run"] if several else []), *group_titles(report.runs[0])]
    yield from markdown_head(titles, num_texts=1 + several)
    for run in report.runs:
        prefix = [markdown_text(run.name)] if several else []
        for group, *cells in group_rows(run):
            yield markdown_row([*prefix, markdown_text(group), *cells])


def _markdown_ties(report: Report) -> Iterator[str]:
    several = len(report.runs) > 1
    titles = [*(["run"] if several else []), "ties", *TIE_TITLES]
    yield from markdown_head(titles, num_texts=1 + several)
    for run in report.runs:
        prefix = [markdown_text(run.name)] if several else []
        for measure, cells in tie_rows(run):
            yield markdown_row([*prefix, markdown_text(measure), *cells])


def _notes(report: Report) -> list[str]:
    has_brackets = has_intervals(report) and not report.comparisons
    brackets = [f"{interval_title(report)} in brackets"] if has_brackets else []
    further = comparison_notes(report) if report.comparisons else []
    return [*brackets, *tie_notes(report), *further, *summary_lines(report), *warning_lines(report)]


def render_latex(report: Report, options: Options) -> Iterator[str]:
    """A booktabs tabular of means with intervals or comparisons, and a longtable of the queries if asked for."""
    yield f"% needs \\usepackage{{booktabs{',longtable' if options.per_query else ''}}}\n"
    further = comparison_notes(report) if report.comparisons else []
    yield "".join(f"% {visible(line)}\n" for line in (*tie_notes(report), *further, *note_lines(report)))
    yield from latex_comparisons(report) if report.comparisons else _latex_means(report)
    if any(run.groups for run in report.runs):
        yield "\n"
        yield from _latex_groups(report)
    if any(run.ties for run in report.runs):
        yield "\n"
        yield from _latex_ties(report)
    if options.per_query:
        yield "\n"
        yield from _latex_queries(report)


def _latex_means(report: Report) -> Iterator[str]:
    paired = has_intervals(report)
    yield f"\\begin{{tabular}}{{l{('rc' if paired else 'r') * len(report.runs)}}}\n\\toprule\n"
    yield (
        _latex_paired_head(report) if paired else latex_row(["measure", *(latex_text(run.name) for run in report.runs)])
    )
    yield "\\midrule\n"
    for row in rows(report):
        yield latex_row([latex_text(row.measure), *_latex_cells(row, paired)])
    yield "\\bottomrule\n\\end{tabular}\n"


def _latex_paired_head(report: Report) -> str:
    names = [f"\\multicolumn{{2}}{{c}}{{{latex_text(run.name)}}}" for run in report.runs]
    rules = [f"\\cmidrule(lr){{{2 * i + 2}-{2 * i + 3}}}" for i in range(len(report.runs))]
    titles = [latex_text(report.rules.aggregate), latex_text(interval_title(report))] * len(report.runs)
    return latex_row(["", *names]) + " ".join(rules) + "\n" + latex_row(["measure", *titles])


def _latex_cells(row: Row, paired: bool) -> Iterator[str]:
    for i, result in enumerate(row.results):
        mean = latex_number(number(result.value if result else None, row.is_count))
        yield f"\\textbf{{{mean}}}" if i in row.best else mean
        if paired:
            yield latex_number(interval(result) if result else UNDEFINED)


def _latex_groups(report: Report) -> Iterator[str]:
    several = len(report.runs) > 1
    titles = [*(["run"] if several else []), *group_titles(report.runs[0])]
    yield f"\\begin{{tabular}}{{{'l' * (1 + several)}{'r' * (len(titles) - 1 - several)}}}\n\\toprule\n"
    yield latex_row([latex_text(title) for title in titles]) + "\\midrule\n"
    for run in report.runs:
        prefix = [latex_text(run.name)] if several else []
        for group, *cells in group_rows(run):
            yield latex_row([*prefix, latex_text(group), *map(latex_number, cells)])
    yield "\\bottomrule\n\\end{tabular}\n"


def _latex_ties(report: Report) -> Iterator[str]:
    several = len(report.runs) > 1
    yield f"\\begin{{tabular}}{{{'l' * (1 + several)}{'r' * len(TIE_TITLES)}}}\n\\toprule\n"
    yield latex_row([*(["run"] if several else []), "ties", *TIE_TITLES]) + "\\midrule\n"
    for run in report.runs:
        prefix = [latex_text(run.name)] if several else []
        for measure, cells in tie_rows(run):
            yield latex_row([*prefix, latex_text(measure), *map(latex_number, cells)])
    yield "\\bottomrule\n\\end{tabular}\n"


def _latex_queries(report: Report) -> Iterator[str]:
    several = len(report.runs) > 1
    names = [row.measure for row in rows(report)]
    yield f"\\begin{{longtable}}{{{'l' * (1 + several)}{'r' * len(names)}}}\n\\toprule\n"
    yield latex_row([*(["run"] if several else []), "query", *map(latex_text, names)])
    yield "\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n"
    for run in report.runs:
        prefix = [latex_text(run.name)] if several else []
        for query, cells in query_cells(run, names):
            yield latex_row([*prefix, latex_text(query), *map(latex_number, cells)])
    yield "\\end{longtable}\n"
