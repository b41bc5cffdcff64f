"""The commands: a line each, with the file to import when one of them is called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple


class Command(NamedTuple):
    """A command that has not been imported.

    name : as users type it; with underscores it is the name of its function
    file : the module of this folder that holds the function
    about : one line for the list of commands: the first one of the function's docstring
    layout : of its help: options by `sections`, `plain`, or none for `raw`, which reads its words itself
    """

    name: str
    file: str
    about: str
    layout: str = "plain"

    def load(self) -> Callable[..., Any]:
        """The function, once its module is imported."""
        module = import_module(f"rankeval_cli.cli.{self.file}")
        function: Callable[..., Any] = getattr(module, self.name.replace("-", "_"))
        return function


DEFAULT = "evaluate"  # where no command is named
COMMANDS = (
    Command("evaluate", "evaluate", "Score ranked results (RUN) against relevance judgments (QRELS).", "sections"),
    Command(
        "compare", "compare", "Compare runs with a base, query by query: differences, intervals, p-values.", "sections"
    ),
    Command(
        "explain",
        "explain",
        "Show one query's ranking: grades, ties, what each rank adds to the measures, and what is missed.",
        "sections",
    ),
    Command(
        "diff",
        "diff",
        "Show the queries that run B helps or hurts most against run A, and where their relevant documents moved.",
        "sections",
    ),
    Command(
        "check",
        "check",
        "List every problem of runs (RUN) and judgments (QRELS), without scoring; exit 2 when there is an error.",
        "sections",
    ),
    Command(
        "measures", "lists", "List the measures, or explain one: its exact definition, parameters and names elsewhere."
    ),
    Command("formats", "lists", "List the layouts of runs, judgments and reports."),
    Command(
        "presets", "presets", "List the presets, or explain one: its measures, and each rule that is not the default."
    ),
    Command(
        "why-differs",
        "presets",
        "Print a measure under the rules of each system, and name the rule that makes the difference.",
    ),
    Command("init", "init", "Write a configuration file with every key, its default and what it means."),
    Command("trec-eval", "trec_eval", "Take the place of trec_eval: its options, its output.", "raw"),
)


def find(name: str) -> Command:
    """The command of that name. Raises StopIteration for a name that is not in COMMANDS."""
    return next(command for command in COMMANDS if command.name == name)
