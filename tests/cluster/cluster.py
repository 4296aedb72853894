"""A Spark cluster on loopback: a master, two workers and a Connect server, each a process of its own."""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS = 60
"""Within which a process must say what is waited for."""

BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For processes that live a few minutes: no time is spent on code that would be fast later."""


class Cluster:
    """Started by ``with``; its processes are ended by their own ids, with all that they started.

    Parameters
    ----------
    python
        Of an environment that holds pyspark: it has the servers, and runs the workers' Python.
    folder
        Where logs and work files go.
    """

    def __init__(self, python: Path, folder: Path) -> None:
        found = [str(python), "-c", "import pyspark; print(pyspark.__path__[0])"]
        home = subprocess.run(found, check=True, capture_output=True, text=True).stdout.strip()
        self._home, self._folder, self._python = Path(home), folder, python
        self._environment = {
            **os.environ,
            "SPARK_HOME": home,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(folder),
            "SPARK_DAEMON_JAVA_OPTS": BRIEF,
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
        """End a process with all that it started, at once."""
        process = self._processes.pop(name)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def log(self, name: str) -> str:
        """What a process has said."""
        return (self._folder / f"{name}.log").read_text(errors="replace")

    def executor(self, worker: str) -> str:
        """The number of the executor that a worker runs, once it is there."""
        number: str = self.wait(worker, said(r"Asked to launch executor app-\S+/(\d+)"))[1]
        self.wait("connect", said(rf"Registered executor .* with ID {number},"))
        return number

    def wait(self, name: str, told: Callable[[str], Any], after: int = 0) -> Any:
        """Wait until what a log says behind a place tells something, and give that."""
        end, going = time.monotonic() + SECONDS, True
        while going:
            # asked first: the last words are read, too
            going = time.monotonic() < end and self._processes[name].poll() is None
            found = told(self.log(name)[after:])
            if found:
                return found
            time.sleep(0.01)
        raise RuntimeError(f"{name} did not say what was waited for:\n{self.log(name)[after:][-3000:]}")

    def _start_master(self) -> None:
        port = free_port()
        self._master = f"spark://127.0.0.1:{port}"
        here = ("--host", "127.0.0.1", "--webui-port", free_port(), "--port", port)
        self._start("master", "spark-class", "org.apache.spark.deploy.master.Master", *here)
        self.wait("master", said("Starting Spark master"))

    def start_worker(self, name: str) -> None:
        """Start a worker of one core."""
        here = ("--host", "127.0.0.1", "--webui-port", free_port(), "--cores", 1, "--memory", "1g")
        self._start(name, "spark-class", "org.apache.spark.deploy.worker.Worker", *here, self._master)

    def start_connect(self, name: str, python: Path) -> None:
        """Start a Connect server, whose functions run in a Python on the workers, in place of any other."""
        port = free_port()
        settings = {
            "spark.connect.grpc.binding.port": port,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "700m",
            "spark.executor.memory": "700m",
            "spark.driver.extraJavaOptions": BRIEF,
            "spark.executor.extraJavaOptions": BRIEF,
            "spark.ui.enabled": "false",
        }
        options = [each for key, value in settings.items() for each in ("--conf", f"{key}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self._start(
            name, "spark-submit", "--master", self._master, "--class", server, *options, python=python
        )
        self.wait(name, said("Spark Connect server started"))
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
                start_new_session=True,  # so that it can be ended with its executors
            )


def said(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """A function that finds a pattern."""
    return lambda log: re.search(pattern, log)


def free_port() -> int:
    """A port that nobody listens to now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
