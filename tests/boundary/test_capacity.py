"""Tests of a daily capacity: the first rows of nested boundaries, against a sort in memory."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.capacity import first_rows, place_of, tied_rows
from tests.properties.strategies import as_cells, cell_rows
from uqcli.base.defaults import LOWEST
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.boundary.search.thresholds import FirstRows, decide, nested_thresholds, places

NESTED = [(0.9, None), (0.9, 0.8), (0.5, 0.8), (0.5, 0.25), (LOWEST, LOWEST)]
EDGES = [0.5]

rows_of_groups = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 10).map(lambda x: x / 10), st.sampled_from([0.2, 0.5, 0.7])),
    min_size=1,
    max_size=60,
)


@given(rows_of_groups, st.integers(1, 12), st.integers(1, 7))
def test_the_first_rows_are_those_of_a_sort_in_memory(rows, limit, batch_size):
    group, score, uncertainty = (np.array(column) for column in zip(*rows, strict=True))
    place = places(score.astype(float), uncertainty, EDGES, NESTED)
    assert place.tolist() == [place_of(row[1], row[2], EDGES, NESTED) for row in rows]
    first, position = FirstRows(limit), np.arange(len(rows))
    for start in range(0, len(rows), batch_size):
        part = slice(start, start + batch_size)
        count = np.ones(len(position[part]), dtype=np.int64)
        first.add(group[part], place[part], score[part].astype(float), position[part], count)
    cuts = first.cuts(3)
    taken = cuts.takes(group, place, score.astype(float), position)
    assert set(np.flatnonzero(taken).tolist()) == first_rows(rows, EDGES, NESTED, limit)
    assert int(cuts.taken.sum()) == int(taken.sum())
    assert cuts.tied.tolist() == [tied_rows(rows, group, EDGES, NESTED, limit) for group in range(3)]
    assert not cuts.splits_tie


_DOUBLES = [-np.inf, -1.0, -1e-310, -0.0, 0.0, 1e-310, 0.3, np.nextafter(0.3, 1), 1.0, 1e300, np.inf]
"""Scores at both ends of the doubles, a zero of each sign, and two that are alike in their first 48 bits."""


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(_DOUBLES)), min_size=1, max_size=60),
    st.integers(1, 8),
    st.integers(9, 60),
)
def test_rows_left_out_of_the_sort_are_not_among_the_first(rows, limit, batch_size):
    group, score = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    place, position, first = np.zeros(len(rows), dtype=np.int64), np.arange(len(rows)), FirstRows(limit)
    for start in range(0, len(rows), batch_size):
        part = slice(start, start + batch_size)
        first.add(group[part], place[part], score[part], position[part], np.ones_like(place[part]))
    ranked = [sorted((-score[row], row) for row in np.flatnonzero(group == each)) for each in range(3)]
    cuts = first.cuts(3)
    expected = {row for group_rows in ranked for _, row in group_rows[:limit]}
    assert set(np.flatnonzero(cuts.takes(group, place, score, position)).tolist()) == expected
    tied = [sum(rest[0] == own[limit - 1][0] for rest in own[limit:]) for own in ranked]
    assert cuts.tied.tolist() == tied


@given(rows_of_groups, st.integers(1, 12), st.integers(1, 7))
def test_without_positions_only_a_cut_within_equal_rows_is_undecided(rows, limit, batch_size):
    group, score, uncertainty = (np.array(column) for column in zip(*rows, strict=True))
    place = places(score.astype(float), uncertainty, EDGES, NESTED)
    first = FirstRows(limit)
    for start in range(0, len(rows), batch_size):
        part = slice(start, start + batch_size)
        first.add(group[part], place[part], score[part].astype(float), None, np.ones_like(place[part]))
    cuts = first.cuts(3)
    taken = cuts.takes(group, place, score.astype(float), None)
    expected = first_rows(rows, EDGES, NESTED, limit)
    flagged = set(np.flatnonzero(taken).tolist())
    assert expected <= flagged
    assert cuts.splits_tie == (flagged != expected)


@given(cell_rows(max_rows=3, max_cells=6, max_count=8))
def test_nested_rules_grow_from_the_first_rows_to_all(rows):
    cells = as_cells(rows)
    nested = nested_boundaries(cells)
    rules = nested_thresholds(cells, nested)
    assert len(rules) <= 200
    assert len(set(rules)) == len(rules)
    assert rules[-1] == (LOWEST,) * len(rows)
    prefixes = {tuple(nested.tops(last, len(rows))) for last in range(len(nested.order))}
    score = np.concatenate([row.lower for row in cells.rows])
    bins = np.repeat(np.arange(len(rows)), [len(row.lower) for row in cells.rows]).astype(float)
    edges = np.arange(1, len(rows)).astype(float)
    flagged = np.zeros(len(score), dtype=bool)
    for thresholds in rules:
        now = decide(score, bins, uncertainty_edges=edges, thresholds=thresholds)
        assert (now | ~flagged).all()
        flagged = now
        tops = tuple(int(now[bins == index].sum()) for index in range(len(rows)))
        assert tops in prefixes
