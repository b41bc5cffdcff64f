"""Preference measures: how many judged preferences "this document over that one" a ranking fulfils.

Assessors give levels within a group (one view of the query), possibly in several subgroups (what was compared with each
other). A preference is *retrieved* when the ranking holds both documents, *implied* when it holds one of them, and is
fulfilled when the better document stands above the other or is the only one that is there. Semantics, oddities
included, are those of trec_eval, whose `-R prefs` and `-R qrels_prefs` these are.

    levels -- better_of --> who is preferred to whom -- count --> PreferenceCounts -- a measure's kernel --> value
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.bool_]

SCOPES = ("all", "ret", "imp")


@dataclass(frozen=True)
class JudgedGroup:
    """The judgments of one group of a query over its g documents.

    docs : int64 (g,), places in the documents of the query
    levels : float64 (subgroups, g), NaN where a subgroup does not judge the document; higher is preferred
    """

    docs: NDArray[np.int64]
    levels: NDArray[np.float64]

    @property
    def level(self) -> NDArray[np.float64]:
        """(g,) the level of each document in the first subgroup that judges it; only its sign means something."""
        import numpy as np

        first: NDArray[np.float64] = self.levels[np.argmin(np.isnan(self.levels), axis=0), np.arange(len(self.docs))]
        return first


class Tally(NamedTuple):
    """Preferences that are fulfilled, of those that are possible."""

    fulfilled: float
    possible: float

    @property
    def share(self) -> float:
        """Fulfilled of possible; 0 where none is possible."""
        return self.fulfilled / self.possible if self.possible else 0.0


class GroupCounts(NamedTuple):
    """The preferences of one group.

    scopes : by scope: all; both documents retrieved; at least one retrieved
    balanced, balanced_ret : all and retrieved ones as if there were as many documents of level 0 as above it
    """

    scopes: dict[str, Tally]
    balanced: Tally
    balanced_ret: Tally


class PreferenceCounts(NamedTuple):
    """What the kernels see of one query. pairs : by scope: the sum of fulfilled shares of votes, pairs of documents."""

    groups: tuple[GroupCounts, ...]
    pairs: dict[str, Tally]


def better_of(group: JudgedGroup) -> Matrix:
    """(g, g): whether a document is preferred to another; several subgroups are closed under transitivity."""
    import numpy as np

    better = np.zeros((len(group.docs), len(group.docs)), np.bool_)
    for level in group.levels:
        better |= level[:, None] > level[None, :]  # NaN compares false
    if len(group.levels) > 1:
        for middle in range(len(better)):  # Warshall
            better |= better[:, middle, None] & better[middle, None, :]
    return better


def contradiction(group: JudgedGroup) -> tuple[int, int] | None:
    """Two documents (places in the group) each of which is preferred to the other, or None.

    One document twice: it has level 0 in one subgroup and another level elsewhere, so it is relevant and is not.
    """
    import numpy as np

    is_zero, is_judged = group.levels == 0, ~np.isnan(group.levels)
    torn = np.flatnonzero(is_zero.any(axis=0) & (is_judged & ~is_zero).any(axis=0))
    if len(torn):
        return int(torn[0]), int(torn[0])
    better = better_of(group)
    both = np.argwhere(better & better.T)
    off = both[both[:, 0] != both[:, 1]]
    return (int(off[0][0]), int(off[0][1])) if len(off) else None


def count(groups: Sequence[JudgedGroup], place: NDArray[np.int64], num_retrieved: int) -> PreferenceCounts:
    """Count the preferences of one query.

    place : int64 (m,), for each document of the query its place in the order: retrieved ones by rank from 0 on, then
        the others in ascending byte order of their ids
    num_retrieved : how many of these documents the ranking holds
    """
    counted, votes = [], []
    for group in groups:
        order = place[group.docs].argsort()
        places = place[group.docs][order]
        better = better_of(group)[order][:, order]
        kept = int((places < num_retrieved).sum())
        level = group.level[order]
        counted.append(_group_counts(better, level, kept, has_subgroups=len(group.levels) > 1))
        votes.append((places, better))
    return PreferenceCounts(tuple(counted), _pairs(votes, len(place), num_retrieved))


def _group_counts(better: Matrix, level: NDArray[np.float64], kept: int, has_subgroups: bool) -> GroupCounts:
    """better, level : in the order of `count`, of which the first `kept` are retrieved."""
    scopes = _scopes(better, kept)
    balance = _balanced_array if has_subgroups else _balanced_levels
    num_rel = int((level > 0).sum())
    return GroupCounts(
        scopes,
        balance(better, level, kept, num_rel, num_rel, scopes["all"]),
        balance(better[:kept, :kept], level[:kept], kept, num_rel, int((level[:kept] > 0).sum()), scopes["ret"]),
    )


def _scopes(better: Matrix, kept: int) -> dict[str, Tally]:
    import numpy as np

    both = better[:kept, :kept]
    ret = Tally(int(np.triu(both).sum()), int(both.sum()))
    implied = int(better[:kept, kept:].sum())
    imp = Tally(ret.fulfilled + implied, ret.possible + implied + int(better[kept:, :kept].sum()))
    return {"all": Tally(imp.fulfilled, int(better.sum())), "ret": ret, "imp": imp}


def _extended(level: NDArray[np.float64], kept: int, num_rel: int, goal: int, plain: Tally) -> Tally:
    """With documents of level 0 added, below all retrieved ones, until there are `goal` of them."""
    more = goal - int((level == 0).sum())
    return Tally(plain.fulfilled + int((level[:kept] > 0).sum()) * more, plain.possible + num_rel * more)


def _balanced_array(
    better: Matrix, level: NDArray[np.float64], kept: int, num_rel: int, goal: int, plain: Tally
) -> Tally:
    """As many documents of level 0 as `goal`, in a group with subgroups; where there are more the first num_rel."""
    import numpy as np

    is_zero = level == 0
    if int(is_zero.sum()) <= goal:
        return _extended(level, kept, num_rel, goal, plain)
    used = np.flatnonzero(~is_zero | (np.cumsum(is_zero) <= num_rel))
    return _scopes(better[used][:, used], int((used < kept).sum()))["all"]


def _balanced_levels(
    better: Matrix, level: NDArray[np.float64], kept: int, num_rel: int, goal: int, plain: Tally
) -> Tally:
    """As `_balanced_array` for one subgroup; where there are more the first `goal`.

    There, trec_eval counts each of these also against every document of level 0, itself included, as if it preferred
    that one; kept so, as the numbers would not be its own otherwise.
    """
    import numpy as np

    zeros, relevant = np.flatnonzero(level == 0), np.flatnonzero(level > 0)
    if len(zeros) <= goal:
        return _extended(level, kept, num_rel, goal, plain)
    above = np.concatenate((relevant, zeros))
    used = zeros[:goal]
    among = _scopes(better[relevant][:, relevant], int((relevant < kept).sum()))["all"]
    fulfilled = int(((above[:, None] < used[None, :]) & (above[:, None] < kept)).sum())
    return Tally(among.fulfilled + fulfilled, among.possible + len(above) * len(used))


def _pairs(groups: Sequence[tuple[NDArray[np.int64], Matrix]], num_docs: int, kept: int) -> dict[str, Tally]:
    """By scope: the sum over the pairs of documents of the share of votes that are fulfilled, and the pairs.

    groups : places of documents, ascending, and which of them a group prefers to which
    """
    import numpy as np

    if len(groups) == 1:  # each pair has one vote: no matrix of counts is needed
        places, better = groups[0]
        return _scopes(better, int((places < kept).sum()))
    votes = np.zeros((num_docs, num_docs), np.int32)
    for places, better in groups:
        votes[np.ix_(places, places)] += better
    both = np.triu(votes + votes.T)
    share = np.divide(np.triu(votes), both, out=np.zeros(votes.shape), where=both > 0)
    ret = Tally(_total(share[:kept, :kept]), int((both[:kept, :kept] > 0).sum()))
    imp = Tally(_total(share[:kept]), int((both[:kept] > 0).sum()))
    return {"all": Tally(imp.fulfilled, int((both > 0).sum())), "ret": ret, "imp": imp}


def _total(values: NDArray[np.float64]) -> float:
    import math

    return math.fsum(values[values > 0].tolist())
