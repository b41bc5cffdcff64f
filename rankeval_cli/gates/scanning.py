"""The signs, calls and numbers that gates are made of."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NoReturn, cast

from rankeval_cli.errors import UsageError, did_you_mean
from rankeval_cli.gates.expressions import RULES, Op

FLIPPED: dict[str, str] = {">=": "<=", ">": "<", "<=": ">=", "<": ">", "==": "=="}
MEANT = {"=<": "<=", "≤": "<="}  # instead of any other sign that is no comparison: `>=`

EXAMPLE = "mrr@10 >= 0.35"
SIGN = re.compile(r"=>|=<|>=|<=|==|!=|<>|[<>=≥≤]")
NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(%?)")


def comparison(text: str) -> tuple[str, Op, str]:
    """The text before, the sign, and the text after the only comparison that stands outside parentheses."""
    found = list(_signs(text))
    legal = [sign for sign in found if sign.group() in FLIPPED]
    if len(legal) > 1:
        raise UsageError("two comparisons stand in one gate", hint="give each its own --gate")
    if not legal:
        _not_compared(text, found)
    left, right = text[: legal[0].start()].strip(), text[legal[0].end() :].strip()
    if not left or not right:
        side = "before" if not left else "after"
        raise UsageError(f"nothing stands {side} `{legal[0].group()}`", hint=f"write it as in '{EXAMPLE}'")
    return left, cast(Op, legal[0].group()), right


def is_compared(text: str) -> bool:
    """Whether a comparison stands outside parentheses."""
    return any(sign.group() in FLIPPED for sign in _signs(text))


def _signs(text: str) -> Iterator[re.Match[str]]:
    """Every sign of comparison, right or mistaken, outside parentheses, brackets and braces."""
    place = 0
    for start, stop in _outside(text):
        place = max(place, start)
        while place < stop:
            match = SIGN.match(text, place)
            if match:
                yield match
            place = match.end() if match else place + 1


def _outside(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of a text outside parentheses, brackets and braces."""
    depth, start = 0, 0
    for place, sign in enumerate(text):
        if sign in "([{":
            if depth == 0:
                yield start, place
            depth += 1
        elif sign in ")]}" and depth:
            depth -= 1
            start = place + 1 if depth == 0 else start
    if depth == 0:
        yield start, len(text)


def last_comma(text: str) -> int:
    """The place of the last comma outside parentheses, brackets and braces; -1 without one."""
    return max((text.rfind(",", start, stop) for start, stop in _outside(text)), default=-1)


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
    raise UsageError("nothing is compared", hint=_near_rule(text) or hint)


def _near_rule(text: str) -> str | None:
    """A hint for what was meant as a rule."""
    return did_you_mean(call(text)[0].replace("_", "-"), [kind.name for kind in RULES])


def call(text: str) -> tuple[str, str]:
    """Name, `_` for `-`, and inside of `name(inside)`; two empty texts where no parentheses enclose all the rest."""
    match = re.fullmatch(r"([A-Za-z_-]+)\s*\((.*)\)", text, re.DOTALL)
    if not match:
        return "", ""
    depth = 0
    for sign in match.group(2):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return "", ""
    return match.group(1).lower().replace("-", "_"), match.group(2).strip()


def number_of(text: str) -> tuple[float, bool]:
    """A number, and whether it was written as a percentage (`35%` is 0.35)."""
    match = NUMBER.fullmatch(text)
    value = float(match.group(1)) if match else math.nan
    if match and math.isfinite(value):
        return (value / 100.0, True) if match.group(2) else (value, False)
    if re.fullmatch(r"[+-]?[0-9]+,[0-9]+\s*%?", text):
        raise UsageError(f"`{text}` is not a number", hint=f"write `{text.replace(',', '.')}`")
    raise UsageError(f"`{text}` is not a number", hint="write a number such as 0.35 or 35%")
