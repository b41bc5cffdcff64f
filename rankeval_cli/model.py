"""The records that travel through the flow: rules, judgments, rankings, scores, verdicts, the report.

This module loads neither NumPy nor Polars; both appear in annotations only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from numbers import Integral, Real
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from rankeval_cli.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from rankeval_cli.measures.spec import Metric

SCHEMA_VERSION = 1
MACRO = "macro"  # what stands among groups for the mean of their means
DEFAULT_MEASURES = ("ndcg@10", "mrr@10", "map", "recall@100", "p@10")
_SLAB = 10_000  # queries
MAX_RESAMPLES = 10_000_000  # 80 MB a measure; the noise of the ends is long below the fourth decimal
COMPARE_RESAMPLES = 10_000  # of tests; a p-value near 0.05 is then known to 0.002
GEOMETRIC_FLOOR = 1e-5  # trec_eval's MIN_GEO_MEAN: one query at 0 must not make the whole geometric mean 0

Order = Literal["score", "ascending", "rank", "file"]
Precision = Literal["double", "single"]
Ties = Literal["docid", "docid-asc", "file", "rank", "random", "expected", "best", "worst"]
Missing = Literal["zero", "skip", "error"]
NoRelevant = Literal["zero", "one", "skip", "nan", "error"]
Negative = Literal["unjudged", "nonrelevant", "drop", "mask", "error"]
Duplicates = Literal["error", "first", "best"]
QrelsDuplicates = Literal["error", "max", "mean", "first"]
Aggregate = Literal["mean", "median", "min", "max"]
IntervalMethod = Literal["auto", "t", "bootstrap", "bca", "wilson", "none"]
Direction = Literal["higher", "lower", "none"]
Family = Literal["measure", "all"]


@dataclass(frozen=True)
class Ordering:
    """The rules that order a ranking; equal for rules that give equal orders."""

    order: Order
    score_precision: Precision
    ties: Ties
    seed: int


@dataclass(frozen=True)
class Rules:
    """Every disputed rule, with its default.

    preset : name of the system whose rules these are, where the user gave no others
    The rules below it have no option; a preset sets them.
    positive_scores : a document whose score is 0 or less is not relevant
    absent_is_zero : a judged query without results has value 0 in every measure, counts and facts too
    every_undefined : `no_relevant` acts on every undefined value
    none_is_zero : the mean of no value at all is 0
    lower_median : the median of an even number of values is the lower one of the two in the middle
    list_weights : a query weighs what its relevant items weigh on average, the average query where it has none
    """

    order: Order = "score"
    score_precision: Precision = "double"
    ties: Ties = "docid"
    relevance_level: float = 1.0
    missing: Missing = "zero"
    no_relevant: NoRelevant = "zero"
    judged_only: bool = False
    negative: Negative = "unjudged"
    duplicates: Duplicates = "error"
    qrels_duplicates: QrelsDuplicates = "error"
    grade_map: Mapping[str, float] | None = None
    exclude_self: bool = False
    exclude: str | None = None
    ignore_label: float | None = None
    weights: str | None = None
    depth: int | None = None
    aggregate: Aggregate = "mean"
    ci: IntervalMethod = "auto"
    confidence: float = 0.95
    resamples: int = 1000
    seed: int = 0
    preset: str | None = None
    positive_scores: bool = False
    absent_is_zero: bool = False
    every_undefined: bool = False
    none_is_zero: bool = False
    lower_median: bool = False
    list_weights: bool = False

    def __post_init__(self) -> None:
        for name, kind in _kinds().items():
            allowed, value = get_args(kind), getattr(self, name)
            if get_origin(kind) is Literal and value not in allowed:
                raise UsageError(f"{_option(name)} is `{value}`", hint=f"choose one of {', '.join(allowed)}")
            if kind is bool and value not in (True, False):
                raise UsageError(f"{_option(name)} is `{value}`", hint="give True or False")
        for name, kind, is_legal, expected in _RANGES:
            value = getattr(self, name)
            if not (isinstance(value, kind) and is_legal(value)):
                raise UsageError(f"{_option(name)} is `{value}`", hint=f"give {expected}")
        if self.ties == "expected" and self.depth is not None:
            what = f"--ties expected cannot tell which of the tied documents --depth {self.depth} keeps"
            raise UsageError(what, hint=f"cut the measures instead (ndcg@{self.depth}), or choose another tie rule")
        if self.weights is not None and self.aggregate != "mean":
            what = f"queries have weights ({self.weights}), and --aggregate {self.aggregate} does not weigh"
            raise UsageError(what, hint="choose --aggregate mean, or leave the weights out")

    @property
    def ordering(self) -> Ordering:
        """What orders the rankings; a mean over all orders of ties (`expected`) can start from any of them."""
        ties: Ties = "docid" if self.ties == "expected" else self.ties
        return Ordering(self.order, self.score_precision, ties, self.seed if ties in ("random", "rank") else 0)

    def to_dict(self) -> dict[str, Any]:
        """The rules as the report prints them; those that only presets set where one did."""
        rules = {name: _bare(value) for name, value in asdict(replace(self, grade_map=None)).items()}
        rules = {name: value for name, value in rules.items() if name not in PRESET_RULES or value}
        rules["grade_map"] = {word: _bare(g) for word, g in self.grade_map.items()} if self.grade_map else None
        return rules


def _bare(value: Any) -> Any:
    """A NumPy number as the Python number that JSON can hold."""
    return value.item() if hasattr(value, "item") else value


PRESET_RULES = (
    "preset", "positive_scores", "absent_is_zero", "every_undefined", "none_is_zero", "lower_median", "list_weights",
)  # fmt: skip

_RANGES: tuple[tuple[str, type | tuple[type, ...], Callable[[Any], bool], str], ...] = (
    ("relevance_level", Real, lambda level: 0 <= level < math.inf, "a grade of 0 or more"),
    ("grade_map", (Mapping, NoneType), lambda grades: _are_grades(grades or {}), 'grades of words, such as {"E": 3}'),
    ("exclude", (str, NoneType), lambda path: True, "the path of a file"),
    (
        "ignore_label",
        (Real, NoneType),
        lambda label: label is None or math.isfinite(label),
        "a label, such as -100",
    ),
    ("depth", (Integral, NoneType), lambda depth: depth is None or depth >= 1, "a whole number of 1 or more"),
    ("confidence", Real, lambda share: 0 < share < 1, "a number between 0 and 1, such as 0.95"),
    ("resamples", Integral, lambda n: 1 <= n <= MAX_RESAMPLES, f"a whole number from 1 to {MAX_RESAMPLES:,}"),
    ("seed", Integral, lambda seed: seed >= 0, "a whole number of 0 or more"),
)


def _are_grades(grades: Mapping[str, Any]) -> bool:
    return all(isinstance(grade, Real) and math.isfinite(grade) for grade in grades.values())


@cache
def _kinds() -> dict[str, Any]:
    """The types of the rules; finding them takes 1 ms."""
    return get_type_hints(Rules)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@dataclass(frozen=True)
class Source:
    """What was found in one input.

    rows : judgments or results read
    format : name of the layout, such as `trec` or `csv`
    tag : the tag of a TREC run, from its last line; None where the layout has none
    has_doc_ids : whether documents have ids of their own
    """

    name: str
    path: str
    format: str
    rows: int
    tag: str | None = None
    has_doc_ids: bool = True


@dataclass(frozen=True)
class Judgments:
    """All judgments, shared by all runs.

    queries : Q query ids in ascending byte order; a query's place in it is its index
    frame : columns `query` (UInt32 index), `doc` (String), `grade` (Float64), `key` (UInt64, hash of the id pair),
        one row a judged pair, sorted by query index
    ideal_offsets, ideal : int64 (Q+1,), float64 (M,); judged grades >= 0 of each query, descending
    digest : `sha256:...` of the judgments as used
    highest : the highest grade of all judgments, where these are those of some queries alone; None else
    """

    source: Source
    queries: list[str]
    frame: pl.DataFrame
    ideal_offsets: NDArray[np.int64]
    ideal: NDArray[np.float64]
    digest: str
    warnings: tuple[str, ...] = ()
    highest: float | None = None

    @property
    def max_grade(self) -> float:
        """The highest grade in the whole qrels; 0.0 when no grade is positive."""
        if self.highest is not None:
            return self.highest
        return float(self.ideal.max()) if len(self.ideal) else 0.0


@dataclass(frozen=True)
class Ranked:
    """One block of whole queries: Q queries, N rows in rank order, M judged documents.

    query : int64 (Q,)              index into the judged queries
    offsets : int64 (Q+1,)          query q owns rows offsets[q]:offsets[q+1]; an unanswered query owns none
    grade : float64 (N,)            grade in rank order; -1 wherever status < 2
    status : uint8 (N,)             0 not in the pool, 1 in the pool but unjudged (negative grade), 2 judged
    score : float64 (N,)            the score that ordered the rows, falling
    ideal_offsets, ideal            int64 (Q+1,), float64 (M,): judged grades >= 0 of each query, descending
    weight, ideal_weight : float64 (N,), (M,): weights of the items; None where they weigh alike
    """

    query: NDArray[np.int64]
    offsets: NDArray[np.int64]
    grade: NDArray[np.float64]
    status: NDArray[np.uint8]
    score: NDArray[np.float64]
    ideal_offsets: NDArray[np.int64]
    ideal: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None
    ideal_weight: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Scores:
    """Per-query values of every measure.

    queries : Q ids in ascending byte order (queries taken out by `--missing skip` are not among them)
    values : float64 (measures, Q), NaN where undefined or skipped
    undefined : how many values of each measure are undefined for a reason that no policy took care of
    propagate : True for a measure whose mean is undefined because one value is (`--no-relevant nan`)
    weights : float64 (Q,), or (measures, Q) where each measure has its own, 0 or more; None where queries count alike
    shares : float64 (measures, Q) under `list_weights`: what the items that are relevant for the measure weigh on
        average, NaN where a query has none
    """

    queries: list[str]
    metrics: tuple[Metric, ...]
    values: NDArray[np.float64]
    undefined: tuple[int, ...]
    propagate: tuple[bool, ...]
    weights: NDArray[np.float64] | None = None
    shares: NDArray[np.float64] | None = None

    def weights_of(self, place: int) -> NDArray[np.float64] | None:
        """(Q,) the weights of the queries for one measure; None where queries count alike."""
        if self.weights is None or self.weights.ndim == 1:
            return self.weights
        row: NDArray[np.float64] = self.weights[place]
        return row


@dataclass(frozen=True)
class Interval:
    """A confidence interval, or the reason why there is none (`note`; low and high are then None)."""

    low: float | None
    high: float | None
    method: str | None
    note: str | None = None


@dataclass(frozen=True)
class Result:
    """One measure of one run. value, ci_low, ci_high and std are None where undefined.

    rules : those for this measure alone, where they are not the report's
    """

    measure: str
    canonical: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    ci_method: str | None
    ci_note: str | None
    std: float | None
    queries: int
    undefined: int
    rules: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of one measure, without the name, which is its key; without `rules` where there are none."""
        values = asdict(self)
        del values["measure"]
        return values if self.rules else {name: value for name, value in values.items() if name != "rules"}


@dataclass(frozen=True)
class TieResult:
    """How far one measure of one run depends on the order of tied documents.

    value : under the rule in force
    expected : the mean over all orders; None where no closed form is known, or --depth cuts through ties
    worst, best : with the lowest, or the highest, grades first; where `direction` is lower, worst is the larger one
    queries : those of which two of these values differ
    is_bound : no order has a value outside of worst and best
    All values are None where undefined.
    """

    measure: str
    canonical: str
    value: float | None
    expected: float | None
    worst: float | None
    best: float | None
    queries: int
    is_bound: bool

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of one measure, without the name, which is its key."""
        values = asdict(self)
        del values["measure"]
        return values


@dataclass(frozen=True)
class Coverage:
    """What was judged, answered, repeated and tied in one run; counts, but `judged_at_k`, a share in [0, 1] or None.

    k : the largest cutoff asked for, else 10
    judged_at_k : mean share of judged documents in the top min(k, n), over the answered queries
    tied_at_k : rows of equal score that straddle rank k, over all queries
    duplicates : rows that repeat a document of their query
    self_hits : rows whose document id is the query id
    """

    judged: int
    answered: int
    missing: int
    unjudged: int
    no_relevant: int
    k: int
    judged_at_k: float | None
    tied_at_k: int
    duplicates: int
    self_hits: int


@dataclass(frozen=True)
class Significance:
    """How the rules among the gates test.

    alpha : between 0 and 0.5; the chance of a false alarm (of a false all-clear, where a rule must be shown)
    correction : `none`, or the name of a correction for the number of tests: all rules, for all runs
    """

    alpha: float = 0.05
    correction: str = "none"

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, Real) and 0.0 < self.alpha < 0.5):
            raise UsageError(f"--alpha is `{self.alpha}`", hint="give a number between 0 and 0.5, such as 0.05")


@dataclass(frozen=True)
class Verdict:
    """The decision on one gate for one run.

    value, bound : shares are 0-1, also where the gate was written in percent. Of a rule the mean difference from the
        baseline (run - baseline), and the margin as such a difference
    distance : how far the value lies on the passing side: value - bound for `>=` and `>`, bound - value for `<=` and
        `<`, -|value - bound| for `==`; unrounded, so within the tolerance of 1e-9 a gate passes below 0. Of a rule that
        must be shown, how far `limit` does. None where the gate cannot be evaluated
    reason : why it failed when no number says so (undefined, no query, inconclusive), that the bound is out of the
        measure's range, or why a rule holds though its value lies beyond the bound; None otherwise
    warn : a failure is only told, never an exit code
    unit : how text shows value, bound and distance; a count is one of queries
    The rest is of rules alone:
    alpha : the level of their tests
    p_value : one-sided, corrected for the other rules where that was asked for; None where there is no test
    limit : of a rule that must be shown, what the difference certainly reaches
    noticeable : how far beyond the bound a difference must lie to be noticed with a probability of 0.8; 0 or more
    """

    gate: str
    run: str
    passed: bool
    value: float | None
    bound: float | None
    distance: float | None
    queries: int
    warn: bool = False
    reason: str | None = None
    unit: Literal["number", "percent", "count"] = "number"
    alpha: float | None = None
    p_value: float | None = None
    limit: float | None = None
    noticeable: float | None = None


@dataclass(frozen=True)
class Comparison:
    """One measure of a run and its base, over the queries that have a value in both.

    base, run : names of the runs
    base_value, value : their means over these queries, of counts too; weighted where queries have weights
    diff : value - base_value; relative : diff / |base_value|, None where that is 0
    ci_low, ci_high, ci_method, ci_note : the interval of diff, or why there is none
    p_value : two-sided; None where the test has no answer, which `note` explains
    p_adjusted : corrected for the other comparisons of its family; significant : whether it is at most `alpha`
    better : whether diff is an improvement; None where there is no difference, where neither direction of the measure
        is better, and where a test of ranks or signs says the opposite of the mean
    effect : diff / standard deviation of the differences; None without spread
    wins, ties, losses : queries where the run is better, equal to within 1e-9, worse; higher is better here where the
        measure has no direction
    undefined : queries left out, because a run has no value or the query no weight
    resamples : those behind the p-value; None where it is exact or in closed form
    correction : the name of the test where that allows for all pairs of runs itself
    family : `measure` when p-values are corrected over the pairs of a measure, `all` over those of all measures
    """

    base: str
    run: str
    measure: str
    canonical: str
    direction: Direction
    base_value: float | None
    value: float | None
    diff: float | None
    relative: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_adjusted: float | None
    significant: bool
    better: bool | None
    effect: float | None
    wins: int
    ties: int
    losses: int
    queries: int
    undefined: int
    test: str
    correction: str
    family: Family
    alpha: float
    resamples: int | None
    ci_method: str | None
    ci_note: str | None
    note: str | None


@dataclass(frozen=True)
class Anova:
    """The analysis of variance of one measure over all runs, query plus run, over the queries that all have a value in.

    f, p_value : of the hypothesis that all runs have the same mean; None where there is none, as `note` says
    runs_df, error_df : degrees of freedom of the runs and of the residuals
    error : mean square of the residuals
    """

    measure: str
    canonical: str
    f: float | None
    p_value: float | None
    runs_df: int
    error_df: int
    error: float | None
    queries: int
    note: str | None


@dataclass(frozen=True)
class GroupReport:
    """The results of one group of queries, or, under the name MACRO, the means of the groups' means.

    queries : those that are in it and are scored
    results : one entry a measure, as in `RunReport`
    """

    name: str
    queries: int
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Subset:
    """The queries that an evaluation is about, where these are not all judged ones.

    name : the list of their ids
    asked, judged : how many it names, and how many of them are judged
    """

    name: str
    asked: int
    judged: int


@dataclass(frozen=True)
class RunReport:
    """Everything about one run.

    results : one entry a measure, in the order asked for
    ties : the same for the tie report; () when it was not asked for
    groups : the groups in ascending byte order of their names, MACRO last; () when none were asked for
    """

    source: Source
    coverage: Coverage
    results: tuple[Result, ...]
    scores: Scores
    ties: tuple[TieResult, ...] = ()
    groups: tuple[GroupReport, ...] = ()

    @property
    def name(self) -> str:
        """The file's name, lengthened by folders until it is unique."""
        return self.source.name


@dataclass(frozen=True)
class Report:
    """All that one evaluation shows; reporters render it and the exit code comes from it.

    comparisons : by measure, then by pair of runs
    config : path of the file that options were taken from; None where there was none
    baseline : what gates compare with, scored here or written earlier; no gate applies to it
    subset : the queries that all of this is about; None for all judged ones
    groups : the file or column that groups the queries; None where nothing does
    anova : one entry a measure where more than two runs are compared
    """

    version: str
    rules: Rules
    qrels: Source
    digest: str
    judged_queries: int
    runs: tuple[RunReport, ...]
    gates: tuple[Verdict, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    warnings: tuple[str, ...] = ()
    config: str | None = None
    anova: tuple[Anova, ...] = ()
    baseline: RunReport | None = None
    subset: Subset | None = None
    groups: str | None = None

    def __repr__(self) -> str:
        """A line a run with its means and one a comparison, for notebooks; fields hold the values of every query."""
        lines = [f"Report: judged queries {self.judged_queries:,}, warnings {len(self.warnings)}"]
        for run in self.runs:
            means = (f"{found.measure} {'-' if found.value is None else f'{found.value:.4f}'}" for found in run.results)
            lines.append(f"  {run.name!r}: {', '.join(means)}")
        for found in self.comparisons:
            diff, p_value = ("-" if x is None else f"{x:.4g}" for x in (found.diff, found.p_adjusted))
            lines.append(f"  {found.run!r} against {found.base!r}: {found.measure} {diff} (p {p_value})")
        return "\n".join(lines)

    def __getitem__(self, measure: str) -> float:
        """Mean of one measure of the only (or first) run; NaN when undefined.

        measure : as it was asked for (`ndcg@10`), or its canonical name (`rr@10` for `mrr@10`)
        Raises KeyError when the measure was not asked for.
        """
        for result in self.runs[0].results:
            if measure in (result.measure, result.canonical):
                return math.nan if result.value is None else result.value
        asked = ", ".join(result.measure for result in self.runs[0].results)
        raise KeyError(f"{measure!r} was not asked for; this report has {asked}")

    @property
    def per_query(self) -> pl.DataFrame:
        """One row a run and query: `run`, `query`, then a Float64 column a measure (null where undefined)."""
        import polars as pl

        frames = []
        for run in self.runs:
            columns: dict[str, Any] = {"run": [run.name] * len(run.scores.queries), "query": run.scores.queries}
            for metric, values in zip(run.scores.metrics, run.scores.values, strict=True):
                columns[metric.written] = pl.Series(values, dtype=pl.Float64).fill_nan(None)
            frames.append(pl.DataFrame(columns, schema_overrides={"run": pl.String, "query": pl.String}))
        return pl.concat(frames)

    def to_dict(self, per_query: bool = False) -> dict[str, Any]:
        """The JSON document as Python objects; `per_query` adds the values of each query."""
        qrels = {"path": self.qrels.path, "format": self.qrels.format, "rows": self.qrels.rows}
        return {
            "schema_version": SCHEMA_VERSION,
            "rankeval": self.version,
            "config": self.config,
            "subset": None if self.subset is None else asdict(self.subset),
            "groups": self.groups,
            "rules": self.rules.to_dict(),
            "qrels": {**qrels, "queries": self.judged_queries, "digest": self.digest},
            "runs": [_run_dict(run, per_query) for run in self.runs],
            "baseline": None if self.baseline is None else _baseline_dict(self.baseline),
            "comparisons": [asdict(comparison) for comparison in self.comparisons],
            "anova": [asdict(anova) for anova in self.anova],
            "gates": [asdict(verdict) for verdict in self.gates],
            "warnings": list(self.warnings),
        }


def _baseline_dict(run: RunReport) -> dict[str, Any]:
    measures = {result.measure: result.to_dict() for result in run.results}
    return {"name": run.name, "path": run.source.path, "format": run.source.format, "measures": measures}


def _group_dict(group: GroupReport) -> dict[str, Any]:
    return {"queries": group.queries, "measures": {result.measure: result.to_dict() for result in group.results}}


def _run_dict(run: RunReport, per_query: bool) -> dict[str, Any]:
    source = run.source
    entry: dict[str, Any] = {"name": run.name, "path": source.path, "tag": source.tag, "format": source.format}
    entry["coverage"] = asdict(run.coverage)
    entry["measures"] = {result.measure: result.to_dict() for result in run.results}
    if run.ties:
        entry["ties"] = {result.measure: result.to_dict() for result in run.ties}
    if run.groups:
        entry["groups"] = {group.name: _group_dict(group) for group in run.groups}
    if per_query:
        entry["per_query"] = {
            query: {name: None if value != value else value for name, value in values.items()}
            for query, values in query_values(run.scores)
        }
        if run.scores.weights is not None:
            entry["weights"] = dict(query_weights(run.scores))
    return entry


def query_values(scores: Scores) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield (query id, {measure as written: value, NaN where undefined}) in ascending byte order of the ids."""
    return _by_query(scores, scores.values)


def query_weights(scores: Scores) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield (query id, {measure as written: weight}) as `query_values` does; nothing where queries count alike."""
    if scores.weights is None:
        return
    rows = [scores.weights_of(place) for place in range(len(scores.metrics))]
    yield from _by_query(scores, rows)


def _by_query(scores: Scores, rows: Any) -> Iterator[tuple[str, dict[str, float]]]:
    names = [metric.written for metric in scores.metrics]
    for start in range(0, len(scores.queries), _SLAB):  # Python numbers take four times the room of the matrix
        slab = slice(start, start + _SLAB)
        columns = zip(*(row[slab].tolist() for row in rows), strict=True)
        for query, column in zip(scores.queries[slab], columns, strict=True):
            yield query, dict(zip(names, column, strict=True))
