"""Tests of cross-validated gains and of permutations, against the oracle and with no signal in the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import permutation as oracle
from uqcli.base.counts import LOWEST, CellRow, Cells, no_amounts
from uqcli.base.defaults import FOLDS
from uqcli.boundary import permutation
from uqcli.boundary.permutation import CrossValidatedGrid, Curve, ValueGain, gain_of
from uqcli.boundary.search.typed_constraints import constraint_from

LENGTH = 8


def gain_of_cells(cells, bound, seed, **options):
    """Test the uncertainty of a grid, whose rows are split into folds."""
    return gain_of(CrossValidatedGrid.from_cells(cells, seed), bound, seed, **options)


def as_shared(count, positives):
    """Make cells with shared edges from arrays of shape (bins, length)."""
    lower = np.concatenate([[LOWEST], np.arange(1.0, count.shape[1])])
    rows = tuple(CellRow(lower=lower, count=n, positives=p) for n, p in zip(count, positives, strict=True))
    return Cells(uncertainty_edges=np.arange(1.0, len(count)), rows=rows)


def cells_of(seed, size, informative, bins=2, length=50):
    """Draw cells of rows with an informative or uninformative uncertainty."""
    random = np.random.default_rng(seed)
    score, uncertainty_bin = random.integers(0, length, size), random.integers(0, bins, size)
    positive = random.random(size) < np.clip(
        score / length * (1.2 - 0.7 * informative * uncertainty_bin), 0, 1
    )
    cell = uncertainty_bin * length + score
    count, positives = (
        np.bincount(cell_of_row, minlength=bins * length).reshape(bins, length)
        for cell_of_row in (cell, cell[positive])
    )
    return as_shared(count, positives)


@st.composite
def few_rows(draw):
    """Draw cells of a few rows, some of them positive."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = random.integers(0, draw(st.sampled_from([2, 4, 30])), (draw(st.integers(2, 3)), LENGTH))
    positives = random.binomial(count, 0.4)
    count[0, draw(st.integers(0, LENGTH - 1))] += 1
    positives[count > positives] += random.random(int((count > positives).sum())) < 0.2
    return as_shared(count, positives)


def folds_by_hand(grid, count, positives):
    shape = FOLDS, len(grid.cells.rows), -1
    folds_of_counts = zip(count.reshape(shape).tolist(), positives.reshape(shape).tolist(), strict=True)
    return [
        [list(zip(n, p, strict=True)) for n, p in zip(counts, hits, strict=True)]
        for counts, hits in folds_of_counts
    ]


@settings(max_examples=30, deadline=None)
@given(few_rows(), st.integers(1, 50))
def test_shares_and_gains_equal_those_of_the_oracle(cells, alerts):
    grid = CrossValidatedGrid.from_cells(cells, 0)
    if not cells.positives:
        return
    (gained,) = grid.gained(grid.count[None], grid.positives[None], alerts)
    folds = folds_by_hand(grid, grid.count, grid.positives)
    shares = grid.shares.reshape(FOLDS, len(cells.rows), -1).tolist()
    lower = cells.rows[0].lower.tolist()
    for fold_shares, expected_shares in zip(shares, oracle.cross_validated_shares(folds, lower), strict=True):
        for row_shares, expected_row_shares in zip(fold_shares, expected_shares, strict=True):
            for share, (low, high) in zip(row_shares, expected_row_shares, strict=True):
                assert float(low) - 1e-12 <= share <= float(high) + 1e-12
    # six sums of integers in doubles, exact to 16 digits each, against fractions
    assert gained == pytest.approx(float(oracle.gain(shares, folds, alerts)), abs=1e-12)


@given(few_rows(), st.integers(0, 99))
def test_permutations_keep_folds_scores_labels_and_blocks(cells, seed):
    grid = CrossValidatedGrid.from_cells(cells, 0)
    bins = len(cells.rows)
    count, positives = grid.permutations(3, np.random.default_rng(seed))
    shape = 3, FOLDS, bins, LENGTH
    originals = [array.reshape(1, *shape[1:]) for array in (grid.count, grid.positives)]
    permuted_counts = [array.reshape(shape) for array in (count, positives)]
    for permuted, original in zip(permuted_counts, originals, strict=True):
        assert (permuted >= 0).all()
        assert (permuted.sum(axis=2) == original.sum(axis=2)).all()  # every fold's scores and labels
    assert (permuted_counts[0] >= permuted_counts[1]).all()
    block = permutation._blocks(originals[0].sum(axis=(0, 1, 2)))
    for block_index in np.unique(block):
        rows_by_bin = [
            array[..., block == block_index].sum(axis=(1, 3)) for array in (permuted_counts[0], originals[0])
        ]
        assert (rows_by_bin[0] == rows_by_bin[1]).all()  # uncertainties are only exchanged


def test_blocks_have_enough_rows_and_permutations_move_rows_between_bins():
    assert permutation._blocks(np.array([5, 10, 5, 30, 19, 1, 4])).tolist() == [0, 0, 0, 1, 2, 2, 2]
    grid = CrossValidatedGrid.from_cells(cells_of(1, 500, True), 0)
    count, _ = grid.permutations(20, np.random.default_rng(0))
    mean = count.mean(axis=0).sum(axis=0)
    expected = grid.cells.joined(1).rows[0].count / 2
    np.testing.assert_allclose(mean, np.tile(expected, 2), atol=6)
    assert (count != grid.count).any()


def test_draws_from_billions_are_near_the_hypergeometric_distribution():
    good, bad, sample = (np.full(2000, value) for value in (3 * 10**9, 10**9, 10**6))
    drawn = permutation._draw_sample(good, bad, sample, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(750_000, abs=40)
    assert drawn.std() == pytest.approx((10**6 * 0.75 * 0.25) ** 0.5, rel=0.05)


def test_alerts_at_a_bound_are_those_of_the_single_threshold():
    curve = Curve.summed(np.array([2, 1, 3, 4]), np.array([2, 0, 2, 0]), no_amounts(4))
    assert curve.alerts_at(constraint_from(precision="0.6")) == 3
    assert curve.recall(constraint_from(precision="0.6")) == 1
    assert curve.recall(constraint_from(precision="0.9")) == 0.5
    assert curve.alerts_at(constraint_from(max_selected="1")) is None


@pytest.mark.parametrize("informative", [True, False])
def test_the_permutation_test_is_significant_exactly_for_informative_uncertainty(informative):
    gain = gain_of_cells(cells_of(1, 3000, informative), constraint_from(precision="0.6"), 0)
    assert (gain.p_value == 0.01) == informative
    assert (gain.equal_alerts.value - gain.placebo > 0.01) == informative
    assert gain.equal_alerts.low <= gain.equal_alerts.value <= gain.equal_alerts.high
    assert gain.at_bound.low <= gain.at_bound.high


def test_the_same_seed_gives_the_same_gain():
    cells, bound = cells_of(1, 300, True), constraint_from(precision="0.6")
    assert gain_of_cells(cells, bound, 0, permutations=9) == gain_of_cells(cells, bound, 0, permutations=9)
    assert gain_of_cells(cells, bound, 0, permutations=9) != gain_of_cells(cells, bound, 1, permutations=9)


def test_both_p_values_count_the_observed_gain():
    count = np.array([[5, 9, 7, 12, 20], [0, 0, 0, 0, 0]])
    gain = gain_of_cells(as_shared(count, count // 2), constraint_from(precision="0.3"), 0, permutations=19)
    assert (gain.p_value, gain.p_hurts) == (1, 1)  # no uncertainties can be exchanged
    gain = gain_of_cells(cells_of(3, 200, False), constraint_from(precision="0.5"), 0, permutations=19)
    assert gain.p_value + gain.p_hurts >= 1.05 - 1e-12


def test_gains_under_a_utility_are_also_given_in_its_unit():
    cells = cells_of(1, 1000, True)
    gain = gain_of_cells(cells, constraint_from(gain="10", cost="2.5"), 0, permutations=1)
    value_of_full_recall = 12.5 * cells.positives
    for value_gain, recall_gain in (
        (gain.value_equal_alerts.value, gain.equal_alerts.value),
        (gain.value_equal_alerts.low, gain.equal_alerts.low),
    ):
        assert value_gain == pytest.approx(value_of_full_recall * recall_gain)
    grid = CrossValidatedGrid.from_cells(cells, 0)
    best = [
        max(10 * t - 2.5 * (n - t) for t, n in zip(c.hits.tolist(), c.alerts.tolist(), strict=True))
        for c in (grid.by_rank, grid.by_score)
    ]
    assert gain.value.value == pytest.approx(best[0] - best[1])
    assert gain.value.low <= gain.value.value <= gain.value.high
    of_bound = gain_of_cells(cells, constraint_from(precision="0.6"), 0, permutations=1)
    assert not isinstance(of_bound, ValueGain)


def test_there_is_no_test_if_the_single_threshold_misses_the_bound():
    count = np.array([[5, 9], [5, 9]])
    assert gain_of_cells(as_shared(count, count // 2), constraint_from(precision="1"), 0) is None


@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_few_rows_have_a_result(size):
    count = np.zeros((2, 7), dtype=np.int64)
    count[0, :size] = 1
    positives = np.zeros_like(count)
    positives[0, size - 1] = 1
    gain = gain_of_cells(as_shared(count, positives), constraint_from(precision="0.5"), 0)
    assert gain.p_value == 1
    assert np.isfinite([gain.equal_alerts.low, gain.equal_alerts.high, gain.placebo]).all()
