"""Tests of numbers by first occurrence and of sums by unit: as Python, as array functions and compiled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.kernels.units import (
    Numbering,
    UnitTable,
    count_columns,
    count_places,
    dense_ranks,
    find_extremes,
    first_rows,
    number_values,
    signed_ranges,
    sort_in_units,
    sorted_in_units,
)

RUNS = pytest.mark.parametrize("form", ["python", "arrays", "compiled"])
FAR = st.sampled_from([-(2**63), -1, 0, 1, 2**40, 2**63 - 1])
BATCHES = st.lists(st.lists(FAR | st.integers(-5, 5), max_size=20), max_size=4)


@RUNS
@given(
    values=st.lists(st.integers(-9, 9), max_size=30),
    slots=st.sampled_from([64, 128]),
    start=st.integers(0, 3),
)
def test_values_are_numbered_by_first_occurrence(form, values, slots, start):
    value = np.array(values, dtype=np.int64)
    table, numbers = np.zeros(slots, dtype=np.int64), np.full(slots, -1, dtype=np.int32)
    number, row = np.zeros(len(value), dtype=np.int32), np.zeros(len(value), dtype=np.int64)
    slot = value % 3 + slots - 3  # few, so that values meet, and the last, after which the first comes
    new = getattr(number_values, form)(value, slot, table, numbers, number, row, start)
    distinct = list(dict.fromkeys(values))
    assert new == len(distinct)
    assert number.tolist() == [start + distinct.index(value) for value in values]
    assert row[:new].tolist() == [values.index(value) for value in distinct]
    assert table[numbers >= 0].tolist() == [distinct[index - start] for index in numbers[numbers >= 0]]


@given(batches=BATCHES)
def test_numbers_stay_from_batch_to_batch(batches):
    numbering, known = Numbering(), {}
    for batch in batches:
        before = len(known)
        expected = [known.setdefault(value, len(known)) for value in batch]
        number, rows = numbering.of(np.array(batch, dtype=np.int64))
        assert number.tolist() == expected
        assert [batch[row] for row in rows] == list(known)[before:]
    assert (len(numbering), numbering.values.tolist()) == (len(known), list(known))


def test_a_table_grows_with_its_values():
    numbering = Numbering()
    value = np.arange(5000) * 2**50
    for part in np.split(value, 50):
        numbering.of(part)
    assert numbering.values.tolist() == value.tolist()
    assert numbering.of(value)[0].tolist() == list(range(5000))


@given(values=st.lists(FAR | st.integers(-5, 5), max_size=30), wide=st.booleans())
def test_dense_ranks_are_those_of_a_sort(values, wide):
    values = [value >> (not wide) * 40 for value in values]
    distinct, rank = dense_ranks(np.array(values, dtype=np.int64))
    assert distinct.tolist() == sorted(set(values))
    assert rank.tolist() == [sorted(set(values)).index(value) for value in values]
    assert {distinct.dtype, rank.dtype} == {np.dtype(np.int64)}


@pytest.mark.parametrize("step", [1, 3, 2**40])
def test_dense_ranks_of_many_rows_are_those_of_numpy(step):
    values = np.random.default_rng(2).permutation(600_000) // 7 * step - 10**6
    for found, right in zip(dense_ranks(values), np.unique(values, return_inverse=True), strict=True):
        np.testing.assert_array_equal(found, right)


@given(places=st.lists(st.integers(0, 6), max_size=20))
def test_first_rows_are_those_of_a_loop(places):
    expected = [row for row, place in enumerate(places) if place not in places[:row]]
    assert first_rows(np.array(places, dtype=np.int64), np.full(7, 9, dtype=np.int32)).tolist() == expected


@RUNS
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@given(rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=30))
def test_rows_are_counted_by_unit_and_column(form, dtype, rows):
    unit, column = np.array(rows).T
    sums = np.arange(15)
    getattr(count_columns, form)(unit.astype(dtype), column, 3, sums)
    assert sums.tolist() == [place + rows.count(divmod(place, 3)) for place in range(15)]


@given(
    batches=st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(0, 2**61)), max_size=9)
    )
)
def test_sums_by_unit_are_exact(batches):
    counts, table, expected = UnitTable(), UnitTable(), np.zeros((10, 6), dtype=object)
    for batch in batches:
        unit, column, number = (
            (np.array(values, dtype=np.int64) for values in zip(*batch, strict=True))
            if (batch)
            else (np.zeros(0, dtype=np.int64),) * 3
        )
        counts.add(unit, column, None)
        table.add(unit, column, number)
        for place, other, value in batch:
            expected[place, other] += value
    chosen = table.of(np.array([9, 20, 0]), 6)
    assert chosen.tolist() == [expected[9].tolist(), [0] * 6, expected[0].tolist()]
    assert (chosen.dtype == object) == (int(chosen.max()) > 2**63 - 1)
    everything = table.of(None, 9)
    assert (everything.shape[1], everything.astype(object).sum()) == (9, expected.sum())
    rows = np.zeros((10, 6), dtype=object)
    for place, other, _ in (row for batch in batches for row in batch):
        rows[place, other] += 1
    for found, right in ((counts.sums, rows), (table.sums, expected)):
        size = found.shape
        assert found[:10, :6].tolist() == right[: size[0], : size[1]].tolist()
        assert found.sum() == right.sum()


PLACED = st.lists(
    st.tuples(st.integers(-9, 9), st.integers(-2, 2), st.integers(0, 3), st.integers(1, 4)),
    min_size=1,
    max_size=30,
)


@RUNS
@pytest.mark.parametrize("is_weighted", [False, True])
@given(rows=PLACED, edges=st.lists(st.integers(-9, 9), min_size=6, max_size=6), shift=st.integers(0, 6))
def test_rows_are_counted_by_place(form, is_weighted, rows, edges, shift):
    score, uncertainty, code, weight = (np.array(column) for column in zip(*rows, strict=True))
    ends, unit, negatives = np.array([0]), np.array([1, 0, 1, 2]), len(rows) // 2
    by_bin, column = np.sort(np.array(edges).reshape(2, 3)), np.array([0, 1, 2, 1, 4, 3, 2, 0])
    low = int(by_bin.min())
    first = low + (np.arange(4) << shift)
    starts = np.stack([np.searchsorted(of_bin, first, side="right") for of_bin in by_bin])
    starts[:, 0] = 0
    weight = weight if is_weighted else np.ones(1, dtype=np.int64)
    sums = np.zeros(3 * 5 * 2, dtype=np.int64)
    getattr(count_places, form)(
        score,
        uncertainty,
        code.astype(np.int32),
        unit,
        ends,
        by_bin.ravel(),
        starts.ravel(),
        low,
        shift,
        column,
        5,
        negatives,
        weight,
        sums,
    )
    expected = np.zeros((3, 5, 2), dtype=np.int64)
    for number, (value, other, own, times) in enumerate(rows):
        place = column[4 * (other >= 0) + sum(value >= edge for edge in by_bin[int(other >= 0)])]
        expected[unit[own], place, int(number >= negatives)] += times if is_weighted else 1
    assert sums.tolist() == expected.ravel().tolist()


@RUNS
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(-9, 9)), max_size=40))
def test_rows_of_small_units_are_sorted(form, rows):
    unit, key = (np.array([row[place] for row in rows], dtype=np.int64) for place in (0, 1))
    starts = np.searchsorted(np.sort(unit), np.arange(5))
    ordered = np.zeros(len(rows), dtype=np.int64)
    getattr(sort_in_units, form)(unit, key, starts, starts[:-1].copy(), 40, ordered)
    assert ordered.tolist() == [value for _, value in sorted(rows)]


@pytest.mark.parametrize("sizes", [(3, 0, 64, 65), (500, 1)])
def test_large_units_are_sorted_too(sizes):
    random = np.random.default_rng(sum(sizes))
    unit = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    key = random.integers(0, 50, len(unit))
    ordered, starts = sorted_in_units(unit, len(sizes), key)
    assert np.diff(starts).tolist() == list(sizes)
    assert ordered.tolist() == [value for _, value in sorted(zip(unit.tolist(), key.tolist(), strict=True))]


@RUNS
@given(
    rows=st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 2), st.booleans()), min_size=1, max_size=20),
    signs=st.lists(st.lists(st.sampled_from([-1, 1]), min_size=3, max_size=3), min_size=1, max_size=3),
)
def test_ranges_of_signed_sums_are_those_of_a_loop(form, rows, signs):
    residual, unit = np.array([row[0] for row in rows]), np.array([row[1] for row in rows], dtype=np.int32)
    ends = np.array([*(place for place, row in enumerate(rows[:-1]) if row[2]), len(rows) - 1])
    expected = []
    for sign in signs:
        total, sums = 0.0, [0.0]
        for place, (value, own, _) in enumerate(rows):
            total += value * sign[own]
            sums += [total] if place in ends else []
        expected.append((min(sums), max(sums)))
    by_unit = np.array(signs, dtype=np.int8).T.copy()
    total, low, high = np.zeros((3, len(signs)))
    getattr(find_extremes, form)(residual, unit, by_unit.ravel(), ends, total, low, high)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == expected
    assert signed_ranges(residual, unit, by_unit, ends).tolist() == [high - low for low, high in expected]
