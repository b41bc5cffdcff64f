"""Paths and Python objects become opened tables with names; what only all inputs together can show is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import UsageError
from rankeval_cli.readers import Input, ReadOptions, check_swapped, open_input, open_object, open_table

if TYPE_CHECKING:
    from rankeval_cli.readers.format import Role, Table


def open_all(
    runs: Sequence[Any], qrels: Any, names: Sequence[str], run_options: ReadOptions, qrels_options: ReadOptions
) -> tuple[list[Table], Table]:
    """Every input opened, after a look at whether runs and judgments are swapped."""
    runs, qrels = [opened(run) for run in runs], opened(qrels)
    if isinstance(qrels, Input):
        check_swapped([run for run in runs if isinstance(run, Input)], qrels, run_options, qrels_options)
    options = replace(run_options, beside=qrels if isinstance(qrels, Input) else None)
    tables = [table_of(run, "run", options, name) for run, name in zip(runs, names, strict=True)]
    return tables, table_of(qrels, "qrels", qrels_options, "qrels")


def opened(source: Any) -> Any:
    """A path as an opened input, a Python object as it is."""
    return open_input(str(source)) if isinstance(source, (str, PurePath)) else source


def table_of(source: Any, role: Role, options: ReadOptions, name: str) -> Table:
    """A path, an opened input or a Python object as a table; `name` is what messages call the object."""
    source = opened(source)
    return open_table(source, role, options) if isinstance(source, Input) else open_object(source, role, options, name)


def names_of(runs: Sequence[Any]) -> list[str]:
    """What reports call the runs, opened or not: the name of the file, or `run1`, `run2`, .. for Python objects."""
    return unique_names([_path(run, f"run{i}") for i, run in enumerate(runs, 1)])


def _path(source: Any, name: str) -> str:
    if isinstance(source, Input):
        return source.path
    return str(source) if isinstance(source, (str, PurePath)) else name


def unique_names(paths: Sequence[str]) -> list[str]:
    """The last part of each path, lengthened by folders until all differ; the whole path when that is not enough."""
    depth = [1] * len(paths)

    def name(i: int) -> str:
        parts = PurePath(paths[i]).parts or (paths[i],)
        is_whole_address = "://" in paths[i] and depth[i] >= len(parts)  # a path has no `//`
        return paths[i] if is_whole_address else str(PurePath(*parts[-depth[i] :]))

    names = [name(i) for i in range(len(paths))]
    for _ in range(max((len(PurePath(path).parts) for path in paths), default=0)):
        for i in range(len(paths)):
            if names.count(names[i]) > 1:
                depth[i] += 1
        names = [name(i) for i in range(len(paths))]
    repeated = sorted({path for path in names if names.count(path) > 1})
    if repeated:
        raise UsageError(f"run `{repeated[0]}` is given twice", hint="name each run once, and the judgments last")
    return names


def check_columns(run_options: ReadOptions, qrels_options: ReadOptions) -> None:
    """Refuse a name of --columns that no input had: each input needs only its own."""
    matched = run_options.matched | qrels_options.matched
    for role, name in {**run_options.columns, **qrels_options.columns}.items():
        if role not in matched:
            raise UsageError(f"--columns {role}={name}: no input has a column `{name}`", hint="check its spelling")
