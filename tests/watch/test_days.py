"""Tests of the days of a watch: which are complete, which stand apart and which are missing."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.watch.days import days_of

FIRST = date(2026, 1, 5)  # a Monday


def texts(offsets, rows=100):
    return {(FIRST + timedelta(days=offset)).isoformat(): rows for offset in offsets}


def test_a_row_years_ahead_completes_no_day():
    days = days_of({**texts(range(10)), "2103-01-01": 2}, "day", 7, ())
    assert days.complete == tuple(texts(range(3)))
    assert days.stray == ("2103-01-01",)


def test_several_rows_far_ahead_complete_no_day():
    days = days_of({**texts(range(10)), "2050-01-01": 2, "2103-01-01": 2}, "day", 7, ())
    assert days.complete == tuple(texts(range(3)))
    assert days.stray == ("2050-01-01", "2103-01-01")


@pytest.mark.parametrize(("rows", "is_stray"), [(9, True), (10, False)])
def test_a_tenth_of_the_median_day_is_a_day(rows, is_stray):
    days = days_of({**texts(range(10)), **texts([30], rows)}, "day", 7, ())
    assert (days.stray != ()) == is_stray
    assert len(days.complete) == (3 if is_stray else 10)


@pytest.mark.parametrize(("gap", "is_stray"), [(7, False), (8, True)])
def test_a_gap_of_as_many_days_as_labels_take_is_none(gap, is_stray):
    days = days_of({**texts(range(10)), **texts([9 + gap], 1)}, "day", 7, ())
    assert (days.stray != ()) == is_stray


def test_without_waiting_no_day_is_stray():
    assert days_of({**texts(range(3)), "2103-01-01": 1}, "day", 0, ()).stray == ()


@pytest.mark.parametrize(
    ("offsets", "counted", "missing"),
    [
        ([0, 1, 3], (), [2]),
        ([0, 1, 2, 3, 4, 7, 8], (), []),  # weekends lack
        ([0, 1, 3, 4, 7, 8], (), [2]),
        ([0, 1, 2, 3, 4, 5, 7], (), [6]),  # there is a Saturday
        ([3, 4], (0, 1), [2]),
        ([0, 2, 3, 4], (0, 1, 2), []),  # only what comes after counted days
        ([0, 1, 3, 4, 6], (0, 1, 2, 3), [5]),
        ([0, 7, 14, 21], (), []),  # rows of a week each
        ([0], (), []),
    ],
)
def test_missing_days_are_told(offsets, counted, missing):
    days = days_of(texts(offsets), "day", 0, tuple(texts(counted)))
    assert days.missing == tuple(texts(missing))


def test_a_mistyped_first_day_hides_no_missing_day():
    days = days_of({**texts([-363], 1), **texts(offset for offset in range(20) if offset != 9)}, "day", 5, ())
    assert days.missing == tuple(texts([9]))


def test_other_keys_have_neither():
    days = days_of({"1": 5, "2": 5, "900": 1}, "week", 1, ())
    assert (days.complete, days.stray, days.missing) == (("1", "2"), (), ())


@given(st.dictionaries(st.integers(0, 400), st.integers(1, 50), min_size=1), st.integers(0, 20))
def test_days_are_complete_by_the_newest_that_is_not_stray(rows_by_offset, matured):
    """Compare with every position tried, from the definition."""
    offsets = sorted(rows_by_offset)
    rows = [rows_by_offset[offset] for offset in offsets]
    median = (
        sorted(rows)[len(rows) // 2] if len(rows) % 2 else sum(sorted(rows)[len(rows) // 2 - 1 :][:2]) / 2
    )
    first = next(
        (
            number
            for number in range(1, len(rows))
            if matured
            and offsets[number] - offsets[number - 1] > matured
            and 10 * sum(rows[number:]) < median
        ),
        len(rows),
    )
    days = days_of({text: rows_by_offset[o] for o in offsets for text in texts([o])}, "day", matured, ())
    assert days.stray == tuple(texts(offsets[first:]))
    assert days.complete == tuple(texts(o for o in offsets[:first] if o <= offsets[first - 1] - matured))
