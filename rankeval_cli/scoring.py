"""The one driver: every kernel over the queries of a block, plain or compiled. The only file that knows Numba.

The plain loop needs no Numba (0.2 s to import) and serves small inputs; once kernels have used `COMPILE_AFTER_S`, or
will have by the end of the run, those that take long are compiled, and go on compiled. Both loops give the same bits.
RANKEVAL_JIT=on|off forces either.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rankeval_cli.align import judged_only
from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.measures.spec import GainMap, Kernel, Measure, Metric, Ranking, TiedRanking
from rankeval_cli.model import Judgments, Ranked, Rules, Scores
from rankeval_cli.sorting import borders, falling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COMPILE_AFTER_S = 0.4  # what the plain loop may cost before compiling (0.2 s import, 0.1 s driver) pays for itself
KERNEL_AFTER_S = 0.05  # what one kernel may cost before it is compiled: 0.08 s, or 0.003 s where the disk cache has it
# Which part of the time kernels must take so that compiling them may shorten it: scoring runs beside reading and
# aligning, which are what takes long in text (MRR, nDCG and AP: 0.17), and Numba holds 140 MB.
BUSY_SHARE = 0.25


class Scorer:
    """Scores the blocks of one run into one matrix, measures x judged queries.

    share : which part of the run has been read, by which the loop is chosen
    """

    def __init__(
        self,
        metrics: Sequence[Metric],
        judgments: Judgments,
        rules: Rules,
        share: Callable[[], float] = lambda: 1.0,
    ) -> None:
        self.share = share
        self.metrics, self.judgments, self.rules = tuple(metrics), judgments, rules
        self.width = len(judgments.queries)  # columns in use
        shape = (len(self.metrics), self.width)
        self.values = np.full(shape, np.nan)
        self.by_policy = np.zeros(shape, np.bool_)  # --no-relevant decided
        self.shares = np.full(shape if rules.list_weights else (0, 0), np.nan)
        self.discounts: dict[Hashable, Floats] = {}
        self.gains = [self._gain_map(metric) for metric in self.metrics]
        self.spent_s: dict[Kernel, float] = {}
        self.compiled: set[Kernel] = set()
        self.started = time.perf_counter()

    def add(self, ranked: Ranked) -> None:
        """Score one block."""
        self._make_room(ranked)
        if self.rules.positive_scores:
            ranked = replace(ranked, grade=np.where(ranked.score > 0.0, ranked.grade, -1.0))
        views = _Views(ranked, self.rules.judged_only)
        for row, metric in enumerate(self.metrics):
            view = views.get(metric.judged_only, self.gains[row], metric)
            level = self.level(metric)
            num_rel = views.num_relevant(level)
            values = self._values(metric, view, num_rel, level)
            if self.rules.list_weights:
                shares = self.shares[row, ranked.query] = _shares(ranked, self.gains[row], level)
                if metric.measure.per_share:
                    values = np.divide(values, shares, out=values, where=shares > 0.0)
            empty = _nothing_to_find(metric.measure, view, num_rel)
            self._apply_policy(row, ranked.query, values, empty)

    def finish(self, answered: NDArray[np.bool_]) -> Scores:
        """All values; `--missing skip` takes the unanswered queries out. answered : bool (judged queries,)"""
        kept = np.flatnonzero(answered) if self.rules.missing == "skip" else np.arange(len(answered))
        values, by_policy = self.values.take(kept, axis=1), self.by_policy.take(kept, axis=1)
        if self.rules.absent_is_zero:
            values[:, ~answered[kept]] = 0.0
        nan_policy = self.rules.no_relevant == "nan"
        undefined = np.isnan(values) & (~by_policy | nan_policy)
        queries = self.judgments.queries
        return Scores(
            list(queries) if len(kept) == len(queries) else [queries[i] for i in kept.tolist()],
            self.metrics,
            values,
            tuple(np.count_nonzero(undefined, axis=1).tolist()),
            tuple(nan_policy and bool(row.any()) for row in by_policy),
            shares=self.shares.take(kept, axis=1) if self.rules.list_weights else None,
        )

    def _make_room(self, ranked: Ranked) -> None:
        """Widen the matrices for queries that were not known before (judgments that come with the run)."""
        need = int(ranked.query.max(initial=-1)) + 1
        if need > self.width:
            self.values = _widened(self.values, self.width, need, np.nan)
            self.by_policy = _widened(self.by_policy, self.width, need, False)
            if self.rules.list_weights:
                self.shares = _widened(self.shares, self.width, need, np.nan)
            self.width = need

    def level(self, metric: Metric) -> float:
        """The grade from which a document is relevant for this metric."""
        return self.rules.relevance_level if metric.level is None else metric.level

    def _gain_map(self, metric: Metric) -> GainMap | None:
        """The metric's gain map; an explicit `(rel=)` gives lower grades gain 0."""
        if metric.measure.gain is None:
            return None
        gains = metric.measure.gain(metric, self.judgments.max_grade)
        if metric.level is None:
            return gains
        level, of = metric.level, gains.of
        return GainMap((gains.key, "rel", level), lambda grade: of(grade) if grade >= level else 0.0)

    def _apply_policy(self, row: int, query: NDArray[np.int64], values: Floats, empty: NDArray[np.bool_]) -> None:
        policy = self.rules.no_relevant
        if self.rules.every_undefined:
            empty = empty | np.isnan(values)
        if policy == "error" and empty.any():
            name = self.judgments.queries[query[empty].min()]
            raise InputError(
                f"query `{name}` is judged with nothing relevant for `{self.metrics[row].written}`",
                self.judgments.source.path,
                "choose --no-relevant zero, one, skip or nan",
            )
        lowest = 0.0 if self.rules.every_undefined else self.metrics[row].measure.bounds[0]
        nothing = max(0.0, lowest)  # above 0 where a geometric mean has a floor
        values[empty] = {"zero": nothing, "one": 1.0}.get(policy, np.nan)
        self.values[row, query] = values
        self.by_policy[row, query] = empty

    def _values(self, metric: Metric, view: _View, num_rel: NDArray[np.int64], level: float) -> Floats:
        job = _Job(*self._kernel(metric), metric.k, level, np.array(metric.measure.encode(metric), dtype=np.float64))
        discount = self._discount(metric, view)
        stops = view.stops(job.kernel is not metric.measure.kernel or _needs_tail(metric, level))
        started = time.thread_time()
        loop = _compiled_loop if self._is_compiled(metric.measure, job.kernel) else _plain_loop
        values = loop(job, view, stops, discount, num_rel)
        self.spent_s[job.kernel] = self.spent_s.get(job.kernel, 0.0) + time.thread_time() - started
        return values

    def _kernel(self, metric: Metric) -> tuple[Kernel, bool]:
        """The kernel that the tie rule gives the metric, and whether it takes scores."""
        measure, kernel = metric.measure, metric.measure.kernel
        if self.rules.ties == "expected" and metric.expected is not kernel:
            assert metric.expected is not None, f"{metric.canonical} is refused before data are read"
            return metric.expected, True
        return kernel, measure.uses_score

    def _is_compiled(self, measure: Measure, kernel: Kernel) -> bool:
        mode = os.environ.get("RANKEVAL_JIT", "auto")
        if mode not in ("auto", "on", "off"):
            raise UsageError(f"RANKEVAL_JIT is `{mode}`", hint="set it to auto, on or off, or unset it")
        if measure.plain_only or mode != "auto":
            return mode == "on" and not measure.plain_only
        share, spent_s = self.share(), sum(self.spent_s.values())
        is_long = spent_s / share > COMPILE_AFTER_S and spent_s > BUSY_SHARE * (time.perf_counter() - self.started)
        if is_long and self.spent_s.get(kernel, 0.0) / share > KERNEL_AFTER_S:
            self.compiled.add(kernel)  # and stays so, though it takes little time from now on
        return kernel in self.compiled

    def _discount(self, metric: Metric, view: _View) -> Floats:
        """The measure's discount column, long enough for this block; grown as blocks need it."""
        if metric.measure.discount is None:
            return np.empty(0)
        discount = metric.measure.discount(metric)
        have = self.discounts.get(discount.key, np.empty(0))
        need = min(view.longest, metric.k)
        if len(have) < need:
            more = [discount.of(rank) for rank in range(len(have) + 1, max(need, 2 * len(have)) + 1)]
            have = np.concatenate((have, np.array(more)))
            self.discounts[discount.key] = have
        return have


def _widened(matrix: NDArray[Any], have: int, need: int, value: float) -> NDArray[Any]:
    """The matrix with `value` in the columns from `have` to `need`; it doubles, and takes up memory as it is filled."""
    if need > matrix.shape[1]:
        old, matrix = matrix, np.empty((len(matrix), 2 * need), matrix.dtype)
        matrix[:, :have] = old[:, :have]
    matrix[:, have:need] = value
    return matrix


@dataclass(frozen=True)
class _View:
    """The arrays that a metric's kernel sees: grades or gains, of all or of judged documents.

    short : int64 (Q,), for each query the row behind its last document of the pool
    """

    ranked: Ranked
    grade: Floats
    ideal: Floats
    short: NDArray[np.int64]

    def stops(self, needs_tail: bool) -> NDArray[np.int64]:
        """(Q,) for each query the row behind the last one that its kernel sees."""
        return self.ranked.offsets[1:] if needs_tail else self.short

    @property
    def longest(self) -> int:
        """The longest ranking or list of judged documents of the block."""
        lists = (self.ranked.offsets, self.ranked.ideal_offsets)
        return max((int(np.diff(offsets).max()) for offsets in lists if len(offsets) > 1), default=0)


@dataclass
class _Views:
    """The views of one block, each built once."""

    base: Ranked
    always_judged: bool
    views: dict[Hashable, _View] = field(default_factory=dict)
    counts: dict[float, NDArray[np.int64]] = field(default_factory=dict)

    def num_relevant(self, level: float) -> NDArray[np.int64]:
        """(Q,) how many judged documents of each query have at least this grade."""
        if level not in self.counts:
            self.counts[level] = _count_at_least(self.base.ideal_offsets, self.base.ideal, level)
        return self.counts[level]

    def get(self, is_judged: bool, gains: GainMap | None, metric: Metric) -> _View:
        narrowed = is_judged or self.always_judged
        key = (narrowed, None if gains is None else gains.key)
        if key not in self.views:
            self.views[key] = self._build(narrowed, gains, metric)
        return self.views[key]

    def _build(self, narrowed: bool, gains: GainMap | None, metric: Metric) -> _View:
        if gains is None:
            ranked = judged_only(self.base) if narrowed else self.base
            return _View(ranked, ranked.grade, ranked.ideal, _short(ranked))
        view = self.get(narrowed, None, metric)
        plain = view.ranked
        has_tail, is_judged = any(gains.unjudged), plain.status == 2
        if is_judged.all():
            grade = _mapped(plain.grade, gains)
        else:
            judged = np.flatnonzero(is_judged)  # few of many rows, mostly
            grade = np.array((*gains.unjudged, 0.0))[plain.status] if has_tail else np.zeros(len(plain.grade))
            grade[judged] = _mapped(plain.grade[judged], gains)
        ideal = _mapped(plain.ideal, gains)
        if plain.weight is not None and plain.ideal_weight is not None:
            grade, ideal = grade * plain.weight, ideal * plain.ideal_weight
        rises = ideal[1:] > ideal[:-1]
        rises[borders(plain.ideal_offsets)] = False
        if rises.any():  # the map does not keep the order of grades
            ideal = falling(ideal, plain.ideal_offsets)
        return _View(plain, grade, ideal, plain.offsets[1:] if has_tail else view.short)


def _short(ranked: Ranked) -> NDArray[np.int64]:
    """(Q,) the row behind each query's last document of the pool; its first row when it has none."""
    start, stop = ranked.offsets[:-1], ranked.offsets[1:]
    if ranked.status.all():
        return stop
    pool = np.flatnonzero(ranked.status)
    last = np.searchsorted(pool, stop) - 1
    found = np.append(pool, -1)[last]  # -1 takes the added one
    return np.where((last >= 0) & (found >= start), found + 1, start)


def _mapped(grade: Floats, gains: GainMap) -> Floats:
    """Gains of grades >= 0."""
    with np.errstate(invalid="ignore"):
        small = grade.astype(np.uint8)
    if (small == grade).all():  # as nearly always: no need to sort them
        known, table = np.flatnonzero(np.bincount(small)), np.empty(256)
        table[known] = [gains.of(float(value)) for value in known]
        return table[small]
    ordered = np.sort(grade)
    distinct = ordered[np.diff(ordered, prepend=-1.0) != 0]  # np.unique loads numpy.ma, 8 ms
    gain = np.array([gains.of(value) for value in distinct.tolist()], dtype=np.float64)
    return gain[np.searchsorted(distinct, grade)] if len(distinct) else gain


def _count_at_least(offsets: NDArray[np.int64], values: Floats, level: float) -> NDArray[np.int64]:
    total = np.concatenate(([0], np.cumsum(values >= level))).astype(np.int64)
    counts: NDArray[np.int64] = total[offsets[1:]] - total[offsets[:-1]]
    return counts


def _shares(ranked: Ranked, gains: GainMap | None, level: float) -> Floats:
    """(Q,) what the relevant items of each query weigh on average, by gain where the measure has gains; NaN without.

    Sums run over the items in their order, one query at a time (`bincount`), whatever the block holds besides.
    """
    relevance = (ranked.ideal >= level).astype(np.float64) if gains is None else _mapped(ranked.ideal, gains)
    num_queries = len(ranked.query)
    query = np.repeat(np.arange(num_queries), np.diff(ranked.ideal_offsets))
    total = np.bincount(query, relevance, num_queries)
    heavy = total if ranked.ideal_weight is None else np.bincount(query, relevance * ranked.ideal_weight, num_queries)
    shares: Floats = np.divide(heavy, total, out=np.full(num_queries, np.nan), where=total > 0.0)
    return shares


def _nothing_to_find(measure: Measure, view: _View, num_rel: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The queries on which --no-relevant acts for this measure."""
    empty = np.zeros(len(num_rel), np.bool_)
    if "no_relevant" in measure.undefined:
        empty |= num_rel == 0
    if "no_gain" in measure.undefined:
        empty |= _count_at_least(view.ranked.ideal_offsets, view.ideal, np.nextafter(0.0, 1.0)) == 0
    return empty


def _needs_tail(metric: Metric, level: float) -> bool:
    return level < 0 or metric.measure.needs_tail(metric)  # below level 0 unjudged documents are relevant


@dataclass(frozen=True)
class _Job:
    """What a kernel is called with for every query."""

    kernel: Kernel
    uses_score: bool
    k: int
    level: float
    params: Floats


def _plain_loop(
    job: _Job, view: _View, stops: NDArray[np.int64], discount: Floats, num_rel: NDArray[np.int64]
) -> Floats:
    """Call the kernel once a query on memoryviews: slices of them copy nothing and give Python floats."""
    ranked, kernel, k, level, uses_score = view.ranked, job.kernel, job.k, job.level, job.uses_score
    grade, status, ideal = view.grade.data, ranked.status.data, view.ideal.data
    column, values, score = discount.data, job.params.data, ranked.score.data
    starts, ends = ranked.offsets.tolist(), stops.tolist()
    goal, counts = ranked.ideal_offsets.tolist(), num_rel.tolist()
    result = []
    for q, count in enumerate(counts):
        a, b, c, d = starts[q], ends[q], goal[q], goal[q + 1]
        if uses_score:
            ranking: Any = TiedRanking(grade[a:b], status[a:b], ideal[c:d], column, count, score[a:b])
        else:
            ranking = Ranking(grade[a:b], status[a:b], ideal[c:d], column, count)
        result.append(kernel(ranking, k, level, values))
    return np.array(result, dtype=np.float64)


def _compiled_loop(
    job: _Job, view: _View, stops: NDArray[np.int64], discount: Floats, num_rel: NDArray[np.int64]
) -> Floats:
    drive, kernel = _compiled_driver(job.uses_score), _compiled_kernel(job.kernel, job.uses_score)
    ranked, ends, out = view.ranked, np.ascontiguousarray(stops), np.empty(len(num_rel))
    arrays: tuple[Any, ...] = (view.grade, ranked.status, ranked.offsets, ends, view.ideal, ranked.ideal_offsets)
    if job.uses_score:
        arrays = (*arrays, ranked.score)
    drive(kernel, *arrays, discount, num_rel, job.k, job.level, job.params, out)
    return out


def _drive(kernel, grade, status, starts, stops, ideal, goal, discount, num_rel, k, level, params, out):  # type: ignore[no-untyped-def]
    for q in range(len(num_rel)):
        a, b, c, d = starts[q], stops[q], goal[q], goal[q + 1]
        out[q] = kernel(Ranking(grade[a:b], status[a:b], ideal[c:d], discount, num_rel[q]), k, level, params)


def _drive_tied(kernel, grade, status, starts, stops, ideal, goal, score, discount, num_rel, k, level, params, out):  # type: ignore[no-untyped-def]
    for q in range(len(num_rel)):
        a, b, c, d = starts[q], stops[q], goal[q], goal[q + 1]
        ranking = TiedRanking(grade[a:b], status[a:b], ideal[c:d], discount, num_rel[q], score[a:b])
        out[q] = kernel(ranking, k, level, params)


def _kernel_signature(uses_score: bool) -> Any:
    from numba import types

    floats, marks = types.float64[::1], types.uint8[::1]
    fields = (floats, marks, floats, floats, types.int64)
    named: Any = types.NamedTuple
    ranking = named((*fields, floats), TiedRanking) if uses_score else named(fields, Ranking)
    return types.float64(ranking, types.int64, types.float64, floats)


@cache
def _compiled_driver(uses_score: bool) -> Callable[..., None]:
    from numba import types

    floats, marks, places = types.float64[::1], types.uint8[::1], types.int64[::1]
    arrays = (floats, marks, places, places, floats, places, *((floats,) if uses_score else ()))
    kernel = types.FunctionType(_kernel_signature(uses_score))
    signature = types.void(kernel, *arrays, floats, places, types.int64, types.float64, floats, floats)
    return _compile(_drive_tied if uses_score else _drive, signature, no_cfunc_wrapper=True)


@cache
def _compiled_kernel(kernel: Kernel, uses_score: bool) -> Callable[..., float]:
    # Only the driver calls it: the wrapper by which Python could takes a third of the time to compile.
    return _compile(kernel, _kernel_signature(uses_score), no_cpython_wrapper=True)


def _compile(function: Callable[..., Any], signature: Any, **options: bool) -> Callable[..., Any]:
    """Compile for one signature, from the disk cache where there is one.

    The cache is beside the code, else in the user's cache folder; processes may share it, as its files are replaced
    whole.
    """
    import numba

    njit: Any = numba.njit  # its declared type leaves out the options about wrappers
    compiled: Callable[..., Any]
    if _may_cache():
        try:
            compiled = njit(signature, cache=True, **options)(function)
            return compiled
        except Exception:  # no folder can be written, the disk is full, a file is damaged: it works without
            pass
    compiled = njit(signature, **options)(function)
    return compiled


def _may_cache() -> bool:
    """Whether there is a folder for it. Numba would make one called `~` for a user who has no home."""
    named = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    return any(os.environ.get(name) for name in named) or os.path.expanduser("~") != "~"
