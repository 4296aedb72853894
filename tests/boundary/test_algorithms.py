"""Tests of every boundary algorithm, against its oracle and against each other."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import boundary as oracle
from tests.oracles.single_precision import edge
from tests.properties.strategies import (
    GRIDS,
    ON_CELLS,
    PRECISIONS,
    as_cells,
    as_rows,
    build_cells,
    cell_rows,
    data_sets,
    precision_constraint,
)
from uqcli.base.choices import Algorithm, Binning
from uqcli.base.counts import bin_of
from uqcli.bin.grid import GridSpec
from uqcli.boundary.search.algorithms import optimise, optimise_recalibrated
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.goals import precision_bound
from uqcli.boundary.search.knapsack import OWN, _choose, solve
from uqcli.boundary.search.thresholds import boundary_at
from uqcli.boundary.search.typed_constraints import parse_constraint
from uqcli.boundary.search.utility import utility


def boundary_of(cells, algorithm, constraint):
    return optimise(cells, algorithm, constraint).boundary


def true_positives(cells, algorithm, precision):
    boundary = boundary_of(cells, algorithm, precision_constraint(precision))
    return 0 if boundary is None else boundary.fit.true_positives


@settings(max_examples=200)
@given(cell_rows(), PRECISIONS)
def test_vw_dpmt_equals_brute_force_with_all_tie_breaks(rows, precision):
    cells = as_cells(rows)
    expected = oracle.brute_force(rows, precision)
    boundary = boundary_of(cells, Algorithm.VW_DPMT, precision_constraint(precision))
    if expected is None:
        assert boundary is None
    else:
        assert boundary is not None
        assert same_boundary(boundary, boundary_at(cells, expected))


def same_boundary(first, second):
    return first.thresholds == second.thresholds and first.fit == second.fit


@settings(max_examples=100)
@given(cell_rows(max_rows=4, max_cells=8, max_count=4), PRECISIONS)
def test_vw_dpmt_equals_the_dense_table(rows, precision):
    assert true_positives(as_cells(rows), Algorithm.VW_DPMT, precision) == oracle.dense_table(rows, precision)


@settings(max_examples=133)
@given(cell_rows(), PRECISIONS)
def test_mist_equals_its_oracle(rows, precision):
    assert true_positives(as_cells(rows), Algorithm.MIST, precision) == oracle.mist(rows, precision)


@settings(max_examples=133)
@given(data_sets(), PRECISIONS)
def test_st_equals_the_best_of_all_scores(data, precision):
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=1, score_bins=None)
    cells = build_cells(as_rows(data), spec)
    expected = oracle.single_threshold([(s, y, w) for s, _, y, w in data], precision)
    assert true_positives(cells, Algorithm.ST, precision) == expected


@given(data_sets(), PRECISIONS, st.sampled_from(GRIDS), st.integers(1, 4), st.sampled_from([None, 1, 2, 5]))
def test_vw_dpmt_is_never_below_mist_or_with_all_scores_below_st(data, precision, binning, k, score_bins):
    calibration_set = as_rows(data)
    cells = build_cells(calibration_set, GridSpec(binning=binning, uncertainty_bins=k, score_bins=score_bins))
    optimum = true_positives(cells, Algorithm.VW_DPMT, precision)
    assert optimum >= true_positives(cells, Algorithm.MIST, precision)
    if score_bins is None:
        single = build_cells(calibration_set, GridSpec(binning=binning, uncertainty_bins=1, score_bins=None))
        assert optimum >= true_positives(single, Algorithm.ST, precision)


@given(cell_rows(), st.lists(PRECISIONS, min_size=2, max_size=4), st.sampled_from(ON_CELLS))
def test_recall_never_rises_with_the_precision_bound(rows, precisions, algorithm):
    cells = as_cells(padded_rows(rows[:1] if algorithm is Algorithm.ST else rows))
    true_positives_by_bound = [
        true_positives(cells, algorithm, precision) for precision in sorted(precisions)
    ]
    assert true_positives_by_bound == sorted(true_positives_by_bound, reverse=True)


@given(cell_rows())
def test_an_infeasible_search_reports_the_best_possible_precision(rows):
    cells = as_cells(rows)
    expected_precision, expected_hits = oracle.best_precision(rows)
    if expected_precision == 0:
        assert optimise(cells, Algorithm.VW_DPMT, precision_constraint(Fraction(1))).closest is None
    elif expected_precision < 1:
        result = optimise(cells, Algorithm.VW_DPMT, precision_constraint(Fraction(1)))
        assert result.boundary is None
        assert (result.closest.fit.precision, result.closest.fit.true_positives) == (
            float(expected_precision),
            expected_hits,
        )


@settings(max_examples=100)
@given(st.data())
def test_the_knapsack_is_exact_for_values_and_surpluses_of_any_size(data):
    scale = data.draw(st.sampled_from([1, 10**3, 10**9, 10**15]))
    options_by_class = []
    for _ in range(data.draw(st.integers(1, 3))):
        size = data.draw(st.integers(0, 5))
        value_steps = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
        surplus_steps = data.draw(st.lists(st.integers(-3 * scale, 2 * scale), min_size=size, max_size=size))
        values, surpluses = [0], [0]
        for value_step, surplus_step in zip(value_steps, surplus_steps, strict=True):
            values.append(values[-1] + value_step)
            surpluses.append(surpluses[-1] + (min(surplus_step, 0) if value_step == 0 else surplus_step))
        options_by_class.append((values, surpluses))
    sizes = [len(values) for values, _ in options_by_class]
    value, surplus = (np.concatenate(column) for column in zip(*options_by_class, strict=True))
    expected = best_choice_by_brute_force(options_by_class)
    assert solve(value, np.stack([surplus, surplus]), sizes) == [expected, expected]
    table = np.empty(
        (len(sizes) + 1) * (sum(values[-1] for values, _ in options_by_class) + 1), dtype=np.int64
    )
    for choose in (_choose.python, _choose.arrays, _choose.compiled):
        chosen = np.zeros((1, len(sizes)), dtype=np.int64)
        choose(value, surplus[None], np.array(sizes), np.array([[OWN]]), table, chosen)
        assert tuple(chosen[0].tolist()) == expected


def best_choice_by_brute_force(options_by_class):
    best = None
    for choice in product(*(range(len(values)) for values, _ in options_by_class)):
        value = sum(values[i] for (values, _), i in zip(options_by_class, choice, strict=True))
        surplus = sum(surpluses[i] for (_, surpluses), i in zip(options_by_class, choice, strict=True))
        if surplus >= 0:
            key = (-value, -surplus, choice)
            best = key if best is None else min(best, key)
    return best[2]


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=1), st.integers(1, 80))
def test_a_precision_is_met_exactly_if_its_bounded_fraction_is(target, rows):
    bound = precision_bound(target, rows)
    assert bound.denominator <= max(rows, target.denominator if target.denominator <= rows else rows)
    for selected in range(1, rows + 1):
        for tp in range(selected + 1):
            meets = Fraction(tp, selected) >= target
            assert (int(bound.surplus(np.int64(tp), np.int64(selected))) >= 0) == meets


def padded_rows(rows):
    max_length = max(len(row) for row in rows)
    return [row + [(0, 0)] * (max_length - len(row)) for row in rows]


@settings(max_examples=100)
@given(cell_rows(), PRECISIONS)
def test_gmt_takes_the_best_run_of_each_row(rows, precision):
    expected = sum(oracle.dense_table([row], precision) for row in rows)
    assert true_positives(as_cells(rows), Algorithm.GMT, precision) == expected


@settings(max_examples=100)
@given(cell_rows(), PRECISIONS)
def test_vw_dpmt_is_never_below_ew_mist_and_gmt(rows, precision):
    cells = as_cells(padded_rows(rows))
    optimum = true_positives(cells, Algorithm.VW_DPMT, precision)
    for algorithm in (Algorithm.EW_DPMT, Algorithm.MIST, Algorithm.GMT):
        assert optimum >= true_positives(cells, algorithm, precision)


@settings(max_examples=100)
@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 4), PRECISIONS, st.data())
def test_ew_dpmt_equals_brute_force_on_cells_of_equal_size(k, row_length, size, precision, data):
    positives = st.lists(st.integers(0, size), min_size=row_length, max_size=row_length)
    rows = [[(size, p) for p in data.draw(positives)] for _ in range(k)]
    expected = oracle.brute_force(rows, precision)
    boundary = boundary_of(as_cells(rows), Algorithm.EW_DPMT, precision_constraint(precision))
    assert (boundary is None) == (expected is None)
    if boundary is not None:
        best = boundary_at(as_cells(rows), expected)
        assert (boundary.fit.true_positives, boundary.fit.selected) == (
            best.fit.true_positives,
            best.fit.selected,
        )


@st.composite
def constraints(draw):
    """Draw a constraint, with its test of (true positives, flagged, rows, positives) and its objective."""
    text = draw(st.sampled_from(["0.1", "0.25", "0.5", "0.75", "1"]))
    kind = draw(st.sampled_from([kind for kind in ConstraintKind if kind is not ConstraintKind.MAX_OMISSION]))
    bound = Fraction(text)
    match kind:
        case ConstraintKind.PRECISION:
            conditions = (lambda tp, s, n, p: Fraction(tp, s) >= bound, lambda tp, s: tp)
        case ConstraintKind.RECALL:
            conditions = (lambda tp, s, n, p: Fraction(tp, p) >= bound, Fraction)
        case ConstraintKind.MAX_FPR:
            conditions = (lambda tp, s, n, p: s - tp <= bound * (n - p), lambda tp, s: tp)
        case ConstraintKind.MIN_SPECIFICITY:
            conditions = (lambda tp, s, n, p: (n - p) - (s - tp) >= bound * (n - p), lambda tp, s: tp)
        case ConstraintKind.MAX_SELECTED:
            if draw(st.booleans()):
                text = f"{100 * bound}%"
                conditions = (lambda tp, s, n, p: s <= bound * n, lambda tp, s: tp)
            else:
                limit = draw(st.integers(1, 30))
                text = str(limit)
                conditions = (lambda tp, s, n, p: s <= limit, lambda tp, s: tp)
        case ConstraintKind.UTILITY:
            gain, cost = draw(st.sampled_from([("1", "1"), ("0.5", "1"), ("3", "0.7"), ("1", "100")]))
            worth = lambda tp, s: Fraction(gain) * tp - Fraction(cost) * (s - tp)  # noqa: E731
            return utility(gain, cost), lambda tp, s, n, p: worth(tp, s) > 0, worth
    return parse_constraint(kind, text), *conditions


def best_of_all(rows, allowed, objective):
    """Return the tops of highest objective, most true positives, fewest flagged, highest thresholds."""
    runs = oracle.run_counts(rows)
    n, p = sum(row[-1][1] for row in runs), sum(row[-1][0] for row in runs)
    best = None
    for tops in product(*(range(len(row)) for row in runs)):
        tp = sum(row[j][0] for row, j in zip(runs, tops, strict=True))
        s = sum(row[j][1] for row, j in zip(runs, tops, strict=True))
        if tp and allowed(tp, s, n, p):
            key = (-objective(tp, s), -tp, s, tops)
            best = key if best is None else min(best, key)
    return None if best is None else best[3]


@settings(max_examples=266)
@given(cell_rows(), constraints())
def test_vw_dpmt_equals_brute_force_under_every_constraint(rows, constraint_case):
    constraint, allowed, objective = constraint_case
    cells = as_cells(rows)
    expected = best_of_all(rows, allowed, objective)
    boundary = boundary_of(cells, Algorithm.VW_DPMT, constraint)
    assert (boundary is None) == (expected is None)
    assert boundary is None or same_boundary(boundary, boundary_at(cells, expected))


@settings(max_examples=133)
@given(cell_rows(max_rows=1), constraints())
def test_st_equals_brute_force_under_every_constraint(rows, constraint_case):
    constraint, allowed, objective = constraint_case
    cells = as_cells(rows)
    expected = best_of_all(rows, allowed, objective)
    boundary = boundary_of(cells, Algorithm.ST, constraint)
    assert (boundary is None) == (expected is None)
    assert boundary is None or same_boundary(boundary, boundary_at(cells, expected))


@settings(max_examples=133)
@given(cell_rows(), constraints())
def test_mist_is_the_best_isotonic_threshold_under_every_constraint(rows, constraint_case):
    constraint, allowed, objective = constraint_case
    values = [oracle.isotonic_values(row) for row in rows]
    n, p = sum(n for row in rows for n, _ in row), sum(p for row in rows for _, p in row)
    best = None
    for threshold in sorted({v for row in values for v in row if v is not None}, reverse=True):
        taken = [
            cell
            for row, row_values in zip(rows, values, strict=True)
            for cell, value in zip(row, row_values, strict=True)
            if value is not None and value >= threshold
        ]
        tp, s = sum(c[1] for c in taken), sum(c[0] for c in taken)
        if tp and allowed(tp, s, n, p):
            key = (-objective(tp, s), -tp, s)
            best = key if best is None else min(best, key)
    boundary = boundary_of(as_cells(rows), Algorithm.MIST, constraint)
    assert (None if boundary is None else (-boundary.fit.true_positives, boundary.fit.selected)) == (
        best and best[1:]
    )


@given(data_sets(), PRECISIONS)
def test_hr_is_the_best_of_all_coefficients_and_thresholds(data, precision):
    rows = as_rows(data)
    result = optimise_recalibrated(rows, precision_constraint(precision))
    low, high = min(u for _, u, _, _ in data), max(u for _, u, _, _ in data)
    scaled_uncertainty = [(u - low) / (high - low) if high > low else 0.0 for _, u, _, _ in data]
    best = max(
        oracle.single_threshold(
            [
                (s + c / 100 * (scaled if high > low else 0), y, w)
                for (s, _, y, w), scaled in zip(data, scaled_uncertainty, strict=True)
            ],
            precision,
        )
        for c in range(101)
    )
    assert (result.boundary.fit.true_positives if result.boundary else 0) == best


@settings(max_examples=133)
@given(
    data_sets(),
    PRECISIONS,
    st.sampled_from(list(Algorithm)),
    st.integers(1, 3),
    st.sampled_from([None, 1, 2, 5]),
)
def test_thresholds_rise_to_positive_rows_and_flagged_rows_are_counted_again(
    data, precision, algorithm, k, score_bins
):
    """True positives stay equal, and every threshold is the lowest score of a flagged positive row."""
    rows = as_rows(data)
    if algorithm in (Algorithm.HR, Algorithm.EW_DPMT):
        return
    cells = build_cells(
        rows, GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=k, score_bins=score_bins)
    )
    if algorithm is Algorithm.ST:
        cells = build_cells(rows, GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=1, score_bins=None))
    bare = replace(
        cells,
        rows=tuple(
            replace(row, lowest_positive=None, below_positive=None, scores=None) for row in cells.rows
        ),
    )
    raised, plain = (
        boundary_of(table, algorithm, precision_constraint(precision)) for table in (cells, bare)
    )
    assert (raised is None) == (plain is None)
    if raised is None:
        return
    assert raised.fit.true_positives == plain.fit.true_positives
    assert raised.fit.selected <= plain.fit.selected
    bins = bin_of(rows.uncertainty, cells.uncertainty_edges)
    weight = np.ones(len(rows.score), dtype=int) if rows.weight is None else rows.weight
    selected = 0
    for bin_index, (high, low) in enumerate(zip(raised.thresholds, plain.thresholds, strict=True)):
        inside = bins == bin_index
        taken = inside & rows.positive & (weight > 0) & (rows.score >= (np.inf if low is None else low))
        scores = rows.score[inside & (weight > 0)].tolist()
        assert high == (edge(rows.score[taken].min(), scores) if taken.any() else None)
        selected += weight[inside & (rows.score >= (np.inf if high is None else high))].sum()
    assert raised.fit.selected == selected
