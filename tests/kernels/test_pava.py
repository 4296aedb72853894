"""Tests of isotonic blocks, against the oracle: compiled equals Python, and the cache may fail."""

import os
import shutil
import stat
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from tests.oracles.boundary import isotonic_values
from tests.oracles.pava_bc import blocks as bounded
from uqcli.base import blockwise
from uqcli.base.defaults import SMALL_WORK
from uqcli.kernels import pava
from uqcli.kernels.compile import Kernel

CELLS = st.lists(st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1)


def fitted(cells):
    positives, count = (np.array(column, dtype=np.int64) for column in zip(*cells, strict=True))
    starts = pava.isotonic_blocks(positives, count)
    sizes = np.diff(starts, append=len(count))
    return np.repeat(np.add.reduceat(positives, starts) / np.add.reduceat(count, starts), sizes)


@given(CELLS)
def test_blocks_equal_those_of_the_oracle(cells):
    expected = [float(value) for value in isotonic_values([(n, p) for p, n in cells])]
    assert fitted(cells).tolist() == expected


@given(CELLS)
def test_fit_equals_scipy(cells):
    rates, weights = [p / n for p, n in cells], [n for _, n in cells]
    np.testing.assert_allclose(fitted(cells), isotonic_regression(rates, weights=weights).x, atol=1e-12)


@given(CELLS)
def test_blocks_of_ranges_are_inside_those_of_all(cells):
    expected = fitted(cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pava, "_MAX_SIZE", 3)
        patch.setattr(blockwise, "VALUES_PER_PART", 1)
        assert fitted(cells).tolist() == expected.tolist()


def test_no_cells_give_no_blocks():
    empty = np.empty(0, dtype=np.int64)
    assert len(pava.isotonic_blocks(empty, empty)) == 0


@given(CELLS, st.data())
def test_bounded_blocks_equal_those_of_the_oracle(cells, data):
    positives, count = (np.array(column, dtype=np.int64) for column in zip(*cells, strict=True))
    n_min = data.draw(st.integers(1, int(count.sum())))
    n_max = data.draw(st.integers(n_min, int(count.sum()) + 3))
    starts = pava.bounded_blocks(positives, count, n_min, n_max).tolist()
    expected = bounded(cells, n_min, n_max)
    assert starts == [block[0] for block in expected]
    for block in expected[:-1]:
        assert sum(count[block]) >= n_min


def blocks_of(run):
    random = np.random.default_rng(3)
    count = random.integers(1, 9, 5000)
    positives = random.binomial(count, np.linspace(0.1, 0.9, 5000))
    stacks = [np.zeros(5000, dtype=np.int64) for _ in range(3)]
    blocks = run(positives, count, *stacks)
    return blocks, stacks[0][:blocks].tolist()


def test_compiled_equals_python():
    assert blocks_of(pava.fill_starts.compiled) == blocks_of(pava.fill_starts.python)


@pytest.mark.parametrize("mode", ["compiled", "python"])
def test_sums_of_32_bit_counts_do_not_overflow(mode):
    count = np.full(4, 720_000_000, dtype=np.int32)
    positives = np.array([500_000_000, 400_000_000, 300_000_000, 720_000_000], dtype=np.int32)
    stacks = [np.zeros(4, dtype=np.int64) for _ in range(3)]
    run = getattr(pava.fill_starts, mode)
    counts = (positives, count) if mode == "compiled" else (positives.tolist(), count.tolist())
    assert run(*counts, *stacks) == 2
    assert stacks[2][:2].tolist() == [2_160_000_000, 720_000_000]


def test_repeated_small_work_is_compiled():
    busy, compiled = Kernel(lambda values: values), []
    busy._load = lambda types, may_compile: lambda values: compiled.append(values) or values
    assert [busy.run(SMALL_WORK // 2, step) for step in range(4)] == [0, 1, 2, 3]
    assert compiled == [2, 3]


def test_bounded_compiled_equals_python():
    def bounds(run):
        return lambda positives, count, *stacks: run(positives, count, 40, 900, *stacks)

    assert blocks_of(bounds(pava.fill_bounded_starts.compiled)) == blocks_of(
        bounds(pava.fill_bounded_starts.python)
    )


SCRIPT = """
import numpy as np
from uqcli.kernels import pava
n = 600_000
starts = pava.bounded_blocks(np.arange(n) % 2, np.ones(n, dtype=np.int64), n // 3, n)
print(len(starts))
"""


def run_script(cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def written_cache(tmp_path_factory):
    """Write a cache by a run; tests copy it."""
    cache = tmp_path_factory.mktemp("written") / "cache"
    assert run_script(cache).stdout == "2\n"
    return cache


@pytest.mark.faults
@pytest.mark.parametrize("trouble", ["truncated code", "no place"])
def test_a_damaged_cache_never_breaks_a_run(written_cache, tmp_path, trouble):
    cache = tmp_path / "cache"
    shutil.copytree(written_cache, cache)
    files = list(cache.glob("*.kernel"))
    assert files, "the kernel was not cached"
    if trouble == "no place":
        cache = "/proc/nowhere"
    else:
        for path in files:
            path.write_bytes(path.read_bytes()[:20])
            path.chmod(stat.S_IRUSR)
    outcome = run_script(cache)
    assert (outcome.stdout, outcome.stderr) == ("2\n", "")
