"""trec_eval's own test files, in the folder beside the repository: measures that we have give its four decimals."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankeval_cli import evaluate
from rankeval_cli.measures.expression import is_measure
from rankeval_cli.measures.printed import known_names, lines_of

HALF_A_DIGIT = 0.5e-4 * (1 + 1e-9)  # the reference prints four decimals
# What trec_eval prints -> the measure of ours with the reference tool's parameters.
DEFAULTS = {
    line.name: line.metric.canonical
    for entry, measure in known_names()
    if not entry.by_group
    for line in lines_of(measure, entry)
}

# expected output -> judgments, run, rules for its options, how many of its lines have a measure of ours
FILES: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "out.test": ("qrels.test", "results.test", {}, 29),
    "comments in the judgments": ("qrels.test.with-comments", "results.test", {}, 29),
    "out.comment.test": ("qrels.comment.test", "results.comment.test", {}, 29),
    "out.test.a": ("qrels.test", "results.test", {}, 98),
    "out.test.aq": ("qrels.test", "results.test", {}, 383),
    "out.test.aqc": ("qrels.test", "results.trunc", {}, 383),
    "out.test.aqcM": ("qrels.test", "results.trunc", {"depth": 100}, 383),
    "out.test.aql": ("qrels.rel_level", "results.test", {"relevance_level": 2}, 383),
    "out.test.meas_params": ("qrels.test", "results.test", {}, 88),
}


@pytest.mark.parametrize("name", FILES)
def test_values_are_those_of_the_reference_tool(name: str, shared: Callable[[str], Path]) -> None:
    folder = shared("trec_eval_data")
    qrels, run, rules, num_lines = FILES[name]
    expected = (folder / (name if name.startswith("out.") else "out.test")).read_text().splitlines()
    lines = [(ours(measure), query, float(value)) for measure, query, value in known_lines(expected)]
    measures = dict.fromkeys(measure for measure, _, _ in lines)
    report = evaluate(str(folder / run), str(folder / qrels), measures, **rules)
    values = {(measure, "all"): report[measure] for measure in measures}
    for row in report.per_query.to_dicts():
        values |= {(measure, row["query"]): row[measure] for measure in measures}
    assert [line for line in lines if abs(values[line[:2]] - line[2]) > HALF_A_DIGIT] == []
    assert len(lines) == num_lines


def ours(measure: str) -> str:
    """The measure under the name that has the reference tool's defaults."""
    return DEFAULTS.get(measure, measure)


def known_lines(lines: list[str]) -> list[list[str]]:
    """Measure, query and value of the lines whose measure we have."""
    fields = [line.split() for line in lines]
    return [words for words in fields if words[0] in DEFAULTS or is_measure(words[0])]
