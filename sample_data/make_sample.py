"""Make the files of this folder from scikit-learn's handwritten digits: `python make_sample.py [FOLDER]`.

Everything is whole-number arithmetic, one square root and one division a score, so that the text files are the same
bytes on every machine. Needs scikit-learn (the images) and PyArrow (Parquet); README.md says what the files are.
"""

import csv
import gzip
import math
import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

SIDE = 8  # an image is 8 x 8 pixels
QUERIES_PER_DIGIT = 5
RESULTS = 100
POOL_DEPTH = 20
PROJECTED = 8  # dimensions left by the random projection
SEED = 7
INKED = 8  # a pixel counts as ink from the middle of its range, 0-16
OVERLAP = 0.75  # share of common ink from which two images of one digit are near copies

Vector = list[int]
Ranking = list[tuple[str, str]]  # (image id, score as written), best first
Run = dict[str, Ranking]  # query id -> ranking
Qrels = list[tuple[str, str, int]]  # query id, image id, grade


def load_images() -> tuple[list[Vector], Vector]:
    """1,797 images as 64 values from 0 to 16 each, and the digit that each shows."""
    from sklearn.datasets import load_digits

    data = load_digits()
    return [[int(value) for value in row] for row in data.data], [int(digit) for digit in data.target]


def choose_queries(digits: Vector) -> list[int]:
    """Five images of each digit, spread evenly over the file, in file order."""
    chosen = []
    for digit in range(10):
        places = [place for place, shown in enumerate(digits) if shown == digit]
        step = len(places) / QUERIES_PER_DIGIT
        chosen += [places[int(step * (number + 0.5))] for number in range(QUERIES_PER_DIGIT)]
    return sorted(chosen)


def project(images: list[Vector]) -> list[Vector]:
    """The images in few dimensions: sums of pixels with random signs (Achlioptas 2003)."""
    rng = random.Random(SEED)
    signs = [[1 - 2 * rng.getrandbits(1) for _ in range(SIDE * SIDE)] for _ in range(PROJECTED)]
    return [[dot(row, image) for row in signs] for image in images]


def dot(left: Vector, right: Vector) -> int:
    """Inner product, exact."""
    return sum(a * b for a, b in zip(left, right, strict=True))


def retrieve(vectors: list[Vector], query: int) -> Ranking:
    """The images nearest to `query` by cosine, without the query's own image; equal cosines by id, descending."""
    squares = [dot(vector, vector) for vector in vectors]
    cosines = [
        (f"{dot(vectors[query], vector) / math.sqrt(squares[query] * squares[place]):.9f}", image_id(place))
        for place, vector in enumerate(vectors)
        if place != query
    ]
    ordered = sorted(cosines, key=lambda pair: (float(pair[0]), pair[1]), reverse=True)
    return [(image, score) for score, image in ordered[:RESULTS]]


def ink_overlap(left: Vector, right: Vector) -> float:
    """Intersection over union of the inked pixels, the best over shifts by at most one pixel; in [0, 1]."""
    ink = {place for place, value in enumerate(left) if value >= INKED}
    moved = [shift(right, down, along) for down in (-1, 0, 1) for along in (-1, 0, 1)]
    return max(len(ink & other) / len(ink | other) for other in moved)


def shift(image: Vector, down: int, along: int) -> set[int]:
    """Places of the inked pixels after a move; what leaves the image is lost."""
    places = [divmod(place, SIDE) for place, value in enumerate(image) if value >= INKED]
    moved = [(row + down, column + along) for row, column in places]
    return {row * SIDE + column for row, column in moved if 0 <= row < SIDE and 0 <= column < SIDE}


def judge(images: list[Vector], digits: Vector, query: int, image: int) -> int:
    """0 another digit, 1 the same digit, 2 the same digit and nearly the same strokes."""
    if digits[query] != digits[image]:
        return 0
    return 2 if ink_overlap(images[query], images[image]) >= OVERLAP else 1


def judge_pools(images: list[Vector], digits: Vector, queries: dict[str, int], runs: Iterable[Run]) -> Qrels:
    """Judgments of what any run returned in its first `POOL_DEPTH` places; nothing else is judged."""
    judged = []
    for name, query in queries.items():
        pool = sorted({image for run in runs for image, _ in run[name][:POOL_DEPTH]})
        judged += [(name, image, judge(images, digits, query, int(image[3:]))) for image in pool]
    return judged


def image_id(place: int) -> str:
    """`img0123` for the 124th image of the data set."""
    return f"img{place:04d}"


def write_text(folder: Path, runs: dict[str, Run], qrels: Qrels) -> None:
    """The TREC and CSV files, and one run compressed."""
    judged = [f"{query} 0 {image} {grade}\n" for query, image, grade in qrels]
    write_lines(folder / "qrels.txt", judged)
    write_csv(folder / "qrels.csv", ("query", "doc", "grade"), qrels)
    for name, run in runs.items():
        lines = [
            f"{query} Q0 {image} {rank} {score} {name}\n"
            for query, ranking in run.items()
            for rank, (image, score) in enumerate(ranking, start=1)
        ]
        write_lines(folder / f"{name}.txt", lines)
        write_csv(folder / f"{name}.csv", ("query", "doc", "score"), rows_of(run))
    packed = gzip.compress((folder / "pixels.txt").read_bytes(), compresslevel=9, mtime=0)
    (folder / "pixels.txt.gz").write_bytes(packed)


def rows_of(run: Run) -> list[tuple[str, str, str]]:
    """(query, image, score) of a run, one a result."""
    return [(query, image, score) for query, ranking in run.items() for image, score in ranking]


def write_lines(path: Path, lines: list[str]) -> None:
    """Text with LF line ends on every system."""
    path.write_bytes("".join(lines).encode())


def write_csv(path: Path, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    """Comma-separated text with a header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def write_parquet(folder: Path, runs: dict[str, Run], qrels: Qrels) -> None:
    """The same tables as Parquet, and one run as a folder of two parts as Spark leaves it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def save(path: Path, kind: str, rows: Sequence[tuple[str, str, int | str]]) -> None:
        query, image, values = zip(*rows, strict=True)
        numbers = [float(value) if kind == "score" else int(value) for value in values]
        pq.write_table(pa.table({"query": query, "doc": image, kind: numbers}), path, compression="zstd")

    save(folder / "qrels.parquet", "grade", qrels)
    for name, run in runs.items():
        save(folder / f"{name}.parquet", "score", rows_of(run))
    rows = rows_of(runs["pixels"])
    parts, half = folder / "pixels_parts", len(rows) // 2
    parts.mkdir(exist_ok=True)
    save(parts / "part-00000.parquet", "score", rows[:half])
    save(parts / "part-00001.parquet", "score", rows[half:])
    (parts / "_SUCCESS").write_bytes(b"")


def main(folder: Path) -> None:
    """Write every file of the sample into `folder`."""
    images, digits = load_images()
    queries = {f"q{number:02d}": place for number, place in enumerate(choose_queries(digits), start=1)}
    vectors = {"pixels": images, "projection": project(images)}
    runs = {
        name: {query: retrieve(of_run, place) for query, place in queries.items()} for name, of_run in vectors.items()
    }
    qrels = judge_pools(images, digits, queries, list(runs.values()))
    folder.mkdir(parents=True, exist_ok=True)
    shown = [(query, image_id(place), digits[place]) for query, place in queries.items()]
    write_csv(folder / "queries.csv", ("query", "image", "digit"), shown)
    write_text(folder, runs, qrels)
    write_parquet(folder, runs, qrels)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
