"""Tests of the number of threads: the usable cores, or what is given, in all pools alike."""

import json
import os
import subprocess
import sys

import pytest

from tests.hang import HANGS_AFTER
from uqcli.base.running import machine

POOLS = """
import json, sys, threading
from uqcli.cli.process import limit_threads
limit_threads(int(sys.argv[1]))
import numba, polars, pyarrow
from uqcli.engines.local.count import cached
from uqcli.base.running.concurrency import parallel_map
most = threading.Barrier(int(sys.argv[1]))
own = set(parallel_map(lambda _: most.wait(60) and None or threading.get_ident(), range(int(sys.argv[1]))))
print(json.dumps({
    "own": len(own),
    "kept": cached._Store()._threads._max_workers,
    "polars": polars.thread_pool_size(),
    "pyarrow": pyarrow.cpu_count(),
    "pyarrow input": pyarrow.io_thread_count(),
    "numba": numba.config.NUMBA_NUM_THREADS,
}))
"""


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("number", [1, 16])
def test_each_pool_has_as_many_workers_as_there_are_threads(number):
    words = [sys.executable, "-c", POOLS, str(number)]
    sizes = json.loads(subprocess.run(words, capture_output=True, check=True, timeout=HANGS_AFTER).stdout)
    assert sizes == dict.fromkeys(sizes, number)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 64),
        ({"own/cpu.max": "max 100000", "cpu.max": "250000 100000"}, 3),
        ({"own/cpu.max": "50000 100000", "cpu.max": "max 100000"}, 1),
        ({"own/cpu.cfs_quota_us": "400000", "own/cpu.cfs_period_us": "100000"}, 4),
        ({"own/cpu.cfs_quota_us": "-1", "own/cpu.cfs_period_us": "100000"}, 64),
    ],
)
def test_quotas_of_all_groups_limit_the_cores(tmp_path, monkeypatch, files, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    (tmp_path / "own").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(f"{text}\n")
    monkeypatch.setattr(machine, "group_folders", lambda _: [tmp_path / "own", tmp_path])
    assert machine.usable_cores.__wrapped__() == expected


def test_quotas_are_read_once(monkeypatch):
    asked = []
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    monkeypatch.setattr(machine, "group_folders", lambda controller: asked.append(controller) or [])
    machine.usable_cores.cache_clear()
    assert machine.threads() == machine.threads()
    machine.usable_cores.cache_clear()
    assert asked == ["cpu"]


@pytest.mark.parametrize(
    ("membership", "names"),
    [
        ("0::/a/b\n", ["a/b", "a", "."]),
        ("0::/\n", ["."]),
        ("5:cpu,cpuacct:/a\n4:memory:/m\n", ["cpu/a", "cpu"]),
        ("4:memory:/m\n", []),
        (None, []),
    ],
)
def test_folders_are_those_of_the_own_group_and_above(tmp_path, monkeypatch, membership, names):
    if membership is not None:
        (tmp_path / "membership").write_text(membership)
    monkeypatch.setattr(machine, "_ROOT", tmp_path)
    monkeypatch.setattr(machine, "_MEMBERSHIP", tmp_path / "membership")
    assert list(machine.group_folders("cpu")) == [tmp_path / name for name in names]


def test_stated_threads_of_polars_are_those_of_all_pools(monkeypatch):
    monkeypatch.setenv("POLARS_MAX_THREADS", "5")
    assert machine.threads() == 5
    monkeypatch.setenv("POLARS_MAX_THREADS", "0")
    assert machine.threads() == machine.usable_cores()
