"""Sessions with Apache Spark clusters, whose settings are our own.

A session begins with the settings of the cluster. All that could change a result are taken back to what Spark
has by default, and those on which the code relies are set.
"""

from __future__ import annotations

import atexit
import os
import re
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from uqcli.base.errors import DataError, MissingExtraError, UqcliError, UsageError, Words, words
from uqcli.base.running.interruption import register_cleanup
from uqcli.base.running.messages import caution

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CLOSE_SECONDS: Final = 1.0
"""Timeout in seconds for cancelling or closing."""

_CONNECT_SECONDS: Final = 10.0
"""Timeout in seconds for reaching a cluster."""

_MAX_RETRIES: Final = 5
"""Retries of a call after a lost connection: half a minute in total; the client's own take ten minutes."""

_PORT: Final = 15002
"""Default port of Spark Connect."""

_MAX_CHARACTERS: Final = 300
"""Maximum length of a cluster's error message."""

_APACHE: Final = re.compile(r"(\d+)\.\d+\.\d+ [0-9a-f]{40}")
"""Answer of Apache Spark to ``select version()``: the release and the commit; others add a name or a date."""

_SPARK: Final = re.compile(r"[34]\.\d")
"""Beginning of the answer of what is made from Apache Spark."""

_LEAST_MAJOR: Final = 4
"""Earlier servers lack functions that expressions use."""

_OTHERS_ARE_READ: bool = False
"""Whether servers that are no Apache Spark are taken; for tests of the connection alone."""

_SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",  # what overflows is an error
    "spark.sql.caseSensitive": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # shop 01 is not shop 1
    "spark.sql.parquet.mergeSchema": "true",  # columns that only some files have are not lost
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.csv.parser.columnPruning.enabled": "false",  # pruned records are not checked
    # tables are sent whole; clients from 4.1 on ask for the limits, which a server of 4.0 does not know
    "spark.sql.session.localRelationCacheThreshold": str(1 << 26),
    "spark.sql.session.localRelationSizeLimit": str(1 << 31),
    "spark.sql.session.localRelationChunkSizeRows": "10000",
    "spark.sql.session.localRelationChunkSizeBytes": str(1 << 24),
    "spark.sql.session.localRelationBatchOfChunksSizeBytes": str(1 << 24),
}
"""Settings on which results rest."""

_KEPT: Final = re.compile(
    r"spark\.sql\.(adaptive|artifact|catalog|codegen|hive|shuffle|warehouse)\.|commit|[Bb]roadcast"
    r"|spark\.sql\.files\.(maxPartition|minPartition|openCost)"
)
"""Settings of the cluster that stay: of speed, of catalogs, and of how files are committed to a store."""

_CONDITIONS: Final[dict[str, tuple[str, Words]]] = {
    "[PATH_ALREADY_EXISTS]": ("it already exists", "choose another name, or remove it first"),
    "[PARQUET_TYPE_ILLEGAL]": ("", words("cast the column or leave it out, or use --engine polars")),
    "[UNSUPPORTED_TIME_TYPE]": ("", words("cast the column or leave it out, or use --engine polars")),
    "TextParsingException": (
        "it has a quote inside a field",
        "put quotes around the whole field, and double those inside",
    ),
    "[FAILED_READ_FILE": (
        "",
        "check that the file is whole, its header that of the others, and each record as long as the header",
    ),
}
"""What to say of some errors of Spark, by a part of them, and what helps; empty for what Spark says."""

_sessions: dict[str, SparkSession] = {}
_cautions: dict[str, str] = {}
_runs_functions: dict[int, bool] = {}


def session_of(url: str) -> SparkSession:
    """Return the session of ``sc://host:port``, or of SPARK_REMOTE; created once.

    Raises
    ------
    UsageError
        Neither is given.
    DataError
        The server cannot be reached, or is no Apache Spark of a version that fits.
    """
    address = _address(url)
    if address not in _sessions:
        _require_client()
        _sessions[address] = _connected(address)
        if len(_sessions) == 1:
            atexit.register(_close_sessions)
            register_cleanup(_cancel)
    if address in _cautions:
        caution("other-server", _cautions[address])
    return _sessions[address]


def _address(url: str) -> str:
    address = url or os.environ.get("SPARK_REMOTE")
    if not address:
        raise UsageError(
            words("--engine spark without the address of a cluster"),
            expected=words("--spark sc://host:port, or SPARK_REMOTE"),
            remedy=words(
                "start a server with Spark's sbin/start-connect-server.sh, or leave --engine out: on one "
                "machine it is the faster one"
            ),
        )
    return address


def runs_functions(session: SparkSession) -> bool:
    """Whether the workers can run our functions (numpy and pyarrow installed); tested once."""
    cached = _runs_functions.get(id(session))
    if cached is None:
        cached = _runs_functions[id(session)] = _test_functions(session)
    return cached


def _test_functions(session: SparkSession) -> bool:
    from pyspark.cloudpickle import register_pickle_by_value
    from pyspark.errors import PySparkException

    from uqcli.engines.spark import worker

    register_pickle_by_value(worker)  # type: ignore[no-untyped-call]
    try:
        table = session.range(1).mapInArrow(worker.probe, "ready long").toArrow()
    except PySparkException as error:
        if re.search("ModuleNotFoundError|ImportError|PACKAGE_NOT_INSTALLED|No module named", str(error)):
            return False
        raise
    return len(table) > 0  # one row per partition, even if empty


def _require_client() -> None:
    if find_spec("pyspark") is None:
        raise MissingExtraError(
            "the Spark engine needs pyspark-client",
            expected="the extra 'spark'",
            remedy=words('pip install "uqcli[spark]", or leave --engine out'),
        )


def _require_reachable(url: str) -> None:
    """Fail at once instead of after the client's ten minutes of retries."""
    parts = urlsplit(url)
    if parts.scheme != "sc" or not parts.hostname:
        raise UsageError(f"'{url}' is not a cluster address", expected="sc://host:port")
    if not any(os.environ.get(name) for name in ("grpc_proxy", "https_proxy", "http_proxy")):
        try:  # a closed port fails at once, while a channel keeps trying
            socket.create_connection((parts.hostname, parts.port or _PORT), timeout=_CONNECT_SECONDS).close()
        except OSError as error:
            raise _unreachable(url, error.strerror or str(error)) from error
    if not _answers(url):
        raise _unreachable(url, f"no answer of Spark Connect within {_CONNECT_SECONDS:g} seconds")


def _unreachable(url: str, why: str) -> DataError:
    return DataError(
        f"cannot reach the cluster at '{url}': {why}",
        expected="a Spark Connect server",
        remedy=words("check --spark or SPARK_REMOTE"),
    )


def _answers(url: str) -> bool:
    """Whether a Spark Connect server answers, on the channel that the client will use."""
    import grpc
    from pyspark.sql.connect.client import DefaultChannelBuilder

    channel = DefaultChannelBuilder(url).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=_CONNECT_SECONDS)
    except grpc.FutureTimeoutError:
        return False
    finally:
        channel.close()
    return True


def _connected(address: str) -> SparkSession:
    # the client needs it and exits without it; any folder will do
    os.environ.setdefault("SPARK_HOME", str(Path(__file__).parent))
    with warnings.catch_warnings(), spark_errors("connect to the cluster"):
        warnings.simplefilter("ignore")  # warnings about pandas versions, which is not used here
        _require_reachable(address)
        from pyspark.sql.connect.session import SparkSession

        session: Any = SparkSession.builder.remote(address).create()
        _limit_retries(session)
        version = _version(session, address)
        if _SPARK.match(version):
            _settle(session)
    if not (_APACHE.fullmatch(version) or _OTHERS_ARE_READ):
        _cautions[address] = (
            f"The server is Spark {version.partition(' ')[0]} of another maker: uqcli is tested with Apache "
            "Spark 4.0 and 4.2 alone."
        )
    return session  # type: ignore[no-any-return]


def _version(session: Any, address: str) -> str:
    """Return what the server says of its version; refuse those that do not fit the client."""
    import pyspark

    client = f"client pyspark {pyspark.__version__}"
    try:
        version = str(session.sql("select version()").toArrow()[0][0])
    except Exception as error:
        if not _is_of_spark(error):
            raise
        raise DataError(
            f"the server at '{address}' does not answer the {client}: {_cause(error)}",
            expected="Apache Spark 4.0 to 4.2",
            remedy='pip install "uqcli[spark]" for a client that fits',
        ) from error
    if _OTHERS_ARE_READ:
        return version
    if not _SPARK.match(version):
        raise DataError(
            f"the server at '{address}' is no Apache Spark: it says version {version}, as Sail does",
            expected="Apache Spark 4.0 to 4.2, since others read some columns as other values",
            remedy=words("name a server of Apache Spark, or leave --engine out"),
        )
    if int(version[0]) < _LEAST_MAJOR:
        raise DataError(
            f"the server at '{address}' is Spark {version.partition(' ')[0]}, and the {client}",
            expected="a server of Spark 4.0 or later",
        )
    return version


def _settle(session: Any) -> None:
    """Set what results rest on, and take back what else the cluster has set and could change them."""
    for name in session.sql("set").toArrow().column("key").to_pylist():
        if name.startswith("spark.sql.") and name not in _SETTINGS and not _KEPT.search(name):
            with suppress(Exception):  # static ones, which belong to the server
                session.conf.unset(name)
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)


def _limit_retries(session: Any) -> None:
    """Limit retries, so that a lost cluster soon raises an error."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")  # the error has the same information
    policy = DefaultPolicy(max_retries=_MAX_RETRIES, max_backoff=3000)
    session.client.set_retry_policies([policy])


def _close_sessions() -> None:
    """Close sessions."""

    def end() -> None:
        for session in _sessions.values():
            with suppress(Exception):
                session.stop()

    _with_timeout(end)


def _cancel() -> None:
    """Cancel running queries on clusters."""

    def interrupt() -> None:
        for session in _sessions.values():
            with suppress(Exception):
                session.interruptAll()

    _with_timeout(interrupt)


def _with_timeout(work: Any) -> None:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(_CLOSE_SECONDS)


@contextmanager
def spark_errors(doing: str) -> Iterator[None]:
    """Convert errors of the cluster or the connection to a one-line DataError that names what failed."""
    try:
        yield
    except UqcliError:
        raise
    except Exception as error:
        if not _is_of_spark(error):
            raise
        cause = _cause(error)
        missing = re.search(r"No module named '(\w+)", cause)
        remedy: Words = words("check the cluster (--spark, SPARK_REMOTE) and its log")
        if missing:
            remedy = f"install {missing[1]} for the Python of the cluster's workers"
        for condition, (problem, advice) in _CONDITIONS.items():
            if condition in cause:
                cause, remedy = problem or cause.partition(" SQLSTATE")[0].rstrip(" ."), advice
        raise DataError(f"cannot {doing}: {cause}", remedy=remedy) from error


def _is_of_spark(error: Exception) -> bool:
    package = type(error).__module__.partition(".")[0]
    return package in ("pyspark", "grpc") or isinstance(error, ConnectionError | TimeoutError)


def _cause(error: Exception) -> str:
    """Find the most informative line: the last of a worker's traceback, else the first."""
    details = getattr(error, "details", None)
    text = str(details() if callable(details) else error).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    error_lines = [line for line in lines if re.match(r"[\w.]+(Error|Exception): ", line)]
    match = re.search(r'details = "([^"]*)"', text)
    if match:
        line = match[1]
    elif "Traceback" in text and error_lines:
        line = error_lines[-1]
    else:
        line = lines[0] if lines else type(error).__name__
    return line if len(line) <= _MAX_CHARACTERS else f"{line[:_MAX_CHARACTERS]} ..."
