"""The randomisation test: how often random signs of the differences give a sum as far from 0 as the observed one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rankeval_cli.inference.differences import Outcome, Procedure, Sample
from rankeval_cli.inference.intervals import ROUNDING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Sign patterns at a time: totals of 128 KB a measure stay in the cache. The patterns that a seed gives depend on it.
BATCH = 2**14


def sign_flip_test(samples: Sequence[Sample], procedure: Procedure) -> list[Outcome]:
    """The two-sided p-values of several measures of one pair of runs, under the same flips.

    All 2^m sign patterns of the m queries that differ are taken where they are no more than the resamples: p is then
    the exact share of patterns whose |sum| is at least the observed one. Else p is (1 + hits) / (1 + resamples), never
    0 and never below its expectation (Phipson & Smyth 2010). A sum that falls short by no more than 1e-12 of the sum of
    |differences| is a hit: it is the observed one, added up in another order.
    Weights : the sum is that of weight times difference.
    Source: Fisher 1935; Smucker, Allan & Carterette 2007.
    """
    terms = [sample.terms for sample in samples]
    outcomes = {place: _exact(row) for place, row in enumerate(terms) if _is_few(row, procedure.resamples)}
    drawn = [place for place in range(len(terms)) if place not in outcomes]
    if drawn:
        import numpy as np

        hits = _random_hits(np.stack([terms[place] for place in drawn]), procedure.resamples, procedure.seed)
        for place, count in zip(drawn, hits, strict=True):
            p_value = (1.0 + count) / (1.0 + procedure.resamples)
            outcomes[place] = Outcome(p_value, resamples=procedure.resamples)
    return [outcomes[place] for place in range(len(terms))]


def _is_few(terms: NDArray[np.float64], resamples: int) -> bool:
    """Whether all sign patterns are no more than the resamples."""
    differing = sum(1 for term in terms.tolist() if term != 0.0)
    return differing < resamples.bit_length()  # 2^differing <= resamples


def _exact(terms: NDArray[np.float64]) -> Outcome:
    import numpy as np

    sums = np.zeros(1)
    for term in terms[terms != 0.0]:
        sums = np.concatenate([sums + term, sums - term])
    return Outcome(int(np.count_nonzero(np.abs(sums) >= _threshold(terms))) / len(sums))


def _threshold(terms: NDArray[np.float64]) -> float:
    """What |sum| must reach to be a hit."""
    values = terms.tolist()
    return abs(math.fsum(values)) - ROUNDING * math.fsum(map(abs, values))


def _random_hits(terms: NDArray[np.float64], resamples: int, seed: int) -> list[int]:
    """How many of the resamples are hits, for each measure. terms : float64 (measures, Q)."""
    import numpy as np

    stream = np.random.PCG64(seed)
    thresholds = np.array([_threshold(row) for row in terms])
    hits = np.zeros(len(terms), np.int64)
    for start in range(0, resamples, BATCH):
        totals = _flipped_totals(terms, min(BATCH, resamples - start), stream)
        hits += np.count_nonzero(np.abs(totals) >= thresholds, axis=0)
    return [int(count) for count in hits]


def _flipped_totals(terms: NDArray[np.float64], size: int, stream: np.random.PCG64) -> NDArray[np.float64]:
    """The sum over the queries of +term or -term in each of `size` patterns: float64 (size, measures).

    One raw word gives the signs of 64 queries of one pattern. Eight queries at a time, their 256 possible sums are
    looked up, not added: 10,000 patterns of 7,000 queries and 5 measures take 0.1 s.
    """
    import numpy as np

    totals, found = np.zeros((size, len(terms))), np.empty((size, len(terms)))
    for start in range(0, terms.shape[1], 64):
        signs = _sign_bytes(stream.random_raw(size))
        for byte, sums in zip(signs, _byte_sums(terms[:, start : start + 64]), strict=False):
            np.take(sums, byte, axis=0, out=found, mode="clip")  # no index is out of range; `clip` needs no buffer
            totals += found
    return totals


def _sign_bytes(words: NDArray[np.uint64]) -> NDArray[np.intp]:
    """The eight bytes of each word, lowest first, whatever the machine's order: intp (8, words)."""
    import numpy as np

    return np.stack([(words >> np.uint64(shift)) & np.uint64(255) for shift in range(0, 64, 8)]).astype(np.intp)


def _byte_sums(terms: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """For each eight queries the sums under all 256 sign patterns, a set bit for plus: float64 (256, measures)."""
    import numpy as np

    signs = ((np.arange(256)[:, None] >> np.arange(8)) & 1) * 2.0 - 1.0
    for start in range(0, terms.shape[1], 8):
        sums = np.zeros((256, len(terms)))
        for place, column in enumerate(terms[:, start : start + 8].T):
            sums += signs[:, place, None] * column
        yield sums
