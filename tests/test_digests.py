"""The digest of labelled tables: what it hashes, and what it does not depend on."""

import hashlib
import random
import struct

import numpy as np
import polars as pl
import pytest

from rankeval_cli import digests
from rankeval_cli.digests import Digest
from rankeval_cli.rows import BlockRows, offsets_of
from rankeval_cli.sorting import falling

GRADES = {
    "binary": [0.0, 1.0],
    "up to 255": [0.0, 3.0, 255.0],
    "negative": [-1.0, 0.0, 2.0],
    "halves": [0.0, 0.5, 1.5],
    "doubles": [0.1, 0.25, 1 / 3],
    "large": [0.0, 256.0, 2.0**60],
    "beyond single": [1e300, 0.0],
    "unjudged": [float("nan"), 1.0],
}


def lists_of(grades: list[float], seed: int = 0, longest: int = 6) -> dict[str, list[float]]:
    """Queries in no order, each with one grade or more besides NaN."""
    rng = random.Random(seed)
    names = ["b", "q10", "q9", "\u00e9\U0001f600", "a b", "q\n1", "1"]
    return {name: [grades[-1], *rng.choices(grades, k=rng.randint(0, longest))] for name in names}


def digest_of(lists: dict[str, list[float]], cuts: tuple[int, ...] = ()) -> str:
    """The digest of lists that come in this order, in blocks cut before these places."""
    digest, queries = Digest(), list(lists)
    for first, last in zip((0, *cuts), (*cuts, len(queries)), strict=True):
        block = [lists[query] for query in queries[first:last]]
        offsets = offsets_of(np.array([len(grades) for grades in block]))
        digest.add_grades(falling(np.array([grade for grades in block for grade in grades]), offsets), offsets)
    order = sorted(range(len(queries)), key=lambda place: queries[place].encode())
    return digest.finish(pl.Series([queries[place] for place in order]), np.array(order))


def twin(lists: dict[str, list[float]]) -> str:
    """As the docstring of `Digest.finish` says, number by number."""
    names = sorted(lists, key=str.encode)
    kept = [sorted((grade for grade in lists[name] if grade == grade), reverse=True) for name in names]
    data = struct.pack("<q", len(names)) + b"".join(struct.pack("<q", len(name.encode())) for name in names)
    data += b"".join(name.encode() for name in names) + b"".join(struct.pack("<q", len(grades)) for grades in kept)
    data += b"".join(struct.pack("<d", grade) for grades in kept for grade in grades)
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@pytest.mark.parametrize("slab", [1, 7, 2**19])
@pytest.mark.parametrize("grades", GRADES.values(), ids=GRADES)
def test_it_hashes_ids_and_grades(grades: list[float], slab: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "SLAB_ITEMS", slab)
    lists = lists_of(grades)
    assert digest_of(lists) == twin(lists)


def test_blocks_of_other_types_make_no_difference() -> None:
    lists = dict(zip("abcde", ([1.0], [0.5, 0.0], [1 / 3], [255.0, -1.0], [256.0]), strict=True))
    assert {digest_of(lists, cuts) for cuts in ((), (1,), (1, 2, 3, 4), (2, 4))} == {twin(lists)}


def test_the_order_of_queries_and_of_grades_makes_no_difference() -> None:
    lists, rng = lists_of(GRADES["halves"]), random.Random(3)
    mixed = {name: rng.sample(lists[name], len(lists[name])) for name in rng.sample(list(lists), len(lists))}
    assert list(mixed) != list(lists)
    assert digest_of(mixed) == digest_of(lists)


@pytest.mark.parametrize(
    "other",
    [{"a": [1.0, 0.0], "b": [1.0]}, {"ab": [1.0], "": [1.0, 0.0]}, {"a": [1.0]}, {"a": [1.0], "b": [1.0, 1.0]}],
    ids=["same grades, cut elsewhere", "same ids, cut elsewhere", "query gone", "another grade"],
)
def test_other_judgments_have_another_digest(other: dict[str, list[float]]) -> None:
    assert digest_of(other) != digest_of({"a": [1.0], "b": [1.0, 0.0]})


def test_it_hashes_the_documents_where_they_have_ids() -> None:
    frame = pl.DataFrame({"doc": ["d2", "d1", "d3", "d1"]})
    digest = Digest()
    digest.add_documents(BlockRows(frame, np.arange(2), np.array([0, 3, 4])), np.array([1.0, 0.0, np.nan, 0.5]))
    hashes = [hashlib.sha256(lines).digest() for lines in (b"d1\t0\nd2\t1\n", b"d1\t0.5\n")]
    data = struct.pack("<qqq", 2, 1, 1) + b"ab" + struct.pack("<qq", 32, 32) + hashes[1] + hashes[0]
    assert digest.finish(pl.Series(["a", "b"]), np.array([1, 0])) == f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_no_query_has_a_digest_too() -> None:
    assert (
        Digest().finish(pl.Series([], dtype=pl.String), np.empty(0, np.int64))
        == f"sha256:{hashlib.sha256(bytes(8)).hexdigest()}"
    )
