"""Runs against each other: the comparisons of a report, from the values of its queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, get_args

from rankeval_cli.errors import UsageError, did_you_mean
from rankeval_cli.model import COMPARE_RESAMPLES, Anova, Comparison, Family, Report, Rules, RunReport

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.inference.paired import PairedResult, PairedTest
    from rankeval_cli.measures.spec import Metric

    Pair = tuple[int, int]  # places of base and run

USAGE = "rankeval compare BASE RUN... QRELS -m ndcg@10 map"


@dataclass(frozen=True)
class Comparing:
    """Which runs are compared, and how.

    baseline : name or path of the run that the others are compared with; the first run when None
    all_pairs : compare every run with every run before it instead
    test, correction : names or aliases of records of `paired.TESTS` and `families.CORRECTIONS`
    family : p-values are corrected over the pairs of one measure, or over those of all measures
    alpha : a corrected p-value up to it is significant
    Resamples, seed and the confidence of the intervals are those of the rules.
    """

    baseline: str | None = None
    all_pairs: bool = False
    test: str = "t"
    correction: str = "holm"
    family: Family = "measure"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        from rankeval_cli.inference.families import find_correction
        from rankeval_cli.inference.paired import find_test

        test = find_test(str(self.test))
        find_correction(str(self.correction))
        if self.family not in get_args(Family):
            raise UsageError(f"--family is `{self.family}`", hint=f"choose one of {', '.join(get_args(Family))}")
        if test.is_simultaneous and self.family == "all":
            what = f"--test {test.name} covers the pairs of one measure, not --family all"
            raise UsageError(what, hint="leave --family out, or choose --test t")
        if not (isinstance(self.alpha, Real) and 0.0 < self.alpha < 1.0):
            raise UsageError(f"--alpha is `{self.alpha}`", hint="give a number between 0 and 1, such as 0.05")
        if self.all_pairs and self.baseline is not None:
            raise UsageError("--all-pairs has no baseline", hint="leave --baseline or --all-pairs out")

    @property
    def applied(self) -> str:
        """The name of the correction that is applied; a test of all runs at once is its own."""
        from rankeval_cli.inference.families import find_correction
        from rankeval_cli.inference.paired import find_test

        test = find_test(self.test)
        return test.name if test.is_simultaneous else find_correction(self.correction).name


def check_comparing(options: Comparing, runs: Sequence[Any], metrics: Sequence[Metric], rules: Rules) -> None:
    """Raise UsageError for what cannot be compared, before any data is read.

    runs : paths or Python objects
    """
    from rankeval_cli.inference.paired import find_test
    from rankeval_cli.opening import names_of

    if len(runs) < 2:
        raise UsageError("there is nothing to compare the run with", hint=f"give two runs or more: {USAGE}")
    _base_place(options, names_of(runs), [str(run) if isinstance(run, (str, PurePath)) else "" for run in runs])
    for metric in metrics:
        if metric.measure.aggregate == "geometric":
            what = f"{metric.written} cannot be compared: a geometric mean is no mean of the queries' values"
            raise UsageError(what, hint=f"compare {metric.canonical.removeprefix('gm_')}, or leave it out")
    if rules.aggregate != "mean":
        raise UsageError(f"--aggregate {rules.aggregate} cannot be compared", hint="the tests compare means")
    if rules.weights is not None and not find_test(options.test).takes_weights:
        what = f"--test {options.test} does not weigh queries, and --weights gives them weights"
        raise UsageError(what, hint="choose --test t, or leave the weights out")


def compared(report: Report, options: Comparing) -> Report:
    """The report with its comparisons, its analyses of variance, and warnings about both.

    Only the scores of its runs are looked at. Two runs are compared over the queries that have a value in both, in
    byte order of their ids; Tukey's test and the analysis of variance take those that have one in every run.
    """
    from rankeval_cli.inference.differences import Procedure
    from rankeval_cli.inference.families import compare_runs

    runs, rules = report.runs, report.rules
    metrics = runs[0].scores.metrics
    pairs = _pairs(options, runs)
    values, weights = _values(runs), _weights(runs)
    procedure = Procedure(options.test, rules.confidence, rules.resamples, rules.seed)
    by_pair = compare_runs(values, procedure, pairs, [metric.measure.bounds for metric in metrics], weights)
    results = list(zip(*by_pair, strict=True))  # by measure
    adjusted = _adjusted(results, options)
    comparisons = tuple(
        _comparison(metric, (runs[a].name, runs[b].name), result, p_value, options)
        for metric, row, p_values in zip(metrics, results, adjusted, strict=True)
        for (a, b), result, p_value in zip(pairs, row, p_values, strict=True)
    )
    warnings = [*_apart(comparisons), *_hopeless(comparisons, options, weights is not None)]
    return replace(
        report,
        comparisons=comparisons,
        anova=tuple(_anova(metrics, values, weights)) if len(runs) > 2 else (),
        warnings=(*report.warnings, *warnings),
    )


def _pairs(options: Comparing, runs: Sequence[RunReport]) -> list[Pair]:
    if options.all_pairs:
        return list(combinations(range(len(runs)), 2))
    base = _base_place(options, [run.name for run in runs], [run.source.path for run in runs])
    return [(base, place) for place in range(len(runs)) if place != base]


def _base_place(options: Comparing, names: Sequence[str], paths: Sequence[str]) -> int:
    """The place of the run that is the baseline, by its name in the report or by its path."""
    if options.baseline is None:
        return 0
    for known in (names, paths):
        if options.baseline in known:
            return known.index(options.baseline)
    hint = did_you_mean(str(options.baseline), names) or f"choose one of {', '.join(names)}"
    raise UsageError(f"no run is called `{options.baseline}`", hint=hint)


def _values(runs: Sequence[RunReport]) -> NDArray[np.float64]:
    """Float64 (runs, measures, Q), over the queries of any run in byte order, NaN where a run has none."""
    import numpy as np

    queries = _queries(runs)
    return np.stack([_widened(run, run.scores.values, queries, np.nan) for run in runs])


def _weights(runs: Sequence[RunReport]) -> NDArray[np.float64] | None:
    """Float64 (measures, Q); None where queries count alike. All runs have the same weights."""
    import numpy as np

    queries, found = _queries(runs), None
    for run in runs:
        scores = run.scores
        if scores.weights is not None:
            own = np.broadcast_to(scores.weights, scores.values.shape)
            wide = _widened(run, own, queries, 0.0)
            found = wide if found is None else np.maximum(found, wide)
    return found


def _queries(runs: Sequence[RunReport]) -> list[str]:
    """The queries of all runs; those of a run are fewer than those of the judgments under `--missing skip`."""
    first = runs[0].scores.queries
    if all(run.scores.queries == first for run in runs):
        return first
    return sorted({query for run in runs for query in run.scores.queries})  # by code points, as the bytes of UTF-8


def _widened(run: RunReport, rows: NDArray[np.float64], queries: list[str], absent: float) -> NDArray[np.float64]:
    if run.scores.queries == queries:
        return rows
    import numpy as np

    places = {query: place for place, query in enumerate(queries)}
    wide = np.full((len(rows), len(queries)), absent)
    wide[:, [places[query] for query in run.scores.queries]] = rows
    return wide


def _adjusted(results: Sequence[Sequence[PairedResult]], options: Comparing) -> list[list[float | None]]:
    """The corrected p-values, by measure and pair."""
    from rankeval_cli.inference.families import adjusted

    if options.family == "measure":
        return [adjusted(row, options.applied) for row in results]
    every = iter(adjusted([result for row in results for result in row], options.applied))
    return [[next(every) for _ in row] for row in results]


def _comparison(
    metric: Metric, names: tuple[str, str], result: PairedResult, p_adjusted: float | None, options: Comparing
) -> Comparison:
    is_lower = metric.measure.direction == "lower"
    is_significant = p_adjusted is not None and p_adjusted <= options.alpha
    return Comparison(
        base=names[0],
        run=names[1],
        measure=metric.written,
        canonical=metric.canonical,
        direction=metric.measure.direction,
        base_value=result.mean_a,
        value=result.mean_b,
        diff=result.diff,
        relative=result.relative,
        ci_low=result.ci_low,
        ci_high=result.ci_high,
        p_value=result.p_value,
        p_adjusted=p_adjusted,
        significant=is_significant,
        better=_better(metric, result),
        effect=result.effect,
        wins=result.losses if is_lower else result.wins,
        ties=result.ties,
        losses=result.wins if is_lower else result.losses,
        queries=result.queries,
        undefined=result.undefined,
        test=result.test,
        correction=options.applied,
        family=options.family,
        alpha=options.alpha,
        resamples=result.resamples,
        ci_method=result.ci_method,
        ci_note=result.ci_note,
        note=result.note,
    )


def _better(metric: Metric, result: PairedResult) -> bool | None:
    from rankeval_cli.inference.differences import TIE
    from rankeval_cli.inference.ranks import AGAINST_MEAN

    has_no_side = metric.measure.direction == "none" or result.note == AGAINST_MEAN
    if has_no_side or result.diff is None or abs(result.diff) <= TIE:
        return None
    return (result.diff > 0.0) == (metric.measure.direction == "higher")


def _anova(
    metrics: Sequence[Metric], values: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> Iterator[Anova]:
    from rankeval_cli.inference.blocks import variance

    for metric, rows in zip(metrics, values.transpose(1, 0, 2), strict=True):
        found = variance(rows)
        anova = Anova(
            metric.written, metric.canonical, found.f, found.p_value, found.runs_df, found.error_df, found.error,
            found.queries, found.note,
        )  # fmt: skip
        if weights is not None:
            anova = replace(anova, f=None, p_value=None, error=None, note="the analysis of variance does not weigh")
        yield anova


def _apart(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Runs that have no query in common."""
    shared: dict[tuple[str, str], int] = {}
    for each in comparisons:
        pair = (each.base, each.run)
        shared[pair] = max(shared.get(pair, 0), each.queries)
    for (base, run), queries in shared.items():
        if not queries:
            yield f"{run}: no query has a value in both this run and {base}"


def _hopeless(comparisons: Sequence[Comparison], options: Comparing, is_weighted: bool) -> Iterator[str]:
    """Families in which no p-value could reach alpha, whatever the size of the differences."""
    from rankeval_cli.inference.families import adjust
    from rankeval_cli.inference.paired import find_test

    test = find_test(options.test)
    correction = "none" if test.is_simultaneous else options.applied
    for name, family in _families(comparisons, options).items():
        least = [_least(each, test, is_weighted) for each in family]
        corrected = adjust(least, correction)
        places = [place for place, each in enumerate(family) if each.p_value is not None and each.wins + each.losses]
        if places and all((corrected[place] or 0.0) > options.alpha for place in places):
            differing = [family[place] for place in places]
            why = _why(differing, options.alpha, is_corrected=corrected != least)
            yield f"{name}: no difference could be significant at {options.alpha:g}: {why}"


def _families(comparisons: Sequence[Comparison], options: Comparing) -> Mapping[str, list[Comparison]]:
    families: dict[str, list[Comparison]] = {}
    for each in comparisons:
        families.setdefault("all measures" if options.family == "all" else each.measure, []).append(each)
    return families


def _least(found: Comparison, test: PairedTest, is_weighted: bool) -> float | None:
    """The smallest p-value that the test could give for differences in the same queries; None without a test."""
    if found.p_value is None:
        return None
    if is_weighted and not (test.is_random and found.resamples):
        return 0.0  # what equal differences would give depends on the weights
    return test.least(found.queries, found.wins + found.losses, found.resamples)


def _why(differing: Sequence[Comparison], alpha: float, is_corrected: bool) -> str:
    """What a family lacks, from those of its comparisons that have differences."""
    many = f" for {len(differing)} comparisons" if is_corrected else ""
    few = f", too few{many}" if many else ""
    resamples = max(each.resamples or 0 for each in differing)
    if resamples:
        enough = max(COMPARE_RESAMPLES, math.ceil(len(differing) / alpha))
        return f"{resamples:,} resamples are too few{many}; take --resamples {enough}"
    most = max(each.wins + each.losses for each in differing)
    return f"{'one query differs' if most == 1 else f'only {most} queries differ'}{few}"
