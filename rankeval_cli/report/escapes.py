"""Text and rows for Markdown and LaTeX, in which no id or name can mean anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankeval_cli.report.text import UNDEFINED, visible

# `_` inside a word means nothing to GitHub, and `ndcg_cut_10` stays readable in the raw text.
_MARKDOWN_SIGNS = re.compile(r"[\\`*\[\]<|~&$]|(?<![^\W_])_|_(?![^\W_])")

_LATEX_SIGNS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"{\char34}",  # \textquotedbl is an error in the default font encoding
        "[": "{[}",  # at the start of a row it would be an option of the \\ before it
        "*": "{*}",  # and so would a star
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


def markdown_text(text: str) -> str:
    """A text that Markdown shows as it is."""
    return _MARKDOWN_SIGNS.sub(r"\\\g<0>", visible(text))


def markdown_head(titles: list[str], num_texts: int, ends_in_text: bool = False) -> Iterator[str]:
    """The first two rows of a table: titles, and how columns are aligned; texts come first, then numbers."""
    yield markdown_row([markdown_text(title) for title in titles])
    num_numbers = len(titles) - num_texts - ends_in_text
    yield markdown_row([":---"] * num_texts + ["---:"] * num_numbers + [":---"] * ends_in_text)


def markdown_row(cells: list[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |\n"


def latex_text(text: str) -> str:
    """A text that LaTeX shows as it is."""
    return visible(text).translate(_LATEX_SIGNS).replace("--", "-{}-")


def latex_row(cells: list[str]) -> str:
    """A row of a table."""
    return f"{' & '.join(cells)} \\\\\n"


def latex_number(text: str) -> str:
    """A number, with a minus sign that is one."""
    return text if text == UNDEFINED else text.replace("-", "$-$")
