"""Three columns without header: is the third a rank or a score? Decided on the head, verified on every line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from rankeval_cli.readers.layout import whole
from rankeval_cli.readers.lines import Row
from rankeval_cli.readers.values import parse_number

if TYPE_CHECKING:
    import polars as pl

CHOOSE = "say what the third column is: --run-format msmarco-rank or --run-format msmarco-score"


def third_column(rows: Sequence[tuple[str, str]]) -> Literal["rank", "score", "unclear"]:
    """What the third column holds.

    rows : query and third column, in file order
    `rank` when it is a whole number that rises by one from 1 (or from 0) within each query; `score` when any value is a
    fraction or no number (the reader will complain); `unclear` for other whole numbers.
    """
    if rises(rows):
        return "rank"
    numbers = [parse_number(text) for _, text in rows]
    is_fraction = any(number is None or number % 1 != 0 for number in numbers)  # NaN and infinity too
    return "score" if is_fraction else "unclear"


def rises(rows: Iterable[tuple[str, str]]) -> bool:
    """Whether the texts are ranks that rise by one from 1 (or from 0) in each query; looks no further than needed."""
    return _broken(((query, whole(text)) for query, text in rows), {}, None) is None


def _broken(rows: Iterable[tuple[str, int | None]], last: dict[str, int], base: int | None) -> int | None:
    """Index of the first row whose rank does not follow; None when all do. `last` gains the last rank of each query."""
    for i, (query, rank) in enumerate(rows):
        if base is None and rank in (0, 1):
            base = rank
        if rank is None or base is None or rank != last.get(query, base - 1) + 1:
            return i
        last[query] = rank
    return None


class RankWatch:
    """Follows the ranks of a file, frame by frame.

    State: the last rank of every query, and whether ranks begin at 0 or at 1.
    """

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._base: int | None = None

    @property
    def base(self) -> int:
        """The first rank of each query: 0 or 1."""
        return 1 if self._base is None else self._base

    def follows(self, frame: pl.DataFrame) -> bool:
        """Whether all ranks of the next frame follow; when not, the state is as before."""
        import polars as pl

        if not frame.height:
            return True
        if self._base is None:
            self._base = min(max(int(frame["rank"][0]), 0), 1)
        query, rank = frame["query"], frame["rank"]
        same = (query == query.shift()).fill_null(False)
        if not (~same | (rank == rank.shift() + 1)).all():
            return False
        starts = pl.select(pl.arg_where(~same)).to_series()
        ends = (starts - 1).slice(1).append(pl.Series([frame.height - 1], dtype=starts.dtype))
        return self._join(query.gather(starts).to_list(), rank.gather(starts).to_list(), rank.gather(ends).to_list())

    def _join(self, queries: list[str], firsts: list[int], lasts: list[int]) -> bool:
        assert self._base is not None
        seen: dict[str, int] = {}
        for query, first, last in zip(queries, firsts, lasts, strict=True):
            if first != seen.get(query, self._last.get(query, self._base - 1)) + 1:
                return False
            seen[query] = last
        self._last.update(seen)
        return True

    def first_break(self, rows: Iterable[Row]) -> Row:
        """The first row of the next frame, which does not follow, that is to blame."""
        rows = list(rows)
        broken = _broken([(row.query, row.rank) for row in rows], dict(self._last), self._base)
        return rows[broken or 0]
