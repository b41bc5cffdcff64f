"""Everything that is wrong or suspicious in runs and judgments, without a score.

Malformed rows of text, CSV and JSON are collected; other layouts stop at their first problem, and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from rankeval_cli.align import Aligner
from rankeval_cli.coverage import coverage_of, warnings_of
from rankeval_cli.errors import SHOWN_PROBLEMS, InputError, RankevalError
from rankeval_cli.findings import Checked, CheckedFile, FileRole, Problem
from rankeval_cli.flow import Request, ShowProgress
from rankeval_cli.judgments import grade_text, load_judgments
from rankeval_cli.labelled import LabelledAligner, finished, labels_of
from rankeval_cli.model import Judgments, Rules
from rankeval_cli.opening import check_columns, names_of, opened, table_of, unique_names
from rankeval_cli.passes import check_run, score_run
from rankeval_cli.plan import without_ids
from rankeval_cli.readers import Input, ReadOptions, check_swapped, read_pairs
from rankeval_cli.readers.labelled import open_labelled
from rankeval_cli.readers.problems import Problems

if TYPE_CHECKING:
    from rankeval_cli.readers.format import Progress, Table
    from rankeval_cli.rows import BlockRows

CUTOFF = 10  # the rank at which ties and judged documents are counted
MEND_RUN = "mend the run, or choose --duplicates first or best"
MEND_QRELS = "choose --qrels-duplicates max, mean or first, or mend the file"


def check(request: Request, show: ShowProgress) -> Checked:
    """Look for every problem in the runs and the judgments of a request, which are paths.

    Raises UsageError for what no file is to blame for.
    """
    names = names_of(request.runs)
    if request.qrels is None:
        file = _File(names[0], str(request.runs[0]), "labelled table")
        _check_labelled(file, request, show)
        return _checked([file])
    qrels = _File(unique_names([str(request.qrels)])[0], str(request.qrels), "judgments")
    runs = [_File(name, str(path), "run") for name, path in zip(names, request.runs, strict=True)]
    for file in (*runs, qrels):
        file.open()
    if _are_in_place(runs, qrels, request):
        judgments = _check_qrels(qrels, request, show) if qrels.source else None
        for run in runs:
            if run.source:
                _check_run(run, qrels.source, judgments, request, show)
        if all(file.found.is_whole for file in (*runs, qrels)):
            check_columns(request.run_options, request.qrels_options)
    return _checked([*runs, qrels])


def _checked(files: Sequence[_File]) -> Checked:
    return Checked(tuple(file.found for file in files), tuple(each for file in files for each in file.all_problems()))


class _File:
    """One file while it is checked: what was found so far."""

    def __init__(self, name: str, path: str, role: FileRole) -> None:
        self.found = CheckedFile(name, path, role)
        self.source: Input | None = None
        self.collected = Problems()
        self.problems: list[Problem] = []

    def open(self) -> None:
        with self.noting():
            self.source = opened(self.found.path)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """An error that is raised meanwhile is a problem of the file."""
        try:
            yield
        except RankevalError as error:
            where = error.where or self.found.path
            self.problems.append(Problem("error", self.found.name, ((where, error.what),), 1, error.hint))

    def warn(self, text: str) -> None:
        self.problems.append(Problem("warning", self.found.name, ((self.found.path, text),)))

    def note(self, **values: Any) -> None:
        self.found = replace(self.found, **values)

    def options(self, options: ReadOptions) -> ReadOptions:
        """The options with which malformed rows of this file are collected."""
        return replace(options, problems=self.collected)

    def all_problems(self) -> Iterator[Problem]:
        """Malformed rows first, as they stand in the file; warnings last."""
        for kind in self.collected.kinds.values():
            places = tuple((error.where or self.found.path, error.what) for error in kind.first)
            yield Problem("error", self.found.name, places, kind.total, kind.first[0].hint)
        yield from sorted(self.problems, key=lambda problem: problem.severity)


class _Collecting:
    """A table that collects anew each time it is read, and nothing while it looks for a place."""

    def __init__(self, table: Table, problems: Problems) -> None:
        self._table, self._problems = table, problems

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        self._problems.clear()
        yield from self._table.frames(progress)

    def locate(self, query: str, doc: str) -> list[str]:
        with self._problems.closed(), suppress(InputError):
            return self._table.locate(query, doc)
        return []


class _Held(_Collecting):
    """A table whose frames are held, to be looked at more than once."""

    def hold(self, progress: Progress | None) -> pl.DataFrame:
        """All rows; raises as the table's reader does."""
        self._frames = list(super().frames(progress))
        return pl.concat(self._frames) if self._frames else pl.DataFrame()

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        yield from self._frames


def _are_in_place(runs: Sequence[_File], qrels: _File, request: Request) -> bool:
    """Whether runs and judgments are not swapped; files that cannot be opened say so themselves."""
    before = len(qrels.problems)
    if qrels.source is not None:
        with qrels.noting():
            sources = [run.source for run in runs if run.source is not None]
            check_swapped(sources, qrels.source, request.run_options, request.qrels_options)
            return True
    return len(qrels.problems) == before


def _check_qrels(file: _File, request: Request, show: ShowProgress) -> Judgments | None:
    """The judgments as far as they can be read; None when there are none."""
    rules, judgments = request.rules, None
    with file.noting():
        table: Any = _Held(table_of(file.source, "qrels", file.options(request.qrels_options), "qrels"), file.collected)
        file.note(format=table.format)
        with show(table.path, table.size_bytes) as progress:
            frame = table.hold(progress)
        file.note(is_whole=True, rows=frame.height)
        if not frame.height and file.collected.kinds:
            return None
        has_conflicts = frame.height > 0 and rules.qrels_duplicates == "error" and _note_conflicts(file, table, frame)
        if has_conflicts:
            rules = replace(rules, qrels_duplicates="first")
        judgments = load_judgments(table, rules, file.found.name)
        file.note(queries=len(judgments.queries))
        for warning in judgments.warnings:
            text = warning.removeprefix(f"{table.path}: ")
            file.warn(text.split(";")[0] if has_conflicts else text)
    return judgments


def _note_conflicts(file: _File, table: Table, frame: pl.DataFrame) -> bool:
    """Note the pairs that are judged with different grades; whether there are any."""
    grades = frame.group_by("query", "doc", maintain_order=True).agg(pl.col("grade").unique(maintain_order=True))
    conflicts = grades.filter(pl.col("grade").list.len() > 1)
    if not conflicts.height:
        return False
    places: list[tuple[str, str]] = []
    for query, doc, different in conflicts.head(SHOWN_PROBLEMS).iter_rows():
        shown = " and ".join(f"`{grade_text(grade)}`" for grade in different)
        where = _where(table, query, doc) if not places else table.path
        places.append((where, f"document `{doc}` of query `{query}` is judged with different grades {shown}"))
    file.problems.append(Problem("error", file.found.name, tuple(places), conflicts.height, MEND_QRELS))
    return True


def _where(table: Table, query: str, doc: str) -> str:
    return ", ".join(table.locate(query, doc)[:2]) or table.path


class _Watching(Aligner):
    """An aligner that remembers the first documents that stand twice in a ranking."""

    def __init__(self, *args: Any) -> None:
        self.repeated: list[tuple[str, str]] = []
        super().__init__(*args)

    def _without_duplicates(self, rows: BlockRows) -> BlockRows:
        kept = super()._without_duplicates(rows)
        if kept is not rows and len(self.repeated) < SHOWN_PROBLEMS:
            pairs = rows.frame.select(query=pl.Series(rows.query_of_row()), doc="doc")
            again = pairs.filter(~pl.struct("query", "doc").is_first_distinct()).head(SHOWN_PROBLEMS)
            self.repeated += [(self.judgments.queries[query], doc) for query, doc in again.iter_rows()]
        return kept


class _WatchingLabels(_Watching, LabelledAligner):
    """The same for a labelled table."""


def _check_run(
    file: _File, beside: Input | None, judgments: Judgments | None, request: Request, show: ShowProgress
) -> None:
    with file.noting():
        options = replace(file.options(request.run_options), beside=beside)
        table: Any = _Collecting(table_of(file.source, "run", options, file.found.name), file.collected)
        file.note(format=table.format)
        with show(file.found.name, table.size_bytes) as progress:
            if judgments is None:
                file.note(rows=sum(frame.height for frame in table.frames(progress)), is_whole=True, tag=table.tag)
                return
            rules = without_ids(request.rules, request.metrics) if not table.has_doc_ids else request.rules
            aligner = _aligned(file, table, judgments, rules, _Watching, progress)
        if aligner.facts.rows or not file.collected.kinds:
            with file.noting():
                check_run(table, judgments, rules, aligner.facts)
        _note_coverage(file, table, judgments, rules, aligner)


def _check_labelled(file: _File, request: Request, show: ShowProgress) -> None:
    file.open()
    with file.noting():
        options = replace(file.options(request.run_options), grade_map=request.qrels_options.grade_map)
        options = replace(options, ignore_label=request.rules.ignore_label)
        source: Any = file.source
        if source is None:
            return
        table: Any = _Collecting(open_labelled(source, options, file.found.name), file.collected)
        file.note(format=table.format)
        rules = request.rules if table.has_doc_ids else without_ids(request.rules, request.metrics)
        labels = labels_of(table, file.found.name, rules, needs_highest=False)
        with show(file.found.name, table.size_bytes) as progress:
            aligner = _aligned(file, table, labels, rules, _WatchingLabels, progress)
        if not aligner.facts.rows:
            raise InputError("holds no row that counts", table.path, "look at its mask, and at --ignore-label")
        judgments, _ = finished(labels, [])
        file.note(queries=len(judgments.queries))
        for warning in judgments.warnings:
            file.warn(warning)
        _note_coverage(file, table, judgments, rules, aligner)


def _aligned(
    file: _File, table: Table, judgments: Judgments, rules: Rules, kind: type[_Watching], progress: Progress
) -> _Watching:
    """Read and align the whole run; duplicates are left out."""
    lenient = replace(rules, duplicates="first") if rules.duplicates == "error" else rules
    exclude = None if rules.exclude is None else read_pairs(rules.exclude)
    made: list[_Watching] = []

    def make() -> _Watching:
        made.append(kind(table, judgments, lenient, CUTOFF, exclude))
        return made[-1]

    score_run(table, judgments, (), lenient, make, lambda facts: None, progress=progress)
    file.note(rows=made[-1].facts.rows, is_whole=True, tag=table.tag)
    return made[-1]


def _note_coverage(file: _File, table: Table, judgments: Judgments, rules: Rules, aligner: _Watching) -> None:
    """Note duplicates, and what is suspicious in a run that was read to its end."""
    coverage = coverage_of(judgments, aligner.facts, rules, CUTOFF)
    file.note(coverage=coverage)
    if coverage.duplicates and rules.duplicates == "error":
        places: list[tuple[str, str]] = []
        for query, doc in aligner.repeated[:SHOWN_PROBLEMS]:
            where = _where(table, query, doc) if not places else table.path
            places.append((where, f"document `{doc}` is more than once in query `{query}`"))
        total = coverage.duplicates
        file.problems.append(Problem("error", file.found.name, tuple(places), total, MEND_RUN))
        coverage = replace(coverage, duplicates=0)  # no warning besides
    for warning in (*table.warnings, *warnings_of(coverage, aligner.facts, judgments, rules)):
        file.warn(warning)
