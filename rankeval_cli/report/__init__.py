"""Reporters: one report, rendered.

`REPORTERS` is the one list of formats; help, -f, -o and the documentation are derived from it. `output` writes what a
reporter renders, `terminal` holds what only a terminal gets.
"""

from __future__ import annotations

from collections.abc import Iterable

from rankeval_cli.errors import UsageError, did_you_mean
from rankeval_cli.late import Late
from rankeval_cli.model import Report
from rankeval_cli.report import output
from rankeval_cli.report.output import is_stream, write_file
from rankeval_cli.report.reporter import Options, Reporter
from rankeval_cli.report.terminal import options_for

__all__ = [
    "REPORTERS",
    "Options",
    "Reporter",
    "default",
    "find",
    "for_path",
    "names",
    "options_for",
    "write_file",
    "write_lines",
    "write_stdout",
]

REPORTERS: tuple[Reporter, ...] = (
    Reporter(
        "table",
        "a table for people; the default on a terminal",
        (".txt",),
        Late("report.terminal:render_table"),
        is_styled=True,
    ),
    Reporter(
        "tsv",
        "tab-separated, one row a run, measure and query; the default in a pipe",
        (".tsv",),
        Late("report.data:render_tsv"),
    ),
    Reporter("csv", "the same rows, comma-separated", (".csv",), Late("report.data:render_csv")),
    Reporter("json", "one document with rules, coverage and every result", (".json",), Late("report.data:render_json")),
    Reporter(
        "jsonl", "the rows of tsv as one JSON object a line", (".jsonl", ".ndjson"), Late("report.data:render_jsonl")
    ),
    Reporter(
        "markdown",
        "a GitHub table with coverage, warnings and gates",
        (".md", ".markdown"),
        Late("report.markup:render_markdown"),
    ),
    Reporter("latex", "a booktabs table", (".tex",), Late("report.markup:render_latex")),
    Reporter(
        "trec",
        "the lines of trec_eval, four decimals",
        (".eval",),
        Late("report.trec:render_trec"),
        shows_comparisons=False,
    ),
    Reporter(
        "junit",
        "JUnit XML for build servers, a test case a gate",
        (".xml",),
        Late("report.junit:render_junit"),
        shows_comparisons=False,
    ),
    Reporter(
        "github",
        "GitHub annotations, a line a gate, and the summary of the step",
        (),
        Late("report.github:render_github"),
        also=Late("report.github:append_summary"),
    ),
    Reporter("parquet", "the rows of tsv as a Parquet file", (".parquet",), write=Late("report.data:write_parquet")),
)

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def names() -> list[str]:
    """What -f takes: the formats that are text."""
    return [reporter.name for reporter in REPORTERS if reporter.render is not None]


def default(is_terminal: bool) -> Reporter:
    """The format of standard output when -f does not say."""
    return find("table" if is_terminal else "tsv")


def find(name: str) -> Reporter:
    """The text format of that name, in any case, or of that file suffix (`md`).

    Raises UsageError for an unknown name, with the closest ones, and for a binary format, which only -o writes.
    """
    word = name.lower()
    for reporter in REPORTERS:
        if word == reporter.name or f".{word}" in reporter.suffixes:
            if reporter.render is None:
                hint = f"write a file: `-o report{reporter.suffixes[0]}`"
                raise UsageError(f"`{name}` is binary and does not go to standard output", hint=hint)
            return reporter
    hint = did_you_mean(word, names()) or f"choose one of {', '.join(names())}"
    raise UsageError(f"`{name}` is not a format", hint=hint)


def for_path(path: str, otherwise: Reporter | None = None) -> Reporter:
    """The format that a file's name asks for by its suffix, in any case.

    otherwise : for a pipe or device without a known suffix (`/dev/stdout`, `>(command)`); tsv when None
    Raises UsageError for any other unknown suffix, for a compressed one, and for `-`.
    """
    if path == "-":
        raise UsageError("`-o -` names no file", hint="results go to standard output anyway; -f chooses their format")
    name = path.lower()
    for reporter in REPORTERS:
        if name.endswith(reporter.suffixes):
            return reporter
    if is_stream(path):
        return otherwise or default(is_terminal=False)
    for suffix in COMPRESSED:
        if name.endswith(suffix):
            plain = path[: -len(suffix)]
            raise UsageError(
                f"`{path}`: reports are not compressed", hint=f"write `{plain}` and compress it afterwards"
            )
    known = " ".join(suffix for reporter in REPORTERS for suffix in reporter.suffixes)
    raise UsageError(f"`{path}`: the suffix names no report format", hint=f"end the name in one of {known}")


def write_stdout(reporter: Reporter, report: Report, options: Options) -> None:
    """Write a report in a text format to standard output, and do what the format does besides.

    Raises as `output.write_stdout` does.
    """
    assert reporter.render is not None
    output.write_stdout(reporter.render(report, options), reporter.is_styled)
    if reporter.also is not None:
        reporter.also(report, options)


def write_lines(lines: Iterable[str]) -> None:
    """Write lines without line ends to standard output; raises as `output.write_stdout` does."""
    output.write_stdout(line + "\n" for line in lines)
