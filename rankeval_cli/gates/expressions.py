"""What a gate can say, as records: subjects, bounds, comparisons, rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rankeval_cli.measures.spec import Metric

Op = Literal[">=", ">", "<=", "<", "=="]
Stat = Literal["mean", "median", "min", "max", "ci_low", "ci_high"]
DiffStat = Literal["min", "max", "ci_low", "ci_high"]
FactName = Literal["queries", "missing_queries", "unjudged_queries", "undefined"]

STATS: tuple[Stat, ...] = ("mean", "median", "min", "max", "ci_low", "ci_high")
DIFF_STATS: tuple[DiffStat, ...] = ("min", "max", "ci_low", "ci_high")
FACTS: tuple[FactName, ...] = ("queries", "missing_queries", "unjudged_queries", "undefined")


@dataclass(frozen=True)
class Value:
    """A measure's value as the report shows it (`stat` None), a statistic of its queries, or an end of its interval.

    group : of queries that it is about, None for all; MACRO for the mean of the groups' values (`stat` is None then)
    """

    metric: Metric
    stat: Stat | None = None
    group: str | None = None


@dataclass(frozen=True)
class Difference:
    """The mean difference from the baseline, query by query (`stat` None), one query's, or an end of its interval."""

    metric: Metric
    stat: DiffStat | None = None
    group: str | None = None


@dataclass(frozen=True)
class Share:
    """The share of queries whose value of a measure stands in this relation to `bound`."""

    metric: Metric
    op: Op
    bound: float
    group: str | None = None


@dataclass(frozen=True)
class Fact:
    """A count of queries."""

    name: FactName


Subject = Value | Difference | Share | Fact


@dataclass(frozen=True)
class Amount:
    """A number, or a share of what the baseline has."""

    number: float = 0.0
    is_relative: bool = False

    def of(self, base: float) -> float:
        """The amount where the baseline has `base`; of a negative one a positive share is positive too."""
        return self.number * abs(base) if self.is_relative else self.number


@dataclass(frozen=True)
class Gate:
    """What must hold: `subject op bound`.

    text : as shown, without `warn:`
    bound : a number, or what is added to the subject's value for the baseline
    is_percent : whether the bound is a number written as a percentage; of a fact it is a share of the judged queries
    warn : a failure is only told
    """

    text: str
    subject: Subject
    op: Op
    bound: float | Amount
    is_percent: bool = False
    warn: bool = False

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that must be computed for a decision."""
        return () if isinstance(self.subject, Fact) else (self.subject.metric,)

    @property
    def group(self) -> str | None:
        """The group of queries that it is about; None for all."""
        return None if isinstance(self.subject, Fact) else self.subject.group

    @property
    def needs_baseline(self) -> bool:
        """Whether it compares with a baseline."""
        return isinstance(self.bound, Amount) or isinstance(self.subject, Difference)


@dataclass(frozen=True)
class RuleKind:
    """The declaration of one rule; grammar, decision and documentation derive from it.

    sign : the margin m lies at sign * m, where a positive difference from the baseline is a better run
    is_shown : the difference must be shown to lie above the margin; else it must not be shown to lie below
    example : a gate of this rule
    sentence : what makes it fail
    """

    name: str
    sign: float
    is_shown: bool
    needs_margin: bool
    example: str
    sentence: str


RULES: tuple[RuleKind, ...] = (
    RuleKind(
        "no-regression",
        -1.0,
        is_shown=False,
        needs_margin=False,
        example="no-regression(ndcg@10, 1%)",
        sentence="Fails on evidence of harm: when a one-sided paired t-test rejects that the mean dropped by at most "
        "the margin (0 where none is given). It also fails, as inconclusive, when the mean dropped by more and too few "
        "queries differ for any test to say so. To pass is no proof of safety.",
    ),
    RuleKind(
        "non-inferior",
        -1.0,
        is_shown=True,
        needs_margin=True,
        example="non-inferior(ndcg@10, 0.01)",
        sentence="Passes on evidence of safety: only when the lower bound of the mean paired difference, at level "
        "1 - alpha, lies above minus the margin.",
    ),
    RuleKind(
        "improves",
        1.0,
        is_shown=True,
        needs_margin=False,
        example="improves(mrr@10)",
        sentence="Passes on evidence of a gain: only when that lower bound lies above the margin (0 where none is "
        "given).",
    ),
)


@dataclass(frozen=True)
class Rule:
    """A rule that a run must keep, compared with the baseline query by query.

    text : as shown, without `warn:`
    margin : 0 or more; a share is one of the baseline's mean
    group : of queries that it is about, None for all
    warn : a failure is only told
    """

    text: str
    kind: RuleKind
    metric: Metric
    margin: Amount
    warn: bool = False
    group: str | None = None

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that must be computed for a decision."""
        return (self.metric,)

    @property
    def needs_baseline(self) -> bool:
        """Whether it compares with a baseline."""
        return True


AnyGate = Gate | Rule
