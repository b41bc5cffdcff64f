"""Which format an input has: the user's word, else its content."""

from __future__ import annotations

from rankeval_cli.errors import InputError, UsageError, did_you_mean
from rankeval_cli.readers.format import Format, ReadOptions, Role
from rankeval_cli.readers.lines import shown
from rankeval_cli.readers.registry import FORMATS
from rankeval_cli.readers.sample import sample_of
from rankeval_cli.readers.source import Input


def recognise(source: Input, role: Role, options: ReadOptions) -> Format:
    """The format of an input in a role.

    Raises UsageError for a format that is not known or cannot play the role, InputError when the input is empty or no
    format fits.
    """
    if options.format is not None:
        return _named(options.format, role)
    found = fitting(source, role, options)
    if found is None:
        raise InputError("nothing fits", source.path)
    return found


def fitting(source: Input, role: Role, options: ReadOptions) -> Format | None:
    """The first format that fits the content, None when none does."""
    fits = (format for format in FORMATS if _plays(format, role) and format.fits(source, role, options))
    return next(fits, None)


def check_swapped(runs: list[Input], qrels: Input) -> None:
    """."""


def _plays(format: Format, role: Role) -> bool:
    return (format.run if role == "run" else format.qrels) is not None


def _named(name: str, role: Role) -> Format:
    fitting = [format.name for format in FORMATS if _plays(format, role)]
    for format in FORMATS:
        if format.name == name.lower():
            if not _plays(format, role):
                raise UsageError(f"format `{name}` cannot be read as {role}", hint=f"one of: {', '.join(fitting)}")
            return format
    raise UsageError(f"unknown format `{name}`", hint=did_you_mean(name, fitting) or f"one of: {', '.join(fitting)}")
