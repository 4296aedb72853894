"""Tests of certificates: the exact tests, the end of the test sequence, thresholds on the pilot's edges."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc

from tests.oracles.certificate import last_certified
from tests.properties.strategies import as_cells, cell_rows
from uqcli.base.counts import LOWEST, CellRow, Cells
from uqcli.boundary.certificate import Certified, Certifier, NotCertified, least_rates
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.estimates.confusion import Rate

BOUNDS = [
    {"precision": "0.3"},
    {"precision": "0.8"},
    {"recall": "0.3"},
    {"recall": "0.9"},
    {"max_fpr": "0.1"},
    {"max_fpr": "0.5"},
    {"max_omission": "0.1"},
    {"max_omission": "0.6"},
    {"precision": "0.4", "recall": "0.5"},
    {"precision": "0.2", "recall": "0.8"},
    {"max_fpr": "0.5", "recall": "0.3"},
    {"precision": "0.4", "max_fpr": "0.4", "min_specificity": "0.5", "recall": "0.2"},
]


def with_counts(cells, counts):
    """Make cells of other counts with the same edges."""
    rows = tuple(
        CellRow(lower=row.lower, count=np.array(n), positives=np.array(p))
        for row, (n, p) in zip(cells.rows, counts, strict=True)
    )
    return Cells(uncertainty_edges=cells.uncertainty_edges, rows=rows)


def certify(pilot, test, delta, **bounds):
    """Certify bounds as typed."""
    return Certifier.from_cells(pilot, test).certify(least_rates(constraint_from(**bounds)), delta)


@given(
    cell_rows(max_rows=2, max_cells=5, max_count=8),
    st.data(),
    st.sampled_from(BOUNDS),
    st.sampled_from([0.05, 0.2, 0.5]),
)
def test_the_certified_boundary_is_that_of_a_loop_over_exact_tests(rows, data, bounds, delta):
    pilot = as_cells(rows)
    counts = []
    for row in rows:
        n = [data.draw(st.integers(0, 20)) for _ in row]
        counts.append((n, [data.draw(st.integers(0, rows_of_cell)) for rows_of_cell in n]))
    test = with_counts(pilot, counts)
    nested = nested_boundaries(pilot)
    taken = pilot.flat[0][nested.order]
    expected = [
        (hits, selected)
        for hits, selected in zip(
            np.cumsum(taken * nested.rate).tolist(), nested.selected.tolist(), strict=True
        )
    ]
    tested = list(zip(*(column.tolist() for column in nested.counts_of(test)), strict=True))
    typed = [(name, Fraction(value)) for name, value in bounds.items()]
    outcome = last_certified(typed, Fraction(delta), expected, tested)
    certificate = certify(pilot, test, delta, **bounds)
    if outcome is None:
        assert isinstance(certificate, NotCertified)
        return
    last, p_value = outcome
    assert certificate.cells == last + 1
    assert (certificate.tested.true_positives, certificate.tested.selected) == tested[last]
    assert (certificate.tested.rows, certificate.tested.positives) == (test.total, test.positives)
    assert certificate.p_value <= delta
    np.testing.assert_allclose(certificate.p_value, float(p_value), rtol=1e-9)
    edges = [{None, LOWEST, *row.lower.tolist()} for row in pilot.rows]
    assert all(threshold in row for threshold, row in zip(certificate.thresholds, edges, strict=True))


def test_a_sharp_separation_is_certified_and_noise_is_not():
    pilot = as_cells([[(50, 1)] * 8 + [(50, 48)] * 2])
    good = with_counts(pilot, [([200] * 10, [4] * 8 + [190] * 2)])
    certificate = certify(pilot, good, 0.05, precision="0.9")
    assert isinstance(certificate, Certified)
    assert certificate.thresholds == (8.0,)
    tested = certificate.tested
    assert (tested.rows, tested.selected, tested.true_positives) == (2000, 400, 380)
    noise = with_counts(pilot, [([200] * 10, [100] * 10)])
    failed = certify(pilot, noise, 0.05, precision="0.9")
    assert isinstance(failed, NotCertified)
    assert failed.p_value == pytest.approx(1)
    assert failed.rows_needed is None


def test_recall_ends_at_the_strictest_and_false_positives_at_the_loosest_certified_boundary():
    pilot = as_cells([[(50, 1)] * 8 + [(50, 48)] * 2])
    test = with_counts(pilot, [([200] * 10, [4] * 8 + [190] * 2)])
    assert certify(pilot, test, 0.05, recall="0.85").thresholds == (8.0,)
    assert certify(pilot, test, 0.05, recall="0.95").thresholds == (3.0,)
    assert certify(pilot, test, 0.05, max_fpr="0.05").thresholds == (8.0,)
    assert certify(pilot, test, 0.05, precision="0.9", recall="0.85").thresholds == (8.0,)
    assert isinstance(certify(pilot, test, 0.05, precision="0.9", recall="0.95"), NotCertified)


def test_precision_and_recall_end_at_the_loosest_certified_boundary():
    pilot = as_cells([[(50, 1)] * 2 + [(50, 48)] * 8])
    test = with_counts(pilot, [([200] * 10, [4] * 2 + [196] * 8)])
    # the last cell would leave a precision of 1576 / 2000
    assert certify(pilot, test, 0.05, precision="0.8", recall="0.3").thresholds == (1.0,)


def test_what_is_dropped_ends_at_the_last_certified_boundary_that_still_flags_positives():
    pilot = as_cells([[(50, 1)] * 8 + [(50, 48)] * 2])
    test = with_counts(pilot, [([200] * 10, [4] * 8 + [190] * 2)])
    assert certify(pilot, test, 0.05, max_omission="0.05").thresholds == (8.0,)
    assert certify(pilot, test, 0.05, max_omission="0.3").thresholds == (9.0,)
    assert isinstance(certify(pilot, test, 0.05, max_omission="0.01"), NotCertified)
    assert not certify(pilot, test, 0.05, max_omission="0").provable


def test_zones_meet_where_both_were_tested():
    """Where the precision would reach further down than the cleared rows were tested, it stops there."""
    pilot = as_cells([[(50, 1)] * 5 + [(50, 45)] * 5])
    test = with_counts(pilot, [([200] * 10, [4] * 5 + [180] * 5)])
    certifier = Certifier.from_cells(pilot, test)
    omitted = [(Rate.NPV, Fraction(9, 10))]
    precise = [(Rate.PRECISION, Fraction(1, 3))]
    start = certifier.start(omitted)
    assert certifier.certify(precise, 0.05).cells > start + 1
    flagged = certifier.certify(precise, 0.05, at_most=start + 1)
    cleared = certifier.certify(omitted, 0.05, at_least=flagged.cells)
    assert flagged.cells == cleared.cells == start + 1


def test_a_review_never_ends_above_the_flagged_zone():
    pilot = as_cells([[(50, 1)] * 8 + [(50, 48)] * 2])
    test = with_counts(pilot, [([200] * 10, [4] * 8 + [190] * 2)])
    caught = [(Rate.RECALL, Fraction(1, 10))]
    certifier = Certifier.from_cells(pilot, test)
    alone = certifier.certify(caught, 0.05)
    below = certifier.certify(caught, 0.05, at_least=2)
    assert (alone.cells, below.cells) == (1, 2)
    assert below.p_value < alone.p_value
    assert (below.tested.true_positives, below.tested.selected) == (380, 400)


def test_a_near_miss_reports_about_how_many_rows_it_needs():
    def pilot_and_test(factor):
        pilot = as_cells([[(50, 1)] * 8 + [(50, 40), (50, 45)]])
        positives = [2 * factor] * 8 + [80 * factor, 90 * factor]
        return pilot, with_counts(pilot, [([100 * factor] * 10, positives)])

    pilot, test = pilot_and_test(1)
    failed = certify(pilot, test, 0.001, precision="0.8")
    assert isinstance(failed, NotCertified)
    assert pilot.total + test.total < failed.rows_needed < 5 * (pilot.total + test.total)
    factor = failed.rows_needed // (pilot.total + test.total) + 1
    assert isinstance(certify(*pilot_and_test(factor), 0.001, precision="0.8"), Certified)


def test_more_rows_are_needed_than_there_are_even_if_the_rate_is_perfect():
    pilot = as_cells([[(50, 1)] * 8 + [(50, 48)] * 2])
    test = with_counts(pilot, [([0] * 8 + [20] * 2, [0] * 8 + [20] * 2)])
    failed = certify(pilot, test, 0.1, recall="0.95")
    assert failed.p_value == pytest.approx(0.95**40)
    assert failed.rows_needed == oracle_of_rows(pilot.total + test.total, 40, 0.95, 0.1)


def oracle_of_rows(size, perfect, minimum, delta):
    """Try one number of rows after the other, with the rate (n+1)/(n+2)."""
    rows, rate = size, (perfect + 1) / (perfect + 2)
    while betainc(rows / size * perfect * rate, rows / size * perfect * (1 - rate) + 1, minimum) > delta:
        rows += 1
    return math.ceil(rows / 10 ** (len(str(rows)) - 2)) * 10 ** (len(str(rows)) - 2)


def test_an_estimate_of_rows_rests_on_at_least_30_alerts():
    pilot = as_cells([[(50, 1)] * 8 + [(50, 48)] * 2])
    few = with_counts(pilot, [([0] * 8 + [14] * 2, [0] * 8 + [14] * 2)])
    assert certify(pilot, few, 0.1, precision="0.95").rows_needed is None
    assert certify(pilot, few, 0.1, recall="0.95").rows_needed is None


@given(st.integers(0, 10**6), st.sampled_from(["precision", "recall", "max_fpr"]))
def test_a_stricter_bound_never_needs_fewer_rows(seed, kind):
    """Whichever boundary the sequence starts with, and none is never followed by a number."""
    random = np.random.default_rng(seed)
    rates = np.sort(random.random(10))
    counts = random.integers(0, 60, 10)
    pilot = as_cells([[(int(n), int(random.binomial(n, p))) for n, p in zip(counts + 5, rates, strict=True)]])
    test = with_counts(pilot, [(list(counts * 4), random.binomial(counts * 4, rates).tolist())])
    levels = np.linspace(0.05, 0.995, 40)
    certifier = Certifier.from_cells(pilot, test)
    rate = Rate.SPECIFICITY if kind == "max_fpr" else Rate(kind)
    needed = [
        certifier.rows_needed([(rate, Fraction(level).limit_denominator(10**6))], 0.1) for level in levels
    ]
    sizes = [math.inf if rows is None else rows for rows in needed]
    assert sizes == sorted(sizes)
    assert all(float(f"{rows:.1e}") == rows for rows in needed if rows is not None)


@pytest.mark.parametrize("bounds", [{"precision": "1"}, {"recall": "1"}, {"max_fpr": "0"}])
def test_no_number_of_rows_shows_a_rate_of_one(bounds):
    pilot = as_cells([[(50, 1), (50, 50)]])
    failed = certify(pilot, pilot, 0.1, **bounds)
    assert isinstance(failed, NotCertified)
    assert not failed.provable


def test_a_boundary_that_flags_no_positive_is_not_certified():
    pilot = as_cells([[(50, 1), (50, 40)]])
    nothing = with_counts(pilot, [([500, 0], [100, 0])])
    failed = certify(pilot, nothing, 0.1, max_fpr="0.05")
    assert isinstance(failed, NotCertified)
    assert failed.p_value == pytest.approx(1)
