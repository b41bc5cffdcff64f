"""What `-m` asks for: names and groups with their parameters become the lines that are printed, in a fixed order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import get_args

from rankeval_cli.assessments import PREFERENCE_LAYOUTS
from rankeval_cli.errors import UsageError, did_you_mean
from rankeval_cli.measures.printed import Pairs, known_names, lines_of
from rankeval_cli.measures.release9 import of_release
from rankeval_cli.measures.sets import EVERY_GROUP
from rankeval_cli.measures.spec import Group, Measure, Metric, TrecEval
from rankeval_cli.preferences import MEASURES
from rankeval_cli.trec_eval.leniency import Kind, Leniency, real, whole
from rankeval_cli.trec_eval.options import COMPUTING, INPUT, USAGE, Options, Refusal, whole_argument

GROUPS: tuple[str, ...] = get_args(Group)
DEFAULT = "official"
MAX_LEVEL = 1e9
RUNID = TrecEval(1, "runid", EVERY_GROUP, per_query=False)
NUM_Q, NUM_REL = "num_q", "num_rel"  # what counts queries without results in every release
RELSTRING = TrecEval(13, "relstring", takes="numbers", defaults=(10.0,), summary=False)
NOT_MEASURES = {
    RUNID.stem: "tag of the run's last line",
    RELSTRING.stem: "grades of the first documents: a digit, > above 9, - not in QRELS, . judged negative",
}


@dataclass(frozen=True)
class Name:
    """A name that `-m` knows.

    measure : None for what is no measure (`runid`, `relstring`)
    formats : the formats of judgments that it can be computed from, () for any
    """

    entry: TrecEval
    measure: Measure | None
    formats: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One line of a query.

    metric : what is computed, None for what is no measure
    length : how many signs a `relstring` has, else 0
    """

    name: str
    entry: TrecEval
    metric: Metric | None = None
    length: int = 0

    @property
    def is_count(self) -> bool:
        """Whether the values are whole numbers of things, added up in the summary."""
        return self.metric is not None and self.metric.measure.aggregate == "sum"

    @property
    def is_geometric(self) -> bool:
        """Whether the summary is the geometric mean."""
        return self.metric is not None and self.metric.measure.aggregate == "geometric"


def names() -> dict[str, Name]:
    """Every name that `-m` knows, in the order printed."""
    found = [Name(RUNID, None, ()), Name(RELSTRING, None, ("qrels",))]
    for entry, measure in known_names():
        formats = () if entry.groups == EVERY_GROUP else ("qrels_jg",) if entry.by_group else ("qrels",)
        found.append(Name(entry, measure, formats))
    found += [Name(entry, measure, tuple(PREFERENCE_LAYOUTS)) for measure in MEASURES for entry in measure.trec_eval]
    return {name.entry.stem: name for name in sorted(found, key=lambda name: name.entry.order)}


def select(options: Options) -> tuple[Line, ...]:
    """The lines to print, in order.

    Of several lists of parameters for one name the first counts; a list counts before the bare name. Parameters of a
    group, or of a name that takes none, are not looked at.
    Raises Refusal: status 1 for an unknown name or an empty list, 2 for a list that cannot be, 4 for a wrong count of
    numbers, and for a measure that the format of the judgments does not allow.
    """
    known = names()
    wanted = _wanted(options, known)
    lines: list[Line] = []
    for stem, name in known.items():
        if stem in wanted:
            _check_format(name, options.rel_format)
            lines += _lines(name, wanted[stem], options)
    return tuple(lines)


def wanted_names(options: Options) -> list[str]:
    """The names of the lines that -m asks for, in the order printed."""
    known = names()
    wanted = _wanted(options, known)
    return [stem for stem in known if stem in wanted]


def _wanted(options: Options, known: dict[str, Name]) -> dict[str, str]:
    """The list behind each name that is asked for, "" for none."""
    wanted: dict[str, str] = {}
    for word in options.measures or (DEFAULT,):
        stem, dot, text = word.partition(".")
        if dot and not text:
            raise Refusal(USAGE, f"-m `{word}`: nothing follows the dot", hint=f"write `-m {stem}`, or parameters")
        members = [name.entry.stem for name in known.values() if _is_member(name.entry, stem, options.release)]
        if stem not in known and not members:
            hint = did_you_mean(stem, (*known, *GROUPS)) or "rankeval trec-eval -h lists the measures"
            raise Refusal(USAGE, f"-m `{word}`: there is no measure `{stem}`", hint=hint)
        for member in members or [stem]:
            is_list = bool(text) and not members and known[member].entry.takes is not None
            wanted[member] = wanted.get(member) or (text if is_list else "")
    return wanted


def _is_member(entry: TrecEval, group: str, release: int) -> bool:
    return group in entry.groups and entry.since <= release


def _check_format(name: Name, rel_format: str) -> None:
    if name.formats and rel_format not in name.formats:
        what = f"`{name.entry.stem}` cannot be computed from judgments of the format {rel_format}"
        raise Refusal(COMPUTING, what, hint=f"it needs -R {' or '.join(name.formats)}; -m names the measures")


def _lines(name: Name, text: str, options: Options) -> list[Line]:
    entry, measure = name.entry, name.measure
    where = f"-m {entry.stem}.{text}"
    if entry is RELSTRING:
        return [_relstring(text, where, options.notes)]
    if measure is None:
        return [Line(entry.stem, entry)]
    try:
        printed = lines_of(measure, entry, *_parameters(measure, entry, text, where, options), text)
    except UsageError as problem:
        raise Refusal(COMPUTING, f"{where}: {problem.what}", hint=problem.hint) from None
    if text and entry.takes in ("numbers", "pairs"):  # such a list is part of the name, even one of ignored pairs
        return [_line(f"{entry.stem}_{text}", entry, line.metric, options) for line in printed]
    return [_line(line.name, entry, line.metric, options) for line in printed]


def _line(shown: str, entry: TrecEval, metric: Metric, options: Options) -> Line:
    """The line of a metric as the release computes it, for a collection of the size that -N gives."""
    params = {**metric.params, "num_docs": float(options.num_docs)} if "num_docs" in metric.params else metric.params
    measure = of_release(metric.measure, options.release)
    return Line(shown, entry, replace(metric, written=shown, measure=measure, params=params))


def _relstring(text: str, where: str, notes: Leniency) -> Line:
    length = whole_argument(text, where, notes) if text else int(RELSTRING.defaults[0])
    if length < 1:
        raise Refusal(INPUT, f"{where}: `{length}` is no length", hint="write `-m relstring.20`")
    return Line(f"{RELSTRING.stem}_{length}" if text else RELSTRING.stem, RELSTRING, length=length)


def _parameters(
    measure: Measure, entry: TrecEval, text: str, where: str, options: Options
) -> tuple[Sequence[float], Pairs]:
    """The numbers, or the pairs, that a list holds."""
    if not text:
        return (), {}
    if entry.takes == "pairs":
        return (), dict(_pairs(measure, text, where, options))
    if entry.takes == "cutoffs":
        return _distinct(text, where, lambda item: _cutoff(item, where, options.notes)), {}
    if entry.takes == "points":
        return _distinct(text, where, lambda item: _level(item, where, options.notes)), {}
    return _numbers(measure, text, where, options.notes), {}


def _distinct(text: str, where: str, read: Callable[[str], float]) -> Sequence[float]:
    """The numbers between commas, ascending."""
    numbers = sorted(read(item) for item in text.split(","))
    for first, second in pairwise(numbers):
        if first == second:
            raise Refusal(INPUT, f"{where}: `{first:g}` stands there twice", hint="name each number once")
    return numbers


def _cutoff(item: str, where: str, notes: Leniency) -> int:
    cutoff = whole_argument(item, where, notes)
    if cutoff < 1:
        raise Refusal(INPUT, f"{where}: `{item}` is no cutoff", hint="a cutoff is a whole number from 1 up")
    return cutoff


def _numbers(measure: Measure, text: str, where: str, notes: Leniency) -> Sequence[float]:
    """Numbers for the parameters, in the order given; levels of recall may come in any order, but each once."""
    kinds = [param.kind for param in measure.params]
    if "floats" in kinds:
        return _distinct(text, where, lambda item: _level(item, where, notes))
    items = [text] if kinds.count("float") == 1 else text.split(",")
    return [_real(item, where, notes) for item in items]


def _level(item: str, where: str, notes: Leniency) -> float:
    """A recall level, or a multiple of R; beyond the limit it would no longer count documents in 64 bits."""
    level = _real(item, where, notes)
    if abs(level) > MAX_LEVEL:
        raise Refusal(INPUT, f"{where}: `{item}` is too large", hint="levels of recall are numbers from 0 to 1")
    return level


def _real(text: str, where: str, notes: Leniency) -> float:
    number, is_all = real(text)
    if not is_all:
        notes.note(Kind.NUMBER_PART if number else Kind.NUMBER_WORD, text, where)
    if not math.isfinite(number):
        raise Refusal(INPUT, f"{where}: `{text}` is no finite number", hint="write a number")
    return number


def _pairs(measure: Measure, text: str, where: str, options: Options) -> Iterator[tuple[str | float, float]]:
    """Gains by grade, and parameters by name. Any other key is ignored; release 9 read it as grade 0."""
    params = [param.name for param in measure.params]
    for item in text.split(","):
        key, equals, value = item.partition("=")
        if not equals:
            raise Refusal(INPUT, f"{where}: `{item}` is no pair", hint="write KEY=VALUE,KEY=VALUE")
        grade, is_whole = whole(key)
        if key in params and key != "gains":
            yield key, _real(value, where, options.notes)
        elif "gains" in params and (is_whole or options.release == 9):
            yield float(grade if is_whole else 0), _real(value, where, options.notes)
        if key not in params and not is_whole:
            options.notes.note(Kind.PAIR_KEY, item, where)
