"""The Typer application: its commands, and `evaluate` where no command is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from rankeval_cli.cli.check import check
from rankeval_cli.cli.compare import compare
from rankeval_cli.cli.diff import diff
from rankeval_cli.cli.evaluate import evaluate
from rankeval_cli.cli.explain import explain
from rankeval_cli.cli.init import init
from rankeval_cli.cli.lists import formats, measures
from rankeval_cli.cli.presets import presets, why_differs
from rankeval_cli.cli.trec_eval import RawCommand, trec_eval
from rankeval_cli.cli.words import RAW_COMMAND

HELP = {"help_option_names": ["-h", "--help"]}
GROUP_OPTIONS = ("--version", "--install-completion", "--show-completion")


class DefaultGroup(TyperGroup):
    """Inserts `evaluate` where no command is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Arguments of the group, with a command in front."""
        if not args or (args[0] not in self.commands and args[0] not in GROUP_OPTIONS):
            args = ["evaluate", *args]
        return super().parse_args(ctx, args)


class SectionedCommand(TyperCommand):
    """A command whose help lists its options by section, and the other commands at the end."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """The usage as users type it, without the name of the default command."""
        formatter.write_usage(ctx.command_path.removesuffix(" evaluate"), " ".join(self.collect_usage_pieces(ctx)))

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


def _show_version(is_wanted: bool) -> None:
    from rankeval_cli import __version__

    if is_wanted:
        typer.echo(f"rankeval {__version__}")
        raise typer.Exit()


def app() -> Callable[..., Any]:
    """The command line as a function of its words."""
    commands = typer.Typer(
        cls=DefaultGroup,
        rich_markup_mode=None,  # otherwise GITHUB_ACTIONS=1 puts escape codes into piped help
        pretty_exceptions_enable=False,
        context_settings=HELP,
    )
    commands.callback()(_group)
    commands.command("evaluate", cls=SectionedCommand, context_settings=HELP)(evaluate)
    commands.command("compare", cls=SectionedCommand, context_settings=HELP)(compare)
    commands.command("explain", cls=SectionedCommand, context_settings=HELP)(explain)
    commands.command("diff", cls=SectionedCommand, context_settings=HELP)(diff)
    commands.command("check", cls=SectionedCommand, context_settings=HELP)(check)
    commands.command("measures", context_settings=HELP)(measures)
    commands.command("formats", context_settings=HELP)(formats)
    commands.command("presets", context_settings=HELP)(presets)
    commands.command("why-differs", context_settings=HELP)(why_differs)
    commands.command("init", context_settings=HELP)(init)
    commands.command(RAW_COMMAND, cls=RawCommand, add_help_option=False)(trec_eval)
    return typer.main.get_command(commands)


def _group(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Score ranked results against relevance judgments."""
