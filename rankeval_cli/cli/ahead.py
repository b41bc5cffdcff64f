"""The version, and help as Typer renders it, rendered ahead: Typer and the options take 0.1 s to import and to build.

`make docs` writes a file a command into FOLDER; a test compares them with what Typer renders now.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from rankeval_cli.cli.commands import COMMANDS, DEFAULT, Command

FOLDER = os.path.join(os.path.dirname(__file__), "help")
HELP_OPTIONS = ("-h", "--help")
WIDTH = 80  # columns from which on Typer renders alike


def text_of(words: Sequence[str]) -> str | None:
    """What these words alone have printed: the version, or help; None where Typer has to see them."""
    return version() if list(words) == ["--version"] else help_of(words)


def version() -> str:
    """What `--version` prints."""
    from rankeval_cli import __version__

    return f"rankeval {__version__}\n"


def help_of(words: Sequence[str]) -> str | None:
    """The help that these words ask for.

    None for all words but `--help` and `COMMAND --help`, on a narrow terminal, and where there is no file: these are
    Typer's.
    """
    *names, option = words or [""]
    name = names[0] if names else DEFAULT
    if option not in HELP_OPTIONS or len(names) > 1 or name not in [command.name for command in commands()]:
        return None
    if shutil.get_terminal_size().columns < WIDTH:  # as Typer asks for it
        return None
    try:
        with open(os.path.join(FOLDER, f"{name}.txt"), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def commands() -> list[Command]:
    """The commands whose help Typer renders."""
    return [command for command in COMMANDS if command.layout != "raw"]


def rendered(command: Command) -> str:
    """The help of a command as Typer renders it for WIDTH columns or more."""
    from typer import Context

    from rankeval_cli.cli.app import HELP, app, built

    names = HELP["help_option_names"]
    everything: Any = app()
    group = Context(everything, info_name="rankeval", help_option_names=names)
    context = Context(built(command), parent=group, info_name=command.name, terminal_width=WIDTH - 2,
                      help_option_names=names)  # fmt: skip
    return f"{context.command.get_help(context)}\n"


def show(text: str) -> None:
    """Write a text to standard output, if there is one; a reader that leaves is no error.

    Raises OutputError when its disk is full.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        from rankeval_cli.report.output import write_stdout

        write_stdout([text])  # tells what is wrong when it tries again
