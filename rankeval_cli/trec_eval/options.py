"""The options of trec_eval, read as GNU getopt reads them, and two of our own."""

from __future__ import annotations

import getopt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rankeval_cli.errors import RankevalError, did_you_mean
from rankeval_cli.readers.layout import PREFS, QRELS_JG, QRELS_PREFS, TREC_QRELS, TREC_RUN
from rankeval_cli.trec_eval.leniency import Kind, Leniency, whole

USAGE, INPUT, COMPUTING, NOTHING, ZSCORES = 1, 2, 4, 7, 255  # exit statuses of trec_eval
USAGE_LINE = "rankeval trec-eval [OPTIONS] QRELS RUN"
RESULTS_FORMATS = {"trec_results": f"{TREC_RUN.shape}; the rank is not used"}
REL_FORMATS = {"qrels": TREC_QRELS.shape} | {found.format: found.shape for found in (QRELS_JG, PREFS, QRELS_PREFS)}
NO_LIMIT = 2**63 - 1


class Refusal(RankevalError):
    """A problem that ends the program with the exit status that trec_eval has for it."""

    def __init__(self, status: int, what: str, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what, where, hint)
        self.code = status


class Option(NamedTuple):
    """One option. short : a letter, or "" for none; metavar : what its argument is, "" where it takes none."""

    short: str
    long: str
    metavar: str
    help: str


OPTIONS = (
    Option("h", "help", "", "show this help, and what the measures named by -m are"),
    Option("v", "version", "", "show the version, on standard error"),
    Option("q", "query_eval_wanted", "", "print every query before the summary"),
    Option("m", "measure", "NAME[.PARAMS]", "add a measure, or a group of them; may be repeated (default: official)"),
    Option("c", "complete_rel_info_wanted", "", "count judged queries without results, with what an empty ranking has"),
    Option("l", "level_for_rel", "N", "lowest grade that is relevant (default: 1)"),
    Option("n", "nosummary", "", "print no summary"),
    Option("M", "Max_retrieved_per_topic", "N", "keep the first N of each ranking only"),
    Option("J", "Judged_docs_only", "", "drop unjudged documents from each ranking"),
    Option("N", "Number_docs_in_coll", "N", "documents in the collection, for utility alone (default: 0)"),
    Option("R", "Rel_info_format", "FORMAT", "format of QRELS (default: qrels)"),
    Option("T", "Results_format", "FORMAT", "format of RUN: trec_results"),
    Option("Z", "Zscore", "FILE", "print z-scores against the means and deviations in FILE"),
    Option("D", "Debug_level", "N[.QUERY]", "say on standard error what was read, for N > 0; evaluate QUERY alone"),
    Option("o", "", "", "accepted, without effect"),
    Option("", "Output_old_results_format", "X", "accepted, without effect"),
    Option("", "as", "RELEASE", "numbers of trec_eval 9 or 10 (default: 10)"),
    Option("", "strict", "", "refuse what is read leniently otherwise (exit status 2)"),
    Option("", "debug", "", "show the traceback of a bug"),  # the caller looks for it
)


@dataclass(frozen=True)
class Options:
    """The command line, understood.

    measures : words after -m, in their order; () for the default
    depth : the most documents that a ranking keeps, 0 for none
    debug_query : the only query to evaluate, None for all
    release : 9 or 10
    notes : arguments that were read leniently
    """

    paths: tuple[str, ...]
    measures: tuple[str, ...] = ()
    wants_help: bool = False
    wants_version: bool = False
    per_query: bool = False
    complete: bool = False
    level: int = 1
    summary: bool = True
    depth: int = NO_LIMIT
    judged_only: bool = False
    num_docs: int = 0
    rel_format: str = "qrels"
    results_format: str = "trec_results"
    zscores: str | None = None
    debug_level: int = 0
    debug_query: str | None = None
    release: int = 10
    is_strict: bool = False
    notes: Leniency = field(default_factory=lambda: Leniency(False), compare=False)


def parse(words: Sequence[str]) -> Options:
    """The options of a command line; files and options may stand in any order, long names may be shortened.

    Raises Refusal, status 1, for an unknown or incomplete option, status 2 for an unknown format.
    """
    try:
        pairs, paths = getopt.gnu_getopt(list(words), _short_names(), _long_names())
    except getopt.GetoptError as problem:
        raise usage(problem.msg) from None
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        given.setdefault(_NAMES[name], []).append(value)
    return _understood(given, tuple(paths))


def usage(what: str) -> Refusal:
    """A refusal of the command line."""
    return Refusal(USAGE, what, hint=f"{USAGE_LINE}; rankeval trec-eval -h shows the options and measures")


def check_files(options: Options) -> tuple[str, str]:
    """Judgments and run. Raises Refusal, status 1, when there are not exactly two files."""
    if len(options.paths) != 2:
        count = len(options.paths)
        raise usage(f"{count or 'no'} file{'s' * (count != 1)} where judgments and a run belong")
    qrels, run = options.paths
    if qrels == run == "-":
        raise usage("`-` stands for both files, and standard input holds one")
    return qrels, run


def _short_names() -> str:
    return "".join(option.short + (":" if option.metavar else "") for option in OPTIONS if option.short)


def _long_names() -> list[str]:
    return [option.long + ("=" if option.metavar else "") for option in OPTIONS if option.long]


def _key(option: Option) -> str:
    return option.short or option.long


_NAMES = {
    **{f"-{option.short}": _key(option) for option in OPTIONS if option.short},
    **{f"--{option.long}": _key(option) for option in OPTIONS if option.long},
}


def _understood(given: dict[str, list[str]], paths: tuple[str, ...]) -> Options:
    notes = Leniency("strict" in given)
    level, query = _debug(given["D"][-1], notes) if "D" in given else (0, None)
    return Options(
        paths,
        measures=tuple(given.get("m", ())),
        wants_help="h" in given,
        wants_version="v" in given,
        per_query="q" in given,
        complete="c" in given,
        level=_number(given, "l", 1, notes),
        summary="n" not in given,
        depth=_depth(given, notes),
        judged_only="J" in given,
        num_docs=_number(given, "N", 0, notes),
        rel_format=_last(given, "R", "qrels"),
        results_format=_last(given, "T", "trec_results"),
        zscores=_last(given, "Z", "") or None,
        debug_level=level,
        debug_query=query,
        release=_release(_last(given, "as", "10")),
        is_strict="strict" in given,
        notes=notes,
    )


def _last(given: dict[str, list[str]], name: str, default: str) -> str:
    return given[name][-1] if name in given else default


def _number(given: dict[str, list[str]], name: str, default: int, notes: Leniency) -> int:
    return whole_argument(given[name][-1], f"-{name}", notes) if name in given else default


def whole_argument(text: str, where: str, notes: Leniency) -> int:
    """A whole number, read as trec_eval reads it."""
    number, is_all = whole(text)
    if not is_all:
        notes.note(Kind.NUMBER_PART if text.lstrip("+-")[:1].isdigit() else Kind.NUMBER_WORD, text, where)
    return number


def _depth(given: dict[str, list[str]], notes: Leniency) -> int:
    depth = _number(given, "M", NO_LIMIT, notes)
    if depth < 0:
        raise usage(f"-M is `{depth}`, and a ranking cannot keep fewer than 0 documents")
    return depth


def _debug(text: str, notes: Leniency) -> tuple[int, str | None]:
    level, dot, query = text.partition(".")
    return whole_argument(level, "-D", notes), query if dot else None


def _release(text: str) -> int:
    if text not in ("9", "10"):
        raise usage(f"--as is `{text}`, and the releases are 9 and 10")
    return int(text)


def check_formats(options: Options) -> None:
    """Raise Refusal, status 2, for a format that there is not."""
    for flag, name, known in (("-T", options.results_format, RESULTS_FORMATS), ("-R", options.rel_format, REL_FORMATS)):
        if name not in known:
            hint = did_you_mean(name, known) or f"formats are {', '.join(known)}"
            raise Refusal(INPUT, f"{flag} is `{name}`, which is no format", hint=hint)
