"""Tests of boundaries of the highest value, against brute force on small tables."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import uqcli
from tests.oracles import value as oracle
from uqcli.base.amounts import UNITS
from uqcli.base.choices import Algorithm
from uqcli.base.counts import CellRow, Cells
from uqcli.base.errors import InfeasibleError, UsageError
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.boundary.search.typed_constraints import constraint_from, parse_constraint

GAINS = st.sampled_from([0, 1, 3, 30_000, 55_500, 1_000_000])
COSTS = st.sampled_from([0, 1, 2, 20_000, 50_000])
GAIN, COST = 35_000, 12_500
"""A constant gain, and a constant cost, in ten-thousandths."""

UTILITIES = {
    "both": {"gain": "gain", "cost": "cost"},
    "gain": {"gain": "gain", "cost": "1.25"},
    "cost": {"gain": "3.5", "cost": "cost"},
    "same": {"gain": "gain", "cost": "gain"},
}


def with_constants(row, kind):
    """Replace the gain or cost of a row by the constant one."""
    index, score, positive, gain, cost, weight = row
    gain, cost = {"both": (gain, cost), "gain": (gain, COST), "cost": (GAIN, cost), "same": (gain, gain)}[
        kind
    ]
    return index, score, positive, gain, cost, weight


def rows_of(bins, scores, most):
    """Draw rows of a table."""
    row = st.tuples(
        st.integers(0, bins - 1), st.integers(0, scores - 1), st.booleans(), GAINS, COSTS, st.integers(1, 3)
    )
    return st.lists(row, min_size=1, max_size=most)


def cells_of(rows, bins, scores, amounts):
    """Build a table with a cell for each score, with sums of amounts."""
    table = []
    for index in range(bins):
        inside = [[row for row in rows if row[0] == index and row[1] == score] for score in range(scores)]
        sums = [
            [
                [
                    sum(row[5] * row[3 if name == "gain" else 4] for row in cell if row[2] or any_row)
                    for cell in inside
                ]
                for name in amounts
            ]
            for any_row in (True, False)
        ]
        table.append(
            CellRow(
                lower=np.arange(scores, dtype=np.float64),
                count=np.array([sum(row[5] for row in cell) for cell in inside]),
                positives=np.array([sum(row[5] for row in cell if row[2]) for cell in inside]),
                sums=tuple(np.array(sums, dtype=np.int64).reshape(2, len(amounts), scores).swapaxes(0, 1)),
            )
        )
    return Cells(uncertainty_edges=np.arange(1, bins, dtype=np.float64), rows=tuple(table))


@settings(max_examples=2000)
@given(rows_of(3, 4, 30), st.sampled_from(sorted(UTILITIES)))
def test_the_exact_optimum_equals_brute_force(rows, kind):
    rows = [with_constants(row, kind) for row in rows]
    constraint = constraint_from(**UTILITIES[kind])
    cells = cells_of(rows, 3, 4, [*constraint.amounts])
    table = [
        [[row for row in rows if row[:2] == (index, score)] for score in reversed(range(4))]
        for index in range(3)
    ]
    found = optimise(cells, Algorithm.VW_DPMT, constraint).boundary
    tops = oracle.best_tops(table)
    assert (found is None) == (tops is None)
    if found is None:
        return
    flagged = [
        row
        for cells_of_bin, top in zip(table, tops, strict=True)
        for cell in cells_of_bin[:top]
        for row in cell
    ]
    assert (found.fit.true_positives, found.fit.selected) == oracle.weights(flagged)
    value, caught = constraint.objective(found.fit), constraint.value_of(found.fit)["value_caught"]
    assert value == Fraction(oracle.value(flagged), UNITS)
    assert constraint.value_of(found.fit)["value"] == float(value)
    total = oracle.gain_of_positives(rows)
    assert caught == (float(Fraction(oracle.gain_of_positives(flagged), total)) if total else None)


@settings(max_examples=500)
@given(rows_of(2, 5, 25), st.sampled_from(sorted(UTILITIES)))
def test_other_algorithms_equal_the_best_of_their_candidates(rows, kind):
    rows = [with_constants(row, kind) for row in rows]
    constraint = constraint_from(**UTILITIES[kind])
    cells = cells_of(rows, 2, 5, [*constraint.amounts])
    best = optimise(cells, Algorithm.VW_DPMT, constraint).boundary
    smooth = optimise(cells, Algorithm.SMOOTH, constraint).boundary
    values = []
    nested = nested_boundaries(cells)
    for last in range(len(nested.order)):
        tops = nested.tops(last, 2)
        flagged = [row for row in rows if row[1] >= 5 - tops[row[0]]]
        if oracle.weights(flagged)[0]:
            values.append(oracle.value(flagged))
    highest = max(values, default=0)
    assert (smooth is None) == (highest <= 0)
    if smooth is not None:
        assert constraint.objective(smooth.fit) == Fraction(highest, UNITS)
    for algorithm in (Algorithm.SMOOTH, Algorithm.MIST):
        found = optimise(cells, algorithm, constraint).boundary
        if found is not None:
            assert constraint.objective(found.fit) <= constraint.objective(best.fit)


@settings(max_examples=100, deadline=None)
@given(rows_of(2, 6, 25), st.sampled_from(sorted(UTILITIES)), st.sampled_from(["vw-dpmt", "st"]))
def test_rules_of_rows_equal_brute_force_over_all_thresholds(rows, kind, algorithm):
    bins = 2 if algorithm == "vw-dpmt" else 1
    columns = list(zip(*rows, strict=True))
    assume(bins == 1 or len(set(columns[0])) == 2)
    worth = {
        role: np.array(columns[3 if text == "gain" else 4]) / UNITS if text in ("gain", "cost") else text
        for role, text in UTILITIES[kind].items()
    }
    options = (
        {} if algorithm == "st" else {"uncertainty": columns[0], "uncertainty_bins": 2, "score_bins": "all"}
    )
    rows = [with_constants((row[0] if bins == 2 else 0, *row[1:]), kind) for row in rows]
    expected = oracle.best_thresholds(rows, bins)
    call = dict(
        weight=columns[5], algorithm=algorithm, binning="equi-span" if bins == 2 else None, **worth, **options
    )
    if expected is None:
        with pytest.raises(InfeasibleError):
            uqcli.find_boundary(columns[1], columns[2], **call)
        return
    found = uqcli.find_boundary(columns[1], columns[2], **call)
    flagged, thresholds = expected
    assert found.thresholds == thresholds
    assert (found.fit.true_positives, found.fit.selected) == oracle.weights(flagged)
    assert found.fit.value == oracle.value(flagged) / UNITS
    measured = found.evaluate(
        columns[1], columns[2], uncertainty=columns[0] if bins == 2 else None, weight=columns[5], **worth
    ).metrics
    assert measured["value"].value == oracle.value(flagged) / UNITS


def test_equal_amounts_give_the_rule_of_the_numbers():
    random = np.random.default_rng(2)
    score, uncertainty = random.random(3000).round(2), random.random(3000)
    label = random.random(3000) < score * (1.3 - 0.6 * uncertainty)
    rows = (score, label)
    for algorithm in ("smooth", "vw-dpmt", "st", "mist"):
        options = {"uncertainty": uncertainty, "algorithm": algorithm, "uncertainty_bins": 2}
        by_row = uqcli.find_boundary(*rows, gain=np.full(3000, 3.0), cost=np.full(3000, 2.0), **options)
        by_number = uqcli.find_boundary(*rows, gain=3, cost=2, **options)
        assert by_row.thresholds == by_number.thresholds
        assert by_row.fit == by_number.fit


@pytest.mark.parametrize(
    ("gain", "cost"), [("amount", "1.23456"), ("-1", "2"), ("nan", "2"), ("amount", "0"), ("amount", "1e10")]
)
def test_numbers_that_do_not_fit_are_refused(gain, cost):
    with pytest.raises(UsageError):
        constraint_from(gain=gain, cost=cost)


def test_saved_texts_of_columns_are_read_again():
    constraint = constraint_from(gain="a,cost=b", cost="c=d")
    assert constraint.amounts == {"gain": "a,cost=b", "cost": "c=d"}
    assert parse_constraint(ConstraintKind.UTILITY, constraint.value) == constraint
