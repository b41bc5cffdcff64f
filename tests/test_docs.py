"""Pages: generated blocks and shown outputs are what the program gives now; examples in docstrings run."""

import doctest
import importlib
import inspect
import pkgutil
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT

import rankeval_cli
from rankeval_cli.measures.binary import reciprocal_rank

sys.path.insert(0, str(ROOT / "docs"))

import generate

README = (ROOT / "README.md").read_text(encoding="utf-8")
GENERATED = "".join(page.read_text(encoding="utf-8") for page in generate.PAGES)
EXAMPLES = re.findall(r"(?<=```console\n).*?(?=```)", GENERATED, flags=re.DOTALL)
PYTHON = re.findall(r"(?<=```pycon\n).*?(?=```)", README, flags=re.DOTALL)
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "sample_data/README.md", *sorted(ROOT.glob("docs/*.md"))]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(rankeval_cli.__path__, "rankeval_cli.")
    if not module.name.endswith("__main__")  # importing it runs the program
)


@pytest.mark.parametrize("name", generate.BLOCKS)
def test_generated_block_is_in_step(name: str) -> None:
    block = re.search(rf"<!-- begin {name} -->\n\n(.*?)\n\n<!-- end {name} -->", GENERATED, flags=re.DOTALL)
    assert block is not None, f"no page has a block {name}"
    assert block[1] == generate.BLOCKS[name](), "run `make docs`"


@pytest.mark.skipif(sys.platform == "win32", reason="examples need a POSIX terminal")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0])
def test_example_prints_what_is_shown(example: str) -> None:
    if tool := generate.missing_tools(example):
        pytest.skip(f"{tool} is not installed")
    assert generate.played(example) == example


def test_stale_page_is_found_and_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = (
        "<!-- begin exit-codes -->\nold\n<!-- end exit-codes -->\n\n```console\n$ echo one; echo two >&2\nold\n```\n"
    )
    page = tmp_path / "README.md"
    page.write_text(stale)
    monkeypatch.setattr(generate, "PAGES", (page,))
    monkeypatch.setattr(generate, "HELP", tmp_path / "help")
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 1
    assert page.read_text() == stale
    monkeypatch.setattr(sys, "argv", ["generate.py"])
    assert generate.main() == 0
    assert page.read_text().endswith(fence("one\ntwo"))
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 0


def fence(output: str) -> str:
    return f"```console\n$ echo one; echo two >&2\n{output}\n```\n"


@pytest.mark.parametrize("example", PYTHON, ids=lambda text: text.splitlines()[0])
def test_python_example_of_the_readme(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    test = doctest.DocTestParser().get_doctest(example, {}, "README.md", "README.md", 0)
    assert test.examples
    assert not doctest.DocTestRunner().run(test).failed


def test_kernel_of_the_readme_is_the_one_in_the_package() -> None:
    shown = re.search(r"```python\n(.*?) *```", README, flags=re.DOTALL)
    assert shown is not None
    assert textwrap.dedent(shown[1]) == inspect.getsource(reciprocal_rank)


@pytest.mark.parametrize("name", ["rankeval_cli", *MODULES])
def test_examples_in_docstrings(name: str) -> None:
    module: ModuleType = importlib.import_module(name)
    assert not doctest.testmod(module).failed


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_prose_is_wrapped(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    long = [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")]
    assert long == []


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_make_without_a_target_lists_every_target() -> None:
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert phony is not None
    assert re.findall(r"^  make (\w+)", listed, flags=re.MULTILINE) == phony[1].split()
