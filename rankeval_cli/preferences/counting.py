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
        """(g,) the level of each document in the last subgroup that judges it; of several only its sign counts."""
        import numpy as np

        judged = ~np.isnan(self.levels[::-1])
        last: NDArray[np.float64] = self.levels[::-1][np.argmax(judged, axis=0), np.arange(len(self.docs))]
        return last


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

    One document twice: it has level 0 in one subgroup and a higher one in another, so it is relevant and is not.
    """
    import numpy as np

    torn = np.flatnonzero((group.levels == 0).any(axis=0) & (group.levels > 0).any(axis=0))
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
    ranked = _Group(better, level, kept, int((level > 0).sum()), float(level.min()))
    found = ranked._replace(better=better[:kept, :kept], level=level[:kept])
    balance = _balanced_array if has_subgroups else _balanced_levels
    return GroupCounts(scopes, balance(ranked, scopes["all"]), balance(found, scopes["ret"]))


class _Group(NamedTuple):
    """A group in the order of `count`, whole or what is retrieved of it.

    kept : how many documents are retrieved
    num_rel, lowest : documents above level 0, and the lowest level, in the whole group
    """

    better: Matrix
    level: NDArray[np.float64]
    kept: int
    num_rel: int
    lowest: float


def _scopes(better: Matrix, kept: int) -> dict[str, Tally]:
    import numpy as np

    both = better[:kept, :kept]
    ret = Tally(int(np.triu(both).sum()), int(both.sum()))
    implied = int(better[:kept, kept:].sum())
    imp = Tally(ret.fulfilled + implied, ret.possible + implied + int(better[kept:, :kept].sum()))
    return {"all": Tally(imp.fulfilled, int(better.sum())), "ret": ret, "imp": imp}


def _extended(group: _Group, missing: int, plain: Tally) -> Tally:
    """With so many documents of level 0 more, which stand below all retrieved ones."""
    found = int((group.level[: group.kept] > 0).sum())
    return Tally(plain.fulfilled + found * missing, plain.possible + group.num_rel * missing)


def _balanced_array(group: _Group, plain: Tally) -> Tally:
    """As many documents of level 0 as above it, in a group with subgroups: of too many the first `num_rel` count."""
    import numpy as np

    is_zero = group.level == 0
    missing = int((group.level > 0).sum()) - int(is_zero.sum())
    if missing >= 0:
        return _extended(group, missing, plain)
    used = np.flatnonzero(~is_zero | (np.cumsum(is_zero) <= group.num_rel))
    return _scopes(group.better[used][:, used], int((used < group.kept).sum()))["all"]


def _balanced_levels(group: _Group, plain: Tally) -> Tally:
    """As `_balanced_array` for one subgroup: of too many the first ones of the lowest level count.

    There, trec_eval counts each of these also against all documents of its own level, itself included, as if they were
    preferred to it; kept so, as the numbers would not be its own otherwise.
    """
    import numpy as np

    goal = int((group.level > 0).sum())
    missing = goal - int((group.level <= 0).sum())
    if missing >= 0:
        return _extended(group, missing, plain)
    is_lowest = group.level == group.lowest
    used, others = np.flatnonzero(is_lowest)[:goal], np.flatnonzero(~is_lowest)
    among = _scopes(group.better[others][:, others], int((others < group.kept).sum()))["all"]
    above = np.arange(len(group.level))[:, None] < used[None, :]
    return Tally(among.fulfilled + int(above[: group.kept].sum()), among.possible + above.size)


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
