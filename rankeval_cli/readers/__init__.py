"""Readers: a path becomes Polars frames of one schema, ids already text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankeval_cli.readers.ahead import prefetch
from rankeval_cli.readers.format import Format, ReadOptions, Role, Table
from rankeval_cli.readers.registry import FORMATS
from rankeval_cli.readers.sniff import check_swapped, recognise
from rankeval_cli.readers.source import Input, open_input

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FORMATS",
    "Format",
    "Input",
    "ReadOptions",
    "Role",
    "Table",
    "check_swapped",
    "open_input",
    "open_object",
    "open_table",
    "prefetch",
    "read_pairs",
]


def open_table(path: str | Input, role: Role, options: ReadOptions) -> Table:
    """Open a run or judgments; the layout is decided, nothing but the head has been read.

    path : a path as the user gave it, or what `open_input` made of it (standard input can be opened only once)
    Raises InputError or UsageError when it cannot be read in that role.
    """
    source = path if isinstance(path, Input) else open_input(path)
    return recognise(source, role, options).open(source, role, options)


def open_object(data: Any, role: Role, options: ReadOptions, name: str) -> Table:
    """Open a run or judgments that are Python objects (dicts of dicts, Polars, pandas or Arrow tables)."""
    from rankeval_cli.readers.memory import open_object

    return open_object(data, role, options, name)


def read_pairs(path: str) -> pl.DataFrame:
    """The pairs of an `--exclude` file: a frame of `query` and `doc` (String), each pair once.

    path : two columns, or any layout of judgments or of a run, of which query and document are used
    Raises InputError when it has no such layout or is empty.
    """
    import polars as pl

    from rankeval_cli.errors import InputError
    from rankeval_cli.readers.sniff import fitting

    source, options = open_input(path), ReadOptions()
    role: Role = "qrels" if fitting(source, "qrels", options) or not fitting(source, "run", options) else "run"
    table = open_table(source, role, options)
    frames = [frame.select("query", "doc") for frame in table.frames()]
    pairs = pl.concat(frames).unique(maintain_order=True) if frames else pl.DataFrame()
    if not pairs.height:
        raise InputError("is empty: no pairs of query and document", path, "leave --exclude out to exclude nothing")
    return pairs
