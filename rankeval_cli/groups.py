"""Groups of queries: which queries each has, its means, and the mean of the groups' means."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import InputError, UsageError, did_you_mean
from rankeval_cli.inference import summarize
from rankeval_cli.inference.statistic import defined, num_counted, reduce_values
from rankeval_cli.model import MACRO, GroupReport, Judgments, Report, Result, Rules, RunReport, Scores, Subset
from rankeval_cli.readers.groups import Only, read_column, read_groups

if TYPE_CHECKING:
    from rankeval_cli.readers import ReadOptions

MACRO_NOTE = "the mean of the groups' means"
SHOWN_GROUPS = 10
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}$")


@dataclass(frozen=True)
class Groups:
    """Which queries each group has; a query may be in several, or in none.

    name : the file or the column that says so
    members : group -> its queries, groups in ascending byte order
    """

    name: str
    members: Mapping[str, frozenset[str]]


def load_groups(choice: Any, judged: Any, options: ReadOptions, name: str) -> Groups:
    """The groups that a file, an object, or a column of the judgments gives.

    choice : a path, the name of a column (where no such file exists), a dict `{query: group}`, or a table in memory
    judged : judgments or labelled table, as an opened input or a Python object; name : what messages call an object
    options : how the user wants them read
    Raises InputError for what holds no groups, or a group of the name of the macro mean.
    """
    is_column = isinstance(choice, str) and not is_path(choice)
    if is_column:
        members, shown = read_column(judged, choice, options, name), f"column {choice}"
    else:
        columns = {part: column for part, column in options.columns.items() if part in ("query", "group")}
        members = read_groups(choice, replace(options, format=None, columns=columns))
        shown = str(choice) if isinstance(choice, (str, PurePath)) else "groups"
    if MACRO in members:
        what = f"a group is called `{MACRO}`, which is the mean over all groups"
        raise InputError(what, shown, "give it another name")
    ordered = sorted(members, key=lambda group: group.encode("utf-8", "surrogatepass"))
    return Groups(shown, {group: frozenset(members[group]) for group in ordered})


def is_path(text: str) -> bool:
    """Whether the text names a file, there or not: `groups.tsv` is none of a column."""
    if os.path.exists(text) or text in ("-", ""):
        return True
    return any(sign in text for sign in ("/", os.sep, "*", "?")) or bool(_SUFFIX.search(text))


def check_group(group: str, groups: Groups, where: str) -> None:
    """Raise UsageError when there is no such group."""
    if group != MACRO and group not in groups.members:
        names = [*groups.members, MACRO]
        more = f" and {len(names) - SHOWN_GROUPS:,} more" if len(names) > SHOWN_GROUPS else ""
        listed = f"{groups.name} has {', '.join(names[:SHOWN_GROUPS])}{more}"
        raise UsageError(f"there is no group `{group}`", where, did_you_mean(group, names) or listed)


def only(scores: Scores, queries: Collection[str]) -> Scores:
    """The scores of some queries; a value that is not there counts as undefined."""
    places = [place for place, query in enumerate(scores.queries) if query in queries]
    values, weights = scores.values[:, places], scores.weights
    return replace(
        scores,
        queries=[scores.queries[place] for place in places],
        values=values,
        undefined=tuple((values != values).sum(axis=1).tolist()),
        weights=None if weights is None else weights[..., places],
        shares=None if scores.shares is None else scores.shares[:, places],
    )


def group_reports(run: RunReport, groups: Groups, rules: Rules) -> tuple[GroupReport, ...]:
    """The means of each group, by the rules of the whole run, and the mean of these means last."""
    parts = [only(run.scores, queries) for queries in groups.members.values()]
    every = [summarize(part, rules) for part in parts]
    names = frozenset[str]().union(*groups.members.values())
    scored = sum(query in names for query in run.scores.queries)
    macro = []
    for place, metric in enumerate(run.scores.metrics):
        means = [results[place] for part, results in zip(parts, every, strict=True) if has_mean(part, place)]
        value, queries = macro_mean([mean.value for mean in means]), sum(mean.queries for mean in means)
        macro.append(Result(metric.written, metric.canonical, value, None, None, None, MACRO_NOTE, None, queries, 0))
    found = [
        GroupReport(group, len(part.queries), results)
        for group, part, results in zip(groups.members, parts, every, strict=True)
    ]
    return (*found, GroupReport(MACRO, scored, tuple(macro)))


def has_mean(scores: Scores, place: int) -> bool:
    """Whether a group counts in the macro mean of a measure: it has a value, or is undefined because a query's is."""
    values, weights = scores.values[place], scores.weights_of(place)
    return bool(len(defined(values, weights))) or (scores.propagate[place] and num_counted(weights, len(values)) > 0)


def macro_mean(values: Collection[float | None]) -> float | None:
    """The mean of the groups' means; None where there is none, or one of them is undefined."""
    there = [value for value in values if value is not None]
    return reduce_values(there, "mean") if there and len(there) == len(values) else None


def group_warnings(groups: Groups, judgments: Judgments) -> list[str]:
    """Judged queries that are in no group, and groups that have no judged query."""
    from rankeval_cli.coverage import named

    grouped = frozenset[str]().union(*groups.members.values())
    alone = [query for query in judgments.queries if query not in grouped]
    judged = frozenset(judgments.queries)
    empty = [group for group, queries in groups.members.items() if judged.isdisjoint(queries)]
    lines = []
    if alone:
        verb = "is" if len(alone) == 1 else "are"
        many = f"{len(alone):,} of {len(judgments.queries):,} judged queries ({named(alone)})"
        lines.append(f"{groups.name}: {many} {verb} in no group")
    if empty:
        noun = "group has" if len(empty) == 1 else "groups have"
        lines.append(f"{groups.name}: {len(empty):,} {noun} no judged query: {named(empty)}")
    return lines


def only_warnings(only: Only, judgments: Judgments) -> list[str]:
    """Queries that are asked for and are not judged."""
    from rankeval_cli.coverage import named

    judged = frozenset(judgments.queries)
    missing = [query for query in only.queries if query not in judged]
    if not missing:
        return []
    verb = "is" if len(missing) == 1 else "are"
    many = f"{len(missing):,} of {len(only.queries):,} queries ({named(missing)})"
    return [f"{only.name}: {many} {verb} not judged and left out"]


def with_chosen(report: Report, only: Only | None, groups: Groups | None, judgments: Judgments) -> Report:
    """The report with what it says of the queries that count, and of groups."""
    if groups is not None:
        runs = tuple(replace(run, groups=group_reports(run, groups, report.rules)) for run in report.runs)
        warnings = (*group_warnings(groups, judgments), *report.warnings)
        report = replace(report, runs=runs, groups=groups.name, warnings=warnings)
    if only is not None:
        subset = Subset(only.name, len(only.queries), len(judgments.queries))
        report = replace(report, subset=subset, warnings=(*only_warnings(only, judgments), *report.warnings))
    return report
