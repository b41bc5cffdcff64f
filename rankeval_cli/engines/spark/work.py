"""What a worker must know to score a partition, in a form that can travel."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankeval_cli.engines.spark.wire import Types
from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import Judgments, Rules, Source
from rankeval_cli.plan import Part, Plan
from rankeval_cli.presets import parser
from rankeval_cli.readers.format import Table

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class SentPart:
    """A part of the plan: measures as words, since their functions cannot travel, and their rules."""

    words: tuple[str, ...]
    rules: Rules

    @property
    def part(self) -> Part:
        """The part; the words are read as the preset of its rules reads them."""
        read = parser(self.rules.preset)
        return Part(tuple(metric for word in self.words for metric in read(word)), self.rules)


@dataclass(frozen=True)
class SentJudgments:
    """All judgments, as every worker gets them. data : query, doc and grade of each pair, as Arrow IPC"""

    source: Source
    digest: str
    data: bytes


@dataclass(frozen=True)
class Work:
    """What a worker must know to score a partition.

    path, has_rank : of the run
    rules : of the run as a whole
    k : the cutoff at which ties and judged documents are counted
    judgments : all, or None where a partition brings its own
    source, max_grade, sample : of the judgments where a partition brings its own; `sample` are the pairs whose
        documents are looked for in other spellings
    exclude : pairs of query and document
    rank_base : where ranks must rise by one in each query, the first of them; else None
    """

    path: str
    has_rank: bool
    parts: tuple[SentPart, ...]
    rules: Rules
    k: int
    judgments: SentJudgments | None
    source: Source
    max_grade: float = 0.0
    sample: pl.DataFrame | None = None
    exclude: pl.DataFrame | None = None
    rank_base: int | None = None

    @property
    def num_metrics(self) -> int:
        """The metrics of all parts."""
        return sum(len(part.words) for part in self.parts)

    @property
    def has_shares(self) -> bool:
        """Whether any part weighs queries by their items."""
        return any(part.rules.list_weights for part in self.parts)

    @property
    def types(self) -> Types:
        """What `scored` gives: values, what --no-relevant decided, and shares, of every metric of every part.

        A row without `answered` is a query that nobody judged, one without a query has the facts of a partition.
        """
        kinds = {"v": "double", "p": "boolean", **({"s": "double"} if self.has_shares else {})}
        columns = {f"{letter}{i}": kind for letter, kind in kinds.items() for i in range(self.num_metrics)}
        return {"query": "string", "answered": "boolean", "judged_share": "double", **columns, "facts": "string"}


def work_of(
    table: Table,
    judgments: Judgments,
    plan: Plan,
    k: int,
    exclude: pl.DataFrame | None = None,
    rank_base: int | None = None,
    sample: pl.DataFrame | None = None,
) -> Work:
    """What workers must know to score a run. sample : given where partitions bring their judgments"""
    return Work(
        table.path,
        table.has_rank,
        tuple(_sent(part) for part in plan.every_part),
        plan.rules,
        k,
        _sent_judgments(judgments) if sample is None else None,
        judgments.source,
        judgments.max_grade,
        sample,
        exclude,
        rank_base,
    )


def _sent(part: Part) -> SentPart:
    return SentPart(tuple(_word(metric, part.rules) for metric in part.metrics), part.rules)


def _word(metric: Metric, rules: Rules) -> str:
    """A word that the preset reads as this metric."""
    for word in (metric.written, metric.canonical):
        found = parser(rules.preset)(word)
        if [each.canonical for each in found] == [metric.canonical]:
            return word
    raise AssertionError(f"{metric.written} has no word")


def _sent_judgments(judgments: Judgments) -> SentJudgments:
    import polars as pl

    names = pl.Series("query", judgments.queries, dtype=pl.String)
    frame = judgments.frame.select(query=names.gather(judgments.frame["query"]), doc="doc", grade="grade")
    data = io.BytesIO()
    frame.write_ipc(data)
    return SentJudgments(judgments.source, judgments.digest, data.getvalue())


_UNPACKED: dict[tuple[str, str], Judgments] = {}  # the last judgments: a worker process scores many partitions


def unpacked(found: SentJudgments) -> Judgments:
    """On a worker: the judgments that came."""
    import polars as pl

    from rankeval_cli.judgments import indexed

    key = (found.digest, found.source.path)
    if key not in _UNPACKED:
        _UNPACKED.clear()
        _UNPACKED[key] = indexed(pl.read_ipc(found.data), found.source, found.digest)
    return _UNPACKED[key]
