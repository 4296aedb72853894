"""Tests of ECE@j of isotonic fits, against sums row by row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import binning as bins
from tests.oracles.boundary import isotonic_values
from tests.oracles.isotonic_blocks import isotonic_counts
from tests.properties.strategies import as_rows, data_sets
from uqcli.base.choices import Binning
from uqcli.base.counts import merge
from uqcli.bin.grid import GridSpec, cells_from, pool_by, uncertainty_edges_of
from uqcli.bin.isotonic_error import cumulative, isotonic_errors


def isotonic_fit(rows):
    """Fit the positive rate by score to (score, positive) rows."""
    scores = sorted({s for s, _ in rows})
    values = [(sum(s == v for s, _ in rows), sum(s == v and y for s, y in rows)) for v in scores]
    return dict(zip(scores, map(float, isotonic_values(values)), strict=True))


def oracle(rows, k, score_bins, fit_in_each_bin):
    """Return ECE@j of (score, uncertainty, positive) rows."""
    edges = bins.equi_weight_edges([u for _, u, _ in rows], k) if k > 1 else []
    fitted_everywhere = isotonic_fit([(s, y) for s, _, y in rows])
    errors = [[] for _ in range(score_bins)]
    for bin_index in range(k):
        inside = [(s, y) for s, u, y in rows if bins.bin_of(u, edges) == bin_index]
        if not inside:
            continue
        fitted = isotonic_fit(inside) if fit_in_each_bin else fitted_everywhere
        score_edges = bins.equi_weight_edges([s for s, _ in inside], score_bins)
        for j in range(score_bins):
            cell = [(s, y) for s, y in inside if bins.bin_of(s, score_edges) == j]
            if cell:
                errors[j].append(abs(sum(fitted[s] - y for s, y in cell)) / len(cell))
    return [np.mean(cell_errors) if cell_errors else np.nan for cell_errors in errors]


@given(data_sets(), st.integers(1, 3), st.integers(1, 4))
def test_errors_by_score_bin_equal_those_of_the_oracle(data, k, score_bins):
    rows = bins.expand(data)
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=k, score_bins=score_bins)
    calibration_set = as_rows(data)
    edges = uncertainty_edges_of(calibration_set, spec)
    parts = pool_by(calibration_set, edges)
    blocks = [isotonic_counts(part) for part in (*parts, merge(parts))]
    for fit_in_each_bin, error in enumerate(isotonic_errors(parts, blocks, cells_from(edges, parts, spec))):
        expected = np.array(oracle(rows, k, score_bins, fit_in_each_bin))
        np.testing.assert_allclose(error, expected, atol=1e-12)
        for j in range(score_bins):
            later = expected[j:][~np.isnan(expected[j:])]
            np.testing.assert_allclose(
                cumulative(error)[j], later.mean() if len(later) else np.nan, atol=1e-12
            )
