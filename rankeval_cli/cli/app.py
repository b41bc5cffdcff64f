"""The Typer application: its commands, and `evaluate` where no command is named.

Only the command that is called is imported and built: all of them together cost 0.1 s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from rankeval_cli.cli.ahead import version
from rankeval_cli.cli.coercion import WithoutPydantic
from rankeval_cli.cli.commands import COMMANDS, DEFAULT, Command, find

HELP = {"help_option_names": ["-h", "--help"]}
GROUP_OPTIONS = ("--version", "--install-completion", "--show-completion")


class LazyGroup(WithoutPydantic, TyperGroup):
    """Inserts `evaluate` where no command is named; lists commands by what COMMANDS says, and builds one to run it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for command in COMMANDS:
            self.add_command(TyperCommand(command.name, help=command.about))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Arguments of the group, with a command in front."""
        if not args or (args[0] not in self.commands and args[0] not in GROUP_OPTIONS):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Name of the command, the command as Typer builds it, and the arguments that are left."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed if name is None else built(find(name)), rest


class PlainCommand(WithoutPydantic, TyperCommand):
    """A command as Typer has it."""


class SectionedCommand(PlainCommand):
    """A command whose help lists its options by section, and the other commands at the end."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """The usage as users type it, without the name of the default command."""
        formatter.write_usage(ctx.command_path.removesuffix(f" {DEFAULT}"), " ".join(self.collect_usage_pieces(ctx)))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options under the heading of their section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                default = "Arguments" if param.param_type_name == "argument" else "Other"
                sections.setdefault(getattr(param, "rich_help_panel", None) or default, []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)
        if ctx.parent is not None:
            ctx.parent.command.format_commands(ctx.parent, formatter)


class RawCommand(PlainCommand):
    """A command that leaves its words, `-h` and `--` included, to somebody else."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep all words in `ctx.args`."""
        ctx.args = list(args)
        return []


LAYOUTS: dict[str, type[TyperCommand]] = {"sections": SectionedCommand, "plain": PlainCommand, "raw": RawCommand}


def built(command: Command) -> Any:
    """A command as Typer builds it from its function; imports its module."""
    alone = _typer(add_completion=False)
    is_raw = command.layout == "raw"
    alone.command(
        command.name, cls=LAYOUTS[command.layout], context_settings=None if is_raw else HELP, add_help_option=not is_raw
    )(command.load())
    return typer.main.get_command(alone)


def app() -> Callable[..., Any]:
    """The command line as a function of its words."""
    commands = _typer(cls=LazyGroup, context_settings=HELP)
    commands.callback()(_group)
    return typer.main.get_command(commands)


def _typer(**settings: Any) -> typer.Typer:
    # With a markup mode, GITHUB_ACTIONS=1 puts escape codes into piped help.
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, **settings)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(version(), nl=False)
        raise typer.Exit()


def _group(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Score ranked results against relevance judgments."""
