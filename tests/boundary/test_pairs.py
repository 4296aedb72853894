"""Tests of a bound on precision with one on recall, against brute force on small grids."""

from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.boundary import run_counts
from tests.properties.strategies import as_cells, cell_rows
from uqcli.base.choices import Algorithm
from uqcli.boundary.search.constraint import constraint_from
from uqcli.boundary.search.optimum import optimise

BOUNDS = st.sampled_from(["0.2", "0.34", "0.5", "0.7", "0.9", "1"])


@settings(max_examples=2000)
@given(cell_rows(max_rows=3, max_cells=4), BOUNDS, BOUNDS)
def test_both_bounds_equal_brute_force(rows, precision, recall):
    cells, constraint = as_cells(rows), constraint_from(precision=precision, recall=recall)
    found = optimise(cells, Algorithm.VW_DPMT, constraint).boundary
    reached = None
    if found is not None and constraint.leaves_recall(found.fit.true_positives, found.fit.positives):
        reached = found.fit.true_positives
    best = None
    for tops in product(*(run_counts(rows))):
        hits, selected = sum(p for p, _ in tops), sum(n for _, n in tops)
        if not hits or Fraction(hits, selected) < Fraction(precision):
            continue
        if Fraction(hits, cells.positives) >= Fraction(recall):
            best = max(best or 0, hits)
    assert reached == best
