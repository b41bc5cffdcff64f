"""`rankeval measures` and `rankeval formats` on terminals and in pipes."""

from __future__ import annotations

import pytest

from rankeval_cli.cli import run
from rankeval_cli.measures.registry import MEASURES
from rankeval_cli.report import terminal

WORDS = pytest.mark.parametrize(
    "words", [["measures"], ["measures", "ndcg"], ["measures", "utility"], ["formats"]], ids=" ".join
)


@WORDS
@pytest.mark.parametrize("width", [40, 80])
def test_lists_fit_the_terminal(capsys, monkeypatch, words, width):
    monkeypatch.setattr(terminal, "columns_of", lambda stream: width)
    assert run(words) == 0
    assert width - 20 < max(map(len, capsys.readouterr().out.splitlines())) <= width


@WORDS
def test_no_word_is_lost_where_lists_wrap(capsys, monkeypatch, words):
    assert run(words) == 0
    in_pipe = capsys.readouterr().out.split()
    for width in (40, 80):
        monkeypatch.setattr(terminal, "columns_of", lambda stream, width=width: width)
        assert run(words) == 0
        assert capsys.readouterr().out.split() == in_pipe


def test_in_a_pipe_a_measure_is_a_line(capsys):
    assert run(["measures"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [measure.name for measure in MEASURES]
