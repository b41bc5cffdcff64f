"""The Spark session: one that is there, or one that is started quietly; and what Spark raises, in words."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rankeval_cli.engines.spark.wire import BATCH_ROWS, Types, schema_of, told
from rankeval_cli.errors import InputError, RankevalError, UsageError
from rankeval_cli.readers.address import MissingError

if TYPE_CHECKING:
    import polars as pl

LOGGING = Path(__file__).with_name("log4j2.properties")
SHOWN_LOG = 5  # lines
WORKERS = "install rankeval-cli[spark] for the Python of the workers, and name that: PYSPARK_PYTHON=/path/to/python"
_ERROR_LINE = re.compile(r"^[\w.]*(?:Error|Exception)(?:: .*)?$", re.MULTILINE)
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_NO_SCHEME = re.compile(r"No FileSystem for scheme \"?(\w+)|Class (org\.apache\.hadoop\.fs\.\S+) not found")
_CONFIGURED = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR")  # set by who configures Spark


class SparkError(RankevalError):
    """Spark cannot be started, or has given up."""


@contextmanager
def _without_warnings() -> Iterator[None]:
    """PySpark warns of a pandas that is newer than it knows; nothing here uses pandas."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


@dataclass(frozen=True)
class Settings:
    """How a session is started.

    master : such as local[4] or spark://host:7077; None for what spark-submit or Spark's own configuration says, and
        for all cores of this machine where neither says anything
    conf : settings of Spark, which win over those of this package
    shows_progress : show Spark's bar on stderr
    """

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    shows_progress: bool = False


def active() -> Any:
    """The session of this process, None where there is none."""
    _check_installed()
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


@_without_warnings()
def start(settings: Settings) -> Any:
    """Start a session. Raises SparkError when there is no Java, or Spark does not start."""
    _check_installed()
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    conf = _settings(settings)
    os.environ.setdefault("PYSPARK_PYTHON", conf.get("spark.pyspark.python", sys.executable))
    if conf.get("spark.master", "").startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # else Spark listens on the network, and warns of it
    spark_conf = SparkConf(loadDefaults=False).setAll(list(conf.items()))
    with tempfile.TemporaryFile() as log:
        # Java keeps these streams: nothing of it reaches stdout, and its words are kept for an error
        streams = {"stdout": 2, "stderr": None} if settings.shows_progress else {"stdout": log, "stderr": log}
        try:
            gateway = launch_gateway(spark_conf, streams)
            context = SparkContext(conf=spark_conf, gateway=gateway)
        except (PySparkException, Py4JError) as error:
            raise _not_started(error, log) from error
    context.setLogLevel("OFF")  # what fails is raised here; Java's traces help nobody
    return SparkSession(context)


def _check_installed() -> None:
    try:
        with _without_warnings():
            import pyspark.sql
    except ImportError:
        raise UsageError("PySpark is not installed", hint="pip install 'rankeval-cli[spark]'") from None
    if int(pyspark.__version__.split(".")[0]) < 4:
        what = f"PySpark {pyspark.__version__} is too old"
        raise UsageError(what, hint="install 4.0 or newer: pip install 'rankeval-cli[spark]'")


def _settings(settings: Settings) -> dict[str, str]:
    """The settings of a new session."""
    is_ours = not any(name in os.environ for name in _CONFIGURED)
    master = settings.master or settings.conf.get("spark.master") or ("local[*]" if is_ours else None)
    found = {
        "spark.app.name": "rankeval",
        "spark.ui.showConsoleProgress": str(settings.shows_progress).lower(),
        "spark.driver.maxResultSize": "0",  # the values of all queries come back
        "spark.executorEnv.POLARS_MAX_THREADS": "1",  # every core has a task already
    }
    if master is not None:
        found["spark.master"] = master
        if master.startswith("local"):
            found["spark.ui.enabled"] = "false"
    if is_ours:
        found["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={LOGGING.as_uri()}"
    return {**found, **settings.conf}


def _not_started(error: Exception, log: IO[bytes]) -> SparkError:
    log.seek(0)
    lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    reason = "\n".join(lines[-SHOWN_LOG:]) or str(error).strip().splitlines()[0]
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if java is None or not os.path.exists(java):
        what = "there is no Java" if home is None else f"there is no Java in JAVA_HOME ({home})"
        return SparkError(what, hint="Spark needs Java 17 or 21: install it, or set JAVA_HOME")
    return SparkError(f"Spark does not start: {reason}", hint="check --master, --spark-conf and JAVA_HOME")


@contextmanager
def explained(where: str | None = None) -> Iterator[None]:
    """Turn what Spark raises into RankevalError: that of a worker, or the reason in a line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise explanation(str(error), where) from error


def explanation(text: str, where: str | None) -> Exception:
    """An error of Spark in our words; no RankevalError where the user cannot mend it: then it is a bug of ours."""
    if (error := told(text)) is not None:
        return error
    if "PATH_NOT_FOUND" in text or "Path does not exist" in text:
        hint = "check its spelling; where Spark has files of its own, one of this machine is file:///PATH"
        return MissingError("no such file", where, hint)
    if (scheme := _NO_SCHEME.search(text)) is not None:
        what = f"Spark cannot read `{scheme[1] or scheme[2]}`"
        return InputError(what, where, "add its library: --spark-conf spark.jars.packages=GROUP:NAME:VERSION")
    if (module := _NO_MODULE.search(text)) is not None:
        return SparkError(f"the workers' Python has no module `{module[1]}`", hint=WORKERS)
    if "PYTHON_VERSION_MISMATCH" in text:
        return SparkError("the workers have another version of Python than this process", hint=WORKERS)
    if "Traceback" in text and (found := _ERROR_LINE.findall(text)):
        return RuntimeError(f"{found[-1]} (on a worker of Spark)")
    reason = next(iter(text.strip().splitlines()), "no reason is given")
    return SparkError(f"Spark gives up: {reason}", where, "the log of Spark has more; on one machine, --debug shows it")


def mapped(frame: Any, work: Callable[..., Iterator[Any]], types: Types, *more: Any) -> Any:
    """The frame that `work(*more, batches)` makes of the batches of another one."""
    with _without_warnings():
        return frame.mapInArrow(partial(work, *more), schema_of(types))


def collected(frame: Any, where: str | None = None) -> pl.DataFrame:
    """All rows of a Spark DataFrame."""
    import polars as pl

    with explained(where), with_large_batches(frame.sparkSession):
        return pl.DataFrame(pl.from_arrow(frame.toArrow()))


@contextmanager
def with_setting(session: Any, name: str, value: str) -> Iterator[None]:
    """A setting of the session in force for a while."""
    before = session.conf.get(name)
    session.conf.set(name, value)
    try:
        yield
    finally:
        session.conf.set(name, before)


def with_large_batches(session: Any) -> Any:
    """Arrow batches of BATCH_ROWS rows for a while."""
    return with_setting(session, "spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH_ROWS))
