"""Scores and grades become float64, exactly where float64 can hold them; words and nulls are complaints."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING

from rankeval_cli.errors import InputError
from rankeval_cli.readers.columns import VALUES
from rankeval_cli.readers.format import ReadOptions, Role
from rankeval_cli.readers.ids import type_name

if TYPE_CHECKING:
    import polars as pl

# ASCII digits only, no `1_000`, no hexadecimal: what `float()` takes beyond that is no number in a table.
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)", re.IGNORECASE)
_BOOLEANS = {"true": 1.0, "false": 0.0}
EXACT = 2**53  # every whole number up to here has its own float64


@dataclass
class Tally:
    """What was met while reading and is told as warnings afterwards.

    infinite : infinite scores
    rounded : whole numbers beyond 2^53 that float64 cannot hold
    unread : a column of a labelled table that is known and not read: its weights of rows
    """

    infinite: int = 0
    rounded: int = 0
    unread: str | None = None

    def warnings(self) -> list[str]:
        """One line a kind, none where nothing was met."""
        lines = []
        if self.infinite:
            what = "1 infinite score" if self.infinite == 1 else f"{self.infinite:,} infinite scores"
            lines.append(f"{what}, sorted first or last")
        if self.rounded:
            what = "1 score is" if self.rounded == 1 else f"{self.rounded:,} scores are"
            lines.append(f"{what} beyond 2^53 and had to be rounded: those that differ only there are ties")
        if self.unread:
            lines.append(f"column `{self.unread}` holds weights of rows, which only --preset keras and tf-ranking use")
        return lines


@dataclass(frozen=True)
class Reading:
    """One pass over an input. tally : is filled on the way."""

    role: Role
    options: ReadOptions
    tally: Tally = field(default_factory=Tally)

    @property
    def noun(self) -> str:
        """What the numbers are called, and the name of their column."""
        return VALUES[self.role]


def parse_number(text: str) -> float | None:
    """The float64 nearest to a number in decimal text, blanks around it allowed; None where it is no number."""
    text = text.strip(" \t")
    return float(text) if _NUMBER.fullmatch(text) else None


def parse_value(text: str, role: Role, grade_map: Mapping[str, float] | None = None) -> float | None:
    """A score or a grade from text; grades may be words of `grade_map`, or true and false; None where it is neither."""
    if role == "qrels":
        if grade_map is not None and text in grade_map:
            return float(grade_map[text])
        if text.strip().lower() in _BOOLEANS:
            return _BOOLEANS[text.strip().lower()]
    return parse_number(text)


def number(value: object, role: Role, grade_map: Mapping[str, float] | None, tally: Tally) -> float | None:
    """A score or a grade from a Python object (int of any size, float, Decimal, NumPy scalar, text); None if no number.

    true and false are grades 1 and 0 and are no scores.
    """
    if isinstance(value, float):
        return value
    if isinstance(value, str):
        return parse_value(value, role, grade_map)
    if isinstance(value, bool) or type(value).__name__ == "bool":  # numpy.bool_ is no Integral
        return float(bool(value)) if role == "qrels" else None
    if isinstance(value, Integral):
        return _whole(int(value), tally)
    if isinstance(value, (Real, Decimal)):
        return _real(value)
    return None


def _whole(value: int, tally: Tally) -> float:
    try:
        result = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    tally.rounded += int(result) != value
    return result


def _real(value: Real | Decimal) -> float | None:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def value_complaint(value: object, role: Role, name: str) -> tuple[str, str | None]:
    """What is wrong with a score or grade that is null, NaN, a word or, for a grade, infinite; and a hint.

    name : what it is called in messages, `score` or `grade`
    """
    if value is None:
        return f"{name} is null", f"every row needs a {name}"
    if isinstance(value, str) and not value.strip():
        return f"{name} is empty", f"every row needs a {name}"
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?\s*", value):
        return f"{name} `{value}` has a decimal comma", "write numbers with a decimal point"
    parsed = parse_number(value) if isinstance(value, str) else value
    if isinstance(parsed, (float, Decimal)) and not math.isfinite(parsed):
        if math.isnan(parsed):
            return f"{name} is NaN, which has no place in an order", f"every row needs a {name} that is a number"
        return f"{name} `{value}` is infinite", "grades are finite numbers"
    hint = None
    if role == "qrels" and isinstance(value, str):
        hint = "grades that are words: --grade-map E=3,S=2,C=1,I=0"
    return f"{name} {_shown(value)} is not a number", hint


def _shown(value: object) -> str:
    text = str(value)
    return f"`{text[:60]}...`" if len(text) > 60 else f"`{text}`"


def check_value_type(dtype: pl.DataType, column: str, role: Role, where: str) -> None:
    """Refuse a column type that cannot hold scores or grades: InputError naming column and type.

    Any integer, float or decimal is fine, text that holds numbers too, categories and true/false for grades only.
    """
    import polars as pl

    if dtype.is_numeric() or isinstance(dtype, (pl.String, pl.Null)):
        return
    if role == "qrels" and isinstance(dtype, (pl.Boolean, pl.Categorical, pl.Enum)):
        return
    name = f"{VALUES[role]}s"
    raise InputError(f"column `{column}` holds {name} of type {type_name(dtype)}", where, f"{name} are numbers")


def check_mask_type(dtype: pl.DataType, column: str, where: str) -> None:
    """Refuse a column type that cannot hold a mask: InputError naming column and type."""
    import polars as pl

    if not (dtype.is_numeric() or isinstance(dtype, (pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Null))):
        what = f"column `{column}` holds a mask of type {type_name(dtype)}"
        raise InputError(what, where, "a mask holds true and false, or 1 and 0")


def floats(values: pl.Series, role: Role, grade_map: Mapping[str, float] | None, tally: Tally) -> pl.Series:
    """A column of scores or grades (any type that `check_value_type` allows) as Float64.

    Null where a value is null or no number; NaN and infinities pass, they are looked for later. Decimals are exact to
    the last bit (through their text), float32 is widened, whole numbers beyond 2^53 are rounded and counted in `tally`.
    """
    import polars as pl

    dtype = values.dtype
    if isinstance(dtype, pl.Float64):
        return values
    if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
        return _from_text(values.cast(pl.String), role, grade_map)
    if isinstance(dtype, pl.Decimal):
        return values.cast(pl.String).cast(pl.Float64)
    result = values.cast(pl.Float64)
    if dtype.is_integer() and role in ("run", "labelled"):
        tally.rounded += _count_rounded(values)
    return result


def _from_text(values: pl.Series, role: Role, grade_map: Mapping[str, float] | None) -> pl.Series:
    import polars as pl

    if not grade_map:
        result = values.str.strip_chars(" \t").cast(pl.Float64, strict=False)
        if result.null_count() == values.null_count():
            return result
    distinct = values.unique().drop_nulls()
    parsed = [parse_value(text, role, grade_map) for text in distinct]
    return values.replace_strict(distinct, pl.Series(parsed, dtype=pl.Float64), default=None)


def _count_rounded(values: pl.Series) -> int:
    import polars as pl

    low, high = values.min(), values.max()
    if low is None or (int(str(low)) >= -EXACT and int(str(high)) <= EXACT):
        return 0
    back = values.cast(pl.Float64).cast(pl.Int128, strict=False)
    return int((back != values.cast(pl.Int128, strict=False)).fill_null(True).sum())


def truths(values: pl.Series) -> pl.Series:
    """A column of a mask as Boolean: true, false, 1, 0, also as text; null where a value is none of these."""
    import polars as pl

    if isinstance(values.dtype, pl.Boolean):
        return values
    texts = values.cast(pl.String).str.strip_chars(" \t").str.to_lowercase()
    known = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}
    return texts.replace_strict(known, default=None, return_dtype=pl.Boolean)


def whole_ranks(values: pl.Series) -> pl.Series:
    """A column of ranks as Int64; null where a value is null, no number or not whole."""
    import polars as pl

    dtype = values.dtype
    if dtype.is_integer():
        return values.cast(pl.Int64, strict=False)
    if not (dtype.is_numeric() or isinstance(dtype, pl.String)):
        return pl.Series(values.name, [None] * len(values), dtype=pl.Int64)
    numbers = floats(values, "run", None, Tally()).cast(pl.Float64)
    whole = (numbers == numbers.floor()) & (numbers.abs() <= EXACT)
    return pl.select(pl.when(whole).then(numbers)).to_series().cast(pl.Int64).alias(values.name)


def whole_rank(value: object) -> int | None:
    """One rank from a Python object or text; None where it is not whole."""
    parsed = number(value, "run", None, Tally())
    if parsed is None or not abs(parsed) <= EXACT or parsed != int(parsed):
        return None
    return int(parsed)
