"""What `rankeval trec-eval -h` shows: options, measures, groups and formats, all from their declarations."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from rankeval_cli.measures.registry import describe
from rankeval_cli.measures.values import write_value
from rankeval_cli.trec_eval.options import OPTIONS, REL_FORMATS, RESULTS_FORMATS, USAGE_LINE, Option, Options
from rankeval_cli.trec_eval.selection import GROUPS, NOT_MEASURES, Name, names, wanted_names

WIDTH = 100
TAKES = {
    "cutoffs": "cutoffs `{stem}.5,10`; default {defaults}",
    "points": "values `{stem}.0.2,0.5`; default {defaults}",
    "numbers": "numbers",
    "pairs": "pairs KEY=VALUE",
}


def manual(options: Options) -> str:
    """The help; then what the measures of -m are, and the formats in force. Ends with a newline."""
    known = names()
    parts = [_head(), _measures(known.values()), _formats()]
    if options.measures:
        parts += [_explained(known[stem]) for stem in wanted_names(options)]
        parts += [_in_force(options)]
    return "\n".join(parts)


def _head() -> str:
    lines = [f"usage: {USAGE_LINE}", ""]
    lines += _wrapped(
        "Evaluates RUN against QRELS as trec_eval does. Options may follow the files, short ones may be joined, and "
        "long names may be shortened. RUN may be `-` for standard input.",
        "",
    )
    lines += ["", "options:"]
    for option in OPTIONS:
        lines += _wrapped(option.help, f"  {_spelling(option):<38}")
    return "\n".join(lines) + "\n"


def _spelling(option: Option) -> str:
    short = f"-{option.short}" if option.short else ""
    long = f"--{option.long}" if option.long else ""
    return ", ".join(filter(None, (short, long))) + (f" {option.metavar}" if option.metavar else "")


def _measures(known: Iterable[Name]) -> str:
    lines = [
        *_wrapped(f"groups of measures (-m): {', '.join(GROUPS)}", ""),
        "measures (-m), in the order printed, with their groups and what may follow after a dot:",
    ]
    for name in known:
        lines += _wrapped("; ".join(_facts(name)), f"  {name.entry.stem:<24}")
    return "\n".join(lines) + "\n"


def _facts(name: Name) -> Iterator[str]:
    entry = name.entry
    yield title(name)
    yield f"groups: {', '.join(entry.groups)}" if entry.groups else "in no group"
    if entry.takes is not None:
        defaults = ",".join(map(write_value, entry.defaults))
        yield TAKES[entry.takes].format(stem=entry.stem, defaults=defaults)


def title(name: Name) -> str:
    """What the measure is, in one phrase, and the parameters of ours that make it that."""
    if name.measure is None:
        return NOT_MEASURES[name.entry.stem]
    given = ", ".join(f"{param}={write_value(value)}" for param, value in name.entry.params.items())
    grouped = ", mean over the judgment groups" if name.entry.by_group else ""
    return name.measure.title + grouped + (f" ({given})" if given else "")


def _formats() -> str:
    lines = ["formats of QRELS (-R):"]
    for name, columns in REL_FORMATS.items():
        lines += _wrapped(columns, f"  {name:<14}")
    lines += ["formats of RUN (-T):"]
    for name, columns in RESULTS_FORMATS.items():
        lines += _wrapped(columns, f"  {name:<14}")
    return "\n".join(lines) + "\n"


def _in_force(options: Options) -> str:
    qrels, results = REL_FORMATS[options.rel_format], RESULTS_FORMATS[options.results_format]
    lines = _wrapped(f"{options.rel_format}: {qrels}", "QRELS are ")
    return "\n".join([*lines, *_wrapped(f"{options.results_format}: {results}", "RUN is ")]) + "\n"


def _explained(name: Name) -> str:
    if name.measure is None:
        return f"{name.entry.stem}: {title(name)}\n"
    return f"{name.entry.stem}\n{textwrap.indent(describe(name.measure), '  ')}"


def _wrapped(text: str, label: str) -> list[str]:
    indent = " " * len(label)
    return textwrap.wrap(
        text, WIDTH, initial_indent=label, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
