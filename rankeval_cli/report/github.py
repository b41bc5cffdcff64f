"""GitHub Actions: an annotation a gate on standard output, and the Markdown report in the summary of the step.

Standard output holds workflow commands and nothing else, so that no id can become one. GitHub shows the first ten
annotations of a kind of each step; failures are errors, so they come before everything else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from rankeval_cli.model import Report, Verdict
from rankeval_cli.report.markup import render_markdown
from rankeval_cli.report.output import append_file
from rankeval_cli.report.reporter import Options
from rankeval_cli.report.summary import verdict_line, verdict_word
from rankeval_cli.report.text import interval, number, rows, visible

SUMMARY_BYTES = 60 * 1024  # a comment on a pull request ends at 64 Ki characters; the summary of a step at 1 MiB
_LEVELS = {"failed": "error", "warning": "warning", "passed": "notice"}

# What the runner takes back out of a message; in a property `:` and `,` mean something too (command.ts of its toolkit).
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = {**_MESSAGE, **str.maketrans({":": "%3A", ",": "%2C"})}


def render_github(report: Report, options: Options) -> Iterator[str]:
    """Workflow commands: gates, failed ones first, then warnings of the report, then the means of each run.

    The values of the queries are in the summary of the step only.
    """
    order = list(_LEVELS)
    for verdict in sorted(report.gates, key=lambda verdict: order.index(verdict_word(verdict))):
        yield _annotated(verdict)
    for warning in report.warnings:
        yield _command("warning", "rankeval", visible(warning))
    for name, means in _means(report):
        yield _command("notice", f"rankeval: {name}", means)


def _annotated(verdict: Verdict) -> str:
    word = verdict_word(verdict)
    start = f"gate {word}: "
    return _command(_LEVELS[word], f"rankeval: gate {word}", verdict_line(verdict).removeprefix(start))


def _means(report: Report) -> Iterator[tuple[str, str]]:
    """Each run's name, and its means with their intervals in one line."""
    lines = rows(report)
    for i, run in enumerate(report.runs):
        cells = []
        for line in lines:
            result = line.results[i]
            if result is not None:
                bounds = "" if result.ci_low is None else f" {interval(result)}"
                cells.append(f"{visible(line.measure)} {number(result.value, line.is_count)}{bounds}")
        yield visible(run.name), ", ".join(cells)


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={title.translate(_PROPERTY)}::{message.translate(_MESSAGE)}\n"


def append_summary(report: Report, options: Options) -> None:
    """Append the Markdown report to the file that GITHUB_STEP_SUMMARY names; nothing where it names none.

    Raises OutputError when the file cannot be written.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        append_file(path, _cut(render_markdown(report, Options(options.per_query)), SUMMARY_BYTES))


def _cut(chunks: Iterator[str], most_bytes: int) -> bytes:
    """The text in UTF-8, behind a blank line; whole lines up to the limit, and then a note that says so."""
    note = b"\n*cut here: the whole report did not fit into the summary; `-o report.md` writes all of it*\n"
    kept, size = [b"\n"], 1
    for line in (line + "\n" for chunk in chunks for line in chunk.removesuffix("\n").split("\n")):
        data = line.encode("utf-8", "backslashreplace")
        if size + len(data) > most_bytes - len(note):
            return b"".join([*kept, note])
        kept.append(data)
        size += len(data)
    return b"".join(kept)
