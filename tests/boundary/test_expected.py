"""Tests of expected metrics on new data, against the oracle on the same draws."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.oracles import expected as oracle
from tests.oracles.boundary import brute_force
from tests.properties.strategies import precision_constraint
from uqcli.base.choices import Algorithm
from uqcli.base.counts import LOWEST, CellRow, Cells
from uqcli.boundary.expected import expected
from uqcli.boundary.search.cross_validation import folds_of, resampled, tried_bins
from uqcli.boundary.search.goals import Margin

LOWER = [LOWEST, 1.0, 2.0, 3.0, 4.0]


@st.composite
def shared_rows(draw, bins, max_count=40):
    """Draw equally long rows of (n, p) cells."""
    cell = st.integers(0, max_count).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
    return draw(st.lists(st.lists(cell, min_size=5, max_size=5), min_size=bins, max_size=bins))


def as_shared(rows):
    table = tuple(
        CellRow(
            lower=np.array(LOWER),
            count=np.array([n for n, _ in row]),
            positives=np.array([p for _, p in row]),
        )
        for row in rows
    )
    return Cells(uncertainty_edges=np.arange(1.0, len(rows)), rows=table)


def as_rows(cells):
    return [list(zip(row.count.tolist(), row.positives.tolist(), strict=True)) for row in cells.rows]


def tables(cells, draws):
    return [as_rows(cells.with_counts(*counts)) for counts in draws.swapaxes(0, 1)]


@given(rows=shared_rows(2), seed=st.integers(0, 99))
def test_smoothed_boundaries_are_corrected_for_optimism(rows, seed):
    cells, bound = as_shared(rows), Fraction(1, 2)
    tops = oracle.smooth_tops(rows, LOWER, bound) if cells.total else None
    estimates = expected(cells, Algorithm.SMOOTH, precision_constraint(bound), seed)
    if tops is None:
        assert estimates is None
        return
    counts, _ = resampled(cells, seed, 50)
    draws = tables(cells, counts)
    chosen = [oracle.smooth_tops(draw, LOWER, bound) for draw in draws]
    if chosen.count(None) > 10:
        assert estimates is None
        return
    assert_close(estimates, *oracle.by_optimism(rows, tops, draws, chosen))


@given(rows=shared_rows(2, max_count=12), seed=st.integers(0, 99))
def test_the_optimum_is_evaluated_on_rows_outside_the_draws(rows, seed):
    cells, bound = as_shared(rows), Fraction(1, 2)
    estimates = expected(cells, Algorithm.VW_DPMT, precision_constraint(bound), seed)
    tops = brute_force(rows, bound)
    if tops is None:
        assert estimates is None
        return
    counts, left_out = resampled(cells, seed, 50)
    chosen = [brute_force(draw, bound) for draw in tables(cells, counts)]
    if estimates is None:
        assume(chosen.count(None) <= 10)
        outside = [
            oracle.true_and_flagged(draw, draw_tops)
            for draw, draw_tops in zip(tables(cells, left_out), chosen, strict=True)
            if draw_tops
        ]
        assert not sum(n for _, n in outside)
        return
    precision, recall = oracle.out_of_bag(rows, tops, tables(cells, left_out), chosen)
    in_draws = zip(tables(cells, counts), chosen, strict=True)
    z = oracle.z_of_choices([oracle.true_and_flagged(draw, taken)[1] for draw, taken in in_draws if taken])
    share, flagged = min(max(precision, 0), 1), oracle.true_and_flagged(rows, tops)[1]
    precision_range = oracle.wilson(share, flagged, z)[0], oracle.wilson(share, flagged)[1]
    assert_close(estimates, (precision, recall), (precision_range, (None, None)))


def assert_close(estimates, expected_values, ranges):
    """Compare the values and ranges; an algorithm may have no range of the recall."""
    found = (estimates.precision, estimates.recall)
    for estimate, value, (low, high) in zip(found, expected_values, ranges, strict=True):
        assert estimate.value == pytest.approx(min(max(value, 0), 1))
        assert (estimate.low is None) == (low is None)
        if low is not None:
            assert [estimate.low, estimate.high] == pytest.approx([low, high], abs=1e-9)


@given(rows=shared_rows(4, max_count=60), seed=st.integers(0, 99))
def test_gains_by_number_of_bins_equal_those_of_the_oracle(rows, seed):
    cells, bound = as_shared(rows), Fraction(2, 5)
    tried = tried_bins(cells, precision_constraint(bound), seed)
    single_tops = brute_force(oracle.joined(rows, 1), bound)
    if single_tops is None or oracle.true_and_flagged(oracle.joined(rows, 1), single_tops)[1] < 100:
        assert tried == ()
        return
    count, positives = folds_of(cells, seed)
    folds = [as_rows(cells.with_counts(n, p)) for n, p in zip(count, positives, strict=True)]
    bounds = [bound + Fraction(step, 20) for step in (-2, -1, 0, 1)]
    for choice in tried:
        gains = []
        for test_index, test_fold in enumerate(folds):
            train_folds = [fold for fold_index, fold in enumerate(folds) if fold_index != test_index]
            train = [
                [tuple(map(sum, zip(*cell, strict=True))) for cell in zip(*fold_rows, strict=True)]
                for fold_rows in zip(*train_folds, strict=True)
            ]
            has_positives = any(p for row in test_fold for _, p in row)
            gains.append(
                oracle.gain(train, test_fold, choice.bins, bounds)
                if choice.bins > 1 and has_positives
                else 0.0
            )
        assert choice.gain == pytest.approx(sum(gains) / 5, abs=1e-12)


def test_folds_add_up_to_all_rows_and_draws_contain_each_row_once_on_average():
    cells = as_shared([[(1000, 300)] * 5] * 2)
    count, positives = folds_of(cells, 0)
    assert count.sum(axis=0).tolist() == cells.flat[0].tolist()
    assert positives.sum(axis=0).tolist() == cells.flat[1].tolist()
    counts, left_out = resampled(cells, 0, 400)
    np.testing.assert_allclose(counts.mean(axis=1), cells.flat, rtol=0.02)
    np.testing.assert_allclose(left_out.mean(axis=1), np.exp(-1) * np.array(cells.flat), rtol=0.02)


@given(
    hits=st.integers(0, 10**9),
    false_alerts=st.integers(0, 10**9),
    target=st.fractions(Fraction(1, 1000), 1, max_denominator=10**6),
    errors=st.sampled_from([Fraction(1), Fraction("1.64"), Fraction(0), Fraction(1, 3)]),
)
def test_margins_are_exact(hits, false_alerts, target, errors):
    selected = hits + false_alerts
    met = Margin(target=target, standard_errors=errors).is_met(np.array([hits]), np.array([selected]))[0]
    surplus = Fraction(hits) - target * selected
    assert met == (surplus >= 0 and surplus**2 >= errors**2 * target * (1 - target) * selected)


def test_a_margin_that_is_just_met_counts_as_met():
    """For precision 7/10 and 2,100 rows, one standard error is exactly 21 true positives."""
    target, rows = Fraction(7, 10), 2100
    required = 1470 + 21
    met = Margin(target=target, standard_errors=Fraction(1)).is_met(
        np.array([required - 1, required]), np.array([rows] * 2)
    )
    assert met.tolist() == [False, True]
