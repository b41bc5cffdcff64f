"""From records of options to a command: its signature, its call, and what a configuration adds to the words."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any, TypeVar, get_type_hints

from typer import Context

from rankeval_cli.cli.options import ConfigOptions, Files, SeveralRuns

Command = Callable[..., int]
Record = TypeVar("Record")


def takes(*records: type[Any], arguments: Any = Files, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Give a command the options of several records.

    It is called with `files`, the names of the options that the user gave, on the command line or in a configuration,
    and one filled record each. ConfigOptions is taken by every command, and given to those that name it.
    arguments : what stands beside the options, as Typer declares it
    without : options of the records that mean nothing for the command; they have their value by default
    """
    every = tuple(dict.fromkeys((*records, ConfigOptions)))
    takes_runs = arguments is Files or arguments is SeveralRuns

    def decorate(command: Command) -> Command:
        def call(context: Context, files: list[str] | None = None, **values: Any) -> int:
            paths, given = _configured(files or [], values, _given(context, values), every, takes_runs)
            return command(paths, given, *(filled(record, values) for record in records))

        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Context)
        options = {option.name: option for record in every for option in _parameters(record)}  # shared names are one
        parameters = [context, _parameter("files", arguments, None)]
        parameters += [option for name, option in options.items() if name not in without]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        call.__doc__ = command.__doc__
        call.records = every  # type: ignore[attr-defined]
        return call

    return decorate


def declared_records() -> tuple[type[Any], ...]:
    """The records that commands take, those of the first command first; imports every command."""
    from rankeval_cli.cli.commands import COMMANDS

    taken = (record for command in COMMANDS for record in getattr(command.load(), "records", ()))
    return tuple(dict.fromkeys(taken))


def _configured(
    paths: list[str], values: dict[str, Any], given: frozenset[str], records: Iterable[type[Any]], takes_runs: bool
) -> tuple[list[str], frozenset[str]]:
    """Paths and names of given options with those of the configuration, whose values go into `values`."""
    from rankeval_cli.cli import config

    given -= {option.name for option in fields(ConfigOptions)}
    settings = config.load(config.NO_FILE if values["no_config"] else values["config"])
    values["config"] = None if settings is None else settings.path
    if settings is None:
        return paths, given
    own = config.values_for(settings, records)
    applied = {name: value for name, value in own.items() if name in values and name not in given}
    values.update(applied)
    return config.paths_of(settings, paths, applied, takes_runs), given | applied.keys()


@cache
def _parameters(record: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    return [_parameter(option.name, hints[option.name], _default(option)) for option in fields(record)]


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _given(context: Context, names: Iterable[str]) -> frozenset[str]:
    """The options that do not have their value by default."""
    sources = {name: context.get_parameter_source(name) for name in names}
    return frozenset(name for name, source in sources.items() if source is not None and source.name != "DEFAULT")


def _default(option: Field[Any]) -> Any:
    return [] if option.default is MISSING else option.default


def filled(record: type[Record], values: Mapping[str, Any]) -> Record:
    """A record of options; those without a value have their default."""
    return record(**{option.name: values[option.name] for option in fields(record) if option.name in values})  # type: ignore[arg-type]
