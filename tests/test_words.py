"""Words of the command line: which are measures, which are files."""

from __future__ import annotations

import pytest

from rankeval_cli.cli.words import last_value, spread
from rankeval_cli.errors import UsageError


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("map", "myrun", "qrels"):
        (tmp_path / name).touch()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-m mrr@10 ndcg@10", "-m mrr@10 -m ndcg@10"),
        ("-m mrr@10 ndcg@10 run.txt qrels.txt", "-m mrr@10 -m ndcg@10 run.txt qrels.txt"),
        ("run.txt qrels.txt -m mrr@10 p@5 -q", "run.txt qrels.txt -m mrr@10 -m p@5 -q"),
        ("-m mrr@10 -m p@5", "-m mrr@10 -m p@5"),
        ("-m map ./map", "-m map ./map"),
        ("-m mrr myrun qrels", "-m mrr myrun qrels"),
        ("-m mrr - qrels", "-m mrr - qrels"),
        ("-m mrr runs/*.gz qrels", "-m mrr runs/*.gz qrels"),
        ("-m mrr s3://bucket/x qrels", "-m mrr s3://bucket/x qrels"),
        ("-m mrr run.parquet map", "-m mrr run.parquet map"),
        ("-m mrr run.ndjson qrels", "-m mrr run.ndjson qrels"),
        ("--fail-under mrr@10=0.3 map=0.1", "--fail-under mrr@10=0.3 --fail-under map=0.1"),
        ("--fail-under mrr@10=0.3 run.txt q", "--fail-under mrr@10=0.3 run.txt q"),
        ("--fail-under ndcg(gain=exp)@10=0.3", "--fail-under ndcg(gain=exp)@10=0.3"),
        ("-m mrr -- -m p@5", "-m mrr -- -m p@5"),
        ("-f json run qrels", "-f json run qrels"),
        ("run qrels -m --help", "run qrels -m --help"),
        ("-m P(rel=2)@5 ndcg:gain=exp@10 P.5,10", "-m P(rel=2)@5 -m ndcg:gain=exp@10 -m P.5,10"),
    ],
)
def test_words_are_spread(line, expected):
    assert spread(line.split()) == expected.split()


@pytest.mark.parametrize(
    ("line", "what", "hint"),
    [
        ("-m mrr ndgc@10", "`ndgc@10` is not a measure", "ndcg@10"),
        ("-m mrr@0", "`0` is not a cutoff", "whole number"),
        ("-m p run.txt", "needs a cutoff", "p@10"),
        ("--fail-under 0.3", "has no bound", "mrr@10=0.35"),
        ("run qrels -m", "nothing stands behind -m", "-m mrr@10 ndcg@10"),
        ("--measure run.txt qrels", "nothing stands behind --measure", "mrr@10"),
        ("-m -q run qrels", "nothing stands behind -m", "mrr@10"),
        ("run qrels --fail-under", "nothing stands behind --fail-under", "--fail-under mrr@10=0.35"),
        ("--fail-under -- run qrels", "nothing stands behind --fail-under", "leave it out"),
    ],
)
def test_a_word_that_is_neither_is_told(line, what, hint):
    with pytest.raises(UsageError) as caught:
        spread(line.split())
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("", None),
        ("run qrels", None),
        ("--preset ranx run", "ranx"),
        ("run --preset=ranx", "ranx"),
        ("--preset ranx --preset beir", "beir"),
        ("--preset", None),
        ("--preset=", ""),
        ("--presets ranx", None),
        ("-- --preset ranx", None),
    ],
)
def test_the_last_value_of_an_option(line, value):
    assert last_value(line.split(), "--preset") == value
