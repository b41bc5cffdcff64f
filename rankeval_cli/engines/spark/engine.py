"""The Spark engine: opens, loads and scores in place of this process; see `flow.Engine`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rankeval_cli.engines.spark import session as sessions
from rankeval_cli.engines.spark.inputs import SparkTable, found, opened
from rankeval_cli.engines.spark.session import Settings, collected, explained, mapped
from rankeval_cli.errors import OutputError, UsageError
from rankeval_cli.readers import Input, ReadOptions, check_swapped
from rankeval_cli.readers.address import MissingError
from rankeval_cli.readers.source import STDIN

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.coverage import Facts
    from rankeval_cli.engines.spark.joined import Kept
    from rankeval_cli.flow import Request
    from rankeval_cli.model import Judgments, Report, Rules, Scores
    from rankeval_cli.plan import Plan
    from rankeval_cli.readers.format import Table

BROADCAST_ROWS = 1_000_000  # judgments up to here go to every worker: 100 MB in each of its processes
ORDERED_GRADES = ("first", "mean")  # of repeated judgments: the order of files decides, or that of a sum


class SparkEngine:
    """Reads, joins and scores in a Spark session.

    session : the one to use; None for the one of this process, or else a new one, which `close` ends
    settings : of a new one
    broadcast_rows : more judgments than these do not go to every worker, but are joined by query
    folders : where `write` writes the values of each query, as Parquet
    """

    def __init__(
        self,
        session: Any = None,
        settings: Settings | None = None,
        broadcast_rows: int = BROADCAST_ROWS,
        folders: Sequence[str] = (),
    ) -> None:
        self._session, self._settings = session, settings or Settings()
        self._broadcast_rows, self._folders = broadcast_rows, folders
        self._is_own = False
        self._kept: Kept | None = None

    @property
    def session(self) -> Any:
        """The session; started when it is first asked for."""
        if self._session is None:
            self._session = sessions.active()
        if self._session is None:
            self._session, self._is_own = sessions.start(self._settings), True
        return self._session

    def close(self) -> None:
        """Give back what Spark keeps, and end a session that was started here."""
        if self._kept is not None:
            self._kept.stored.unpersist()
            self._kept = None
        if self._is_own:
            self._session.stop()
            self._session, self._is_own = None, False

    def check(self, request: Request) -> None:
        """Refuse labelled tables, standard input, objects that Spark does not know, and groups in the judgments."""
        from rankeval_cli.groups import is_path

        if request.qrels is None:
            hint = "give the judgments as a table of their own, or leave --engine out"
            raise UsageError("the Spark engine scores runs against judgments, not a labelled table", hint=hint)
        for source in (*request.runs, request.qrels):
            if source == STDIN:
                raise UsageError("Spark cannot read standard input", hint="name a file that all its workers can read")
            if not isinstance(source, str) and not hasattr(source, "mapInArrow"):
                what = f"the Spark engine cannot read an object of type {type(source).__name__}"
                raise UsageError(what, hint="give a path or a Spark DataFrame")
        if isinstance(request.groups, str) and not is_path(request.groups):
            what = f"the Spark engine does not read groups from the column `{request.groups}`"
            raise UsageError(what, hint="write them to a file of two columns, query and group")

    def open_all(
        self,
        runs: Sequence[Any],
        qrels: Any,
        names: Sequence[str],
        run_options: ReadOptions,
        qrels_options: ReadOptions,
    ) -> tuple[list[Table], Table]:
        """Every input opened, after a look at whether runs and judgments are swapped."""
        for folder in self._folders:
            self._check_new(folder)
        judged = found(self.session, qrels, qrels_options, "qrels")
        sources = [run.path if isinstance(run, Input) else run for run in runs]  # a baseline has been opened
        looked = [found(self.session, run, run_options, name) for run, name in zip(sources, names, strict=True)]
        if judged.text is not None:
            texts = [run.text for run in looked if run.text is not None]
            check_swapped(texts, judged.text, run_options, qrels_options)
        return [opened(run, "run", run_options) for run in looked], opened(judged, "qrels", qrels_options)

    def load_judgments(self, table: Table, rules: Rules, name: str) -> Judgments:
        """The judgments: whole where they are few, else without their pairs, which Spark keeps."""
        from rankeval_cli.judgments import load_judgments

        assert isinstance(table, SparkTable)
        table.keeps_order = rules.qrels_duplicates in ORDERED_GRADES
        if table.keeps_order:
            _check_order(table, f"--qrels-duplicates {rules.qrels_duplicates}")
        if table.count() <= self._broadcast_rows:
            return load_judgments(table, rules, name)
        from rankeval_cli.engines.spark.joined import kept

        judgments, self._kept = kept(table, rules, name)
        return judgments

    def score_run(
        self, table: Table, judgments: Judgments, plan: Plan, k: int, exclude: pl.DataFrame | None
    ) -> tuple[Facts, list[Scores]]:
        """What was noticed in a run, and the scores of every part of the plan."""
        from rankeval_cli.align import Aligner
        from rankeval_cli.engines.spark.merging import merged
        from rankeval_cli.engines.spark.partition import scored
        from rankeval_cli.engines.spark.work import work_of
        from rankeval_cli.passes import check_run, concluded

        assert isinstance(table, SparkTable)
        aligner = Aligner(table, judgments, plan.rules, k, exclude, plan.orderings)  # refuses ranks that are not there
        sample = None if self._kept is None else self._kept.sample
        work = work_of(table, judgments, plan, k, exclude, table.rank_base, sample)
        rows = self._partitioned(table, _rule_of_order(plan))
        whole = merged(collected(mapped(rows, scored, work.types, work), table.path), judgments, plan.every_part)
        table.heed(whole.notes)
        aligner.facts = whole.facts
        check = partial(check_run, table, judgments, plan.rules)
        if self._kept is None:
            return concluded(aligner, whole.scorers, check)
        check(whole.facts)
        return whole.facts, [scorer.finish(whole.facts.answered) for scorer in whole.scorers]

    def write(self, report: Report) -> None:
        """Write the values of each query: run, query, and a column a measure, null where undefined."""
        for folder in self._folders:
            with explained(folder):
                rows = self.session.createDataFrame(report.per_query.to_arrow())
                rows.write.parquet(folder)

    def _check_new(self, folder: str) -> None:
        """Refuse a folder that is there: what else it holds would be mixed with the values, or lost."""
        try:
            with explained(folder):
                self.session.read.format("binaryFile").load(folder)
        except MissingError:
            return
        raise OutputError("exists already", folder, "name a new folder, or remove this one")

    def _partitioned(self, table: SparkTable, rule_of_order: str | None) -> Any:
        """The rows of the run by query, behind those of the judgments that Spark keeps."""
        from pyspark.sql import functions as sql

        from rankeval_cli.engines.spark.partition import IS_RUN

        if rule_of_order is not None:
            _check_order(table, rule_of_order)
        rows = table.rows(rule_of_order is not None)
        if self._kept is None:
            return rows.repartition("query").sortWithinPartitions("query")
        judged = self._kept.rows.withColumn(IS_RUN, sql.lit(False))
        both = judged.unionByName(rows.withColumn(IS_RUN, sql.lit(True)), allowMissingColumns=True)
        return both.repartition("query").sortWithinPartitions(IS_RUN, "query")


def _rule_of_order(plan: Plan) -> str | None:
    """A rule by which the order of rows in files decides; None where there is none."""
    orderings = [plan.rules.ordering, *plan.orderings]
    if any(ordering.order == "file" for ordering in orderings):
        return "--order file"
    if any(ordering.ties == "file" for ordering in orderings):
        return "--ties file"
    has_ranks = any("rank" in (ordering.order, ordering.ties) for ordering in orderings)
    if plan.rules.duplicates == "first" or (plan.rules.duplicates == "best" and has_ranks):
        return f"--duplicates {plan.rules.duplicates}"
    return None


def _check_order(table: SparkTable, rule: str) -> None:
    if not table.is_file:
        what = f"{rule} needs rows in an order, and a Spark DataFrame has none"
        raise UsageError(what, hint="choose another rule, or give the path of the files")
