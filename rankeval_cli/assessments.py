"""Judgments that are no single grade of each document: those of several groups of assessors, and preferences.

Both go through the flow of ordinary judgments. Groups become layers of `Judgments`, the run is scored against each, and
the values of a query are averaged. For preferences the grade of a document is its number within the query, so that the
aligned ranking says which documents stand where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from rankeval_cli.errors import InputError
from rankeval_cli.judgments import load_judgments
from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import Judgments, Ranked, Rules, Scores
from rankeval_cli.passes import score_run
from rankeval_cli.preferences import JudgedGroup, PreferenceCounts, contradiction, count
from rankeval_cli.readers import Input, open_input
from rankeval_cli.readers.layout import PREFS, QRELS_JG, QRELS_PREFS, Layout, Plan, split
from rankeval_cli.readers.text import TextTable

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from rankeval_cli.align import Aligner
    from rankeval_cli.coverage import Facts
    from rankeval_cli.readers.format import Progress, Table

PREFERENCE_LAYOUTS = {layout.format: layout for layout in (PREFS, QRELS_PREFS)}
SHOWN_PLACES = 4

MakeAligner = Callable[[Judgments, Rules], "Aligner"]
Check = Callable[["Facts"], None]


class Contradiction(InputError):
    """Preferences that cannot all hold: two documents each better than the other, or one document of two levels."""


@dataclass(frozen=True)
class GroupedJudgments:
    """Judgments by groups. layers : the i-th holds the i-th group of every query that has so many; byte order of ids"""

    layers: tuple[Judgments, ...]


@dataclass(frozen=True)
class Preferences:
    """Preference judgments of Q queries.

    judgments : as for any run, but the grade of a document is its place in the byte order of the query's ids
    groups : for each query its groups in byte order of their ids
    """

    judgments: Judgments
    groups: tuple[tuple[JudgedGroup, ...], ...]


def load_groups(source: str | Input | AssessmentTable) -> GroupedJudgments:
    """Read judgments `query group document grade` (trec_eval's qrels_jg).

    source : a path, what `open_input` made of it, or a table of that layout
    Raises InputError naming the line that is malformed, and for a document that stands twice in a group.
    """
    import polars as pl

    table = _open(source, QRELS_JG)
    frame = _read(table)
    repeated = frame.filter(pl.struct("query", "group", "doc").is_duplicated())
    if repeated.height:
        wanted = dict(zip(("query", "group", "doc"), repeated.select("query", "group", "doc").row(0), strict=True))
        what = "document `{doc}` of query `{query}` is judged more than once in group `{group}`".format(**wanted)
        raise InputError(what, table.places(wanted), "leave one judgment of each document in a group")
    numbered = frame.with_columns(layer=pl.col("group").rank("dense").over("query") - 1)
    layers = numbered.partition_by("layer", as_dict=True)
    return GroupedJudgments(tuple(_judgments(layers[place,], table) for place in range(len(layers))))


def load_preferences(source: str | Input | AssessmentTable, format: str) -> Preferences:
    """Read preferences: `prefs` (query, group, subgroup, document, level) or `qrels_prefs` (without subgroup).

    Levels are numbers, the higher is preferred; those of different subgroups are not compared.
    source : as for `load_groups`
    Raises InputError naming the line that is malformed, and Contradiction for a document with two levels in a subgroup
    and for subgroups of a group that contradict each other.
    """
    import polars as pl

    table = _open(source, PREFERENCE_LAYOUTS[format])
    frame = _without_repeats(_read(table), table)
    docs = frame.select("query", "doc").unique().sort("query", "doc")
    docs = docs.with_columns(grade=pl.int_range(pl.len()).over("query").cast(pl.Float64))
    judgments = _judgments(docs, table)
    numbered = frame.join(docs.rename({"grade": "place"}), on=["query", "doc"])
    parts = numbered.partition_by("query", as_dict=True)
    groups = tuple(tuple(_groups(parts[query,], table)) for query in judgments.queries)
    return Preferences(judgments, groups)


def score_groups(
    table: Table,
    judged: GroupedJudgments,
    metrics: tuple[Metric, ...],
    rules: Rules,
    make_aligner: MakeAligner,
    check: Check,
) -> tuple[Facts, Scores]:
    """Score a run: each value is the mean of the metric over the groups of the query.

    The run is read once for each layer. check : raises what is wrong with the run as a whole; `score_run` has the rest.
    """
    import numpy as np

    facts, scores = _layer(table, judged.layers[0], metrics, rules, make_aligner, check)
    total, num_groups = scores.values.copy(), np.ones(len(scores.queries))
    place = {query: i for i, query in enumerate(scores.queries)}
    for judgments in judged.layers[1:]:
        _, more = _layer(table, judgments, metrics, rules, make_aligner, lambda facts: None)
        columns = [place[query] for query in more.queries]
        total[:, columns] += more.values
        num_groups[columns] += 1
    return facts, replace(scores, values=total / num_groups)


def score_preferences(
    table: Table,
    judged: Preferences,
    metrics: tuple[Metric, ...],
    rules: Rules,
    make_aligner: MakeAligner,
    check: Check,
) -> tuple[Facts, Scores]:
    """Score a run by preference measures. Ties are broken by ascending document id, as trec_eval does it here alone."""
    import numpy as np

    rules = replace(rules, ties="docid-asc")
    values = np.full((len(metrics), len(judged.groups)), np.nan)

    def watch(ranked: Ranked) -> None:
        for query, places, num_retrieved in _places(ranked):
            counts = count(judged.groups[query], places, num_retrieved)
            values[:, query] = [_value(metric, counts) for metric in metrics]

    judgments = judged.judgments
    facts, scores = score_run(table, judgments, (), rules, lambda: make_aligner(judgments, rules), check, watch)
    kept = facts.answered if rules.missing == "skip" else np.ones(len(facts.answered), np.bool_)
    shown = replace(scores, values=values[:, kept], undefined=(0,) * len(metrics), propagate=(False,) * len(metrics))
    return facts, replace(shown, metrics=metrics)


def _layer(
    table: Table,
    judgments: Judgments,
    metrics: tuple[Metric, ...],
    rules: Rules,
    make_aligner: MakeAligner,
    check: Check,
) -> tuple[Facts, Scores]:
    return score_run(table, judgments, metrics, rules, lambda: make_aligner(judgments, rules), check)


def _value(metric: Metric, counts: PreferenceCounts) -> float:
    return metric.measure.kernel(counts, metric.k, 0.0, metric.measure.encode(metric))


def _places(ranked: Ranked) -> Iterator[tuple[int, NDArray[np.int64], int]]:
    """Each query of a block: its index, the place of each of its documents (see `count`), how many are retrieved."""
    import numpy as np

    num_docs = np.diff(ranked.ideal_offsets).tolist()
    bounds = zip(ranked.offsets[:-1].tolist(), ranked.offsets[1:].tolist(), strict=True)
    for query, size, (start, stop) in zip(ranked.query.tolist(), num_docs, bounds, strict=True):
        found = ranked.grade[start:stop][ranked.status[start:stop] == 2].astype(np.int64)
        order = np.concatenate((found, np.setdiff1d(np.arange(size), found)))
        place = np.empty(size, np.int64)
        place[order] = np.arange(size)
        yield query, place, len(found)


class AssessmentTable(TextTable):
    """A table of assessments, which can say where a line with certain fields stands."""

    def places(self, wanted: Mapping[str, str]) -> str:
        """`path:line` of the first lines whose fields are these; reads the input again."""
        found = []
        for chunk in self._source.chunks():
            for number, line in enumerate(chunk.data.split(b"\n"), chunk.first_line):
                texts = [text.decode(errors="replace") for text in split(line, self._plan.separator)]
                fields = dict(zip(self._plan.layout.columns, texts, strict=False))
                if not line.startswith(b"#") and all(fields.get(name) == text for name, text in wanted.items()):
                    found.append(f"{chunk.path}:{number}")
        return ", ".join(found[:SHOWN_PLACES]) or self.path


@dataclass
class _Frame:
    """Rows in memory as a `Table`."""

    frame: pl.DataFrame
    path: str
    format: str
    has_rank: bool = False
    has_doc_ids: bool = True
    size_bytes: int | None = None
    tag: str | None = None
    warnings: list[str] = field(default_factory=list)

    def frames(self, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows, at once."""
        yield self.frame

    def locate(self, query: str, doc: str) -> list[str]:
        """Nothing is known of places."""
        return []


def _open(source: str | Input | AssessmentTable, layout: Layout) -> AssessmentTable:
    if isinstance(source, AssessmentTable):
        return source
    return AssessmentTable(source if isinstance(source, Input) else open_input(source), Plan(layout, None))


def _read(table: AssessmentTable) -> pl.DataFrame:
    import polars as pl

    frames = list(table.frames())
    if not frames:
        raise InputError("is empty: no judgments", table.path, "check that the file was written whole")
    return pl.concat(frames)


def _judgments(frame: pl.DataFrame, table: AssessmentTable) -> Judgments:
    rows = _Frame(frame.select("query", "doc", "grade"), table.path, table.format, warnings=table.warnings)
    return load_judgments(rows, Rules(), PurePath(table.path).name)


def _without_repeats(frame: pl.DataFrame, table: AssessmentTable) -> pl.DataFrame:
    """The frame with each level once; `subgroup` is added where the layout has none."""
    import polars as pl

    if "subgroup" not in frame.columns:
        frame = frame.with_columns(subgroup=pl.lit(""))
    key = ["query", "group", "subgroup", "doc"]
    levels = frame.unique([*key, "grade"], maintain_order=True)
    torn = levels.filter(pl.struct(key).is_duplicated())
    if torn.height:
        wanted = dict(zip(key, torn.select(key).row(0), strict=True))
        inside = f"subgroup `{wanted['subgroup']}` of group" if table.format == PREFS.format else "group"
        what = f"document `{wanted['doc']}` of query `{wanted['query']}` has two levels in {inside} `{wanted['group']}`"
        places = table.places({name: text for name, text in wanted.items() if text})
        raise Contradiction(what, places, "leave one level of it there")
    if repeated := frame.height - levels.height:
        table.warnings.append(f"{repeated:,} repeated level{'s' if repeated != 1 else ''}: each counts once")
    return levels


def _groups(frame: pl.DataFrame, table: AssessmentTable) -> Iterator[JudgedGroup]:
    """The groups of one query, whose rows these are."""
    parts = frame.sort("group", "subgroup", "place").partition_by("group", maintain_order=True)
    for part in parts:
        group = _group(part)
        pair = contradiction(group) if len(group.levels) > 1 else None
        if pair is not None:
            raise _contradiction(part, group, pair, table)
        yield group


def _group(part: pl.DataFrame) -> JudgedGroup:
    import numpy as np

    docs, column = np.unique(part["place"].to_numpy().astype(np.int64), return_inverse=True)
    _, row = np.unique(part["subgroup"].to_numpy(), return_inverse=True)
    levels = np.full((int(row.max()) + 1, len(docs)), np.nan)
    levels[row, column] = part["grade"].to_numpy()
    return JudgedGroup(docs, levels)


def _contradiction(
    part: pl.DataFrame, group: JudgedGroup, pair: tuple[int, int], table: AssessmentTable
) -> Contradiction:
    import polars as pl

    query, name = part.select("query", "group").row(0)
    first, second = (part.filter(pl.col("place") == float(group.docs[i]))["doc"][0] for i in pair)
    inside = f"group `{name}` of query `{query}`"
    if first == second:
        what = f"document `{first}` has level 0 in one subgroup and a higher one in another, in {inside}"
    else:
        what = f"the subgroups of {inside} prefer document `{first}` to `{second}` and `{second}` to `{first}`"
    places = table.places({"query": query, "group": name, "doc": first})
    return Contradiction(what, places, "put judgments that contradict each other into different groups")
