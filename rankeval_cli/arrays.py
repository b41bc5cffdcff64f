"""Arrays of scores and labels as a labelled table: flat ones with an index, batches of one row a query, ragged lists.

Arrays may come from NumPy, or from whatever offers `__array__` or the buffer protocol (torch, JAX).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import InputError, UsageError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from rankeval_cli.readers.format import Progress

    Array = NDArray[Any]

FRAME_ROWS = 200_000


def from_positives(positives: Sequence[Iterable[int]], num_items: int) -> Array:
    """Labels (Q, num_items) of a batch: 1 for the items in each row of `positives`, 0 for all others. int8

    Raises UsageError for an item that is not in 0 .. num_items - 1.

    >>> from_positives([[0, 2], []], 3).tolist()
    [[1, 0, 1], [0, 0, 0]]
    """
    import numpy as np

    labels = np.zeros((len(positives), num_items), np.int8)
    for row, items in enumerate(positives):
        labels[row, _checked_items(items, num_items, f"positives[{row}]")] = 1
    return labels


def from_rankings(rankings: Sequence[Sequence[int]], num_items: int) -> Any:
    """Scores (Q, num_items) of a batch from ranked items, best first; a masked array.

    An item that is not ranked is masked: it counts as judged, and as not retrieved. Raises UsageError for an item that
    stands twice in a ranking or is not in 0 .. num_items - 1.

    >>> from_rankings([[2, 0]], 3).tolist()
    [[-2.0, None, -1.0]]
    """
    import numpy as np

    scores: Any = np.ma.masked_array(np.zeros((len(rankings), num_items)), mask=True)
    for row, items in enumerate(rankings):
        places = _checked_items(items, num_items, f"rankings[{row}]")
        if len(set(places)) < len(places):
            raise UsageError(f"rankings[{row}] holds an item twice", hint="rank each item once")
        scores[row, places] = -np.arange(1.0, len(places) + 1.0)
    return scores


def _checked_items(items: Iterable[int], num_items: int, name: str) -> list[int]:
    import operator

    found = []
    for item in items:
        try:
            place = operator.index(item)
        except TypeError:
            raise UsageError(f"{name} holds `{item}`, which is no item number", hint="give whole numbers") from None
        if not 0 <= place < num_items:
            raise UsageError(f"{name} holds item {place}, and there are {num_items:,} items", hint="items begin at 0")
        found.append(place)
    return found


@dataclass
class ArrayTable:
    """Flat arrays as a labelled `Table`. All (rows,).

    query : id of each row, text or whole numbers
    is_ranked, counts : bool, or None where all rows are ranked, or count
    weight : of each row, None where they weigh alike
    num_queries : rows of a batch, None for flat arrays
    """

    query: Array
    score: Array
    grade: Array
    is_ranked: Array | None
    counts: Array | None
    num_queries: int | None
    weight: Array | None = None
    path: str = "arrays"
    format: str = "arrays"
    has_rank: bool = False
    has_doc_ids: bool = False
    size_bytes: int | None = None
    tag: str | None = None
    warnings: list[str] = field(default_factory=list)

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in order, a part at a time."""
        import polars as pl

        for start in range(0, len(self.query), FRAME_ROWS):
            part = slice(start, start + FRAME_ROWS)
            score, grade = pl.Series(self.score[part]), pl.Series(self.grade[part])
            frame = pl.DataFrame({"query": _ids(self.query[part]), "score": score, "grade": grade})
            if self.weight is not None:
                frame = frame.with_columns(weight=pl.Series(self.weight[part]))
            if self.is_ranked is not None:
                frame = frame.with_columns(pl.when(pl.Series(self.is_ranked[part])).then(pl.col("score")))
            if self.counts is not None:
                frame = frame.with_columns(pl.when(pl.Series(self.counts[part])).then(pl.col("score", "grade")))
            yield frame

    def locate(self, query: str, doc: str) -> list[str]:
        """Nothing: there are no documents."""
        return []


def _ids(query: Array) -> pl.Series:
    import polars as pl

    from rankeval_cli.readers.ids import id_texts

    return id_texts(pl.Series(query.tolist() if query.dtype.kind in "OUS" else query))


def table_of(scores: Any, labels: Any, index: Any, mask: Any, ignore_label: float | None = None) -> ArrayTable:
    """The arrays flattened, once their shapes, types and values have been found to fit (see `evaluate_arrays`).

    ignore_label : items with this label do not count, as if masked
    """
    import numpy as np

    lengths = _ragged_lengths(scores)
    if lengths is not None:
        labels, mask = _of_lengths(labels, "labels", lengths), _of_lengths(mask, "mask", lengths)
        scores = _joined(scores, "scores")
    score = _numbers(scores, "scores")
    is_ranked = None if not np.ma.isMaskedArray(score) else ~np.ma.getmaskarray(score)
    if score.ndim not in (1, 2):
        hint = "give (queries, items), or (rows,) with an index"
        raise UsageError(f"scores have shape {_shape(score)}", hint=hint)
    grade = _numbers(labels, "labels")
    if score.ndim == 2 and grade.shape == score.shape[1:]:
        grade = np.broadcast_to(grade, score.shape)
    _same_shape(grade, "labels", score)
    counts = None if mask is None else _truths(mask)
    if counts is not None:
        _same_shape(counts, "mask", score)
    if ignore_label is not None:
        kept = np.ma.getdata(grade) != ignore_label
        counts = kept if counts is None else counts & kept
    query = _query_of_rows(score, index, lengths)
    num_queries = len(lengths) if lengths is not None else len(score) if score.ndim == 2 else None
    _check_values(score, "score", is_ranked, counts)
    _check_values(grade, "label", None, counts)
    flat = [None if array is None else np.asarray(array).reshape(-1) for array in (is_ranked, counts)]
    score, grade = (np.ma.getdata(array).astype(np.float64).reshape(-1) for array in (score, grade))
    empty = lengths.count(0) if lengths is not None else 0
    left_out = [f"{empty:,} {'ranking is' if empty == 1 else 'rankings are'} empty and left out"] * bool(empty)
    return ArrayTable(query, score, grade, flat[0], flat[1], num_queries, warnings=left_out)


def _ragged_lengths(scores: Any) -> list[int] | None:
    """The lengths of the rows, where scores are a list of rows that are not equally long."""
    if not isinstance(scores, (list, tuple)) or not all(hasattr(row, "__len__") for row in scores):
        return None
    lengths = [len(row) for row in scores]
    return lengths if len(set(lengths)) > 1 else None


def _of_lengths(rows: Any, name: str, lengths: list[int]) -> Array | None:
    """Ragged rows joined; UsageError when their lengths differ from those of the scores."""
    if rows is None:
        return None
    if not hasattr(rows, "__len__") or not all(hasattr(row, "__len__") for row in rows):
        raise UsageError(f"scores are lists of several lengths, and {name} are not", hint=f"give {name} row by row")
    if len(rows) != len(lengths):
        raise UsageError(f"scores have {len(lengths):,} rows and {name} {len(rows):,}", hint="give one row a query")
    for row, (held, length) in enumerate(zip(rows, lengths, strict=True)):
        if len(held) != length:
            what = f"scores[{row}] has length {length:,} and {name}[{row}] length {len(held):,}"
            raise UsageError(what, hint=f"give one of the {name} an item")
    return _joined(rows, name)


def _joined(rows: Any, name: str) -> Array:
    import numpy as np

    return np.concatenate([_array(row, f"{name}[{i}]").reshape(-1) for i, row in enumerate(rows)])


def _query_of_rows(score: Array, index: Any, lengths: list[int] | None) -> Array:
    import numpy as np

    from rankeval_cli.readers.ids import id_text

    if score.ndim == 2 or lengths is not None:
        if index is not None:
            what = f"an index goes with flat scores, and these have shape {_shape(score)}"
            what = what if lengths is None else "an index goes with flat scores, and these are lists of several lengths"
            raise UsageError(what, hint="leave the index out: each row is a query")
        return np.repeat(np.arange(len(lengths or score)), lengths or score.shape[1])
    if index is None:
        return np.zeros(len(score), np.int64)
    query = _array(index, "index")
    if query.dtype.kind not in "iuOUS":
        raise UsageError(f"index holds {query.dtype}, and ids are text or whole numbers", hint="cast it to integers")
    _same_shape(query, "index", score)
    if query.dtype.kind == "O" and any(id_text(query_id) is None for query_id in query.tolist()):
        raise UsageError("index holds something that is no id", hint="ids are text or whole numbers")
    return query


def _array(values: Any, name: str) -> Array:
    """The values as an array; UsageError where they cannot be one."""
    import numpy as np

    try:
        return np.asanyarray(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as problem:
        reason = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
        hint = "for a torch tensor: .detach().float().cpu()"
        raise UsageError(f"{name} of type {type(values).__name__} cannot be an array: {reason}", hint=hint) from None


def _numbers(values: Any, name: str) -> Array:
    array = _array(values, name)
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{name} hold {array.dtype}, not numbers", hint="give an array or lists of numbers")
    return array


def _truths(mask: Any) -> Array:
    array = _numbers(mask, "mask")
    if array.dtype.kind != "b" and not ((array == 0) | (array == 1)).all():
        raise UsageError("mask holds other numbers than 0 and 1", hint="true where an item counts")
    return array.astype(bool)


def _shape(array: Array) -> str:
    return str(tuple(int(size) for size in array.shape))


def _same_shape(array: Array, name: str, score: Array) -> None:
    if array.shape != score.shape:
        more = f", or {_shape(score[0])} for all rows" if name == "labels" and score.ndim == 2 and len(score) else ""
        verb = "have" if name.endswith("s") else "has"
        what = f"{name} {verb} shape {_shape(array)}, and scores have shape {_shape(score)}"
        raise UsageError(what, hint=f"give {name} of shape {_shape(score)}{more}")


def _check_values(array: Array, noun: str, is_ranked: Array | None, counts: Array | None) -> None:
    """Refuse NaN, and infinite labels, where the item counts and is ranked."""
    import numpy as np

    values = np.ma.getdata(array)
    if values.dtype.kind != "f":
        return
    bad = np.isnan(values) if noun == "score" else ~np.isfinite(values)
    for kept in (is_ranked, counts):
        bad = bad if kept is None else bad & kept
    if bad.any():
        place = ", ".join(str(i) for i in np.argwhere(bad)[0].tolist())
        value = values[tuple(np.argwhere(bad)[0])]
        shown = "NaN" if np.isnan(value) else f"`{value}`"
        raise InputError(f"{noun} is {shown}", f"{noun}s[{place}]", "mask it, or give a finite number")


def with_item_weights(weights: Any, table: ArrayTable) -> ArrayTable | None:
    """The table with a weight for each row; None where the weights are not of rows but of queries."""
    import numpy as np

    if isinstance(weights, Mapping):
        return None
    rows = _joined(weights, "weights") if _ragged_lengths(weights) is not None else _numbers(weights, "weights")
    is_of_rows = rows.ndim == 2 or table.num_queries in (None, len(table.query)) or rows.size != table.num_queries
    if rows.ndim == 0 or rows.size != len(table.query) or not is_of_rows:
        return None
    return replace(table, weight=np.asarray(rows, dtype=np.float64).reshape(-1))


def weights_by_query(weights: Any, table: ArrayTable) -> dict[Any, float]:
    """`{query: weight}`, as `read_weights` takes it."""
    import numpy as np
    import polars as pl

    if isinstance(weights, Mapping):
        return dict(weights)
    heavy = _numbers(weights, "weights").astype(np.float64)
    num_rows = len(table.query)
    if table.num_queries is not None and heavy.shape in ((table.num_queries,), (table.num_queries, 1)):
        return dict(zip(map(str, range(table.num_queries)), heavy.reshape(-1).tolist(), strict=True))
    if heavy.ndim == 0:
        heavy = np.full(num_rows, float(heavy))
    if heavy.size != num_rows or (table.num_queries is None and heavy.ndim != 1):
        expected = f"({num_rows},)" if table.num_queries is None else f"({table.num_queries},)"
        raise UsageError(f"weights have shape {_shape(heavy)}", hint=f"one weight a query: shape {expected}")
    rows = pl.DataFrame({"query": _ids(table.query), "weight": heavy.reshape(-1)})
    if table.counts is not None:
        rows = rows.filter(pl.Series(table.counts))
    found = rows.group_by("query", maintain_order=True).agg(pl.col("weight").first(), n=pl.col("weight").n_unique())
    several = found.filter(pl.col("n") > 1)
    if several.height:
        what = f"the items of query `{several['query'][0]}` have several weights"
        raise UsageError(what, hint="weights are of queries: give all items of one the same, or shape (queries,)")
    return dict(found.select("query", "weight").iter_rows())
