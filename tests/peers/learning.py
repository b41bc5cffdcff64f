"""torchmetrics retrieval and Keras RS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from peers.calls import answers, in_order, refused, score, word
from peers.cases import Case, Taken

ACTIONS = {"neg": "zero", "pos": "one", "skip": "skip", "error": "error"}
NUM_SEEDS = 200


def torchmetrics(case: Case) -> Mapping[str, Any]:
    """A class of torchmetrics.retrieval; `empty_target_action` is --no-relevant, `ignore_index` is --ignore-label."""
    take, rules = Taken(case), {"preset": "torchmetrics"}
    rules |= {"no_relevant": take("empty_target_action", None, ACTIONS), "aggregate": take("aggregation")}
    rules |= {"ignore_label": take("ignore_index")}
    norm = take("adaptive_k", None, {True: "min", False: None})
    measure = word(case.metric, take("top_k"), norm=norm, max_fpr=take("max_fpr"))
    given = {name: rule for name, rule in rules.items() if rule is not None}
    if "expected_error" in case.stated or "ValueError" in (case.stated.get("expected_per_query") or ()):
        take.end()
        return refused(case, measure, **given)
    found = answers(case, score(case, measure, **given))
    take.end()
    return found


def keras(case: Case) -> Mapping[str, Any]:
    """A class of keras_rs.metrics. A list without an item that counts is left out here; there its value is 0."""
    take = Taken(case)
    rules = {"preset": "keras", "ties": take("shuffle_ties", "random", {True: "random", False: "file"})}
    rules["seed"] = take("seed", 0)
    measure = word(case.metric, take("k"))
    take.end()
    if "expected_value_counts_over_200_seeds" in case.stated:
        return {"expected_value_counts_over_200_seeds": over_seeds(case, measure, rules)}
    found = score(case, measure, **rules)
    weights = dict.fromkeys(found.values, 1.0) if found.weights is None else found.weights
    return {
        "expected_per_query": in_order(case, found.values, absent=0.0),
        "expected_mean": found.mean,
        "expected_query_weights": [weights.get(query, 0.0) for query in case.query_ids],
    }


def over_seeds(case: Case, measure: str, rules: Mapping[str, Any]) -> dict[str, int]:
    """How often each value comes out, with six decimals without closing zeros, under the seeds 0, 1, .."""
    values = (score(case, measure, **{**rules, "seed": seed}).mean for seed in range(NUM_SEEDS))
    return dict(Counter(str(round(value, 6)) for value in values))
