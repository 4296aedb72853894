"""Tests of the review zone, against brute force on small grids."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import zones as oracle
from tests.properties.strategies import (
    PRECISIONS,
    as_cells,
    as_rows,
    build_cells,
    cell_rows,
    data_sets,
    precision_constraint,
)
from uqcli.base.choices import Algorithm, Binning, ReviewKind
from uqcli.base.errors import UsageError
from uqcli.bin.grid import GridSpec
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.boundary.search.thresholds import boundary_at
from uqcli.boundary.search.zones import cells_below, review_limit, with_review

REVIEWS = st.one_of(st.integers(1, 40).map(str), st.sampled_from(["5%", "20%", "33.3%", "100%"]))
MISSES = st.sampled_from(["0", "0.05", "0.2", "0.34", "0.5", "1"])


def zone_of(cells, precision, algorithm, limit):
    boundary = optimise(cells, algorithm, precision_constraint(precision)).boundary
    if boundary is None:
        return None, None
    options = {"review": None, "miss": None, **dict([limit])}
    return boundary, with_review(boundary, cells, review_limit(**options), algorithm)


LIMITS = st.one_of(st.tuples(st.just("review"), REVIEWS), st.tuples(st.just("miss"), MISSES))


@settings(max_examples=2000)
@given(cell_rows(), PRECISIONS, LIMITS)
def test_review_equals_brute_force(rows, precision, limit):
    cells = as_cells(rows)
    boundary, zone = zone_of(cells, precision, Algorithm.VW_DPMT, limit)
    if boundary is None:
        return
    below = oracle.below(rows, [top_of(cells, boundary, row) for row in range(len(rows))])
    kind, value = limit
    if kind == "review":
        tops = oracle.most_caught(below, oracle.budget(value, cells.total))
    else:
        tops = oracle.fewest_reviewed(below, cells.positives, boundary.fit.true_positives, value)
    assert_same(cells, boundary, zone, tops)


def top_of(cells, boundary, row):
    """Count the cells that a boundary takes in a row."""
    return len(cells.rows[row].count) - len(cells_below(cells, boundary.thresholds).rows[row].count)


def assert_same(cells, boundary, zone, tops):
    expected = boundary_at(cells_below(cells, boundary.thresholds), tops)
    assert zone.review_thresholds == expected.thresholds
    assert zone.fit.zones == (
        expected.fit.selected,
        boundary.fit.true_positives + expected.fit.true_positives,
    )


GRID = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=2, score_bins=None)


@settings(max_examples=500)
@given(data_sets(), PRECISIONS, LIMITS)
def test_zones_of_rows_equal_brute_force_over_all_thresholds(data, precision, limit):
    """Every score is a cell: the zones are found by trying all pairs of thresholds of the rows themselves."""
    cells = build_cells(as_rows(data), GRID)
    boundary, zone = zone_of(cells, precision, Algorithm.VW_DPMT, limit)
    if boundary is None:
        return
    rows = oracle.binned(data, boundary.uncertainty_edges.tolist())
    expected = oracle.best_review(rows, boundary.thresholds, *limit)
    reviewed, caught = zone.fit.zones
    thresholds = tuple(
        None if low is None else min(score for score, _, _ in bin_ if score >= low)  # was moved below a score
        for bin_, low in zip(rows, zone.review_thresholds, strict=True)
    )
    assert (thresholds, reviewed, caught - boundary.fit.true_positives) == expected


@settings(max_examples=200)
@given(
    data_sets(),
    PRECISIONS,
    st.sampled_from([("review", "20%"), ("review", "3"), ("miss", "0.2"), ("miss", "0")]),
)
def test_smoothed_review_takes_the_next_cells_in_order(data, precision, limit):
    spec = GridSpec(binning=Binning.SHARED, uncertainty_bins=2, score_bins=6)
    cells = build_cells(as_rows(data), spec)
    boundary, zone = zone_of(cells, precision, Algorithm.SMOOTH, limit)
    if boundary is None:
        return
    expected = oracle.next_in_order(
        [(row.count.tolist(), row.positives.tolist()) for row in cells.rows],
        [
            (row.count.tolist(), row.positives.tolist())
            for row in cells_below(cells, boundary.thresholds).rows
        ],
        nested_boundaries(cells).order.tolist(),
        cells.positives - boundary.fit.true_positives,
        limit[0],
        oracle.limits(limit, cells.total, cells.positives),
    )
    assert_same(cells, boundary, zone, expected)


@settings(max_examples=200)
@given(data_sets(), PRECISIONS, st.sampled_from([Algorithm.VW_DPMT, Algorithm.SMOOTH]), LIMITS)
def test_limits_hold_and_review_stays_below_the_boundary(data, precision, algorithm, limit):
    spec = GridSpec(binning=Binning.SHARED, uncertainty_bins=2, score_bins=6)
    cells = build_cells(as_rows(data), spec)
    boundary, zone = zone_of(cells, precision, algorithm, limit)
    if boundary is None:
        return
    budget, missed = oracle.limits(limit, cells.total, cells.positives)
    reviewed, caught = zone.fit.zones
    assert reviewed <= budget
    assert cells.positives - caught <= missed
    pairs = zip(boundary.thresholds, zone.review_thresholds, strict=True)
    assert all(review is None or flag is None or review < flag for flag, review in pairs)


@pytest.mark.parametrize(
    "options",
    [
        {"review": "0", "miss": None},
        {"review": "2.5", "miss": None},
        {"review": "101%", "miss": None},
        {"review": None, "miss": "1.1"},
        {"review": "5%", "miss": "0.1"},
        {"review": "x", "miss": None},
    ],
)
def test_impossible_limits_are_refused(options):
    with pytest.raises(UsageError):
        review_limit(**options)


def test_a_share_is_rounded_down_exactly():
    assert review_limit(review="29%", miss=None).budget(100) == 29
    assert review_limit(review=None, miss="0.29").most_missed(100) == 29
    assert review_limit(review="5%", miss=None).kind is ReviewKind.REVIEW
    assert np.isclose(float(review_limit(review="5%", miss=None).number), 0.05)
