"""Every algorithm against its oracle, and the order between them."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import boundary as oracle
from tests.properties.strategies import PRECISIONS, as_cells, as_hold_out, cell_rows, data_sets
from uqcli.choices import Algorithm, Binning
from uqcli.methods.binning.grid import GridSpec, build_cells
from uqcli.methods.boundary.fit import search
from uqcli.methods.boundary.knapsack import Options, solve
from uqcli.methods.boundary.precision import precision_bound
from uqcli.methods.boundary.registry import ALGORITHMS
from uqcli.methods.boundary.result import boundary_at


def found(cells, algorithm, precision):
    tops = ALGORITHMS[algorithm].method(cells, precision_bound(precision, cells.total))
    return None if tops is None else boundary_at(cells, tops)


def true_positives(cells, algorithm, precision):
    boundary = found(cells, algorithm, precision)
    return 0 if boundary is None else boundary.fit.true_positives


@settings(max_examples=600)
@given(cell_rows(), PRECISIONS)
def test_vw_dpmt_is_the_brute_force_boundary_with_all_its_tie_breaks(rows, precision):
    cells = as_cells(rows)
    expected = oracle.brute_force(rows, precision)
    boundary = found(cells, Algorithm.VW_DPMT, precision)
    if expected is None:
        assert boundary is None
    else:
        assert boundary is not None
        assert same(boundary, boundary_at(cells, expected))


def same(one, other):
    return one.thresholds == other.thresholds and one.fit == other.fit


@settings(max_examples=200)
@given(cell_rows(max_rows=4, max_cells=8, most=4), PRECISIONS)
def test_vw_dpmt_equals_the_dense_table(rows, precision):
    assert true_positives(as_cells(rows), Algorithm.VW_DPMT, precision) == oracle.dense_table(rows, precision)


@settings(max_examples=400)
@given(cell_rows(), PRECISIONS)
def test_mist_equals_its_oracle(rows, precision):
    assert true_positives(as_cells(rows), Algorithm.MIST, precision) == oracle.mist(rows, precision)


@settings(max_examples=400)
@given(data_sets(), PRECISIONS)
def test_st_equals_trying_every_score(data, precision):
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=1, score_bins=None)
    cells = build_cells(as_hold_out(data), spec)
    expected = oracle.single_threshold([(s, y, w) for s, _, y, w in data], precision)
    assert true_positives(cells, Algorithm.ST, precision) == expected


@given(data_sets(), PRECISIONS, st.sampled_from(Binning), st.integers(1, 4), st.sampled_from([None, 1, 2, 5]))
def test_vw_dpmt_is_never_below_mist_or_with_all_scores_below_st(data, precision, binning, k, score_bins):
    hold_out = as_hold_out(data)
    cells = build_cells(hold_out, GridSpec(binning=binning, uncertainty_bins=k, score_bins=score_bins))
    optimum = true_positives(cells, Algorithm.VW_DPMT, precision)
    assert optimum >= true_positives(cells, Algorithm.MIST, precision)
    if score_bins is None:
        single = build_cells(hold_out, GridSpec(binning=binning, uncertainty_bins=1, score_bins=None))
        assert optimum >= true_positives(single, Algorithm.ST, precision)


@given(cell_rows(), st.lists(PRECISIONS, min_size=2, max_size=4), st.sampled_from(Algorithm))
def test_recall_never_rises_with_the_precision_bound(rows, precisions, algorithm):
    cells = as_cells(rows[:1] if algorithm is Algorithm.ST else rows)
    reached = [true_positives(cells, algorithm, precision) for precision in sorted(precisions)]
    assert reached == sorted(reached, reverse=True)


@given(cell_rows())
def test_the_best_precision_of_an_infeasible_search_is_the_best_of_all(rows):
    cells = as_cells(rows)
    expected, most = oracle.best_precision(rows)
    if expected == 0:
        assert search(cells, Algorithm.VW_DPMT, Fraction(1)).best is None
    elif expected < 1:
        result = search(cells, Algorithm.VW_DPMT, Fraction(1))
        assert result.found is None
        assert (result.best.fit.precision, result.best.fit.true_positives) == (float(expected), most)


@settings(max_examples=300)
@given(st.data())
def test_the_knapsack_is_exact_for_values_and_surpluses_of_any_size(data):
    scale = data.draw(st.sampled_from([1, 10**3, 10**9, 10**15]))
    classes = []
    for _ in range(data.draw(st.integers(1, 3))):
        size = data.draw(st.integers(0, 5))
        steps = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
        falls = data.draw(st.lists(st.integers(-3 * scale, 2 * scale), min_size=size, max_size=size))
        values, surpluses = [0], [0]
        for step, fall in zip(steps, falls, strict=True):
            values.append(values[-1] + step)
            surpluses.append(surpluses[-1] + (min(fall, 0) if step == 0 else fall))
        classes.append(Options(value=np.array(values), surplus=np.array(surpluses)))
    assert solve(classes) == exhaustive(classes)


def exhaustive(classes):
    from itertools import product

    best = None
    for choice in product(*(range(len(options.value)) for options in classes)):
        value = sum(int(o.value[i]) for o, i in zip(classes, choice, strict=True))
        surplus = sum(int(o.surplus[i]) for o, i in zip(classes, choice, strict=True))
        if surplus >= 0:
            key = (-value, -surplus, choice)
            best = key if best is None else min(best, key)
    return best[2]


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=1), st.integers(1, 80))
def test_a_precision_is_met_exactly_when_its_bounded_fraction_is(target, rows):
    bound = precision_bound(target, rows)
    assert bound.denominator <= max(rows, target.denominator if target.denominator <= rows else rows)
    for selected in range(1, rows + 1):
        for tp in range(selected + 1):
            meets = Fraction(tp, selected) >= target
            assert (int(bound.surplus(np.int64(tp), np.int64(selected))) >= 0) == meets
