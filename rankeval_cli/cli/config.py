"""Configuration: options in `rankeval.toml`, or in `[tool.rankeval]` of `pyproject.toml`.

A file is looked for in the working directory and, within a repository, in the folders above it up to the one that
holds `.git`; the nearest counts, and of two in one folder `rankeval.toml`. Outside of a repository only the working
directory is searched: nobody's file in `/tmp` or `/` decides then. Keys are the long names of options. The command
line wins, key by key. Paths are relative to the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from rankeval_cli.cli.keys import Key

OWN_FILE, PROJECT_FILE = "rankeval.toml", "pyproject.toml"
NO_FILE = "none"
RUNS = "runs"  # the one key that is no option: the files of a command line that names none

# What a project file must hold to have a table of ours, `[tool.rankeval]` or, as nobody writes, rankeval in `[tool]`;
# parsing every project file would cost 8 ms, most of it to import tomllib.
_MENTIONED = re.compile(
    rb"""tool["']?\s*\.\s*["']?rankeval["']?\s*[].=]|^[ \t]*\[?[ \t]*["']?tool["']?[ \t]*[]=]""", re.MULTILINE
)
_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True)
class Settings:
    """What a configuration file says.

    path : of the file, as the user can open it
    values : name of the option -> its value; types are checked, meanings are not
    runs : files to score where the command line names none
    """

    path: str
    values: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[str, ...] = ()


def load(choice: str | None = None) -> Settings | None:
    """The settings of the file that is named or found; None when there is none, or none is wanted.

    choice : path of a file, `none`, or None to look for one
    Raises UsageError for a file that cannot be read, an unknown key, or a value of the wrong type.
    """
    if choice == NO_FILE:
        return None
    if choice is None:
        found = _found()
        return None if found is None else _settings(*found)
    table = _table(choice)
    if table is None:
        raise UsageError("has no table [tool.rankeval]", choice, "add one, or name another file after --config")
    return _settings(choice, table)


def _found() -> tuple[str, dict[str, Any]] | None:
    """Path and content of the nearest configuration."""
    for folder in _folders():
        for name in (OWN_FILE, PROJECT_FILE):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (name == OWN_FILE or _MENTIONED.search(_read(path))):
                shown = os.path.relpath(path)
                if (table := _table(shown)) is not None:
                    return shown, table
    return None


def _folders() -> list[str]:
    """The working directory and those above it, up to the top of the repository; alone outside of one."""
    try:
        folders = [os.getcwd()]
    except OSError:  # it has been removed
        return []
    while not os.path.lexists(os.path.join(folders[-1], ".git")):
        parent = os.path.dirname(folders[-1])
        if parent == folders[-1]:
            return folders[:1]
        folders.append(parent)
    return folders


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise UsageError("no such file", path, "`rankeval init` writes one") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot be read: {reason}", path, "make it readable, or add --no-config") from None


def _table(path: str) -> dict[str, Any] | None:
    """The keys and values of a file; None for a project file without a table of ours."""
    import tomllib

    data = _read(path)
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError("is not UTF-8", path, "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        line = _LINE.search(str(error))
        where = f"{path}:{line[1]}" if line and line[1] else path
        what = _LINE.sub("", str(error))
        raise UsageError(f"is not TOML: {what[:1].lower()}{what[1:]}", where, "correct it; texts need quotes") from None
    if os.path.basename(path) != PROJECT_FILE:
        return document
    tool = document.get("tool")
    table = tool.get("rankeval") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _settings(path: str, table: dict[str, Any]) -> Settings:
    from rankeval_cli.cli.keys import all_keys

    keys, values = all_keys(), dict[str, Any]()
    runs: tuple[str, ...] = ()
    for written, value in table.items():
        name = _name(written, keys, path)
        if name in values or (name == RUNS and runs):
            raise UsageError(f"`{written}` is given twice", path, "give each option once, under one name")
        if name == RUNS:
            runs = _runs(written, value, path)
        else:
            values[name] = _value(keys[name], written, value, path)
    return Settings(path, values, runs)


def _name(written: str, keys: Mapping[str, Key], path: str) -> str:
    """The option, or RUNS, that a key means."""
    from rankeval_cli.cli.keys import ONLY_WORDS

    name = written.replace("-", "_")
    singular = name.removesuffix("s")
    if name == RUNS or name in keys:
        return name
    if singular in keys and keys[singular].is_list:
        return singular
    if name in ONLY_WORDS:
        raise UsageError(f"`{written}` cannot be set in a file", path, f"write --{written} on the command line")
    if written == "tool":
        raise UsageError("`tool` is not a key", path, f"only {PROJECT_FILE} needs [tool.rankeval]: leave the line out")
    near = did_you_mean(written, [*(key.spelled for key in keys.values()), RUNS])
    raise UsageError(f"`{written}` is not a key", path, near or "`rankeval init` writes a file with every key")


def _value(key: Key, written: str, value: Any, path: str) -> Any:
    from rankeval_cli.cli.keys import WrongTypeError, converted

    try:
        found = converted(key, value)
    except WrongTypeError:
        near = did_you_mean(value, key.choices) if isinstance(value, str) else None
        hint = f"give {key.expected}"
        raise UsageError(f"`{written}` is `{_shown(value)}`", path, f"{near} ({hint})" if near else hint) from None
    if not key.is_path or (key.may_be_name and not os.path.exists(beside(path, found))):
        return found
    return [beside(path, part) for part in found] if key.is_list else beside(path, found)


def _runs(written: str, value: Any, path: str) -> tuple[str, ...]:
    paths = [value] if isinstance(value, str) else value
    if not (isinstance(paths, list) and paths and all(isinstance(part, str) for part in paths)):
        hint = "give a path or a list of paths, in quotes"
        raise UsageError(f"`{written}` is `{_shown(value)}`", path, hint)
    return tuple(beside(path, part) for part in paths)


def _shown(value: Any) -> str:
    """A value about as TOML has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def beside(file: str, path: str) -> str:
    """A path of a configuration as seen from the working directory; URLs, `-` and full paths stay."""
    if not path or path == "-" or "://" in path:
        return path
    return os.path.join(os.path.dirname(file), path)


def values_for(settings: Settings, records: Iterable[type[Any]]) -> dict[str, Any]:
    """The values that a command with these records can have: of `format`, say, another command knows other words."""
    from rankeval_cli.cli.keys import WrongTypeError, converted, keys_of

    found = {}
    for key in (key for record in records for key in keys_of(record).values() if key.name in settings.values):
        with suppress(WrongTypeError):
            found[key.name] = converted(key, settings.values[key.name])
    return found


def paths_of(settings: Settings, paths: list[str], applied: Iterable[str], takes_runs: bool) -> list[str]:
    """The files of a command: those of the command line, else, where it takes only runs, those of the configuration.

    applied : names of the options that have their value from the configuration
    Who names its judgments again gives no further run.
    """
    if not paths:
        return list(settings.runs) if takes_runs else paths
    if "qrels" in applied and len(paths) > 1:
        return [path for path in paths if not _is_same(path, settings.values["qrels"])]
    return paths


def _is_same(path: str, other: str) -> bool:
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


def load_for(words: Sequence[str]) -> Settings | None:
    """The settings for words that Typer has not seen, none for the drop-in's; raises as `load` does."""
    from rankeval_cli.cli.words import RAW_COMMAND, last_value

    if words[:1] == [RAW_COMMAND]:
        return None
    return load(NO_FILE if "--no-config" in words else last_value(words, "--config"))
