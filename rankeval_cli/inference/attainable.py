"""The smallest p-value that a test could give, whatever the size of the differences: above alpha, it cannot decide.

Each function takes the number of queries, how many of them differ, and the random resamples behind the p-value (None
where it is exact), and gives a lower bound of the two-sided p-value; 1 where no query differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from rankeval_cli.inference.tails import t_tail

Least = Callable[[int, int, int | None], float]


def of_t(queries: int, differing: int, resamples: int | None) -> float:
    """Student's t of as many equal differences, all else 0; 0 where every query differs. See `margins.least_p`."""
    if differing == queries:
        return 0.0
    return min(1.0, 2.0 * t_tail(math.sqrt(differing * (queries - 1) / (queries - differing)), queries - 1))


def of_signs(queries: int, differing: int, resamples: int | None) -> float:
    """All differences on one side: two of the 2^m patterns of signs; with resamples, (1 + 0) / (1 + resamples)."""
    return of_resamples(queries, differing, resamples) if resamples else math.ldexp(1.0, min(0, 1 - differing))


def of_resamples(queries: int, differing: int, resamples: int | None) -> float:
    """No hit in any resample."""
    return 1.0 / (1.0 + resamples) if resamples and differing else 1.0
