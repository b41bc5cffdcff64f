"""Standard output outlives its reader, its disk and its encoding; a file is whole or as it was."""

import errno
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sample_report import REPORT

from rankeval_cli.errors import OutputError
from rankeval_cli.model import Report
from rankeval_cli.report import REPORTERS, Options, Reporter, find, write_file
from rankeval_cli.report import output as output_module

HERE = Path(__file__).parent
JSON = find("json")
TSV = "".join(find("tsv").render(REPORT, Options()))  # type: ignore[misc]
SCRIPT = (
    f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
    "from sample_report import REPORT\n"
    "from rankeval_cli.errors import OutputError\n"
    "from rankeval_cli.report import find, options_for, write_file, write_lines, write_stdout\n"
)


def python(body: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    """Run a script in a process of its own, whose standard output can be broken."""
    command = [sys.executable, "-c", SCRIPT + body]
    return subprocess.run(command, stderr=subprocess.PIPE, timeout=60, check=False, **options)  # type: ignore[call-overload]


WRITE = "write_stdout(find('tsv'), REPORT, options_for())\n"
TELL = f"try:\n    {WRITE}except OutputError as error:\n    print(error, file=sys.stderr); sys.exit(2)\n"


def test_text_goes_to_standard_output() -> None:
    done = python(WRITE, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, TSV, b"")


@pytest.mark.parametrize("num_lines", [1, 200_000], ids=["within the buffer", "beyond the buffer"])
def test_a_reader_that_left_changes_nothing(num_lines: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = python(f"write_lines(['a line'] * {num_lines}); sys.exit(3)", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (3, b"")


def test_a_reader_may_leave_in_the_middle() -> None:
    command = f'{sys.executable} -c "$SCRIPT" | head -n 1; exit ${{PIPESTATUS[0]}}'
    body = SCRIPT + "write_lines(['a line'] * 200_000); sys.exit(3)"
    done = subprocess.run(["bash", "-c", command], env=os.environ | {"SCRIPT": body}, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"a line\n", b"")


def test_a_full_disk_is_an_error() -> None:
    with open("/dev/full", "wb") as full:
        done = python(TELL, stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "standard output: cannot be written: no space left on device\nhint: free some space, or choose another place\n"
    )


def test_a_closed_standard_output_is_an_error() -> None:
    done = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "$SCRIPT" >&-'],
        env=os.environ | {"SCRIPT": SCRIPT + TELL},
        stderr=subprocess.PIPE,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.decode() == "standard output is closed\nhint: use `-o report.json` to write a file\n"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252"])
def test_what_the_encoding_cannot_say_is_escaped(encoding: str) -> None:
    done = python(WRITE, stdout=subprocess.PIPE, env=os.environ | {"PYTHONIOENCODING": encoding})
    assert done.stdout == TSV.encode(encoding, "backslashreplace")
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_table_draws_in_ascii_where_it_must() -> None:
    body = "write_stdout(find('table'), REPORT, options_for())"
    done = python(body, stdout=subprocess.PIPE, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert b"\n-------" in done.stdout
    assert b"\\u2500" not in done.stdout


class Terminal:
    """A stand-in for a terminal as standard output."""

    closed = False
    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(
    ("is_styled", "shown"), [(False, "\\x1b[1mq\\x9b\\r\t\n"), (True, "\x1b[1mq\x9b\r\t\n")], ids=["data", "own style"]
)
def test_data_cannot_command_a_terminal(monkeypatch: pytest.MonkeyPatch, is_styled: bool, shown: str) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    output_module.write_stdout(["\x1b[1mq\x9b\r\t\n"], is_styled)
    assert terminal.text == shown


@pytest.mark.parametrize("name", ["tsv", "csv", "jsonl", "json", "markdown", "latex", "trec"])
def test_no_format_sends_escape_sequences_to_a_terminal(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from rankeval_cli.report import write_stdout

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    write_stdout(find(name), REPORT, Options(per_query=True))
    assert "\x1b" not in terminal.text
    assert "1b" in terminal.text  # what is left of it


# Files


@pytest.fixture
def umask() -> Iterator[Callable[[int], None]]:
    old = os.umask(0o022)
    yield lambda mask: os.umask(mask) and None
    os.umask(old)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fails_with(error: BaseException) -> Reporter:
    """A reporter that writes something, then raises."""

    def render(report: Report, options: Options) -> Iterator[str]:
        yield "half"
        raise error

    return Reporter("broken", "fails", render=render)


@pytest.mark.parametrize("reporter", REPORTERS, ids=lambda reporter: reporter.name)
def test_every_format_goes_into_a_file(tmp_path: Path, reporter: Reporter) -> None:
    path = tmp_path / f"report{(*reporter.suffixes, '')[0]}"
    write_file(str(path), reporter, REPORT, per_query=True)
    assert files(tmp_path) == [path.name]
    if reporter.render is not None:
        assert path.read_bytes().decode() == "".join(reporter.render(REPORT, Options(per_query=True)))
    else:
        assert path.read_bytes()[:4] == b"PAR1"


def test_a_file_without_queries_is_shorter(tmp_path: Path) -> None:
    write_file(str(tmp_path / "a.json"), JSON, REPORT)
    assert json.loads((tmp_path / "a.json").read_text()) == REPORT.to_dict()


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_usual_mode(tmp_path: Path, umask: Callable[[int], None], mask: int, mode: int) -> None:
    umask(mask)
    write_file(str(tmp_path / "a.json"), JSON, REPORT)
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, umask: Callable[[int], None], mode: int) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")
    path.chmod(mode)
    write_file(str(path), JSON, REPORT)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert json.loads(path.read_text()) == REPORT.to_dict()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_replaced_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")
    os.chown(path, 12345, 54321)
    write_file(str(path), JSON, REPORT)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


@pytest.mark.parametrize("exists", [True, False], ids=["target exists", "target is new"])
def test_a_link_leads_to_its_target(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "target.json", tmp_path / "link.json"
    if exists:
        target.write_text("before")
    link.symlink_to(target)
    write_file(str(link), JSON, REPORT)
    assert link.is_symlink()
    assert json.loads(target.read_text()) == REPORT.to_dict()
    assert (files(tmp_path), files(tmp_path / "far")) == (["far", "link.json"], ["target.json"])


def test_a_relative_path_needs_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_file("a.json", JSON, REPORT)
    assert files(tmp_path) == ["a.json"]


def test_the_longest_name_works(tmp_path: Path) -> None:
    name = "x" * 250 + ".json"
    write_file(str(tmp_path / name), JSON, REPORT)
    assert files(tmp_path) == [name]


def test_a_file_is_replaced_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    seen: list[str] = []

    def render(report: Report, options: Options) -> Iterator[str]:
        yield "x" * 100_000
        seen.append(path.read_text())

    write_file(str(path), Reporter("slow", "looks at the old file", render=render), REPORT)
    assert seen == ["before"]
    assert path.read_text() == "x" * 100_000


@pytest.mark.parametrize("before", [None, "before"], ids=["new", "replaced"])
@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), OutputError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (ValueError("a bug"), ValueError),
    ],
    ids=["disk full", "interrupt", "bug"],
)
def test_a_failure_leaves_everything_as_it_was(
    tmp_path: Path, before: str | None, error: BaseException, raised: type[BaseException]
) -> None:
    path = tmp_path / "a.txt"
    if before is not None:
        path.write_text(before)
    with pytest.raises(raised):
        write_file(str(path), fails_with(error), REPORT)
    assert files(tmp_path) == ([] if before is None else ["a.txt"])
    assert before is None or path.read_text() == before


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "a.txt")
    with pytest.raises(OutputError) as caught:
        write_file(path, fails_with(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))), REPORT)
    assert (caught.value.where, caught.value.what) == (path, "cannot be written: no space left on device")
    assert caught.value.hint == "free some space, or choose another place"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "no" / "such" / "a.json"
    with pytest.raises(OutputError) as caught:
        write_file(str(path), JSON, REPORT)
    assert caught.value.what == f"the folder `{path.parent}` does not exist"
    assert caught.value.hint == f"create it: `mkdir -p {path.parent}`"
    assert files(tmp_path) == []


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(OutputError, match="is a folder") as caught:
        write_file(str(tmp_path / "a.json"), JSON, REPORT)
    assert str(tmp_path / "a.json" / "report.json") in str(caught.value.hint)
    with pytest.raises(OutputError, match="is a folder"):
        write_file(f"{tmp_path}/new.json/", JSON, REPORT)
    assert files(tmp_path) == ["a.json"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written: not a directory"):
        write_file(str(tmp_path / "file" / "a.json"), JSON, REPORT)


def test_links_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to(tmp_path / "b.json")
    (tmp_path / "b.json").symlink_to(tmp_path / "a.json")
    with pytest.raises(OutputError, match="too many levels of symbolic links"):
        write_file(str(tmp_path / "a.json"), JSON, REPORT)


def refuse(monkeypatch: pytest.MonkeyPatch, function: str, code: int) -> None:
    """Let a function of `os` fail, since root may write everywhere."""

    def fail(*args: object, **options: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(output_module.os, function, fail)


def test_a_folder_without_permission_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, "open", errno.EACCES)
    with pytest.raises(OutputError, match="cannot be written: permission denied") as caught:
        write_file(str(tmp_path / "a.json"), JSON, REPORT)
    assert caught.value.hint == "choose a place where you may write"


@pytest.mark.parametrize(
    ("function", "code"), [("open", errno.EACCES), ("replace", errno.EBUSY)], ids=["closed folder", "mounted file"]
)
def test_a_file_that_cannot_be_replaced_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, code: int
) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")
    refuse(monkeypatch, function, code)
    write_file(str(path), JSON, REPORT)
    assert json.loads(path.read_text()) == REPORT.to_dict()
    assert files(tmp_path) == ["a.json"]


def test_a_write_protected_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")
    monkeypatch.setattr(output_module.os, "access", lambda path, mode: False)
    with pytest.raises(OutputError, match="cannot be written: permission denied"):
        write_file(str(path), JSON, REPORT)
    assert path.read_text() == "before"


def test_a_named_pipe_is_written_straight_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_file(str(pipe), JSON, REPORT)
    reader.join(timeout=30)
    assert json.loads(read[0]) == REPORT.to_dict()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert files(tmp_path) == ["pipe.json"]


def test_devices_are_written_straight_into() -> None:
    write_file(os.devnull, JSON, REPORT)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    with pytest.raises(OutputError, match="no space left on device"):
        write_file("/dev/full", JSON, REPORT)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_its_name_is_shared(tmp_path: Path, name: str) -> None:
    if not os.path.exists(name):
        pytest.skip(f"{name} does not exist here")
    path = tmp_path / "out"
    with path.open("wb") as file:
        done = python(f"print('first'); write_file({name!r}, find('tsv'), REPORT); print('last')", stdout=file)
    assert (done.returncode, done.stderr) == (0, b"")
    assert path.read_text() == f"first\n{TSV}last\n"
    assert files(tmp_path) == ["out"]


def test_a_process_substitution_is_written_into(tmp_path: Path) -> None:
    command = f'{sys.executable} -c "$SCRIPT" > >(cat > {tmp_path}/copy); wait $!'
    body = SCRIPT + "write_file('/dev/fd/1', find('tsv'), REPORT)"
    subprocess.run(["bash", "-c", command], env=os.environ | {"SCRIPT": body}, check=True)
    assert (tmp_path / "copy").read_text() == TSV


def test_the_file_behind_standard_output_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    body = f"try: write_file({str(path)!r}, find('json'), REPORT)\nexcept OutputError as error: print(error)"
    with path.open("wb") as file:
        python(body, stdout=file)
    assert path.read_text() == f"{path}: is where standard output goes too\nhint: name another file after -o\n"


def test_a_name_that_is_not_utf8_is_written(tmp_path: Path) -> None:
    from dataclasses import replace

    run = REPORT.runs[0]
    odd = replace(REPORT, runs=(replace(run, source=replace(run.source, name="run\udcff")),))
    path = os.fsencode(tmp_path) + b"/\xff.tsv"
    write_file(os.fsdecode(path), find("tsv"), odd)
    with open(path, encoding="utf-8") as file:
        assert "run\\udcff\t" in file.read()
