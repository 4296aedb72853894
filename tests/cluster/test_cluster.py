"""Tests on a Spark cluster: results equal those of one machine, byte for byte, even if a worker is lost.

``make test-spark`` runs them: a separate environment has the servers (pyspark), uqcli the thin client.
The order of the tests matters: the last ones destroy the cluster.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cluster.cluster import Cluster, pattern_finder
from tests.hang import HANGS_AFTER

PYTHON = os.environ["UQCLI_CLUSTER_PYTHON"]
"""Python of the environment that has the servers."""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    with Cluster(Path(PYTHON).absolute(), tmp_path_factory.mktemp("cluster")) as running_cluster:
        yield running_cluster


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Write rows with ties, negative scores and weights in three files, many rows, and unlabelled rows."""
    folder = tmp_path_factory.mktemp("rows")
    random = np.random.default_rng(5)
    for name, size in (("rows", 40_000), ("many", 200_000)):
        (folder / name).mkdir()
        for index in range(3):
            draw_rows(random, size).write_parquet(folder / name / f"part-{index}.parquet")
        for index in range(3):  # text keys that look like numbers
            (folder / "shops" / f"shop=0{index}").mkdir(parents=True, exist_ok=True)
            draw_rows(random, 2000).write_parquet(folder / "shops" / f"shop=0{index}" / "rows.parquet")
    target = pl.read_parquet(folder / "rows" / "part-0.parquet").head(20_000)
    target.drop("label", "weight").write_parquet(folder / "target.parquet")
    assert command("boundary rows --precision 0.6 -o model.json", folder).returncode == 0
    return folder


def draw_rows(random, size):
    """Draw rows of few distinct values."""
    score = random.normal(0.2, 0.3, size).round(2)
    probability = np.clip(score, 0, 1)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.normal(size=size).round(2),
            "label": (random.random(size) < np.clip(score, 0.02, 0.98)).astype(np.int8),
            "weight": random.integers(0, 3, size),
            "probability": probability,
        }
    )


COMMANDS = {
    "boundary": "boundary rows --precision 0.6 --weight weight -o {name}.json",
    "bin": "bin rows --score-bins 40 --weight weight -o {name}.json",
    "tce": "tce rows --score probability --weight weight --json",
    "tce by folder": "tce shops --score probability --by shop --json",
    "shift": "shift rows --score probability --target target.parquet -o {name}.json",
    "apply": "apply model.json rows -q -o {folder}/{name}.parquet",
}


def command_words(line, folder, cluster=None):
    """Split a command line into words; on a cluster, paths are absolute."""
    words = [sys.executable, "-m", "uqcli", *line.split()]
    if not cluster:
        return words
    paths = ("rows", "many", "shops", "target.parquet")
    words_on_cluster = [str(folder / word) if word in paths else word for word in words]
    return [*words_on_cluster, "--engine", "spark", "--spark", cluster.address]


def command(line, folder, cluster=None):
    """Run a command line on this machine, or on the cluster."""
    with start_command(line, folder, cluster) as process:
        return finish_command(process)


def start_command(line, folder, cluster=None):
    """Start a command line."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command_words(line, folder, cluster), cwd=folder, **pipes)


def finish_command(process):
    """Wait for a started command line, and return its result."""
    out, err = process.communicate(timeout=HANGS_AFTER)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def wait_for_a_task(cluster, log_length, executor=""):
    """Wait until an executor runs a task on rows; those that read the schemas of files only plan a query."""

    def task_runs(log):
        task = r"Starting task \S+ in stage (\S+) \(TID (\d+)\) \(\S+ ?executor (\d+), partition (\d+),"
        tasks = re.findall(task, log)
        planned = {f"{stage}.0" for stage in re.findall(r"from \w+Stage (\d+) \(\S+ at analyzePlan", log)}
        over_rows = {stage for stage, _, _, partition in tasks if partition != "0"} - planned
        ended = set(re.findall(r"Finished task \S+ in stage \S+ \(TID (\d+)\)", log))
        return any(
            stage in over_rows and number not in ended and executor in ("", task_executor)
            for stage, number, task_executor, _ in tasks
        )

    cluster.wait("connect", task_runs, log_length)


def assert_same_results(cluster, folder, lines, meanwhile=lambda: None):
    """Run the lines on the cluster, all at once, and on this machine, and compare the results."""
    cluster_lines = {name: line.format(name=f"{name}-cluster", folder=folder) for name, line in lines.items()}
    running = {name: start_command(line, folder, cluster) for name, line in cluster_lines.items()}
    meanwhile()
    done = {name: finish_command(process) for name, process in running.items()}
    for name, line in lines.items():
        assert done[name].returncode == 0, done[name].stderr
        local = command(line.format(name=f"{name}-here", folder=folder), folder)
        assert local.returncode == 0
        if name == "apply":
            assert_same_rows(folder / "apply-cluster.parquet", folder / "apply-here.parquet")
        elif name.startswith("tce"):
            assert done[name].stdout == local.stdout
        else:
            saved = [(folder / f"{name}-{suffix}.json").read_bytes() for suffix in ("cluster", "here")]
            assert saved[0] == saved[1]


def assert_same_rows(cluster_folder, local_file):
    """Compare a folder that the cluster wrote, in any order of rows, with a local file."""
    assert (cluster_folder / "_SUCCESS").exists()
    rows, expected = pl.read_parquet(cluster_folder / "*.parquet"), pl.read_parquet(local_file)
    assert rows.sort(rows.columns).equals(expected.sort(expected.columns))
    shutil.rmtree(cluster_folder)


def test_results_on_the_cluster_equal_those_of_one_machine(cluster, folder):
    assert_same_results(cluster, folder, COMMANDS)


def test_a_lost_worker_changes_nothing(cluster, folder):
    log_length, executor = len(cluster.log("connect")), cluster.executor("worker-1")

    def lose_a_worker():
        wait_for_a_task(cluster, log_length, executor)
        cluster.kill("worker-1")

    # one that searches, one that counts, one that writes: the others run the same kinds of jobs
    many = {name: COMMANDS[name].replace(" rows", " many") for name in ("boundary", "tce", "apply")}
    assert_same_results(cluster, folder, many, meanwhile=lose_a_worker)
    assert pattern_finder(r"Starting task \d+\.1 in stage")(
        cluster.log("connect")[log_length:]
    )  # the task ran again


def test_an_interrupt_cancels_the_job(cluster, folder):
    log_length = len(cluster.log("connect"))
    process = start_command("tce many --score probability", folder, cluster)
    wait_for_a_task(cluster, log_length)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    process_result = finish_command(process)
    assert time.monotonic() - start < 5
    assert (process_result.returncode, process_result.stdout) == (130, "")
    assert len(process_result.stderr.splitlines()) <= 1
    cluster.wait("connect", pattern_finder("(?i)cancell?ed"), log_length)


def test_a_lost_cluster_is_an_error_in_one_line(cluster, folder):
    log_length = len(cluster.log("connect"))
    process = start_command("tce many --score probability", folder, cluster)
    wait_for_a_task(cluster, log_length)
    cluster.kill("connect")
    venv.create(folder / "bare", with_pip=False)  # for the next test, while the client retries
    cluster.start_connect("connect", folder / "bare" / "bin" / "python")
    process_result = finish_command(process)
    assert (process_result.returncode, process_result.stdout) == (3, "")
    (line,) = process_result.stderr.splitlines()
    assert "cannot" in line
    assert "--spark" in line


def test_workers_without_numpy_count_by_expressions(cluster, folder):
    """This test is the last, and another server replaces the lost one."""
    assert_same_results(cluster, folder, {"bin": COMMANDS["bin"]})
