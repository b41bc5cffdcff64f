"""On the workers: the rows of some whole queries become rows of values, by the same alignment and scoring.

A partition holds all rows of its queries, sorted by query. Where judgments are too many for every worker, they stand
in the partition before the rows of the run, and `is_run` tells them apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from rankeval_cli.engines.spark.parsing import one_thread
from rankeval_cli.engines.spark.wire import PLACE, batches_of, frame_of, in_file_order, telling, without_notes
from rankeval_cli.engines.spark.work import Work, unpacked
from rankeval_cli.errors import InputError
from rankeval_cli.model import Judgments
from rankeval_cli.readers.format import Progress
from rankeval_cli.readers.ranks import CHOOSE

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from rankeval_cli.coverage import Facts
    from rankeval_cli.readers.blocks import Block
    from rankeval_cli.scoring import Scorer

IS_RUN = "is_run"


class Rows:
    """The rows of a partition as a `Table`."""

    format, has_doc_ids = "rows", True
    size_bytes: int | None = None
    tag: str | None = None

    def __init__(self, path: str, has_rank: bool, frames: Iterable[pl.DataFrame]) -> None:
        self.path, self.has_rank, self._frames = path, has_rank, frames
        self.warnings: list[str] = []

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows, once."""
        yield from (frame.rename({"value": "score"}) for frame in self._frames)

    def locate(self, query: str, doc: str) -> list[str]:
        """Nowhere: rows have left their files."""
        return []


def scored(work: Work, batches: Iterable[Any]) -> Iterator[Any]:
    """Score a partition: batches of `Work.types`."""
    one_thread()
    notes: list[str] = []
    with telling():
        frames = _frames(batches, notes)
        judgments, frames = _own(work, frames) if work.judgments is None else (unpacked(work.judgments), frames)
        found = _scored(work, judgments, Rows(work.path, work.has_rank, frames))
        for frame in (*found.frames(work), found.facts_row(notes)):
            yield from batches_of(frame, work.types)


def _frames(batches: Iterable[Any], notes: list[str]) -> Iterator[pl.DataFrame]:
    for batch in batches:
        frame = without_notes(frame_of(batch), notes)
        if frame.height:
            yield frame


def _own(work: Work, frames: Iterator[pl.DataFrame]) -> tuple[Judgments, Iterator[pl.DataFrame]]:
    """The judgments that stand before the rows of the run, and those rows."""
    import polars as pl

    from rankeval_cli.judgments import indexed

    judged, rest = [pl.DataFrame(schema={"query": pl.String, "doc": pl.String, "value": pl.Float64})], iter(frames)
    for frame in rest:
        stop = frame.height - int(frame[IS_RUN].sum())
        judged.append(frame[:stop].select("query", "doc", "value"))
        if stop < frame.height:
            rest = chain([frame[stop:]], rest)
            break
    found = indexed(pl.concat(judged).rename({"value": "grade"}), work.source, "")
    return replace(found, highest=work.max_grade), rest


@dataclass(frozen=True)
class _Scored:
    judgments: Judgments
    scorers: Sequence[Scorer]
    facts: Facts
    kept: NDArray[np.int64]  # the queries that have values here

    def frames(self, work: Work) -> Iterator[pl.DataFrame]:
        """A row for each judged query that has values here, and for each query that only the run holds."""
        import numpy as np
        import polars as pl

        names, kept = pl.Series(self.judgments.queries, dtype=pl.String), self.kept
        columns = {
            "query": names.gather(kept),
            "answered": self.facts.answered[kept],
            "judged_share": self.facts.judged_share[kept],
        }
        values = np.concatenate([scorer.values[:, kept] for scorer in self.scorers])
        decided = np.concatenate([scorer.by_policy[:, kept] for scorer in self.scorers])
        columns |= {f"v{i}": row for i, row in enumerate(values)} | {f"p{i}": row for i, row in enumerate(decided)}
        if work.has_shares:
            shares = np.concatenate([self._shares(scorer) for scorer in self.scorers])
            columns |= {f"s{i}": row for i, row in enumerate(shares)}
        yield pl.DataFrame(columns)
        yield pl.DataFrame({"query": self.facts.unjudged}, schema={"query": pl.String})

    def _shares(self, scorer: Scorer) -> NDArray[np.float64]:
        import numpy as np

        if scorer.rules.list_weights:
            return scorer.shares[:, self.kept]
        return np.ones((len(scorer.metrics), len(self.kept)))

    def facts_row(self, notes: Sequence[str]) -> pl.DataFrame:
        """One row with everything that is counted, and with the notes that came along."""
        import polars as pl

        counts = {each.name: getattr(self.facts, each.name) for each in fields(self.facts)}
        counts = {name: count for name, count in counts.items() if isinstance(count, int)}
        facts = {"counts": counts, "spellings": self.facts.spellings, "notes": list(notes)}
        return pl.DataFrame({"query": None, "facts": json.dumps(facts)}, {"query": pl.String, "facts": pl.String})


def _scored(work: Work, judgments: Judgments, table: Rows) -> _Scored:
    import numpy as np

    from rankeval_cli.align import Aligner
    from rankeval_cli.readers.blocks import grouped
    from rankeval_cli.scoring import Scorer

    parts = [sent.part for sent in work.parts]
    orderings = [part.rules.ordering for part in parts]
    sample = None if work.sample is None else _of(work.sample, judgments)
    aligner = Aligner(table, judgments, work.rules, work.k, work.exclude, orderings, sample)
    scorers = [Scorer(part.metrics, judgments, part.rules) for part in parts]
    places = [aligner.orderings.index(scorer.rules.ordering) for scorer in scorers]
    for block in grouped(table):
        if work.rank_base is not None:
            _check_ranks(block, work.rank_base, work.path)
        ranked = aligner.align_each(_in_file_order(block))
        for scorer, place in zip(scorers, places, strict=True):
            scorer.add(ranked[place])
    if work.judgments is not None:  # the driver scores what no partition has
        return _Scored(judgments, scorers, aligner.facts, np.flatnonzero(aligner.facts.answered))
    unanswered = aligner.unanswered()
    for scorer in scorers:
        if scorer.rules.missing not in ("skip", "error"):
            scorer.add(unanswered)
    return _Scored(judgments, scorers, aligner.facts, np.arange(len(judgments.queries)))


def _of(sample: pl.DataFrame, judgments: Judgments) -> pl.DataFrame:
    """The judgments of a partition that are in the sample of all."""
    import polars as pl

    names = pl.DataFrame({"name": judgments.queries}, schema={"name": pl.String}).with_row_index("query")
    own = sample.select(name="query", doc="doc").join(names, on="name").select("query", "doc")
    return judgments.frame.join(own, on=["query", "doc"], how="semi")


def _in_file_order(block: Block) -> Block:
    """The block with each query's rows as they stand in their files, where rows know that."""
    import numpy as np
    import polars as pl

    frame = block.frame
    if not set(PLACE) <= set(frame.columns):
        return block
    number = pl.Series("number", np.repeat(np.arange(len(block.queries)), np.diff(block.offsets)))
    return replace(block, frame=in_file_order(frame.with_columns(number), "number").drop("number"))


def _check_ranks(block: Block, base: int, path: str) -> None:
    """Raise InputError when the ranks of a query are not all numbers from the base on."""
    import numpy as np
    import polars as pl

    number = np.repeat(np.arange(len(block.queries)), np.diff(block.offsets))
    ranks = block.frame.select("rank", number=number).group_by("number", maintain_order=True)
    found = ranks.agg(low=pl.col("rank").min(), high=pl.col("rank").max(), n=pl.col("rank").n_unique(), rows=pl.len())
    rises = (pl.col("low") == base) & (pl.col("high") - base + 1 == pl.col("rows")) & (pl.col("n") == pl.col("rows"))
    broken = found.filter(~rises.fill_null(False))
    if broken.height:
        query = block.queries[int(broken["number"][0])]
        what = f"the ranks of query `{query}` do not rise by one from {base}, though those of the first lines do"
        raise InputError(what, path, CHOOSE)
