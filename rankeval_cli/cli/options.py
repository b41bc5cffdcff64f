"""The options of the commands: fields of frozen dataclasses, turned into a command's signature by `takes`.

A field of `RuleOptions` has the name of the field of `Rules` that it sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from typer import Argument, Option

from rankeval_cli.model import (
    DEFAULT_MEASURES,
    Aggregate,
    Duplicates,
    IntervalMethod,
    Missing,
    Negative,
    NoRelevant,
    Order,
    Precision,
    QrelsDuplicates,
    Rules,
    Significance,
    Ties,
)


def complete_measures(incomplete: str) -> list[str]:
    """Measure names for the shell."""
    from rankeval_cli.measures.expression import complete

    return complete(incomplete)


def complete_words(args: list[str], incomplete: str) -> list[str]:
    """Measures behind `-m A`, else nothing: then the shell offers files."""
    last = next((word for word in reversed(args) if word.startswith("-")), "")
    return complete_measures(incomplete) if last in ("-m", "--measure") else []


def complete_reporters(incomplete: str) -> list[str]:
    """Names of report formats for the shell."""
    from rankeval_cli.report import REPORTERS

    return [reporter.name for reporter in REPORTERS if reporter.name.startswith(incomplete)]


def complete_presets(incomplete: str) -> list[str]:
    """Names of presets for the shell."""
    from rankeval_cli.presets.registry import PRESETS

    return [preset.name for preset in PRESETS if preset.name.startswith(incomplete)]


MEASURES, RULES, FILES, ENGINE, STATISTICS, OUTPUT, GATES = (
    "Measures",
    "Rules (defaults as trec_eval -c)",
    "Files",
    "Engine",
    "Intervals",
    "Output",
    "Gates",
)


@dataclass(frozen=True)
class MeasureOptions:
    """What to measure."""

    measure: Annotated[
        list[str],
        Option(
            "-m", "--measure", metavar="MEASURE...", help="Measures, such as mrr@10 ndcg@10 'P(rel=2)@5'; see "
            f"`rankeval measures`. Default: {' '.join(DEFAULT_MEASURES)}.",
            autocompletion=complete_measures, rich_help_panel=MEASURES, show_default=False,
        ),
    ] = field(default_factory=list)  # fmt: skip
    relevance_level: Annotated[
        float,
        Option("-l", "--relevance-level", metavar="G", help="Grade from which a document is relevant.",
               rich_help_panel=MEASURES),
    ] = Rules.relevance_level  # fmt: skip
    aggregate: Annotated[
        Aggregate, Option("--aggregate", help="How the queries' values become one.", rich_help_panel=MEASURES)
    ] = Rules.aggregate


@dataclass(frozen=True)
class RuleOptions:
    """Every disputed rule."""

    preset: Annotated[
        str | None,
        Option(metavar="NAME", help="The rules of another system, such as ranx; see `rankeval presets`. Rules that "
               "you give win.", rich_help_panel=RULES, autocompletion=complete_presets),
    ] = Rules.preset  # fmt: skip
    order: Annotated[Order, Option(help="What orders a ranking; ascending for distances.", rich_help_panel=RULES)] = (
        Rules.order
    )
    score_precision: Annotated[
        Precision, Option(help="Compare scores as doubles, or as trec_eval 9 does.", rich_help_panel=RULES)
    ] = Rules.score_precision
    ties: Annotated[
        Ties,
        Option(help="Order of equal scores; docid is descending, as trec_eval has it; expected is the mean over all "
               "orders, best and worst have the highest or lowest grades first.", rich_help_panel=RULES),
    ] = Rules.ties  # fmt: skip
    depth: Annotated[
        int | None,
        Option("-M", "--depth", metavar="N", help="Keep the first N of each ranking.", rich_help_panel=RULES),
    ] = Rules.depth
    judged_only: Annotated[
        bool, Option("-J", "--judged-only", help="Drop unjudged documents from rankings.", rich_help_panel=RULES)
    ] = Rules.judged_only
    missing: Annotated[
        Missing, Option(help="A judged query without results: an empty ranking, or left out.", rich_help_panel=RULES)
    ] = Rules.missing
    no_relevant: Annotated[
        NoRelevant, Option(help="Value of a judged query with nothing relevant.", rich_help_panel=RULES)
    ] = Rules.no_relevant
    negative: Annotated[
        Negative, Option(help="What a negative grade means; mask: no such row.", rich_help_panel=RULES)
    ] = Rules.negative
    duplicates: Annotated[Duplicates, Option(help="A document twice in a ranking.", rich_help_panel=RULES)] = (
        Rules.duplicates
    )
    qrels_duplicates: Annotated[
        QrelsDuplicates, Option(help="A pair judged twice with different grades.", rich_help_panel=RULES)
    ] = Rules.qrels_duplicates
    exclude_self: Annotated[
        bool, Option("--exclude-self", help="Drop results whose id is the query's.", rich_help_panel=RULES)
    ] = Rules.exclude_self
    exclude: Annotated[
        str | None,
        Option(metavar="FILE", help="Drop these query, document pairs from rankings.", rich_help_panel=RULES),
    ] = Rules.exclude
    ignore_label: Annotated[
        float | None,
        Option(metavar="G", help="Leave out the rows of a labelled table that have this label.", rich_help_panel=RULES),
    ] = Rules.ignore_label
    weights: Annotated[
        str | None,
        Option(metavar="FILE", help="Weigh queries in means: two columns, query and weight.", rich_help_panel=RULES),
    ] = Rules.weights


@dataclass(frozen=True)
class FileOptions:
    """Which files, and how to read them."""

    qrels: Annotated[
        str | None, Option(metavar="FILE", help="The judgments; then every FILE is a run.", rich_help_panel=FILES)
    ] = None
    run_format: Annotated[
        str | None, Option(metavar="NAME", help="Layout of the runs; see `rankeval formats`.", rich_help_panel=FILES)
    ] = None
    qrels_format: Annotated[
        str | None, Option(metavar="NAME", help="Layout of the judgments.", rich_help_panel=FILES)
    ] = None
    columns: Annotated[
        list[str],
        Option(metavar="ROLE=NAME,...", help="Column names: query=, doc=, score=, grade=, rank=, mask=, list_weight=.",
               rich_help_panel=FILES, show_default=False),
    ] = field(default_factory=list)  # fmt: skip
    grade_map: Annotated[
        list[str],
        Option(metavar="WORD=G,...", help="Grades that are words, such as E=3,S=2,C=1,I=0.", rich_help_panel=FILES,
               show_default=False),
    ] = field(default_factory=list)  # fmt: skip


@dataclass(frozen=True)
class QueryOptions:
    """Which queries count, and how they are grouped."""

    queries: Annotated[
        str | None,
        Option(metavar="FILE", rich_help_panel=FILES,
               help="Only these queries count: an id a line, or a table with a column of queries."),
    ] = None  # fmt: skip
    groups: Annotated[
        str | None,
        Option(metavar="FILE|COLUMN", rich_help_panel=FILES,
               help="Add means by group, and for gates `M[group]`: two columns, query and group, or the name of a "
               "column of the judgments or of a labelled table."),
    ] = None  # fmt: skip


@dataclass(frozen=True)
class EngineOptions:
    """Where runs are read and scored."""

    engine: Annotated[
        Literal["local", "spark"],
        Option(help="This process, or Spark for what one machine does not take; see docs/scale.md.",
               rich_help_panel=ENGINE),
    ] = "local"  # fmt: skip
    master: Annotated[
        str | None,
        Option(metavar="URL", help="Of Spark, such as spark://host:7077. Default: all cores of this machine, or what "
               "spark-submit says.", rich_help_panel=ENGINE),
    ] = None  # fmt: skip
    spark_conf: Annotated[
        list[str],
        Option(metavar="KEY=VALUE", help="A setting of Spark, such as spark.driver.memory=4g; may be repeated.",
               rich_help_panel=ENGINE, show_default=False),
    ] = field(default_factory=list)  # fmt: skip


@dataclass(frozen=True)
class IntervalOptions:
    """Confidence intervals."""

    ci: Annotated[
        IntervalMethod,
        Option(help="Interval of the mean; auto is Wilson for 0/1 measures, else t.", rich_help_panel=STATISTICS),
    ] = Rules.ci
    confidence: Annotated[float, Option(metavar="SHARE", help="Confidence level.", rich_help_panel=STATISTICS)] = (
        Rules.confidence
    )
    resamples: Annotated[int, Option(metavar="N", help="Bootstrap resamples.", rich_help_panel=STATISTICS)] = (
        Rules.resamples
    )
    seed: Annotated[
        int, Option(metavar="N", help="Seed of resampling and of --ties random.", rich_help_panel=STATISTICS)
    ] = Rules.seed


@dataclass(frozen=True)
class OutputOptions:
    """What to show, and where."""

    format: Annotated[
        str | None,
        Option("-f", "--format", metavar="NAME", rich_help_panel=OUTPUT, autocompletion=complete_reporters,
               help="table, tsv, csv, json, jsonl, markdown, latex, trec, junit or github. Default: table on a "
               "terminal, else tsv."),
    ] = None  # fmt: skip
    output: Annotated[
        list[str],
        Option("-o", "--output", metavar="PATH", rich_help_panel=OUTPUT, show_default=False,
               help="Write a report file too, such as report.json; `rankeval formats` lists the suffixes."),
    ] = field(default_factory=list)  # fmt: skip
    save_baseline: Annotated[
        str | None,
        Option(metavar="FILE", rich_help_panel=OUTPUT,
               help="Write the JSON report with the values of each query, to compare with later: main.json."),
    ] = None  # fmt: skip
    per_query: Annotated[
        bool, Option("-q", "--per-query", help="Add the values of each query.", rich_help_panel=OUTPUT)
    ] = False
    tie_report: Annotated[
        bool,
        Option("--tie-report", rich_help_panel=OUTPUT,
               help="Add how far each value depends on the order of ties: expected, worst, best."),
    ] = False  # fmt: skip
    quiet: Annotated[bool, Option("--quiet", help="Only results, errors and gates.", rich_help_panel=OUTPUT)] = False
    color: Annotated[
        Literal["auto", "always", "never"], Option(help="Colour; auto heeds NO_COLOR.", rich_help_panel=OUTPUT)
    ] = "auto"


@dataclass(frozen=True)
class TextOptions:
    """How a list is shown."""

    format: Annotated[
        Literal["text", "tsv", "json"] | None,
        Option("-f", "--format", rich_help_panel=OUTPUT, help="Default: text on a terminal, else tsv."),
    ] = None


@dataclass(frozen=True)
class ListingOptions:
    """How what was found in a result is shown."""

    format: Annotated[
        Literal["table", "tsv", "csv", "json", "jsonl"] | None,
        Option("-f", "--format", rich_help_panel=OUTPUT, help="Default: table on a terminal, else tsv."),
    ] = None
    quiet: Annotated[bool, Option("--quiet", help="No warnings, no progress.", rich_help_panel=OUTPUT)] = False
    color: Annotated[
        Literal["auto", "always", "never"], Option(help="Colour; auto heeds NO_COLOR.", rich_help_panel=OUTPUT)
    ] = "auto"
    debug: Annotated[bool, Option("--debug", help="Show the traceback of a bug.")] = False


@dataclass(frozen=True)
class GateOptions:
    """What must hold."""

    fail_under: Annotated[
        list[str],
        Option(metavar="MEASURE=X...", help="Exit 1 when a mean is below X: mrr@10=0.35.", rich_help_panel=GATES,
               show_default=False),
    ] = field(default_factory=list)  # fmt: skip
    gate: Annotated[
        list[str],
        Option(metavar="EXPR", help="Exit 1 unless this holds: 'ci_low(ndcg@10) >= 0.4'.", rich_help_panel=GATES,
               show_default=False),
    ] = field(default_factory=list)  # fmt: skip
    baseline: Annotated[
        str | None,
        Option(metavar="FILE", rich_help_panel=GATES,
               help="What gates compare with: a run, or a report from `-o base.json -q`."),
    ] = None  # fmt: skip
    alpha: Annotated[float, Option(metavar="SHARE", help="Level of the tests behind rules.", rich_help_panel=GATES)] = (
        Significance.alpha
    )
    gate_correction: Annotated[
        str,
        Option(metavar="NAME", rich_help_panel=GATES,
               help="Correct these tests for their number: none, holm, bonferroni or bh."),
    ] = Significance.correction  # fmt: skip
    strict: Annotated[bool, Option("--strict", help="Exit 2 on any warning.", rich_help_panel=GATES)] = False
    debug: Annotated[bool, Option("--debug", help="Show the traceback of a bug.")] = False


@dataclass(frozen=True)
class ConfigOptions:
    """Where further options come from; every command that `takes` builds has these.

    config : what the user gave; a command is given the path of the file that is in use, None where none is
    """

    config: Annotated[
        str | None,
        Option(metavar="FILE", rich_help_panel=FILES,
               help="Options from this file; else from rankeval.toml or pyproject.toml. See `rankeval init`."),
    ] = None  # fmt: skip
    no_config: Annotated[bool, Option("--no-config", help="No options from files.", rich_help_panel=FILES)] = False


Files = Annotated[
    list[str] | None,
    Argument(metavar="RUN... QRELS", help="One or more runs, and the judgments last; or one labelled table alone.",
             autocompletion=complete_words),
]  # fmt: skip

SeveralRuns = Annotated[
    list[str] | None,
    Argument(metavar="BASE RUN... QRELS", help="Two or more runs, and the judgments last.",
             autocompletion=complete_words),
]  # fmt: skip
