"""Text becomes the values of JSON: repeated keys are kept, and what is wrong is named by its line."""

from __future__ import annotations

import json
from typing import Any

from rankeval_cli.errors import InputError
from rankeval_cli.readers.nested import Pairs
from rankeval_cli.readers.streams import UTF8_HINT


def _object(pairs: list[tuple[str, Any]]) -> Any:
    """An object as a dict; as its pairs when a key is repeated, so that no value is lost unseen."""
    held = dict(pairs)
    return held if len(held) == len(pairs) else Pairs(pairs)


DECODER = json.JSONDecoder(object_pairs_hook=_object)


def parse(data: bytes, where: str, first_line: int = 1) -> Any:
    """The value that a text holds; an object is a dict, or `Pairs` when a key is repeated.

    first_line : the number of the text's first line
    Raises InputError naming the line of what is no JSON or no UTF-8.
    """
    try:
        return DECODER.decode(data.decode())
    except UnicodeDecodeError as problem:
        line = first_line + data.count(b"\n", 0, problem.start)
        raise InputError(f"byte 0x{data[problem.start]:02x} is not valid UTF-8", f"{where}:{line}", UTF8_HINT) from None
    except json.JSONDecodeError as problem:
        what = f"is no valid JSON: {problem.msg[:1].lower()}{problem.msg[1:]} (column {problem.colno})"
        is_lines = problem.msg == "Extra data" and problem.lineno > 1
        hint = "one object a line is JSON Lines: name the format jsonl" if is_lines else None
        line = first_line + problem.lineno - 1
        raise InputError(what, f"{where}:{line}", hint or "check that the file was written whole") from None
    except (RecursionError, ValueError) as problem:  # nested too deeply; a whole number of thousands of digits
        raise InputError(f"cannot be read: {str(problem).lower()}", f"{where}:{first_line}") from None
