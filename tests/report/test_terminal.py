"""What only a terminal gets: colour, width, the progress bar; and the messages on stderr."""

import fcntl
import io
import os
import pty
import re
import struct
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TextIO

import pytest
from sample_report import REPORT, SINGLE

from rankeval_cli.errors import InputError, UsageError
from rankeval_cli.model import Rules, Verdict
from rankeval_cli.report import terminal
from rankeval_cli.report.summary import rules_line, summary_lines, verdict_line

STYLE = re.compile(r"\x1b\[[0-9;]*m")


class Screen:
    """A terminal; `text` is all that was written to it."""

    def __init__(self, columns: int = 80) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.stream: TextIO = os.fdopen(slave, "w", encoding="utf-8")
        self._pieces: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        try:
            while piece := os.read(self._master, 4096):
                self._pieces.append(piece)
        except OSError:  # how Linux says that the other end is closed
            pass

    def close(self) -> str:
        self.stream.close()
        self._reader.join(timeout=10)
        os.close(self._master)
        return b"".join(self._pieces).decode().replace("\r\n", "\n")


@contextmanager
def screen(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Iterator[list[str]]:
    """Standard error on a terminal; the list holds its text afterwards."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    shown, text = Screen(), []
    monkeypatch.setattr(sys, "stderr", shown.stream)
    try:
        yield text
    finally:
        monkeypatch.undo()
        text.append(shown.close())


@pytest.mark.parametrize(("columns", "fits"), [(40, 40), (0, 80)], ids=["narrow", "size unknown"])
def test_messages_wrap_where_stderr_ends_when_stdout_is_a_pipe(monkeypatch, columns, fits):
    monkeypatch.delenv("COLUMNS", raising=False)
    shown = Screen(columns)
    with open(os.devnull, "w") as pipe:
        monkeypatch.setattr(sys, "__stdout__", pipe)
        monkeypatch.setattr(sys, "stderr", shown.stream)
        terminal.print_warnings(["a word " * 40], "never")
        monkeypatch.undo()
    lengths = [len(line) for line in shown.close().splitlines()]
    assert fits - 10 < max(lengths) <= fits


class Stream(io.StringIO):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.mark.parametrize(
    ("choice", "is_terminal", "environment", "wanted"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("always", False, {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("never", True, {}, False),
    ],
)
def test_colour_follows_option_terminal_and_environment(
    monkeypatch: pytest.MonkeyPatch, choice, is_terminal, environment, wanted
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert terminal.wants_color(choice, Stream(is_terminal)) == wanted


def test_a_closed_stream_is_no_terminal() -> None:
    closed = io.StringIO()
    closed.close()
    assert not terminal.is_terminal(closed)
    assert not terminal.is_terminal(None)


def test_only_a_terminal_limits_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "77")
    monkeypatch.setattr(sys, "stdout", Stream(False))
    assert terminal.options_for(per_query=True).width is None
    monkeypatch.setattr(sys, "stdout", Stream(True))
    assert terminal.options_for(per_query=True).width == 77


ERROR = InputError("score `n/a\x1b[2J` is not a number\nand more", "run\x07.txt:3", "fix it")


def messages() -> None:
    """Everything that goes to stderr, once."""
    terminal.print_summary(REPORT)
    terminal.print_warnings(["[red]a[/red]\x1b[2J"])
    terminal.print_verdicts(REPORT.gates)
    terminal.print_error(ERROR)
    terminal.print_error(UsageError("no hint"))


def test_messages_are_plain_text_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    messages()
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.split("\n")
    assert lines[:3] == summary_lines(REPORT)
    assert lines[3] == "warning: [red]a[/red]\\x1b[2J"
    assert [line.split(": ")[0] for line in lines[4:7]] == ["gate passed", "gate failed", "gate warning"]
    assert lines[7:] == [
        "error: run\\x07.txt:3: score `n/a\\x1b[2J` is not a number",
        "and more",
        "hint: fix it",
        "error: no hint",
        "",
    ]


def test_messages_on_a_terminal_are_styled_and_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    with screen(monkeypatch) as text:
        messages()
    assert "\x1b[1;33mwarning:\x1b[0m [red]a[/red]\\x1b[2J\n" in text[0]
    assert "\x1b[1;31mgate failed:\x1b[0m " in text[0]
    assert "\x1b[1;31merror:\x1b[0m run\\x07.txt:3" in text[0]
    assert "\x1b[1;36mhint:\x1b[0m fix it\n" in text[0]
    assert "\x1b[2mrules: " in text[0]
    lines = STYLE.sub("", text[0]).split("\n")
    assert "\x1b" not in "".join(lines)
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("  ") for line in lines)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
def test_messages_on_a_plain_terminal_have_no_escape(monkeypatch: pytest.MonkeyPatch, environment) -> None:
    with screen(monkeypatch, **environment) as text:
        messages()
    assert "\x1b" not in text[0]
    assert "warning: [red]a[/red]\\x1b[2J\n" in text[0]


def test_a_hint_is_never_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    command = "rankeval " + "a-long-path/run.txt " * 8
    with screen(monkeypatch, NO_COLOR="1") as text:
        terminal.print_error(UsageError("swapped", hint=command))
    assert f"hint: {command}\n" in text[0]


@pytest.mark.parametrize("stream", [None, "closed"])
def test_without_stderr_messages_are_lost_and_nothing_else(monkeypatch: pytest.MonkeyPatch, stream) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed if stream else None)
    messages()


def test_nothing_is_written_for_no_message(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_warnings([])
    terminal.print_verdicts([])
    assert capsys.readouterr().err == ""


# The progress bar


def test_slow_work_shows_a_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    with screen(monkeypatch) as text:
        monkeypatch.setattr(terminal, "PROGRESS_DELAY_S", 0.0)
        with terminal.progress(2_000_000, "run[bold].txt") as advance:
            for _ in range(4):
                advance(500_000)
    assert "run[bold].txt" in text[0]
    assert "2.0/2.0 MB" in text[0]
    assert text[0].endswith("\x1b[2K")  # the line is erased, the cursor on it
    assert text[0].count("\x1b[?25l") == text[0].count("\x1b[?25h") == 1  # the cursor comes back


def interrupted(error: type[BaseException]) -> None:
    with terminal.progress(None, "run.txt") as advance:
        advance(1)
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_bar_goes_away_on_an_error(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    with screen(monkeypatch) as text:
        monkeypatch.setattr(terminal, "PROGRESS_DELAY_S", 0.0)
        with pytest.raises(error):
            interrupted(error)
    assert "run.txt" in text[0]
    assert text[0].count("\x1b[?25l") == text[0].count("\x1b[?25h") == 1


def test_fast_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with screen(monkeypatch) as text:
        monkeypatch.setattr(terminal, "PROGRESS_DELAY_S", 3600.0)
        with terminal.progress(1000, "run.txt") as advance:
            advance(1000)
    assert text == [""]


def test_a_dumb_terminal_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    with screen(monkeypatch, TERM="dumb") as text:
        monkeypatch.setattr(terminal, "PROGRESS_DELAY_S", 0.0)
        with terminal.progress(1000, "run.txt") as advance:
            advance(1000)
    assert text == [""]


def test_a_file_shows_no_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(terminal, "PROGRESS_DELAY_S", 0.0)
    with terminal.progress(1000, "run.txt") as advance:
        advance(1000)
    assert capsys.readouterr().err == ""


# Coverage, rules, verdicts


def test_every_rule_in_force_is_named() -> None:
    rules = Rules(judged_only=True, depth=100, exclude="self.txt", grade_map={"E": 3.0, "I": 0.0}, relevance_level=0.5)
    words = rules_line(replace(SINGLE, rules=rules)).removeprefix("rules: ").split(" ")
    assert {"ties=docid", "relevance-level=0.5", "missing=zero", "no-relevant=zero", "depth=100"} <= set(words)
    assert {"judged-only", "exclude=self.txt", "grade-map=E=3,I=0", "confidence=0.95", "seed=0"} <= set(words)
    assert not any(word.startswith("exclude-self") for word in words)


def test_one_run_needs_no_name() -> None:
    coverage, rest = summary_lines(SINGLE)
    assert coverage.startswith(
        "6 judged queries: 5 answered, 1 missing, 1 with nothing relevant; 2 unjudged in the run"
    )
    assert "judged@10 40.0%, 3 tied at rank 10" in coverage
    assert coverage.endswith("undefined: mean_rank 2")
    assert rest.endswith("files: qrels_50%.txt trec, [bold]bm25[/bold].txt trec")


def test_nothing_judged_has_no_share() -> None:
    run = replace(SINGLE.runs[0], coverage=replace(SINGLE.runs[0].coverage, judged_at_k=None))
    assert "judged@10 -, " in summary_lines(replace(SINGLE, runs=(run,)))[0]


VERDICTS = {
    "boundary": (
        Verdict("p@10 >= 0.2", "r", True, 0.2, 0.2, 0.0, 3),
        "gate passed: r: p@10 >= 0.2 (value 0.2000, bound 0.2000, distance +0.0000, 3 queries)",
    ),
    "equal when rounded": (
        Verdict("p@10 >= 0.35", "r", False, 0.34996, 0.35, -4e-05, 1),
        "gate failed: r: p@10 >= 0.35 (value 0.34996, bound 0.35000, distance -0.00004, 1 query)",
    ),
    "undefined": (
        Verdict("p@10 >= 1", "r", False, None, 1.0, None, 0, True, "no query"),
        "gate warning: r: p@10 >= 1 (bound 1.0000, 0 queries): no query",
    ),
    "control characters": (
        Verdict("m\n>= 1", "r\x1b", False, None, None, None, 2),
        "gate failed: r\\x1b: m\\n>= 1 (2 queries)",
    ),
}


@pytest.mark.parametrize(("verdict", "line"), VERDICTS.values(), ids=VERDICTS)
def test_verdict_lines(verdict: Verdict, line: str) -> None:
    assert verdict_line(verdict) == line
