"""What the declaration of a measure may say, and a measure as a user asked for it.

A measure is one `Measure` record beside its kernel. Everything else (help, completion, tables, gates, property tests)
is derived from the records in `registry.MEASURES`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

NO_CUTOFF = 2**62  # the k that a kernel sees when no cutoff was asked for: larger than any ranking

# How a list behind a name is read: `P.5,10` (one metric a cutoff), `Rprec_mult.0.5,1` (one metric a value of the
# parameter that stands after `@`), `utility.1,-1,0,0` (numbers for the parameters), `ndcg.1=3.5,2=9` (gains, and
# parameters by name).
Suffix = Literal["cutoffs", "points", "numbers", "pairs"]
Group = Literal["official", "all_trec", "set", "prefs", "all_prefs", "qrels_jg"]  # what trec_eval's -m takes together

# Why a value may be undefined. `--no-relevant` acts on the first two only.
Reason = Literal[
    "no_relevant", "no_gain", "no_nonrelevant", "one_class", "nothing_found", "empty_ranking", "no_pool",
    "not_one_relevant",
]  # fmt: skip


class Ranking(NamedTuple):
    """One query as a kernel sees it; all arrays are of this query alone.

    grade : float64 (n,)     grades in rank order, -1 where unjudged; or gains in rank order, 0 where unjudged, when
        the measure declares `gain`
    status : uint8 (n,)      0 not in the pool, 1 in the pool but unjudged (negative grade), 2 judged
    ideal : float64 (m,)     judged grades >= 0, descending; their gains, descending, when the measure declares `gain`
    discount : float64 (d,)  the measure's discount of ranks 1, 2, ..; d >= max(n, m); (0,) when it declares none
    num_rel : int            judged documents with grade >= level (counted on grades, never on gains)
    """

    grade: Any
    status: Any
    ideal: Any
    discount: Any
    num_rel: int


class TiedRanking(NamedTuple):
    """As `Ranking`, and `score` : float64 (n,), falling: for measures that look at ties."""

    grade: Any
    status: Any
    ideal: Any
    discount: Any
    num_rel: int
    score: Any


# kernel(ranking, k, level, params) -> value, NaN where undefined. + - * / and comparisons only; no call but len, min,
# max, range, float and int; nothing outside its file, no helper function. Plain and compiled give the same bits.
# params : float64 (p,), what `Measure.encode` makes of the parameters.
Kernel = Callable[[Any, int, float, Any], float]


@dataclass(frozen=True)
class Param:
    """One parameter of a measure.

    kind : "float", "int", "choice" (one of `choices`), "gains" ({grade: gain}), "floats" (a list of numbers)
    default : value when the parameter is not given; None where there is no number to put there
    is_at : the parameter stands after `@` (`iprec@0.1`); its measure then has the cutoff "value"
    choices : legal words; for a number: words that are legal besides numbers (`base=e`)
    low, high : smallest and largest legal value of a number (inclusive)
    above, below : bounds that are themselves not legal
    """

    name: str
    kind: Literal["float", "int", "choice", "gains", "floats"]
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    is_at: bool = False


@dataclass(frozen=True)
class GainMap:
    """How grades >= 0 become gains; `key` is equal exactly when the map is (views of a block are shared by it).

    of : grade -> gain, built with `math` and called once for each distinct grade
    unjudged : gain of a document that is not in the pool, and of one with a negative grade; 0 but for trec_eval's
        `ndcg.-1=5`
    """

    key: Hashable
    of: Callable[[float], float]
    unjudged: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Discount:
    """What a kernel finds in `discount` : `of(rank)` for rank 1, 2, ..; `key` is equal exactly when the column is."""

    key: Hashable
    of: Callable[[int], float]


# trec_eval's own lists, each used by several of its names.
TREC_CUTOFFS = (5.0, 10.0, 15.0, 20.0, 30.0, 100.0, 200.0, 500.0, 1000.0)
TREC_LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class TrecEval:
    """One name of trec_eval: what it prints, where, and for which parameters of ours.

    order : place among all lines of a query, which trec_eval prints in a fixed order; numbers need not be dense
    stem : the name as it spells it; what follows in output is derived from `takes`: `_5` for a cutoff, `_0.20` for a
        value of the parameter after `@`, for the other lists the text as the user wrote it (`_1=3.5,2=9`)
    groups : the groups of measures that hold it
    takes : what may follow the name, None for nothing
    defaults : the cutoffs or values that the bare name stands for; () where the bare name is a measure of its own
    params : the parameters of ours that give its value, where they are not our defaults
    per_query, summary : whether a line is printed for each query, and for all of them
    by_group : the value is the mean over the judgment groups of a query, each being judgments of its own
    since : the first release that has it, 9 standing for all before 10
    """

    order: int
    stem: str
    groups: tuple[Group, ...] = ("all_trec",)
    takes: Suffix | None = None
    defaults: tuple[float, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    per_query: bool = True
    summary: bool = True
    by_group: bool = False
    since: int = 9


def same_in_any_order(metric: Metric) -> Kernel:
    """The mean over all orders of tied documents, for a measure whose value is the same in each of them."""
    return metric.measure.kernel


def no_closed_form(metric: Metric) -> None:
    """There is no kernel for the mean over all orders of tied documents."""


def without_gains(metric: Metric) -> bool:
    """For a fact of a measure that holds unless `gains` gives a better grade the smaller gain."""
    return not metric.params["gains"]


def never(metric: Metric) -> bool:
    """For a fact of a measure that holds for none of its metrics."""
    return False


def without_cutoff(metric: Metric) -> bool:
    """For a fact of a measure that holds for the whole list alone."""
    return metric.cutoff is None


@dataclass(frozen=True)
class Measure:
    """The declaration of one measure.

    name : canonical name, lower case
    aliases : other names that mean exactly this (names ignore case; `-` and `_` are the same)
    definition : the exact definition, edge cases included, as `rankeval measures NAME` prints it
    cutoff : "optional", "required", "never", or "value" (then `@x` gives the parameter that says `is_at`)
    bounds : smallest and largest value of one query; math.inf where open
    direction : "higher", "lower" or "none" (counts and facts: neither is better)
    undefined : the reasons for which a value is undefined; `no_relevant` and `no_gain` are what --no-relevant acts on
        (found from the judgments by the scoring), for any other the kernel returns NaN
    aggregate : "mean", "sum" (counts), "geometric" (exp of the mean logarithm)
    is_binary : metric -> whether each query's value can only be 0 or 1 (then the interval is Wilson's)
    needs_tail : metric -> whether documents behind the last one in the pool change the value; where they do not, the
        kernel never sees them, which on runs of 1,000 documents is most of its work
    gain : metric, highest grade of the whole qrels -> GainMap; None for measures of plain grades. An explicit
        `(rel=)` on a measure with gains is applied by the scoring (lower grades get gain 0, also in the ideal).
    needs_highest : metric -> whether `gain` looks at the highest grade
    discount : metric -> Discount
    uses_level : whether -l/--relevance-level changes the value (false for dcg, ndcg, err)
    encode : metric -> the kernel's parameters as floats
    uses_score : the kernel takes a TiedRanking
    expected : metric -> the kernel (TiedRanking, same parameters) of the exact mean over all orders of tied documents,
        with the bits of `kernel` where there are no ties; None where no closed form is known
    ties_bound : metric -> whether no order of tied documents has a value outside of what the orders with the highest
        and with the lowest grades first have
    per_share : the value is divided by what the relevant items weigh, under a preset whose items have weights
    plain_only : never compiled (needs the logarithm of a computed value)
    trec_eval : its names there, in its order; () where absent
    ir_measures, ranx : what this is called there, for tables; None where absent
    suffixes : further names -> how what stands after `name.` or `name_` is read, as the names of trec_eval declare it
    shorthand : further names that fix parameters: name -> parameters (`ndcg_exp` -> gain=exp)
    foreign : parameters of other tools: name -> value there -> our parameters (`dcg='exp-log2'` -> gain=exp)
    variant : parameters, explicit `(rel=)` or None -> the record that answers then, when not this one
    caution : metric, the name used -> what the user should know about this spelling, or None
    examples : spellings that `rankeval measures NAME` shows; each must parse as this measure
    """

    name: str
    title: str
    definition: str
    source: str
    kernel: Kernel
    aliases: tuple[str, ...] = ()
    cutoff: Literal["optional", "required", "never", "value"] = "optional"
    params: tuple[Param, ...] = ()
    bounds: tuple[float, float] = (0.0, 1.0)
    direction: Literal["higher", "lower", "none"] = "higher"
    undefined: tuple[Reason, ...] = ()
    aggregate: Literal["mean", "sum", "geometric"] = "mean"
    is_binary: Callable[[Metric], bool] = lambda metric: False
    needs_tail: Callable[[Metric], bool] = lambda metric: True
    gain: Callable[[Metric, float], GainMap] | None = None
    needs_highest: Callable[[Metric], bool] = lambda metric: False
    discount: Callable[[Metric], Discount] | None = None
    uses_level: bool = True
    encode: Callable[[Metric], tuple[float, ...]] = lambda metric: ()
    uses_score: bool = False
    expected: Callable[[Metric], Kernel | None] = no_closed_form
    ties_bound: Callable[[Metric], bool] = lambda metric: True
    per_share: bool = False
    plain_only: bool = False
    trec_eval: tuple[TrecEval, ...] = ()
    ir_measures: str | None = None
    ranx: str | None = None
    suffixes: Mapping[str, Suffix] = field(default_factory=dict)
    shorthand: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    foreign: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    variant: Callable[[Mapping[str, Any], float | None], Measure | None] = lambda params, level: None
    caution: Callable[[Metric, str], str | None] = lambda metric, name: None
    examples: tuple[str, ...] = ()

    @property
    def takes_level(self) -> bool:
        """Whether an explicit `(rel=)` means something for this measure."""
        return self.uses_level or self.gain is not None

    @property
    def at(self) -> Param | None:
        """The parameter that stands after `@` in place of a cutoff; None for most measures."""
        return next((param for param in self.params if param.is_at), None)

    @property
    def endings(self) -> Mapping[str, Suffix]:
        """Names (lower case) that a list may follow after `.` or `_`, and how it is read.

        A name that is no alias (`ndcg_cut`) needs a cutoff.
        """
        there = {name.stem.lower(): name.takes for name in self.trec_eval if name.takes and not name.by_group}
        return {**there, **self.suffixes}


@dataclass(frozen=True)
class Metric:
    """A measure as asked for: `mrr@10`, `P(rel=2)@5`.

    written : as the user wrote it, the key in reports (one of several cutoffs: with that cutoff alone)
    canonical : name, non-default parameters in declared order, then `@k`: what gates and baselines look for
    params : every declared parameter, defaults filled in
    cutoff : k, None for the whole list (also for measures whose `@` gives a parameter)
    level : an explicit `(rel=)`, None for the -l of the command line
    judged_only : an explicit `judged_only=True`
    given : names of the parameters that the word gives; the others have their defaults
    warning : something the user should know about the spelling (`hits` means a count here), None mostly
    """

    measure: Measure
    written: str
    canonical: str
    params: Mapping[str, Any] = field(default_factory=dict)
    cutoff: int | None = None
    level: float | None = None
    judged_only: bool = False
    given: frozenset[str] = field(default=frozenset(), compare=False)
    warning: str | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by name: the functions of a record cannot be."""
        return _restored, (self.canonical, self.written, self.warning)

    @property
    def k(self) -> int:
        """The cutoff as a kernel sees it."""
        return NO_CUTOFF if self.cutoff is None else self.cutoff

    @property
    def is_binary(self) -> bool:
        """Whether each query's value can only be 0 or 1."""
        return self.measure.is_binary(self)

    @property
    def expected(self) -> Kernel | None:
        """The kernel of its exact mean over all orders of tied documents; None where no closed form is known."""
        return self.measure.expected(self)


def _restored(canonical: str, written: str, warning: str | None) -> Metric:
    from rankeval_cli.measures.expression import parse

    return replace(parse(canonical)[0], written=written, warning=warning)
