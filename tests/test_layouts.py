"""The same data in any layout, compression, order and chunk size give the same values to the last bit."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from pathlib import Path

import polars as pl
import pytest

from rankeval_cli import evaluate
from rankeval_cli.readers import source

MEASURES = ["mrr", "map", "ndcg@5", "ndcg(gain=exp)", "bpref", "rbp", "err@9", "judged@3", "auc", "num_ret", "p@5"]


def make_rows(num_queries=40, seed=5):
    """Rows of a run with ties, unjudged queries and ids that need quotes; judgments with every kind of grade."""
    chance = random.Random(seed)
    docs = [f"d{i:02d}" for i in range(30)] + ["007", "7", "é", "a,b", "1e5"]
    run, qrels = [], []
    for q in range(num_queries):
        for rank, doc in enumerate(chance.sample(docs, 25), 1):
            run.append((f"q{q}", doc, rank, 9.5 - rank // 3 + chance.choice([0, 0.1, 1 / 3])))
        if q % 9:
            qrels += [(f"q{q}", doc, chance.choice([-1, 0, 1, 2])) for doc in chance.sample(docs, 12)]
    return run, qrels


RUN, QRELS = make_rows()


def trec_run(run):
    return "".join(f"{q} Q0 {doc} {rank} {score!r} tag\n" for q, doc, rank, score in run).encode()


def trec_qrels(qrels):
    return "".join(f"{q} 0 {doc} {grade}\n" for q, doc, grade in qrels).encode()


def csv(rows, names, separator=","):
    quoted = [[f'"{cell}"' if "," in str(cell) else repr(cell).strip("'") for cell in row] for row in rows]
    return "".join(separator.join(row) + "\n" for row in [names, *quoted]).encode()


RUN_NAMES, QRELS_NAMES = ["qid", "docid", "rank", "score"], ["qid", "docid", "grade"]


def nested(rows):
    document: dict[str, dict[str, float]] = {}
    for q, doc, *_, value in rows:
        document.setdefault(q, {})[doc] = value
    return json.dumps(document).encode()


def lines(rows, names):
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows).encode()


def parquet(rows, names):
    return pl.DataFrame(rows, names, orient="row")


def zstd(data):
    import pyarrow as pa

    return pa.compress(data, codec="zstd", asbytes=True)


def shuffled(rows, seed=3):
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return rows


LAYOUTS = {
    "trec": ("run.txt", trec_run(RUN), "qrels.txt", trec_qrels(QRELS)),
    "trec with CRLF": ("r", trec_run(RUN).replace(b"\n", b"\r\n"), "q", trec_qrels(QRELS).replace(b"\n", b"\r\n")),
    "trec with tabs": ("r", trec_run(RUN).replace(b" ", b"\t"), "q", trec_qrels(QRELS).replace(b" ", b"\t")),
    "trec without last newline": ("r", trec_run(RUN)[:-1], "q", trec_qrels(QRELS)[:-1]),
    "trec with blanks and comments": (
        "r", b"# made today\n\n" + trec_run(RUN).replace(b" Q0 ", b"   Q0  "), "q", b"#\n" + trec_qrels(QRELS),
    ),
    "trec shuffled": ("r", trec_run(shuffled(RUN)), "q", trec_qrels(shuffled(QRELS))),
    "csv": ("r.csv", csv(RUN, RUN_NAMES), "q.csv", csv(QRELS, QRELS_NAMES)),
    "csv shuffled": ("r.csv", csv(shuffled(RUN), RUN_NAMES), "q.csv", csv(shuffled(QRELS), QRELS_NAMES)),
    "tsv": ("r.tsv", csv(RUN, RUN_NAMES, "\t"), "q.tsv", csv(QRELS, QRELS_NAMES, "\t")),
    "parquet": ("r.parquet", parquet(RUN, RUN_NAMES), "q.parquet", parquet(QRELS, QRELS_NAMES)),
    "parquet shuffled": ("r.parquet", parquet(shuffled(RUN), RUN_NAMES), "q.parquet", parquet(QRELS, QRELS_NAMES)),
    "json": ("r.json", nested(RUN), "q.json", nested(QRELS)),
    "jsonl": ("r.jsonl", lines(RUN, RUN_NAMES), "q.jsonl", lines(QRELS, QRELS_NAMES)),
    "gzip": ("r.gz", gzip.compress(trec_run(RUN)), "q.gz", gzip.compress(trec_qrels(QRELS))),
    "gzip of two members": (
        "r.gz", b"".join(gzip.compress(trec_run(part)) for part in (RUN[:500], RUN[500:])), "q", trec_qrels(QRELS),
    ),
    "bzip2": ("r.bz2", bz2.compress(trec_run(RUN)), "q.bz2", bz2.compress(trec_qrels(QRELS))),
    "xz": ("r.xz", lzma.compress(trec_run(RUN)), "q.xz", lzma.compress(trec_qrels(QRELS))),
    "zstd": ("r.zst", zstd(trec_run(RUN)), "q.zst", zstd(csv(QRELS, QRELS_NAMES))),
}  # fmt: skip


def put(path: Path, data: bytes | pl.DataFrame) -> str:
    if isinstance(data, pl.DataFrame):
        data.write_parquet(path, row_group_size=70)
    else:
        path.write_bytes(data)
    return str(path)


def values_of(report):
    document = report.to_dict(per_query=True)
    run = document["runs"][0]
    return json.dumps([document["qrels"]["digest"], run["coverage"], run["measures"], run["per_query"]])


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    run, data, qrels, judged = LAYOUTS["trec"]
    folder = tmp_path_factory.mktemp("trec")
    return values_of(evaluate(put(folder / run, data), put(folder / qrels, judged), MEASURES))


@pytest.mark.parametrize("chunk_bytes", [8 << 20, 97], ids=["one chunk", "tiny chunks"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_order_and_chunks_do_not_matter(layout, chunk_bytes, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(source, "CHUNK_BYTES", chunk_bytes)
    run, data, qrels, judged = LAYOUTS[layout]
    report = evaluate(put(tmp_path / run, data), put(tmp_path / qrels, judged), MEASURES)
    assert values_of(report) == expected


def test_a_folder_of_parts_is_one_run(expected, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for i in range(4):
        put(folder / f"part-{i}.parquet", parquet(shuffled(RUN)[i::4], RUN_NAMES))
    assert values_of(evaluate(folder, put(tmp_path / "q", trec_qrels(QRELS)), MEASURES)) == expected


@pytest.mark.parametrize("loop", ["on", "off"])
def test_the_loop_does_not_matter(loop, expected, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKEVAL_JIT", loop)
    run, data, qrels, judged = LAYOUTS["trec"]
    report = evaluate(put(tmp_path / run, data), put(tmp_path / qrels, judged), MEASURES)
    assert values_of(report) == expected


def test_python_objects_give_the_same_values(expected):
    pandas = parquet(RUN, RUN_NAMES).to_pandas()
    arrow = parquet(QRELS, QRELS_NAMES).to_arrow()
    assert values_of(evaluate(pandas, arrow, MEASURES)) == expected
    assert values_of(evaluate(json.loads(nested(RUN)), json.loads(nested(QRELS)), MEASURES)) == expected
