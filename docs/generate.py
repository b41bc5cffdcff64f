"""Write generated text again: docs/generate.py [--check].

That is parts of README.md and of pages in docs/ (`PAGES`), and the help that is rendered ahead (`HELP`). A block
between `<!-- begin NAME -->` and `<!-- end NAME -->` comes from the registries of the package. In a fence of the
language `console` every line that begins with `$ ` is a command, run in the repository's folder on a terminal of 100
columns; the lines below it are what it printed.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankeval_cli.cli.ahead import FOLDER, commands, rendered
from rankeval_cli.errors import ExitCode
from rankeval_cli.model import PRESET_RULES, Rules

if TYPE_CHECKING:
    from rankeval_cli.measures.spec import Measure
    from rankeval_cli.trec_eval.selection import Name

ROOT = Path(__file__).resolve().parents[1]
HELP = Path(FOLDER)
PAGES = (
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("ci", "gates", "presets", "statistics", "trec_eval")),
)
COLUMNS = 100
PROSE = 120  # columns
TOOLS = ("jq",)  # what an example needs besides a POSIX shell
TIMEOUT_S = 60

EXIT_CODES = {
    ExitCode.OK: "fine",
    ExitCode.GATE: "a gate failed, and nothing else went wrong",
    ExitCode.INPUT: "the command line or an input cannot be used, or `--strict` met a warning",
    ExitCode.BUG: "a bug in rankeval",
    ExitCode.INTERRUPTED: "interrupted",
}


def main() -> int:
    """Write the pages, or with `--check` tell what differs; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something is out of step")
    is_check = parser.parse_args().check
    helps = {HELP / f"{command.name}.txt": rendered(command) for command in commands()}
    found = [renewed(file, text, is_check) for file, text in helps.items()]  # first: the pages show help
    return max(*found, *(renewed(page, with_examples(with_blocks(read(page))), is_check) for page in PAGES))


def read(file: Path) -> str:
    """What a file holds; nothing where there is none."""
    return file.read_text(encoding="utf-8") if file.exists() else ""


def renewed(file: Path, new: str, is_check: bool) -> int:
    """Write one file, or tell what differs; the exit code."""
    old = read(file)
    if is_check and new != old:
        print(f"error: {file.name} is out of step with the code\nhint: make docs", file=sys.stderr)
        print(difference(old, new, file.name), file=sys.stderr)
        return 1
    if not is_check:
        file.parent.mkdir(exist_ok=True)
        file.write_text(new, encoding="utf-8")
    return 0


def difference(old: str, new: str, name: str) -> str:
    """What would change, as a short unified diff."""
    import difflib

    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, "generated", lineterm="", n=1)
    return "\n".join(list(lines)[:40])


def with_blocks(text: str) -> str:
    """The text with every block generated anew. Raises KeyError for a name that has no generator."""

    def block(found: re.Match[str]) -> str:
        name = found["name"]
        return f"<!-- begin {name} -->\n\n{BLOCKS[name]()}\n\n<!-- end {name} -->"

    return re.sub(r"<!-- begin (?P<name>[a-z-]+) -->\n.*?<!-- end (?P=name) -->", block, text, flags=re.DOTALL)


def with_examples(text: str) -> str:
    """The text with the output of every example as it is now."""
    return re.sub(r"(?<=```console\n).*?(?=```)", lambda found: played(found[0]), text, flags=re.DOTALL)


def played(example: str) -> str:
    """An example with the output of its commands. A command ends at the first line without a backslash at its end."""
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*)$", example, flags=re.MULTILINE)
    if missing := missing_tools(example):
        print(f"warning: {missing} is not installed: an example was not run", file=sys.stderr)
        return example
    shown = "\n".join(f"$ {command}\n{run(command)}" for command in commands)
    if "this is a bug in rankeval" in shown:
        sys.exit(f"error: an example ends in a bug\n{shown}")
    return shown


def missing_tools(example: str) -> str | None:
    """A program that an example pipes into and this machine does not have."""
    return next((tool for tool in TOOLS if f"| {tool} " in flat(example) and not shutil.which(tool)), None)


def flat(example: str) -> str:
    """Continued commands on one line."""
    return re.sub(r"\\\n *", "", example)


def run(command: str) -> str:
    """What a command shows on a terminal without colour: stdout and stderr as they come, line ends LF.

    The terminal is a pseudo-terminal; where the system has none (Windows), examples cannot be run.
    """
    import pty

    ours, theirs = pty.openpty()
    try:
        child = subprocess.Popen(
            ["bash", "-c", f"stty cols {COLUMNS} rows 50 -onlcr; {command}"],
            cwd=ROOT,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(),
            start_new_session=True,
        )
        os.close(theirs)
        shown = read_all(ours)
        child.wait(timeout=TIMEOUT_S)
    finally:
        os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)  # some jq colour what a terminal gets, whatever NO_COLOR says
    return "".join(f"{line.rstrip()}\n" for line in plain.splitlines())


def environment() -> dict[str, str]:
    """Variables that make what is shown the same everywhere, with the installed program first in the path."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RANKEVAL_", "GITHUB_"))}
    fixed = {"PATH": path, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": str(COLUMNS), "LC_ALL": "C.UTF-8"}
    return kept | fixed


def read_all(terminal: int) -> str:
    """Everything written to the other end until it is closed."""
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so when the last writer has gone
            break
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces).decode()


def help_text() -> str:
    """`rankeval --help`, each line at most 100 columns wide."""
    return f"```text\n{run('rankeval --help').strip()}\n```"


def measures_table() -> str:
    """One row a measure: names, what it is, parameters, range, and names elsewhere."""
    from rankeval_cli.measures.registry import MEASURES, names_elsewhere, spellings

    header = ("measure", "also", "what it is", "parameters", "range", "trec_eval", "ir_measures", "ranx")
    rows = []
    for measure in MEASURES:
        names = codes(spellings(measure)[1:])
        params = codes(param.name for param in measure.params)
        elsewhere = (codes(names) for names in names_elsewhere(measure).values())
        rows.append((code(spelled(measure)), names, measure.title, params, range_of(measure), *elsewhere))
    return table(header, rows)


def spelled(measure: Measure) -> str:
    """The name with what may or must follow it."""
    return measure.name + {"required": "@k", "optional": "[@k]", "value": "@x", "never": ""}[measure.cutoff]


def range_of(measure: Measure) -> str:
    """The range of one query's value, open at the end for `≥`, and a word where lower is better."""
    low, high = measure.bounds
    open_end = "any number" if math.isinf(low) else f"≥ {low:g}"
    text = open_end if math.isinf(high) else f"{low:g} to {high:g}"
    return f"{text}, lower is better" if measure.direction == "lower" else text


def formats_table() -> str:
    """One row a layout of runs and judgments."""
    from rankeval_cli.readers import FORMATS

    return table(
        ("format", "run", "qrels", "one table for both"),
        [(code(layout.name), layout.run or "–", layout.qrels or "–", layout.labelled or "–") for layout in FORMATS],
    )


def reports_table() -> str:
    """One row a report format."""
    from rankeval_cli.report import REPORTERS

    rows = [(code(reporter.name), reporter.title, codes(reporter.suffixes)) for reporter in REPORTERS]
    return table(("format", "what it is", "suffix for `-o`"), rows)


def rules_table() -> str:
    """One row a rule of `Rules`: what it decides, its default, its option."""
    from typer import Context

    from rankeval_cli.cli.app import built
    from rankeval_cli.cli.commands import find

    command = built(find("evaluate"))
    context = Context(command, info_name="rankeval")
    options = {param.name: param for param in command.get_params(context)}
    rows = []
    for rule in fields(Rules):
        if rule.name in PRESET_RULES and rule.name not in options:
            continue
        option = options[rule.name]
        spelling = option.get_help_record(context)[0].split(" ")
        choices = " ".join(spelling).replace("<", "").replace(">", "")
        rows.append((option.help, default_of(rule.default), code(choices)))
    return table(("question", "default", "option"), rows)


def default_of(value: Any) -> str:
    """A default as a user would type it; a dash where nothing is set."""
    if value is None or value is False:
        return "–"
    return code(f"{value:g}" if isinstance(value, float) else str(value))


def presets_text() -> str:
    """A section a preset: its measures by both names, and what it does otherwise."""
    from rankeval_cli.presets.describe import settings_of
    from rankeval_cli.presets.registry import PRESETS

    sections = []
    for preset in PRESETS:
        lines = [f"## {code(preset.name)}: {preset.title}", "", f"Source: {preset.source}.", ""]
        for convention in preset.conventions:
            about = f"{codes(convention.measures)}: " if convention.measures else ""
            settings = settings_of(convention)
            text = f"{about}{convention.sentence}" + (f" [{codes(settings)}]" if settings else "")
            lines += textwrap.wrap(text, PROSE, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)
        names = (
            f"{code(here)}" + (f" ({code(there)})" if there != here else "") for here, there in preset.names.items()
        )
        measures = textwrap.wrap(f"Measures: {', '.join(names)}.", PROSE, break_on_hyphens=False)
        sections.append("\n".join([*lines, *[""] * bool(preset.conventions), *measures]))
    return "\n\n".join(sections)


def exit_codes_table() -> str:
    """One row an exit code."""
    return table(("code", "meaning"), [(str(int(code)), EXIT_CODES[code]) for code in ExitCode])


def tests_table() -> str:
    """One row a test of runs."""
    from rankeval_cli.inference.paired import TESTS

    rows = [
        (code(test.name), codes(test.aliases), test.title, test.description, code(test.interval), test.source)
        for test in TESTS
    ]
    return table(("test", "also", "what", "when", "interval", "source"), rows)


def corrections_table() -> str:
    """One row a correction of p-values."""
    from rankeval_cli.inference.families import CORRECTIONS

    rows = [(code(rule.name), codes(rule.aliases), rule.title, rule.description, rule.source) for rule in CORRECTIONS]
    return table(("correction", "also", "what", "when", "source"), rows)


def gate_grammar() -> str:
    """The grammar of gates, as their parser states it."""
    from rankeval_cli.gates import grammar

    lines = [line for line in str(grammar.__doc__).splitlines() if line.startswith("    ")]
    return f"```text\n{textwrap.dedent(chr(10).join(lines))}\n```"


def gate_rules_table() -> str:
    """One row a rule of gates."""
    from rankeval_cli.gates.expressions import RULES

    return table(("rule", "what it does"), [(code(rule.example), rule.sentence) for rule in RULES])


def trec_eval_table() -> str:
    """One row a name of trec_eval, in the order in which its lines are printed."""
    from rankeval_cli.trec_eval.manual import title
    from rankeval_cli.trec_eval.selection import names

    header = ("trec_eval", "rankeval", "what it is", "default parameters", "groups")
    rows = []
    for name in names().values():
        entry = name.entry
        since = "; new in 10" if entry.since == 10 else ""
        defaults = ",".join(f"{value:g}" for value in entry.defaults)
        rows.append((code(entry.stem), ours(name), title(name) + since, defaults, codes(entry.groups)))
    return table(header, rows)


def trec_eval_options() -> str:
    """One row an option of `rankeval trec-eval`."""
    from rankeval_cli.trec_eval.options import OPTIONS

    rows = []
    for option in OPTIONS:
        short, long = f"-{option.short}" if option.short else "", f"--{option.long}" if option.long else ""
        rows.append((code(short), code(long), code(option.metavar), option.help))
    return table(("short", "long", "argument", "meaning"), rows)


def ours(name: Name) -> str:
    """What the measure is called here, with the parameters that make it that one."""
    from rankeval_cli.measures.registry import MEASURES
    from rankeval_cli.measures.values import write_value

    if name.measure not in MEASURES or name.entry.by_group:
        return "–"
    given = ",".join(f"{param}={write_value(value)}" for param, value in name.entry.params.items())
    at = {"cutoffs": "@k", "points": "@x"}.get(name.entry.takes or "", "")
    return code(name.measure.name + (f"({given})" if given else "") + at)


def code(text: str | None) -> str:
    """Text as Markdown code; empty for nothing."""
    return f"`{text}`" if text else ""


def codes(texts: Iterable[str]) -> str:
    """Several texts as code, with commas between."""
    return ", ".join(code(text) for text in texts if text)


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; bars inside cells are escaped, and line breaks become blanks."""
    lines = [[" ".join(cell.split()).replace("|", "\\|") for cell in cells] for cells in (header, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


BLOCKS: dict[str, Callable[[], str]] = {
    "help": help_text,
    "measures": measures_table,
    "formats": formats_table,
    "reports": reports_table,
    "rules": rules_table,
    "presets": presets_text,
    "exit-codes": exit_codes_table,
    "tests": tests_table,
    "corrections": corrections_table,
    "gate-grammar": gate_grammar,
    "gate-rules": gate_rules_table,
    "trec-eval-options": trec_eval_options,
    "trec-eval-measures": trec_eval_table,
}


if __name__ == "__main__":
    sys.exit(main())
