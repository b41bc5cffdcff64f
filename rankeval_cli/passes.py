"""One pass over a run: blocks are read and aligned while the ones before them are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from rankeval_cli.errors import InputError
from rankeval_cli.model import Judgments, Ranked, Rules, Scores
from rankeval_cli.plan import Part

if TYPE_CHECKING:
    from rankeval_cli.align import Aligner
    from rankeval_cli.coverage import Facts
    from rankeval_cli.measures.spec import Metric
    from rankeval_cli.readers.blocks import Block
    from rankeval_cli.readers.format import Progress, Table
    from rankeval_cli.scoring import Scorer

# glibc keeps memory for the next block once one as large has been freed, of which nothing was touched; else it goes
# back to the kernel, and to get it again page by page takes a tenth of the time (Parquet: 1.12 -> 0.99 s).
KEPT_BYTES = 16 << 20


def score_run(
    table: Table,
    judgments: Judgments,
    metrics: tuple[Metric, ...],
    rules: Rules,
    make_aligner: Callable[[], Aligner],
    check: Callable[[Facts], None],
    watch: Callable[[Ranked], None] = lambda ranked: None,
    progress: Progress | None = None,
) -> tuple[Facts, Scores]:
    """Align and score a run: what was noticed in it, and its scores. See `score_parts`."""
    facts, (scores,) = score_parts(
        table, judgments, [Part(metrics, rules)], make_aligner, check, watch=watch, progress=progress
    )
    return facts, scores


def score_parts(
    table: Table,
    judgments: Judgments,
    parts: Sequence[Part],
    make_aligner: Callable[[], Aligner],
    check: Callable[[Facts], None],
    watch: Callable[[Ranked], None] = lambda ranked: None,
    progress: Progress | None = None,
) -> tuple[Facts, list[Scores]]:
    """Align and score a run that is read once: what was noticed in it, and the scores of each part.

    parts : measures with their rules; the first part's decide which queries are scored and how rankings are cut
    make_aligner : gives one that has the ordering of every part; called once, or twice when queries do not stand
        together and the run is read again
    check : raises what is wrong with the run as a whole, once it has been read
    watch : is given every block of rankings, those of unanswered queries last; begins anew when the run is read again
    """
    from rankeval_cli.readers.ahead import Counted
    from rankeval_cli.readers.blocks import Ungrouped, gathered, grouped
    from rankeval_cli.scoring import Scorer

    counted = Counted(table.size_bytes, progress or (lambda count: None))

    def read(blocks: Iterator[Block]) -> tuple[Facts, list[Scores]]:
        aligner = make_aligner()
        scorers = [Scorer(part.metrics, judgments, part.rules, counted.share) for part in parts]
        return _pass(blocks, aligner, scorers, check, watch)

    with suppress(Ungrouped):
        return read(grouped(table, counted))
    return read(gathered(table, counted))


def _pass(
    blocks: Iterator[Block],
    aligner: Aligner,
    scorers: Sequence[Scorer],
    check: Callable[[Facts], None],
    watch: Callable[[Ranked], None],
) -> tuple[Facts, list[Scores]]:
    """Align and score all blocks, the next ones being read and aligned meanwhile; then the unanswered queries."""
    from rankeval_cli.readers import prefetch

    bytes(KEPT_BYTES)
    places = [aligner.orderings.index(scorer.rules.ordering) for scorer in scorers]

    def aligned() -> Iterator[list[Ranked]]:
        with closing(prefetch(blocks)) as read:
            yield from map(aligner.align_each, read)  # no name holds a block while the next one is aligned

    for ranked in prefetch(aligned()):
        watch(ranked[0])
        for scorer, place in zip(scorers, places, strict=True):
            scorer.add(ranked[place])
        del ranked
    return concluded(aligner, scorers, check, watch)


def concluded(
    aligner: Aligner,
    scorers: Sequence[Scorer],
    check: Callable[[Facts], None],
    watch: Callable[[Ranked], None] = lambda ranked: None,
) -> tuple[Facts, list[Scores]]:
    """What stands behind the last block: the run as a whole is checked, and unanswered queries are scored."""
    check(aligner.facts)
    unanswered = aligner.unanswered()
    watch(unanswered)
    for scorer in scorers:
        if scorer.rules.missing != "skip":  # else no other rule may look at these queries
            scorer.add(unanswered)
    return aligner.facts, [scorer.finish(aligner.facts.answered) for scorer in scorers]


def check_run(table: Table, judgments: Judgments, rules: Rules, facts: Facts) -> None:
    """Raise InputError for a run without results, without a judged query, or without all under `--missing error`."""
    if not facts.rows:
        raise InputError("is empty: no results", table.path, "check that the retrieval wrote its results")
    if not facts.answered.any():
        raise _nothing_in_common(table, judgments, facts)
    _check_missing(table, judgments, facts, rules)


def _nothing_in_common(table: Table, judgments: Judgments, facts: Facts) -> InputError:
    return InputError(
        f"no query in common with the judgments: the run has `{min(facts.unjudged)}`, "
        f"{judgments.source.path} has `{judgments.queries[0]}`",
        table.path,
        "check that both files number the queries alike, and that the judgments come last",
    )


def _check_missing(table: Table, judgments: Judgments, facts: Facts, rules: Rules) -> None:
    from rankeval_cli.coverage import missing_text

    if rules.missing == "error" and not facts.answered.all():
        raise InputError(
            f"{missing_text(judgments, facts)} no results",
            table.path,
            "complete the run, or choose --missing zero or skip",
        )
