"""`rankeval trec-eval`: the words go to the drop-in as they stand, since it reads options as trec_eval does."""

from __future__ import annotations

from typing import Any

from typer import Context
from typer.core import TyperCommand

from rankeval_cli.cli.interrupts import keep_interrupts


class RawCommand(TyperCommand):
    """A command that leaves its words, `-h` and `--` included, to somebody else."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep all words in `ctx.args`."""
        ctx.args = list(args)
        return []


def trec_eval(context: Context) -> int:
    """Take the place of trec_eval: its options, its output."""
    from rankeval_cli.trec_eval.command import run

    return run(context.args, keep_interrupts)
