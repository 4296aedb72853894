"""A Spark cluster on loopback: a master, two workers and a Connect server, each a process of its own."""

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

SECONDS = 90
"""Within which a process must say that it is there."""


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
        self._home, self._folder = Path(home), folder
        self._environment = {
            **os.environ,
            "SPARK_HOME": home,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(folder),
            "PYSPARK_PYTHON": str(python),
        }
        self._processes: dict[str, subprocess.Popen] = {}
        self.address = ""

    def __enter__(self) -> "Cluster":
        try:
            self._start_all()
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

    def _start_all(self) -> None:
        port, connect = free_port(), free_port()
        master = f"spark://127.0.0.1:{port}"
        deploy, here = "org.apache.spark.deploy", ("--host", "127.0.0.1", "--webui-port", free_port())
        self._start("master", "spark-class", f"{deploy}.master.Master", *here, "--port", port)
        self._wait("master", "Starting Spark master")
        for name in ("worker-1", "worker-2"):
            here = ("--host", "127.0.0.1", "--webui-port", free_port())
            limits = ("--cores", 1, "--memory", "1g")
            self._start(name, "spark-class", f"{deploy}.worker.Worker", *here, *limits, master)
        for name in ("worker-1", "worker-2"):
            self._wait(name, "Successfully registered")
        settings = {
            "spark.connect.grpc.binding.port": connect,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "700m",
            "spark.executor.memory": "700m",
            "spark.ui.enabled": "false",
        }
        options = [each for name, value in settings.items() for each in ("--conf", f"{name}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self._start("connect", "spark-submit", "--master", master, "--class", server, *options)
        self._wait("connect", "Spark Connect server started")
        self.address = f"sc://127.0.0.1:{connect}"

    def _start(self, name: str, program: str, *arguments: object) -> None:
        command = [str(self._home / "bin" / program), *map(str, arguments)]
        with (self._folder / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env=self._environment,
                cwd=self._folder,
                start_new_session=True,  # so that it can be ended with its executors
            )

    def _wait(self, name: str, said: str) -> None:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if re.search(said, self.log(name)):
                return
            if self._processes[name].poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"{name} did not say '{said}':\n{self.log(name)[-3000:]}")


def free_port() -> int:
    """A port that nobody listens to now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
