"""What a terminal gets: the table, colour, the progress bar, and messages on stderr. The only file with Rich.

Rich is loaded for the table, for colour and for a bar that has waited long enough; plain messages need none of it.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO

from rankeval_cli.errors import RankevalError
from rankeval_cli.model import Report, Verdict
from rankeval_cli.report.reporter import Options
from rankeval_cli.report.text import visible, visible_lines, wrapped

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from rankeval_cli.report.table import Pen

Color = Literal["auto", "always", "never"]

PROGRESS_DELAY_S = 0.5  # what is done sooner needs no bar
WIDE_BAR = 60  # columns; below, a percentage stands for the bytes
_VERDICT_STYLES = {"passed": "green", "failed": "bold red", "warning": "yellow"}


def wants_color(choice: Color, stream: TextIO | None) -> bool:
    """Whether escape sequences may go to the stream: `auto` means a terminal that knows them, without NO_COLOR."""
    if choice != "auto":
        return choice == "always"
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return is_terminal(stream) and not plain


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is open and a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def columns_of(stream: TextIO | None) -> int | None:
    """Width of the terminal that the stream is; None when it is none. COLUMNS counts more, as everywhere."""
    if stream is None or not is_terminal(stream):
        return None
    fallback = (80, 24)
    with suppress(OSError, ValueError):  # shutil asks standard output alone, which may be a pipe
        found = os.get_terminal_size(stream.fileno())
        fallback = (found.columns or 80, found.lines)
    return shutil.get_terminal_size(fallback).columns


def options_for(per_query: bool = False, color: Color = "auto") -> Options:
    """How standard output wants a report: its width if it is a terminal, its colours, its signs."""
    width = columns_of(sys.stdout)
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    is_unicode = encoding.lower().replace("-", "").startswith("utf")
    return Options(per_query, width, wants_color(color, sys.stdout), is_unicode)


def render_table(report: Report, options: Options) -> Iterator[str]:
    """Measure, mean and interval of each run, the best run bold; or comparisons, where the report has any.

    The values of the queries come before it if they are asked for.
    """
    if report.comparisons:
        from rankeval_cli.report.compared import comparison_lines as lines
    else:
        from rankeval_cli.report.table import table_lines as lines
    return (line + "\n" for line in lines(report, options, pen_of(options)))


def pen_of(options: Options) -> Pen:
    """How to draw tables on what the options are for."""
    from rich.cells import cell_len

    from rankeval_cli.report.table import Pen

    rule = "─" if options.unicode else "-"
    return Pen(cell_len, _painter(options.color), rule, options.width, marks=not options.color)


def _painter(color: bool) -> Callable[[str, str], str]:
    if not color:
        return lambda text, style: text
    from rich.style import Style

    return lambda text, style: Style.parse(style).render(text) if style else text


def print_summary(report: Report, color: Color = "auto") -> None:
    """Coverage, rules in force and layouts found, dim, on stderr."""
    from rankeval_cli.report.summary import summary_lines

    _print([Message(line, style="dim") for line in summary_lines(report)], color)


def print_warnings(warnings: Iterable[str], color: Color = "auto") -> None:
    """A line each on stderr that begins with `warning:`."""
    _print([Message(visible(warning), "warning:", "bold yellow") for warning in warnings], color)


def print_verdicts(verdicts: Iterable[Verdict], color: Color = "auto") -> None:
    """The line of each gate and run on stderr."""
    from rankeval_cli.report.summary import verdict_line, verdict_word

    messages = []
    for verdict in verdicts:
        word = verdict_word(verdict)
        prefix = f"gate {word}:"
        text = verdict_line(verdict).removeprefix(prefix).lstrip()
        messages.append(Message(text, prefix, _VERDICT_STYLES[word]))
    _print(messages, color)


def print_error(error: RankevalError, color: Color = "auto") -> None:
    """The error and its hint on stderr."""
    where = f"{visible(error.where)}: " if error.where else ""
    messages = [Message(where + visible_lines(error.what), "error:", "bold red", wraps=False)]
    if error.hint:
        messages.append(Message(visible_lines(error.hint), "hint:", "bold cyan", wraps=False))
    _print(messages, color)


@dataclass(frozen=True)
class Message:
    """One message on stderr.

    prefix, prefix_style : its first word, and how that looks
    wraps : break at words where the terminal ends; not for what people copy (a hint's command)
    """

    text: str
    prefix: str = ""
    prefix_style: str = ""
    style: str = ""
    wraps: bool = True


def _print(messages: Iterable[Message], color: Color) -> None:
    """Write messages to stderr; what goes wrong there can be told nowhere, and changes nothing."""
    paint = _painter(wants_color(color, sys.stderr))
    width = columns_of(sys.stderr)
    text = "".join(line + "\n" for message in messages for line in _message_lines(message, paint, width))
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


def _message_lines(message: Message, paint: Callable[[str, str], str], width: int | None) -> list[str]:
    text = f"{message.prefix} {message.text}" if message.prefix else message.text
    lines = wrapped(text, width) if message.wraps else text.split("\n")
    if message.prefix and lines[0].startswith(message.prefix):
        lines[0] = paint(message.prefix, message.prefix_style) + lines[0].removeprefix(message.prefix)
    return [paint(line, message.style) if message.style else line for line in lines]


@contextmanager
def progress(total_bytes: int | None, label: str, color: Color = "auto") -> Iterator[Callable[[int], None]]:
    """A bar on stderr while bytes are read: gives the function to call with the number of bytes since its last call.

    total_bytes : None when unknown (a pipe); then the bar only shows that something moves
    Nothing is shown unless stderr is a terminal, and nothing in the first half second. The bar goes away at the end.
    """
    if not is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        yield lambda num_bytes: None
        return
    bar = _Bar(total_bytes, visible(label), color)
    try:
        yield bar.advance
    finally:
        bar.stop()


class _Bar:
    """A bar that appears when the work has lasted long enough."""

    def __init__(self, total_bytes: int | None, label: str, color: Color) -> None:
        self.total_bytes, self.label, self.color = total_bytes, label, color
        self.begin_s, self.done_bytes = time.monotonic(), 0
        self.shown: tuple[Progress, TaskID] | None = None

    def advance(self, num_bytes: int) -> None:
        self.done_bytes += num_bytes
        if self.shown:
            bar, task = self.shown
            bar.update(task, completed=self.done_bytes)
        elif time.monotonic() - self.begin_s >= PROGRESS_DELAY_S:
            self.shown = self._start()

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.table import Column

        console = Console(stderr=True, no_color=not wants_color(self.color, sys.stderr), highlight=False)
        label = Column(max_width=max(8, console.width // 3), no_wrap=True, overflow="ellipsis")
        text = TextColumn("{task.description}", markup=False, table_column=label)
        done = DownloadColumn() if console.width >= WIDE_BAR or self.total_bytes is None else TaskProgressColumn()
        left = TimeRemainingColumn(compact=True)
        bar = Progress(text, BarColumn(bar_width=None), done, left, console=console, transient=True)
        task = bar.add_task(self.label, total=self.total_bytes, completed=self.done_bytes)
        bar.start()
        return bar, task

    def stop(self) -> None:
        if self.shown:
            self.shown[0].stop()
            self.shown = None
