"""Tests of the comparison of new rows with a reference: oracles and properties."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from tests.oracles import drift as oracle
from uqcli.estimates.proportion import flagged_interval
from uqcli.watch.unlabelled import homogeneity, population_stability

LEVELS = st.sampled_from([0.5, 0.9, 0.95, 0.999])
COUNTS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None)
@given(fit_rows=st.integers(0, 40), new_rows=st.integers(0, 40), share=st.floats(0, 1), level=LEVELS)
def test_the_interval_has_the_numbers_that_no_tail_rejects(fit_rows, new_rows, share, level):
    fit_selected = round(share * fit_rows)
    expected = oracle.flagged_interval(fit_selected, fit_rows, new_rows, level)
    assert flagged_interval(fit_selected, fit_rows, new_rows, level) == expected


@settings(max_examples=60, deadline=None)
@given(fit_rows=st.integers(1, 30), new_rows=st.integers(1, 30), share=st.floats(0, 1), level=LEVELS)
def test_the_interval_covers_at_its_level_for_any_share(fit_rows, new_rows, share, level):
    def interval(selected):
        return flagged_interval(selected, fit_rows, new_rows, level)

    assert oracle.coverage(share, fit_rows, new_rows, interval) >= level - 1e-12


@settings(max_examples=60, deadline=None)
@given(fit_rows=st.integers(1, 10**7), new_rows=st.integers(1, 10**7), share=st.floats(0, 1), level=LEVELS)
def test_large_samples_keep_the_order_of_intervals(fit_rows, new_rows, share, level):
    selected = round(share * fit_rows)
    low, high = flagged_interval(selected, fit_rows, new_rows, level)
    assert 0 <= low <= high <= new_rows
    cleared = flagged_interval(fit_rows - selected, fit_rows, new_rows, level)
    assert cleared == (new_rows - high, new_rows - low)
    wider = flagged_interval(selected, fit_rows, new_rows, 0.9999)
    assert wider[0] <= low
    assert high <= wider[1]
    if selected < fit_rows:
        more = flagged_interval(selected + 1, fit_rows, new_rows, level)
        assert low <= more[0]
        assert high <= more[1]


def test_large_intervals_are_normal():
    low, high = flagged_interval(3 * 10**8, 10**9, 10**9, 0.999)
    half = 3.2905 * np.sqrt(10**9 * 0.3 * 0.7 * 2)
    assert low == pytest.approx(3e8 - half, abs=half / 1000)
    assert high == pytest.approx(3e8 + half, abs=half / 1000)


@given(cells=COUNTS)
@example(cells=[(1, 0), (5, 7)])  # a cell with a single row
def test_the_index_and_the_statistic_are_those_by_hand(cells):
    reference, new = (np.array(column, dtype=np.int64) for column in zip(*cells, strict=True))
    found = homogeneity(reference, new)
    if not reference.sum() or not new.sum():
        assert found[2] is None
        return
    index, without_drift = population_stability(reference, new)
    assert index == pytest.approx(oracle.population_stability(*zip(*cells, strict=True)), abs=1e-12)
    assert index >= 0
    mean = oracle.stability_without_drift(*zip(*cells, strict=True))
    assert without_drift == pytest.approx(mean, rel=0.02, abs=1e-9)
    statistic, degrees = oracle.pearson(*zip(*cells, strict=True))
    assert found[1] == degrees
    assert found[0] == pytest.approx(statistic, abs=1e-9)
    if degrees:
        assert found[2] == pytest.approx(chi2.sf(statistic, degrees), abs=1e-9)
    assert homogeneity(new, reference)[0] == pytest.approx(found[0], abs=1e-9)
    assert population_stability(new, reference)[0] == pytest.approx(index, abs=1e-12)


def test_equal_shares_do_not_differ_at_any_size():
    reference = np.array([[10**15, 2 * 10**15], [0, 10**15]])
    assert homogeneity(reference, reference // 10**3) == (0.0, 2, 1.0)
    assert population_stability(reference, reference)[0] == 0.0


def test_one_cell_cannot_differ():
    one = np.array([7, 0])
    assert homogeneity(one, one)[2] is None
    assert population_stability(one, one)[0] == 0.0


@pytest.mark.parametrize(("rows", "new_rows", "cells"), [(10**4, 10**4, 10), (10**5, 10**4, 40)])
def test_the_mean_index_of_large_samples_is_that_of_chi_squared(rows, new_rows, cells):
    reference, new = (np.full(cells, size // cells) for size in (rows, new_rows))
    expected = (cells - 1) * (1 / rows + 1 / new_rows)
    assert population_stability(reference, new)[1] == pytest.approx(expected, rel=0.03)
