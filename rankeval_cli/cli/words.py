"""Words of the command line before Typer sees them: `-m A B run qrels` becomes `-m A -m B run qrels`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from rankeval_cli.errors import UsageError, close_matches

if TYPE_CHECKING:
    from rankeval_cli.measures.expression import Dialect

RAW_COMMAND = "trec-eval"  # reads its words itself
KNOWN_SUFFIXES = (
    ".txt", ".run", ".trec", ".tsv", ".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".qrels", ".qrel",
    ".test", ".res", ".results", ".gz", ".bz2", ".xz", ".zst",
)  # fmt: skip


_HELP = {"-h", "--help"}


def spread(words: list[str]) -> list[str]:
    """Repeat an option that takes several words before each of them.

    Its words go up to the next option. One that is no measure but looks like a path is a file, as are all behind it.
    The words of RAW_COMMAND stay as they are.
    Raises UsageError for a word that is neither, and for an option without a word: an unset variable behind
    --fail-under must not pass a build. Who asks for help gets it all the same.
    """
    if words[:1] == [RAW_COMMAND] or not _HELP.isdisjoint(words):
        return words
    out: list[str] = []
    option, before, dialect = None, 0, _dialect(words)
    for place, word in enumerate(words):
        ends_option = word.startswith("-") and word != "-"
        if option is not None and (ends_option or not _SEVERAL[option](word, dialect)):
            _check_words(option, len(out) - before)
            option = None
        if word == "--":
            return [*out, *words[place:]]
        if ends_option and word in _SEVERAL:
            option, before = word, len(out)
        else:
            out += [word] if option is None else [option, word]
    if option is not None:
        _check_words(option, len(out) - before)
    return out


def _check_words(option: str, num_words: int) -> None:
    if not num_words:
        example = "mrr@10=0.35" if option == "--fail-under" else "mrr@10 ndcg@10"
        raise UsageError(f"nothing stands behind {option}", hint=f"write {option} {example}, or leave it out")


def _dialect(words: list[str]) -> Dialect | None:
    """How the preset spells measures that is named here or in the configuration."""
    name = last_value(words, "--preset")
    if name is None and not _SEVERAL.keys().isdisjoint(words):
        from rankeval_cli.cli.config import load_for

        settings = load_for(words)
        name = None if settings is None else settings.values.get("preset")
    if name is None:
        return None
    from rankeval_cli.presets.registry import find

    return find(name).dialect


def last_value(words: Sequence[str], option: str) -> str | None:
    """What stands behind the last such option (`--preset ranx`, `--preset=ranx`); None where there is none."""
    found = None
    for word, behind in zip_longest(words, words[1:]):
        if word == "--":
            break
        if word == option:
            found = behind
        elif word.startswith(f"{option}="):
            found = word.partition("=")[2]
    return found


def _is_measure(word: str, dialect: Dialect | None) -> bool:
    from rankeval_cli.measures.expression import PLAIN, is_measure, names_measure, parse

    spoken = dialect or PLAIN
    if is_measure(word, spoken):
        return True
    if _looks_like_path(word):
        return False
    if not names_measure(word, spoken) and _sounds_like_path(word):
        return False
    parse(word, spoken)  # raises what is wrong with it
    return True


def _looks_like_path(word: str) -> bool:
    return (
        word == "-"
        or os.path.exists(word)
        or any(sign in word for sign in ("/", "://", "*", "?"))
        or word.lower().endswith(KNOWN_SUFFIXES)
    )


def _sounds_like_path(word: str) -> bool:
    """Whether an unknown word is nearer to a file that exists than to a measure: then the reader names the file."""
    folder = os.path.dirname(word) or "."
    return bool(close_matches(word, os.listdir(folder), 1)) if os.path.isdir(folder) else False


def _is_floor(word: str, dialect: Dialect | None) -> bool:
    if "=" not in word:
        if _looks_like_path(word):
            return False
        raise UsageError(f"--fail-under `{word}` has no bound", hint="write MEASURE=NUMBER, such as mrr@10=0.35")
    return not os.path.exists(word)


_SEVERAL: dict[str, Callable[[str, Dialect | None], bool]] = {
    "-m": _is_measure,
    "--measure": _is_measure,
    "--fail-under": _is_floor,
}
