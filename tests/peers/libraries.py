"""ranx, rankereval, rankkit, toolkit-rag-quality; and SciPy, whose statistics have no call yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from peers.calls import Found, answers, in_order, score, word
from peers.cases import Case, NoCounterpart, Taken

BOOTSTRAP = "percentile bootstrap of given per-query scores"
POLICIES = {"propagate": "nan", "drop": "skip", "zerofill": "zero"}


def ranx(case: Case) -> Mapping[str, Any]:
    """A metric string of ranx; with make_comparable=False a query without results is an error there."""
    take = Taken(case)
    missing = take("make_comparable", {}, {True: {}, False: {"missing": "error"}})
    take.end()
    return answers(case, score(case, case.metric, preset="ranx", **missing))


def rankereval(case: Case) -> Mapping[str, Any]:
    """A metric class of rankereval; the mean under one nan_handling, or under each of them."""
    take, rules = Taken(case), {"preset": "rankereval"}
    rules["resamples"], rules["confidence"] = take("n_bootstrap_samples", 1000), take("confidence", 0.95)
    take("conf_interval")  # the interval is there anyhow
    if case.metric == BOOTSTRAP:
        take.end()
        return answers(case, score(as_gains(case), "dcg@1", ci="bootstrap", no_relevant="zero", **_own(rules)))
    measure, case = rankereval_word(case, take), padded(case) if case.metric in ("DCG", "NDCG") else case
    policy = take("nan_handling", "nan", POLICIES)
    take.end()
    found = answers(case, score(case, measure, **rules, no_relevant=policy))
    if isinstance(case.stated.get("expected_mean"), Mapping):
        stated = [name for name in case.stated["expected_mean"] if name in POLICIES]
        means = {name: score(case, measure, **rules, no_relevant=POLICIES[name]).mean for name in stated}
        found["expected_mean"] = means
    if policy == "zero":  # values by query are those before the policy there
        found["expected_per_query"] = in_order(case, score(case, measure, **rules, no_relevant="nan").values)
    return found


def rankereval_word(case: Case, take: Taken) -> str:
    """The measure of rankereval's class, with its parameters."""
    k, scaling = take("k"), take("relevance_scaling", None, {"identity": None, "power": "square"})
    base = take("log_base", None, str)
    truncated = take("truncated", None, {True: True, False: None})
    return word(case.metric, k, truncated=truncated, gain=scaling, base=base)


def padded(case: Case) -> Case:
    """The rankings of graded labels as they went in there: with labels 0 up to the longest, which count for `power`."""
    size = max(len(query["ranked_relevance"]) for query in case.queries)
    rows = [[*query["ranked_relevance"], *[0] * (size - len(query["ranked_relevance"]))] for query in case.queries]
    queries = zip(case.queries, rows, strict=True)
    return replace(case, queries=tuple({**query, "ranked_relevance": row} for query, row in queries))


def as_gains(case: Case) -> Case:
    """Scores of queries as the grade of their only document, so that dcg@1 is the score."""
    queries = tuple({"ranked_relevance": [query["score"]]} for query in case.queries)
    return replace(case, queries=queries)


def _own(rules: Mapping[str, Any]) -> dict[str, Any]:
    return {name: rule for name, rule in rules.items() if name != "preset"}


def rankkit(case: Case) -> Mapping[str, Any]:
    """A metric of rankkit. Grades below 1 are not relevant, queries without a relevant document or results are skipped.

    It takes lists in their order; those of a fixture were put there by ascending document id where scores are equal.
    """
    take = Taken(case)
    gain = take("gain", "exp")
    params = {"gain": gain} if case.metric == "ndcg" else {"max": take("max_grade")} if case.metric == "err" else {}
    measure = word(case.metric, take("k", 10), **params)
    take.end()
    rules = {"no_relevant": "skip", "missing": "skip", "negative": "nonrelevant", "ties": "docid-asc"}
    return answers(case, score(case, measure, **rules))


def toolkit(case: Case) -> Mapping[str, Any]:
    """A metric of toolkit-rag-quality, whose rules are the defaults here."""
    take = Taken(case)
    measure, level = word(case.metric, take("k")), take("relevance_level", 1)
    found: Found = score(case, measure, relevance_level=level) if not case.metric.startswith("paired") else paired(case)
    take.end()
    return answers(case, found)


def scipy(case: Case) -> Mapping[str, Any]:
    """A statistic of SciPy on values by query."""
    raise NoCounterpart(f"{case.metric}: there is no comparison of values by query")


def paired(case: Case) -> Found:
    """A paired test."""
    raise NoCounterpart(f"{case.metric}: there is no comparison of values by query")
