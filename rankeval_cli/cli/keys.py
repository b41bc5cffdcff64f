"""Keys of a configuration: one for each option of the commands, derived from the option's own declaration."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rankeval_cli.cli.options import ConfigOptions
from rankeval_cli.cli.takes import declared_records

PATH_OR_NAME = "FILE|COLUMN"  # metavar of an option that names a file, or else something in one
PATHS = ("FILE", "PATH", PATH_OR_NAME)  # metavars of options that name files
ONLY_WORDS = (
    *(option.name for option in fields(ConfigOptions)),
    "debug",
)  # the program looks for them before it reads a configuration


@dataclass(frozen=True)
class Key:
    """What a configuration may say about one option.

    name : of the field; a configuration may write `-` for `_`, and the plural of a list
    kind : bool, int, float, str, list[str] or a Literal; `is_optional` when the default is None
    metavar, help, section : as --help has them
    """

    name: str
    kind: Any
    is_optional: bool
    default: Any
    metavar: str
    help: str
    section: str

    @property
    def spelled(self) -> str:
        """The key as `rankeval init` writes it: the long name of the option."""
        return self.name.replace("_", "-")

    @property
    def is_list(self) -> bool:
        """Whether the option may be given several times."""
        return get_origin(self.kind) is list

    @property
    def is_path(self) -> bool:
        """Whether the value names a file."""
        return self.metavar in PATHS

    @property
    def may_be_name(self) -> bool:
        """Whether a value that is no file is something else."""
        return self.metavar == PATH_OR_NAME

    @property
    def is_pairs(self) -> bool:
        """Whether each word of a list has the form NAME=VALUE, for which a configuration may have a table."""
        return self.is_list and "=" in self.metavar

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that are legal; () where any is."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def expected(self) -> str:
        """What the value must be, in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.is_pairs:
            return 'a list of texts, such as ["name=value"], or a table, such as {name = "value"}'
        if self.is_list:
            return "a text or a list of texts, in quotes"
        return {bool: "true or false", int: "a whole number", float: "a number", str: "a text in quotes"}[self.kind]


class WrongTypeError(Exception):
    """The value has a type that the key cannot have."""


def all_keys() -> dict[str, Key]:
    """Every key by the name of its field, in the order of --help. Where records share a name, the first one counts."""
    keys: dict[str, Key] = {}
    for record in declared_records():
        keys |= {name: key for name, key in keys_of(record).items() if name not in keys}
    return keys


def keys_of(record: type[Any]) -> dict[str, Key]:
    """The keys of the options that one record declares."""
    hints = get_type_hints(record, include_extras=True)
    return {
        option.name: _key(option.name, hints[option.name], [] if option.default is MISSING else option.default)
        for option in fields(record)
        if option.name not in ONLY_WORDS and _has_own_name(option.name, hints[option.name])
    }


def _has_own_name(name: str, hint: Any) -> bool:
    """Whether the field has the long name of its option. `--baseline` of one command names a run, of another a file."""
    info = get_args(hint)[1]
    words = (info.default, *(info.param_decls or ()))  # Typer takes the first flag of an annotation for the default
    flags = [word for word in words if isinstance(word, str) and word.startswith("--")]
    return not flags or f"--{name.replace('_', '-')}" in flags


def _key(name: str, hint: Any, default: Any) -> Key:
    declared, info = get_args(hint)[:2]
    kinds = [kind for kind in get_args(declared) if kind is not NoneType]
    is_optional = NoneType in get_args(declared)
    kind = kinds[0] if is_optional else declared
    return Key(name, kind, is_optional, default, info.metavar or "", info.help or "", info.rich_help_panel or "Other")


def converted(key: Key, value: Any) -> Any:
    """The value of a TOML file as the option has it. Raises WrongTypeError for what `expected` does not say."""
    if key.is_list:
        return _texts(key, value)
    if key.choices:
        fits = value in key.choices
    elif key.kind is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        fits = type(value) is key.kind  # a bool is an int in Python, not here
    if not fits:
        raise WrongTypeError
    return float(value) if key.kind is float else value


def _texts(key: Key, value: Any) -> list[str]:
    if key.is_pairs and isinstance(value, dict):
        return [f"{name}={_text(part)}" for name, part in value.items()]
    texts = [value] if isinstance(value, str) else value
    if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
        raise WrongTypeError
    return texts


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise WrongTypeError
    return value if isinstance(value, str) else repr(value)
