"""What to expect on new rows: as by hand from the same draws."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.oracles import expected as oracle
from tests.oracles.boundary import brute_force
from tests.properties.strategies import keep
from uqcli.choices import Algorithm
from uqcli.counts import LOWEST, CellRow, Cells
from uqcli.methods.boundary.bins import tried_bins
from uqcli.methods.boundary.draws_of_cells import folds_of, resampled
from uqcli.methods.boundary.expected import expected
from uqcli.methods.boundary.precision import Margin

LOWER = [LOWEST, 1.0, 2.0, 3.0, 4.0]


@st.composite
def shared_rows(draw, bins, most=40):
    """Rows of (n, p) cells of one length."""
    cell = st.integers(0, most).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
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


def tables(cells, drawn):
    return [as_rows(cells.with_counts(*each)) for each in drawn.swapaxes(0, 1)]


@given(rows=shared_rows(2), seed=st.integers(0, 99))
def test_smoothed_boundaries_lose_what_draws_flatter_them_by(rows, seed):
    cells, bound = as_shared(rows), Fraction(1, 2)
    tops = oracle.smooth_tops(rows, LOWER, bound) if cells.total else None
    found = expected(cells, Algorithm.SMOOTH, keep(bound), seed)
    if tops is None:
        assert found is None
        return
    taken, _ = resampled(cells, seed, 50)
    draws = tables(cells, taken)
    chosen = [oracle.smooth_tops(draw, LOWER, bound) for draw in draws]
    if chosen.count(None) > 10:
        assert found is None
        return
    by_hand = oracle.by_optimism(rows, tops, draws, chosen)
    close(found, by_hand, oracle.found(rows, tops)[1], cells.positives)


@given(rows=shared_rows(2, most=12), seed=st.integers(0, 99))
def test_the_optimum_is_judged_by_rows_outside_the_draws(rows, seed):
    cells, bound = as_shared(rows), Fraction(1, 2)
    found = expected(cells, Algorithm.VW_DPMT, keep(bound), seed)
    tops = brute_force(rows, bound)
    if tops is None:
        assert found is None
        return
    taken, left = resampled(cells, seed, 50)
    chosen = [brute_force(draw, bound) for draw in tables(cells, taken)]
    if found is None:
        assume(chosen.count(None) <= 10)
        outside = [
            oracle.found(each, own) for each, own in zip(tables(cells, left), chosen, strict=True) if own
        ]
        assert not sum(n for _, n in outside)
        return
    by_hand = oracle.outside(rows, tops, tables(cells, left), chosen)
    close(found, by_hand, oracle.found(rows, tops)[1], None)


def close(found, by_hand, selected, positives):
    """The same values, with ranges where there are alerts enough and a number of positives."""
    for estimate, value, trials in zip(
        (found.precision, found.recall), by_hand, (selected, positives), strict=True
    ):
        assert estimate.value == pytest.approx(min(max(value, 0), 1))
        if selected < 30 or trials is None:
            assert estimate.low is estimate.high is None
            continue
        assert [estimate.low, estimate.high] == pytest.approx(oracle.wilson(value, trials), abs=1e-9)


@given(rows=shared_rows(4, most=60), seed=st.integers(0, 99))
def test_bins_are_tried_as_by_hand(rows, seed):
    cells, bound = as_shared(rows), Fraction(2, 5)
    tried = tried_bins(cells, keep(bound), seed)
    alone = brute_force(oracle.joined(rows, 1), bound)
    if alone is None or oracle.found(oracle.joined(rows, 1), alone)[1] < 100:
        assert tried == ()
        return
    count, positives = folds_of(cells, seed)
    folds = [as_rows(cells.with_counts(n, p)) for n, p in zip(count, positives, strict=True)]
    bounds = [bound + Fraction(each, 20) for each in (-2, -1, 0, 1)]
    for each in tried:
        gains = []
        for at, held in enumerate(folds):
            others = [fold for number, fold in enumerate(folds) if number != at]
            train = [
                [tuple(map(sum, zip(*cell, strict=True))) for cell in zip(*lines, strict=True)]
                for lines in zip(*others, strict=True)
            ]
            there = any(p for row in held for _, p in row)
            gains.append(oracle.gain(train, held, each.bins, bounds) if each.bins > 1 and there else 0.0)
        assert each.gain == pytest.approx(sum(gains) / 5, abs=1e-12)


def test_thinned_rows_are_all_rows_and_resampled_ones_come_once_on_average():
    cells = as_shared([[(1000, 300)] * 5] * 2)
    count, positives = folds_of(cells, 0)
    assert count.sum(axis=0).tolist() == cells.flat[0].tolist()
    assert positives.sum(axis=0).tolist() == cells.flat[1].tolist()
    taken, left = resampled(cells, 0, 400)
    np.testing.assert_allclose(taken.mean(axis=1), cells.flat, rtol=0.02)
    np.testing.assert_allclose(left.mean(axis=1), np.exp(-1) * np.array(cells.flat), rtol=0.02)


@given(
    hits=st.integers(0, 10**9),
    more=st.integers(0, 10**9),
    target=st.fractions(Fraction(1, 1000), 1, max_denominator=10**6),
    errors=st.sampled_from([Fraction(1), Fraction("1.64"), Fraction(0), Fraction(1, 3)]),
)
def test_margins_are_exact(hits, more, target, errors):
    selected = hits + more
    kept = Margin(target=target, errors=errors).kept(np.array([hits]), np.array([selected]))[0]
    surplus = Fraction(hits) - target * selected
    assert kept == (surplus >= 0 and surplus**2 >= errors**2 * target * (1 - target) * selected)


def test_a_margin_that_is_just_met_is_kept():
    """70 + 1 standard error of exactly 21/10 * 10: precision 7/10, 2,100 rows."""
    target, rows = Fraction(7, 10), 2100
    just = 1470 + 21
    kept = Margin(target=target, errors=Fraction(1)).kept(np.array([just - 1, just]), np.array([rows] * 2))
    assert kept.tolist() == [False, True]
