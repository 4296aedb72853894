"""On a real cluster the answers are those of one machine, byte for byte, even where a worker is lost.

Run by ``make test-spark``: an environment of its own has the servers (pyspark), the program its thin client.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cluster.cluster import Cluster

PYTHON = os.environ["UQCLI_CLUSTER_PYTHON"]
"""Of the environment that has the servers."""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    with Cluster(Path(PYTHON).absolute(), tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Rows with ties, negative scores and weights in three files; probabilities; unlabelled rows."""
    made = tmp_path_factory.mktemp("rows")
    random = np.random.default_rng(5)
    (made / "rows").mkdir()
    for part in range(3):
        size = 40_000
        score = random.normal(0.2, 0.3, size).round(2)
        label = random.random(size) < np.clip(score, 0.02, 0.98)
        pl.DataFrame(
            {
                "score": score,
                "uncertainty": random.normal(size=size).round(2),
                "label": label.astype(np.int8),
                "weight": random.integers(0, 3, size),
                "probability": np.clip(score, 0, 1),
            }
        ).write_parquet(made / "rows" / f"part-{part}.parquet")
    target = pl.read_parquet(made / "rows" / "part-0.parquet").head(20_000)
    target.drop("label", "weight").write_parquet(made / "target.parquet")
    return made


COMMANDS = {
    "boundary": "boundary {folder}/rows --precision 0.6 --weight weight -o {name}.json",
    "bin": "bin {folder}/rows --score-bins 40 --weight weight -o {name}.json",
    "tce": "tce {folder}/rows --score probability --json",
    "calibrate": "calibrate {folder}/rows --score probability --method isotonic --bootstrap 0 -o {name}.json",
    "shift": "shift {folder}/rows --score probability --target {folder}/target.parquet -o {name}.json",
}


def on(cluster):
    """The options that name a cluster, if there is one."""
    return ("--engine", "spark", "--spark", cluster.address) if cluster else ()


def run(line, folder, cluster=None):
    """Run a command line on this machine, or on the cluster; what it prints and what it saves."""
    name = "cluster" if cluster else "local"
    words = [
        *line.format(name=name, folder=folder).split(),
        *(("--engine", "spark", "--spark", cluster.address) if cluster else ()),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "uqcli", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    saved = folder / f"{name}.json"
    return done.stdout, saved.read_bytes() if "{name}" in line else b""


@pytest.mark.parametrize("command", COMMANDS)
def test_the_cluster_answers_what_one_machine_does(cluster, folder, command):
    assert run(COMMANDS[command], folder, cluster) == run(COMMANDS[command], folder)


def test_apply_writes_a_folder_that_appears_whole(cluster, folder):
    run(COMMANDS["boundary"], folder)
    line = f"apply local.json {folder}/rows -q -o {folder}/cluster-decided"
    words = [*line.split(), *on(cluster)]
    subprocess.run([sys.executable, "-m", "uqcli", *words], cwd=folder, check=True)
    subprocess.run(
        [sys.executable, "-m", "uqcli", *["apply", "local.json", "rows", "-q", "-o", "local.parquet"]],
        cwd=folder,
        check=True,
    )
    assert (folder / "cluster-decided" / "_SUCCESS").exists()
    theirs = pl.read_parquet(folder / "cluster-decided" / "*.parquet")
    ours = pl.read_parquet(folder / "local.parquet")
    assert theirs.sort(theirs.columns).equals(ours.sort(ours.columns))


def test_a_lost_worker_changes_nothing(cluster, folder):
    """The last of the tests: one worker is left after it."""
    words = [*COMMANDS["tce"].format(folder=folder).split(), *on(cluster)]
    with subprocess.Popen(
        [sys.executable, "-m", "uqcli", *words], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as process:
        time.sleep(1.5)  # it is at work
        cluster.kill("worker-1")
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert out == run(COMMANDS["tce"], folder)[0]
    assert run(COMMANDS["boundary"], folder, cluster) == run(COMMANDS["boundary"], folder)
