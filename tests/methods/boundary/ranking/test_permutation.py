"""Gains on folds held out and their placebos: as by hand, and where there is nothing to find."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import permutation as oracle
from uqcli.counts import LOWEST, CellRow, Cells
from uqcli.defaults import FOLDS
from uqcli.methods.boundary.constraint import constraint_from
from uqcli.methods.boundary.ranking import permutation
from uqcli.methods.boundary.ranking.permutation import CrossValidatedGrid, Curve, gain_of

LENGTH = 8


def as_shared(count, positives):
    """Cells under shared edges; arrays of shape (bins, length)."""
    lower = np.concatenate([[LOWEST], np.arange(1.0, count.shape[1])])
    rows = tuple(CellRow(lower=lower, count=n, positives=p) for n, p in zip(count, positives, strict=True))
    return Cells(uncertainty_edges=np.arange(1.0, len(count)), rows=rows)


def drawn(seed, size, tells, bins=2, length=50):
    """Cells of rows whose uncertainty tells something or nothing."""
    random = np.random.default_rng(seed)
    score, level = random.integers(0, length, size), random.integers(0, bins, size)
    positive = random.random(size) < np.clip(score / length * (1.2 - 0.7 * tells * level), 0, 1)
    place = level * length + score
    count, positives = (
        np.bincount(each, minlength=bins * length).reshape(bins, length) for each in (place, place[positive])
    )
    return as_shared(count, positives)


@st.composite
def few_rows(draw):
    """Cells of a few rows, some of them positive."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = random.integers(0, draw(st.sampled_from([2, 4, 30])), (draw(st.integers(2, 3)), LENGTH))
    positives = random.binomial(count, 0.4)
    count[0, draw(st.integers(0, LENGTH - 1))] += 1
    positives[count > positives] += random.random(int((count > positives).sum())) < 0.2
    return as_shared(count, positives)


def folds_by_hand(rows, count, positives):
    shape = FOLDS, len(rows.cells.rows), -1
    pairs = zip(count.reshape(shape).tolist(), positives.reshape(shape).tolist(), strict=True)
    return [
        [list(zip(n, p, strict=True)) for n, p in zip(counts, hits, strict=True)] for counts, hits in pairs
    ]


@settings(max_examples=30, deadline=None)
@given(few_rows(), st.integers(1, 50))
def test_gains_are_those_by_hand(cells, alerts):
    rows = CrossValidatedGrid.of(cells, 0)
    if not cells.positives:
        return
    (gained,) = rows.gained(rows.count[None], rows.positives[None], alerts)
    folds = folds_by_hand(rows, rows.count, rows.positives)
    shares = rows.shares.reshape(FOLDS, len(cells.rows), -1).tolist()
    lower = cells.rows[0].lower.tolist()
    for ours, theirs in zip(shares, oracle.held_out_shares(folds, lower), strict=True):
        for line, other in zip(ours, theirs, strict=True):
            for share, (least, most) in zip(line, other, strict=True):
                assert float(least) - 1e-12 <= share <= float(most) + 1e-12
    # six sums of whole numbers in doubles, each exact to 16 digits, against fractions
    assert gained == pytest.approx(float(oracle.gain(shares, folds, alerts)), abs=1e-12)


@given(few_rows(), st.integers(0, 99))
def test_placebos_keep_folds_scores_labels_and_what_stands_in_a_block(cells, seed):
    rows = CrossValidatedGrid.of(cells, 0)
    bins = len(cells.rows)
    count, positives = rows.permutations(3, np.random.default_rng(seed))
    shape = 3, FOLDS, bins, LENGTH
    own = [each.reshape(1, *shape[1:]) for each in (rows.count, rows.positives)]
    both = [each.reshape(shape) for each in (count, positives)]
    for one, other in zip(both, own, strict=True):
        assert (one >= 0).all()
        assert (one.sum(axis=2) == other.sum(axis=2)).all()  # every fold's scores and labels
    assert (both[0] >= both[1]).all()
    block = permutation._blocks(own[0].sum(axis=(0, 1, 2)))
    for number in np.unique(block):
        inside = [each[..., block == number].sum(axis=(1, 3)) for each in (both[0], own[0])]
        assert (inside[0] == inside[1]).all()  # uncertainties are exchanged, none is made


def test_blocks_hold_as_many_rows_as_asked_and_placebos_move_them():
    assert permutation._blocks(np.array([5, 10, 5, 30, 19, 1, 4])).tolist() == [0, 0, 0, 1, 2, 2, 2]
    rows = CrossValidatedGrid.of(drawn(1, 500, True), 0)
    count, _ = rows.permutations(20, np.random.default_rng(0))
    mean = count.mean(axis=0).sum(axis=0)
    alike = rows.cells.joined(1).rows[0].count / 2
    np.testing.assert_allclose(mean, np.tile(alike, 2), atol=6)
    assert (count != rows.count).any()


def test_draws_from_billions_are_near_the_law():
    good, bad, sample = (np.full(2000, each) for each in (3 * 10**9, 10**9, 10**6))
    found = permutation._draw_sample(good, bad, sample, np.random.default_rng(0))
    assert found.mean() == pytest.approx(750_000, abs=40)
    assert found.std() == pytest.approx((10**6 * 0.75 * 0.25) ** 0.5, rel=0.05)


def test_alerts_at_a_bound_are_those_of_the_single_threshold():
    curve = Curve.summed(np.array([2, 1, 3, 4]), np.array([2, 0, 2, 0]))
    assert curve.alerts_at(constraint_from(precision="0.6")) == 3
    assert curve.recall(constraint_from(precision="0.6")) == 1
    assert curve.recall(constraint_from(precision="0.9")) == 0.5
    assert curve.alerts_at(constraint_from(max_selected="1")) is None


@pytest.mark.parametrize("tells", [True, False])
def test_what_the_uncertainty_tells_is_found_beside_its_placebos(tells):
    found = gain_of(drawn(1, 3000, tells), constraint_from(precision="0.6"), 0)
    assert (found.p_value == 0.01) == tells
    assert (found.equal_alerts.value - found.placebo > 0.01) == tells
    assert found.equal_alerts.low <= found.equal_alerts.value <= found.equal_alerts.high
    assert found.at_bound.low <= found.at_bound.high


def test_the_same_seed_gives_the_same_gain():
    cells, bound = drawn(1, 300, True), constraint_from(precision="0.6")
    assert gain_of(cells, bound, 0, permutations=9) == gain_of(cells, bound, 0, permutations=9)
    assert gain_of(cells, bound, 0, permutations=9) != gain_of(cells, bound, 1, permutations=9)


def test_both_p_values_count_the_rows_themselves():
    count = np.array([[5, 9, 7, 12, 20], [0, 0, 0, 0, 0]])
    found = gain_of(as_shared(count, count // 2), constraint_from(precision="0.3"), 0, permutations=19)
    assert (found.p_value, found.p_hurts) == (1, 1)  # there is nothing to exchange
    found = gain_of(drawn(3, 200, False), constraint_from(precision="0.5"), 0, permutations=19)
    assert found.p_value + found.p_hurts >= 1.05 - 1e-12


def test_under_a_utility_gains_are_in_its_unit_too():
    cells = drawn(1, 1000, True)
    found = gain_of(cells, constraint_from(gain="10", cost="2.5"), 0, permutations=1)
    hits = 12.5 * cells.positives
    for of_value, of_recall in (
        (found.value_equal_alerts.value, found.equal_alerts.value),
        (found.value_equal_alerts.low, found.equal_alerts.low),
    ):
        assert of_value == pytest.approx(hits * of_recall)
    rows = CrossValidatedGrid.of(cells, 0)
    best = [
        max(10 * t - 2.5 * (n - t) for t, n in zip(c.hits.tolist(), c.alerts.tolist(), strict=True))
        for c in (rows.by_rank, rows.by_score)
    ]
    assert found.value.value == pytest.approx(best[0] - best[1])
    assert found.value.low <= found.value.value <= found.value.high
    assert gain_of(cells, constraint_from(precision="0.6"), 0, permutations=1).value is None


def test_nothing_is_tested_where_the_score_alone_will_not_do():
    count = np.array([[5, 9], [5, 9]])
    assert gain_of(as_shared(count, count // 2), constraint_from(precision="1"), 0) is None


@pytest.mark.parametrize("size", [1, 2, 7])
def test_few_rows_have_an_answer(size):
    count = np.zeros((2, 7), dtype=np.int64)
    count[0, :size] = 1
    positives = np.zeros_like(count)
    positives[0, size - 1] = 1
    found = gain_of(as_shared(count, positives), constraint_from(precision="0.5"), 0)
    assert found.p_value == 1
    assert np.isfinite([found.equal_alerts.low, found.equal_alerts.high, found.placebo]).all()
