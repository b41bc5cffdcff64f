"""LETOR / SVMlight: labels as judgments, and a file of scores beside them as the run."""

from pathlib import Path
from typing import Any

import pytest

from rankeval_cli.errors import InputError
from rankeval_cli.readers import letor, source
from rankeval_cli.readers.format import ReadOptions, Role, Table
from rankeval_cli.readers.source import open_input

[LETOR] = letor.FORMATS
LABELS = (
    "2 qid:10 1:0.03 2:1.0 #docid = GX-1 inc = 1\n"
    "0 qid:10 1:0.5 #docid=GX-2\n\n# about\n"
    "1 qid:011 # prob docid = a#b\r\n"
)
PLAIN = "2 qid:10 1:0.03\n0.5 qid:10\n1 qid:11 1:1"


def write(tmp_path: Path, labels: str, scores: str = "0.5\n") -> tuple[Path, Path]:
    (tmp_path / "labels").write_bytes(labels.encode("latin-1"))
    (tmp_path / "scores").write_bytes(scores.encode())
    return tmp_path / "labels", tmp_path / "scores"


def opened(path: Path, role: Role, **options: Any) -> Table:
    found, how = open_input(str(path)), ReadOptions(**options)
    assert LETOR.fits(found, role, how)
    return LETOR.open(found, role, how)


def rows(table: Table) -> list[tuple[Any, ...]]:
    return [row for frame in table.frames() for row in frame.rows()]


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_labels_are_judgments(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor, "FRAME_ROWS", size)
    monkeypatch.setattr(source, "CHUNK_BYTES", size)
    labels, _ = write(tmp_path, LABELS)
    table = opened(labels, "qrels")
    assert rows(table) == [("10", "GX-1", 2.0), ("10", "GX-2", 0.0), ("011", "a#b", 1.0)]
    assert table.locate("011", "a#b") == [f"{labels}:5"]


def test_without_docids_the_row_is_the_document(tmp_path: Path) -> None:
    labels, _ = write(tmp_path, PLAIN)
    assert rows(opened(labels, "qrels")) == [("10", "1", 2.0), ("10", "2", 0.5), ("11", "3", 1.0)]


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_scores_take_their_ids_from_the_labels(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor, "FRAME_ROWS", size)
    labels, scores = write(tmp_path, LABELS, "0.2\n-1e-3\n\ninf")
    table = opened(scores, "run", beside=open_input(str(labels)))
    for _ in range(2):
        assert rows(table) == [("10", "GX-1", 0.2), ("10", "GX-2", -0.001), ("011", "a#b", float("inf"))]
    assert table.warnings == ["1 infinite score, sorted first or last"]
    assert table.locate("10", "GX-2") == [f"{labels}:2"]


def test_labels_that_are_words_need_the_map_for_judgments_only(tmp_path: Path) -> None:
    labels, scores = write(tmp_path, "E qid:1\nC qid:1\n", "1\n2\n")
    assert rows(opened(labels, "qrels", grade_map={"E": 3.0, "C": 1.0})) == [("1", "1", 3.0), ("1", "2", 1.0)]
    assert rows(opened(scores, "run", beside=open_input(str(labels)))) == [("1", "1", 1.0), ("1", "2", 2.0)]


LABEL_ERRORS = {
    "no query": (PLAIN + "\n1 1:0.5\n", ":4", "has no query"),
    "empty query": (PLAIN + "\n1 qid: 1:0.5\n", ":4", "has no query"),
    "word": ("x qid:1\n", ":1", "grade `x` is not a number"),
    "NaN": ("1 qid:1\n\nnan qid:1\n", ":3", "NaN"),
    "infinite": ("inf qid:1\n", ":1", "infinite"),
    "docid after none": (PLAIN + "\n1 qid:1 #docid = d\n", ":4", "lines before it have none"),
    "no docid after some": ("1 qid:1 #docid = d\n1 qid:1\n", ":2", "lines before it have one"),
    "Latin-1": ("1 qid:caf\xe9\n", ":1", "not valid UTF-8"),
}


@pytest.mark.parametrize(("text", "where", "mention"), LABEL_ERRORS.values(), ids=LABEL_ERRORS)
def test_wrong_labels_are_named(text: str, where: str, mention: str, tmp_path: Path) -> None:
    labels, _ = write(tmp_path, text)
    table = LETOR.open(open_input(str(labels)), "qrels", ReadOptions())
    with pytest.raises(InputError, match=mention) as caught:
        rows(table)
    assert caught.value.where == f"{labels}{where}"


SCORE_ERRORS = {
    "fewer": ("1\n2\n", "", "has 2 scores, and .*labels has 3 labels"),
    "more": ("1\n2\n3\n4\n5\n", "", "has 5 scores, and .*labels has 3 labels"),
    "word": ("1\n2\n\nx\n", ":4", "score `x` is not a number"),
    "two numbers": ("1\n2 3\n1\n", ":2", "score `2 3` is not a number"),
    "NaN": ("1\nnan\n3\n", ":2", "NaN"),
}


@pytest.mark.parametrize(("text", "where", "mention"), SCORE_ERRORS.values(), ids=SCORE_ERRORS)
def test_wrong_scores_are_named(text: str, where: str, mention: str, tmp_path: Path) -> None:
    labels, scores = write(tmp_path, PLAIN, text)
    table = LETOR.open(open_input(str(scores)), "run", ReadOptions(beside=open_input(str(labels))))
    with pytest.raises(InputError, match=mention) as caught:
        rows(table)
    assert caught.value.where == f"{scores}{where}"


def test_scores_need_labels_beside_them(tmp_path: Path) -> None:
    labels, scores = write(tmp_path, "q1 0 d1 1\n")
    for beside in (None, open_input(str(labels))):
        with pytest.raises(InputError, match="one score a line, without queries") as caught:
            opened(scores, "run", beside=beside)
        assert "rankeval SCORES LABELS" in str(caught.value)


OTHERS = {
    "TREC run": "q1 Q0 d1 1 0.5 t\n",
    "words": "a\nb\n",
    "empty": "",
    "number and word": "1\nx\n",
    "features": "1 1:0.5\n",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_other_layouts_are_left_alone(text: str, tmp_path: Path) -> None:
    path, _ = write(tmp_path, text)
    assert not any(LETOR.fits(open_input(str(path)), role, ReadOptions()) for role in ("run", "qrels"))
