"""`rankeval presets` and `rankeval why-differs`: the rules of other systems, and what they do to a number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from rankeval_cli.cli.evaluate import request_of
from rankeval_cli.cli.layout import READ_WIDTH, aligned, screen_width
from rankeval_cli.cli.options import (
    FileOptions,
    GateOptions,
    IntervalOptions,
    MeasureOptions,
    RuleOptions,
    TextOptions,
    complete_presets,
)
from rankeval_cli.cli.takes import takes
from rankeval_cli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from rankeval_cli.why_differs import Difference, Explained


def presets(
    name: Annotated[
        str | None, Argument(metavar="[NAME]", help="A preset to explain.", autocompletion=complete_presets)
    ] = None,
) -> int:
    """List the presets, or explain one: its measures, and each rule that is not the default."""
    from rankeval_cli.presets.describe import describe, rows
    from rankeval_cli.presets.registry import find
    from rankeval_cli.report import write_lines

    width = screen_width()
    if name is None:
        write_lines(aligned(rows(), width))
    else:
        write_lines(aligned(describe(find(name)), min(width or READ_WIDTH, READ_WIDTH)))
    return ExitCode.OK


@takes(MeasureOptions, RuleOptions, FileOptions, TextOptions)
def why_differs(
    paths: list[str],
    given: frozenset[str],
    measures: MeasureOptions,
    rules: RuleOptions,
    files: FileOptions,
    text: TextOptions,
) -> int:
    """Print a measure under the rules of each system, and name the rule that makes the difference.

    rankeval why-differs run.txt qrels.txt -m mrr@10
    """
    from rankeval_cli.presets.registry import PRESETS, find
    from rankeval_cli.report import write_lines
    from rankeval_cli.why_differs import explain

    systems = PRESETS if rules.preset is None else (find(rules.preset),)
    rules = replace(rules, preset=None)
    request = request_of(paths, given - {"preset"}, measures, rules, files, IntervalOptions(), GateOptions())
    if len(request.runs) > 1:
        raise UsageError("why-differs takes one run", hint="rankeval why-differs RUN QRELS -m mrr@10")
    found = explain(request, systems)
    form = text.format or ("text" if screen_width() else "tsv")
    write_lines({"text": _text, "tsv": _tsv, "json": _json}[form](found))
    return ExitCode.OK


def _text(found: Sequence[Explained]) -> Iterator[str]:
    width = screen_width()
    for place, explained in enumerate(found):
        if place:
            yield ""
        yield f"{explained.measure}: {_number(explained.value)} by default"
        rows = [row for each in explained.differences for row in _rows(each, explained)]
        yield from aligned(rows or [("", "", "no preset has this measure")], min(width or READ_WIDTH, READ_WIDTH))


def _rows(found: Difference, explained: Explained) -> list[tuple[str, str, str]]:
    """A row a reason, the first one with the name of the system and the value."""
    first, *others = _reasons(found, explained)
    return [(found.system, _value(found), first), *(("", "", other) for other in others)]


def _value(found: Difference) -> str:
    if found.worst is None or found.best is None:
        return _number(found.value)
    low, high = sorted((found.worst, found.best))
    return f"[{low:.4f}, {high:.4f}]"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _reasons(found: Difference, explained: Explained) -> list[str]:
    if found.note:
        return [found.note]
    if found.conventions:
        return [each.sentence for each in found.conventions]
    return ["the same" if found.value == explained.value else "the same but for rounding"]


HEADER = ("measure", "default", "system", "name_there", "value", "worst", "best", "why")


def _tsv(found: Sequence[Explained]) -> Iterator[str]:
    yield "\t".join(HEADER)
    for explained in found:
        for each in explained.differences:
            numbers = [explained.value, each.value, each.worst, each.best]
            default, *values = ["" if number is None else repr(number) for number in numbers]
            yield "\t".join(
                [explained.measure, default, each.system, each.there, *values, " ".join(_reasons(each, explained))]
            )


def _json(found: Sequence[Explained]) -> Iterator[str]:
    import json

    yield json.dumps([_record(explained) for explained in found], indent=2, ensure_ascii=False, allow_nan=False)


def _record(explained: Explained) -> dict[str, Any]:
    return {
        "measure": explained.measure,
        "default": explained.value,
        "systems": {
            each.system: {
                "name": each.there,
                "value": each.value,
                "worst": each.worst,
                "best": each.best,
                "conventions": [convention.sentence for convention in each.conventions],
                "note": each.note,
            }
            for each in explained.differences
        },
    }
