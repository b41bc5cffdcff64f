"""Values of options without pydantic, which Typer checks them with: to import it and to build its checkers costs 0.1 s.

A value that is sure to be legal is taken as it stands, or as the number that it spells. Any other one goes to Typer,
which says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

_NUMBERS = {int: re.compile(r"[+-]?[0-9]{1,18}"), float: re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?")}
UNSURE = object()


class WithoutPydantic:
    """A Typer command or group whose options ask Typer's checkers about doubtful values only."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options and arguments; replaces a method of theirs that Typer does not document (a test watches it)."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if "get_runtime_param" not in vars(param):
                plain = Plain(param.type_descriptor, param.get_runtime_param)
                param.get_runtime_param = lambda plain=plain: plain
        return params


class Plain:
    """Stands for the checker of one option, which `make_checker` builds."""

    def __init__(self, descriptor: Any, make_checker: Callable[[], Any]) -> None:
        self.kind, self.limits = descriptor.annotation, descriptor.parameter_info
        self.make_checker = make_checker

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of the option, as Typer would have it."""
        found = self.sure(value)
        return self.make_checker().coerce(value, param=param, ctx=ctx) if found is UNSURE else found

    def sure(self, value: Any) -> Any:
        """The value as the command gets it; UNSURE where Typer has to say."""
        kind = self.kind
        if value is None:
            return () if get_origin(kind) is list else None
        if get_origin(kind) is Literal:
            return value if value in get_args(kind) else UNSURE
        if kind == list[str]:
            is_sure = isinstance(value, (list, tuple)) and all(type(part) is str for part in value)
            return list(value) if is_sure else UNSURE
        if kind in _NUMBERS:
            return self._number(value)
        return value if type(value) is kind else UNSURE

    def _number(self, value: Any) -> Any:
        if isinstance(value, str) and _NUMBERS[self.kind].fullmatch(value):
            value = self.kind(value)
        low, high = self.limits.min, self.limits.max
        is_legal = type(value) is self.kind and (low is None or value >= low) and (high is None or value <= high)
        return value if is_legal else UNSURE
