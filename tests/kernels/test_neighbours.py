"""Tests of weighted sums over neighbours: as array functions, compiled and as Python, in one order."""

import numpy as np
import pytest

from uqcli.kernels import neighbours
from uqcli.kernels.neighbours import add_neighbours, weighted_sums


def one_by_one(weight, amounts, position):
    """Add in the order of the module: even and odd positions apart, blocks of eight from their end."""
    size = len(amounts)
    whole = size - size % 8
    order = [8 * block + step for block in range(whole // 8) for step in (6, 4, 2, 0, 7, 5, 3, 1)]
    sums = [0.0, 0.0]
    for other in [*order, *range(whole, size)]:
        sums[other % 2] += float(weight[size - 1 - position + other]) * float(amounts[other])
    return sums[0] + sums[1]


@pytest.mark.parametrize("form", ["python", "arrays", "matrices", "compiled"])
@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 15, 16, 37])
def test_sums_are_those_of_loops_to_the_last_bit(form, size, monkeypatch):
    random = np.random.default_rng(size)
    weights, amounts = random.random((2, 2 * size - 1)), random.normal(size=(3, size))
    which, sums = np.array([1, 0, 1]), np.empty((3, size))
    if form == "matrices":  # as where numpy adds in another order
        monkeypatch.setattr(neighbours, "_einsum_is_alike", lambda: False)
        form = "arrays"
    getattr(add_neighbours, form)(weights, which, amounts, sums, np.empty((2, size)))
    assert sums.tolist() == [
        [one_by_one(weights[kind], table, position) for position in range(size)]
        for kind, table in zip(which, amounts, strict=True)
    ]


def test_weights_are_by_distance_and_shared_by_the_rows_of_a_table():
    weights = np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 1.0, 0.0, 0.0]])
    amounts = np.array([[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[5.0, 6.0, 7.0], [0.0, 1.0, 0.0]]])
    sums = weighted_sums(weights, np.array([0, 1]), amounts)
    assert sums.tolist() == [[[2.0, 1.0, 0.0], [4.0, 3.0, 2.0]], [[5.0, 6.0, 7.0], [0.0, 1.0, 0.0]]]
