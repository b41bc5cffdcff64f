"""All measures in the order of tables, and what is derived from their records: look-up, description, table."""

from __future__ import annotations

from rankeval_cli.measures import binary, graded
from rankeval_cli.measures.spec import Measure

MEASURES: tuple[Measure, ...] = (*binary.MEASURES, *graded.MEASURES)


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


def find(name: str) -> Measure | None:
    """The measure of that name or alias (any case, `-` or `_`); None when there is none."""
    return NAMES.get(normal(name))
