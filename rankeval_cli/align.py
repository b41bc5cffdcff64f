"""Align one block of a run with the judgments: a block of rows becomes `Ranked` arrays.

Order of operations: duplicates, exclusion, order, depth, judged-only (the last by `judged_only`, on arrays). Polars
ends here. What is noticed on the way (ties, self-hits, ranks against scores) goes into `Facts`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankeval_cli.coverage import Facts
from rankeval_cli.errors import SHOWN_PROBLEMS, InputError, several
from rankeval_cli.judgments import DOC_SEED, QUERY_SEED, pair_keys
from rankeval_cli.model import Judgments, Ordering, Ranked, Rules
from rankeval_cli.rows import BlockRows, RankOrder, holds_repeats, mask_of, offsets_of, places_of, rows_among

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankeval_cli.readers.blocks import Block
    from rankeval_cli.readers.format import Table

    Rows = NDArray[np.int64]
    Hashes = NDArray[np.uint64]

SPELLING_SAMPLE = 1000  # judged pairs whose other spellings are looked for in a run


class Aligner:
    """Aligns the blocks of one run and collects what is noticed.

    k : the cutoff at which `Facts` counts ties and judged documents
    exclude : query, document pairs that are taken out of the rankings, or None
    also : orderings besides that of `rules`; what is noticed (ties, judged documents) is of the latter alone
    sample : judgments as in `Judgments.frame`, the first of whose documents are looked for in other spellings; None for
        all. Where `judgments` are a part of all, it is what all would have led to
    """

    def __init__(
        self,
        table: Table,
        judgments: Judgments,
        rules: Rules,
        k: int,
        exclude: pl.DataFrame | None = None,
        also: Sequence[Ordering] = (),
        sample: pl.DataFrame | None = None,
    ) -> None:
        self.orderings = tuple(dict.fromkeys((rules.ordering, *also)))
        _check_ranks(table, self.orderings)
        self.table, self.judgments, self.rules, self.k = table, judgments, rules, k
        self.index = {query: i for i, query in enumerate(judgments.queries)}
        self.judged_of = _row_starts(judgments.frame, len(judgments.queries))
        self.exclude = exclude
        self.variants = _spelling_variants(judgments, sample)
        self.variants_of = _row_starts(self.variants, len(judgments.queries))
        self.facts = Facts.empty(len(judgments.queries))
        self.goal_weights: NDArray[np.float64] | None = None  # of the judged items of a block that have weights
        self.query_names: pl.Series | None = None

    def align(self, block: Block) -> Ranked:
        """Order each ranking of the block and mark its judged documents.

        Raises InputError for a document that stands twice in a ranking (under `--duplicates error`).
        """
        return self.align_each(block)[0]

    def align_each(self, block: Block) -> list[Ranked]:
        """As `align`, the rankings once for each of `orderings`, in that order."""
        rows = self._rows(block)
        rows.marks = self._marks(rows)
        if self.rules.negative == "mask" and (rows.status == 1).any():
            rows = rows.keep(rows.status != 1)
        orders = [self._order(rows, ordering) for ordering in self.orderings]
        self._note(rows, orders[0])
        ranked = [self._ranked(rows, order) for order in orders]
        self.facts.note_judged(ranked[0], self.k)
        return ranked

    def _rows(self, block: Block) -> BlockRows:
        """The rows that are ranked, in file order."""
        return self._without_excluded(self._without_duplicates(self._judged_rows(block)))

    def unanswered(self) -> Ranked:
        """The judged queries that no block held, as empty rankings."""
        query = np.flatnonzero(~self.facts.answered)
        none = np.empty(0)
        offsets = np.zeros(len(query) + 1, np.int64)
        return Ranked(query, offsets, none, np.empty(0, np.uint8), none, *self._ideal(query))

    def _judged_rows(self, block: Block) -> BlockRows:
        """The rows of judged queries; queries that nobody judged are counted and left."""
        query = np.array([self.index.get(qid, -1) for qid in block.queries], dtype=np.int64)
        lengths = np.diff(block.offsets)
        self.facts.rows += block.frame.height
        known = query >= 0
        self.facts.answered[query[known]] = True
        if known.all():
            return BlockRows(block.frame, query, block.offsets)
        self.facts.unjudged += [qid for qid, i in zip(block.queries, query, strict=True) if i < 0]
        frame = block.frame.filter(pl.Series(np.repeat(known, lengths)))
        return BlockRows(frame, query[known], offsets_of(lengths[known]))

    def _without_duplicates(self, rows: BlockRows) -> BlockRows:
        keys = self._keys(rows)
        if not holds_repeats(keys):
            return rows
        suspects = np.flatnonzero(pl.Series(keys).is_duplicated().to_numpy())
        pairs = rows.frame[suspects].select(query=pl.Series(rows.query_of_row()[suspects]), doc="doc")
        repeats = suspects[~pairs.select(first=pl.struct("query", "doc").is_first_distinct())["first"].to_numpy()]
        if not len(repeats):
            return rows
        self.facts.duplicates += len(repeats)
        if self.rules.duplicates == "error":
            raise self._duplicate(rows, repeats)
        if self.rules.duplicates == "best":
            # the best of equal documents first: then the first of each is kept, the others keep their places
            score = -self._score(rows, self.orderings[0])[suspects]
            best = pairs.with_columns(score=score, row=suspects).sort("score", maintain_order=True)
            first = best.unique(["query", "doc"], keep="first", maintain_order=True)["row"].to_numpy()
            repeats = np.setdiff1d(suspects, first)
        return rows.keep(~mask_of(repeats, rows.frame.height))

    def _duplicate(self, rows: BlockRows, repeats: Rows) -> InputError:
        shown = repeats[:SHOWN_PROBLEMS]
        docs = rows.frame["doc"][shown].to_list()
        names = [self.judgments.queries[i] for i in rows.query_of_row()[shown]]
        lines = [f"document `{doc}` is more than once in query `{qid}`" for qid, doc in zip(names, docs, strict=True)]
        places = self.table.locate(names[0], docs[0])
        return InputError(
            several(lines, len(repeats)),
            ", ".join(places[:2]) or self.table.path,
            "mend the run, or choose --duplicates first or best",
        )

    def _without_excluded(self, rows: BlockRows) -> BlockRows:
        docs = rows.frame["doc"]
        own = self._names(rows.query).hash(DOC_SEED).to_numpy()
        hits = np.flatnonzero(rows.doc_hash == np.repeat(own, rows.lengths))
        if len(hits):
            query = rows.query_of_row()[hits]
            is_self = [docs[int(row)] == self.judgments.queries[i] for row, i in zip(hits, query, strict=True)]
            hits = hits[np.array(is_self, dtype=bool)]
        self.facts.self_hits += len(hits)
        gone = mask_of(hits if self.rules.exclude_self else hits[:0], rows.frame.height)
        if self.exclude is not None:
            names = self._names(rows.query_of_row())
            pairs = pl.DataFrame({"query": names, "doc": docs, "row": np.arange(len(docs))})
            found = pairs.join(self.exclude, on=["query", "doc"], how="semi")["row"].to_numpy()
            gone |= mask_of(found, len(docs))
        return rows.keep(~gone) if gone.any() else rows

    def _score(self, rows: BlockRows, by: Ordering) -> NDArray[np.float64]:
        """(N,) the number that orders the rows, highest first."""
        if by.order == "file":
            return -rows.row_in_query().astype(np.float64)
        if by.order == "rank":
            return -self._ranks(rows)
        score = rows.frame["score"].to_numpy()
        if by.score_precision == "single":
            with np.errstate(over="ignore"):
                score = score.astype(np.float32).astype(np.float64)
        return -score if by.order == "ascending" else score

    def _ranks(self, rows: BlockRows) -> NDArray[np.float64]:
        rank = rows.frame["rank"]
        if rank.null_count():
            row = int(rank.is_null().arg_true()[0])
            qid, doc = self.judgments.queries[rows.query_of_row()[row]], rows.frame["doc"][row]
            places = self.table.locate(qid, doc)
            raise InputError(
                f"the rank of document `{doc}` in query `{qid}` is no whole number",
                places[0] if places else self.table.path,
                "order by score instead",
            )
        return rank.cast(pl.Float64).to_numpy()

    def _order(self, rows: BlockRows, by: Ordering) -> RankOrder:
        """Rank order; sorted are queries whose scores rise somewhere in file order, and elsewhere runs of equals."""
        score = self._score(rows, by)
        perm = np.arange(len(score))
        falls = score[1:] < score[:-1]
        falls[rows.last_rows()] = True  # the next row belongs to another query
        num_bad = len(falls) - int(np.count_nonzero(falls))
        if num_bad > len(rows.query):  # rows in no order: sort all rather than look for queries that fall by chance
            perm = self._sorted(rows, perm, score + 0.0, by)  # + 0.0: -0.0 ties with 0.0
        elif num_bad:
            bad = _rows_to_sort(rows, score, np.flatnonzero(~falls))
            perm[bad] = bad[self._sorted(rows, bad, score[bad] + 0.0, by)]
        return RankOrder(perm, score[perm] + 0.0)

    def _sorted(self, rows: BlockRows, bad: Rows, score: NDArray[np.float64], by: Ordering) -> Rows:
        """Places (into `bad`) in order of query, then score falling, then the tie rule."""
        ties = by.ties
        place = rows.place_of_row()[bad]
        frame = pl.DataFrame({"query": place, "score": score})
        columns, descending = ["query", "score"], [False, True]
        if ties == "rank":
            frame = frame.with_columns(tie=rows.frame["rank"][bad])
            columns, descending = [*columns, "tie"], [*descending, False]
        if ties == "random":
            frame = frame.with_columns(tie=self._random_keys(rows, bad, place, score, by.seed))
            columns, descending = [*columns, "tie"], [*descending, False]
        if ties in ("best", "worst"):
            frame = frame.with_columns(tie=rows.grades[bad])
            columns, descending = [*columns, "tie"], [*descending, ties == "best"]
        if ties != "file":
            frame = frame.with_columns(doc=rows.frame["doc"][bad])
            columns, descending = [*columns, "doc"], [*descending, ties != "docid-asc"]
        order = pl.arg_sort_by(columns, descending=descending, nulls_last=True, maintain_order=True)
        places: Rows = frame.select(order).to_series().to_numpy().astype(np.int64)
        return places

    def _random_keys(self, rows: BlockRows, bad: Rows, place: Rows, score: NDArray[np.float64], seed: int) -> pl.Series:
        """UInt64 hash of (seed, query, document) of each tied row, the same on every machine; 0 for rows without a tie.

        BLAKE2 costs about a microsecond a row, and only tied rows pay it.
        """
        from hashlib import blake2b

        tied = pl.DataFrame({"query": place, "score": score}).is_duplicated()
        keys = np.zeros(len(bad), np.uint64)
        names = [self.judgments.queries[i] for i in rows.query]
        docs = rows.frame["doc"][bad]
        for i in tied.arg_true().to_list():
            text = f"{seed}\t{names[place[i]]}\t{docs[i]}".encode()
            keys[i] = int.from_bytes(blake2b(text, digest_size=8).digest(), "big")
        return pl.Series(keys)

    def _ranked(self, rows: BlockRows, order: RankOrder) -> Ranked:
        grade, status = rows.grades[order.perm], rows.status[order.perm]
        ranked = Ranked(rows.query, rows.offsets, grade, status, order.score, *self._ideal(rows.query))
        if "weight" in rows.frame.columns:
            ranked = replace(ranked, weight=rows.frame["weight"].to_numpy()[order.perm], ideal_weight=self.goal_weights)
        return ranked if self.rules.depth is None else _keep_rows(ranked, rows.row_in_query() < self.rules.depth)

    def _note(self, rows: BlockRows, order: RankOrder) -> None:
        if self.rules.order in ("score", "ascending"):
            self._note_scores(rows, order)
        self.facts.note_ties(rows.offsets, order.score, min(self.k, self.rules.depth or self.k))

    def _note_scores(self, rows: BlockRows, order: RankOrder) -> None:
        """Note queries of one score throughout, and those whose ranks fall where scores fall."""
        self.facts.note_constant(rows.offsets, order.score)
        if "rank" in rows.frame.columns:
            rank = rows.frame["rank"].to_numpy()[order.perm]  # with a null all are doubles, and NaN compares false
            falls = order.score[1:] < order.score[:-1]
            falls[rows.last_rows()] = False
            self.facts.note_ranks(rows.query_of_row()[1:], falls, rank)

    def _marks(self, rows: BlockRows) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        """Grade and status of each row in file order, as `Ranked` has them."""
        grade, status = np.full(rows.frame.height, -1.0), np.zeros(rows.frame.height, np.uint8)
        judged = _of_queries(self.judgments.frame, self.judged_of, rows.query)
        found = _matches(rows, rows_among(self._keys(rows), judged["key"].to_numpy()), judged)
        self._note_spellings(rows, found)
        place, value = found["row"].to_numpy(), found["grade"].to_numpy()
        grade[place] = np.where(value >= 0, value, -1.0)
        status[place] = np.where(value >= 0, 2, 1)
        self.facts.judged_found += len(place)
        return grade, status

    def _note_spellings(self, rows: BlockRows, found: pl.DataFrame) -> None:
        """Look for other spellings (`7` for `007`, `DOC1` for `doc1`) of judged documents that were not found."""
        variants = _of_queries(self.variants, self.variants_of, rows.query)
        hits = rows_among(self._keys(rows), variants["key"].to_numpy())
        if len(hits):
            pairs = _matches(rows, hits, variants)
            pairs = pairs.join(found, left_on=["query", "meant"], right_on=["query", "doc"], how="anti")
            pairs = pairs.join(found, on=["query", "doc"], how="anti")  # the spelling is a judged document of its own
            self.facts.spellings += pairs.select("doc", "meant").rows()

    def _keys(self, rows: BlockRows) -> Hashes:
        """(N,) as `pair_keys`, from one hash a query; made once."""
        if rows.keys is None:
            names = self._names(rows.query)
            rows.keys = np.repeat(names.hash(QUERY_SEED).to_numpy(), rows.lengths) ^ rows.doc_hash
        return rows.keys

    def _names(self, query: Rows) -> pl.Series:
        """The ids of some queries."""
        if self.query_names is None:
            self.query_names = pl.Series(self.judgments.queries, dtype=pl.String)
        return self.query_names[query]

    def _ideal(self, query: Rows) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        starts = self.judgments.ideal_offsets
        lengths = starts[query + 1] - starts[query]
        return offsets_of(lengths), self.judgments.ideal[places_of(starts, query)]


def _check_ranks(table: Table, orderings: Sequence[Ordering]) -> None:
    for ordering in orderings:
        if "rank" in (ordering.order, ordering.ties) and not table.has_rank:
            raise InputError(
                f"has no rank column, so {'--order' if ordering.order == 'rank' else '--ties'} rank cannot be used",
                table.path,
                "choose another rule, or name the column: --columns rank=NAME",
            )


def judged_only(ranked: Ranked) -> Ranked:
    """The rankings without unjudged documents (negative grades are unjudged); ranks close up."""
    return _keep_rows(ranked, ranked.status == 2)


def _keep_rows(ranked: Ranked, kept: NDArray[np.bool_]) -> Ranked:
    before = np.concatenate(([0], np.cumsum(kept)))
    return Ranked(
        ranked.query,
        before[ranked.offsets].astype(np.int64),
        ranked.grade[kept],
        ranked.status[kept],
        ranked.score[kept],
        ranked.ideal_offsets,
        ranked.ideal,
        None if ranked.weight is None else ranked.weight[kept],
        ranked.ideal_weight,
    )


def _row_starts(frame: pl.DataFrame, num_queries: int) -> Rows:
    """(num_queries + 1,) where the rows of each query start in a frame that is sorted by query index."""
    starts: Rows = np.searchsorted(frame["query"].to_numpy(), np.arange(num_queries + 1))
    return starts


def _of_queries(frame: pl.DataFrame, starts: Rows, query: Rows) -> pl.DataFrame:
    """The rows of some queries."""
    return frame[places_of(starts, query)]


def _rows_to_sort(rows: BlockRows, score: NDArray[np.float64], before: Rows) -> Rows:
    """All rows of queries whose scores rise, and of the others those whose score a neighbour has too.

    before : the rows behind which the score does not fall
    """
    is_wanted = mask_of(before, len(score))
    is_wanted[before + 1] = True
    rises = before[score[before + 1] > score[before]]
    if len(rises):
        place = rows.place_of_row()
        is_wanted |= mask_of(place[rises], len(rows.query))[place]
    return np.flatnonzero(is_wanted)


def _matches(rows: BlockRows, hits: Rows, wanted: pl.DataFrame) -> pl.DataFrame:
    """Those of `hits` whose (query, doc) is in `wanted` (query, doc, key, ..), with its other columns and `row`."""
    query = rows.query_of_row()[hits].astype(np.uint32)
    candidates = pl.DataFrame({"query": query, "doc": rows.frame["doc"][hits], "row": hits})
    return candidates.join(wanted.drop("key"), on=["query", "doc"], how="inner")


def spelling_sample(judged: pl.DataFrame) -> pl.DataFrame:
    """The first relevant judgments: those whose documents are looked for in other spellings."""
    return judged.filter(pl.col("grade") > 0).sort("query", "doc").head(SPELLING_SAMPLE)


def _spelling_variants(judgments: Judgments, sample: pl.DataFrame | None) -> pl.DataFrame:
    """Other spellings of the first relevant documents: query, doc (the spelling), meant, key."""
    sample = spelling_sample(judgments.frame if sample is None else sample)
    rows = [
        (query, spelling, doc)
        for query, doc in sample.select("query", "doc").rows()
        for spelling in {doc.lower(), doc.upper(), doc.lstrip("0"), f"0{doc}", f"00{doc}", f"{doc}.0"} - {doc, ""}
    ]
    schema = {"query": pl.UInt32, "doc": pl.String, "meant": pl.String}
    variants = pl.DataFrame(rows, schema, orient="row")
    names = pl.Series(judgments.queries, dtype=pl.String)[variants["query"].to_numpy()]
    return variants.with_columns(key=pair_keys(names, variants["doc"])).sort("query")
