"""Random collections with everything that can go wrong in one: ties, missing and unjudged queries, repeats."""

import random
from pathlib import Path
from typing import NamedTuple

import polars as pl

ODD = ("q5", "q6")  # ranked against their scores; of one score throughout


class Collection(NamedTuple):
    """A run (query, doc, score, rank) in no order of lines, and judgments (query, doc, grade)."""

    run: pl.DataFrame
    qrels: pl.DataFrame


def collection(seed: int, repeats: int = 0) -> Collection:
    """A small collection. repeats : documents that stand twice in a ranking, with another score"""
    draw = random.Random(seed)
    queries = [f"q{i}" for i in range(24)] + ["007", "ü"]
    run, qrels = [], []
    for query in queries:
        judged = [(query, f"D{draw.randrange(40)}") for _ in range(draw.randrange(1, 12))]
        qrels += [(*pair, draw.choice([-1, 0, 0, 1, 1, 2, 3])) for pair in dict.fromkeys(judged)]
        if query in (*ODD, "007") or draw.random() < 0.8:
            docs = draw.sample(
                [f"D{i}" for i in range(40)] + [query] + [f"d{i}" for i in range(9)], draw.randrange(2, 30)
            )
            scores = sorted((draw.choice([0.5, 1.0, 1.5, draw.random()]) for _ in docs), reverse=True)
            scores = [1.0] * len(docs) if query == "q6" else scores
            ranks = [*range(1, len(docs) + 1)][:: -1 if query == "q5" else 1]
            run += list(zip([query] * len(docs), docs, scores, ranks, strict=True))
    run += [(f"unjudged{i}", "D1", 1.0, 1) for i in range(3)]
    run += [(query, doc, draw.random(), rank) for query, doc, _, rank in draw.sample(run, repeats)]
    draw.shuffle(run)
    return Collection(
        pl.DataFrame(run, schema=["query", "doc", "score", "rank"], orient="row"),
        pl.DataFrame(qrels, schema={"query": pl.String, "doc": pl.String, "grade": pl.Float64}, orient="row"),
    )


def write_trec(found: Collection, folder: Path, parts: int = 3) -> tuple[str, str]:
    """The run in several files of a folder, the judgments in one; their paths."""
    runs = folder / "run"
    runs.mkdir()
    lines = [f"{query} Q0 {doc} {rank} {score!r} made\n" for query, doc, score, rank in found.run.rows()]
    step = -(-len(lines) // parts)
    for number in range(parts):
        text = "".join(lines[number * step : (number + 1) * step])
        (runs / f"part-{number + 8}.txt").write_text(text, encoding="utf-8")  # 10 behind 9
    judged = "".join(f"{query} 0 {doc} {grade:g}\n" for query, doc, grade in found.qrels.rows())
    (folder / "qrels.txt").write_text(judged, encoding="utf-8")
    return str(runs), str(folder / "qrels.txt")
