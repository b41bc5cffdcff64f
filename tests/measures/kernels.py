"""Calls a kernel for one query given as plain lists, through the record: gains, discounts, levels, judged-only."""

import math
from array import array
from typing import Any

from naive import Query

from rankeval_cli.measures.spec import Metric, Ranking, TiedRanking


def ranking_of(
    metric: Metric, query: Query, level: float = 1.0, max_grade: float | None = None, with_score: bool = False
) -> Ranking:
    """The ranking as the kernel gets it; arrays are memoryviews of doubles and bytes."""
    measure, level = metric.measure, level if metric.level is None else metric.level
    docs = [(grade, query.score(place)) for place, grade in enumerate(query.ranked)]
    if metric.judged_only:
        docs = [(grade, score) for grade, score in docs if grade is not None and grade >= 0]
    status = bytes(0 if grade is None else 1 if grade < 0 else 2 for grade, _ in docs)
    grades = [-1.0 if grade is None or grade < 0 else grade for grade, _ in docs]
    ideal, num_rel = query.judged, len([grade for grade in query.judged if grade >= level])
    if measure.gain is not None:
        gains = measure.gain(metric, max(query.judged, default=0.0) if max_grade is None else max_grade)
        lowest = 0.0 if metric.level is None else metric.level
        grades = [gains.of(grade) if grade >= lowest else 0.0 for grade in grades]
        ideal = [gains.of(grade) if grade >= lowest else 0.0 for grade in ideal]
    size = max(len(docs), len(ideal))
    discount = measure.discount(metric) if measure.discount else None
    column = [discount.of(rank) for rank in range(1, size + 1)] if discount else []
    arrays: tuple[Any, ...] = (_doubles(grades), memoryview(status), _doubles(sorted(ideal, reverse=True)))
    if measure.uses_score or with_score:
        return TiedRanking(*arrays, _doubles(column), num_rel, _doubles([score for _, score in docs]))  # type: ignore[return-value]
    return Ranking(*arrays, _doubles(column), num_rel)


def params_of(metric: Metric) -> memoryview:
    return _doubles(list(metric.measure.encode(metric)))


def kernel_value(metric: Metric, query: Query, level: float = 1.0, max_grade: float | None = None) -> float | None:
    """The value of the plain kernel; None where it is NaN."""
    ranking = ranking_of(metric, query, level, max_grade)
    value = metric.measure.kernel(ranking, metric.k, level if metric.level is None else metric.level, params_of(metric))
    assert isinstance(value, float), f"{metric.canonical} gives {type(value)}"
    return None if math.isnan(value) else value


def expected_value(metric: Metric, query: Query, level: float = 1.0, max_grade: float | None = None) -> float | None:
    """The mean over all orders of tied documents, from the plain kernel; None where it is NaN."""
    assert metric.expected is not None
    ranking = ranking_of(metric, query, level, max_grade, with_score=True)
    value = metric.expected(ranking, metric.k, level if metric.level is None else metric.level, params_of(metric))
    assert isinstance(value, float), f"{metric.canonical} gives {type(value)}"
    return None if math.isnan(value) else value


def _doubles(values: list[float]) -> memoryview:
    return memoryview(array("d", values))
