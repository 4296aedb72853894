"""Tests of blockwise operations: few values are worked on at once, with the results of blocks in threads."""

import numpy as np
import pytest

from uqcli.base import blockwise
from uqcli.base.counts import pool
from uqcli.base.running import concurrency
from uqcli.tce.measure import measure
from uqcli.tce.options import MeasureOptions
from uqcli.tce.part_tests import Statistics


def results_of(size):
    random = np.random.default_rng(size)
    values, counts = random.standard_normal(size), random.integers(0, 9, size)
    slices = blockwise.parts(size, 100)
    return (
        blockwise.each_slice(lambda part: float(values[part].sum()), slices),
        blockwise.sums_by_part(lambda part: (values[part], values[part] ** 2), size),
        blockwise.total(counts),
        blockwise.part_sums(values),
        blockwise.elementwise(np.exp, values).tolist(),
    )


@pytest.mark.parametrize("size", [0, 1, 7, 999, 1000])
def test_few_values_give_the_same_as_blocks(size, monkeypatch):
    few = results_of(size)
    monkeypatch.setattr(blockwise, "FEW_VALUES", -1)
    assert results_of(size) == few


def test_few_values_start_no_thread(monkeypatch):
    def started(_):
        raise AssertionError("a thread")

    monkeypatch.setattr(concurrency, "pool_of", started)
    monkeypatch.setattr(concurrency.Threads, "submit", started)
    results_of(1000)
    random = np.random.default_rng(0)
    score = random.random(200)
    counts = pool(score, random.random(200) < score)
    measure(counts, MeasureOptions())
    Statistics.of(counts)
