"""The grid against row-by-row counting, and its invariances."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import binning as oracle
from tests.properties.strategies import (
    GRIDS,
    ON_CELLS,
    PRECISIONS,
    as_hold_out,
    build_cells,
    data_sets,
    keep,
)
from uqcli.choices import Algorithm, Binning
from uqcli.methods.bin.grid import GridSpec
from uqcli.methods.boundary.decide import decide
from uqcli.methods.boundary.optimum import optimise

SPECS = st.builds(
    GridSpec,
    binning=st.sampled_from(GRIDS),
    uncertainty_bins=st.sampled_from([1, 2, 3, 4, 5, 20]),
    score_bins=st.sampled_from([None, 1, 2, 3, 7, 40]),
)


def equal(one, other):
    return np.array_equal(one.uncertainty_edges, other.uncertainty_edges) and all(
        np.array_equal(a.lower, b.lower)
        and np.array_equal(a.count, b.count)
        and np.array_equal(a.positives, b.positives)
        for a, b in zip(one.rows, other.rows, strict=True)
    )


@settings(max_examples=200)
@given(data_sets(), SPECS)
def test_grid_equals_counting_row_by_row(data, spec):
    cells = build_cells(as_hold_out(data), spec)
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
    assert equal(build_cells(as_hold_out(data), spec), build_cells(as_hold_out(shuffled), spec))


@given(data_sets(), SPECS)
def test_weight_two_is_two_rows(data, spec):
    repeated = [(s, u, y, 1) for s, u, y, w in data for _ in range(w)]
    assert equal(
        build_cells(as_hold_out(data), spec), build_cells(as_hold_out(repeated, weighted=False), spec)
    )


@settings(max_examples=150)
@given(data_sets(), SPECS, PRECISIONS, st.sampled_from(ON_CELLS))
def test_applying_a_boundary_to_its_own_rows_gives_its_own_counts(data, spec, precision, algorithm):
    calibration_set = as_hold_out(data)
    if algorithm is Algorithm.ST or (algorithm is Algorithm.EW_DPMT and spec.score_bins is None):
        spec = GridSpec(binning=spec.binning, uncertainty_bins=1, score_bins=None)
    found = optimise(build_cells(calibration_set, spec), algorithm, keep(precision)).found
    if found is None:
        return
    decided = decide(
        calibration_set.score,
        calibration_set.uncertainty,
        uncertainty_edges=found.uncertainty_edges,
        thresholds=found.thresholds,
    )
    assert int(calibration_set.weight[decided].sum()) == found.fit.selected
    assert int(calibration_set.weight[decided & calibration_set.positive].sum()) == found.fit.true_positives


@given(data_sets(weighted=False), PRECISIONS)
def test_a_monotone_relabelling_of_scores_changes_no_decision(data, precision):
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=2, score_bins=3)
    calibration_set = as_hold_out(data, weighted=False)
    ranks = np.unique(calibration_set.score, return_inverse=True)[1].astype(np.float64)
    relabelled = calibration_set.scored(ranks)
    one = optimise(build_cells(calibration_set, spec), Algorithm.VW_DPMT, keep(precision)).found
    other = optimise(build_cells(relabelled, spec), Algorithm.VW_DPMT, keep(precision)).found
    assert (one is None) == (other is None)
    if one is not None:
        assert one.fit == other.fit
        decided, again = (
            decide(
                rows.score,
                rows.uncertainty,
                uncertainty_edges=found.uncertainty_edges,
                thresholds=found.thresholds,
            )
            for rows, found in ((calibration_set, one), (relabelled, other))
        )
        assert decided.tolist() == again.tolist()
