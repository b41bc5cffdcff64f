"""Measure rankeval beside other tools, whole processes as a user starts them; writes benchmarks/results.md.

Needs Python 3.11 and nothing else: makes .venv-bench with rankeval from this tree and the peers of requirements.txt,
and the inputs in benchmarks/data.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import labelled
from measure import Job, Usage, measure, median

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VENV = ROOT / ".venv-bench"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = str(BIN / "python")
OURS = "rankeval"
PARTS = {
    "help": "`--help`",
    "small": "50 queries x 1,000 documents, caches warm",
    "cold": "50 queries x 1,000 documents, in a fresh container (empty home, no caches)",
    "big": "6,980 queries x 1,000 documents (253 MB)",
    "table": "1,000,000 queries x 20 documents as one labelled table (79 MB of Parquet)",
}
LAST_FILES = {"small": "run.txt", "big": "run.txt", "table": "table.parquet"}  # input -> what is written last
HEADER = (
    "| tool | runs | wall s | CPU s | peak MB | wall / rankeval | memory / rankeval |",
    "| --- | --: | --: | --: | --: | --: | --: |",
)
AGREE = 2e-3  # the same measure in two tools: ir_measures prints four decimals, ranx breaks ties in its own way


def main() -> None:
    """Prepare, measure the chosen parts in one go, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, help="parts to measure; default: all")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command, of which the median counts")
    parser.add_argument("--peer-rounds", type=int, default=3, help="runs of the peers where one takes many seconds")
    parser.add_argument("--output", type=Path, help="where to write the Markdown; default: results.md if all parts ran")
    parser.add_argument("--renew", action="store_true", help="write the parts that ran into results.md; others stay")
    options = parser.parse_args()
    parts = options.only or list(PARTS)
    prepare(parts)
    sections = {part: section(part, options.rounds, options.peer_rounds) for part in parts}
    text = "\n".join([*heading(), *(line for lines in sections.values() for line in lines)])
    print(text)
    if options.renew:
        renew(HERE / "results.md", sections)
        return
    output = options.output or (HERE / "results.md" if not options.only else None)
    if output:
        output.write_text(text + "\n")


def renew(results: Path, sections: Mapping[str, Sequence[str]]) -> None:
    """Replace some parts of the results, or add them behind the others; the heading is that of this run."""
    _, *rest = results.read_text().rstrip("\n").split("\n\n## ")
    known = {text.split("\n", 1)[0]: text for text in rest}
    for part, lines in sections.items():
        known[PARTS[part]] = "\n".join(lines).strip().removeprefix("## ")
    results.write_text("\n\n## ".join(["\n".join(heading()), *known.values()]) + "\n")


def prepare(parts: Sequence[str]) -> None:
    """Environment, inputs, one run of each tool for its caches, and a check that the tools agree."""
    if not (VENV / ".installed").exists() or (HERE / "requirements.txt").stat().st_mtime > modified(VENV):
        say("installing the peers into .venv-bench ...")
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        pip("--requirement", str(HERE / "requirements.txt"), str(ROOT))
        (VENV / ".installed").touch()
    pip("--force-reinstall", "--no-deps", str(ROOT))
    shutil.rmtree(ROOT / "build", ignore_errors=True)  # what setuptools leaves there would go into the next build
    for size in dict.fromkeys(map(size_of, ["small", *parts])):
        if not (folder(size) / LAST_FILES[size]).exists():
            say(f"making benchmarks/data/{size} ...")
            subprocess.run([PYTHON, str(HERE / "make_data.py"), size, str(folder(size))], check=True)
    say("filling caches, comparing values ...")
    check_agreement("small")
    if "table" in parts:
        labelled.check_agreement(*contestants()[1:])


def size_of(part: str) -> str:
    """The input of a part."""
    return part if part in LAST_FILES else "small"


def contestants() -> tuple[labelled.Scored, ...]:
    """What scores the labelled table."""
    return labelled.contestants(folder("table"), str(BIN / "rankeval"), PYTHON)


def modified(venv: Path) -> float:
    """When the environment was made."""
    return (venv / ".installed").stat().st_mtime


def pip(*words: str) -> None:
    """Install something into the benchmark's own environment."""
    subprocess.run([PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *words], check=True)


def folder(size: str) -> Path:
    """Where the input lies."""
    return HERE / "data" / size


def commands(size: str) -> dict[str, tuple[str, ...]]:
    """How each tool is started to score the input: reciprocal rank, nDCG@10 and average precision."""
    run, qrels = str(folder(size) / "run.txt"), str(folder(size) / "qrels.txt")
    peers = HERE / "peers"
    return {
        OURS: (str(BIN / "rankeval"), run, qrels, "-m", "mrr@10", "ndcg@10", "map"),
        "pytrec_eval": (PYTHON, str(peers / "with_pytrec_eval.py"), run, qrels),
        "ir_measures": (str(BIN / "ir_measures"), qrels, run, "RR@10 nDCG@10 AP"),
        "ranx": (PYTHON, str(peers / "with_ranx.py"), run, qrels),
    }


def check_agreement(size: str) -> None:
    """Stop when a tool gives other values of nDCG@10 or average precision: then it did other work."""
    wanted: list[float] = []
    for tool, command in commands(size).items():
        done = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
        values = [float(word) for word in second_and_third(tool, done.stdout)]
        wanted = wanted or values
        if any(abs(ours - theirs) > AGREE for ours, theirs in zip(wanted, values, strict=True)):
            sys.exit(f"error: {tool} gives {values}, {OURS} {wanted}")


def second_and_third(tool: str, output: str) -> list[str]:
    """The values of nDCG@10 and average precision, the second and third of three lines."""
    lines = [line.split("\t") for line in output.strip().splitlines()]
    column = 1
    if tool == OURS:
        header, *lines = lines
        column = header.index("value")
    return [line[column] for line in lines[1:3]]


def section(part: str, rounds: int, peer_rounds: int) -> list[str]:
    """Measure one part; its lines of Markdown."""
    say(PARTS[part])
    if part == "table":
        return ["", f"## {PARTS[part]}", "", *labelled.rows_of(contestants(), rounds, peer_rounds)]
    floor, jobs = jobs_of(part, rounds, peer_rounds)
    used = measure([*floor, *jobs])
    ours = median(used[OURS])
    table = [row(job, median(used[job.name]), ours) for job in (*jobs, *floor)]
    return ["", f"## {PARTS[part]}", "", *HEADER, *table]


def jobs_of(part: str, rounds: int, peer_rounds: int) -> tuple[list[Job], list[Job]]:
    """The floor (what the machine needs for nearly nothing) and the tools."""
    bare = Job("Python that does nothing", (PYTHON, "-c", "pass"), rounds)
    if part == "help":
        return [bare], [Job(tool, (str(BIN / tool), "--help"), rounds) for tool in (OURS, "ir_measures")]
    size = size_of(part)
    tools = [
        Job(tool, command, rounds_of(tool, part, rounds, peer_rounds), is_cold=part == "cold")
        for tool, command in commands(size).items()
    ]
    if part != "big":
        return [bare], tools
    return [Job("`wc -l` of the run", ("wc", "-l", str(folder("big") / "run.txt")), rounds)], tools


def rounds_of(tool: str, part: str, rounds: int, peer_rounds: int) -> int:
    """How often to run: peers take many seconds on the big input, ranx always, and half a minute without caches."""
    if tool == "ranx" and part == "cold":
        return 1
    is_slow = tool != OURS and (part == "big" or tool == "ranx")
    return min(rounds, peer_rounds) if is_slow else rounds


def row(job: Job, used: Usage, ours: Usage) -> str:
    """One line of the table."""
    figures = f"{used.wall_s:.3f} | {used.cpu_s:.2f} | {used.peak_mb:.0f}"
    ratios = f"{used.wall_s / ours.wall_s:.2f} | {used.peak_mb / ours.peak_mb:.2f}"
    return f"| {job.name} | {job.rounds} | {figures} | {ratios} |"


def heading() -> list[str]:
    """What was measured, on what."""
    versions = json.loads(
        subprocess.run([PYTHON, "-m", "pip", "list", "--format", "json"], capture_output=True, check=True).stdout
    )
    named = {entry["name"].lower().replace("_", "-"): entry["version"] for entry in versions}
    tools = ("rankeval-cli", "polars", "numba", "numpy")
    peers = ("ir-measures", "pytrec-eval-terrier", "ranx", "torch", "torchmetrics")
    return [
        "# Benchmark results",
        "",
        f"{processor()}, {os.cpu_count()} cores; Python {platform.python_version()}.",
        *(", ".join(f"{name} {named[name]}" for name in names) + "." for names in (tools, peers)),
        "",
        "Whole processes from start to exit, medians, the tools of a table taking turns in one session; input files in",
        "the page cache. Each tool reads the run and the judgments from disk and computes reciprocal rank (cut at 10,",
        "except in pytrec_eval, which cannot), nDCG@10 and average precision; rankeval computes confidence intervals",
        "besides. A ratio above 1 means that rankeval is faster, or needs less memory. `make bench` measures again.",
        "Of the labelled table, both tools compute MRR@10, nDCG@10, MAP, recall@10 and hit rate@10; torchmetrics gets",
        "the first tenth of it.",
    ]


def processor() -> str:
    """The processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def say(text: str) -> None:
    """Progress goes to stderr; stdout holds the table."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
