"""Make the inputs of the benchmarks: make_data.py small|big|table FOLDER. The same seed gives the same values.

big : 6,980 queries x 1,000 documents in TREC text (253 MB), judged like MS MARCO passage dev: 1.07 relevant a query
small : 50 queries x 1,000 documents, judged like a TREC track: about 150 documents a query, grades 0 to 3
table : 1,000,000 queries x 20 documents as one labelled table in Parquet, and the first tenth of it in another file
"""

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

SEED = 20
PASSAGES = 8_841_823  # size of the MS MARCO passage collection: ids have up to seven digits
RESULTS = 1000
FOUND = 0.86  # share of relevant passages among the first 1,000, as BM25 has it on MS MARCO dev
TAG = "bm25"
USERS = 1_000_000  # queries of the labelled table
CANDIDATES = 20  # rows of each

Grades = dict[int, int]  # document -> grade


def write(folder: Path, num_queries: int, judge: Callable[[random.Random, list[int]], Grades]) -> None:
    """Write run.txt and qrels.txt; each is complete or absent."""
    rng = random.Random(SEED)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "run.part").open("w") as run, (folder / "qrels.part").open("w") as qrels:
        for query in rng.sample(range(2, 1_102_433), num_queries):
            docs = rng.sample(range(PASSAGES), RESULTS)
            run.writelines(lines_of(rng, query, docs))
            qrels.writelines(f"{query} 0 {doc} {grade}\n" for doc, grade in judge(rng, docs).items())
    (folder / "qrels.part").replace(folder / "qrels.txt")
    (folder / "run.part").replace(folder / "run.txt")


def lines_of(rng: random.Random, query: int, docs: list[int]) -> Iterator[str]:
    """One ranking: scores fall from about 18 with six decimals, as Lucene writes them; a few are equal."""
    score = rng.uniform(14, 22)
    for rank, doc in enumerate(docs, start=1):
        score -= rng.random() * 4 / (rank + 10)
        yield f"{query} Q0 {doc} {rank} {score:.6f} {TAG}\n"


def judge_like_ms_marco(rng: random.Random, docs: list[int]) -> Grades:
    """One relevant passage, rarely two or three, nearer to the top than to the end; one in ten has grade 2."""
    count = rng.choices((1, 2, 3), weights=(0.94, 0.05, 0.01))[0]
    places = [int(RESULTS * rng.random() ** 3) for _ in range(count)]
    chosen = [docs[place] if rng.random() < FOUND else PASSAGES + place for place in places]
    return {doc: 2 if rng.random() < 0.1 else 1 for doc in chosen}


def judge_like_a_track(rng: random.Random, docs: list[int]) -> Grades:
    """A pool of the first 100 and fifty that this system did not find; higher grades nearer to the top."""
    pool = [(doc, 0.6 - place / 250) for place, doc in enumerate(docs[:100])]
    pool += [(PASSAGES + extra, 0.2) for extra in range(50)]
    return {doc: sum(rng.random() < share for _ in range(3)) for doc, share in pool}


def write_table(folder: Path) -> None:
    """Write table.parquet and tenth.parquet: what a recommender predicts for its candidates, and who clicked.

    Columns query (whole numbers, those of one query together, queries in no order), score (float32, in no order) and
    label (0 or 1): two rows in twenty have label 1, more of them where the score is high, and one query in eight has
    none.
    """
    import numpy as np
    import polars as pl

    bits = np.random.PCG64(SEED)  # its raw stream is the same in every version of NumPy

    def uniform(count: int) -> np.ndarray:
        return (bits.random_raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    folder.mkdir(parents=True, exist_ok=True)
    query = np.argsort(uniform(USERS), kind="stable")
    score = uniform(USERS * CANDIDATES).astype(np.float32)
    label = (uniform(USERS * CANDIDATES) < 0.02 + 0.16 * score.astype(np.float64)).astype(np.int64)
    table = pl.DataFrame({"query": np.repeat(query, CANDIDATES), "score": score, "label": label})
    for name, rows in {"tenth": table.height // 10, "table": table.height}.items():
        table.head(rows).write_parquet(folder / f"{name}.part")
        (folder / f"{name}.part").replace(folder / f"{name}.parquet")


if __name__ == "__main__":
    size, folder = sys.argv[1], Path(sys.argv[2])
    if size == "table":
        write_table(folder)
    elif size == "big":
        write(folder, 6980, judge_like_ms_marco)
    else:
        write(folder, 50, judge_like_a_track)
