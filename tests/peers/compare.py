"""What a case states against what rankeval gives: every field, every query."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from peers.cases import Case, NoCounterpart
from rankeval_cli import RankevalError

CALL = "call"  # the field of a problem with the call itself


class Problem(NamedTuple):
    """Something that a case states and rankeval does not give; `field` is a path such as `expected_mean.drop`."""

    field: str
    text: str

    def __str__(self) -> str:
        return f"{self.field}: {self.text}"


class Refused(NamedTuple):
    """rankeval gives an error and no value."""

    message: str


class LeftOut:
    """A query that is not in the report."""

    def __repr__(self) -> str:
        return "left out"


LEFT_OUT = LeftOut()


@cache
def problems_of(case: Case) -> tuple[Problem, ...]:
    """All problems of one case through the library; () when it holds."""
    return tuple(find_problems(case))


def find_problems(case: Case) -> Iterator[Problem]:
    """Each thing that a case states and that rankeval does not give."""
    from peers.systems import answer

    if not case.stated:
        if case.system != "fixture":
            yield Problem(CALL, "the case states nothing")
        return
    try:
        ours = answer(case)
    except (NoCounterpart, RankevalError) as problem:
        yield Problem(CALL, str(problem))
        return
    for name, expected in case.stated.items():
        if name not in ours:
            yield Problem(name, "nothing to compare it with")
        else:
            yield from differences(name, expected, ours[name], case.tolerance)


def differences(path: str, expected: Any, ours: Any, tolerance: float) -> Iterator[Problem]:
    """Where a value, a list or a map differs from what is expected; absolute tolerance."""
    if isinstance(expected, Mapping) and isinstance(ours, Mapping):
        for key, value in expected.items():
            yield from differences(f"{path}.{key}", value, ours.get(key, LEFT_OUT), tolerance)
        for key, value in ours.items():
            if key not in expected and not _is_nothing(value):
                yield Problem(f"{path}.{key}", f"{value!r} is not expected")
    elif _is_list(expected) and _is_list(ours):
        if len(expected) != len(ours):
            yield Problem(path, f"{len(expected)} values are expected, here are {len(ours)}")
        for place, (value, own) in enumerate(zip(expected, ours, strict=False)):
            yield from differences(f"{path}.{place}", value, own, tolerance)
    elif not _is_same(expected, ours, tolerance):
        yield Problem(path, f"{expected!r} is expected, here is {ours!r}")


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, Refused))


def _is_nothing(value: Any) -> bool:
    return value is LEFT_OUT or (isinstance(value, float) and math.isnan(value))


def _is_same(expected: Any, ours: Any, tolerance: float) -> bool:
    if expected is None:
        return _is_nothing(ours)
    if isinstance(ours, Refused):
        return isinstance(expected, str) and "Error" in expected
    if isinstance(ours, str):
        return bool(expected == ours)
    if not isinstance(ours, (int, float)):
        return False
    try:
        number = float(expected)
    except (TypeError, ValueError):
        return False
    if math.isnan(number):
        return math.isnan(ours)
    return number == ours or abs(number - ours) <= tolerance
