"""Tests of the cells within which labelled rows stand for all: the oracle, jumps, tests of the share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import labelled_share as oracle
from tests.oracles.formulas.calibration import change_p
from uqcli.evaluate.labelled_part import score_cells


def cells_of(score, has_label):
    values, inverse = np.unique(score, return_inverse=True)
    rows, labelled = (np.bincount(inverse, weights).astype(np.int64) for weights in (None, has_label))
    return score_cells(values, rows, labelled)


@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.sampled_from([1, 30, 150, 400]),
    digits=st.sampled_from([1, 2, 6]),
    low=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_cells_are_those_of_the_oracle(seed, size, digits, low):
    random = np.random.default_rng(seed)
    score = random.random(size).round(digits)
    has_label = random.random(size) < np.where(score >= random.random(), 1.0, low)
    cells = cells_of(score, has_label)
    rows = list(zip(score.tolist(), has_label.tolist(), strict=True))
    assert [cell.first for cell in cells] == oracle.cells(rows)
    ends = [*(cell.first for cell in cells[1:]), np.inf]
    for cell, end in zip(cells, ends, strict=True):
        inside = (score >= cell.first) & (score < end)
        assert (cell.rows, cell.labelled) == (inside.sum(), has_label[inside].sum())


@pytest.mark.parametrize("share", [0.02, 0.15, 0.6])
def test_a_jump_is_found_at_its_score(share):
    random = np.random.default_rng(1)
    score = random.random(20_000)
    cut = np.sort(score)[17_321]
    has_label = (score >= cut) | (random.random(20_000) < share)
    cells = cells_of(score, has_label)
    assert cut in [cell.first for cell in cells]
    assert min(cell.change_p for cell in cells) > 0.01 / len(cells)


def test_a_share_that_jumps_where_nothing_can_be_split_shows_in_the_halves():
    """Nobody labels rows below a score, so that they share a cell with others."""
    score = np.arange(2000) / 2000
    has_label = score >= 0.7
    doubtful = [cell for cell in cells_of(score, has_label) if cell.change_p < 1e-6]
    assert [cell.halves_differ for cell in doubtful] == [True]
    assert not any(cell.halves_differ for cell in cells_of(score, np.arange(2000) % 2 == 0))


@pytest.mark.parametrize(("low", "differ"), [(10, False), (9, True)])
def test_halves_differ_by_more_than_a_factor_of_two(low, differ):
    """Of 40 rows in each half, 20 have a label above, and a half of them or fewer below."""
    for labelled in ([low, 20], [20, low]):
        (cell,) = score_cells(np.array([0.2, 0.8]), np.array([40, 40]), np.array(labelled))
        assert cell.halves_differ == differ


@pytest.mark.parametrize("labelled", [[2, 3, 4, 4, 5, 6], [1, 4, 4, 4, 4, 4], [4, 4, 4, 4, 4, 4]])
def test_the_p_value_of_a_change_is_twice_that_of_a_trend_or_a_jump(labelled):
    rows = np.full(6, 8)
    (cell,) = score_cells(np.arange(6) / 6, rows, np.array(labelled))
    assert cell.change_p == pytest.approx(change_p([8] * 6, labelled), rel=1e-9)
