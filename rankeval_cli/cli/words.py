"""Words of the command line before Typer sees them: `-m A B run qrels` becomes `-m A -m B run qrels`."""

from __future__ import annotations

import os
from collections.abc import Callable

from rankeval_cli.errors import UsageError, close_matches

RAW_COMMAND = "trec-eval"  # reads its words itself
KNOWN_SUFFIXES = (
    ".txt", ".run", ".trec", ".tsv", ".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".qrels", ".qrel",
    ".test", ".res", ".results", ".gz", ".bz2", ".xz", ".zst",
)  # fmt: skip


def spread(words: list[str]) -> list[str]:
    """Repeat an option that takes several words before each of them.

    Its words go up to the next option. One that is no measure but looks like a path is a file, as are all behind it.
    The words of RAW_COMMAND stay as they are.
    Raises UsageError for a word that is neither.
    """
    if words[:1] == [RAW_COMMAND]:
        return words
    out: list[str] = []
    option = None
    for place, word in enumerate(words):
        if word == "--":
            return [*out, *words[place:]]
        if word.startswith("-") and word != "-":
            option = word if word in _SEVERAL else None
            out += [] if option else [word]
        elif option is None:
            out.append(word)
        elif _SEVERAL[option](word):
            out += [option, word]
        else:
            option = None
            out.append(word)
    return out


def _is_measure(word: str) -> bool:
    from rankeval_cli.measures.expression import is_measure, names_measure, parse

    if is_measure(word):
        return True
    if _looks_like_path(word):
        return False
    if not names_measure(word) and _sounds_like_path(word):
        return False
    parse(word)  # raises what is wrong with it
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


def _is_floor(word: str) -> bool:
    if "=" not in word:
        if _looks_like_path(word):
            return False
        raise UsageError(f"--fail-under `{word}` has no bound", hint="write MEASURE=NUMBER, such as mrr@10=0.35")
    return not os.path.exists(word)


_SEVERAL: dict[str, Callable[[str], bool]] = {
    "-m": _is_measure,
    "--measure": _is_measure,
    "--fail-under": _is_floor,
}
