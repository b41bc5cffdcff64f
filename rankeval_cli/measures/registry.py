"""All measures in the order of tables, and what is derived from their records: look-up, description, table."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from rankeval_cli.measures import binary, cascade, curves, graded, graded_points, pairs, pooled, ranks, sets, whole
from rankeval_cli.measures.spec import Measure, Metric, Param
from rankeval_cli.measures.values import legal_values, write_value

MEASURES: tuple[Measure, ...] = (
    *binary.MEASURES,
    *whole.MEASURES,
    *graded.MEASURES,
    *graded_points.MEASURES,
    *cascade.MEASURES,
    *curves.MEASURES,
    *pairs.MEASURES,
    *ranks.MEASURES,
    *pooled.MEASURES,
    *sets.MEASURES,
)

REASONS = {
    "no_relevant": "nothing is relevant (then --no-relevant decides)",
    "no_gain": "no judged document has a gain (then --no-relevant decides)",
    "no_nonrelevant": "nothing is judged non-relevant",
    "one_class": "the ranking holds only relevant or only other documents",
    "nothing_found": "nothing relevant is found",
    "empty_ranking": "there are no results",
    "no_pool": "nothing is judged",
    "not_one_relevant": "not exactly one document is relevant",
}
CUTOFFS = {
    "optional": "@k is optional, without it the whole list counts",
    "required": "@k is required",
    "never": "none; --depth cuts the rankings themselves",
    "value": "@x gives the parameter {at}, and is required",
}
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "none": "neither end is better"}
LEVELS = {True: "--relevance-level decides what is relevant", False: "--relevance-level does not act here"}
RELS = {True: "lowest grade that is relevant, instead of --relevance-level", False: "lower grades get gain 0"}
FORMS = {  # for the whole list, with a cutoff
    (True, True): "is exact",
    (True, False): "is exact for the whole list, and refused with a cutoff",
    (False, False): "is refused: no closed form is known",
}
AGGREGATES = {
    "mean": "mean over the queries",
    "sum": "sum over the queries",
    "geometric": "geometric mean over the queries",
}


def normal(name: str) -> str:
    """A name as the registry holds it: lower case, `_` for `-`."""
    return name.lower().replace("-", "_")


def spellings(measure: Measure) -> tuple[str, ...]:
    """Every name of a measure: the canonical one, aliases, shorthand, then names that need a cutoff."""
    names = (measure.name, *measure.aliases, *measure.shorthand)
    return (*names, *(name for name in measure.endings if name not in names))


NAMES: dict[str, Measure] = {name: measure for measure in MEASURES for name in spellings(measure)}

# Names that may be followed by `.` or `_` and a list, longest first: `ndcg_cut_10` is no `ndcg`.
SUFFIXED: tuple[str, ...] = tuple(
    sorted((name for measure in MEASURES for name in measure.endings), key=len, reverse=True)
)


def needs_cutoff(measure: Measure, name: str) -> bool:
    """Whether this name of the measure cannot stand without a cutoff (or another value after `@`)."""
    is_alias = name in (measure.name, *measure.aliases, *measure.shorthand)
    return measure.cutoff in ("required", "value") or (measure.cutoff == "optional" and not is_alias)


def usual_values(measure: Measure) -> tuple[str, ...]:
    """What trec_eval puts behind the name of a measure whose `@` gives a parameter; () for other measures."""
    names = [name for name in measure.trec_eval if name.takes == "points" and not name.by_group]
    return tuple(write_value(value) for name in names for value in name.defaults)


def find(name: str) -> Measure | None:
    """The measure of that name or alias (any case, `-` or `_`); None when there is none."""
    return NAMES.get(normal(name))


def names_elsewhere(measure: Measure) -> dict[str, tuple[str, ...]]:
    """Tool -> what it calls the measure, () where it has none."""
    return {
        "trec_eval": tuple(name.stem for name in measure.trec_eval),
        "ir_measures": tuple(measure.ir_measures.split(", ")) if measure.ir_measures else (),
        "ranx": tuple(measure.ranx.split(", ")) if measure.ranx else (),
    }


def table() -> list[tuple[str, str, str, str, str]]:
    """One row a measure: name, aliases, title, parameters, names elsewhere; empty where there is nothing to say."""
    return [
        (
            measure.name,
            ", ".join(spellings(measure)[1:]),
            measure.title,
            ", ".join((*(param.name for param in measure.params), *(["rel"] if measure.takes_level else []))),
            "; ".join(f"{tool} {name}" for tool, name in _elsewhere(measure)),
        )
        for measure in MEASURES
    ]


def describe(measure: Measure, width: int = 100) -> str:
    """Everything about one measure as plain text, for `rankeval measures NAME`; ends with a newline."""
    undefined = " or ".join(REASONS[reason] for reason in measure.undefined)
    title = f"{measure.name}: {measure.title}"
    lines = [*_wrapped(title, "", width), "", *_wrapped(measure.definition, "", width), ""]
    facts = [
        ("names", ", ".join(spellings(measure))),
        *(("parameter", _parameter(param)) for param in measure.params),
        *([("parameter", f"rel: {RELS[measure.uses_level]}")] * measure.takes_level),
        ("parameter", "judged_only: True ranks the judged documents only, as --judged-only does for all measures"),
        *(("shorthand", f"{name}: {_fixed(fixed)}") for name, fixed in measure.shorthand.items()),
        ("level", LEVELS[measure.uses_level]),
        ("cutoff", CUTOFFS[measure.cutoff].format(at=measure.at and measure.at.name)),
        ("range", f"{_range(*measure.bounds)} for one query; {DIRECTIONS[measure.direction]}"),
        ("undefined", f"when {undefined}" if undefined else "never"),
        ("summary", AGGREGATES[measure.aggregate]),
        ("ties", f"--ties expected {FORMS[_has_form(measure, None), _has_form(measure, 10)]}"),
        ("source", measure.source),
        *(("elsewhere", f"{tool}: {name}") for tool, name in _elsewhere(measure)),
        ("examples", "  ".join(measure.examples)),
    ]
    for label, text in facts:
        lines += _wrapped(text, f"{label:<11}", width)
    return "\n".join(lines) + "\n"


def _has_form(measure: Measure, cutoff: int | None) -> bool:
    params = {param.name: param.default for param in measure.params}
    return Metric(measure, measure.name, measure.name, params, cutoff).expected is not None


def _range(low: float, high: float) -> str:
    if low == -inf:
        return "any number"
    return f"from {write_value(low)} " + ("up" if high == inf else f"to {write_value(high)}")


def _parameter(param: Param) -> str:
    default = f"; default {write_value(param.default)}" if param.default not in (None, {}) else ""
    return f"{param.name}: {param.help}; {legal_values(param)}{default}"


def _fixed(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={write_value(value)}" for name, value in params.items())


def _elsewhere(measure: Measure) -> list[tuple[str, str]]:
    return [(tool, ", ".join(names)) for tool, names in names_elsewhere(measure).items() if names]


def _wrapped(text: str, label: str, width: int) -> list[str]:
    import textwrap

    indent = " " * len(label)
    return textwrap.wrap(
        text, width, initial_indent=label, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
