"""Tests of operating points: each is the rule and the estimate of the command for its constraint."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.boundary.test_expected import as_shared, shared_rows
from uqcli.base.choices import Algorithm
from uqcli.base.counts import LOWEST, CellRow, Cells
from uqcli.boundary.expected import expected
from uqcli.boundary.operating_points import operating_points
from uqcli.boundary.search.algorithms import ALGORITHMS
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.thresholds import boundary_at
from uqcli.boundary.search.typed_constraints import constraint_from, parse_constraint, with_margin
from uqcli.estimates.estimate import FEWEST_FLAGGED
from uqcli.shift.rule import BinaryWeights


def assert_same_rule(point, cells, algorithm, constraint, seed):
    """Compare a point with a search for its constraint alone."""
    tops = ALGORITHMS[algorithm].method(cells, constraint.goal(cells))
    searched = boundary_at(cells, tops, raised=False)
    boundary, on_new_data = point
    assert boundary.thresholds == searched.thresholds
    assert boundary.fit == searched.fit
    assert on_new_data == expected(cells, algorithm, constraint, seed)


@given(rows=shared_rows(bins=2), seed=st.integers(0, 3))
def test_points_are_those_of_single_searches(rows, seed):
    cells = as_shared(rows)
    points = operating_points(cells, constraint_from(precision="0.705"), seed, None)
    if points is None:
        assert not cells.positives
        return
    for kind, pairs in points.items():
        amounts = [Fraction(bound.value) for bound, _, _ in pairs]
        assert amounts == sorted(set(amounts))
        assert all(rule[0].fit.selected >= FEWEST_FLAGGED for _, rule, _ in pairs)
        for bound, rule, single in pairs[:: max(1, len(pairs) // 4)]:
            constraint = parse_constraint(kind, bound.value)
            assert_same_rule(rule, cells, Algorithm.SMOOTH, constraint, seed)
            if single is not None:
                assert_same_rule(single, cells.joined(1), Algorithm.ST, constraint, seed)


def grid(rows=2000):
    """Counts of two uncertainty bins whose positive rates rise with the score."""
    rate = np.linspace(0.05, 0.9, 20)
    count = np.full(20, rows // 40)
    table = [
        CellRow(
            lower=np.array([LOWEST, *np.arange(1.0, 20)]),
            count=count,
            positives=(count * np.clip(rate + change, 0, 1)).astype(np.int64),
        )
        for change in (-0.05, 0.05)
    ]
    return Cells(uncertainty_edges=np.array([0.5]), rows=tuple(table))


def test_the_constraint_of_the_run_is_a_point():
    for constraint in (
        constraint_from(precision="0.705"),
        constraint_from(max_selected="7%"),
        with_margin(constraint_from(precision="0.705"), "1"),
    ):
        pairs = operating_points(grid(), constraint, 0, None)[constraint.kind]
        assert [bound.value for bound, _, _ in pairs].count(constraint.value) == 1


def test_a_margin_holds_for_all_precisions():
    plain = operating_points(grid(), constraint_from(precision="0.7"), 0, None)
    wide = operating_points(grid(), with_margin(constraint_from(precision="0.7"), "1"), 0, None)
    of_alerts = ConstraintKind.MAX_SELECTED
    assert [boundary.fit for _, (boundary, _), _ in plain[of_alerts]] == [
        boundary.fit for _, (boundary, _), _ in wide[of_alerts]
    ]
    selected = {
        bound.value: boundary.fit.selected for bound, (boundary, _), _ in wide[ConstraintKind.PRECISION]
    }
    less = [
        selected[bound.value] < boundary.fit.selected
        for bound, (boundary, _), _ in plain[ConstraintKind.PRECISION]
        if bound.value in selected
    ]
    assert less
    assert any(less)


def test_class_weights_move_the_precision_and_leave_no_alerts():
    class_weights = BinaryWeights(positive=0.5, negative=1.2)
    points = operating_points(grid(), constraint_from(precision="0.7"), 0, class_weights)
    assert list(points) == [ConstraintKind.PRECISION]
    for bound, (boundary, _), _ in points[ConstraintKind.PRECISION]:
        precision = class_weights.precision(boundary.fit.precision)
        assert precision >= float(bound.value) - 1e-12


def test_a_large_grid_has_no_points():
    row = CellRow(
        lower=np.arange(30_000.0), count=np.ones(30_000, np.int64), positives=np.ones(30_000, np.int64)
    )
    assert (
        operating_points(
            Cells(uncertainty_edges=np.empty(0), rows=(row,)), constraint_from(recall="0.5"), 0, None
        )
        is None
    )
