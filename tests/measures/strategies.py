"""Hypothesis strategies for queries, and for every metric that a measure's record allows."""

from hypothesis import strategies as st
from naive import Query

from rankeval_cli.measures.expression import canonical_name, parse
from rankeval_cli.measures.spec import Measure, Metric, Param

GRADES = st.sampled_from([None, None, -2.0, -1.0, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0])
SCORES = st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0])

# Values that a parameter takes from the data, and cannot take from its record alone.
PARAM_VALUES = {
    ("err", "max"): st.sampled_from([3.0, 4.0, 6.5]),
    ("fallout", "num_docs"): st.integers(1, 30).map(float),
    **{("utility", f"p{number}"): st.integers(-4, 4).map(lambda weight: weight / 2) for number in (1, 2, 3, 4)},
}


@st.composite
def queries(draw, max_size: int = 12) -> Query:
    ranked = draw(st.lists(GRADES, max_size=max_size))
    unretrieved = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]), max_size=4))
    scores = sorted(draw(st.lists(SCORES, min_size=len(ranked), max_size=len(ranked))), reverse=True)
    return Query(ranked, unretrieved, scores)


def values(measure: Measure, param: Param):
    if (measure.name, param.name) in PARAM_VALUES:
        return PARAM_VALUES[measure.name, param.name]
    if param.kind == "choice":
        return st.sampled_from(param.choices)
    if param.kind == "gains":
        return st.dictionaries(
            st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]), st.sampled_from([0.0, 0.3, 1.0, 7.0]), min_size=1
        ).map(lambda gains: dict(sorted(gains.items())))
    number = numbers(param)
    if param.kind == "floats":
        return st.lists(number, min_size=1, max_size=5, unique=True).map(sorted).map(tuple)
    return st.one_of(number, st.sampled_from(param.choices)) if param.choices else number


def numbers(param: Param):
    low = param.above if param.low is None else param.low
    high = param.below if param.high is None else param.high
    if param.kind == "int":
        return st.integers(int(low), int(high)).map(float)
    high = low + 1000.0 if high is None else high
    exclude = {"exclude_min": low == param.above, "exclude_max": high == param.below}
    return st.floats(low, high, **exclude, allow_subnormal=False) | st.sampled_from(
        [(low + high) / 2, (low + 3 * high) / 4]
    )


@st.composite
def metrics(draw, measure: Measure, cutoff: bool | None = None, judged_only: bool | None = None) -> Metric:
    """Any metric of the measure: parameters at their default or drawn, explicit level.

    cutoff, judged_only : whether there is one; None for either
    """
    params = {
        param.name: draw(
            values(measure, param) if is_needed(measure, param) else st.just(param.default) | values(measure, param)
        )
        for param in measure.params
    }
    has_cutoff = measure.cutoff == "required" or (measure.cutoff == "optional" and decide(draw, cutoff))
    k = draw(st.integers(1, 14)) if has_cutoff else None
    level = draw(st.none() | st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.0])) if measure.takes_level else None
    (metric,) = parse(canonical_name(measure, params, k, level, decide(draw, judged_only)))
    return metric


def decide(draw, wanted: bool | None) -> bool:
    return draw(st.booleans()) if wanted is None else wanted


def is_needed(measure: Measure, param: Param) -> bool:
    return param.is_at
