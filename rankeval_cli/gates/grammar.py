"""The grammar of gates.

    gate       = [ "warn:" ] ( comparison | rule )
    comparison = subject op bound
    subject    = measure | stat "(" measure ")" | diff | ( min | max | ci_low | ci_high ) "(" diff ")"
               | share "(" measure op number ")" | fact
    diff       = diff "(" measure ")"
    measure    = NAME [ "[" group "]" ]
    stat       = mean | median | min | max | ci_low | ci_high
    fact       = queries | missing_queries | unjudged_queries | undefined
    op         = >= | > | <= | < | ==
    bound      = number [ % ] | baseline [ ( + | - ) number [ % ] ]
    rule       = no-regression "(" measure [ , margin ] ")" | non-inferior "(" measure , margin ")"
               | improves "(" measure [ , margin ] ")"
    margin     = number [ % ]

Errors name the gate first, then the part of it that is wrong.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from rankeval_cli.errors import UsageError
from rankeval_cli.gates.expressions import RULES, Amount, AnyGate, Difference, Gate, Rule, RuleKind, Value
from rankeval_cli.gates.scanning import EXAMPLE, FLIPPED, NUMBER, call, comparison, is_compared, last_comma, number_of
from rankeval_cli.gates.subjects import Reader, Target, mean_target, read_plainly, subject_of, target_of

if TYPE_CHECKING:
    from rankeval_cli.measures.spec import Metric

WARN = re.compile(r"warn\s*:\s*")
BASELINE = re.compile(r"baseline\b\s*(.*)", re.IGNORECASE | re.DOTALL)
STEP = re.compile(rf"([+-])\s*((?![+-]){NUMBER.pattern})")


def parse_gate(text: str, read: Reader = read_plainly) -> AnyGate:
    """The gate that an expression such as `ci_low(mrr@10) >= 35%` or `no-regression(mrr@10, 1%)` states.

    read : reads the words for measures, as a preset has them

    Raises UsageError for what is no gate, and for an unknown measure.
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


def _gate(text: str, read: Reader) -> AnyGate:
    warn = WARN.match(text)
    text = text[warn.end() :] if warn else text
    if not text:
        raise UsageError("nothing is compared", hint=f"write what must hold, such as '{EXAMPLE}'")
    for kind in RULES:
        if call(text)[0].replace("_", "-") == kind.name:
            return _rule(text, kind, bool(warn), read)
    left, op, right = comparison(text)
    if NUMBER.fullmatch(left) or BASELINE.fullmatch(left):
        noun = "the number" if NUMBER.fullmatch(left) else "the bound"
        raise UsageError(f"{noun} `{left}` stands on the left", hint=f"write '{right} {FLIPPED[op]} {left}'")
    _refuse_compared_rule(left)
    subject = subject_of(left, read)
    bound, is_percent = _bound(right)
    if isinstance(bound, Amount) and isinstance(subject, Difference):
        raise UsageError("a difference is from the baseline already", hint=f"write '{left} {op} -0.01'")
    return Gate(f"{left} {op} {right}", subject, op, bound, is_percent, bool(warn))


def _refuse_compared_rule(left: str) -> None:
    function, inside = call(left)
    for kind in RULES:
        if function.replace("_", "-") == kind.name:
            raise UsageError(f"`{kind.name}` is a rule, which is not compared", hint=f"write '{kind.name}({inside})'")


def _bound(text: str) -> tuple[float | Amount, bool]:
    """A number and whether it was written as a percentage, or what is added to the baseline's value."""
    match = BASELINE.fullmatch(text)
    if match is None:
        return number_of(text)
    step = STEP.fullmatch(match.group(1))
    if step is None:
        if match.group(1):
            raise UsageError(f"`{text}` is not a bound", hint="write `baseline`, `baseline - 2%` or `baseline - 0.01`")
        return Amount(), False
    number, is_relative = number_of(step.group(2))
    return Amount(-number if step.group(1) == "-" else number, is_relative), False


def _rule(text: str, kind: RuleKind, warn: bool, read: Reader) -> Rule:
    inside = call(text)[1]
    if not inside:
        raise UsageError(f"`{kind.name}` has no measure", hint=f"write it as in '{kind.example}'")
    target, margin = _arguments(inside, kind, read)
    metric = target.metric
    if kind.needs_margin and margin is None:
        hint = f"say how much worse is allowed: '{kind.name}({inside}, 1%)'"
        raise UsageError(f"`{kind.name}` needs a margin", hint=hint)
    if metric.measure.direction == "none":
        hint = f"write '{metric.written} == baseline', or choose another measure"
        raise UsageError(f"neither more nor less is better for `{metric.written}`", hint=hint)
    return Rule(text, kind, metric, _margin(margin, metric, kind), warn, target.group)


def _arguments(inside: str, kind: RuleKind, read: Reader) -> tuple[Target, str | None]:
    """Measure and margin. What stands behind the last comma is the margin, unless it is part of the measure."""
    comma = last_comma(inside)
    left, right = inside[:comma].strip(), inside[comma + 1 :].strip()
    is_whole = comma < 0 or is_compared(inside)
    if not is_whole and not (NUMBER.fullmatch(right) and _is_one_measure(left, read)):
        is_whole = _is_one_measure(inside, read)  # `utility.1,-1,0,0`, `ndcg:gain=exp,base=2`
    return (mean_target(inside, read, kind.name), None) if is_whole else (mean_target(left, read, kind.name), right)


def _is_one_measure(text: str, read: Reader) -> bool:
    try:
        target_of(text, read)
    except UsageError:
        return False
    return True


def _margin(text: str | None, metric: Metric, kind: RuleKind) -> Amount:
    if text is None:
        return Amount()
    number, is_relative = number_of(text)
    if number < 0.0:
        raise UsageError(f"the margin `{text}` is below 0", hint=f"write it without its sign: '{kind.example}'")
    low, high = metric.measure.bounds
    width = math.inf if metric.measure.aggregate == "sum" else high - low
    if not is_relative and number >= width:
        hint = f"write `{text}%` for a share of the baseline's mean; several cutoffs need a gate each"
        raise UsageError(f"no difference of `{metric.written}` is beyond the margin `{text}`", hint=hint)
    return Amount(number, is_relative)


def _floor(word: str, read: Reader) -> Gate:
    from rankeval_cli.measures.expression import is_measure

    warn = WARN.match(word)
    word = word[warn.end() :] if warn else word
    left, right = (part.strip() for part in word.rpartition("=")[::2])
    if not left or not right or (not NUMBER.fullmatch(right) and is_measure(word)):
        raise UsageError("measure and number are needed", hint=_floor_hint(word, left))
    if left[-1] in "<>=!":
        raise UsageError("a comparison does not go here", hint=f"write `{left[:-1].strip()}={right}`, or use --gate")
    subject = subject_of(left, read)
    if not isinstance(subject, Value) or subject.stat:
        raise UsageError(f"`{left}` is not a measure", hint=f"write --gate '{left} >= {right}'")
    bound, is_percent = number_of(right)
    if subject.metric.measure.direction == "lower":
        raise UsageError(f"lower is better for `{left}`", hint=f"write --gate '{left} <= {right}'")
    return Gate(f"{left} >= {right}", subject, ">=", bound, is_percent, bool(warn))


def _floor_hint(word: str, left: str) -> str:
    measure = left if word.endswith("=") else word.strip("=")
    return f"write `mrr@10={measure}`" if NUMBER.fullmatch(measure) else f"write `{measure or 'mrr@10'}=0.35`"
