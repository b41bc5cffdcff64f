"""Text layouts without header: TREC runs and judgments, MS MARCO's columns, ColBERT's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rankeval_cli.errors import SHOWN_PROBLEMS, InputError
from rankeval_cli.readers import fast, layout, lines
from rankeval_cli.readers.format import Format, Progress, ReadOptions, Role
from rankeval_cli.readers.layout import Layout, Plan, split
from rankeval_cli.readers.problems import Problems, leave_out
from rankeval_cli.readers.ranks import CHOOSE, RankWatch, rises, third_column
from rankeval_cli.readers.sample import sample_of
from rankeval_cli.readers.source import Chunk, Input
from rankeval_cli.readers.values import parse_number

if TYPE_CHECKING:
    import polars as pl


class TextTable:
    """A text file as a `Table` (see there)."""

    has_doc_ids = True

    def __init__(self, source: Input, plan: Plan) -> None:
        self._source, self._plan = source, plan
        self.path, self.format, self.size_bytes = source.path, plan.layout.format, source.size_bytes
        self.has_rank = "rank" in plan.layout.columns
        self.tag: str | None = None
        self.warnings: list[str] = []
        self._is_untidy = False
        self.tally = lines.Noted()

    @property
    def ranks_rise(self) -> bool:
        """Whether ranks must rise by one in each query."""
        return self._plan.layout.ranks_rise

    def unwatched(self) -> TextTable:
        """The same table, which does not look whether ranks rise: for who reads it from the middle."""
        return TextTable(self._source, replace(self._plan, layout=replace(self._plan.layout, ranks_rise=False)))

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in file order, a chunk at a time (see `Table.frames`)."""
        noted = self.tally = lines.Noted()
        watch = RankWatch() if self._plan.layout.ranks_rise else None
        self.warnings, self.tag, self._is_untidy = [], None, False
        for chunk in self._source.chunks(progress):
            frame = self._frame(chunk, noted)
            if watch and not watch.follows(frame):
                leave_out(self._rank_error(chunk, watch), self._plan.problems)
                watch = None  # nothing follows a break
            if frame.height:
                yield self._finished(frame, noted)
        self.warnings = noted.warnings()

    def _frame(self, chunk: Chunk, noted: lines.Noted) -> pl.DataFrame:
        if not self._is_untidy and (frame := fast.parse(chunk.data, self._plan)) is not None:
            chunk.num_lines = frame.height
            return frame
        found = lines.Noted()
        data = fast.tidy(chunk.data, self._plan, found)
        frame = fast.parse(data, self._plan, may_hold_comments=False)
        self._is_untidy = frame is not None and data != chunk.data  # then so is the next chunk, most likely
        if frame is None:
            found = lines.Noted()
            frame = lines.frame_of(list(self._rows(chunk, found)), self._plan.layout)
        noted.comments += found.comments
        noted.data_comments += found.data_comments
        return frame

    def _rows(self, chunk: Chunk, noted: lines.Noted) -> Iterator[lines.Row]:
        return lines.read_lines(chunk.data, chunk.path, chunk.first_line, self._plan, noted)

    def _rank_error(self, chunk: Chunk, watch: RankWatch) -> InputError:
        with (self._plan.problems or Problems()).closed():
            row = watch.first_break(self._rows(chunk, lines.Noted()))
        what = f"`{row.rank}` does not follow, though the first lines have ranks that rise by one in each query"
        return InputError(what, f"{chunk.path}:{row.line}", CHOOSE)

    def _finished(self, frame: pl.DataFrame, noted: lines.Noted) -> pl.DataFrame:
        if "tag" in frame.columns:
            self.tag = frame["tag"][-1] or None
        if self._plan.layout.value == "score":
            noted.infinite += int(frame["score"].is_infinite().sum())
        if self._plan.layout.role == "qrels":
            return frame.select("query", "doc", "grade", *self._plan.layout.groups)
        return frame.select("query", "doc", "score", *(["rank"] if self.has_rank else []))

    def locate(self, query: str, doc: str) -> list[str]:
        """Where the pair stands, as `path:line`, at most ten places; reads the input again."""
        wanted = (query.encode(), doc.encode())
        found: list[str] = []
        for chunk in self._source.chunks():
            if wanted[0] in chunk.data and wanted[1] in chunk.data:
                numbered = enumerate(chunk.data.split(b"\n"), chunk.first_line)
                found += [f"{chunk.path}:{number}" for number, line in numbered if self._is_pair(line, wanted)]
            if len(found) >= SHOWN_PROBLEMS:
                break
        return found[:SHOWN_PROBLEMS]

    def _is_pair(self, line: bytes, wanted: tuple[bytes, bytes]) -> bool:
        if wanted[0] not in line or wanted[1] not in line or line.startswith(b"#"):
            return False
        fields = dict(zip(self._plan.layout.columns, split(line, self._plan.separator), strict=False))
        return (fields.get("query"), fields.get("doc")) == wanted


def _opened(source: Input, role: Role, options: ReadOptions, chosen: Layout) -> TextTable:
    sample = sample_of(source)
    separator, width = sample.shape(role)
    if width != chosen.width:  # the user named the format, or the layout is loose
        counts = sample.tabs if chosen.is_loose else {chosen.width - 1}
        separator = b"\t" if sample.tabs == counts and min(counts, default=0) >= chosen.width - 1 else None
    grade_map = options.grade_map if role == "qrels" else None
    return TextTable(source, Plan(chosen, separator, grade_map, problems=options.problems))


def _fits_width(source: Input, role: Role, options: ReadOptions, *widths: int) -> bool:
    sample = sample_of(source)
    return sample.shape(role)[1] in widths and not sample.is_something_else(role, options)


def _fits_trec(source: Input, role: Role, options: ReadOptions) -> bool:
    if role == "qrels":
        return _fits_width(source, role, options, 4)
    if not _fits_width(source, role, options, 5, 6):
        return False
    separator, width = sample_of(source).shape(role)
    scores = (score for _, score in sample_of(source).columns(separator, width, 0, 4))
    return width == 6 or any(parse_number(score) is not None for score in scores)


def _trec(source: Input, role: Role, options: ReadOptions) -> TextTable:
    if role == "qrels":
        return _opened(source, role, options, layout.TREC_QRELS)
    sample = sample_of(source)
    separator, width = sample.shape(role)
    is_untagged = width == 5 and (separator is not None or set(sample.widths) == {5})
    return _opened(source, role, options, layout.TREC_UNTAGGED if is_untagged else layout.TREC_RUN)


def _fits_msmarco(source: Input, role: Role, options: ReadOptions) -> bool:
    return _fits_width(source, role, options, *((3,) if role == "run" else (2, 3)))


def _msmarco(source: Input, role: Role, options: ReadOptions) -> TextTable:
    sample = sample_of(source)
    separator, width = sample.shape(role)
    if role == "qrels":
        return _opened(source, role, options, layout.MSMARCO_PAIRS if width == 2 else layout.MSMARCO_GRADES)
    kind = third_column(list(sample.columns(separator, 3, 0, 2)))
    if kind == "unclear":
        what = "the third column holds whole numbers that do not rise by one from 1, so it may be a rank or a score"
        raise InputError(what, source.where(), CHOOSE)
    return _opened(source, role, options, layout.MSMARCO_COUNTED if kind == "rank" else layout.MSMARCO_SCORE)


def _fits_colbert(source: Input, role: Role, options: ReadOptions) -> bool:
    if not _fits_width(source, role, options, 4):
        return False
    sample = sample_of(source)
    separator = sample.shape(role)[0]
    if not rises(sample.columns(separator, 4, 0, 2)):
        return False
    return all(parse_number(score) is not None for _, score in sample.columns(separator, 4, 0, 3))


def _only(chosen: Layout) -> Callable[[Input, Role, ReadOptions], TextTable]:
    return lambda source, role, options: _opened(source, role, options, chosen)


def _never(source: Input, role: Role, options: ReadOptions) -> bool:
    return False


FORMATS = (
    Format(
        name="trec",
        run="query Q0 document rank score tag; the tag may be missing on every line",
        qrels="query iteration document grade",
        fits=_fits_trec,
        open=_trec,
    ),
    Format(
        name="trec-loose",
        run="query Q0 document rank score tag ...; only by --run-format",
        qrels=None,
        fits=_never,
        open=_only(layout.TREC_LOOSE),
    ),
    Format(
        name="colbert",
        run="query passage rank score",
        qrels=None,
        fits=_fits_colbert,
        open=_only(layout.COLBERT),
    ),
    Format(
        name="msmarco",
        run="query document rank (rising by one from 1, or from 0), or query document score (fractions)",
        qrels="query document grade, or query document (grade 1)",
        fits=_fits_msmarco,
        open=_msmarco,
    ),
    Format(
        name="msmarco-rank",
        run="query document rank; only by --run-format",
        qrels=None,
        fits=_never,
        open=_only(layout.MSMARCO_RANK),
    ),
    Format(
        name="msmarco-score",
        run="query document score; only by --run-format",
        qrels=None,
        fits=_never,
        open=_only(layout.MSMARCO_SCORE),
    ),
)
