"""Reference texts: measures under the default rules, and what else they print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from peers.calls import Found, answers, score, word
from peers.cases import Case, Taken

GAINS = {"2**rel-1": "exp", "rel": "linear"}
RATIO = re.compile(r"ERR contribution ratio of the grade-(\d+) item \(rank (\d+) over rank (\d+)\)")


def answer(case: Case) -> Mapping[str, Any]:
    """A measure of a text; `printed` is ours in the form of what it prints, where it says the same."""
    ours = (
        _table(case) if case.metric == "discount table" else _ratio(case) if RATIO.match(case.metric) else _plain(case)
    )
    ours["printed"] = {
        name: _like(printed, ours["parts"][name])
        for name, printed in case.stated.get("printed", {}).items()
        if name in ours["parts"]
    }
    return ours


def _plain(case: Case) -> dict[str, Any]:
    take = Taken(case)
    name, _, k = case.metric.partition("@")
    k = take("k", k or None)
    gain, base, top = take("gain", None, GAINS), take("log_base"), take("max_grade")
    take.end()
    found = score(case, word(name, k, gain=gain, base=base if name.lower() == "dcg" else None, max=top))
    ours = answers(case, found)
    parts: dict[str, Any] = {"per_query": ours["expected_per_query"], "mean": found.mean}
    if name.lower() == "ndcg":
        for part, measure in (("dcg", "dcg"), ("idcg", "ideal_dcg")):
            ours[f"expected_{part}"] = _values(case, score(case, word(measure, k, gain=gain, base=base)))
            parts[part] = ours[f"expected_{part}"][0]
        parts["ndcg"] = parts["per_query"][0]
    if name.lower() == "err":
        ours["contributions"] = contributions(case, 0, top)
        parts["R"] = [_first(case, [label], word("err", 1, max=top)) for label in _labels(case, 0)]
    if name.lower() == "ap":
        ranks = [rank for rank, label in enumerate(_labels(case, 0), 1) if label]
        parts["precisions"] = [_first(case, _labels(case, 0), f"p@{rank}") for rank in ranks]
    return {**ours, "parts": parts}


def contributions(case: Case, place: int, top: Any) -> list[float]:
    """What each rank of a query adds to its ERR."""
    labels = _labels(case, place)
    sums = [_first(case, labels, word("err", rank, max=top)) for rank in range(1, len(labels) + 1)]
    return [after - before for before, after in zip([0.0, *sums], sums, strict=False)]


def _ratio(case: Case) -> dict[str, Any]:
    """What an item adds at one rank, the first query, over what it adds at another, the second query."""
    take = Taken(case)
    top = take("max_grade")
    take.end()
    match = RATIO.fullmatch(case.metric)
    assert match is not None
    grade, *ranks = map(int, match.groups())
    assert [_labels(case, place)[rank - 1] for place, rank in enumerate(ranks)] == [grade, grade]
    above, below = (contributions(case, place, top)[rank - 1] for place, rank in enumerate(ranks))
    return {"expected_ratio": above / below, "parts": {"ratio": above / below}}


def _table(case: Case) -> dict[str, Any]:
    """rank -> what the only relevant document counts there: in the reciprocal rank, and in DCG."""
    rows = {}
    for rank in case.stated["expected_table"]:
        labels = [0] * (int(rank) - 1) + [1]
        rows[rank] = [_first(case, labels, "rr"), _first(case, labels, "dcg")]
    return {"expected_table": rows, "parts": rows}


def _labels(case: Case, place: int) -> list[float]:
    return list(case.queries[place]["ranked_relevance"])


def _first(case: Case, labels: list[float], measure: str) -> float:
    """The value of one query with these labels."""
    return score(replace(case, queries=({"ranked_relevance": labels},)), measure).mean


def _values(case: Case, found: Found) -> list[float]:
    return [found.values[query] for query in case.query_ids]


def _like(printed: Any, value: Any) -> Any:
    """A value as the text prints it, if it says the same: less than one unit of its last digit away, cut or rounded."""
    if isinstance(printed, list):
        each = value if isinstance(value, list) else [value]
        return [_like(text, own) for text, own in zip(printed, each, strict=True)]
    if isinstance(value, list):
        (value,) = value
    number, unit = _read(printed)
    return printed if abs(number - value) < unit else f"{value:.10g}"


def _read(printed: str) -> tuple[float, float]:
    """The number that a text prints, and the unit of its last digit."""
    if "/" in printed:
        return float(Fraction(printed)), 1e-9
    text = printed.replace(",", ".")
    return float(text), 10.0 ** -len(text.partition(".")[2])
