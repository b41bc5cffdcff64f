"""What a shell may put after the beginning of a measure."""

from __future__ import annotations

import re

from rankeval_cli.measures.registry import MEASURES, NAMES, needs_cutoff, normal, spellings, usual_values
from rankeval_cli.measures.spec import Measure

CUTOFFS = ("1", "3", "5", "10", "20", "50", "100", "1000")


def complete(prefix: str) -> list[str]:
    """The words that begin with `prefix`, as typed: names, then parameters after `:` or `(`, then cutoffs after `@`."""
    head, at, typed = prefix.rpartition("@")
    if at:
        return [f"{head}@{cutoff}" for cutoff in _cutoffs(head) if cutoff.startswith(typed)]
    name, opening, inside = _cut(prefix)
    if not opening:
        return _names(prefix)
    measure = NAMES.get(normal(name))
    before, comma, item = inside.rpartition(",")
    start = name + opening + before + comma
    return [start + word for word in _items(measure, before) if word.startswith(item)] if measure else []


def _cut(prefix: str) -> tuple[str, str, str]:
    match = re.search(r"[(:]", prefix)
    return (prefix[: match.start()], match.group(), prefix[match.end() :]) if match else (prefix, "", "")


def _names(prefix: str) -> list[str]:
    """Names in the order of tables, what is typed already left as it is; with `@` where a cutoff must follow."""
    start, size = normal(prefix), len(prefix)
    return [
        prefix + name[size:] + ("@" if needs_cutoff(measure, name) else "")
        for measure in MEASURES
        for name in spellings(measure)
        if name.startswith(start)
    ]


def _cutoffs(head: str) -> tuple[str, ...]:
    measure = NAMES.get(normal(_cut(head)[0]))
    if measure is None or measure.cutoff == "never":
        return ()
    return usual_values(measure) if measure.at else CUTOFFS


def _items(measure: Measure, before: str) -> list[str]:
    """`name=` for every parameter not yet given, and `name=value` where the values can be listed."""
    words = [(p.name, choice) for p in measure.params for choice in (p.choices or ("",)) if not p.is_at]
    words += [("rel", "")] if measure.takes_level else []
    words += [("judged_only", "True")]
    return [f"{name}={value}" for name, value in words if not re.search(rf"(^|,)\s*{name}=", before)]
