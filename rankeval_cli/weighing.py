"""What queries weigh in means: what the user says, what a labelled table says, what a preset makes of items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankeval_cli.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankeval_cli.model import Judgments, Rules, Scores


def weights_of(source: Any) -> dict[str, float] | None:
    """The weights that the user gave, from memory or a file; None without any."""
    if source is None:
        return None
    from rankeval_cli.readers.weights import read_weights

    return read_weights(source)


def weighed(scores: Scores, judgments: Judgments, weights: Mapping[str, float] | None, rules: Rules) -> Scores:
    """The scores with the weights of their queries; those of the user win over those of a table.

    Raises InputError naming a judged query that has no weight, or when every weight is 0.
    """
    import numpy as np

    if weights is not None:
        missing = [query for query in judgments.queries if query not in weights]
        if missing:
            more = f" ({len(missing):,} such queries)" if len(missing) > 1 else ""
            what = f"no weight for the judged query `{missing[0]}`{more}"
            raise InputError(what, rules.weights, "give every judged query a weight; 0 leaves it out")
        scores = replace(scores, weights=np.array([weights[query] for query in scores.queries], dtype=np.float64))
    if scores.weights is not None and len(scores.queries) and not scores.weights.any() and not rules.none_is_zero:
        raise InputError("every judged query has weight 0", rules.weights, "give one query or more a weight above 0")
    return scores if scores.shares is None else _with_list_weights(scores, scores.shares)


def _with_list_weights(scores: Scores, shares: NDArray[np.float64]) -> Scores:
    """The scores with the weights that a preset makes of them; a query of weight 0 has value 0, as if masked."""
    import numpy as np

    values = scores.values if scores.weights is None else np.where(scores.weights > 0, scores.values, 0.0)
    return replace(scores, values=values, weights=_list_weights(shares, scores.weights))


def _list_weights(shares: NDArray[np.float64], lists: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Float64 (measures, Q): what relevant items weigh on average; the average of that where a query has none.

    shares : as `Scores` has them, of items that weigh 1 where only queries have weights
    lists : (Q,) weights of queries, None where they weigh alike; a query of weight 0 stays out
    Source: `_per_example_weights_to_per_list_weights` of TF-Ranking, which Keras RS shares.
    """
    import numpy as np

    own = np.ones(shares.shape[1]) if lists is None else lists
    weights = shares * own
    for row in weights:
        known = row[~np.isnan(row) & (own > 0)]
        average = math.fsum(known) / len(known) if len(known) else 1.0
        row[np.isnan(row)] = average
        row[own == 0] = 0.0
    return weights
