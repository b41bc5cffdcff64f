"""The program as functions: what `rankeval_cli` offers to Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rankeval_cli.model import COMPARE_RESAMPLES, Family, Report, Rules, Significance

if TYPE_CHECKING:
    import polars as pl

    from rankeval_cli.flow import Request


def evaluate(
    run: Any,
    qrels: Any = None,
    measures: str | Iterable[str] = (),
    *,
    gates: str | Iterable[str] = (),
    columns: Mapping[str, str] | None = None,
    run_format: str | None = None,
    qrels_format: str | None = None,
    weights: Any = None,
    tie_report: bool = False,
    baseline: Any = None,
    alpha: float = 0.05,
    gate_correction: str = "none",
    queries: Any = None,
    groups: Any = None,
    **rules: Any,
) -> Report:
    """Score one run, or a list of runs, against judgments, as the program does.

    run : a path, a dict `{query: {document: score}}`, a list of records, or a Polars, pandas or Arrow table; or a list
        of these
    qrels : the same with grades; left out when `run` is one labelled table, with columns for query, score and label
    measures : as on the command line, such as `["mrr@10", "P(rel=2)@5"]`; the program's default when empty
    gates : expressions that must hold, such as `"mrr@10 >= 0.35"`; the verdicts are in `Report.gates`
    columns : role (query, doc, score, grade, rank) -> column name, where names are not the usual ones
    weights : weights of the queries in means: a path, a dict `{query: weight}`, or a table of query and weight
    baseline : what gates compare with: another run, or a report (a path, or the `Report` itself)
    alpha, gate_correction : level of the tests behind rules such as `"no-regression(mrr@10)"`, and the correction for
        their number
    queries : the only queries that count: their ids, or a path
    groups : adds `RunReport.groups`: a dict `{query: group}`, a path, a table, or the name of a column of the judgments
    tie_report : say in `RunReport.ties` how far each value depends on the order of tied documents
    rules : fields of `Rules`, such as `ties="random", seed=1, relevance_level=2`, or `preset="ranx"` for the rules of
        another system

    Raises RankevalError, whose text is what the program prints. Warnings are in `Report.warnings`.

    >>> report = evaluate({"q1": {"d1": 0.5, "d2": 0.4}}, {"q1": {"d2": 1}}, "mrr@10")
    >>> report["mrr@10"]
    0.5
    """
    from rankeval_cli.flow import evaluate as flow_evaluate

    runs = list(run) if qrels is not None and _are_runs(run) else [run]
    request = request_for(runs, qrels, measures, gates, columns, run_format, qrels_format, weights, rules)
    request = replace(request, baseline=baseline, significance=Significance(alpha, gate_correction))
    return flow_evaluate(replace(request, tie_report=tie_report, queries=queries, groups=groups))


def compare(
    runs: Iterable[Any],
    qrels: Any,
    measures: str | Iterable[str] = (),
    *,
    baseline: str | None = None,
    all_pairs: bool = False,
    test: str = "t",
    correction: str = "holm",
    family: Family = "measure",
    alpha: float = 0.05,
    resamples: int = COMPARE_RESAMPLES,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    run_format: str | None = None,
    qrels_format: str | None = None,
    weights: Any = None,
    **rules: Any,
) -> Report:
    """Compare two runs or more, query by query, as `rankeval compare` does; the results are in `Report.comparisons`.

    runs : as `evaluate` takes them; reports call Python objects `run1`, `run2`, ..
    baseline : name or path of the run that the others are compared with; the first one when None
    all_pairs : compare every run with every other one
    test : t, randomization, bootstrap, wilcoxon, sign, or tukey for all runs at once
    correction : of several p-values, holm, bonferroni, bh or none; those of `measure` or of `all` measures (`family`)
    alpha : a corrected p-value up to it is significant
    resamples, seed : of random tests
    columns, .., rules : as `evaluate` takes them; `confidence` is that of the intervals of differences, and the means
        have none unless `ci` asks for them

    Raises RankevalError, whose text is what the program prints.

    >>> base, new = {"q1": {"d1": 2, "d2": 1}}, {"q1": {"d1": 1, "d2": 2}}
    >>> report = compare([base, new], {"q1": {"d2": 1}}, "mrr@10")
    >>> report.comparisons[0].diff
    0.5
    """
    from rankeval_cli.comparing import Comparing
    from rankeval_cli.flow import evaluate as flow_evaluate

    options = Comparing(baseline, all_pairs, test, correction, family, alpha)
    rules = {"ci": "none", "resamples": resamples, "seed": seed, **rules}
    several = list(runs) if _are_runs(runs) else [runs]
    request = request_for(several, qrels, measures, (), columns, run_format, qrels_format, weights, rules)
    return flow_evaluate(replace(request, compare=options))


def request_for(
    runs: Iterable[Any],
    qrels: Any,
    measures: str | Iterable[str],
    gates: str | Iterable[str],
    columns: Mapping[str, str] | None,
    run_format: str | None,
    qrels_format: str | None,
    weights: Any,
    rules: dict[str, Any],
) -> Request:
    """What `evaluate` is asked for; its arguments of the same names."""
    from rankeval_cli.flow import Request
    from rankeval_cli.gates import parse_gate
    from rankeval_cli.measures.expression import parse_all
    from rankeval_cli.presets import default_measures, parser
    from rankeval_cli.readers import ReadOptions

    words = _words(measures, "measures", 'names, such as ["mrr@10", "ndcg@10"]')
    if weights is not None:
        rules["weights"] = str(weights) if isinstance(weights, (str, PurePath)) else "weights"
    in_force = _rules(rules)
    read = parser(in_force.preset)
    return Request(
        runs=tuple(runs),
        qrels=qrels,
        metrics=parse_all(words or default_measures(in_force.preset), read),
        rules=in_force,
        gates=tuple(parse_gate(text, read) for text in _words(gates, "gates", 'expressions, such as "mrr@10 >= 0.35"')),
        run_options=ReadOptions(run_format, columns or {}),
        qrels_options=ReadOptions(qrels_format, columns or {}, in_force.grade_map),
        given=frozenset(rules),
        weights=weights,
    )


def evaluate_arrays(
    scores: Any,
    labels: Any,
    index: Any = None,
    mask: Any = None,
    weights: Any = None,
    measures: str | Iterable[str] = (),
    **rules: Any,
) -> Report:
    """Score rankings that are given as arrays.

    scores : (Q, N), one row a query; or (rows,) with `index`; or a list of lists of any lengths; or what
        `from_rankings` gives. Query ids are then `0`, `1`, ..
    labels : grades, of the same shape; or (N,), the labels of every row of a batch
    index : (rows,), the query of each row, text or whole numbers; without it flat scores are one query
    mask : of the same shape as scores, true where an item counts; where it is false score and label may be anything
    weights : (Q,) for a batch, a dict `{query: weight}`, or for flat scores (rows,), alike within a query; under
        `preset="keras"` or `"tf-ranking"` also of the shape of scores, one weight an item
    measures, rules : as `evaluate` takes them

    Raises UsageError, naming the shapes, where they do not fit, InputError for a score that is NaN or a label that is
    no finite number. Arrays have no document ids, so equal scores count in all
    orders (`ties="expected"`), or in random order (`seed`) for a measure without a closed form of that mean.

    >>> evaluate_arrays([[0.2, 0.9, 0.5], [0.7, 0.1, 0.3]], [[1, 0, 0], [0, 1, 0]], measures="mrr")["mrr"]
    0.3333333333333333
    """
    from rankeval_cli.arrays import table_of, weights_by_query, with_item_weights
    from rankeval_cli.presets import weighs_items

    table = table_of(scores, labels, index, mask, rules.get("ignore_label"))
    if weights is not None and weighs_items(rules.get("preset")):
        table = with_item_weights(weights, table) or table
    by_query = None if weights is None or table.weight is not None else weights_by_query(weights, table)
    return evaluate(table, None, measures, weights=by_query, **rules)


def read_run(path: Any, *, columns: Mapping[str, str] | None = None, format: str | None = None) -> pl.DataFrame:
    """A run of any layout as a Polars frame: query, doc (String), score (Float64), and rank (Int64) where it has one.

    The whole run is held in memory. Raises RankevalError as the program does.
    """
    return _read(path, "run", columns, format)


def read_qrels(path: Any, *, columns: Mapping[str, str] | None = None, format: str | None = None) -> pl.DataFrame:
    """Judgments of any layout as a Polars frame: query, doc (String), grade (Float64), as they stand in the file.

    Raises RankevalError as the program does.
    """
    return _read(path, "qrels", columns, format)


def _read(path: Any, role: Any, columns: Mapping[str, str] | None, format: str | None) -> pl.DataFrame:
    import polars as pl

    from rankeval_cli.opening import table_of
    from rankeval_cli.readers import ReadOptions

    frames = list(table_of(path, role, ReadOptions(format, columns or {}), role).frames())
    value = "score" if role == "run" else "grade"
    return pl.concat(frames or [pl.DataFrame(schema={"query": pl.String, "doc": pl.String, value: pl.Float64})])


def _words(words: Any, name: str, expected: str) -> list[str]:
    from rankeval_cli.errors import UsageError

    if isinstance(words, str):
        return [words]
    found = list(words) if isinstance(words, Iterable) else [words]
    for word in found:
        if not isinstance(word, str):
            raise UsageError(f"{name} hold `{word}`, which is no text", hint=f"give {expected}")
    return found


def _are_runs(run: Any) -> bool:
    """Whether a list holds several runs, and not the records of one: a record has bare values, a run has none."""
    if not isinstance(run, (list, tuple)):
        return False
    first = run[0] if run else None
    is_record = isinstance(first, Mapping) and any(isinstance(value, (str, Real)) for value in first.values())
    return not is_record and not hasattr(first, "_asdict")


def _rules(rules: Mapping[str, Any]) -> Rules:
    from dataclasses import fields

    from rankeval_cli.errors import UsageError, did_you_mean

    known = [rule.name for rule in fields(Rules)]
    for name in rules:
        if name not in known:
            raise UsageError(f"there is no rule `{name}`", hint=did_you_mean(name, known) or ", ".join(known))
    values: dict[str, Any] = {name: str(rule) if isinstance(rule, PurePath) else rule for name, rule in rules.items()}
    return Rules(**values)
