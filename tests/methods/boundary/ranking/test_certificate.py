"""Tests of certificates: the exact test, the end of the test sequence, thresholds on the pilot's edges."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import as_cells, cell_rows
from uqcli.counts import LOWEST, CellRow, Cells
from uqcli.methods.boundary.ranking.certificate import Certified, NotCertified, certify
from uqcli.methods.boundary.ranking.smoothing import nested_boundaries


def binomial_tail(trials, successes, share):
    """Return P(Bin(trials, share) >= successes) as a fraction."""
    return sum(comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(successes, trials + 1))


def with_counts(cells, counts):
    """Make cells of other counts with the same edges."""
    rows = tuple(
        CellRow(lower=row.lower, count=np.array(n), positives=np.array(p))
        for row, (n, p) in zip(cells.rows, counts, strict=True)
    )
    return Cells(uncertainty_edges=cells.uncertainty_edges, rows=rows)


@given(cell_rows(max_rows=2, max_cells=5, max_count=8), st.data(), st.sampled_from(["0.3", "0.5", "0.8"]))
def test_the_certified_boundary_passes_the_exact_test_and_the_next_fails(rows, data, bound):
    pilot = as_cells(rows)
    counts = []
    for row in rows:
        n = [data.draw(st.integers(0, 20)) for _ in row]
        counts.append((n, [data.draw(st.integers(0, rows_of_cell)) for rows_of_cell in n]))
    test, share, delta = with_counts(pilot, counts), Fraction(bound), 0.2
    certificate = certify(pilot, test, share, delta)
    if isinstance(certificate, NotCertified):
        return
    assert certificate.p_value <= delta
    np.testing.assert_allclose(
        certificate.p_value,
        float(binomial_tail(certificate.selected, certificate.true_positives, share)),
        rtol=1e-9,
    )
    nested = nested_boundaries(pilot)
    hits, selected = nested.counts_of(test)
    last = max(np.flatnonzero((hits == certificate.true_positives) & (selected == certificate.selected)))
    if last + 1 < len(hits):
        assert binomial_tail(int(selected[last + 1]), int(hits[last + 1]), share) > delta
    edges = [{None, LOWEST, *row.lower.tolist()} for row in pilot.rows]
    assert all(threshold in row for threshold, row in zip(certificate.thresholds, edges, strict=True))


def test_a_sharp_separation_is_certified_and_noise_is_not():
    pilot = as_cells([[(50, 1)] * 8 + [(50, 48)] * 2])
    good = with_counts(pilot, [([200] * 10, [4] * 8 + [190] * 2)])
    certificate = certify(pilot, good, Fraction(9, 10), 0.05)
    assert isinstance(certificate, Certified)
    assert certificate.thresholds == (8.0,)
    assert (certificate.tested, certificate.selected, certificate.true_positives) == (2000, 400, 380)
    noise = with_counts(pilot, [([200] * 10, [100] * 10)])
    failed = certify(pilot, noise, Fraction(9, 10), 0.05)
    assert isinstance(failed, NotCertified)
    assert failed.p_value == pytest.approx(1)
    assert failed.rows_needed is None


def test_a_near_miss_reports_about_how_many_rows_it_needs():
    pilot = as_cells([[(50, 1)] * 8 + [(50, 42)] * 2])
    test = with_counts(pilot, [([100] * 10, [2] * 8 + [83] * 2)])
    failed = certify(pilot, test, Fraction(8, 10), 0.01)
    assert isinstance(failed, NotCertified)
    assert pilot.total + test.total < failed.rows_needed < 30 * (pilot.total + test.total)
    factor = failed.rows_needed // (pilot.total + test.total) + 1
    larger = with_counts(pilot, [([100 * factor] * 10, [2 * factor] * 8 + [83 * factor] * 2)])
    assert isinstance(certify(pilot, larger, Fraction(8, 10), 0.01), Certified)


def test_a_precision_of_one_is_never_certified():
    pilot = as_cells([[(50, 1), (50, 50)]])
    assert isinstance(certify(pilot, pilot, Fraction(1), 0.1), NotCertified)
