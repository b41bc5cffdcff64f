"""Align a labelled table block by block: it brings its own judgments, and only those of one block are held."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankeval_cli.align import Aligner
from rankeval_cli.coverage import named, num_at_level
from rankeval_cli.digests import Digest
from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.judgments import grade_text
from rankeval_cli.model import Judgments, Ordering, Ranked, Rules, Scores, Source
from rankeval_cli.readers.weights import check_weight
from rankeval_cli.rows import BlockRows, offsets_of
from rankeval_cli.sorting import byte_order, falling, falling_order, tied_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankeval_cli.readers.blocks import Block
    from rankeval_cli.readers.format import Table

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]


@dataclass
class Noted:
    """What is kept of judgments whose block is gone.

    rows : judged rows
    with_relevant : queries with a grade at the relevance level
    empty : queries without a row that counts
    weights : of `Labels.queries`, in that order
    """

    rows: int = 0
    with_relevant: int = 0
    empty: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    digest: Digest = field(default_factory=Digest)

    def clear(self) -> None:
        """Begin anew."""
        self.__init__()  # type: ignore[misc]


@dataclass(frozen=True)
class Labels(Judgments):
    """The judgments of a labelled table: `queries` grows with every block, `frame` and `ideal` stay empty.

    highest : the highest grade of the whole table, looked for only when a measure needs it
    """

    highest: float = 0.0
    noted: Noted = field(default_factory=Noted)

    @property
    def max_grade(self) -> float:
        """The highest grade in the whole table; 0.0 when no grade is positive, or no measure needs it."""
        return self.highest


def labels_of(table: Table, name: str, rules: Rules, needs_highest: bool) -> Labels:
    """The judgments of a table of which nothing has been read; it is read once when the highest grade is needed.

    Raises UsageError when a rule needs document ids, and the table has none.
    """
    if not table.has_doc_ids and (rules.exclude_self or rules.exclude is not None):
        option = "--exclude-self" if rules.exclude_self else "--exclude"
        hint = "leave it out, or name the column: --columns doc=NAME"
        raise UsageError(f"{option} needs document ids, and {table.path} has none", hint=hint)
    schema = {"query": pl.UInt32, "doc": pl.String, "grade": pl.Float64, "key": pl.UInt64}
    source = Source(name, table.path, table.format, 0, has_doc_ids=table.has_doc_ids)
    highest = _highest(table) if needs_highest else 0.0
    return Labels(source, [], pl.DataFrame(schema=schema), np.zeros(1, np.int64), np.empty(0), "", highest=highest)


def _highest(table: Table) -> float:
    grades = [frame["grade"].max() for frame in table.frames()]
    return max((grade for grade in grades if isinstance(grade, float)), default=0.0)


class LabelledAligner(Aligner):
    """Aligns the blocks of a labelled table; a new one begins the judgments anew.

    Where there are no document ids, `random` numbers the rows of a query by score and grade first, so that the order of
    lines plays no part in it.
    """

    def __init__(
        self,
        table: Table,
        labels: Labels,
        rules: Rules,
        k: int,
        exclude: pl.DataFrame | None = None,
        also: Sequence[Ordering] = (),
    ) -> None:
        labels.queries.clear()  # the table is read again when its queries do not stand together
        labels.noted.clear()
        super().__init__(table, labels, rules, k, exclude, also)
        self.facts.num_with_relevant = 0
        self.noted = labels.noted
        self.first = 0  # index of the block's first query
        self.names: pl.Series | None = None  # of the block's queries
        self.goals = (np.zeros(1, np.int64), np.empty(0))

    def _rows(self, block: Block) -> BlockRows:
        """The rows that are ranked; their labels are the judgments of the block.

        Raises InputError for a document that stands twice in a ranking (under `--duplicates error`), a negative grade
        under `--negative error`, and weights that differ within a query.
        """
        rows = self._labelled_rows(block)
        if self.table.has_doc_ids:
            rows = self._without_duplicates(rows)
        self._note_judgments(rows)
        if self.table.has_doc_ids:
            rows = self._without_excluded(rows)
        scored = rows.frame["score"].is_not_null()
        return rows if scored.all() else rows.keep(scored.to_numpy())

    def _labelled_rows(self, block: Block) -> BlockRows:
        """The rows that count, of the queries that have any; grade NaN where `--negative drop` leaves none."""
        rows = BlockRows(block.frame, np.arange(len(block.queries)), block.offsets)
        if rows.frame["grade"].null_count():
            rows = rows.keep(rows.frame["grade"].is_not_null().to_numpy())
        rows = self._without_weightless(rows, block.queries)
        rows = self._without_negative(rows, block.queries)
        is_judged = ~np.isnan(rows.frame["grade"].to_numpy())
        judged = rows.offsets if is_judged.all() else np.concatenate(([0], np.cumsum(is_judged)))[rows.offsets]
        some, names = np.diff(judged) > 0, block.queries
        if not some.all():
            names = [query for query, is_judged in zip(block.queries, some.tolist(), strict=True) if is_judged]
            self.noted.empty += [query for query, is_judged in zip(block.queries, some, strict=True) if not is_judged]
            lengths = rows.lengths
            frame = rows.frame.filter(pl.Series(np.repeat(some, lengths)))
            rows = BlockRows(frame, rows.query[some], offsets_of(lengths[some]))
        return self._numbered(rows, names)

    def _numbered(self, rows: BlockRows, names: list[str]) -> BlockRows:
        """The same rows, the queries with their indices among all that have been read."""
        self.first = len(self.judgments.queries)
        self.judgments.queries.extend(names)
        self.names = None
        self.facts.grow(len(self.judgments.queries))
        self.facts.rows += rows.frame.height
        return BlockRows(rows.frame, np.arange(self.first, len(self.judgments.queries)), rows.offsets)

    def _without_weightless(self, rows: BlockRows, queries: list[str]) -> BlockRows:
        """The rows without those of weight 0; InputError naming the query of a weight that is none."""
        if "weight" not in rows.frame.columns:
            return rows
        weight = rows.frame["weight"].to_numpy()  # null is NaN
        bad = np.flatnonzero(~((weight >= 0) & np.isfinite(weight)))
        if len(bad):
            query = queries[int(rows.query_of_row()[bad[0]])]
            check_weight(query, rows.frame["weight"][int(bad[0])], self.table.path)
        return rows if weight.all() else rows.keep(weight > 0)

    def _without_negative(self, rows: BlockRows, queries: list[str]) -> BlockRows:
        grade = rows.frame["grade"].to_numpy()
        rule, negative = self.rules.negative, grade < 0
        if rule == "unjudged" or not negative.any():
            return rows
        if rule == "mask":
            return rows.keep(~negative)
        if rule == "error":
            row = int(np.flatnonzero(negative)[0])
            query = queries[int(rows.query_of_row()[row])]
            what = f"grade `{grade_text(float(grade[row]))}` of query `{query}` is negative"
            raise InputError(what, self.table.path, "choose --negative unjudged, nonrelevant, drop or mask")
        other = np.where(negative, 0.0 if rule == "nonrelevant" else np.nan, grade)
        return BlockRows(rows.frame.with_columns(grade=pl.Series(other)), rows.query, rows.offsets)

    def _note_judgments(self, rows: BlockRows) -> None:
        grade = rows.frame["grade"].to_numpy() + 0.0  # -0.0 is 0
        if "weight" in rows.frame.columns:
            weight = rows.frame["weight"].to_numpy()
            order = np.lexsort((-weight, -grade, rows.place_of_row()))  # NaN last; the order of lines plays no part
            ordered = grade[order]
            self.goal_weights = weight[order][ordered >= 0]
        else:
            ordered = falling(grade, rows.offsets)
        counts = ordered >= 0
        if counts.all():
            self.goals = (rows.offsets, ordered)
        else:
            kept = np.concatenate(([0], np.cumsum(counts)))
            self.goals = (kept[rows.offsets].astype(np.int64), np.ascontiguousarray(ordered[counts]))
        with_relevant = num_at_level(*self.goals, self.rules.relevance_level)
        self.facts.num_with_relevant = (self.facts.num_with_relevant or 0) + with_relevant
        self.noted.rows += int(np.count_nonzero(~np.isnan(grade)))
        if "doc" in rows.frame.columns:
            self.noted.digest.add_documents(rows, grade)
        else:
            self.noted.digest.add_grades(ordered, rows.offsets)
        if "list_weight" in rows.frame.columns:
            self.noted.weights += self._list_weights(rows)

    def _list_weights(self, rows: BlockRows) -> list[float]:
        """One weight a query; InputError naming a query that has two, or one that is none."""
        column = rows.frame["list_weight"]
        weights = column.to_numpy()  # null is NaN
        first = weights[rows.offsets[:-1]]
        differs = weights != np.repeat(first, rows.lengths)
        bad = rows.query_of_row()[differs | ~((weights >= 0) & np.isfinite(weights))]
        if len(bad):
            query = self.judgments.queries[int(bad[0])]
            for weight in column.filter(pl.Series(rows.query_of_row() == bad[0])):
                check_weight(query, weight, self.table.path)
            raise InputError(f"query `{query}` has two weights", self.table.path, "give each query one weight")
        found: list[float] = first.tolist()
        return found

    def _sorted(self, rows: BlockRows, bad: Places, score: Floats, by: Ordering) -> Places:
        if self.table.has_doc_ids:
            return super()._sorted(rows, bad, score, by)
        offsets = rows.offsets if len(bad) == rows.frame.height else _offsets_of_runs(rows.place_of_row()[bad])
        perm = falling_order(score, offsets)
        places, runs = tied_places(score[perm], offsets)
        if len(places):
            place = rows.place_of_row()[bad]
            number = bad[places] - rows.offsets[place[places]]  # which place in its ranking
            perm[places] = self._tied(rows, bad, perm[places], runs, number, rows.query[place[places]], by)
        return perm

    def _tied(
        self, rows: BlockRows, bad: Places, members: Places, runs: Places, number: Places, query: Places, by: Ordering
    ) -> Places:
        """The members of runs of equal scores in order of the tie rule.

        members : places into `bad`; runs, number, query : for each place of a tied row the number of its run, how many
            rows of the query stand above it, and the index of the query
        """
        if by.ties == "file":
            return members[np.lexsort((bad[members], runs))]
        weight = [rows.frame["weight"].to_numpy()[bad]] if "weight" in rows.frame.columns else []
        grade = rows.frame["grade"].to_numpy()[bad]
        keys = [-key[members] for key in (*weight, grade)]
        members = members[np.lexsort((*keys, runs))]  # equal ones cannot be told apart, and need not be
        if by.ties == "worst":
            keys = [key[members] for key in (*weight, rows.grades[bad])]
            return members[np.lexsort((*keys, runs))]
        if by.ties in ("best", "docid"):  # --ties expected takes any order that does not depend on that of the lines
            return members
        chance = self._keys_of_numbers(query, number, by.seed)
        if by.ties == "rank":
            return members[np.lexsort((chance, rows.frame["rank"].cast(pl.Float64).to_numpy()[bad[members]], runs))]
        return members[np.lexsort((chance, runs))]

    def _keys_of_numbers(self, query: Places, number: Places, seed: int) -> NDArray[np.uint64]:
        """A hash of (seed, query, number of the row in it) for each tied row, the same on every machine."""
        start, names = f"{seed}\t", self.judgments.queries
        digests = [
            hashlib.blake2b(f"{start}{names[i]}\t{n}".encode(), digest_size=8).digest()
            for i, n in zip(query.tolist(), number.tolist(), strict=True)
        ]
        return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64)

    def _marks(self, rows: BlockRows) -> tuple[Floats, NDArray[np.uint8]]:
        grade = rows.frame["grade"].to_numpy() + 0.0
        is_judged = grade >= 0
        if is_judged.all():
            self.facts.judged_found += len(grade)
            return grade, np.full(len(grade), 2, np.uint8)
        status = np.where(is_judged, 2, np.where(np.isnan(grade), 0, 1)).astype(np.uint8)
        self.facts.judged_found += int(np.count_nonzero(status))
        return np.where(is_judged, grade, -1.0), status

    def _ideal(self, query: Places) -> tuple[Places, Floats]:
        return self.goals

    def _names(self, query: Places) -> pl.Series:
        if self.names is None:
            self.names = pl.Series(self.judgments.queries[self.first :], dtype=pl.String)
        return self.names[query - self.first]

    def _ranks(self, rows: BlockRows) -> Floats:
        rank = rows.frame["rank"]
        if rank.null_count() and not self.table.has_doc_ids:
            query = self.judgments.queries[int(rows.query_of_row()[rank.is_null().to_numpy()][0])]
            what = f"a rank in query `{query}` is no whole number"
            raise InputError(what, self.table.path, "order by score instead")
        return super()._ranks(rows)

    def unanswered(self) -> Ranked:
        """No query: each one has a row."""
        none, offsets = np.empty(0), np.zeros(1, np.int64)
        return Ranked(np.empty(0, np.int64), offsets, none, np.empty(0, np.uint8), none, offsets, none)


def _offsets_of_runs(place: Places) -> Places:
    """Where each run of equal numbers starts, and where the last one ends."""
    return np.flatnonzero(np.concatenate(([True], place[1:] != place[:-1], [True])))


def finished(labels: Labels, every: Sequence[Scores]) -> tuple[Labels, list[Scores]]:
    """Judgments and scores once the table has been read, queries in ascending byte order."""
    noted = labels.noted
    ids = pl.Series(labels.queries, dtype=pl.String)
    order = byte_order(ids)
    ids = ids.gather(order)
    queries = ids.to_list()
    weights = np.array(noted.weights)[order] if noted.weights else None
    source = replace(labels.source, rows=noted.rows)
    digest = noted.digest.finish(ids, order)
    done = replace(labels, source=source, queries=queries, digest=digest, warnings=_warnings(noted))
    return done, [_in_order(scores, queries, order, weights) for scores in every]


def _in_order(scores: Scores, queries: list[str], order: Places, weights: Floats | None) -> Scores:
    shares = None if scores.shares is None else scores.shares.take(order, axis=1)
    return replace(scores, queries=queries, values=scores.values.take(order, axis=1), weights=weights, shares=shares)


def _warnings(noted: Noted) -> tuple[str, ...]:
    if not noted.empty:
        return ()
    count = f"{len(noted.empty):,} {'query has' if len(noted.empty) == 1 else 'queries have'}"
    return (
        f"{count} no row that counts and {'is' if len(noted.empty) == 1 else 'are'} left out: {named(noted.empty)}",
    )
