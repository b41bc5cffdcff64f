"""Imports go one way, heavy libraries stay in their files, and are loaded only when they are needed."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

import rankeval_cli

PACKAGE = Path(rankeval_cli.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py"))
SAMPLE = ROOT / "sample_data"
HEAVY = ("numba", "numpy", "polars", "pyarrow", "pydantic", "pyspark", "rich", "scipy")

# The first folder or file name below the package -> its place in the flow. A file imports from lower places and from
# its own folder; `report` sees only the records.
PLACES = {
    "errors": 0,
    "late": 0,
    "model": 1,
    "findings": 2,
    "measures": 2,
    "readers": 2,
    "inference": 2,
    "judgments": 3,
    "sorting": 3,
    "arrays": 3,
    "coverage": 3,
    "groups": 4,
    "preferences": 3,
    "rows": 4,
    "align": 5,
    "digests": 5,
    "scoring": 6,
    "labelled": 6,
    "ties": 6,
    "presets": 6,
    "plan": 6,
    "passes": 7,
    "weighing": 7,
    "comparing": 7,
    "gates": 6,
    "report": 6,
    "opening": 6,
    "baseline": 7,
    "flow": 8,
    "cuts": 8,
    "tracing": 8,
    "explain": 9,
    "moves": 9,
    "checking": 9,
    "library": 9,
    "__init__": 9,
    "assessments": 9,
    "why_differs": 9,
    "engines": 10,
    "trec_eval": 10,
    "cli": 11,
    "__main__": 12,
}
REPORT_SEES = {"errors", "late", "model", "findings", "measures", "report"}
ONLY_IN = {
    "typer": ("cli",),
    "rich": ("report/terminal.py",),
    "numba": ("scoring.py",),
    "pyspark": ("engines/spark/",),
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    own = part_of(path)
    assert own in PLACES, f"give {own} its place in PLACES"
    names = {name.split(".")[1] for name in imported(path) if name.startswith("rankeval_cli.")}
    for seen in names - {own, "__version__"}:
        assert PLACES[seen] < PLACES[own], f"{own} imports {seen}"
        assert own != "report" or seen in REPORT_SEES, f"report imports {seen}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_libraries_stay_in_their_files(path: Path) -> None:
    place = path.relative_to(PACKAGE).as_posix()
    for library in {name.split(".")[0] for name in imported(path)} & ONLY_IN.keys():
        assert place.startswith(ONLY_IN[library]), f"{place} imports {library}"


def part_of(path: Path) -> str:
    """The file or folder right below the package that holds `path`."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports when it runs, whether at its top or inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unused = {node for block in ast.walk(tree) if is_type_checking(block) for node in ast.walk(block)}
    for node in ast.walk(tree):
        if node in unused:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_type_checking(node: ast.AST) -> bool:
    """Whether a statement is `if TYPE_CHECKING:`; what it imports is never loaded."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


USAGE = {
    "help": (["--help"], 0),
    "version": (["--version"], 0),
    "unknown option": (["run.txt", "qrels.txt", "--no-such-option"], 2),
    "no argument": ([], 2),
    "unknown measure": (["pixels.txt", "qrels.txt", "-m", "ndgc@10"], 2),
    "gate that cannot be read": (["pixels.txt", "qrels.txt", "--fail-under", "mrr@10"], 2),
    "list of measures": (["measures"], 0),
    "one measure": (["measures", "ndcg"], 0),
    "formats": (["formats"], 0),
    "help of explain": (["explain", "--help"], 0),
    "explain without a query": (["explain", "pixels.txt"], 2),
    "diff of one run": (["diff", "pixels.txt", "qrels.txt"], 2),
    "check of nothing": (["check"], 2),
    "help of compare": (["compare", "--help"], 0),
    "test that cannot be read": (["compare", "pixels.txt", "projection.txt", "qrels.txt", "--test", "x"], 2),
    "baseline that is not there": (["compare", "pixels.txt", "projection.txt", "qrels.txt", "--baseline", "x"], 2),
    "drop-in help": (["trec-eval", "-h"], 0),
    "drop-in usage": (["trec-eval", "-W"], 1),
}


@pytest.mark.parametrize(("words", "code"), USAGE.values(), ids=USAGE)
def test_what_reads_no_data_loads_no_heavy_library(words: list[str], code: int, tmp_path: Path) -> None:
    assert loaded(words, tmp_path, code) & set(HEAVY) == set()


def test_completion_loads_no_heavy_library(tmp_path: Path) -> None:
    asked = {"_RANKEVAL_COMPLETE": "complete_bash", "COMP_WORDS": "rankeval --ti", "COMP_CWORD": "1"}
    assert loaded([], tmp_path, 0, **asked) & set(HEAVY) == set()


def test_piped_evaluation_of_text_loads_neither_rich_nor_pyarrow(tmp_path: Path) -> None:
    modules = loaded(["pixels.txt", "qrels.txt", "-m", "ndcg@10"], tmp_path, 0)
    assert "polars" in modules
    assert modules & {"rich", "pyarrow", "pydantic", "scipy", "numba"} == set()


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "wilcoxon", "sign", "tukey"])
def test_piped_comparison_loads_only_what_a_piped_evaluation_does(test: str, tmp_path: Path) -> None:
    words = ["pixels.txt", "projection.txt", "qrels.txt", "-m", "ndcg@10", "--test", test, "--resamples", "99"]
    assert loaded(["compare", *words], tmp_path, 0) & {"rich", "pyarrow", "scipy", "numba"} == set()


@pytest.mark.parametrize("output", ["csv", "json", "jsonl", "markdown", "latex", "trec", "tsv", "junit", "github"])
def test_data_formats_load_no_rich(output: str, tmp_path: Path) -> None:
    assert "rich" not in loaded(["pixels.csv", "qrels.csv", "-m", "ndcg@10", "-f", output], tmp_path, 0)


@pytest.mark.parametrize("command", ["explain", "diff", "check"])
def test_commands_that_look_into_text_load_neither_rich_nor_pyarrow(command: str, tmp_path: Path) -> None:
    words = {"explain": ["pixels.txt", "qrels.txt", "q01"], "check": ["pixels.txt", "qrels.txt"]}
    own = words.get(command, ["pixels.txt", "projection.txt", "qrels.txt"])
    assert loaded([command, *own], tmp_path, 0) & {"rich", "pyarrow", "scipy", "numba"} == set()


def loaded(words: list[str], tmp_path: Path, code: int, **environment: str) -> set[str]:
    """Top-level names of the modules in `sys.modules` when the program has run with these words on the sample data."""
    record = tmp_path / "modules.json"
    script = (
        "import json, os, sys\n"
        "def leave(code):\n"  # the program ends with os._exit
        f"    open({str(record)!r}, 'w').write(json.dumps([code, sorted(sys.modules)]))\n"
        "    end(code)\n"
        "end, os._exit = os._exit, leave\n"
        "sys.argv[0] = 'rankeval'\n"
        "from rankeval_cli.cli import main\n"
        "try:\n"
        "    code = main()\n"
        "except SystemExit as stop:\n"
        "    code = stop.code\n"
        "leave(code or 0)\n"
    )
    command = [sys.executable, "-c", script, *words]
    subprocess.run(
        command, cwd=SAMPLE, env=os.environ | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    found, modules = json.loads(record.read_text())
    assert found == code
    return {name.split(".")[0] for name in modules}
