"""`rankeval trec-eval`: the words go to the drop-in as they stand, since it reads options as trec_eval does."""

from __future__ import annotations

from typer import Context

from rankeval_cli.cli.interrupts import keep_interrupts


def trec_eval(context: Context) -> int:
    """Take the place of trec_eval: its options, its output."""
    from rankeval_cli.trec_eval.command import run

    return run(context.args, keep_interrupts)
