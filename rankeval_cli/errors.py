"""Errors that a user can cause, exit codes, and the offer of close matches.

An error says *what* is wrong, *where* (file and line) and gives a *hint*: one thing to do next.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

SHOWN_PROBLEMS = 10


class ExitCode(IntEnum):
    """What the program tells the shell."""

    OK = 0
    GATE = 1
    INPUT = 2
    BUG = 70
    INTERRUPTED = 130


class RankevalError(Exception):
    """A problem that the user can solve; the program shows it without a traceback and ends with `code`.

    what : the problem in lower case, the offending value in backticks, no full stop after a single sentence
    where : `path` or `path:line`, None when no file is to blame
    hint : one thing to do, None only when there is none
    """

    code: int = ExitCode.INPUT

    def __init__(self, what: str, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what, self.where, self.hint = what, where, hint

    def __str__(self) -> str:
        """The message as shown: `where: what`, and a second line with the hint."""
        first = f"{self.where}: {self.what}" if self.where else self.what
        return f"{first}\nhint: {self.hint}" if self.hint else first


class UsageError(RankevalError):
    """The command line, a measure or a gate cannot be understood."""


class InputError(RankevalError):
    """A file cannot be read as what it should be."""


class OutputError(RankevalError):
    """A report cannot be written."""


def close_matches(word: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The `count` names nearest to `word`, best first; empty when nothing is near."""
    import difflib

    return difflib.get_close_matches(word.lower(), list(known), n=count, cutoff=0.6)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint such as ``did you mean `ndcg`?``, or None when nothing is near."""
    near = close_matches(word, known)
    return "did you mean " + " or ".join(f"`{name}`" for name in near) + "?" if near else None


def several(shown: list[str], total: int) -> str:
    """Several problems of one kind as lines: those that are shown, SHOWN_PROBLEMS at most, and the total if more."""
    return "\n".join(shown if total == len(shown) else [*shown, f"... {total:,} in all"])
