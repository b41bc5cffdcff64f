"""Tests of two runs on the same queries: which there are, and what one of them says of every measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankeval_cli.errors import UsageError, did_you_mean
from rankeval_cli.inference.attainable import Least, of_resamples, of_signs, of_t
from rankeval_cli.inference.differences import (
    CONSTANT,
    IDENTICAL,
    LOPSIDED,
    TIE,
    Outcome,
    Procedure,
    Sample,
    clipped,
    obstacle,
    sample_of,
    t_interval_of,
)
from rankeval_cli.inference.intervals import Ends
from rankeval_cli.inference.ranks import sign_test, wilcoxon_test
from rankeval_cli.inference.signflips import sign_flip_test
from rankeval_cli.inference.studentized import bootstrap_test
from rankeval_cli.inference.tails import t_tail
from rankeval_cli.model import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT = Procedure()
Decide = Callable[[Sequence[Sample], Procedure], list[Outcome]]


@dataclass(frozen=True)
class PairedTest:
    """The declaration of one test; help and documentation derive from it.

    description : what it compares, and when to use it, in a sentence or two
    decide : the function of the samples of one pair, all measures at once; None for the test that looks at all runs
        together (`families.tukey`): its p-values hold for all pairs of a measure, and are never corrected again
    least : the smallest p-value that it could give, for queries that count alike
    aliases : other names that mean this, as other tools write them
    interval : the method of the interval beside it
    takes_weights : whether queries may have weights
    is_random : whether it depends on the seed
    """

    name: str
    title: str
    description: str
    source: str
    decide: Decide | None
    least: Least
    aliases: tuple[str, ...] = ()
    interval: str = "t"
    takes_weights: bool = True
    is_random: bool = False

    @property
    def is_simultaneous(self) -> bool:
        """Whether its p-values already allow for the number of pairs."""
        return self.decide is None


@dataclass(frozen=True)
class PairedResult:
    """One measure of two runs, a (the base) and b, over the queries that have a value in both.

    mean_a, mean_b : (weighted) means; None without queries
    diff : mean of b - a
    relative : diff / |mean_a|; None when the base is 0
    ci_low, ci_high, ci_method, ci_note : the interval of diff, clipped to what is possible; None, with the reason
    p_value : two-sided; None where the test has no answer, which `note` explains
    resamples : random resamples behind the p-value; None where it is exact or in closed form
    note : also says where a p-value needs no test, and where the test is not for the side that the mean is for
    effect : diff / standard deviation of the differences (Cohen's d for pairs); None without spread
    wins, ties, losses : queries where b is higher, equal (to within 1e-9), lower
    queries : those compared
    undefined : those left out, because a run has no value or the query no weight
    """

    test: str
    mean_a: float | None
    mean_b: float | None
    diff: float | None
    relative: float | None
    ci_low: float | None
    ci_high: float | None
    ci_method: str | None
    ci_note: str | None
    p_value: float | None
    resamples: int | None
    effect: float | None
    wins: int
    ties: int
    losses: int
    queries: int
    undefined: int
    note: str | None = None


def compare(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    procedure: Procedure = DEFAULT,
    bounds: Sequence[Ends] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> tuple[PairedResult, ...]:
    """What a test of one pair of runs says of each measure.

    a, b : float64 (measures, Q), the same queries in the same order, NaN where undefined
    bounds : smallest and largest value of each measure; the interval of a difference is clipped accordingly
    weights : float64 (Q,) or (measures, Q), 0 or more, or None
    All measures see the same flips or resamples, which depend on Q, the resamples and the seed only. Raises UsageError
    for a test that there is not, and for one that looks at all runs together.
    Two runs that differ nowhere have p = 1 and the interval 0 to 0, whatever the test. One query is no test.
    """
    test = find_test(procedure.test)
    if test.decide is None:
        raise UsageError(f"`{test.name}` compares all runs at once, not two", hint=f"choose {_pairwise_names()}")
    heavy = rows_of(weights, a)
    samples = [sample_of(a[place], b[place], heavy[place]) for place in range(len(a))]
    outcomes = _outcomes(samples, test, procedure, weights is not None)
    return tuple(
        result_of(sample, test, outcome, procedure.confidence, bounds[place] if bounds else None)
        for place, (sample, outcome) in enumerate(zip(samples, outcomes, strict=True))
    )


def rows_of(weights: NDArray[np.float64] | None, values: NDArray[np.float64]) -> Sequence[NDArray[np.float64] | None]:
    """The weights of each measure; values : float64 (measures, Q)."""
    import numpy as np

    return [None] * len(values) if weights is None else list(np.broadcast_to(weights, values.shape))


def _outcomes(samples: Sequence[Sample], test: PairedTest, procedure: Procedure, is_weighted: bool) -> list[Outcome]:
    """What the test says of each sample, or what goes without a test."""
    assert test.decide is not None
    settled = [settle(sample) for sample in samples]
    left = [sample for sample, outcome in zip(samples, settled, strict=True) if outcome is None]
    if is_weighted and not test.takes_weights:
        found = [Outcome(None, f"{test.name} does not weigh queries")] * len(left)
    else:
        found = test.decide(left, procedure) if left else []
    rest = iter(found)
    return [outcome or next(rest) for outcome in settled]


def settle(sample: Sample) -> Outcome | None:
    """The outcome where no test is needed or possible; None where there is something to test."""
    reason = obstacle(sample)
    if reason is not None:
        return Outcome(None, reason, interval=Interval(None, None, None, reason))
    if sample.differing == 0:
        return Outcome(1.0, IDENTICAL, interval=Interval(0.0, 0.0, "t", IDENTICAL))
    return None


def result_of(
    sample: Sample, test: PairedTest, outcome: Outcome, confidence: float, bounds: Ends | None
) -> PairedResult:
    """The record of one measure; bounds as in `compare`."""
    limits = clipped(outcome.interval or t_interval_of(sample, confidence), bounds)
    has_base = math.isfinite(sample.mean_a) and abs(sample.mean_a) > TIE
    has_spread = len(sample.values) > 1 and not sample.is_constant
    return PairedResult(
        test=test.name,
        mean_a=_finite(sample.mean_a),
        mean_b=_finite(sample.mean_b),
        diff=_finite(sample.mean),
        relative=_finite(sample.mean / abs(sample.mean_a)) if has_base else None,
        ci_low=limits.low,
        ci_high=limits.high,
        ci_method=limits.method,
        ci_note=limits.note,
        p_value=outcome.p_value,
        resamples=outcome.resamples,
        effect=_finite(sample.mean / sample.spread) if has_spread else None,
        wins=sample.wins,
        ties=len(sample.values) - sample.differing,
        losses=sample.losses,
        queries=len(sample.values),
        undefined=len(sample.row) - len(sample.values),
        note=outcome.note,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def t_test(samples: Sequence[Sample], procedure: Procedure) -> list[Outcome]:
    """The two-sided p-values of Student's t of the differences; none where they are all equal, as t is infinite there.

    Weighted: see `differences.sample_of`. Source: Student 1908.
    """
    return [_t_test(sample) for sample in samples]


def _t_test(sample: Sample) -> Outcome:
    if sample.is_constant:
        return Outcome(None, CONSTANT)
    if math.isnan(sample.error):
        return Outcome(None, LOPSIDED)
    return Outcome(min(1.0, 2.0 * t_tail(abs(sample.mean) / sample.error, max(sample.degrees, 1.0))))


# The first is the default.
TESTS: tuple[PairedTest, ...] = (
    PairedTest(
        "t",
        "Student's t of the differences",
        "Compares the mean difference with its standard error. The choice for almost everything; with a few dozen "
        "queries it is as good as the others, also for measures that are far from normal.",
        "Student 1908; Smucker et al. 2007; Urbano et al. 2019",
        t_test,
        of_t,
        aliases=("t-test", "ttest", "student"),
    ),
    PairedTest(
        "randomization",
        "Random signs of the differences",
        "Asks how often a mean as far from 0 comes up when it is chance which run had which value. Assumes nothing "
        "about their distribution; exact when few queries differ.",
        "Fisher 1935; Smucker et al. 2007; Phipson & Smyth 2010",
        sign_flip_test,
        of_signs,
        aliases=("randomisation", "permutation", "sign-flip", "fisher"),
        is_random=True,
    ),
    PairedTest(
        "bootstrap",
        "Bootstrap of the t value, differences shifted to mean 0",
        "Resamples the queries; beside it stands the bootstrap-t interval of the same resamples.",
        "Efron & Tibshirani 1993, 16.4; Sakai 2006",
        bootstrap_test,
        of_resamples,
        interval="bootstrap-t",
        is_random=True,
    ),
    PairedTest(
        "wilcoxon",
        "Wilcoxon's signed ranks",
        "Compares ranks of the differences, so it is not about the mean: it can be significant where the mean moved "
        "the other way. Queries without a difference are dropped.",
        "Wilcoxon 1945",
        wilcoxon_test,
        of_signs,
        aliases=("signed-rank",),
        takes_weights=False,
    ),
    PairedTest(
        "sign",
        "Sign test",
        "Compares the number of wins and losses, not the mean. Queries without a difference are dropped.",
        "Arbuthnot 1710",
        sign_test,
        of_signs,
        aliases=("sign-test", "binomial"),
        takes_weights=False,
    ),
    PairedTest(
        "tukey",
        "Tukey's honest significant difference, randomised within queries",
        "Compares all runs at once: every p-value is against the largest difference that chance gives between any two "
        "of them, so none of them is corrected again.",
        "Carterette 2012",
        None,
        of_resamples,
        aliases=("tukey-hsd", "hsd"),
        interval="tukey",
        is_random=True,
    ),
)


def find_test(name: str) -> PairedTest:
    """The test of this name or alias, in any case, `_` for `-`. Raises UsageError for a name that there is not."""
    word = name.lower().replace("_", "-")
    for test in TESTS:
        if word in (test.name, *test.aliases):
            return test
    names = [test.name for test in TESTS]
    hint = did_you_mean(word, names) or f"choose one of {', '.join(names)}"
    raise UsageError(f"`{name}` is not a test", hint=hint)


def _pairwise_names() -> str:
    return "one of " + ", ".join(test.name for test in TESTS if test.decide)
