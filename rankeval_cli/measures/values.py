"""Values of parameters as text: how they are split, read, checked and written."""

from __future__ import annotations

import re
from typing import Any

from rankeval_cli.errors import UsageError, did_you_mean
from rankeval_cli.measures.spec import Param

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
WORDS = {"true": True, "1": True, "false": False, "0": False}
CLOSERS = {"(": ")", "[": "]", "{": "}"}


def split_items(text: str) -> list[str]:
    """The parts between commas that stand outside quotes and brackets, stripped.

    A part without `=` goes on with the list before it: `levels=0.2,0.5,norm=min` gives two parts.
    """
    parts, start, open_signs = [], 0, ""
    for place, sign in enumerate(text):
        if open_signs and sign == open_signs[-1]:
            open_signs = open_signs[:-1]
        elif open_signs[-1:] in ("'", '"'):
            continue
        elif sign in "'\"" or sign in CLOSERS:
            open_signs += CLOSERS.get(sign, sign)
        elif sign == "," and not open_signs:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    joined: list[str] = []
    for part in (part.strip() for part in parts):
        if joined and part and "=" not in part and "=" in joined[-1]:
            joined[-1] += "," + part
        else:
            joined.append(part)
    return joined


def unquote(text: str) -> str:
    """The text without blanks around it and without one pair of quotes."""
    text = text.strip()
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" else text


def read_value(param: Param, text: str, word: str) -> Any:
    """The value of a parameter; `word` is the whole measure, for the message.

    Raises UsageError when the text is not a legal value.
    """
    text = unquote(text)
    if param.kind == "gains":
        return _read_gains(param, text, word)
    if param.kind == "floats":
        inner = text[1:-1] if text[:1] + text[-1:] in ("[]", "()") else text
        numbers = [_read_number(param, item, word) for item in inner.split(",")]
        if len(set(numbers)) < len(numbers):
            raise UsageError(f"`{word}`: {param.name} holds a number twice", hint="leave one out")
        return tuple(sorted(numbers))
    if text.lower() in param.choices:
        return text.lower()
    if param.kind == "choice":
        hint = did_you_mean(text, param.choices) or f"write one of {', '.join(param.choices)}"
        raise UsageError(f"`{word}`: {param.name} cannot be `{text}`", hint=hint)
    return _read_number(param, text, word)


def write_value(value: Any) -> str:
    """A value as the canonical name shows it; `read_value` reads it back."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{write_value(grade)}:{write_value(gain)}" for grade, gain in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ",".join(map(write_value, value)) + "]"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) <= 1e15 else repr(value)
    return str(value)


def read_flag(name: str, text: str, word: str) -> bool:
    """True or False, any case, also 1 or 0."""
    if unquote(text).lower() not in WORDS:
        raise UsageError(f"`{word}`: {name} cannot be `{unquote(text)}`", hint=f"write {name}=True or leave it out")
    return WORDS[unquote(text).lower()]


def legal_values(param: Param) -> str:
    """What a parameter takes, in words: `linear or exp`, `a number from 0 to below 1`."""
    if param.kind == "choice":
        return " or ".join(param.choices)
    if param.kind == "gains":
        return "a list of grades with their gains, all at least 0, as {1:0,2:5}"
    limits = (("above", param.above), ("from", param.low), ("to", param.high), ("to below", param.below))
    bounds = " ".join(f"{side} {write_value(float(limit))}" for side, limit in limits if limit is not None)
    noun = {"int": "a whole number", "float": "a number", "floats": "a list of numbers"}[param.kind]
    return " or ".join((*param.choices, f"{noun} {bounds}".rstrip()))


def _read_number(param: Param, text: str, word: str, legal: str = "") -> float:
    text = text.strip()
    value = float(text) if NUMBER.fullmatch(text) else float("nan")
    outside = (
        (param.low is not None and value < param.low)
        or (param.high is not None and value > param.high)
        or (param.above is not None and value <= param.above)
        or (param.below is not None and value >= param.below)
    )
    if outside or not abs(value) < float("inf") or (param.kind == "int" and not value.is_integer()):
        raise UsageError(
            f"`{word}`: {param.name} cannot be `{text}`", hint=f"{param.name} is {legal or legal_values(param)}"
        )
    return value


def _read_gains(param: Param, text: str, word: str) -> dict[float, float]:
    """Gains by grade, `{1:0,2:5}`, with or without the braces, `=` for `:` as well; in ascending order of grade."""
    number, legal = Param(param.name, "float", None, "", low=0.0), legal_values(param)
    inner = text[1:-1] if text[:1] + text[-1:] == "{}" else text
    gains: dict[float, float] = {}
    for item in inner.split(","):
        grade_text, sign, gain_text = item.replace("=", ":").partition(":")
        if not sign:
            raise UsageError(f"`{word}`: `{item.strip()}` is no grade with its gain", hint=f"{param.name} is {legal}")
        grade = _read_number(number, grade_text, word, legal)
        if grade in gains:
            raise UsageError(f"`{word}`: grade `{grade_text.strip()}` has two gains", hint="name each grade once")
        gains[grade] = _read_number(number, gain_text, word, legal)
    return dict(sorted(gains.items()))
