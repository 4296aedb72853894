"""Sums part by part: those of whole arrays, of any width, under any number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli import parts
from uqcli.counts import ValueCounts
from uqcli.jobs.measure import MeasureOptions, measure


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    """Small parts under one thread and several."""
    monkeypatch.setattr(parts, "PART", 8)
    monkeypatch.setattr(parts, "_WORTH_THREADS", 0)
    monkeypatch.setattr(parts, "_threads", lambda: request.param)


AMOUNTS = st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=60)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_sums_before_and_places(threads, kind):
    @given(AMOUNTS, st.data())
    def check(numbers, data):
        amount = np.array(numbers, dtype=kind)
        running = np.concatenate([[0], np.cumsum(numbers)])
        at = np.array(sorted(data.draw(st.lists(st.integers(0, len(numbers))))), dtype=np.int64)
        assert parts.sums_before(amount, at).tolist() == running[at].tolist()
        total = int(running[-1])
        rank = np.array(sorted(data.draw(st.lists(st.integers(0, total - 1)))), dtype=np.int64)
        expected = np.searchsorted(running[1:], rank, side="right")
        assert parts.places_of(amount, rank).tolist() == expected.tolist()

    check()


def test_pieces_keep_their_order(threads):
    assert parts.each_part(lambda part: (part.start, part.stop), 20) == [(0, 8), (8, 16), (16, 20)]
    assert parts.each_part(lambda part: part, 0) == []


def test_what_fails_in_a_part_is_raised(threads):
    with pytest.raises(ZeroDivisionError):
        parts.each_part(lambda part: 1 // (part.start - 8), 20)


@pytest.mark.parametrize(("told", "most"), [("1", 1), ("0", 1), ("1,2", 8), ("", 8)])
def test_threads_are_those_that_libraries_are_told(monkeypatch, told, most):
    monkeypatch.setenv("OMP_NUM_THREADS", told)
    assert 1 <= parts._threads() <= most


def test_threads_leave_every_digit_what_it_is(monkeypatch):
    random = np.random.default_rng(5)
    value = np.unique(random.random(300_000))
    count = random.integers(1, 5, len(value))
    counts = ValueCounts(value=value, count=count, positives=random.binomial(count, value**1.2))
    found = []
    for number in (1, 3):
        monkeypatch.setattr(parts, "_WORTH_THREADS", 0)
        monkeypatch.setattr(parts, "_threads", lambda number=number: number)
        found.append(measure(counts, MeasureOptions()).metrics)
    assert found[0] == found[1]
