"""All measures in the order of tables, and what is derived from their records: look-up, description, table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankeval_cli.measures import binary, cascade, curves, graded, pairs, pooled, ranks, sets
from rankeval_cli.measures.spec import Measure, Param
from rankeval_cli.measures.values import legal_values, write_value

MEASURES: tuple[Measure, ...] = (
    *binary.MEASURES,
    *graded.MEASURES,
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
}
CUTOFFS = {
    "optional": "@k is optional, without it the whole list counts",
    "required": "@k is required",
    "never": "none; --depth cuts the rankings themselves",
    "recall": "@x is a recall level from 0 to 1, and required",
}
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "none": "neither end is better"}
LEVELS = {True: "--relevance-level decides what is relevant", False: "--relevance-level does not act here"}
RELS = {True: "lowest grade that is relevant, instead of --relevance-level", False: "lower grades get gain 0"}
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
    return (*names, *(name for name in measure.suffixes if name not in names))


NAMES: dict[str, Measure] = {name: measure for measure in MEASURES for name in spellings(measure)}

# Names that may be followed by `.` or `_` and a list, longest first: `ndcg_cut_10` is no `ndcg`.
SUFFIXED: tuple[str, ...] = tuple(
    sorted((name for measure in MEASURES for name in measure.suffixes), key=len, reverse=True)
)


def needs_cutoff(measure: Measure, name: str) -> bool:
    """Whether this name of the measure cannot stand without a cutoff (or a recall level)."""
    is_alias = name in (measure.name, *measure.aliases, *measure.shorthand)
    return measure.cutoff in ("required", "recall") or (measure.cutoff == "optional" and not is_alias)


def find(name: str) -> Measure | None:
    """The measure of that name or alias (any case, `-` or `_`); None when there is none."""
    return NAMES.get(normal(name))


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


def describe(measure: Measure) -> str:
    """Everything about one measure as plain text, for `rankeval measures NAME`; ends with a newline."""
    low, high = measure.bounds
    top = "up" if high == float("inf") else f"to {write_value(high)}"
    undefined = " or ".join(REASONS[reason] for reason in measure.undefined)
    lines = [f"{measure.name}: {measure.title}", "", *_wrapped(measure.definition, ""), ""]
    facts = [
        ("names", ", ".join(spellings(measure))),
        *(("parameter", _parameter(param)) for param in measure.params),
        *([("parameter", f"rel: {RELS[measure.uses_level]}")] * measure.takes_level),
        ("parameter", "judged_only: True ranks the judged documents only, as --judged-only does for all measures"),
        *(("shorthand", f"{name}: {_fixed(fixed)}") for name, fixed in measure.shorthand.items()),
        ("level", LEVELS[measure.uses_level]),
        ("cutoff", CUTOFFS[measure.cutoff]),
        ("range", f"from {write_value(low)} {top} for one query; {DIRECTIONS[measure.direction]}"),
        ("undefined", f"when {undefined}" if undefined else "never"),
        ("summary", AGGREGATES[measure.aggregate]),
        ("source", measure.source),
        *(("elsewhere", f"{tool}: {name}") for tool, name in _elsewhere(measure)),
        ("examples", "  ".join(measure.examples)),
    ]
    for label, text in facts:
        lines += _wrapped(text, f"{label:<11}")
    return "\n".join(lines) + "\n"


def _parameter(param: Param) -> str:
    default = f"; default {write_value(param.default)}" if param.default not in (None, {}) else ""
    return f"{param.name}: {param.help}; {legal_values(param)}{default}"


def _fixed(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={write_value(value)}" for name, value in params.items())


def _elsewhere(measure: Measure) -> list[tuple[str, str]]:
    tools = (("trec_eval", measure.trec_eval), ("ir_measures", measure.ir_measures), ("ranx", measure.ranx))
    return [(tool, name) for tool, name in tools if name]


def _wrapped(text: str, label: str) -> list[str]:
    import textwrap

    indent = " " * len(label)
    return textwrap.wrap(
        text, 100, initial_indent=label, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
