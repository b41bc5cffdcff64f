"""What trec_eval reads without a word where nothing sensible stands: it stays so here, but it is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from rankeval_cli.errors import InputError

_WHOLE = re.compile(r"[ \t\r\v\f]*([+-]?[0-9]+)")
_HEX = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"([+-]?)(?:(inf(?:inity)?)|nan(?:\([0-9A-Za-z_]*\))?)", re.IGNORECASE)
_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1
_LONGEST = 4000  # int() refuses longer texts than 4,300 digits; a number of that length is out of range anyway


class Kind(Enum):
    """The lenient readings, each with what is said of it."""

    SCORE_WORD = "a score that is no number counts as 0"
    SCORE_PART = "of a score only the number that it begins with is read"
    SCORE_HEX = "a hexadecimal score is read as such"
    SCORE_NAN = "a score that is NaN is sorted last"
    MORE_COLUMNS = "what follows the tag is not read"
    GRADE_WORD = "a grade that is no number counts as 0"
    GRADE_PART = "of a grade only the whole number that it begins with is read"
    LEVEL_PART = "of a level only the number that it begins with is read"
    NUMBER_WORD = "a parameter that is no number counts as 0"
    NUMBER_PART = "of a parameter only the number that it begins with is read"
    PAIR_KEY = "a pair whose key is no whole number sets no gain"


@dataclass
class _Tally:
    count: int
    text: str
    where: str


@dataclass
class Leniency:
    """The lenient readings of one input, or of the command line; the first of each kind is refused if `is_strict`."""

    is_strict: bool
    tallies: dict[Kind, _Tally] = field(default_factory=dict)

    def note(self, kind: Kind, text: str, where: str) -> None:
        """Count one reading of a text, which stands at `path:line` or behind an option.

        Raises InputError instead when readings are strict.
        """
        if self.is_strict:
            hint = "mend it, or leave --strict out to have it read as trec_eval does"
            raise InputError(f"`{text[:60]}`: {kind.value}", where, hint)
        tally = self.tallies.setdefault(kind, _Tally(0, text[:60], where))
        tally.count += 1

    def warnings(self) -> Iterator[str]:
        """One line a kind."""
        for kind, tally in self.tallies.items():
            yield f"{tally.where}: `{tally.text}`: {kind.value}" + _more(tally.count - 1)


def _more(count: int) -> str:
    return f" ({count:,} more)" if count else ""


def whole(text: str) -> tuple[int, bool]:
    """The whole number that a text begins with, 0 when there is none, as C's `atol`; and whether it is all of the text.

    Numbers beyond 64 bits are the largest or smallest one.

    >>> whole("2.9"), whole("1e3"), whole("yes"), whole("+7")
    ((2, False), (1, False), (0, False), (7, True))
    """
    match = _WHOLE.match(text)
    if match is None:
        return 0, False
    digits = match[1][:_LONGEST]
    return max(_LONG_MIN, min(int(digits), _LONG_MAX)), match.end() == len(text)


def real(text: str) -> tuple[float, bool]:
    """The number that a text begins with, 0 when there is none, as C's `atof`; and whether it is all of the text.

    Hexadecimal numbers, infinities and NaN are understood; what is too large is infinite.

    >>> real("3,5"), real("0x10"), real("abc"), real("1e400"), real("-.5")
    ((3.0, False), (16.0, True), (0.0, False), (inf, True), (-0.5, True))
    """
    text = text.lstrip(" \t\r\v\f")
    if match := _HEX.match(text):
        return _of_hex(match[0]), match.end() == len(text)
    if match := _DECIMAL.match(text):
        return float(match[0]), match.end() == len(text)
    if match := _WORD.match(text):
        return float(match[1] + ("inf" if match[2] else "nan")), match.end() == len(text)
    return 0.0, False


def _of_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("-inf" if text[0] == "-" else "inf")
