"""What each rank adds to a measure: the ranking of one query, cut behind one rank after another, and scored.

Cut rankings go through the scoring as so many queries, so gains, levels, policies and tie rules are those of any run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankeval_cli.errors import UsageError
from rankeval_cli.model import Judgments, Ranked
from rankeval_cli.plan import Part
from rankeval_cli.rows import offsets_of
from rankeval_cli.scoring import Scorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankeval_cli.measures.spec import Metric

    Floats = NDArray[np.float64]

SLAB_ROWS = 2_000_000  # rows of cut rankings that are scored at a time
MOST_ROWS = 2_000_000_000  # of all cut rankings: about a minute
SAME_FOR_ALL = "it does not depend on the ranking"
UNDEFINED = "it is undefined here"
UNDEFINED_WHEN_CUT = "it is undefined for a ranking that is cut short"
SKIPPED = "the query is left out (--missing skip)"
TOGETHER = "equal scores add together, at the last of their ranks"


@dataclass(frozen=True)
class Cuts:
    """What ranks add to one metric.

    value : of the whole ranking, NaN where undefined
    adds : for each rank that was asked for; None for one of several equal scores but the last. None in all where ranks
        have no share of the value
    note : why they have none, or what to know of it; None mostly
    """

    value: float
    adds: tuple[float | None, ...] | None
    note: str | None = None


def cuts_of(
    ranked: Ranked, part: Part, judgments: Judgments, name: str, is_answered: bool, ranks: Sequence[int]
) -> list[Cuts]:
    """What some ranks add to each metric of the part.

    ranked : one query, without the documents that its rules drop
    name : of the query
    ranks : from 1, ascending
    Raises UsageError when the ranking is so long that cutting it would take minutes.
    """
    starts, stops = tied_groups(ranked.score)
    ends = sorted({0, len(ranked.grade), *ranks, *(rank - 1 for rank in ranks), *(starts[rank - 1] for rank in ranks)})
    if len(ends) * len(ranked.grade) > MOST_ROWS:
        what = f"the ranking of query `{name}` has {len(ranked.grade):,} documents, too many to cut behind each"
        raise UsageError(what, hint="choose a smaller --top, or --depth")
    values = _values(ranked, part, judgments, name, is_answered, ends)
    if not values.shape[1]:
        return [Cuts(np.nan, None, SKIPPED) for _ in part.metrics]
    found = []
    for metric, row in zip(part.metrics, values, strict=True):
        at = dict(zip(ends, row.tolist(), strict=True))
        if _is_exact(metric, part):
            pairs: list[tuple[int, int] | None] = [(rank - 1, rank) for rank in ranks]
        else:
            pairs = [(starts[rank - 1], rank) if stops[rank - 1] == rank else None for rank in ranks]
        is_grouped = any(stops[rank - 1] - starts[rank - 1] > 1 for rank in ranks) and not _is_exact(metric, part)
        found.append(_cuts(at, pairs, is_grouped))
    return found


def _cuts(at: dict[int, float], pairs: Sequence[tuple[int, int] | None], is_grouped: bool) -> Cuts:
    """at : end -> value of the ranking cut there; pairs : the ends before and behind each rank"""
    first, *others = at.values()
    value = at[max(at)]
    if value != value:
        return Cuts(value, None, UNDEFINED)
    if any(other != other for other in at.values()):
        return Cuts(value, None, UNDEFINED_WHEN_CUT)
    if first != 0.0 and all(other == first for other in others):
        return Cuts(value, None, SAME_FOR_ALL)
    adds = tuple(None if pair is None else at[pair[1]] - at[pair[0]] for pair in pairs)
    notes = [f"{first:.4g} without results"] if first != 0.0 else []
    return Cuts(value, adds, "; ".join([*notes, *([TOGETHER] if is_grouped else [])]) or None)


def _is_exact(metric: Metric, part: Part) -> bool:
    """Whether it means something for the metric to cut between equal scores: not for a mean over their orders."""
    return part.rules.ties != "expected" or metric.expected is metric.measure.kernel


def tied_groups(score: Floats) -> tuple[list[int], list[int]]:
    """For each rank how many ranks stand above the equal scores it belongs to, and the last rank of these."""
    borders = np.flatnonzero(score[1:] != score[:-1]) + 1
    ends = np.concatenate(([0], borders, [len(score)]))
    lengths = np.diff(ends)
    return np.repeat(ends[:-1], lengths).tolist(), np.repeat(ends[1:], lengths).tolist()


def _values(
    ranked: Ranked, part: Part, judgments: Judgments, name: str, is_answered: bool, ends: Sequence[int]
) -> Floats:
    """(metrics, ends) the values of the cut rankings; (metrics, 0) where the rules leave the query out."""
    scorer = Scorer(part.metrics, replace(judgments, queries=[name] * len(ends)), part.rules)
    for first, slab in _slabs(ends):
        scorer.add(_cut(ranked, slab, first))
    values: Floats = scorer.finish(np.full(len(ends), is_answered)).values
    return values


def _slabs(ends: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Ends whose rankings hold about SLAB_ROWS rows, each with the place of its first."""
    first, size = 0, 0
    for place, end in enumerate(ends):
        if size + end > SLAB_ROWS and place > first:
            yield first, list(ends[first:place])
            first, size = place, 0
        size += end
    yield first, list(ends[first:])


def _cut(ranked: Ranked, ends: list[int], first: int) -> Ranked:
    """The ranking of one query cut behind each of some ranks, as queries `first`, `first` + 1, .."""
    rows = np.concatenate([np.arange(end) for end in ends])
    return Ranked(
        np.arange(first, first + len(ends)),
        offsets_of(np.array(ends)),
        ranked.grade[rows],
        ranked.status[rows],
        ranked.score[rows],
        len(ranked.ideal) * np.arange(len(ends) + 1),
        np.tile(ranked.ideal, len(ends)),
        None if ranked.weight is None else ranked.weight[rows],
        None if ranked.ideal_weight is None else np.tile(ranked.ideal_weight, len(ends)),
    )
