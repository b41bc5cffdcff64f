"""Whose fault an error is: one that a configuration causes names its file and key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankeval_cli.cli.config import RUNS, Settings, load_for
from rankeval_cli.cli.words import last_value
from rankeval_cli.errors import InputError, RankevalError, UsageError

TryOut = Callable[[Mapping[str, Any]], None]


def blamed(error: RankevalError, words: list[str], try_out: TryOut) -> RankevalError:
    """The error, naming file and key where a value of the configuration causes it.

    words : the command line
    try_out : raises UsageError for options that cannot be used; called with one key of the file at a time, then with
        all of them: the one that raises the same error is to blame
    """
    try:
        settings = load_for(words)
    except RankevalError:
        return error  # it says what is wrong with the file
    if settings is None:
        return error
    if isinstance(error, InputError):
        return _of_file(error, settings, words)
    if not isinstance(error, UsageError):
        return error
    given = last_value(words, "--preset")  # decides how measures are spelled
    values = settings.values if given is None else {**settings.values, "preset": given}
    spoken = {name: value for name, value in values.items() if name == "preset"}
    for name in settings.values:
        if _causes(error, {**spoken, name: values[name]}, try_out):
            return UsageError(f"`{name.replace('_', '-')}`: {_told(error)}", settings.path, error.hint)
    if _causes(error, values, try_out):
        return UsageError(_told(error), settings.path, error.hint)
    return error


def _causes(error: UsageError, values: Mapping[str, Any], try_out: TryOut) -> bool:
    try:
        try_out(values)
    except UsageError as own:
        return (own.what, own.where) == (error.what, error.where)
    return False


def _told(error: RankevalError) -> str:
    return f"{error.where}: {error.what}" if error.where else error.what


def _of_file(error: InputError, settings: Settings, words: list[str]) -> InputError:
    """Tell which key names the input, and who gives run and judgments, that the judgments are named already."""
    for name, value in {**settings.values, RUNS: settings.runs}.items():
        if error.where in (value if isinstance(value, list | tuple) else [value]) and error.where not in words:
            what = f"{error.what} (`{name.replace('_', '-')}` of {settings.path})"
            return InputError(what, error.where, error.hint)
    qrels = settings.values.get("qrels")
    is_misplaced = error.hint is not None and "judgments last" in error.hint
    if qrels is None or not is_misplaced or last_value(words, "--qrels") is not None:
        return error
    hint = f"{settings.path} names the judgments, {qrels}, so every file is a run; --qrels FILE takes others"
    return InputError(error.what, error.where, hint)
