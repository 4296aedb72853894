"""Tests of trials and successes by unit against a dictionary, whatever the order of rows and batches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uqcli.estimates.unit_trials import UnitTrials

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 7, 2**31]), st.integers(0, 3), st.booleans()),
    max_size=30,
)


def counted(rows, parts=1, *, weighted=True):
    trials = UnitTrials()
    for first in range(0, len(rows), max(1, len(rows) // parts)):
        part, unit, weight, succeeds = zip(*rows[first : first + max(1, len(rows) // parts)], strict=True)
        trials.add(np.array(part), np.array(unit), np.array(weight) if weighted else None, np.array(succeeds))
    return trials


def expected(rows, part, *, weighted=True):
    sums = {}
    for own, unit, weight, succeeds in rows:
        if part in (None, own):
            successes, trials = sums.get(unit, (0, 0))
            times = weight if weighted else 1
            sums[unit] = successes + times * succeeds, trials + times
    return [list(sums[unit]) for unit in sorted(sums)]


@given(rows=ROWS, parts=st.integers(1, 4), weighted=st.booleans())
def test_trials_are_those_of_a_dictionary(rows, parts, weighted):
    trials = counted(rows, parts, weighted=weighted)
    for part in (None, 0, 1, 2, 3, 9):
        assert np.stack(trials.of(part), axis=1).tolist() == expected(rows, part, weighted=weighted)
    of_part, unit, _, _ = trials.pairs
    assert list(zip(of_part.tolist(), unit.tolist(), strict=True)) == sorted({row[:2] for row in rows})


@given(rows=ROWS, data=st.data())
def test_the_order_of_rows_does_not_matter(rows, data):
    shuffled = data.draw(st.permutations(rows))
    for one, other in zip(counted(rows).pairs, counted(shuffled).pairs, strict=True):
        assert one.tolist() == other.tolist()


def test_rows_added_later_count():
    trials = counted([(0, 0, 1, True)])
    assert trials.of(0)[1].tolist() == [1]
    trials.add(np.array([0]), np.array([0]), None, np.array([False]))
    assert [column.tolist() for column in trials.of(0)] == [[1], [2]]
