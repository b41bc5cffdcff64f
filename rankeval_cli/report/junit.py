"""JUnit XML, which build servers show as test results: a suite a run, a test case a gate.

The structure is the one that Jenkins publishes for its xUnit plugin (junit-10.xsd). What is undecided there is so here:
a gate that only warns is a passed test whose output tells the warning; nothing is ever an `error`, since a report is
written only when everything could be read; no `time` is claimed, as none is measured. Means stand in the properties of
a suite, coverage, rules and warnings in the output of the first one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from rankeval_cli.model import Report, RunReport, Verdict, query_values
from rankeval_cli.report.reporter import Options
from rankeval_cli.report.summary import summary_lines, verdict_line, verdict_word, warning_lines
from rankeval_cli.report.text import grouped, visible

# `visible` leaves two signs that XML 1.0 cannot hold (production 2, Char); they are shown as it shows the others.
_NO_XML = re.compile("[\ufffe\uffff]")


def render_junit(report: Report, options: Options) -> Iterator[str]:
    """One `testsuites` document in ASCII, so that no encoding of a stream makes it ill-formed.

    With `per_query`, the output of a suite holds a line a query and measure: query, measure, value, tabs between them.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites{_attributes(name='rankeval', **_counts(report.gates))}>\n"
    for place in range(len(report.runs)):
        yield from _suite(report, place, options)
    yield "</testsuites>\n"


def _suite(report: Report, place: int, options: Options) -> Iterator[str]:
    run = report.runs[place]
    verdicts = [verdict for verdict in report.gates if verdict.run == run.name]
    yield f"  <testsuite{_attributes(name=run.name, id=str(place), **_counts(verdicts), skipped='0')}>\n"
    yield "    <properties>\n"
    for name, value in _properties(run):
        yield f"      <property{_attributes(name=name, value=_number(value))}/>\n"
    yield "    </properties>\n"
    for verdict in verdicts:
        yield from _case(verdict)
    if options.per_query or place == 0:
        yield "    <system-out>"
        yield _text("".join(f"{line}\n" for line in summary_lines(report))) if place == 0 else ""
        yield from _queries(run) if options.per_query else ()
        yield "</system-out>\n"
    if report.warnings and place == 0:
        yield _element("system-err", "\n".join(warning_lines(report)), indent=4)
    yield "  </testsuite>\n"


def _properties(run: RunReport) -> Iterator[tuple[str, float | None]]:
    """Means, those of groups, and what a tie report says of each."""
    for result in run.results:
        yield result.measure, result.value
    for group in run.groups:
        yield from ((grouped(result.measure, group.name), result.value) for result in group.results)
    for ties in run.ties:
        for word, value in (("expected", ties.expected), ("worst", ties.worst), ("best", ties.best)):
            yield f"{ties.measure} ties {word}", value


def _counts(verdicts: Iterable[Verdict]) -> dict[str, str]:
    words = [verdict_word(verdict) for verdict in verdicts]
    return {"tests": str(len(words)), "failures": str(words.count("failed")), "errors": "0"}


def _case(verdict: Verdict) -> Iterator[str]:
    line = verdict_line(verdict)
    yield f"    <testcase{_attributes(classname=verdict.run, name=verdict.gate)}>\n"
    if verdict_word(verdict) == "failed":
        yield f"      <failure{_attributes(message=line, type='gate')}>{_text(line)}</failure>\n"
    else:
        yield _element("system-out", line, indent=6)
    yield "    </testcase>\n"


def _queries(run: RunReport) -> Iterator[str]:
    """The values of the queries as they go: they need not fit in memory as text."""
    for query, values in query_values(run.scores):
        for measure, value in values.items():
            yield f"{_text(query)}\t{_text(measure)}\t{_number(value)}\n"


def _number(value: float | None) -> str:
    return "" if value is None or value != value else repr(float(value))


def _element(name: str, text: str, indent: int) -> str:
    return f"{' ' * indent}<{name}>{_text(text)}</{name}>\n"


def _attributes(**values: str) -> str:
    return "".join(f" {name}={_ascii(quoteattr(_clean(value)))}" for name, value in values.items())


def _text(text: str) -> str:
    return "\n".join(_ascii(escape(_clean(line))) for line in text.split("\n"))


def _clean(text: str) -> str:
    return _NO_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", visible(text))


def _ascii(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")
