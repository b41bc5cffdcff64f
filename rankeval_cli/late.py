"""Functions that are imported when they are called: a registry knows them all, a run of the program needs few."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


class Late:
    """Stands for the function at a place such as `report.data:render_tsv`, below this package."""

    def __init__(self, place: str) -> None:
        self.module, _, self.name = place.partition(":")

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What the function gives."""
        return self.load()(*args, **options)

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        function: Callable[..., Any] = getattr(import_module(f"rankeval_cli.{self.module}"), self.name)
        return function
