"""Blocks of whole queries, in file order or gathered, and the thread that reads ahead."""

import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankeval_cli.readers import ReadOptions, blocks, open_table, prefetch, source
from rankeval_cli.readers.ahead import Counted
from rankeval_cli.readers.blocks import Block, Ungrouped, gathered, grouped

Rows = list[tuple[str, str]]


class FramesTable:
    """A table whose frames are given: lists of (query, document); scores count the rows."""

    path, format, has_rank, size_bytes, tag = "memory", "test", False, None, None

    def __init__(self, frames: list[Rows]) -> None:
        self.warnings: list[str] = []
        self._frames = frames

    def frames(self, progress: object = None) -> Iterator[pl.DataFrame]:
        number = 0
        for rows in self._frames:
            query, doc = [row[0] for row in rows], [row[1] for row in rows]
            score = [float(number + i) for i in range(len(rows))]
            number += len(rows)
            yield pl.DataFrame({"query": query, "doc": doc, "score": score}, SCHEMA)

    def locate(self, query: str, doc: str) -> list[str]:
        return []


SCHEMA = {"query": pl.String, "doc": pl.String, "score": pl.Float64}


def rankings(found: list[Block]) -> dict[str, list[tuple]]:
    """Query -> its rows in block order; checks each block's own promises."""
    result: dict[str, list[tuple]] = {}
    for block in found:
        assert block.offsets.dtype == np.int64
        assert block.offsets[0] == 0
        assert block.offsets[-1] == block.frame.height
        assert len(block.offsets) == len(block.queries) + 1
        for i, query in enumerate(block.queries):
            assert query not in result, "a query came in two blocks"
            rows = block.frame[int(block.offsets[i]) : int(block.offsets[i + 1])]
            assert rows["query"].to_list() == [query] * rows.height
            assert rows.height > 0
            result[query] = rows.select("doc", "score").rows()
    return result


def expected(frames: list[Rows]) -> dict[str, list[tuple]]:
    """The same, the slow way."""
    result: dict[str, list[tuple]] = {}
    for number, (query, doc) in enumerate(row for frame in frames for row in frame):
        result.setdefault(query, []).append((doc, float(number)))
    return result


def cut(rows: Rows, places: list[int]) -> list[Rows]:
    """The rows in frames, cut at the places (modulo their number); some frames may be empty."""
    stops = sorted(place % (len(rows) + 1) for place in places)
    return [rows[a:b] for a, b in zip([0, *stops], [*stops, len(rows)], strict=True)]


SIZES = st.lists(st.integers(1, 6), max_size=12)
PLACES = st.lists(st.integers(0, 100), max_size=8)
ANY_ORDER = st.lists(st.tuples(st.sampled_from("abcdé"), st.sampled_from(["d", "e", "f" * 20])), max_size=40)


@given(sizes=SIZES, places=PLACES)
@settings(max_examples=150, deadline=None)
def test_grouped_gives_whole_queries_in_file_order(sizes: list[int], places: list[int]) -> None:
    rows = [(f"q{q}", f"d{i}") for q, size in enumerate(sizes) for i in range(size)]
    frames = cut(rows, places)
    found = list(grouped(FramesTable(frames)))
    assert rankings(found) == expected(frames)
    assert [query for block in found for query in block.queries] == [f"q{q}" for q in range(len(sizes))]


@given(rows=ANY_ORDER, places=PLACES)
@settings(max_examples=150, deadline=None)
def test_grouped_is_right_or_says_that_a_query_returns(rows: Rows, places: list[int]) -> None:
    frames = cut(rows, places)
    runs = [query for i, (query, _) in enumerate(rows) if i == 0 or query != rows[i - 1][0]]
    returns = len(set(runs)) < len(runs)
    if returns and sum(map(bool, frames)) > 1:
        with pytest.raises(Ungrouped):
            list(grouped(FramesTable(frames)))
    else:
        assert rankings(list(grouped(FramesTable(frames)))) == expected(frames)


LIMITS = {
    "nothing spilled": (1 << 30, 1 << 30, 64),
    "one block": (1, 1 << 30, 64),
    "a block a partition": (1, 1, 8),
    "partitioned again": (200, 50, 2),
}


@pytest.mark.parametrize(("spill", "block", "partitions"), LIMITS.values(), ids=LIMITS)
@settings(max_examples=60, deadline=None)
@given(rows=ANY_ORDER, places=PLACES)
def test_gathered_keeps_file_order_within_each_query(
    spill: int, block: int, partitions: int, rows: Rows, places: list[int]
) -> None:
    frames = cut(rows, places)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SPILL_BYTES", spill)
        patch.setattr(blocks, "BLOCK_BYTES", block)
        patch.setattr(blocks, "NUM_PARTITIONS", partitions)
        assert rankings(list(gathered(FramesTable(frames)))) == expected(frames)


def test_one_query_larger_than_a_block_is_not_partitioned_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SPILL_BYTES", 100)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 100)
    frames = [[("q", f"d{i}-{j}") for j in range(10)] + [(f"r{i}", "d")] for i in range(50)]
    assert rankings(list(gathered(FramesTable(frames)))) == expected(frames)


def test_large_partitions_come_in_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SPILL_BYTES", 2000)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(blocks, "NUM_PARTITIONS", 2)
    frames = [[(f"q{(i * 7 + j) % 40}", f"d{i}") for j in range(20)] for i in range(100)]
    found = list(gathered(FramesTable(frames)))
    assert rankings(found) == expected(frames)
    assert max(block.frame.estimated_size() for block in found) < 10_000


def test_the_temporary_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(blocks, "SPILL_BYTES", 1)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)
    frames = [[(f"q{i % 9}", f"d{i}")] for i in range(30)]
    for _ in gathered(FramesTable(frames)):
        assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("order", ["by query", "shuffled"])
@pytest.mark.parametrize("size", [1, 100, 3000])
def test_blocks_of_a_file_do_not_depend_on_the_chunk_size(
    order: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(q, i) for q in range(20) for i in range(15)]
    if order == "shuffled":
        rows.sort(key=lambda row: hash((row[0] * 31 + row[1] * 17) % 101))
    path = tmp_path / "run.txt"
    path.write_text("".join(f"q{q} Q0 d{i} 1 {i / 8} t\n" for q, i in rows))
    monkeypatch.setattr(source, "CHUNK_BYTES", size)
    monkeypatch.setattr(blocks, "SPILL_BYTES", 1000)
    read = grouped if order == "by query" else gathered
    found = rankings(list(read(open_table(str(path), "run", ReadOptions()))))
    assert found == {f"q{q}": [(f"d{i}", i / 8) for r, i in rows if r == q] for q in range(20)}


def test_an_open_query_is_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query of many chunks: rows are copied once, not once a chunk."""
    joined: list[int] = []
    concat = pl.concat
    monkeypatch.setattr(pl, "concat", lambda frames, **options: joined.append(1) or concat(frames, **options))
    frames = [[("q", f"d{i}")] for i in range(300)]
    assert len(list(grouped(FramesTable(frames)))) == 1
    assert len(joined) == 1


# Reading ahead.


def test_prefetch_keeps_items_and_order() -> None:
    assert list(prefetch(range(100))) == list(range(100))
    assert list(prefetch([])) == []


def test_prefetch_is_one_step_ahead() -> None:
    made: list[int] = []
    ready = [threading.Event() for _ in range(9)]

    def items() -> Iterator[int]:
        for i in range(9):
            made.append(i)
            ready[i].set()
            yield i

    ahead = prefetch(items())
    for i in range(7):
        assert next(ahead) == i
        assert ready[i + 1].wait(5), "the next item is made meanwhile"
        assert len(made) <= i + 3
    ahead.close()


def test_prefetch_raises_in_place() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise Ungrouped("here")

    ahead = prefetch(items())
    assert next(ahead) == 1
    with pytest.raises(Ungrouped, match="here"):
        next(ahead)


def test_prefetch_stops_its_thread_when_the_consumer_stops() -> None:
    closed = threading.Event()

    def items() -> Iterator[int]:
        try:
            yield from range(1000)
        finally:
            closed.set()

    ahead = prefetch(items())
    assert next(ahead) == 0
    ahead.close()
    assert closed.is_set()
    assert not any(thread.name == "prefetch" for thread in threading.enumerate())


def test_prefetch_stops_when_the_consumer_fails() -> None:
    def consume() -> None:
        for _ in prefetch(iter(range(1000))):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        consume()
    assert not any(thread.name == "prefetch" for thread in threading.enumerate())


def test_prefetch_of_a_prefetch_stops_both_threads() -> None:
    closed = threading.Event()

    def items() -> Iterator[int]:
        try:
            yield from range(1000)
        finally:
            closed.set()

    def doubled() -> Iterator[int]:
        with closing(prefetch(items())) as ahead:
            yield from (2 * item for item in ahead)

    ahead = prefetch(doubled())
    assert [next(ahead) for _ in range(3)] == [0, 2, 4]
    ahead.close()
    assert closed.is_set()
    assert not any(thread.name == "prefetch" for thread in threading.enumerate())


def test_prefetch_hands_over_an_interrupt() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(prefetch(items()))


@pytest.mark.parametrize(
    ("size", "steps", "share"),
    [(200, [50, 25], 0.375), (200, [], 1.0), (None, [50], 1.0), (0, [50], 1.0), (200, [150, 150], 1.0)],
    ids=["some", "nothing yet", "unknown size", "empty", "read twice"],
)
def test_the_share_that_was_read(size: int | None, steps: list[int], share: float) -> None:
    told: list[int] = []
    counted = Counted(size, told.append)
    for step in steps:
        counted(step)
    assert counted.share() == share
    assert told == steps
