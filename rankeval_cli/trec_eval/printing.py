"""The lines: name in 22 columns, query or `all`, value, parted by tabs; queries first, then the summary."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
QUERY = "\0"  # stands for the query in a template; no id holds it


@dataclass(frozen=True)
class _Column:
    """What one line shows of all queries.

    values : float64 (Q,), what is shown and averaged; logarithms for a geometric mean. None for `runid`, `relstring`
    is_zscore : the values are z-scores
    """

    line: Line
    values: Floats | None
    is_zscore: bool

    @property
    def template(self) -> str:
        """The line of a query; takes its value by `%`."""
        name = ("Z" if self.is_zscore else "") + f"{self.line.name:<22}".replace("%", "%%")
        number = "%d" if self.line.is_count and not self.is_zscore else "%6.4f"
        return f"{name}\t{QUERY}\t{number if self.values is not None else '%s'}\n"


def render(
    lines: Sequence[Line], evaluated: Evaluated, options: Options, zscores: ZScores | None = None
) -> Iterator[str]:
    """The output in pieces.

    zscores : values are shown as z-scores against them, with `Z` before their names
    """
    columns = [
        _column(line, values, evaluated, options, zscores) for line, values in zip(lines, evaluated.values, strict=True)
    ]
    if options.per_query:
        yield from _queries([column for column in columns if column.line.entry.per_query], evaluated, options)
    if options.summary:
        yield from (_summary(column, evaluated) for column in columns if column.line.entry.summary)


def _column(
    line: Line, values: Floats | None, evaluated: Evaluated, options: Options, zscores: ZScores | None
) -> _Column:
    import numpy as np

    if values is None:
        return _Column(line, None, is_zscore=False)
    if line.is_geometric:
        values = np.array([math.log(max(value, GEOMETRIC_FLOOR)) for value in values.tolist()])
    if zscores is not None and line.entry.stem != NUM_Q:
        pairs = zip(evaluated.queries, values.tolist(), strict=True)
        values = np.array([zscores.of(query, line.name, value) for query, value in pairs])
    if options.release == 9 and line.entry.stem not in (NUM_Q, NUM_REL):  # a query without results is counted, no more
        absent = math.log(GEOMETRIC_FLOOR) if line.is_geometric else 0.0
        values = np.where(evaluated.answered, values, absent)
    return _Column(line, values, zscores is not None)


def _queries(columns: Sequence[_Column], evaluated: Evaluated, options: Options) -> Iterator[str]:
    """The lines of each query: one template, filled in for each."""
    import numpy as np

    template = "".join(column.template for column in columns)
    numbers = [column.values for column in columns if column.values is not None]
    signs = [(place, column.line.length) for place, column in enumerate(columns) if column.line.entry is RELSTRING]
    matrix = np.array(numbers).reshape(len(numbers), len(evaluated.queries))
    for start in range(0, len(evaluated.queries), SLAB):
        lines = []
        for query, row in enumerate(matrix[:, start : start + SLAB].T.tolist(), start):
            for place, length in signs:
                row.insert(place, f"'{evaluated.signs[query][:length]}'")
            if options.release == 10 or evaluated.answered[query]:
                lines.append(template.replace(QUERY, evaluated.queries[query].replace("%", "%%")) % tuple(row))
        yield "".join(lines)


def _summary(column: _Column, evaluated: Evaluated) -> str:
    total = evaluated.tag if column.line.entry is RUNID else _total(column)
    return column.template.replace(QUERY, "all") % total


def _total(column: _Column) -> float:
    """Sum, mean, or geometric mean; added up in the order of queries as the reference does, to the same last digit."""
    import numpy as np

    assert column.values is not None
    total = float(np.add.accumulate(column.values)[-1])
    if column.line.is_count:
        return total
    mean = total / len(column.values)
    return math.exp(mean) if column.line.is_geometric else mean
