"""Tests that no process takes more than its ``--memory`` and 250 MB: in a control group, else by its peak."""

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reproduction.limits import BESIDE_MB, LINES, ROWS, make_files, measure
from tests.cli.cases import CASES
from tests.cli.conftest import PROGRAM
from uqcli.base.running import memory

MEGABYTES = {"300MB": 300, "400MB": 400, "600MB": 600, "1GiB": 1074}
GROUPS = ((Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"), (Path("/sys/fs/cgroup"), "memory.max"))
JOIN = 'echo $$ > "$0" && exec "$@"'
SCARCE = "1kB"


@contextmanager
def control_group(limit):
    """Make a control group with a limit of memory; yield words that run a command in it, or none."""
    for root, name in GROUPS:
        folder = root / f"uqcli-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / name).write_text(str(limit))
            join = ["sh", "-c", JOIN, folder / "cgroup.procs"]
            subprocess.run([*join, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            folder.rmdir()
            continue
        try:
            yield [str(word) for word in join]
        finally:
            folder.rmdir()
        return
    yield []


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    make_files(folder, ROWS)
    yield folder
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.faults
@pytest.mark.parametrize("size", MEGABYTES)
@pytest.mark.parametrize("line", [line for lines in LINES.values() for line in lines.values()])
def test_no_run_takes_more_than_its_memory(large, line, size):
    most, names = MEGABYTES[size] + BESIDE_MB, set(large.iterdir())
    with control_group(most * 10**6) as joined:
        outcome = measure(line, size, large, joined)
    assert outcome.code in (0, 3), outcome.message
    assert outcome.peak <= most
    assert set(large.iterdir()) == names
    if outcome.code == 3:
        assert re.search(r"expected .*(a container of|--memory) \S+ ?GB or more", outcome.message)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_limit_of_memory_changes_what_a_command_prints(uqcli, data, artifact, case):
    line = case.arguments(data, artifact)
    expected = uqcli(*line)
    scarce = uqcli(*line, "--memory", SCARCE)
    assert (scarce.code, scarce.out) == (expected.code, expected.out)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory files of Linux")
def test_a_run_that_exceeds_its_memory_ends_with_code_3_and_leaves_nothing(tmp_path):
    random = np.random.default_rng(0)
    score = random.random(60_000)
    pl.DataFrame({"score": score, "label": random.random(60_000) < score}).write_parquet(
        tmp_path / "a.parquet"
    )
    line = [
        *PROGRAM,
        "boundary",
        "a.parquet",
        "--precision",
        "0.6",
        "--score-bins",
        "all",
        "-q",
        "-o",
        "o.json",
    ]
    process = subprocess.run(
        [*line, "--memory", "1MB", "--report", "r.json"], capture_output=True, cwd=tmp_path, check=False
    )
    assert process.returncode == 3, process.stderr
    assert re.search(rb"expected .*--memory \S+GB or more", process.stderr)
    assert b"no output file was changed" in process.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "r.json"]
    assert json.loads((tmp_path / "r.json").read_text())["error"]["exit"] == 3
    assert memory.PROGRAM_BYTES == BESIDE_MB * 10**6
