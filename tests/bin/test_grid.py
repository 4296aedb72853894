"""Tests of grids: cells equal counts made row by row, and depend on neither row order nor repetition."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import binning as oracle
from tests.properties.strategies import (
    GRIDS,
    ON_CELLS,
    PRECISIONS,
    as_rows,
    build_cells,
    data_sets,
    precision_constraint,
)
from uqcli.base.choices import Algorithm, Binning
from uqcli.bin.grid import GridSpec, cells_from, cells_of_each, pool_by
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.thresholds import decide

SPECS = st.builds(
    GridSpec,
    binning=st.sampled_from(GRIDS),
    uncertainty_bins=st.sampled_from([1, 2, 3, 4, 5, 20]),
    score_bins=st.sampled_from([None, 1, 2, 3, 7, 40]),
)


def same_cells(first, second):
    return np.array_equal(first.uncertainty_edges, second.uncertainty_edges) and all(
        np.array_equal(first_row.lower, second_row.lower)
        and np.array_equal(first_row.count, second_row.count)
        and np.array_equal(first_row.positives, second_row.positives)
        for first_row, second_row in zip(first.rows, second.rows, strict=True)
    )


@settings(max_examples=200)
@given(data_sets(), SPECS)
def test_grid_equals_counting_row_by_row(data, spec):
    cells = build_cells(as_rows(data), spec)
    score_bins = "all" if spec.score_bins is None else spec.score_bins
    u_edges, rows = oracle.grid(data, str(spec.binning), spec.uncertainty_bins, score_bins)
    assert cells.uncertainty_edges.tolist() == u_edges
    for row, (edges, counts) in zip(cells.rows, rows, strict=True):
        assert list(zip(row.count.tolist(), row.positives.tolist(), strict=True)) == counts
        expected_lower = edges[1:] if spec.score_bins is None else edges
        assert row.lower[1:].tolist() == expected_lower


@given(data_sets(), SPECS, st.randoms(use_true_random=False))
def test_row_order_does_not_matter(data, spec, random):
    shuffled = random.sample(data, len(data))
    assert same_cells(build_cells(as_rows(data), spec), build_cells(as_rows(shuffled), spec))


@given(data_sets(), SPECS)
def test_a_row_of_weight_two_counts_as_two_rows(data, spec):
    repeated = [(s, u, y, 1) for s, u, y, w in data for _ in range(w)]
    assert same_cells(build_cells(as_rows(data), spec), build_cells(as_rows(repeated, weighted=False), spec))


@settings(max_examples=150)
@given(data_sets(), SPECS, PRECISIONS, st.sampled_from(ON_CELLS))
def test_decisions_on_the_calibration_set_match_the_fitted_counts(data, spec, precision, algorithm):
    calibration_set = as_rows(data)
    if algorithm is Algorithm.ST or (algorithm is Algorithm.EW_DPMT and spec.score_bins is None):
        spec = GridSpec(binning=spec.binning, uncertainty_bins=1, score_bins=None)
    boundary = optimise(
        build_cells(calibration_set, spec), algorithm, precision_constraint(precision)
    ).boundary
    if boundary is None:
        return
    decided = decide(
        calibration_set.score,
        calibration_set.uncertainty,
        uncertainty_edges=boundary.uncertainty_edges,
        thresholds=boundary.thresholds,
    )
    assert int(calibration_set.weight[decided].sum()) == boundary.fit.selected
    assert (
        int(calibration_set.weight[decided & calibration_set.positive].sum()) == boundary.fit.true_positives
    )


@given(data_sets(weighted=False), PRECISIONS)
def test_a_monotone_relabelling_of_scores_changes_no_decision(data, precision):
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=2, score_bins=3)
    calibration_set = as_rows(data, weighted=False)
    ranks = np.unique(calibration_set.score, return_inverse=True)[1].astype(np.float64)
    relabelled = calibration_set.scored(ranks)
    boundary = optimise(
        build_cells(calibration_set, spec), Algorithm.VW_DPMT, precision_constraint(precision)
    ).boundary
    relabelled_boundary = optimise(
        build_cells(relabelled, spec), Algorithm.VW_DPMT, precision_constraint(precision)
    ).boundary
    assert (boundary is None) == (relabelled_boundary is None)
    if boundary is not None:
        assert boundary.fit == relabelled_boundary.fit
        decisions, decisions_on_ranks = (
            decide(
                rows.score,
                rows.uncertainty,
                uncertainty_edges=rule.uncertainty_edges,
                thresholds=rule.thresholds,
            )
            for rows, rule in ((calibration_set, boundary), (relabelled, relabelled_boundary))
        )
        assert decisions.tolist() == decisions_on_ranks.tolist()


def with_amounts(counts, random):
    """Add sums of two amounts to counts: over all rows, and over positive rows."""
    amount = random.integers(0, 9, (2, len(counts.value)))
    return replace(
        counts, sums=tuple(np.stack([each * counts.count, each * counts.positives]) for each in amount)
    )


@settings(max_examples=200)
@given(st.lists(data_sets(), min_size=1, max_size=5), SPECS, st.booleans(), st.integers(0, 99))
def test_cells_of_several_parts_are_those_of_each(parts, spec, has_amounts, seed):
    spec, random = replace(spec, uncertainty_bins=1), np.random.default_rng(seed)
    counts = [part for data in parts for part in pool_by(as_rows(data), np.empty(0))]
    if has_amounts:
        counts = [with_amounts(part, random) for part in counts]
    for part, cells in zip(counts, cells_of_each(counts, spec), strict=True):
        (expected,), (row,) = cells_from(np.empty(0), [part], spec).rows, cells.rows
        for name, column in vars(expected).items():
            assert np.array_equal(column, getattr(row, name)), name
