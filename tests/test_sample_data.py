"""The sample data: small, the same in every layout, and what its script makes."""

import csv
import gzip
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import ROOT

SAMPLE = ROOT / "sample_data"
TABLES = ("qrels", "pixels", "projection")
Rows = list[tuple[str, str, float]]


@pytest.mark.parametrize("name", TABLES)
def test_layouts_hold_the_same_rows(name: str) -> None:
    text = trec_rows((SAMPLE / f"{name}.txt").read_text())
    assert csv_rows(SAMPLE / f"{name}.csv") == text
    assert parquet_rows(SAMPLE / f"{name}.parquet") == text


def test_compressed_and_divided_runs_hold_the_same_rows() -> None:
    text = trec_rows((SAMPLE / "pixels.txt").read_text())
    assert trec_rows(gzip.decompress((SAMPLE / "pixels.txt.gz").read_bytes()).decode()) == text
    parts = sorted((SAMPLE / "pixels_parts").glob("part-*.parquet"))
    assert [row for part in parts for row in parquet_rows(part)] == text


def test_some_results_are_not_judged_and_all_grades_occur() -> None:
    qrels = trec_rows((SAMPLE / "qrels.txt").read_text())
    judged = {(query, image) for query, image, _ in qrels}
    found = {(query, image) for query, image, _ in trec_rows((SAMPLE / "projection.txt").read_text())}
    assert {grade for _, _, grade in qrels} == {0.0, 1.0, 2.0}
    assert found - judged
    assert len({query for query, _ in judged}) == 50


def test_sample_is_smaller_than_a_megabyte() -> None:
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < 10**6


def test_script_makes_the_same_files_again(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn holds the images")
    for folder in ("one", "two"):
        subprocess.run([sys.executable, str(SAMPLE / "make_sample.py"), str(tmp_path / folder)], check=True)
    made = {path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()}
    kept = {
        path.relative_to(SAMPLE) for path in SAMPLE.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    assert made == kept - {Path("README.md"), Path("make_sample.py")}
    for path in made:
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()
        assert same(tmp_path / "one" / path, SAMPLE / path), path


def same(made: Path, kept: Path) -> bool:
    """Equal bytes; of compressed files equal contents, since the compressor's version decides about the bytes."""
    if kept.suffix == ".parquet":
        return bool(pq.read_table(made).equals(pq.read_table(kept)))
    if kept.suffix == ".gz":
        return gzip.decompress(made.read_bytes()) == gzip.decompress(kept.read_bytes())
    return made.read_bytes() == kept.read_bytes()


def trec_rows(text: str) -> Rows:
    fields = [line.split(" ") for line in text.splitlines()]
    return [(words[0], words[2], float(words[3 if len(words) == 4 else 4])) for words in fields]


def csv_rows(path: Path) -> Rows:
    with path.open(newline="") as file:
        return [(query, doc, float(value)) for query, doc, value in list(csv.reader(file))[1:]]


def parquet_rows(path: Path) -> Rows:
    columns = pq.read_table(path).to_pydict()
    return [(query, doc, float(value)) for query, doc, value in zip(*columns.values(), strict=True)]
