"""What is noticed while a run is aligned, and what a report says of it: coverage and warnings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankeval_cli.model import Coverage, Judgments, Ranked, Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

NAMED_IDS = 3  # how many ids a warning names


@dataclass
class Facts:
    """What is noticed while one run is aligned; nothing here depends on how the run was cut into blocks.

    answered : bool (Q,)           judged queries that the run holds
    judged_share : float64 (Q,)    judged documents in the top min(k, n) over min(k, n); NaN where nothing is ranked
    unjudged : ids of queries that only the run holds
    spellings : (id in the run, judged id) that differ only in case, blanks or leading zeros
    num_with_relevant : judged queries with a grade at the relevance level, where judgments come with the run; else None
    """

    answered: NDArray[np.bool_]
    judged_share: Floats
    rows: int = 0
    tied: int = 0
    unjudged: list[str] = field(default_factory=list)
    duplicates: int = 0
    self_hits: int = 0
    judged_found: int = 0
    rank_conflicts: int = 0
    rank_reversed: int = 0
    constant: int = 0
    spellings: list[tuple[str, str]] = field(default_factory=list)
    num_with_relevant: int | None = None

    @classmethod
    def empty(cls, num_queries: int) -> Facts:
        """Nothing noticed yet."""
        return cls(np.zeros(num_queries, np.bool_), np.full(num_queries, np.nan))

    def grow(self, num_queries: int) -> None:
        """Make room for judged queries that come with the run, and so are answered."""
        self.answered = np.ones(num_queries, np.bool_)
        if len(self.judged_share) < num_queries:
            room = np.full(2 * num_queries - len(self.judged_share), np.nan)
            self.judged_share = np.concatenate((self.judged_share, room))

    def note_constant(self, offsets: Places, score: Floats) -> None:
        """Count the queries in which all scores are equal. offsets (Q+1,), score (N,) in rank order."""
        some = np.diff(offsets) > 1
        first, last = offsets[:-1][some], offsets[1:][some] - 1
        self.constant += int(np.count_nonzero(score[first] == score[last]))

    def note_ranks(self, query: Places, falls: NDArray[np.bool_], rank: Floats) -> None:
        """Count the queries whose ranks fall where scores fall, and those where they do nothing else.

        query, falls : (N-1,) the query of row i + 1, and whether the score falls from row i to it
        rank : (N,) in rank order, NaN where unknown
        """
        conflict = falls & (rank[1:] < rank[:-1])
        if not conflict.any():
            return
        against = np.unique(query[conflict])
        agreeing = np.unique(query[falls & (rank[1:] > rank[:-1])])
        self.rank_conflicts += len(against)
        self.rank_reversed += len(np.setdiff1d(against, agreeing))

    def note_ties(self, offsets: Places, score: Floats, k: int) -> None:
        """Count the rows of equal score that stand on both sides of rank k."""
        longer = np.diff(offsets) > k
        start, stop = offsets[:-1][longer], offsets[1:][longer]
        tied = score[start + k - 1] == score[start + k]
        for a, b in zip(start[tied].tolist(), stop[tied].tolist(), strict=True):
            self.tied += int(np.count_nonzero(score[a:b] == score[a + k]))

    def note_judged(self, ranked: Ranked, k: int) -> None:
        """Note the share of judged documents in the top k of each ranking."""
        lengths = np.diff(ranked.offsets)
        top = np.minimum(lengths, k)
        judged = np.concatenate(([0], np.cumsum(ranked.status == 2)))
        found = judged[ranked.offsets[:-1] + top] - judged[ranked.offsets[:-1]]
        some = top > 0
        self.judged_share[ranked.query[some]] = found[some] / top[some]


def coverage_of(judgments: Judgments, facts: Facts, rules: Rules, k: int) -> Coverage:
    """What the report carries on one run; k is the cutoff at which ties and judged documents were counted."""
    shares = facts.judged_share[~np.isnan(facts.judged_share)]
    missing = int(np.count_nonzero(~facts.answered))
    with_relevant = facts.num_with_relevant
    if with_relevant is None:
        with_relevant = num_at_level(judgments.ideal_offsets, judgments.ideal, rules.relevance_level)
    return Coverage(
        judged=len(judgments.queries),
        answered=len(judgments.queries) - missing,
        missing=missing,
        unjudged=len(facts.unjudged),
        no_relevant=len(judgments.queries) - with_relevant,
        k=k,
        judged_at_k=math.fsum(shares.data) / len(shares) if len(shares) else None,
        tied_at_k=facts.tied,
        duplicates=facts.duplicates,
        self_hits=facts.self_hits,
    )


def num_at_level(ideal_offsets: Places, ideal: Floats, level: float) -> int:
    """How many queries have a grade of at least `level`. ideal : descending in each query"""
    highest = np.append(ideal, -1.0)[ideal_offsets[:-1]]
    some = np.diff(ideal_offsets) > 0
    return int(np.count_nonzero(some & (highest >= level)))


def warnings_of(coverage: Coverage, facts: Facts, judgments: Judgments, rules: Rules) -> Iterator[str]:
    """Whatever can change a number, a sentence each."""
    yield from _query_warnings(coverage, facts, judgments, rules)
    if not facts.judged_found:
        yield "no document in common with the judgments: every ranking counts as not relevant"
    if facts.spellings:
        found, meant = min(facts.spellings)
        yield f"{len(facts.spellings):,} judged documents may be spelt differently here: `{found}` for `{meant}`"
    if facts.constant:
        where = f"all scores are equal in {_queries(facts.constant)}"
        if rules.ties == "expected":
            yield f"{where}: the mean over all orders of their documents counts (--ties expected)"
        else:
            yield f"{where}: only --ties {rules.ties} orders their documents"
    if facts.rank_conflicts:
        hint = "; lower scores may be better here (distances): --order ascending" if facts.rank_reversed else ""
        yield (
            f"ranks disagree with scores in {_queries(facts.rank_conflicts)}: the score decides "
            f"(--order rank for the ranks{hint})"
        )
    if coverage.self_hits and not rules.exclude_self:
        hits = "1 result is" if coverage.self_hits == 1 else f"{coverage.self_hits:,} results are"
        yield f"{hits} the query itself (same id): --exclude-self leaves such results out"
    if coverage.duplicates:
        documents = "document" if coverage.duplicates == 1 else "documents"
        yield f"{coverage.duplicates:,} repeated {documents} left out (--duplicates {rules.duplicates})"


def _query_warnings(coverage: Coverage, facts: Facts, judgments: Judgments, rules: Rules) -> Iterator[str]:
    if coverage.missing:
        outcome = (
            "left out (--missing skip)" if rules.missing == "skip" else "counted as empty rankings (--missing zero)"
        )
        yield f"{missing_text(judgments, facts)} no results here: {outcome}"
    if coverage.unjudged:
        yield f"{_queries(coverage.unjudged)} of the run not judged and left out: {named(facts.unjudged)}"
    pair = respelt(facts.unjudged, _missing(judgments, facts)) if facts.unjudged and coverage.missing else None
    if pair:
        yield f"query ids may be spelt differently: `{pair[0]}` here, `{pair[1]}` in the judgments"
    if coverage.no_relevant == coverage.judged:
        yield f"no grade reaches the relevance level {rules.relevance_level:g} in any query (--relevance-level)"
    elif coverage.no_relevant:
        yield (
            f"{_queries(coverage.no_relevant)} judged with nothing relevant at level {rules.relevance_level:g} "
            f"(--no-relevant {rules.no_relevant})"
        )


def respelt(unjudged: Iterable[str], missing: Iterable[str]) -> tuple[str, str] | None:
    """An unjudged id and a missing one that differ only in case, blanks or leading zeros; None when there is none."""

    def plain(query: str) -> str:
        return query.strip().casefold().lstrip("0")

    known = {plain(query): query for query in sorted(missing, reverse=True)}
    for query in sorted(unjudged):
        if plain(query) in known:
            return query, known[plain(query)]
    return None


def _queries(count: int) -> str:
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def _missing(judgments: Judgments, facts: Facts) -> list[str]:
    return [judgments.queries[i] for i in np.flatnonzero(~facts.answered).tolist()]


def missing_text(judgments: Judgments, facts: Facts) -> str:
    """`2 of 4 judged queries (q3, q4) have`, to be followed by what they have not."""
    missing = _missing(judgments, facts)
    verb = "has" if len(missing) == 1 else "have"
    return f"{len(missing):,} of {len(judgments.queries):,} judged queries ({named(missing)}) {verb}"


def named(ids: Sequence[str]) -> str:
    """The first ids in order, `...` behind them where there are more."""
    shown = ", ".join(sorted(ids)[:NAMED_IDS])
    return f"{shown}, ..." if len(ids) > NAMED_IDS else shown
