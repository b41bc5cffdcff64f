"""The baseline that gates compare with: a run, scored as the others are, or a report that was written earlier.

A report is taken only where its values are those that the run behind it would have now: the judgments are the same and
so are the rules, but for those that cannot change the value of a query.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from rankeval_cli.errors import InputError, UsageError, did_you_mean
from rankeval_cli.gates.sides import place_of
from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import SCHEMA_VERSION, Coverage, Judgments, Report, Result, Rules, RunReport, Scores, Source
from rankeval_cli.readers import Input, open_input

if TYPE_CHECKING:
    from rankeval_cli.plan import Plan

# Rules that leave the value of each query as it is: means are taken anew here, and the digest of the judgments tells
# what became of words and repeated grades. Weights are compared by their values, not by the name of their file.
FREE_RULES = (
    "preset", "ci", "confidence", "resamples", "aggregate", "none_is_zero", "lower_median", "grade_map",
    "qrels_duplicates", "weights",
)  # fmt: skip
SEEDED_TIES = ("random", "rank")
AGAIN = "write it again with `-o base.json -q`"

# A run as JSON holds numbers and objects; a report holds texts too, in any order of keys.
_IS_REPORT = re.compile(rb'\s*\{(?=.*"rankeval"\s*:\s*")', re.DOTALL)


@dataclass(frozen=True)
class Written:
    """One run of a report, as JSON has it.

    name : what messages call it
    """

    name: str
    document: Mapping[str, Any]
    run: Mapping[str, Any]

    def named(self, metric: Metric) -> str | None:
        """How the report spells a measure; None where it does not have it."""
        spelled = (name for name, found in self.run["measures"].items() if found["canonical"] == metric.canonical)
        return next(spelled, None)


@dataclass(frozen=True)
class Baseline:
    """Where the baseline comes from; exactly one of the three is there.

    written : a report
    source : a run that is to be scored: an opened input, or a Python object
    place : its place among the runs, where it is one of them
    """

    name: str
    written: Written | None = None
    source: Any = None
    place: int | None = None


def open_baseline(source: Any, runs: Sequence[Any]) -> Baseline | None:
    """What a baseline is; of a run, nothing but the head has been read.

    source : the path of a run or of a report (`FILE:RUN` names one run of several), a `Report`, its document, or a run
        as a Python object; None for no baseline
    runs : those that are scored
    Raises InputError for a report that cannot be used, UsageError when every run is the baseline.
    """
    if source is None:
        return None
    place = _place_among(source, runs)
    if place is not None:
        if len(runs) == 1:
            raise UsageError("the run is its own baseline", hint="give the run that is to be judged as well")
        return Baseline(str(source), place=place)
    if isinstance(source, Report):
        source = source.to_dict(per_query=True)
    if isinstance(source, Mapping) and "rankeval" in source and "schema_version" in source:
        return Baseline("baseline", _written(source, "baseline", None))
    if not isinstance(source, (str, PurePath)):
        return Baseline("baseline", source=source)
    path, run = path_and_run(str(source))
    opened = open_input(path)
    if _IS_REPORT.match(opened.head()):
        return Baseline(str(source), _written(_document(opened), str(source), run))
    if run is not None:
        raise InputError(f"is no report, so it has no run `{run}`", path, "name the file alone")
    return Baseline(str(source), source=opened)


def _place_among(source: Any, runs: Sequence[Any]) -> int | None:
    for place, run in enumerate(runs):
        if run is source or (_is_file(run) and _is_file(source) and os.path.samefile(run, source)):
            return place
    return None


def _is_file(source: Any) -> bool:
    return isinstance(source, (str, PurePath)) and os.path.isfile(source)


def path_and_run(text: str) -> tuple[str, str | None]:
    """Path and name of `FILE:RUN`, of which FILE exists; both may hold colons."""
    for match in re.finditer(":", text) if not os.path.exists(text) else ():
        if os.path.isfile(text[: match.start()]):
            return text[: match.start()], text[match.end() :]
    return text, None


def _document(source: Input) -> Any:
    try:
        return json.loads(b"".join(chunk.data for chunk in source.chunks()))
    except ValueError as error:
        raise InputError(f"is not JSON: {error}", source.where(), AGAIN) from None


def _written(document: Any, name: str, run: str | None) -> Written:
    """The only run of a report, or the one that is named."""
    try:
        if document["schema_version"] != SCHEMA_VERSION:
            what = f"was written by rankeval {document['rankeval']}, whose reports are others"
            raise InputError(what, name, AGAIN)
        every = {entry["name"]: entry for entry in document["runs"]}
        found = every.get(run) if run is not None else next(iter(every.values())) if len(every) == 1 else None
        if found is None:
            raise _no_such_run(list(every), name, run)
        if "per_query" not in found:
            raise InputError("holds means alone, and gates need the value of each query", name, AGAIN)
        return Written(name, document, found)
    except (AttributeError, KeyError, TypeError) as problem:
        raise _not_whole(name, problem) from None


def _no_such_run(names: list[str], where: str, run: str | None) -> InputError:
    listed = ", ".join(f"`{name}`" for name in names) or "none"
    if run is not None:
        return InputError(f"has no run `{run}`; its runs are {listed}", where, did_you_mean(run, names))
    hint = f"name one behind a colon: --baseline {where}:{names[0]}" if names else AGAIN
    return InputError(f"holds {len(names):,} runs: {listed}", where, hint)


def _not_whole(name: str, problem: Exception) -> InputError:
    return InputError(f"is not a whole report ({type(problem).__name__}: {problem})", name, AGAIN)


def report_of(
    written: Written, judgments: Judgments, plan: Plan, needed: Iterable[Metric], asked: Iterable[Metric]
) -> RunReport:
    """A written report as one of a run that has been scored here.

    plan : of the runs that are compared with it
    needed : metrics of the gates that compare with it; the report must have them
    asked : metrics that the report shows
    Raises InputError naming what differs: the judgments, a rule, a measure that is not there.
    """
    try:
        _check_judgments(written, judgments)
        needed = list(needed)
        for metric in needed:
            _check_measure(written, metric, plan)
        known = {metric.canonical: metric for metric in (*asked, *needed) if written.named(metric) is not None}
        scores = _scores(written, tuple(known.values()))
        coverage = Coverage(**{part.name: written.run["coverage"][part.name] for part in fields(Coverage)})
        results = tuple(_result(written, metric) for metric in known.values())
        source = Source(written.name, written.name, "report", 0, written.run["tag"])
        return RunReport(source, coverage, results, scores)
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise _not_whole(written.name, problem) from None


def _check_judgments(written: Written, judgments: Judgments) -> None:
    there = written.document["qrels"]
    if there["digest"] == judgments.digest:
        return
    here = judgments.source
    what = (
        f"has other judgments: {there['path']} ({there['queries']:,} queries, {there['rows']:,} rows, "
        f"{there['digest'][:19]}) there, {here.path} ({len(judgments.queries):,} queries, {here.rows:,} rows, "
        f"{judgments.digest[:19]}) here"
    )
    raise InputError(what, written.name, "score its run with these judgments, or give the run: --baseline RUN")


def _check_measure(written: Written, metric: Metric, plan: Plan) -> None:
    name = written.named(metric)
    if name is None:
        has = ", ".join(written.run["measures"])
        hint = f"score its run again with -m {metric.written}, and {AGAIN}"
        raise InputError(f"has no `{metric.written}` (it has {has})", written.name, hint)
    there = {**written.document["rules"], **written.run["measures"][name].get("rules", {})}
    here = {**plan.rules.to_dict(), **plan.own_rules().get(metric.canonical, {})}
    differing = _differing(there, here)
    if differing:
        hint = "score its run under these rules, or give the run: --baseline RUN"
        raise InputError(f"has other rules for {metric.written}: {_shown(differing)}", written.name, hint)


def _differing(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """The rules that can change values and differ; one that a report does not have is as it is by default."""
    default = asdict(Rules())
    pairs = {name: [rules.get(name, default.get(name)) for rules in (there, here)] for name in {**here, **there}}
    is_seeded = any(ties in SEEDED_TIES for ties in pairs["ties"])
    free = FREE_RULES if is_seeded else (*FREE_RULES, "seed")
    return [(name, *values) for name, values in pairs.items() if name not in free and not _are_same(name, *values)]


def _are_same(name: str, there: Any, here: Any) -> bool:
    """Whether two values of a rule are equal; of a file, whose content no report holds, its name without folders."""
    if name == "exclude" and there and here:
        return PurePath(there).name == PurePath(here).name
    return bool(there == here)


def _scores(written: Written, metrics: tuple[Metric, ...]) -> Scores:
    import numpy as np

    values = written.run["per_query"]
    queries = sorted(values, key=lambda query: query.encode("utf-8", "surrogatepass"))
    names = [str(written.named(metric)) for metric in metrics]
    rows = [[values[query][name] for query in queries] for name in names]
    weights = written.run.get("weights")
    found = [written.run["measures"][name] for name in names]
    return Scores(
        queries,
        metrics,
        np.array(rows, dtype=np.float64).reshape(len(names), len(queries)),
        tuple(result["undefined"] for result in found),
        tuple(result["value"] is None and result["queries"] > 0 for result in found),
        None if weights is None else np.array([[weights[query][name] for query in queries] for name in names]),
    )


def _result(written: Written, metric: Metric) -> Result:
    held = written.run["measures"][written.named(metric)]
    return Result(metric.written, **{part.name: held[part.name] for part in fields(Result)[1:] if part.name in held})


class Parts(NamedTuple):
    """Runs that have been scored.

    runs : those that the report shows
    judged : those that gates apply to
    """

    runs: Sequence[RunReport]
    judged: Sequence[RunReport]
    baseline: RunReport | None = None


def apart(baseline: Baseline, scored: Sequence[RunReport], written: RunReport | None) -> Parts:
    """The runs, and the baseline.

    scored : the runs, then the baseline where it is a run that is not among them
    written : the baseline where it is a report
    Raises InputError where queries weigh otherwise in the report.
    """
    if written is not None:
        for run in scored:
            _check_weights(written, run)
        return Parts(scored, scored, written)
    if baseline.place is None:
        return Parts(scored[:-1], scored[:-1], scored[-1])
    others = [run for place, run in enumerate(scored) if place != baseline.place]
    return Parts(scored, others, scored[baseline.place])


def check_same(name: str, rules: Rules, own: Rules, judgments: Judgments, others: Judgments) -> None:
    """Raise InputError when a labelled baseline has other judgments, or led to other rules.

    rules, judgments : of the baseline
    """
    if judgments.digest != others.digest:
        what = f"has other labels than {others.source.path}"
        raise InputError(what, name, "both tables must label the same results of the same queries")
    if rules != own:
        shown = _shown(_differing(rules.to_dict(), own.to_dict()))
        raise InputError(f"is read by other rules: {shown}", name, "name them, such as --ties expected")


def _shown(differing: Iterable[tuple[str, Any, Any]]) -> str:
    return ", ".join(f"{rule.replace('_', '-')} `{there}` there, `{here}` here" for rule, there, here in differing)


def _check_weights(baseline: RunReport, run: RunReport) -> None:
    """Raise InputError naming a query that weighs otherwise in a report than it does here."""
    for metric in baseline.scores.metrics:
        there, here = _weights(baseline.scores, metric), _weights(run.scores, metric)
        for query in there.keys() & here.keys() if there != here else ():
            if there[query] != here[query]:
                what = f"has other weights: query `{query}` weighs {there[query]:g} there, {here[query]:g} here"
                raise InputError(what, baseline.name, "score its run with these weights, or give the run itself")


def _weights(scores: Scores, metric: Metric) -> dict[str, float]:
    """The weight of each query; 1 where they weigh alike."""
    row = scores.weights_of(place_of(metric, scores))
    return dict(zip(scores.queries, [1.0] * len(scores.queries) if row is None else row.tolist(), strict=True))
