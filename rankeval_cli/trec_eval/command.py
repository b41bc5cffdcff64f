"""`rankeval trec-eval`: words in, lines on standard output, messages on standard error, an exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

from rankeval_cli.trec_eval.options import Options, check_files, check_formats, parse

VERSIONS = {9: "9.0.8", 10: "10.0"}


def run(words: Sequence[str], before_reading: Callable[[], None] = lambda: None) -> int:
    """Do what the command line asks, and return exit status 0.

    before_reading : called once the words are understood, and not for help or version

    Raises RankevalError, whose `code` is the exit status that trec_eval has for the problem.
    """
    options = parse(words)
    if options.wants_version:
        print(version_line(options), file=sys.stderr)
        return 0
    check_formats(options)
    if options.wants_help:
        return _help(options)
    return _evaluate(options, before_reading)


def version_line(options: Options) -> str:
    """Our version, and the release of trec_eval whose numbers are given."""
    from rankeval_cli import __version__

    return f"rankeval {__version__}, in place of trec_eval version {VERSIONS[options.release]}"


def _help(options: Options) -> int:
    from rankeval_cli.report.output import write_stdout
    from rankeval_cli.trec_eval.manual import manual

    write_stdout([manual(options)])
    return 0


def _evaluate(options: Options, before_reading: Callable[[], None]) -> int:
    from rankeval_cli.report.output import write_stdout
    from rankeval_cli.trec_eval.evaluation import evaluate
    from rankeval_cli.trec_eval.printing import render
    from rankeval_cli.trec_eval.selection import select
    from rankeval_cli.trec_eval.zscores import read_zscores

    check_files(options)
    lines = select(options)
    zscores = None if options.zscores is None else read_zscores(options.zscores)
    before_reading()
    evaluated = evaluate(options, lines)
    _tell([*options.notes.warnings(), *evaluated.warnings], evaluated.facts if options.debug_level > 0 else ())
    write_stdout(render(lines, evaluated, options, zscores))
    return 0


def _tell(warnings: Iterable[str], facts: Iterable[str]) -> None:
    from rankeval_cli.report.terminal import print_warnings

    for fact in facts:
        print(f"debug: {fact}", file=sys.stderr)
    print_warnings(warnings)
