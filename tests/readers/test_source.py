"""What a path leads to, and its bytes as chunks of whole lines: parts, archives, encodings, pipes."""

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankeval_cli.errors import InputError
from rankeval_cli.readers import source, spool, streams
from rankeval_cli.readers.source import open_input

LINES = b"".join(b"q%d Q0 d%d %d %f run\n" % (i // 10, i, i % 10, 1 / (1 + i)) for i in range(2000))


def zstd(data: bytes) -> bytes:
    """One zstd frame."""
    return pa.compress(data, codec="zstd", asbytes=True)


ARCHIVES: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
ARCHIVES["zstd"] = zstd


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many chunks from little data."""
    monkeypatch.setattr(source, "CHUNK_BYTES", 1000)


def write(path: Path, data: bytes = LINES) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def joined(opened: source.Input) -> bytes:
    return b"".join(chunk.data for chunk in opened.chunks())


def test_chunks_are_whole_lines_and_know_their_line_numbers(tmp_path: Path) -> None:
    chunks = list(open_input(write(tmp_path / "run.txt", LINES[:-1])).chunks())
    assert len(chunks) > 10
    assert b"".join(chunk.data for chunk in chunks) == LINES[:-1]
    line = 1
    for chunk in chunks:
        assert chunk.first_line == line
        assert chunk.path == str(tmp_path / "run.txt")
        line += len(chunk.data.splitlines())
    assert all(chunk.data.endswith(b"\n") and len(chunk.data) < 1100 for chunk in chunks[:-1])


def test_a_reader_that_counted_the_lines_is_believed(tmp_path: Path) -> None:
    chunks = open_input(write(tmp_path / "run.txt")).chunks()
    next(chunks).num_lines = 7
    assert next(chunks).first_line == 8


def test_a_line_longer_than_a_chunk_is_not_cut(tmp_path: Path) -> None:
    data = b"a" * 700_000 + b"\n" + b"b" * 5000 + b"\nc\n"
    opened = open_input(write(tmp_path / "run.txt", data))
    assert [len(chunk.data) for chunk in opened.chunks()] == [700_001, 5001, 2]
    assert joined(open_input(write(tmp_path / "run.gz", gzip.compress(data)))) == data


@pytest.mark.parametrize("kind", ARCHIVES)
class TestArchives:
    """Every kind of compression, recognised by its content."""

    def test_content(self, kind: str, tmp_path: Path) -> None:
        path = write(tmp_path / "run.txt", ARCHIVES[kind](LINES))
        opened = open_input(path)
        assert (opened.head(), joined(opened), opened.head_is_whole) == (LINES, LINES, True)
        assert opened.size_bytes == os.path.getsize(path)
        with opened.open_binary() as file:
            assert file.read() == LINES
        starts = [chunk.first_line for chunk in opened.chunks()]
        assert starts[0] == 1
        assert starts == sorted(set(starts))

    def test_several_members(self, kind: str, tmp_path: Path) -> None:
        cut = LINES.index(b"\n", 5000) - 3
        data = ARCHIVES[kind](LINES[:cut]) + ARCHIVES[kind](LINES[cut:])
        assert joined(open_input(write(tmp_path / "run", data))) == LINES

    @pytest.mark.parametrize("missing", [1, 6, 300], ids=lambda missing: f"less {missing}")
    def test_truncated(self, kind: str, missing: int, tmp_path: Path) -> None:
        path = write(tmp_path / "run.cut", ARCHIVES[kind](LINES)[:-missing])
        with pytest.raises(InputError, match="truncated") as caught:
            joined(open_input(path))
        assert caught.value.where == path

    def test_truncated_within_the_second_member(self, kind: str, tmp_path: Path) -> None:
        data = ARCHIVES[kind](LINES) + ARCHIVES[kind](LINES)[:-9]
        with pytest.raises(InputError, match=r"truncated|corrupt"):
            joined(open_input(write(tmp_path / "run", data)))

    def test_cut_within_the_first_bytes(self, kind: str, tmp_path: Path) -> None:
        path = write(tmp_path / "run", ARCHIVES[kind](LINES)[:12])
        with pytest.raises(InputError, match="truncated"):
            open_input(path).head()

    def test_corrupt(self, kind: str, tmp_path: Path) -> None:
        data = bytearray(ARCHIVES[kind](os.urandom(0) + LINES))
        for i in range(len(data) // 2, len(data) // 2 + 40):
            data[i] ^= 0xFF
        path = write(tmp_path / "run", bytes(data))
        with pytest.raises(InputError, match=r"corrupt|truncated") as caught:
            joined(open_input(path))
        assert caught.value.where == path

    def test_rest_behind_the_end(self, kind: str, tmp_path: Path) -> None:
        path = write(tmp_path / "run", ARCHIVES[kind](LINES) + b"no archive at all")
        with pytest.raises(InputError, match=r"corrupt|truncated"):
            joined(open_input(path))

    def test_progress_counts_stored_bytes(self, kind: str, tmp_path: Path) -> None:
        opened = open_input(write(tmp_path / "run", ARCHIVES[kind](LINES)))
        told: list[int] = []
        list(opened.chunks(told.append))
        assert sum(told) == opened.size_bytes

    def test_empty(self, kind: str, tmp_path: Path) -> None:
        opened = open_input(write(tmp_path / "run", ARCHIVES[kind](b"")))
        assert (opened.head(), list(opened.chunks())) == (b"", [])


@pytest.mark.parametrize("kind", ["gzip", "xz"])
def test_zero_bytes_behind_an_archive_are_padding(kind: str, tmp_path: Path) -> None:
    assert joined(open_input(write(tmp_path / "run", ARCHIVES[kind](LINES) + bytes(512)))) == LINES


def test_an_archive_that_grows_enormously_comes_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PIECE", 1 << 16)
    monkeypatch.setattr(source, "CHUNK_BYTES", 1 << 16)
    data = b"x" * 999 + b"\n"
    for compress in ARCHIVES.values():
        sizes = [len(chunk.data) for chunk in open_input(write(tmp_path / "run", compress(data * 3000))).chunks()]
        assert (sum(sizes), max(sizes) < 200_000) == (3_000_000, True)


ENCODINGS = {
    "utf-8 mark": b"\xef\xbb\xbf" + LINES,
    "utf-16-le": b"\xff\xfe" + LINES.decode().encode("utf-16-le"),
    "utf-16-be": b"\xfe\xff" + LINES.decode().encode("utf-16-be"),
    "utf-32-le": b"\xff\xfe\0\0" + LINES.decode().encode("utf-32-le"),
    "cr alone": LINES.replace(b"\n", b"\r"),
}


@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("data", ENCODINGS.values(), ids=ENCODINGS)
def test_encodings(data: bytes, compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    opened = open_input(write(tmp_path / "run", compress(data)))
    assert (opened.head(), joined(opened)) == (LINES, LINES)


def test_a_mark_at_the_start_of_a_later_chunk_is_kept(tmp_path: Path) -> None:
    data = b"a" * 1000 + b"\n\xef\xbb\xbfb\n"
    assert joined(open_input(write(tmp_path / "run", data))) == data


@pytest.mark.parametrize(
    "data", [b"\xff\xfea\0b", b"\xff\xfe\0\xd8a\0"], ids=["half a character", "half a surrogate pair"]
)
def test_damaged_utf_16_is_refused_by_name(data: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / "run", data)
    with pytest.raises(InputError, match="UTF-16") as caught:
        open_input(path).head()
    assert caught.value.where == path


@given(
    parts=st.lists(st.sampled_from([b"a", b"\n", b"bcd", b"\r\n"]), max_size=40),
    size=st.integers(1, 30),
    piece=st.integers(1, 9),
)
@settings(max_examples=300, deadline=None)
def test_cutting_keeps_all_bytes_and_lines(parts: list[bytes], size: int, piece: int) -> None:
    data = b"".join(parts)
    pieces = (data[i : i + piece] for i in range(0, len(data), piece))
    chunks = list(streams.cut(pieces, size))
    assert b"".join(chunks) == data
    for chunk in chunks[:-1]:
        assert chunk.endswith(b"\n")
        assert len(chunk) < 3 * size or max(map(len, chunk.split(b"\n"))) >= size
    assert all(chunks)


def test_a_folder_is_read_in_natural_order(tmp_path: Path) -> None:
    for i in (10, 2, 1):
        write(tmp_path / "out" / f"part-{i}.txt", b"%d\n" % i)
    for name in ("_SUCCESS", ".part-1.txt.crc", "_metadata"):
        write(tmp_path / "out" / name, b"none\n")
    write(tmp_path / "out" / "nested" / "part-0.txt", b"none\n")
    opened = open_input(str(tmp_path / "out"))
    assert joined(opened) == b"1\n2\n10\n"
    assert opened.size_bytes == 7
    assert [chunk.first_line for chunk in opened.chunks()] == [1, 1, 1]
    assert joined(open_input(f"{tmp_path}/out/part-*.txt")) == b"1\n2\n10\n"


def test_the_head_is_that_of_the_first_part_that_holds_anything(tmp_path: Path) -> None:
    write(tmp_path / "out" / "1", b"")
    write(tmp_path / "out" / "2", gzip.compress(b"two\n"))
    write(tmp_path / "out" / "3", b"three")
    opened = open_input(str(tmp_path / "out"))
    assert (opened.head(), joined(opened)) == (b"two\n", b"two\nthree")


def test_a_file_that_is_called_like_a_glob_wins(tmp_path: Path) -> None:
    write(tmp_path / "run[1].csv", b"this\n")
    write(tmp_path / "run1.csv", b"not this\n")
    assert joined(open_input(f"{tmp_path}/run[1].csv")) == b"this\n"


@pytest.mark.parametrize("name", ["run.parquet", "run ².txt", "a b.txt"])
def test_names(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, b"this\n")
    assert open_input(path).parts == (path,)


MISSING = {
    "close name": ("runs.txt", "did you mean", "run.txt"),
    "nothing near": ("qqqq", "holds", "`run.txt`"),
    "no folder": ("no/run.txt", "folder", "does not exist"),
    "glob": ("*.csv", "matches none", "spelling"),
    "glob of a mark": ("empty/*", "left out", "names"),
    "empty folder": ("empty", "left out", "names"),
    "dangling link": ("link", "does not exist", "gone.txt"),
    "unknown address": ("ftp://example.org/run.txt", "s3://", "copy it first"),
    "address of a local file": ("file:///data/run.txt", "is not read", "write /data/run.txt instead"),
    "address without a bucket": ("s3://", "names no bucket", "s3://BUCKET/FILE"),
}


@pytest.mark.parametrize(("name", "one", "two"), MISSING.values(), ids=MISSING)
def test_what_is_not_there(name: str, one: str, two: str, tmp_path: Path) -> None:
    write(tmp_path / "run.txt")
    write(tmp_path / "empty" / "_SUCCESS")
    (tmp_path / "link").symlink_to("gone.txt")
    path = name if "://" in name else f"{tmp_path}/{name}"
    with pytest.raises(InputError) as caught:
        open_input(path)
    assert caught.value.where == path
    assert one in str(caught.value)
    assert two in str(caught.value)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a stand-in: a superuser may read everything."""
    path = write(tmp_path / "run.txt")

    def refuse(*args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(source, "_open", refuse)
    with pytest.raises(InputError, match="cannot be read: permission denied") as caught:
        open_input(path)
    assert caught.value.where == path


def test_a_file_that_became_shorter(tmp_path: Path) -> None:
    path = write(tmp_path / "run.txt", LINES)
    chunks = open_input(path).chunks()
    next(chunks)
    os.truncate(path, 1500)
    with pytest.raises(InputError, match="shorter") as caught:
        list(chunks)
    assert caught.value.where == path


def test_standard_input_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(LINES))))
    opened = open_input("-")
    assert (opened.size_bytes, opened.where()) == (None, "<stdin>")
    assert opened.head() == LINES
    assert [joined(opened), joined(opened)] == [LINES, LINES]
    assert {chunk.path for chunk in opened.chunks()} == {"<stdin>"}


def test_the_head_of_standard_input_does_not_wait_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a megabyte is enough; a pipe that goes on for ever is not read to the end."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=SimpleNamespace(read1=lambda size: b"line\n" * 1000)))
    monkeypatch.setattr(sys.stdin.buffer, "read", None, raising=False)
    assert len(open_input("-").head()) == source.HEAD_BYTES


def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="closed"):
        open_input("-")


def test_a_named_pipe_is_read_again(tmp_path: Path) -> None:
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    writer = threading.Thread(target=Path(path).write_bytes, args=(LINES,))
    writer.start()
    opened = open_input(path)
    assert opened.size_bytes is None
    with opened.open_binary() as file:
        assert file.seek(0, os.SEEK_END) == len(LINES)
        file.seek(10)
        assert file.read(5) == LINES[10:15]
    with opened.open_binary() as file:
        assert file.read() == LINES
    writer.join()
    assert [opened.head(), joined(opened)] == [LINES, LINES]


def test_the_copy_of_a_pipe_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    copy = spool.Spool(io.BytesIO(LINES).read)
    read = copy.reader()
    assert b"".join(iter(lambda: read(100), b"")) == LINES
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(Exception, match="no space left") as caught:
        spool.Spool(io.BytesIO(LINES).read).reader()(10)
    assert "TMPDIR" in str(caught.value)
