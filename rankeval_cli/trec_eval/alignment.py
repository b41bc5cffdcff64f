"""Rankings as trec_eval makes them, by the aligner of the flow; and the signs of `relstring`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rankeval_cli.align import Aligner, judged_only
from rankeval_cli.errors import InputError
from rankeval_cli.model import Ranked, Rules
from rankeval_cli.trec_eval.options import COMPUTING

if TYPE_CHECKING:
    from rankeval_cli.readers.blocks import Block
    from rankeval_cli.rows import BlockRows

UNKNOWN, NEGATIVE, LARGE = b"-.>"  # signs: not in the judgments, of a negative grade, of a grade above 9
NEGATIVE_GRADE = -2.0  # what a negative grade counts as against a level below 0; documents not judged are -1


@dataclass(frozen=True)
class DropInRules(Rules):
    """Rules that may also say what only trec_eval allows: a level below 0, rankings cut to nothing."""

    def __post_init__(self) -> None:
        """Take every value."""


class DropInAligner(Aligner):
    """An aligner for which a document may stand twice in a ranking, if the second place is cut off by `-M`."""

    def align_each(self, block: Block) -> list[Ranked]:
        """See `Aligner.align_each`; the error of a repeated document has exit status 4."""
        try:
            ranked = super().align_each(block)
        except InputError as problem:
            problem.code, problem.hint = COMPUTING, "each document may stand once in a query"
            raise
        if self.rules.relevance_level >= 0:
            return ranked
        return [replace(one, grade=np.where(one.status == 1, NEGATIVE_GRADE, one.grade)) for one in ranked]

    def _without_duplicates(self, rows: BlockRows) -> BlockRows:
        if self.rules.depth is None:
            return super()._without_duplicates(rows)
        top = np.zeros(rows.frame.height, np.bool_)
        top[self._order(rows, self.orderings[0]).perm[rows.row_in_query() < self.rules.depth]] = True
        if top.all():
            return super()._without_duplicates(rows)
        super()._without_duplicates(rows.keep(top))  # raises
        return rows


@dataclass
class Relstrings:
    """Collects the first signs of each ranking: digits for grades, `>` above 9, `-` unknown, `.` judged negative.

    length : of the longest string that is printed
    texts : index of the query -> its signs; an empty ranking has none
    """

    length: int
    is_judged_only: bool
    texts: dict[int, str] = field(default_factory=dict)

    def watch(self, ranked: Ranked) -> None:
        """Take the signs of a block."""
        ranked = judged_only(ranked) if self.is_judged_only else ranked
        starts, stops = ranked.offsets[:-1], np.minimum(ranked.offsets[1:], ranked.offsets[:-1] + self.length)
        for query, start, stop in zip(ranked.query.tolist(), starts.tolist(), stops.tolist(), strict=True):
            self.texts[query] = _signs(ranked, start, stop)


def _signs(ranked: Ranked, start: int, stop: int) -> str:
    status, grade = ranked.status[start:stop], np.clip(ranked.grade[start:stop], 0, 10)
    digits = np.where(grade > 9, LARGE, grade + ord("0"))
    signs = np.where(status == 2, digits, np.where(status == 1, NEGATIVE, UNKNOWN))
    return signs.astype(np.uint8).tobytes().decode("ascii")
