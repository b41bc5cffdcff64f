"""Values as z-scores: how many deviations they lie from stored means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rankeval_cli.errors import RankevalError
from rankeval_cli.readers import open_input
from rankeval_cli.trec_eval.leniency import real
from rankeval_cli.trec_eval.options import ZSCORES, Refusal

UNKNOWN = -1_000_000.0  # for what has no mean, or no spread and another value
FIELDS = ("query", "name", "mean", "deviation")


@dataclass(frozen=True)
class ZScores:
    """Mean and deviation of each (query, output name)."""

    known: Mapping[tuple[str, str], tuple[float, float]]

    def of(self, query: str, name: str, value: float) -> float:
        """The value in deviations from the mean; -1,000,000 when there is none.

        Without spread it is 0 for the mean itself, and -1,000,000 for any other value.
        """
        if (query, name) not in self.known:
            return UNKNOWN
        mean, deviation = self.known[query, name]
        if deviation == 0.0:
            return 0.0 if value == mean else UNKNOWN
        return (value - mean) / deviation


def read_zscores(path: str) -> ZScores:
    """Read a file of lines `query name mean deviation`.

    Raises Refusal, status 255, when it cannot be read or a line has other fields. Of lines for the same name and query
    the first counts.
    """
    try:
        chunks = [(chunk.first_line, chunk.data) for chunk in open_input(path).chunks()]
    except RankevalError as problem:
        raise Refusal(ZSCORES, problem.what, problem.where, problem.hint) from problem
    known: dict[tuple[str, str], tuple[float, float]] = {}
    for first_line, data in chunks:
        for number, line in enumerate(data.split(b"\n"), first_line):
            fields = [field.decode(errors="replace") for field in line.split()]
            if fields:
                _add(known, fields, f"{path}:{number}")
    return ZScores(known)


def _add(known: dict[tuple[str, str], tuple[float, float]], fields: list[str], where: str) -> None:
    if len(fields) != len(FIELDS):
        what = f"{len(fields)} fields where {len(FIELDS)} are expected ({', '.join(FIELDS)})"
        raise Refusal(ZSCORES, what, where, "fields are separated by blanks or tabs")
    query, name, mean, deviation = fields
    numbers = [real(text) for text in (mean, deviation)]
    if not all(is_all for _, is_all in numbers):
        raise Refusal(ZSCORES, f"`{mean}` and `{deviation}` are not two numbers", where, "mend the line")
    known.setdefault((query, name), (numbers[0][0], numbers[1][0]))
