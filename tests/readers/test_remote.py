"""Files of an S3 server that runs on loopback: they say what local files say, and what goes wrong is told."""

from __future__ import annotations

import gzip
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from conftest import ROOT

from rankeval_cli.cli import run as run_program
from rankeval_cli.readers import source
from rankeval_cli.readers.address import explanation, hub_address, scheme_of

pytestmark = pytest.mark.remote

CLOSED = "http://127.0.0.1:1"
RUN = "".join(f"q{q} Q0 d{d} {d} {10 - d}.5 tag\n" for q in range(1, 6) for d in range(1, 6))
QRELS = "".join(f"q{q} 0 d{q} {1 + q % 2}\n" for q in range(1, 6))
ROWS = [line.split() for line in RUN.splitlines()]
TABLE = pl.DataFrame(
    {"query": [row[0] for row in ROWS], "doc": [row[2] for row in ROWS], "score": [float(row[4]) for row in ROWS]}
)
CSV = TABLE.write_csv()
SPARK = "rankeval-spark-1,5"


def fill(bucket: Path) -> None:
    """Files whose names say what is in them."""
    texts = {
        "run.txt": RUN,
        "qrels.txt": QRELS,
        "run[1].txt": RUN,
        "crlf.txt": RUN.replace("\n", "\r\n"),
        "open-end.txt": "\ufeff" + RUN.removesuffix("\n"),
        "run.csv": CSV,
        "quoted.csv": CSV.replace("d1,", '"d1",'),
        "qrels.csv": "query,doc,grade\n" + "".join(f"q{q},d{q},{1 + q % 2}\n" for q in range(1, 6)),
        "run.tsv": CSV.replace(",", "\t"),
        "run.jsonl": TABLE.write_ndjson(),
        "run.json": json.dumps({"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d1": 1.0}}),
        "weights.csv": "query,weight\n" + "".join(f"q{q},{q}\n" for q in range(1, 6)),
        "exclude.txt": "q1 d1\nq2 d2\n",
        "shuffled.txt": "".join(sorted(RUN.splitlines(keepends=True), key=lambda line: line[::-1])),
        "texts/part-2.txt": RUN[: len(RUN) // 25 * 5],
        "texts/part-10.txt": RUN[len(RUN) // 25 * 5 :],
        "texts/_SUCCESS": "",
        "texts/.hidden": "no run\n",
        "ragged.csv": CSV + "q9,d1\n",
        "bad-score.csv": CSV + "q9,d1,high\n",
        "ragged.txt": RUN + "q9 Q0 d1\n",
        "twice.csv": CSV + "q1,d2,0\n",
        "empty.txt": "",
    }
    for name, text in texts.items():
        path = bucket / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (bucket / "run.txt.gz").write_bytes(gzip.compress(RUN.encode()))
    (bucket / "latin1.txt").write_bytes(RUN.encode() + "q6 Q0 \xe9 1 2 t\n".encode("latin1"))
    (bucket / "run.txt.xz").write_bytes(b"\xfd7zXZ\0\0\4")
    (bucket / "noise.bin").write_bytes(bytes(range(256)))
    fill_parquet(bucket)


def fill_parquet(bucket: Path) -> None:
    TABLE.write_parquet(bucket / "run.parquet")
    TABLE.write_parquet(bucket / "no-suffix")
    TABLE.rename({"doc": "text"}).write_parquet(bucket / "no-doc.parquet")
    pl.concat([TABLE, TABLE[3:4]]).write_parquet(bucket / "twice.parquet")
    whole = (bucket / "run.parquet").read_bytes()
    (bucket / "damaged.parquet").write_bytes(whole[:-20])
    for name, rows in {
        "part-2": TABLE[:5],
        "part-3": TABLE[5:5],
        "part-10": TABLE[5:15],
        "part-11": TABLE[15:],
    }.items():
        for folder in (f"{SPARK}.parquet", "types"):
            (bucket / folder).mkdir(exist_ok=True)
            rows.write_parquet(bucket / folder / f"{name}.parquet")
    (bucket / f"{SPARK}.parquet" / "_SUCCESS").touch()
    (bucket / f"{SPARK}.parquet" / "_metadata").write_text("not Parquet")
    TABLE[15:].with_columns(pl.col("score").cast(pl.Float32), extra=1).write_parquet(bucket / "types/part-11.parquet")
    for query, rows in TABLE.partition_by("query", as_dict=True, include_key=False).items():
        folder = bucket / "hive" / f"query={query[0]}"
        folder.mkdir(parents=True)
        rows.write_parquet(folder / "0.parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bucket as a local folder."""
    bucket = tmp_path_factory.mktemp("buckets") / "data-bucket"
    bucket.mkdir()
    fill(bucket)
    return bucket


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[dict[str, str]]:
    """What the environment must hold to read from a server that has the bucket."""
    program = [sys.executable, str(ROOT / "tests" / "object_store.py"), str(folder.parent)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            yield {
                "AWS_ENDPOINT_URL": told["endpoint"],
                "AWS_ACCESS_KEY_ID": told["key"],
                "AWS_SECRET_ACCESS_KEY": told["secret"],
                "AWS_REGION": "us-east-1",
                "AWS_METADATA_ENDPOINT": CLOSED,
                "POLARS_CLOUD_MAX_RETRIES": "0",
            }
        finally:
            process.kill()


@pytest.fixture
def call(server, monkeypatch, capfd):
    """`call("s3://..", ..)` -> exit code, stdout, stderr."""
    for name, value in server.items():
        monkeypatch.setenv(name, value)

    def call(*words):
        code = run_program(["--no-config", *words])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return call


@pytest.fixture
def both(call, folder):
    """Calls with the local folder, and with the bucket, in place of `{}`; the second is told as of the first."""

    def both(*words):
        local = call(*(word.replace("{}", str(folder)) for word in words))
        code, out, err = call(*(word.replace("{}", f"s3://{folder.name}") for word in words))
        assert str(folder) not in out + err
        return local, (code, out, err.replace(f"s3://{folder.name}", str(folder)))

    return both


READABLE = [
    "run.txt",
    "crlf.txt",
    "open-end.txt",
    "run[1].txt",
    "run.txt.gz",
    "run.csv",
    "quoted.csv",
    "run.tsv",
    "run.jsonl",
    "run.json",
    "shuffled.txt",
    "texts",
    "texts/",
    "texts/part-*.txt",
    "run.parquet",
    "no-suffix",
    f"{SPARK}.parquet",
    f"{SPARK}.parquet/part-*",
    "types",
    "hive/*/*.parquet",
]


@pytest.mark.parametrize("run", READABLE)
def test_a_remote_run_is_scored_as_a_local_one(both, run):
    local, remote = both(f"{{}}/{run}", "{}/qrels.txt", "-m", "ndcg@3", "map", "-q")
    assert local[0] == 0
    assert remote == local


def test_parts_are_read_in_natural_order(both):
    local, remote = both(
        f"{{}}/{SPARK}.parquet", "{}/qrels.csv", "-m", "p@2", "--ties", "file", "--order", "file", "-q"
    )
    assert (local[0], remote) == (0, local)


def test_judgments_weights_and_exclusions_may_be_remote(both):
    options = ["--weights", "{}/weights.csv", "--exclude", "{}/exclude.txt"]
    local, remote = both("{}/run.csv", "{}/qrels.csv", "-m", "mrr@10", *options)
    assert (local[0], remote) == (0, local)
    unweighted, _ = both("{}/run.csv", "{}/qrels.csv", "-m", "mrr@10")
    assert remote[1] != unweighted[1]


@pytest.mark.parametrize("run", ["run.txt", "shuffled.txt", "texts", "quoted.csv"])
def test_results_do_not_depend_on_the_size_of_chunks(both, run, monkeypatch):
    monkeypatch.setattr(source, "CHUNK_BYTES", 50)
    monkeypatch.setattr(source, "HEAD_BYTES", 90)
    local, remote = both(f"{{}}/{run}", "{}/qrels.txt", "-m", "ndcg@3", "map", "-q")
    assert (local[0], remote) == (0, local)


@pytest.mark.parametrize(
    "run",
    ["ragged.csv", "bad-score.csv", "ragged.txt", "twice.csv", "twice.parquet", "no-doc.parquet", "empty.txt"],
)
def test_what_is_wrong_in_a_file_is_told_as_of_a_local_one(both, run):
    local, remote = both(f"{{}}/{run}", "{}/qrels.txt", "-m", "mrr")
    assert local[0] == 2
    assert remote == local


def test_a_line_that_is_not_utf8_is_named(both):
    local, remote = both("{}/latin1.txt", "{}/qrels.txt", "-m", "mrr")
    assert [code for code, *_ in (local, remote)] == [2, 2]
    place = re.compile(r"error: \S*latin1\.txt:26: ")
    assert place.match(local[2])
    assert place.match(remote[2])


ABSENT = {
    "no file": ("s3://{}/runs.txt", "no such file", "spelling"),
    "no bucket": ("s3://other-bucket/run.txt", "no such bucket", "endpoint"),
    "no bucket, glob": ("s3://other-bucket/*", "no such bucket", "endpoint"),
    "glob": ("s3://{}/*.run", "as a glob it matches none", "**"),
    "folder": ("s3://{}/nothing/", "holds no data file", "left out"),
    "archive": ("s3://{}/run.txt.xz", "only gzip and zstd", "copy it first"),
    "binary": ("s3://{}/noise.bin", "neither UTF-8 text nor Parquet", "rankeval formats"),
    "damaged": ("s3://{}/damaged.parquet", "cannot be read as Parquet", "again"),
}


@pytest.mark.parametrize(("address", "what", "hint"), ABSENT.values(), ids=ABSENT)
def test_what_cannot_be_read(call, folder, address, what, hint):
    address = address.format(folder.name)
    code, out, err = call(address, str(folder / "qrels.txt"), "-m", "mrr")
    problem, advice = err.splitlines()
    assert (code, out) == (2, "")
    assert problem.startswith(f"error: {address}")
    assert what in problem
    assert advice.startswith("hint: ")
    assert hint in advice


def test_remote_judgments_that_are_not_there(call, folder):
    code, _, err = call(str(folder / "run.txt"), f"s3://{folder.name}/none.txt", "-m", "mrr")
    assert (code, err.splitlines()[0]) == (2, f"error: s3://{folder.name}/none.txt: no such file")


CHANGED = {
    "wrong key": ({"AWS_ACCESS_KEY_ID": "AKIAWRONG"}, "access is denied"),
    "wrong secret": ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "access is denied"),
    "no server": ({"AWS_ENDPOINT_URL": CLOSED}, "cannot be reached"),
}


@pytest.mark.parametrize(("changed", "what"), CHANGED.values(), ids=CHANGED)
@pytest.mark.parametrize("name", ["run.txt", "run.parquet", "*.parquet"])
def test_a_server_that_refuses(program, server, folder, changed, what, name):
    """In a process of its own: Polars keeps what it once knew about a server."""
    address = f"s3://{folder.name}/{name}"
    done = subprocess.run(
        [program, "--no-config", address, str(folder / "qrels.txt"), "-m", "mrr"],
        env=os.environ | server | changed,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {address}: {what}")
    assert "hint: " in done.stderr
    assert server["AWS_SECRET_ACCESS_KEY"] not in done.stderr


def test_an_interrupt_while_a_server_keeps_silent(program, server, folder):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        words = [program, f"s3://{folder.name}/run.txt", str(folder / "qrels.txt"), "-m", "mrr"]
        environment = os.environ | server | {"AWS_ENDPOINT_URL": endpoint}
        with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
            silent.settimeout(60)
            connection, _ = silent.accept()  # it has asked, and waits
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
            connection.close()
    assert (process.returncode, err) == (130, "interrupted\n")


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves files, and the parts of files that are asked for."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        data, wanted = path.read_bytes(), re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        first, last = 0, len(data) - 1
        if wanted:
            first = int(wanted[1]) if wanted[1] else max(0, len(data) - int(wanted[2]))
            last = min(last, int(wanted[2])) if wanted[1] and wanted[2] else last
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(last + 1 - first))
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[first : last + 1])

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture
def web(folder, monkeypatch) -> Iterator[str]:
    """The address of a web server that has the files of the bucket."""
    monkeypatch.chdir(folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("run", ["run.txt", "run.csv", "run.parquet"])
def test_a_web_server(call, web, folder, run):
    words = ["-m", "ndcg@3", "map", "-q"]
    local = call(str(folder / run), str(folder / "qrels.txt"), *words)
    assert call(f"{web}/{run}", f"{web}/qrels.txt", *words) == local
    assert local[0] == 0


def test_a_file_that_a_web_server_does_not_have(call, web, folder):
    code, _, err = call(f"{web}/none.txt", str(folder / "qrels.txt"), "-m", "mrr")
    assert (code, err.splitlines()[0]) == (2, f"error: {web}/none.txt: no such file")


@pytest.mark.parametrize("option", ["-o", "--save-baseline"])
def test_reports_go_to_local_files(call, folder, option):
    code, out, err = call(str(folder / "run.txt"), str(folder / "qrels.txt"), "-m", "mrr", option, "s3://bucket/a.json")
    assert (code, out) == (2, "")
    assert "s3://bucket/a.json" in err
    assert "only local files are written" in err


def test_runs_of_one_name_in_two_buckets(call, folder):
    code, out, _ = call(str(folder / "run.txt"), f"s3://{folder.name}/run.txt", str(folder / "qrels.txt"), "-m", "mrr")
    assert code == 0
    assert {line.split("\t")[0] for line in out.splitlines()[1:]} == {
        f"{folder.parent.name}/{folder.name}/run.txt",
        f"s3://{folder.name}/run.txt",
    }


HUB = "https://huggingface.co/datasets/user/name/resolve"


@pytest.mark.parametrize(
    ("given", "listed", "address"),
    [
        ("hf://datasets/user/name/*.parquet", f"{HUB}/main/a.parquet", "hf://datasets/user/name/a.parquet"),
        ("hf://datasets/user/name@v1/x/", f"{HUB}/v1/x/a%20b.csv", "hf://datasets/user/name@v1/x/a b.csv"),
        ("s3://bucket/*", "s3://bucket/resolve/main/a", "s3://bucket/resolve/main/a"),
    ],
)
def test_files_of_the_hub_are_read_with_its_token(given, listed, address):
    assert hub_address(given, listed) == address


SAID = {
    "region": ("s3", OSError("Received redirect without LOCATION, this normally indicates .."), "another region"),
    "expired": ("s3", OSError("server returned status code: 403 Forbidden"), "access is denied (status 403)"),
    "account": ("az", pl.exceptions.ComputeError("Generic MicrosoftAzure error: Account must be .."), "access is"),
    "hub": ("hf", pl.exceptions.ComputeError('value: {"error":"Repository not found"}'), "`Repository not found`"),
    "status": ("gs", OSError("non-2xx status code: 503 Service Unavailable"), "the server answers with status 503"),
    "other": ("gs", pl.exceptions.ComputeError("no luck (path: gs://b/x)\nmore"), "cannot be read: no luck"),
    "no parts": ("https", OSError("Operation not supported: Range request not supported by "), "sends no parts"),
}


@pytest.mark.parametrize(("scheme", "error", "what"), SAID.values(), ids=SAID)
def test_errors_of_polars_in_our_words(scheme, error, what):
    told = explanation(error, f"{scheme}://place/file")
    assert what in told.what
    assert "\n" not in told.what
    assert told.hint


@pytest.mark.parametrize("address", ["S3://b/x", "s3://b/x", "hf://datasets/a/b/c"])
def test_schemes_ignore_case(address):
    assert scheme_of(address) in ("s3", "hf")
