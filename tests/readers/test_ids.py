"""Columns of whole numbers become ids: equal ones that stand together, or not."""

import random

import polars as pl
import pytest

from rankeval_cli.readers import ids
from rankeval_cli.readers.ids import id_texts

RNG = random.Random(0)
COLUMNS = {
    "runs": [n for n in range(400) for _ in range(20)],
    "runs of many lengths": [n % 7 for n in range(900) for _ in range(RNG.randint(1, 30))],
    "runs at the start alone": [5] * 2000 + list(range(500)),
    "runs at the end alone": list(range(2000)) + [5] * 500,
    "no runs": list(range(3000)),
    "nulls": [None] * 9 + [3] * 9 + [None] * 9 + [None, 3, 4] * 3,
    "negative and large": [-(2**63)] * 8 + [2**63 - 1] * 8 + [0] * 8,
    "one": [1],
    "none": [],
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_whole_numbers_become_their_decimal_text(column: list[int | None]) -> None:
    texts = id_texts(pl.Series("query", column, dtype=pl.Int64))
    assert texts.name == "query"
    assert texts.dtype == pl.String
    assert texts.to_list() == [None if number is None else str(number) for number in column]


@pytest.mark.parametrize("dtype", [pl.UInt8, pl.Int16, pl.UInt64, pl.Int128], ids=str)
def test_whole_numbers_of_any_width_become_ids(dtype: type[pl.DataType]) -> None:
    assert id_texts(pl.Series([7] * 20 + [8] * 20, dtype=dtype)).to_list() == ["7"] * 20 + ["8"] * 20


def test_the_head_of_a_column_decides_nothing_but_time(monkeypatch: pytest.MonkeyPatch) -> None:
    column = pl.Series([1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, None, 6])
    found = []
    for head in (1, 8, 1000):
        monkeypatch.setattr(ids, "HEAD_ROWS", head)
        found.append(id_texts(column).to_list())
    assert found[0] == found[1] == found[2] == column.cast(pl.String).to_list()
