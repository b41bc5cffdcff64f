"""`rankeval init`: a configuration file with every key, its default and what it means."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from rankeval_cli.cli.config import OWN_FILE, PROJECT_FILE, RUNS, load
from rankeval_cli.errors import ExitCode, OutputError, RankevalError

if TYPE_CHECKING:
    from rankeval_cli.cli.keys import Key

WIDTH = 100  # columns
_INTRODUCTION = (
    "Options of rankeval for this folder and those below it. Remove the # before a key to set it; what the command "
    "line says wins. Paths are relative to this file.",
    "The same keys may stand in pyproject.toml, below [tool.rankeval].",
)


def init(
    file: Annotated[str, Argument(metavar="[FILE]", help="Where to write it.")] = OWN_FILE,
    force: Annotated[bool, Option("--force", help="Replace the file if it exists.")] = False,
) -> int:
    """Write a configuration file with every key, its default and what it means."""
    from rankeval_cli.report.output import write_text
    from rankeval_cli.report.terminal import print_warnings

    if os.path.lexists(file) and not force:
        raise OutputError("exists already", file, "add --force to replace it, or name another file")
    write_text(file, "".join(f"{line}\n" for line in lines()))
    if sys.stderr is not None:
        print(f"{file}: written; remove the # before a key to set it", file=sys.stderr)
    if hidden := _hidden_by(file):
        print_warnings([f"{hidden}: [tool.rankeval] does not count beside {OWN_FILE}"])
    return ExitCode.OK


def _hidden_by(file: str) -> str | None:
    """The project file whose options this file puts out of force."""
    project = os.path.join(os.path.dirname(file), PROJECT_FILE)
    if os.path.basename(file) != OWN_FILE or not os.path.isfile(project):
        return None
    with suppress(RankevalError):
        load(project)
        return project
    return None


def lines() -> Iterator[str]:
    """The lines of the file: TOML in which every key is a comment, so that it changes nothing as it stands."""
    from rankeval_cli.cli.keys import all_keys

    for text in _INTRODUCTION:
        yield from _comment(text)
    sections: dict[str, list[Key]] = {}
    for key in all_keys().values():
        sections.setdefault(key.section, []).append(key)
    yield from ("", f"# {RUNS}: the files to score where the command line names none.", f'#{RUNS} = ["run.txt"]')
    for section, keys in sections.items():
        yield from ("", f"# == {section} ==")
        for key in keys:
            yield ""
            yield from _comment(_explained(key))
            yield f"#{key.spelled} = {toml(_example(key))}"


def _comment(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False, break_on_hyphens=False
    )


def _explained(key: Key) -> str:
    choices = [f"{key.expected[:1].upper()}{key.expected[1:]}."] if key.choices else []
    pairs = ['A list, or a table such as {name = "value"}.'] if key.is_pairs else []
    unset = ["Not set by default."] if key.is_optional else []
    return " ".join([key.help, *choices, *pairs, *unset])


def _example(key: Key) -> Any:
    """The default; where there is none, a value of the right type."""
    if not key.is_optional:
        return key.default
    if key.choices:
        return key.choices[0]
    return {str: key.metavar, int: 1, float: 1.0, bool: True}[key.kind]


def toml(value: Any) -> str:
    """A value as TOML: text, number, truth value or list of texts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)  # lists, numbers and texts of ours look alike in both
