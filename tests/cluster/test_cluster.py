"""On a real cluster the answers are those of one machine, byte for byte, even where a worker is lost.

Run by ``make test-spark``: an environment of its own has the servers (pyspark), the program its thin client.
The tests stand in the order they run in: the last ones leave nothing of the cluster.
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

from tests.cluster.cluster import Cluster, said

PYTHON = os.environ["UQCLI_CLUSTER_PYTHON"]
"""Of the environment that has the servers."""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    with Cluster(Path(PYTHON).absolute(), tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Rows with ties, negative scores and weights in three files, and more of them; unlabelled rows."""
    made = tmp_path_factory.mktemp("rows")
    random = np.random.default_rng(5)
    for name, size in (("rows", 40_000), ("many", 200_000)):
        (made / name).mkdir()
        for part in range(3):
            drawn(random, size).write_parquet(made / name / f"part-{part}.parquet")
        for part in range(3):  # keys that look like numbers and are texts
            (made / "shops" / f"shop=0{part}").mkdir(parents=True, exist_ok=True)
            drawn(random, 2000).write_parquet(made / "shops" / f"shop=0{part}" / "rows.parquet")
    target = pl.read_parquet(made / "rows" / "part-0.parquet").head(20_000)
    target.drop("label", "weight").write_parquet(made / "target.parquet")
    assert command("boundary rows --precision 0.6 -o model.json", made).returncode == 0
    return made


def drawn(random, size):
    """Rows of few distinct values."""
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


def words(line, folder, cluster=None):
    """A command line as the system takes it; on a cluster, paths are those that it sees."""
    given = [sys.executable, "-m", "uqcli", *line.split()]
    if not cluster:
        return given
    places = ("rows", "many", "shops", "target.parquet")
    seen = [str(folder / word) if word in places else word for word in given]
    return [*seen, "--engine", "spark", "--spark", cluster.address]


def command(line, folder, cluster=None):
    """Run a command line on this machine, or on the cluster."""
    with started(line, folder, cluster) as process:
        return finished(process)


def started(line, folder, cluster=None):
    """Start a command line."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words(line, folder, cluster), cwd=folder, **pipes)


def finished(process):
    """What a command line that was started ended with."""
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def in_the_middle(cluster, before, executor=""):
    """Wait until an executor has a task over rows: what looks at a file's schema has one partition only."""

    def has_one(log):
        task = r"Starting task \S+ in stage (\S+) \(TID (\d+)\) \(\S+ ?executor (\d+), partition (\d+),"
        tasks = re.findall(task, log)
        over_rows = {stage for stage, _, _, partition in tasks if partition != "0"}
        ended = set(re.findall(r"Finished task \S+ in stage \S+ \(TID (\d+)\)", log))
        return any(
            stage in over_rows and number not in ended and executor in ("", place)
            for stage, number, place, _ in tasks
        )

    cluster.wait("connect", has_one, before)


def assert_same_answers(cluster, folder, lines, meanwhile=lambda: None):
    """Run lines on the cluster, all at once, and beside them here."""
    theirs = {name: line.format(name=f"{name}-cluster", folder=folder) for name, line in lines.items()}
    running = {name: started(line, folder, cluster) for name, line in theirs.items()}
    meanwhile()
    done = {name: finished(process) for name, process in running.items()}
    for name, line in lines.items():
        assert done[name].returncode == 0, done[name].stderr
        here = command(line.format(name=f"{name}-here", folder=folder), folder)
        assert here.returncode == 0
        if name == "apply":
            assert_same_rows(folder / "apply-cluster.parquet", folder / "apply-here.parquet")
        elif name.startswith("tce"):
            assert done[name].stdout == here.stdout
        else:
            saved = [(folder / f"{name}-{place}.json").read_bytes() for place in ("cluster", "here")]
            assert saved[0] == saved[1]


def assert_same_rows(theirs, ours):
    """A folder of the cluster's, in no order of rows, beside a file."""
    assert (theirs / "_SUCCESS").exists()
    found, expected = pl.read_parquet(theirs / "*.parquet"), pl.read_parquet(ours)
    assert found.sort(found.columns).equals(expected.sort(expected.columns))
    shutil.rmtree(theirs)


def test_the_cluster_answers_what_one_machine_does(cluster, folder):
    assert_same_answers(cluster, folder, COMMANDS)


def test_a_lost_worker_changes_nothing(cluster, folder):
    before, executor = len(cluster.log("connect")), cluster.executor("worker-1")

    def lose_a_worker():
        in_the_middle(cluster, before, executor)
        cluster.kill("worker-1")

    many = {name: line.replace(" rows", " many") for name, line in COMMANDS.items()}
    assert_same_answers(cluster, folder, many, meanwhile=lose_a_worker)
    assert said(r"Starting task \d+\.1 in stage")(cluster.log("connect")[before:])  # a second time


def test_an_interrupt_cancels_the_job(cluster, folder):
    before = len(cluster.log("connect"))
    process = started("tce many --score probability", folder, cluster)
    in_the_middle(cluster, before)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    done = finished(process)
    assert time.monotonic() - start < 5
    assert (done.returncode, done.stdout) == (130, "")
    assert len(done.stderr.splitlines()) <= 1
    cluster.wait("connect", said("(?i)cancell?ed"), before)


def test_a_lost_cluster_is_an_error_in_one_line(cluster, folder):
    before = len(cluster.log("connect"))
    process = started("tce many --score probability", folder, cluster)
    in_the_middle(cluster, before)
    cluster.kill("connect")
    venv.create(folder / "bare", with_pip=False)  # for the next test: the client does not give up at once
    cluster.start_connect("connect", folder / "bare" / "bin" / "python")
    done = finished(process)
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert "cannot" in line
    assert "--spark" in line


def test_workers_without_numpy_count_by_expressions(cluster, folder):
    """The last test: another server has taken the place of the lost one."""
    assert_same_answers(cluster, folder, {"bin": COMMANDS["bin"]})
