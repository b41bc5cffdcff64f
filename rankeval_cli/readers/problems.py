"""Malformed rows, collected where somebody wants to know all of them; everywhere else the first one is raised."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rankeval_cli.errors import SHOWN_PROBLEMS, InputError

_VALUES = re.compile(r"`[^`]*`|[0-9][0-9,.]*|b'[^']*'|0x[0-9a-f]+")


@dataclass
class Kind:
    """Problems that differ in their values alone: the first SHOWN_PROBLEMS of them, and how many there are."""

    first: list[InputError] = field(default_factory=list)
    total: int = 0


@dataclass
class Problems:
    """What was wrong with the rows that a reader left out, by kind in order of appearance."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    is_closed: bool = False

    def add(self, error: InputError) -> None:
        """Count a problem, and keep it if it is among the first of its kind."""
        if self.is_closed:
            return
        kind = self.kinds.setdefault(_VALUES.sub("_", error.what), Kind())
        kind.total += 1
        if len(kind.first) < SHOWN_PROBLEMS:
            kind.first.append(error)

    def clear(self) -> None:
        """Begin anew, as a table does that is read again."""
        self.kinds.clear()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Add nothing meanwhile: rows are read once more to find the place of something else."""
        self.is_closed = True
        try:
            yield
        finally:
            self.is_closed = False


def leave_out(error: InputError, problems: Problems | None) -> None:
    """Collect what is wrong with a row that is left out; raise it where nobody collects."""
    if problems is None:
        raise error
    problems.add(error)
