"""A Spark cluster on loopback: a master, two workers and a Connect server, each a process."""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.hang import HANGS_AFTER

OTHER_SETTINGS = {
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "true",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.csv.parser.columnPruning.enabled": "true",
    "spark.sql.parquet.binaryAsString": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "false",
    "spark.sql.parquet.int96RebaseModeInRead": "LEGACY",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.parquet.outputTimestampType": "INT96",
    "spark.sql.parquet.writeLegacyFormat": "true",
    "spark.sql.legacy.castComplexTypesToString.enabled": "true",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.storeAssignmentPolicy": "LEGACY",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "3",
}
"""Settings that an administrator may choose and that could change a result, other than those of Spark."""

QUICK_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings with which queries on few rows take a fraction of the time."""

FAST_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java options for processes that run for a few minutes: they skip slow optimisation."""


class Cluster:
    """A cluster that ``with`` starts; its end kills the processes by id, with their children.

    Parameters
    ----------
    python
        Python of an environment with pyspark, for the servers and the workers.
    folder
        Folder of logs and work files.
    settings
        Settings of all sessions.
    """

    def __init__(self, python: Path, folder: Path, settings: dict[str, str] | None = None) -> None:
        find_home = [str(python), "-c", "import pyspark; print(pyspark.__path__[0])"]
        home = subprocess.run(find_home, check=True, capture_output=True, text=True).stdout.strip()
        self._home, self._folder, self._python = Path(home), folder, python
        self._settings = settings or {}
        self._environment = {
            **os.environ,
            "SPARK_HOME": home,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(folder),
            "SPARK_DAEMON_JAVA_OPTS": FAST_START,
        }
        self._processes: dict[str, subprocess.Popen] = {}
        self._master = ""
        self.address = ""

    def __enter__(self) -> "Cluster":
        try:
            self._start_master()
            self.start_worker("worker-1")
            self.start_worker("worker-2")
            self.start_connect("connect", self._python)
            self.executor("worker-1")
            self.executor("worker-2")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in reversed(list(self._processes)):
            self.kill(name)

    def kill(self, name: str) -> None:
        """Kill a process with its children."""
        process = self._processes.pop(name)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def log(self, name: str) -> str:
        """Read the log of a process."""
        return (self._folder / f"{name}.log").read_text(errors="replace")

    def executor(self, worker: str) -> str:
        """Wait for the executor of a worker, and return its number."""
        number: str = self.wait(worker, pattern_finder(r"Asked to launch executor app-\S+/(\d+)"))[1]
        self.wait("connect", pattern_finder(rf"Registered executor .* with ID {number},"))
        return number

    def wait(self, name: str, find: Callable[[str], Any], after: int = 0) -> Any:
        """Wait until a function finds something in a log after a position, and return it."""
        deadline, running = time.monotonic() + HANGS_AFTER, True
        while running:
            # checked before the log is read, so that its last lines are also read
            running = time.monotonic() < deadline and self._processes[name].poll() is None
            result = find(self.log(name)[after:])
            if result:
                return result
            time.sleep(0.01)
        raise RuntimeError(f"{name} did not log what the test waited for:\n{self.log(name)[after:][-3000:]}")

    def _start_master(self) -> None:
        port = free_port()
        self._master = f"spark://127.0.0.1:{port}"
        options = ("--host", "127.0.0.1", "--webui-port", free_port(), "--port", port)
        self._start("master", "spark-class", "org.apache.spark.deploy.master.Master", *options)
        self.wait("master", pattern_finder("Starting Spark master"))

    def start_worker(self, name: str) -> None:
        """Start a worker of one core."""
        options = ("--host", "127.0.0.1", "--webui-port", free_port(), "--cores", 1, "--memory", "1g")
        self._start(name, "spark-class", "org.apache.spark.deploy.worker.Worker", *options, self._master)

    def start_connect(self, name: str, python: Path) -> None:
        """Start a Connect server in place of the last one, whose functions run in this Python."""
        port = free_port()
        settings = {
            "spark.connect.grpc.binding.port": port,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "700m",
            "spark.executor.memory": "700m",
            "spark.driver.extraJavaOptions": FAST_START,
            "spark.executor.extraJavaOptions": FAST_START,
            "spark.ui.enabled": "false",
            **self._settings,
        }
        options = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self._start(
            name, "spark-submit", "--master", self._master, "--class", server, *options, python=python
        )
        self.wait(name, pattern_finder("Spark Connect server started"))
        self.address = f"sc://127.0.0.1:{port}"

    def _start(self, name: str, program: str, *arguments: object, python: Path | None = None) -> None:
        command = [str(self._home / "bin" / program), *map(str, arguments)]
        with (self._folder / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env={**self._environment, "PYSPARK_PYTHON": str(python or self._python)},
                cwd=self._folder,
                start_new_session=True,  # so that a kill also ends its executors
            )


def pattern_finder(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """Make a function that finds a pattern in a log."""
    return lambda log: re.search(pattern, log)


def free_port() -> int:
    """Find a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
