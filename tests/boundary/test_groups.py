"""Tests of boundaries of groups, against brute force on small grids."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import boundary as oracle
from tests.properties.strategies import (
    PRECISIONS,
    as_cells,
    as_rows,
    build_cells,
    cell_rows,
    data_sets,
    precision_constraint,
)
from uqcli.base.choices import Algorithm, Binning, GroupBound
from uqcli.bin.grid import GridSpec
from uqcli.boundary import groups as groups_of_boundary
from uqcli.boundary.calibration_set import CalibrationRows, no_ranges
from uqcli.boundary.groups import GroupSearch
from uqcli.boundary.options import BoundaryRequest, GroupOptions
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.boundary.search.thresholds import boundary_at
from uqcli.engines.protocol import Partition
from uqcli.engines.request import DataRequest, Roles, in_memory

GROUPS = st.lists(cell_rows(max_rows=2, max_cells=4, max_count=5), min_size=1, max_size=3)


def search_of(groups, algorithm, precision, bound):
    return GroupSearch.over(groups, algorithm, precision_constraint(precision), bound)


def assert_same(found, expected):
    assert [boundary.thresholds for boundary in found] == [boundary.thresholds for boundary in expected]
    assert [boundary.fit for boundary in found] == [boundary.fit for boundary in expected]


@settings(max_examples=2000)
@given(GROUPS, PRECISIONS)
def test_a_common_bound_equals_brute_force_over_all_groups(groups, precision):
    cells = [as_cells(rows) for rows in groups]
    found = search_of(cells, Algorithm.VW_DPMT, precision, GroupBound.OVERALL).boundaries()
    tops = oracle.brute_force([row for rows in groups for row in rows], precision)
    if tops is None:
        assert found is None
        return
    expected = []
    for part in cells:
        expected.append(boundary_at(part, tops[: len(part.rows)]))
        tops = tops[len(part.rows) :]
    assert_same(found, expected)


@settings(max_examples=2000)
@given(GROUPS, PRECISIONS)
def test_a_bound_in_each_group_equals_brute_force_in_each(groups, precision):
    cells = [as_cells(rows) for rows in groups]
    found = search_of(cells, Algorithm.VW_DPMT, precision, GroupBound.EACH).boundaries()
    tops = [oracle.brute_force(rows, precision) for rows in groups]
    if not any(tops):
        assert found is None
        return
    expected = [
        boundary_at(part, chosen or (0,) * len(part.rows)) for part, chosen in zip(cells, tops, strict=True)
    ]
    assert_same(found, expected)


SHARED = GridSpec(binning=Binning.SHARED, uncertainty_bins=2, score_bins=6)


@settings(max_examples=200)
@given(st.lists(data_sets(), min_size=1, max_size=3), PRECISIONS)
def test_a_common_smoothed_bound_takes_cells_of_all_groups_by_rate(data, precision):
    cells = [build_cells(as_rows(rows), SHARED) for rows in data]
    found = search_of(cells, Algorithm.SMOOTH, precision, GroupBound.OVERALL).boundaries()
    rankings = [nested_boundaries(part) for part in cells]
    sequence = []
    for group, ranking in enumerate(rankings):
        taken = {}
        for row, rate in zip(ranking.row.tolist(), ranking.rate.tolist(), strict=True):
            place = taken[row] = taken.get(row, -1) + 1
            sequence.append((-rate, place, group, row))
    tops = [[0] * len(part.rows) for part in cells]
    best = None
    for _, place, group, row in sorted(sequence):
        tops[group][row] += 1
        index = len(cells[group].rows[row].count) - 1 - place
        assert index >= 0
        counts = [oracle_counts(part, chosen) for part, chosen in zip(cells, tops, strict=True)]
        hits, selected = (sum(column) for column in zip(*counts, strict=True))
        if hits and Fraction(hits, selected) >= precision:
            key = (-hits, selected)
            if best is None or key < best[0]:
                best = key, [tuple(chosen) for chosen in tops]
    if best is None:
        assert found is None
        return
    assert_same(found, [boundary_at(part, chosen) for part, chosen in zip(cells, best[1], strict=True)])


def oracle_counts(part, tops):
    """Return the true positives and selected rows of the top cells of a group."""
    pairs = list(zip(part.rows, tops, strict=True))
    return (
        sum(int(row.positives[len(row.count) - top :].sum()) for row, top in pairs),
        sum(int(row.count[len(row.count) - top :].sum()) for row, top in pairs),
    )


@settings(max_examples=100)
@given(st.lists(data_sets(), min_size=1, max_size=3), PRECISIONS, st.sampled_from(GroupBound))
def test_one_group_is_a_boundary_of_its_rows(data, precision, bound):
    for algorithm in (Algorithm.SMOOTH, Algorithm.VW_DPMT):
        cells = build_cells(as_rows(data[0]), SHARED)
        found = search_of([cells], algorithm, precision, bound).boundaries()
        alone = optimise(cells, algorithm, precision_constraint(precision)).boundary
        assert found is None if alone is None else found[0].thresholds == alone.thresholds


def test_expected_results_are_those_of_all_rows_for_a_single_group():
    from uqcli.boundary.expected import expected

    random = np.random.default_rng(3)
    count = random.integers(5, 60, size=(2, 20))
    positives = random.binomial(count, np.linspace(0.1, 0.95, 20))
    cells = as_cells(
        [list(zip(n, p, strict=True)) for n, p in zip(count.tolist(), positives.tolist(), strict=True)]
    )
    for algorithm in (Algorithm.SMOOTH, Algorithm.VW_DPMT):
        for bound in GroupBound:
            search = search_of([cells], algorithm, Fraction(7, 10), bound)
            assert search.expected(0) == expected(cells, algorithm, search.constraint, 0)


@settings(max_examples=200)
@given(st.lists(data_sets(), min_size=1, max_size=3), PRECISIONS, st.sampled_from(GroupBound))
def test_boundaries_of_cells_with_rows_are_those_of_all_cells(data, precision, bound):
    cells = [build_cells(as_rows(rows), SHARED) for rows in data]
    every = search_of(cells, Algorithm.SMOOTH, precision, bound)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups_of_boundary, "MAX_CELLS", 0)
        with_rows = search_of(cells, Algorithm.SMOOTH, precision, bound)
    assert with_rows.is_large
    assert all((row.count > 0).all() for part in with_rows.parts for row in part.rows)
    assert (with_rows.boundaries() is None) == (every.boundaries() is None)
    assert_same(with_rows.boundaries() or (), every.boundaries() or ())


def test_the_cells_of_a_group_are_those_of_its_rows_alone():
    random = np.random.default_rng(5)
    group = np.repeat(["few", "many"], [150, 1500])
    score, uncertainty = random.random((2, len(group)))
    label = (random.random(len(group)) < score * (1 - 0.8 * uncertainty)).astype(int)
    frame = pl.DataFrame({"g": group, "score": score, "uncertainty": uncertainty, "label": label})
    roles = Roles(numbers={"score": "score", "uncertainty": "uncertainty"}, label="label")
    request = BoundaryRequest(
        data=DataRequest(inputs=in_memory(frame), roles=roles).grouped_by("g"), groups=GroupOptions(by="g")
    )
    rows = CalibrationRows.from_request(request, precision_constraint(Fraction(3, 4)))
    *counted, _ = rows.table.range_counts(Partition(groups=("g",)), no_ranges)
    scores = dict(zip(("few", "many"), counted, strict=True))
    cells = rows.cells_of_groups("g", scores, Algorithm.SMOOTH)
    for name, found in zip(scores, cells, strict=True):
        alone = rows.only("g", name).cells(Algorithm.SMOOTH)
        assert found.uncertainty_edges.tolist() == alone.uncertainty_edges.tolist()
        for row, other in zip(found.rows, alone.rows, strict=True):
            columns, expected = (
                {name: np.asarray(column).tolist() for name, column in vars(each).items()}
                for each in (row, other)
            )
            assert columns == expected
