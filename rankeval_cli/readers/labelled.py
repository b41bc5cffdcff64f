"""Labelled tables: one table that is run and judgments in one, each row a ranked document with its label.

The readers of tables read them in the role `labelled`; here stands what is said when an input is none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rankeval_cli.errors import RankevalError, UsageError
from rankeval_cli.readers.columns import MissingColumn
from rankeval_cli.readers.format import ReadOptions, Role, Table
from rankeval_cli.readers.memory import open_object
from rankeval_cli.readers.sniff import NOUNS, fitting, recognise
from rankeval_cli.readers.source import Input

HINT = "rankeval RUN... QRELS; or one table that holds query, score and label"


def open_labelled(source: Any, options: ReadOptions, name: str) -> Table:
    """Open a labelled table; its layout is decided, nothing but the head has been read.

    source : an opened input, or a table in memory (Polars, pandas, Arrow, columns, records), or an opened table
    name : what messages call an object
    Raises UsageError when it is only a run, or only judgments, and InputError when it cannot be read.
    """
    if not isinstance(source, Input):
        return source if hasattr(type(source), "frames") else open_object(source, "labelled", options, name)
    try:
        if fitting(source, "labelled", options) is None and options.format is None:
            _refuse_half(source, options, ("run", "qrels"))
        return recognise(source, "labelled", options).open(source, "labelled", options)
    except MissingColumn as problem:
        halves: dict[str, Role] = {"grade": "run", "score": "qrels"}
        if problem.part in halves:
            _refuse_half(source, options, (halves[problem.part],))
        raise


def _refuse_half(source: Input, options: ReadOptions, roles: tuple[Role, ...]) -> None:
    """Raise what is missing when the input is a run or judgments alone."""
    for role in roles:
        try:
            recognise(source, role, replace(options, matched=set())).open(source, role, replace(options, matched=set()))
        except RankevalError:
            continue
        missing = "the judgments are missing" if role == "run" else "the run is missing"
        raise UsageError(f"{missing}: `{source.where()}` holds {NOUNS[role]} alone", hint=HINT)
