"""The grammar of gates.

    gate       = [ "warn:" ] subject op bound
    subject    = measure | stat "(" measure ")" | share "(" measure op bound ")" | fact
    stat       = mean | median | min | max | ci_low | ci_high
    fact       = queries | missing_queries | unjudged_queries | undefined
    op         = >= | > | <= | < | ==
    bound      = number [ % ]

Errors name the gate first, then the part of it that is wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn, cast

from rankeval_cli.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from rankeval_cli.measures.spec import Metric

Op = Literal[">=", ">", "<=", "<", "=="]
Reader = Callable[[str], "tuple[Metric, ...]"]  # what a word for measures means
Stat = Literal["mean", "median", "min", "max", "ci_low", "ci_high"]
FactName = Literal["queries", "missing_queries", "unjudged_queries", "undefined"]

STATS: tuple[Stat, ...] = ("mean", "median", "min", "max", "ci_low", "ci_high")
FACTS: tuple[FactName, ...] = ("queries", "missing_queries", "unjudged_queries", "undefined")
FLIPPED: dict[str, str] = {">=": "<=", ">": "<", "<=": ">=", "<": ">", "==": "=="}
MEANT = {"=<": "<=", "≤": "<="}  # instead of any other sign that is no comparison: `>=`

EXAMPLE = "mrr@10 >= 0.35"
SIGN = re.compile(r"=>|=<|>=|<=|==|!=|<>|[<>=≥≤]")
NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(%?)")
WARN = re.compile(r"warn\s*:\s*")
NEEDS_BASELINE = re.compile(r"\b(no[-_]regression|non[-_]inferior|improves|diff)\s*\(|\b(baseline)\b")


@dataclass(frozen=True)
class Value:
    """A measure's value as the report shows it (`stat` None), a statistic of its queries, or an end of its interval."""

    metric: Metric
    stat: Stat | None = None


@dataclass(frozen=True)
class Share:
    """The share of queries whose value of a measure stands in this relation to `bound`."""

    metric: Metric
    op: Op
    bound: float


@dataclass(frozen=True)
class Fact:
    """A count of queries."""

    name: FactName


@dataclass(frozen=True)
class Gate:
    """What must hold: `subject op bound`.

    text : as shown, without `warn:`
    is_percent : whether the bound was written as one; of a fact it is then a share of the judged queries
    warn : a failure is only told
    """

    text: str
    subject: Value | Share | Fact
    op: Op
    bound: float
    is_percent: bool = False
    warn: bool = False

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that must be computed for a decision."""
        return () if isinstance(self.subject, Fact) else (self.subject.metric,)


def read_plainly(word: str) -> tuple[Metric, ...]:
    """The metrics that a word names where no preset is chosen."""
    from rankeval_cli.measures.expression import parse

    return parse(word)


def parse_gate(text: str, read: Reader = read_plainly) -> Gate:
    """The gate that an expression such as `ci_low(mrr@10) >= 35%` states.

    read : reads the words for measures, as a preset has them

    Raises UsageError for what is no gate, for an unknown measure, and for what needs a baseline.
    """
    try:
        return _gate(text.strip(), read)
    except UsageError as error:
        raise UsageError(error.what, f"gate `{text.strip()}`", error.hint) from None


def parse_fail_under(word: str, read: Reader = read_plainly) -> Gate:
    """The gate that `MEASURE=NUMBER` states: the measure must reach the number. Split at the last `=`.

    Raises UsageError for anything but a measure, for one where lower is better, and for what is no number.
    """
    try:
        return _floor(word.strip(), read)
    except UsageError as error:
        raise UsageError(error.what, f"--fail-under {word.strip()}", error.hint) from None


def _gate(text: str, read: Reader) -> Gate:
    warn = WARN.match(text)
    text = text[warn.end() :] if warn else text
    if not text:
        raise UsageError("nothing is compared", hint=f"write what must hold, such as '{EXAMPLE}'")
    left, op, right = _comparison(text)
    if NUMBER.fullmatch(left):
        raise UsageError(f"the number `{left}` stands on the left", hint=f"write '{right} {FLIPPED[op]} {left}'")
    subject = _subject(left, read)
    bound, is_percent = _bound(right)
    return Gate(f"{left} {op} {right}", subject, op, bound, is_percent, bool(warn))


def _floor(word: str, read: Reader) -> Gate:
    from rankeval_cli.measures.expression import is_measure

    warn = WARN.match(word)
    word = word[warn.end() :] if warn else word
    left, right = (part.strip() for part in word.rpartition("=")[::2])
    if not left or not right or (not NUMBER.fullmatch(right) and is_measure(word)):
        raise UsageError("measure and number are needed", hint=_floor_hint(word, left))
    if left[-1] in "<>=!":
        raise UsageError("a comparison does not go here", hint=f"write `{left[:-1].strip()}={right}`, or use --gate")
    subject = _subject(left, read)
    if not isinstance(subject, Value) or subject.stat:
        raise UsageError(f"`{left}` is not a measure", hint=f"write --gate '{left} >= {right}'")
    bound, is_percent = _bound(right)
    if subject.metric.measure.direction == "lower":
        raise UsageError(f"lower is better for `{left}`", hint=f"write --gate '{left} <= {right}'")
    return Gate(f"{left} >= {right}", subject, ">=", bound, is_percent, bool(warn))


def _floor_hint(word: str, left: str) -> str:
    measure = left if word.endswith("=") else word.strip("=")
    return f"write `mrr@10={measure}`" if NUMBER.fullmatch(measure) else f"write `{measure or 'mrr@10'}=0.35`"


def _comparison(text: str) -> tuple[str, Op, str]:
    """The text before, the sign, and the text after the only comparison that stands outside parentheses."""
    if needs := NEEDS_BASELINE.search(text):
        _needs_baseline(needs.group(1) or needs.group(2))
    signs = list(_signs(text))
    legal = [sign for sign in signs if sign.group() in FLIPPED]
    if len(legal) > 1:
        raise UsageError("two comparisons stand in one gate", hint="give each its own --gate")
    if not legal:
        _not_compared(text, signs)
    left, right = text[: legal[0].start()].strip(), text[legal[0].end() :].strip()
    if not left or not right:
        side = "before" if not left else "after"
        raise UsageError(f"nothing stands {side} `{legal[0].group()}`", hint=f"write it as in '{EXAMPLE}'")
    return left, cast(Op, legal[0].group()), right


def _signs(text: str) -> Iterator[re.Match[str]]:
    """Every sign of comparison, right or mistaken, outside parentheses and braces."""
    depth, place = 0, 0
    while place < len(text):
        match = SIGN.match(text, place) if depth == 0 else None
        if match:
            yield match
        elif text[place] in "([{":
            depth += 1
        elif text[place] in ")]}":
            depth = max(0, depth - 1)
        place = match.end() if match else place + 1


def _not_compared(text: str, signs: list[re.Match[str]]) -> NoReturn:
    """Say what is wrong with a text without a comparison outside parentheses."""
    if text.count("(") > text.count(")"):
        raise UsageError(
            "a `(` is never closed", hint=f"close it before the comparison, as in 'median({EXAMPLE[:6]}) >= 0.35'"
        )
    for sign in signs:
        left, right = text[: sign.start()].strip(), text[sign.end() :].strip()
        if sign.group() != "=" or NUMBER.fullmatch(right):
            meant = MEANT.get(sign.group(), ">=")
            raise UsageError(f"`{sign.group()}` is not a comparison", hint=f"write '{left} {meant} {right}'")
    hint = f"write what must hold, in quotes (the shell takes a bare `>`), such as '{text} >= 0.35'"
    raise UsageError("nothing is compared", hint=hint)


def _needs_baseline(word: str) -> NoReturn:
    what = f"`{word}` needs a baseline, which this version does not take yet"
    raise UsageError(what, hint=f"compare with a number, such as '{EXAMPLE}'")


def _subject(text: str, read: Reader) -> Value | Share | Fact:
    name = text.lower().replace("-", "_")
    for fact in FACTS:
        if name == fact:
            return Fact(fact)
    function, inside = _call(text)
    if function == "share":
        return _share(inside, read)
    for stat in STATS:
        if function == stat:
            return Value(_metric_in(stat, inside, read), stat)
    return Value(_metric(text, read))


def _call(text: str) -> tuple[str, str]:
    """Name and inside of `name(inside)`; two empty texts where the parentheses do not enclose all the rest."""
    match = re.fullmatch(r"([A-Za-z_-]+)\s*\((.*)\)", text, re.DOTALL)
    if not match:
        return "", ""
    depth = 0
    for sign in match.group(2):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return "", ""
    return match.group(1).lower().replace("-", "_"), match.group(2).strip()


def _share(inside: str, read: Reader) -> Share:
    if not any(sign.group() in FLIPPED for sign in _signs(inside)):
        hint = f"write the share of queries as in 'share({EXAMPLE}) >= 80%'"
        raise UsageError(f"`share({inside})` holds no comparison", hint=hint)
    left, op, right = _comparison(inside)
    return Share(_metric(left, read), op, _bound(right)[0])


def _metric_in(stat: Stat, inside: str, read: Reader) -> Metric:
    if any(sign.group() in FLIPPED for sign in _signs(inside)):
        hint = f"write 'share({inside}) >= 80%' for the share of queries"
        raise UsageError(f"`{stat}` takes a measure, not a comparison", hint=hint)
    return _metric(inside, read)


def _metric(text: str, read: Reader) -> Metric:
    """The one metric that a text names."""
    try:
        metrics = read(text)
    except UsageError as error:
        raise UsageError(error.what, hint=_gate_hint(text) or error.hint) from None
    if len(metrics) > 1:
        listed = " and ".join(f"`{metric.written}`" for metric in metrics[:3])
        raise UsageError(f"`{text}` names {len(metrics)} measures", hint=f"write one gate each: {listed}")
    return metrics[0]


def _gate_hint(text: str) -> str | None:
    """A hint for what was meant as a fact or as a statistic of a measure, but is neither."""
    from rankeval_cli.measures.expression import is_measure, names_measure

    function, inside = _call(text)
    if function and not names_measure(text) and is_measure(inside):
        return did_you_mean(function, (*STATS, "share")) or f"the statistics are {', '.join(STATS)} and share"
    return did_you_mean(text, FACTS)


def _bound(text: str) -> tuple[float, bool]:
    """A number, and whether it was written as a percentage (`35%` is 0.35)."""
    match = NUMBER.fullmatch(text)
    value = float(match.group(1)) if match else math.nan
    if match and math.isfinite(value):
        return (value / 100.0, True) if match.group(2) else (value, False)
    if re.fullmatch(r"[+-]?[0-9]+,[0-9]+\s*%?", text):
        raise UsageError(f"`{text}` is not a number", hint=f"write `{text.replace(',', '.')}`")
    raise UsageError(f"`{text}` is not a number", hint="write a number such as 0.35 or 35%")
