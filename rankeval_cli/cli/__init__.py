"""The command line: options become a request, the report becomes text, files and an exit code."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from rankeval_cli.errors import ExitCode, RankevalError, UsageError

if TYPE_CHECKING:
    from rankeval_cli.report.terminal import Color


# How Typer's checker begins and ends what it has to say: "Value error, 'x' is not one of ..", "Input should be a valid
# integer, unable to parse string as an integer".
_PARSER_WORDS = r"(?<=: )(?:Value error, |Input (?=should))|, unable to parse .*"


def main() -> NoReturn:
    """Run the program and end the process.

    `os._exit` saves the 0.03-0.05 s that the interpreter takes to tear down Polars; everything that must be cleaned
    up is cleaned up in `finally` by then. Cyclic garbage is not collected: imports and frames leave next to none, and
    looking for it costs 0.04 s of a small evaluation. Nothing here calls BLAS, whose threads cost NumPy 0.05 s to start
    on two cores.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader has gone: nothing is left to tell it
            if stream is not None:  # closed by the shell (`>&-`)
                stream.flush()
    os._exit(code)


def run(words: Sequence[str]) -> int:
    """Run the program on its arguments and return its exit code; no exception leaves."""
    try:
        return _run(list(words))
    except RankevalError as error:
        problem = error
    except KeyboardInterrupt:
        return _interrupted()
    except MemoryError:
        problem = RankevalError("there is not enough memory for one query's ranking or for the judgments")
    except SystemExit as stop:  # shell completion ends so
        return stop.code if isinstance(stop.code, int) else ExitCode.OK
    except BaseException as bug:  # a Polars panic is no Exception
        if "KeyboardInterrupt" in str(bug):  # Polars makes a panic of one that meets it while it imports
            return _interrupted()
        problem = _bug(bug, is_debug="--debug" in words)
    from rankeval_cli.report.terminal import print_error

    print_error(problem, _color(words))
    return problem.code


def _run(words: list[str]) -> int:
    from rankeval_cli.cli.ahead import show, text_of

    completing = "_RANKEVAL_COMPLETE" in os.environ
    if not completing and (text := text_of(words)) is not None:
        show(text)
        return ExitCode.OK
    from typer.exceptions import TyperException

    from rankeval_cli.cli.app import app
    from rankeval_cli.cli.words import spread

    try:
        code = app()(args=words if completing else spread(words), prog_name="rankeval", standalone_mode=False)
    except RankevalError as error:
        from rankeval_cli.cli.blame import blamed
        from rankeval_cli.cli.compare import try_out

        raise blamed(error, words, try_out) from None
    except TyperException as error:
        message = re.sub(_PARSER_WORDS, "", error.format_message()).rstrip(".")
        raise UsageError(message[:1].lower() + message[1:], hint="rankeval --help shows every option") from None
    if code == ExitCode.INTERRUPTED:  # Typer makes an exit of it
        return _interrupted()
    return code if isinstance(code, int) else ExitCode.OK


def _interrupted() -> int:
    if sys.stderr is not None:
        print("interrupted", file=sys.stderr)
    return ExitCode.INTERRUPTED


def _bug(bug: BaseException, is_debug: bool) -> RankevalError:
    if is_debug:
        import traceback

        traceback.print_exception(bug)
    text = " ".join(str(bug).split())[:300]
    problem = RankevalError(
        f"this is a bug in rankeval: {type(bug).__name__}: {text}",
        hint="please report it with the output of the same command and --debug",
    )
    problem.code = ExitCode.BUG
    return problem


def _color(words: Sequence[str]) -> Color:
    """What --color says, else the configuration, whatever is wrong with everything else."""
    from rankeval_cli.cli.config import load_for
    from rankeval_cli.cli.words import last_value

    choice = last_value(words, "--color")
    if choice is None:
        with suppress(RankevalError):
            settings = load_for(words)
            choice = settings.values.get("color") if settings else None
    if choice == "always":
        return "always"
    return "never" if choice == "never" else "auto"
