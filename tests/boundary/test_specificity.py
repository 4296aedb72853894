"""Tests of the boundary of highest recall at a specificity, by brute force."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tests.oracles import boundary as oracle
from tests.properties.strategies import as_cells
from uqcli.base.choices import Algorithm
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.thresholds import boundary_at
from uqcli.boundary.search.typed_constraints import constraint_from


def drawn_table(random, rows):
    """Draw rows of (n, p) cells, some of them empty."""
    return [
        [(int(n), int(random.integers(0, n + 1))) for n in random.integers(0, 6, random.integers(1, 5))]
        for _ in range(rows)
    ]


@pytest.mark.parametrize(("algorithm", "most_rows"), [(Algorithm.VW_DPMT, 3), (Algorithm.ST, 1)])
def test_the_boundary_is_that_of_brute_force_on_2000_tables(algorithm, most_rows):
    random, found = np.random.default_rng(7), 0
    for _ in range(2000):
        table = drawn_table(random, int(random.integers(1, most_rows + 1)))
        bound = Decimal(int(random.integers(0, 21))) / 20  # with few negatives often an exact tie
        cells = as_cells(table)
        expected = oracle.brute_force_specificity(table, Fraction(bound))
        boundary = optimise(cells, algorithm, constraint_from(min_specificity=str(bound))).boundary
        assert (boundary is None) == (expected is None), (table, bound)
        if boundary is not None:
            best = boundary_at(cells, expected)
            assert (boundary.thresholds, boundary.fit) == (best.thresholds, best.fit), (table, bound)
            found += 1
    assert found > 500


@pytest.mark.parametrize("algorithm", [Algorithm.SMOOTH, Algorithm.MIST])
def test_the_boundary_is_that_of_the_false_positive_rate(algorithm):
    random = np.random.default_rng(8)
    for _ in range(50):
        cells, bound = as_cells(drawn_table(random, 3)), Decimal(int(random.integers(0, 21))) / 20
        mirrored = optimise(cells, algorithm, constraint_from(max_fpr=str(1 - bound)))
        found = optimise(cells, algorithm, constraint_from(min_specificity=str(bound)))
        assert (found.boundary is None) == (mirrored.boundary is None)
        assert found.boundary is None or found.boundary.thresholds == mirrored.boundary.thresholds


def test_a_bound_that_is_just_met_is_met():
    cells = as_cells([[(1, 0)] * 70 + [(2, 1)] * 30])
    for flagged in range(1, 31):  # in floating-point numbers, 0.29 * 100 is below 29
        constraint = constraint_from(min_specificity=str(1 - Decimal(flagged) / 100))
        found = optimise(cells, Algorithm.ST, constraint).boundary
        assert (found.fit.selected, found.fit.true_positives) == (2 * flagged, flagged)
