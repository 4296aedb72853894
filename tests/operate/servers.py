"""Prometheus and its node exporter on loopback, with the alerting rules of the docs in a hurry."""

import json
import shutil
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager, suppress

import pytest

from tests.documentation.reference import DOCS

RULES = DOCS / "how-to" / "alerts.yml"
PROGRAMS = {
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "prometheus-node-exporter": "prometheus-node-exporter",
}
"""Programs, and Debian's packages of them."""

INTERVAL = "250ms"
"""Time between two scrapes, and between two evaluations of the rules."""

LONG = 30
"""Seconds within which alerts must begin or end."""

QUIET = 1.5
"""Seconds in which nothing else may fire: some scrapes and evaluations, and the wait of rules in a hurry."""


def program(name):
    """Return the path of a program; a missing package is an error."""
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"no {name}: apt-get install {PROGRAMS[name]}")
    return path


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def running(command, url):
    """Run a server until the block ends; it has begun when it answers."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(10 * LONG):
                with suppress(OSError), urllib.request.urlopen(url, timeout=1):
                    break
                assert process.poll() is None, command
                time.sleep(0.1)
            yield process
        finally:
            process.terminate()
            process.wait()


class Alerts:
    """The alerts of a running Prometheus."""

    def __init__(self, address):
        self._url = f"{address}/api/v1/alerts"

    def firing(self):
        """Return the alerts that fire, by name."""
        with urllib.request.urlopen(self._url, timeout=LONG) as answer:
            alerts = json.load(answer)["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}

    def require(self, expected):
        """Wait until some alerts fire and no others, and see that it stays so."""
        deadline = time.monotonic() + LONG
        while (found := self.firing()) != expected and time.monotonic() < deadline:
            time.sleep(0.1)
        assert found == expected
        time.sleep(QUIET)
        assert self.firing() == expected


@contextmanager
def watched(collected, place):
    """Let Prometheus watch a folder of samples; yield its alerts.

    What may last two hours by the rules of the docs may last a moment here; promtool tests the hours.
    """
    rules = RULES.read_text()
    assert rules.count("for: 2h") == 1
    (place / "alerts.yml").write_text(rules.replace("for: 2h", "for: 500ms"))
    exporter, port = free_port(), free_port()
    (place / "prometheus.yml").write_text(
        f"global: {{scrape_interval: {INTERVAL}, evaluation_interval: {INTERVAL}}}\n"
        "rule_files: [alerts.yml]\n"
        "scrape_configs:\n"
        "  - job_name: node\n"
        f"    static_configs: [{{targets: ['127.0.0.1:{exporter}']}}]\n"
    )
    export = [
        *(program("prometheus-node-exporter"), "--collector.disable-defaults", "--collector.textfile"),
        *(f"--collector.textfile.directory={collected}", f"--web.listen-address=127.0.0.1:{exporter}"),
    ]
    collect = [
        *(program("prometheus"), f"--config.file={place / 'prometheus.yml'}"),
        *(f"--storage.tsdb.path={place / 'tsdb'}", f"--web.listen-address=127.0.0.1:{port}"),
    ]
    address = f"http://127.0.0.1:{port}"
    with running(export, f"http://127.0.0.1:{exporter}/metrics"), running(collect, f"{address}/-/ready"):
        yield Alerts(address)
