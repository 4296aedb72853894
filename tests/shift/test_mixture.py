"""Tests of the test of label shift: it equals an oracle, and no order of rows has an effect."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import mixture as oracle
from tests.oracles.drift import drift_between_days
from uqcli.shift.mixture import (
    UnitCounts,
    Units,
    hotelling_p_value,
    merged_cells,
    mixture_test,
    quadratic_forms,
    same_shares,
    same_shares_between_units,
    simplex_minimum,
)


def counted(table):
    """Count a table of shape (units, classes, cells)."""
    unit, class_index, cell = np.nonzero(table)
    return UnitCounts(
        unit=unit, class_index=class_index, cell=cell, count=table[unit, class_index, cell], shape=table.shape
    )


def tables(random, classes, days, cells, rows):
    """Draw rows of source and target by day, class and cell; the target is sometimes no mixture."""
    shares = random.dirichlet(np.full(cells, 2.0), classes)
    mixture = random.dirichlet(np.ones(classes)) @ shares
    new = mixture if random.random() < 0.5 else random.dirichlet(np.ones(cells))
    spread = 30.0
    source = np.stack(
        [
            np.stack([random.multinomial(rows, random.dirichlet(spread * f + 0.01)) for f in shares])
            for _ in range(days)
        ]
    )
    target = np.stack([random.multinomial(rows, random.dirichlet(spread * new + 0.01)) for _ in range(days)])
    return source, target


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.sampled_from([2, 3]),
    st.sampled_from([1, 8, 12, 25]),
    st.integers(3, 8),
    st.sampled_from([2, 6, 40]),
)
def test_p_values_are_those_of_the_oracle(seed, classes, days, cells, rows):
    source, target = tables(np.random.default_rng(seed), classes, days, cells, rows)
    for by_unit in (False, True):
        found = mixture_test(counted(source), counted(target[:, None]), by_unit=by_unit)
        expected = oracle.p_value(source, target, by_unit)
        assert (found.p_value is None) == (expected is None)
        assert bool(found.reason) == (found.p_value is None)
        if expected is not None:
            assert found.p_value == pytest.approx(expected, rel=1e-4, abs=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_orders_numbers_and_splits_of_units_have_no_effect(seed, random):
    source, target = tables(np.random.default_rng(seed), 2, 30, 5, 50)
    expected = mixture_test(counted(source), counted(target[:, None]), by_unit=True)
    parts = []
    for table in (source, target[:, None]):
        whole = counted(table)
        some = whole.count // 3
        order = np.array(random.sample(range(2 * len(some)), 2 * len(some)))
        columns = [
            np.concatenate([column, column])[order] for column in (whole.unit, whole.class_index, whole.cell)
        ]
        count = np.concatenate([some, whole.count - some])[order]
        parts.append(
            UnitCounts(
                unit=700_000 - 3 * columns[0],
                class_index=columns[1],
                cell=columns[2],
                count=count,
                shape=whole.shape,
            )
        )
    found = mixture_test(*parts, by_unit=True)
    assert (found.statistic, found.p_value) == (expected.statistic, expected.p_value)


def test_counts_whose_squares_exceed_a_double_are_still_exact():
    source, target = tables(np.random.default_rng(1), 2, 20, 5, 400)
    small = mixture_test(counted(source), counted(target[:, None]), by_unit=True)
    large = mixture_test(counted(source * 40_000), counted(target[:, None] * 40_000), by_unit=True)
    assert large.p_value == pytest.approx(small.p_value, rel=1e-9)
    assert small.units == 20


def test_cells_are_merged_from_the_lowest_up_and_a_rest_joins_the_last():
    assert merged_cells([np.array([4, 1, 5, 4])]).tolist() == [0, 0, 1, 1]
    assert merged_cells([np.array([5, 5, 5]), np.array([0, 5, 9])]).tolist() == [0, 0, 1]
    assert merged_cells([np.array([1, 1])]).tolist() == [0, 0]
    random = np.random.default_rng(2)
    for _ in range(50):
        columns = random.integers(0, 9, (2, 12))
        expected = oracle.merged(columns.tolist())
        groups = [np.flatnonzero(merged_cells(columns) == cell).tolist() for cell in range(len(expected))]
        assert groups == expected


def test_reasons_name_what_is_missing():
    few = np.full((1, 2, 10), 1)
    found = mixture_test(counted(few), counted(np.full((1, 1, 10), 50)), by_unit=False)
    assert found.p_value is None
    assert "2 cells" in found.reason
    days = np.full((6, 2, 5), 9)
    found = mixture_test(counted(days), counted(days[:, :1]), by_unit=True)
    assert found.reason == "6 days or clusters of 8 needed"
    many = mixture_test(counted(np.full((1, 31, 62), 9)), counted(np.full((1, 1, 62), 9)), by_unit=False)
    assert "30 classes" in many.reason
    three = np.full((1, 3, 6), 9)
    three[0, 2] = 3
    assert "18 labelled rows" in mixture_test(counted(three), counted(three[:, :1]), by_unit=False).reason
    assert not mixture_test(counted(few * 9), counted(few[:, :1] * 9), by_unit=False).rejects


def test_a_target_that_is_no_mixture_is_rejected():
    source = np.array([[[90, 60, 40, 10], [10, 30, 60, 100]]])
    target = np.array([[[200, 10, 10, 200]]])
    assert mixture_test(counted(source), counted(target), by_unit=False).rejects
    whole = 3 * source[:, :1] + source[:, 1:]
    assert mixture_test(counted(source), counted(whole), by_unit=False).p_value > 0.9


def test_days_that_vary_in_one_way_only_make_no_distance_infinite():
    source = np.tile(np.array([[[8, 8, 8, 8, 8], [8, 9, 7, 8, 8]]]), (20, 1, 1))
    found = mixture_test(counted(source), counted(source[:, :1]), by_unit=True)
    assert found.p_value is None
    assert "alike" in found.reason


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(2, 5))
def test_minima_on_the_simplex_have_no_better_neighbour(seed, size):
    random = np.random.default_rng(seed)
    root, linear = random.normal(size=(size, size)), 3 * random.normal(size=size)
    hessian = root @ root.T + 0.01 * np.eye(size)
    found = simplex_minimum(hessian, linear, random.dirichlet(np.ones(size)))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    value = found @ hessian @ found / 2 + linear @ found
    for other in random.dirichlet(np.full(size, 0.5), 200):
        assert other @ hessian @ other / 2 + linear @ other >= value - 1e-9


def test_quadratic_forms_of_matrices_that_are_not_definite_are_infinite():
    matrices = np.array([[[1.0, 1.0], [1.0, 1.0]], [[2.0, 1.0], [1.0, 3.0]]])
    found = quadratic_forms(matrices, np.ones((2, 2)))
    assert found[0] == np.inf
    assert found[1] == pytest.approx(np.ones(2) @ np.linalg.solve(matrices[1], np.ones(2)))


def test_the_tail_of_a_distance_between_few_days_is_that_of_hotelling():
    from scipy import stats

    t = 2.1  # one dimension: the square of a t statistic
    assert hotelling_p_value(t**2, 1, 9) == pytest.approx(2 * stats.t.sf(t, 9))


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(9, 30), st.integers(9, 30))
def test_equal_shares_are_tested_as_by_the_oracle(seed, days, new_days):
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(5, 5.0))
    old, new = (
        np.stack([random.multinomial(60, random.dirichlet(20 * shares + 0.5)) for _ in range(number)])
        for number in (days, new_days)
    )
    counts = counted(old[:, None])
    found = same_shares(
        counts.by_class()[0], counts.covariance()[0, 0], Units.of(counts), counted(new[:, None])
    )
    assert found.p_value == pytest.approx(drift_between_days(old, new), rel=1e-9)
    assert found.units == min(days, new_days)


def test_reasons_why_equal_shares_are_not_tested():
    old = counted(np.full((6, 1, 5), 9))
    new = counted(np.full((40, 1, 5), 9))
    rows, covariance = old.by_class()[0], old.covariance()[0, 0]
    assert same_shares(rows, covariance, Units.of(old), new).reason == "6 days or clusters of 9 needed"
    many = Units(number=30, effective=30.0)
    assert "too much alike" in same_shares(rows, covariance, many, new).reason
    uneven = Units(number=30, effective=7.25)
    reason = "30 days or clusters count as 7.25 of 9 needed"
    assert same_shares(rows, covariance, uneven, new).reason == reason
    one = counted(np.tile([[[90, 0, 0, 0, 0]]], (40, 1, 1)))
    assert "no two cells" in same_shares(rows, covariance, many, one).reason


def test_degrees_of_freedom_come_from_the_sizes_of_the_days():
    """One large day among 29 small ones: 30 days that count as 11.8 of equal size."""
    random = np.random.default_rng(4)
    sizes = np.array([400] + [40] * 29)
    tables = [
        np.stack([random.multinomial(size, random.dirichlet([6, 3, 3])) for size in sizes]) for _ in range(2)
    ]
    counts = [counted(table[:, None]) for table in tables]
    effective = 1560**2 / (400**2 + 29 * 40**2)
    assert counts[0].effective == pytest.approx(effective)
    found = same_shares_between_units(*counts)
    assert found.p_value == pytest.approx(drift_between_days(*tables), rel=1e-9)
    rest = effective - 1 - 2 + 1
    from scipy import stats

    expected = stats.f.sf(found.statistic * rest / ((effective - 1) * 2), 2, rest)
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    assert found.units == 30
    few = counted(np.stack([random.multinomial(size, [0.5, 0.25, 0.25]) for size in sizes[:9]])[:, None])
    assert "9 days or clusters count as" in same_shares_between_units(few, few).reason


def test_files_with_one_predicted_class_have_equal_shares():
    one = counted(np.full((12, 1, 1), 9))
    assert same_shares_between_units(one, one).p_value == 1
