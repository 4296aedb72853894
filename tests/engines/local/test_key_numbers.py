"""Tests of the numbers of keys against a dictionary of their texts, of any type and with any hash."""

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.engines.local.check import key_numbers
from uqcli.engines.local.check.key_numbers import KeyColumn, KeyNumbers
from uqcli.engines.local.check.values import days_of, key_texts

TYPES = st.sampled_from(
    [pl.String, pl.Categorical, pl.Int8, pl.Int64, pl.UInt64, pl.Float64, pl.Date, pl.Boolean, pl.Int128]
)
WHOLE = st.integers(0, 9) | st.sampled_from([100, 120])
"""Whole numbers that every type of numbers holds."""


def series_of(numbers, dtype):
    series = pl.Series("key", numbers, dtype=pl.Int64)
    if dtype == pl.Int64:
        return series * 2**55  # far apart
    return series.cast(pl.String).cast(dtype) if dtype == pl.Categorical else series.cast(dtype)


def numbered(known, texts):
    return [-1 if text is None else known.setdefault(text, len(known)) for text in texts.to_list()]


@given(batches=st.lists(st.tuples(TYPES, st.lists(st.none() | WHOLE, max_size=12)), max_size=5))
def test_keys_of_any_types_are_numbered_by_their_texts(batches):
    numbers, known = KeyNumbers(), {}
    for dtype, values in batches:
        series = series_of(values, dtype)
        expected = numbered(known, key_texts(series, "key"))
        assert numbers.numbers(KeyColumn.of(series, "key")).tolist() == expected
    assert numbers == known
    assert numbers.texts.to_list() == list(known)
    assert len(numbers) == len(known)
    order, codes = numbers.in_order(np.arange(len(known)))
    assert dict(zip(order.to_list(), codes.tolist(), strict=True)) == known
    assert order.to_list() == sorted(known)


@given(
    values=st.lists(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-30, 30), max_size=9), max_size=5)
)
def test_whole_numbers_near_and_far_apart_have_the_numbers_of_their_texts(values):
    numbers, known = KeyNumbers(), {}
    for batch in values:
        series = pl.Series("key", batch, dtype=pl.Int64)
        assert numbers.numbers(KeyColumn.of(series, "key")).tolist() == numbered(
            known, series.cast(pl.String)
        )
    assert numbers == known


@pytest.mark.parametrize("step", [1, -1, 3, -100_000, 100_000, 10_000_000])
def test_tables_grow_to_either_side(step):
    numbers, value = KeyNumbers(), np.arange(600) * step
    for part in np.split(value, 100):
        numbers.numbers(KeyColumn.of(pl.Series("key", part), "key"))
    assert list(numbers) == [str(number) for number in value]
    assert numbers.numbers(KeyColumn.of(pl.Series("key", value), "key")).tolist() == list(range(600))


def test_only_what_texts_are_converted_to_counts():
    first = datetime.date(2026, 3, 1)
    dates = pl.Series("day", [first, first + datetime.timedelta(days=1), None, first])
    numbers = KeyNumbers()
    texts = pl.Series("day", ["2026-03-02 11:30", "2026-03-01"])
    assert numbers.numbers(KeyColumn.of(dates, "day", None, days_of)).tolist() == [0, 1, -1, 0]
    assert numbers.numbers(KeyColumn.of(texts, "day", None, days_of)).tolist() == [1, 0]


def test_texts_of_one_hash_are_told_apart(monkeypatch):
    hashed = key_numbers._hashed

    def poor(texts, seed):  # the first hashes tell few texts apart
        return hashed(texts, seed) % (3 + 10**6 * seed * (seed > 2))

    monkeypatch.setattr(key_numbers, "_hashed", poor)
    numbers, known = KeyNumbers(), {}
    for batch in (["a", "b", "a"], ["c", "d", "e", "a", None], list("abcdefghijklmnop"), []):
        series = pl.Series("key", batch, dtype=pl.String)
        assert numbers.numbers(KeyColumn.of(series, "key")).tolist() == numbered(known, series)
    assert numbers == known
    assert numbers._seed > 2


@pytest.mark.thorough
def test_texts_stay_in_few_chunks():
    numbers = KeyNumbers()
    for number in range(3000):
        numbers.numbers(KeyColumn.of(pl.Series("key", [f"c{number}"]), "key"))
    assert numbers.texts.n_chunks() <= 5
    assert numbers.texts.to_list() == [f"c{number}" for number in range(3000)]
