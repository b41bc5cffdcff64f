"""On the driver: rows of values become the facts and scores that one pass over the whole run would have given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankeval_cli.coverage import Facts
from rankeval_cli.model import Judgments
from rankeval_cli.scoring import Scorer

if TYPE_CHECKING:
    from rankeval_cli.plan import Part


@dataclass(frozen=True)
class Merged:
    """What the partitions found. notes : those of the tasks that read the run"""

    facts: Facts
    scorers: list[Scorer]
    notes: list[str]


def merged(rows: pl.DataFrame, judgments: Judgments, parts: Sequence[Part]) -> Merged:
    """The rows of all partitions, in any order, as facts and filled scorers."""
    judged = rows.filter(pl.col("answered").is_not_null())
    places = _places(judged["query"], judgments)
    scorers, start = [], 0
    for part in parts:
        scorers.append(_scorer(part, judgments, judged, places, start))
        start += len(part.metrics)
    facts, notes = _facts(rows, judgments)
    facts.answered[places] = judged["answered"].to_numpy()
    facts.judged_share[places] = judged["judged_share"].to_numpy()
    return Merged(facts, scorers, notes)


def _places(query: pl.Series, judgments: Judgments) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The index of each query among those that are judged."""
    index = pl.DataFrame({"query": judgments.queries}, schema={"query": pl.String}).with_row_index("index")
    found = query.to_frame("query").join(index, on="query", how="left", maintain_order="left")["index"]
    return found.cast(pl.Int64).to_numpy()


def _scorer(part: Part, judgments: Judgments, judged: pl.DataFrame, places: Any, start: int) -> Scorer:
    """The scorer of a part, filled. start : the number of its first metric among those of all parts"""
    scorer = Scorer(part.metrics, judgments, part.rules)
    for row in range(len(part.metrics)):
        scorer.values[row, places] = judged[f"v{start + row}"].to_numpy()
        scorer.by_policy[row, places] = judged[f"p{start + row}"].to_numpy()
        if part.rules.list_weights:
            scorer.shares[row, places] = judged[f"s{start + row}"].to_numpy()
    return scorer


def _facts(rows: pl.DataFrame, judgments: Judgments) -> tuple[Facts, list[str]]:
    facts, notes = Facts.empty(len(judgments.queries)), []
    facts.unjudged = rows.filter(pl.col("answered").is_null(), pl.col("query").is_not_null())["query"].to_list()
    for text in rows["facts"].drop_nulls():
        found = json.loads(text)
        for name, count in found["counts"].items():
            setattr(facts, name, getattr(facts, name) + count)
        facts.spellings += [(here, meant) for here, meant in found["spellings"]]
        notes += found["notes"]
    return facts, notes
