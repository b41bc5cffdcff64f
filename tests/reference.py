"""The slow, obvious twin of the whole evaluation: rows and rules in, per-query values out, on plain Python lists."""

from __future__ import annotations

import struct

from naive import Query, naive

from rankeval_cli.measures.spec import Metric
from rankeval_cli.model import Rules

RunRow = tuple[str, str, float]
QrelsRow = tuple[str, str, float]


def evaluate_slowly(
    run: list[RunRow], qrels: list[QrelsRow], metrics: list[Metric], rules: Rules
) -> dict[str, dict[str, float | None]]:
    """query -> measure as written -> value, None where undefined or skipped."""
    judged: dict[str, dict[str, float]] = {}
    for query, doc, grade in qrels:
        judged.setdefault(query, {})[doc] = grade
    values = {}
    for query in sorted(judged, key=str.encode):
        rows = [(doc, score) for name, doc, score in run if name == query]
        if not rows and rules.missing == "skip":
            continue
        case = _query(query, rows, judged[query], rules)
        top = max((grade for grades in judged.values() for grade in grades.values()), default=0.0)
        values[query] = {metric.written: _value(metric, case, rules, max(top, 0.0)) for metric in metrics}
    return values


def _value(metric: Metric, case: Query, rules: Rules, max_grade: float) -> float | None:
    level = rules.relevance_level if metric.level is None else metric.level
    reasons = metric.measure.undefined
    nothing = "no_relevant" in reasons and not [grade for grade in case.judged if grade >= level]
    if "no_gain" in reasons:
        gains = metric.measure.gain(metric, max_grade)
        lowest = 0.0 if metric.level is None else metric.level
        nothing = nothing or not [grade for grade in case.judged if grade >= lowest and gains.of(grade) > 0]
    if nothing:
        lowest = 1e-5 if metric.measure.aggregate == "geometric" else 0.0
        return {"zero": lowest, "one": 1.0}.get(rules.no_relevant)
    return naive(metric, case, rules.relevance_level, max_grade)


def _query(query: str, rows: list[tuple[str, float]], grades: dict[str, float], rules: Rules) -> Query:
    if rules.exclude_self:
        rows = [row for row in rows if row[0] != query]
    ranked = _ordered(rows, rules)[: rules.depth]
    if rules.judged_only:
        ranked = [row for row in ranked if grades.get(row[0], -1) >= 0]
    found = {doc for doc, _ in ranked}
    return Query(
        [grades.get(doc) for doc, _ in ranked],
        [grade for doc, grade in grades.items() if doc not in found and grade >= 0],
        [score for _, score in ranked],
    )


def _ordered(rows: list[tuple[str, float]], rules: Rules) -> list[tuple[str, float]]:
    if rules.order == "file":
        return [(doc, -float(place)) for place, (doc, _) in enumerate(rows)]
    if rules.score_precision == "single":
        rows = [(doc, struct.unpack("f", struct.pack("f", score))[0]) for doc, score in rows]
    if rules.order == "ascending":
        rows = [(doc, -score) for doc, score in rows]
    if rules.ties == "docid":
        rows = sorted(rows, key=lambda row: row[0].encode(), reverse=True)
    if rules.ties == "docid-asc":
        rows = sorted(rows, key=lambda row: row[0].encode())
    return sorted(rows, key=lambda row: -row[1])
