"""The lines: name in 22 columns, query or `all`, value, parted by tabs; queries first, then the summary."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rankeval_cli.model import GEOMETRIC_FLOOR
from rankeval_cli.trec_eval.evaluation import Evaluated
from rankeval_cli.trec_eval.options import Options
from rankeval_cli.trec_eval.selection import NUM_Q, NUM_REL, RELSTRING, RUNID, Line
from rankeval_cli.trec_eval.zscores import ZScores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SLAB = 2000  # queries whose lines are made at a time

Columns = dict[str, "Floats"]


def render(
    lines: Sequence[Line], evaluated: Evaluated, options: Options, zscores: ZScores | None = None
) -> Iterator[str]:
    """The output in pieces.

    zscores : values are shown as z-scores against them, with `Z` before their names
    """
    columns = _columns(lines, evaluated, options, zscores)
    if options.per_query:
        yield from _queries(lines, evaluated, options, columns, zscores is not None)
    if options.summary:
        yield from _summary(lines, evaluated, columns, zscores is not None)


def _columns(lines: Sequence[Line], evaluated: Evaluated, options: Options, zscores: ZScores | None) -> Columns:
    """Output name -> (Q,) what is shown for each query, and averaged."""
    return {line.name: _column(line, evaluated, options, zscores) for line in lines if line.name in evaluated.values}


def _column(line: Line, evaluated: Evaluated, options: Options, zscores: ZScores | None) -> Floats:
    import numpy as np

    values = evaluated.values[line.name]
    if line.is_geometric:
        values = np.array([math.log(max(value, GEOMETRIC_FLOOR)) for value in values.tolist()])
    if zscores is not None and line.entry.stem != NUM_Q:
        pairs = zip(evaluated.queries, values.tolist(), strict=True)
        values = np.array([zscores.of(query, line.name, value) for query, value in pairs])
    if options.release == 9 and line.entry.stem not in (NUM_Q, NUM_REL):  # a query without results is counted, no more
        absent = math.log(GEOMETRIC_FLOOR) if line.is_geometric else 0.0
        values = np.where(evaluated.answered, values, absent)
    return values


def _queries(
    lines: Sequence[Line], evaluated: Evaluated, options: Options, columns: Columns, has_zscores: bool
) -> Iterator[str]:
    """The lines of each query: one template filled in for each."""
    import numpy as np

    shown = [line for line in lines if line.entry.per_query]
    numbers = [line for line in shown if line.name in columns]
    template = "".join(_template(line, has_zscores and line.name in columns) for line in shown)
    matrix = np.array([columns[line.name] for line in numbers]).reshape(len(numbers), len(evaluated.queries))
    for start in range(0, len(evaluated.queries), SLAB):
        rows = matrix[:, start : start + SLAB].T.tolist()
        yield "".join(
            template % _cells(shown, evaluated, start + i, iter(row))
            for i, row in enumerate(rows)
            if options.release == 10 or evaluated.answered[start + i]
        )


def _template(line: Line, is_zscore: bool) -> str:
    name = ("Z" if is_zscore else "") + f"{line.name:<22}".replace("%", "%%")
    value = "'%s'" if line.entry is RELSTRING else "%d" if line.is_count and not is_zscore else "%6.4f"
    return f"{name}\t%s\t{value}\n"


def _cells(shown: Sequence[Line], evaluated: Evaluated, place: int, numbers: Iterator[float]) -> tuple[object, ...]:
    """What the template of a query takes: its id and its value, for each line."""
    query = evaluated.queries[place]
    cells: list[object] = []
    for line in shown:
        cells += [query, evaluated.signs[place][: line.length] if line.entry is RELSTRING else next(numbers)]
    return tuple(cells)


def _summary(lines: Sequence[Line], evaluated: Evaluated, columns: Columns, has_zscores: bool) -> Iterator[str]:
    for line in lines:
        if not line.entry.summary:
            continue
        if line.entry is RUNID:
            yield f"{line.name:<22}\tall\t{evaluated.tag}\n"
            continue
        yield _template(line, has_zscores) % ("all", _total(line, columns[line.name]))


def _total(line: Line, values: Floats) -> float:
    """Sum, mean, or geometric mean; added up in the order of queries as the reference does, to the same last digit."""
    import numpy as np

    total = float(np.add.accumulate(values)[-1])
    if line.is_count:
        return total
    mean = total / len(values)
    return math.exp(mean) if line.is_geometric else mean
