"""Sessions with a Spark cluster, or with a local server that lives as long as the process."""

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

from uqcli.base.errors import DataError, MissingExtraError, UqcliError, UsageError
from uqcli.base.running.interruption import register_cleanup

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

_LOCAL: Final = ""
"""Key of the local server among the sessions."""

_MAX_CHARACTERS: Final = 300
"""Maximum length of a cluster's error message."""

_sessions: dict[str, SparkSession] = {}
_servers: list[Any] = []
_runs_functions: dict[int, bool] = {}


def session_of(url: str | None) -> SparkSession:
    """Return the session of ``sc://host:port``, of SPARK_REMOTE, or of a local server; created once."""
    address = url or os.environ.get("SPARK_REMOTE") or _LOCAL
    if address not in _sessions:
        _require("pyspark")
        _sessions[address] = _connected(address)
        if len(_sessions) == 1:
            atexit.register(_close_sessions)
            register_cleanup(_cancel)
    return _sessions[address]


def is_local(url: str | None) -> bool:
    """Whether the session uses the local server of this process."""
    return not (url or os.environ.get("SPARK_REMOTE"))


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


def _require(module: str) -> None:
    if find_spec(module) is None:
        raise MissingExtraError(
            f"the Spark engine needs {'pyspark-client' if module == 'pyspark' else module}",
            expected="the extra 'spark'",
            remedy='pip install "uqcli[spark]", or leave --engine out',
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
        remedy="check --spark or SPARK_REMOTE",
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
    # client and local server need it and exit without it; any folder will do
    os.environ.setdefault("SPARK_HOME", str(Path(__file__).parent))
    with warnings.catch_warnings(), spark_errors("connect to the cluster"):
        warnings.simplefilter("ignore")  # warnings about pandas versions, which is not used here
        if address:
            _require_reachable(address)
        from pyspark.sql.connect.session import SparkSession

        session: Any = SparkSession.builder.remote(address or _local_server()).create()
        _limit_retries(session)
        version = session.version  # the first request to the cluster
    del version
    return session  # type: ignore[no-any-return]


def _limit_retries(session: Any) -> None:
    """Limit retries, so that a lost cluster soon raises an error."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")  # the error has the same information
    policy = DefaultPolicy(max_retries=_MAX_RETRIES, max_backoff=3000)
    session.client.set_retry_policies([policy])


def _local_server() -> str:
    """Start a server in this process and return its address."""
    _require("pysail")
    os.environ.setdefault("RUST_LOG", "off")
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _servers.append(server)
    host, port = server.listening_address
    return f"sc://{host}:{port}"


def _close_sessions() -> None:
    """Close sessions and the local server, whose threads would keep the process alive."""

    def end() -> None:
        for session in _sessions.values():
            with suppress(Exception):
                session.stop()
        for server in _servers:
            with suppress(Exception):
                server.stop()

    _with_timeout(end)


def _cancel() -> None:
    """Cancel running queries on clusters."""

    def interrupt() -> None:
        for address, session in _sessions.items():
            if address != _LOCAL:  # the local server ends with the process
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
        remedy = "check the cluster (--spark, SPARK_REMOTE) and its log"
        if missing:
            remedy = f"install {missing[1]} for the Python of the cluster's workers"
        raise DataError(f"cannot {doing}: {cause}", remedy=remedy) from error


def _is_of_spark(error: Exception) -> bool:
    package = type(error).__module__.partition(".")[0]
    return package in ("pyspark", "grpc", "pysail") or isinstance(error, ConnectionError | TimeoutError)


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
