"""`--engine`: where runs are read and scored, from words to the engine of a request."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from rankeval_cli.cli.options import EngineOptions, OutputOptions
from rankeval_cli.errors import UsageError

if TYPE_CHECKING:
    from rankeval_cli.flow import Engine


def engine_of(options: EngineOptions, output: OutputOptions) -> Engine | None:
    """The engine that the options name; None for this process. It starts when it is asked to open something.

    Raises UsageError for options that it does not have.
    """
    if options.engine == "local":
        for name, value in (("--master", options.master), ("--spark-conf", options.spark_conf)):
            if value:
                raise UsageError(f"{name} is for another engine", hint="add --engine spark, or leave it out")
        return None
    from rankeval_cli.engines.spark.engine import SparkEngine
    from rankeval_cli.engines.spark.session import Settings
    from rankeval_cli.report.terminal import is_terminal

    shows_progress = is_terminal(sys.stderr) and not output.quiet
    settings = Settings(options.master, _conf(options.spark_conf), shows_progress)
    return SparkEngine(settings=settings, folders=tuple(_folders(options, output)))


def without_folders(options: EngineOptions, output: OutputOptions) -> OutputOptions:
    """The output without the folders that the engine writes."""
    folders = _folders(options, output)
    return replace(output, output=[path for path in output.output if path not in folders])


def _folders(options: EngineOptions, output: OutputOptions) -> list[str]:
    """The outputs that end in `/`, which are folders of Parquet for Spark, and nothing here."""
    return [path for path in output.output if path.endswith("/") and options.engine != "local"]


def _conf(words: list[str]) -> dict[str, str]:
    """Settings of Spark. A value may hold commas and signs of equality, so each word is one setting."""
    conf: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise UsageError(f"--spark-conf `{word}` is no KEY=VALUE", hint="write --spark-conf spark.executor.cores=4")
        conf[name] = value
    return conf
