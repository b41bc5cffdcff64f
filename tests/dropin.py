"""The drop-in trec_eval in this process, and a small set of files whose values can be worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from rankeval_cli.cli import run

# q1 ranks d1 (2), d3 (0), dX (not judged), d2 (1), d6 (negative), d5 (0); d4 (1) is not found.
# q2 ranks d3 (0), then d2 (3) before d1 (1): the scores are equal, and ids fall. q3 has no results.
QRELS = """\
q1 0 d1 2
q1 0 d2 1
q1 0 d3 0
q1 0 d4 1
q1 0 d5 0
q1 0 d6 -1
q2 0 d1 1
q2 0 d2 3
q2 0 d3 0
q3 0 d1 1
"""
RUN = """\
q1 Q0 d1 1 6.0 tag
q1 Q0 d3 2 5.0 tag
q1 Q0 dX 3 4.0 tag
q1 Q0 d2 4 3.0 tag
q1 Q0 d6 5 2.0 tag
q1 Q0 d5 6 1.0 tag
q2 Q0 d1 3 0.5 tag
q2 Q0 d2 1 0.5 tag
q2 Q0 d3 2 0.9 tag
q9 Q0 d1 1 1.0 last
"""


class Said(NamedTuple):
    """What the program said. out, err : standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def values(self) -> dict[tuple[str, str], str]:
        """(output name, query) -> value as printed."""
        fields = (line.split("\t") for line in self.out.splitlines())
        return {(name.strip(), query): value for name, query, value in fields}

    @property
    def names(self) -> list[str]:
        """The output names in their order."""
        return [line.split("\t")[0].rstrip() for line in self.out.splitlines()]


class DropIn:
    """Runs `rankeval trec-eval` on files of a folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        self.qrels, self.run = self.write("qrels.txt", QRELS), self.write("run.txt", RUN)

    def write(self, name: str, data: str | bytes) -> str:
        """A file of the folder; its path."""
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return str(path)

    def __call__(self, *words: str) -> Said:
        """The words of a whole command line."""
        code = run(["trec-eval", *words])
        captured = self._capsys.readouterr()
        return Said(code, captured.out, captured.err)

    def on_files(self, *words: str) -> Said:
        """Options on the small files."""
        return self(*words, self.qrels, self.run)

    def on(self, qrels: str | bytes, results: str | bytes, *words: str) -> Said:
        """Options on other texts."""
        return self(*words, self.write("other.qrels", qrels), self.write("other.run", results))


def lines(rows: Iterable[tuple[object, ...]]) -> str:
    """Rows as a text of lines, fields parted by spaces."""
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)
