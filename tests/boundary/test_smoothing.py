"""Tests of smoothed rates, against the oracle, and of the nested boundaries that they rank."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import smoothing
from tests.properties.strategies import PRECISIONS, as_cells, cell_rows, precision_constraint
from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells
from uqcli.boundary.search import smoothing as smoothing_of_cells
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.smoothing import (
    Layout,
    nested_boundaries,
    nested_of_draws,
    nested_of_each,
    smoothed_rates,
)
from uqcli.boundary.search.typed_constraints import parse_constraint


def rows_in_descending_score(cells):
    return [
        list(zip(row.lower.tolist(), row.count.tolist(), row.positives.tolist(), strict=True))[::-1]
        for row in cells.rows
    ]


def rates_of(cells):
    layout = Layout.from_cells(cells)
    (rates,) = smoothed_rates(layout, *(counts[None] for counts in cells.flat))
    return np.split(rates, np.cumsum(layout.sizes)[:-1])


@given(cell_rows(max_rows=3, max_cells=8, max_count=30))
def test_rates_are_those_of_the_oracle(rows):
    cells = as_cells(rows)
    if cells.total == 0:
        return
    rates = [rate[::-1] for rate in rates_of(cells)]
    expected = smoothing.smoothed(rows_in_descending_score(cells))
    for row, expected_row in zip(rates, expected, strict=True):
        np.testing.assert_allclose(row, expected_row, rtol=1e-7, atol=1e-12)


@given(cell_rows(max_rows=4, max_cells=8, max_count=9))
def test_prefixes_are_nested_boundaries(rows):
    cells = as_cells(rows)
    nested = nested_boundaries(cells)
    assert (np.diff(nested.rate) <= 0).all()
    for last in range(len(nested.row)):
        tops = nested.tops(last, len(cells.rows))
        taken = [(row.count[len(row.count) - top :].sum(), row.positives[len(row.count) - top :].sum())
                 for row, top in zip(cells.rows, tops, strict=True)]  # fmt: skip
        assert sum(n for n, _ in taken) == nested.selected[last]
        assert sum(p for _, p in taken) == nested.true_positives[last]


@given(cell_rows(max_rows=3, max_cells=6, max_count=6), PRECISIONS)
def test_smooth_meets_the_bound_and_never_beats_the_optimum(rows, precision):
    cells = as_cells(rows)
    if cells.total == 0:
        return
    smooth = optimise(cells, Algorithm.SMOOTH, precision_constraint(precision)).boundary
    optimum = optimise(cells, Algorithm.VW_DPMT, precision_constraint(precision)).boundary
    if smooth is not None:
        assert smooth.fit.true_positives >= precision * smooth.fit.selected
        assert optimum is not None
        assert smooth.fit.true_positives <= optimum.fit.true_positives


@pytest.mark.parametrize(
    ("kind", "value"),
    [("precision", "0.6"), ("recall", "0.5"), ("max-selected", "20%"), ("max-fpr", "0.1"),
     ("utility", "gain=3,cost=1")],
)  # fmt: skip
def test_every_constraint_is_met(kind, value):
    random = np.random.default_rng(1)
    rate = np.linspace(0.02, 0.95, 40)
    sizes = random.integers(5, 40, (3, 40))
    rows = [
        list(zip(row_sizes.tolist(), random.binomial(row_sizes, rate).tolist(), strict=True))
        for row_sizes in sizes
    ]
    cells = as_cells(rows)
    boundary = optimise(cells, Algorithm.SMOOTH, parse_constraint(ConstraintKind(kind), value)).boundary
    fit = boundary.fit
    assert {
        "precision": lambda: fit.true_positives >= 0.6 * fit.selected,
        "recall": lambda: fit.true_positives >= 0.5 * fit.positives,
        "max-selected": lambda: fit.selected <= 0.2 * fit.rows,
        "max-fpr": lambda: fit.selected - fit.true_positives <= 0.1 * (fit.rows - fit.positives),
        "utility": lambda: 3 * fit.true_positives > fit.selected - fit.true_positives,
    }[kind]()


@given(st.integers(1, 5))
def test_a_grid_without_signal_has_one_rate(size):
    cells = as_cells([[(10, 5)] * size] * 2)
    for rate in rates_of(cells):
        np.testing.assert_allclose(rate, 0.5, atol=1e-3)


def test_equal_rates_are_ranked_by_score_bin_then_by_uncertainty_bin():
    row = [
        (10, 1),
        (10, 4),
        (10, 4),
        (10, 9),
    ]  # the same in both uncertainty bins; two score bins share one rate
    nested = nested_boundaries(as_cells([row, row]))
    assert (np.diff(nested.rate)[::2] == 0).all()
    assert nested.order.tolist() == [3, 7, 2, 6, 1, 5, 0, 4]


@given(cell_rows(max_rows=3, max_cells=8, max_count=30))
def test_tables_ranked_together_are_ranked_as_if_alone(rows):
    cells = as_cells(rows)
    count, positives = cells.flat
    tables = [(count, positives), (count // 2, positives // 2), (count[::-1], positives[::-1])]
    tables.append(tables[0])
    layout = Layout.from_cells(cells)
    together = nested_of_draws(layout, *(np.stack(column) for column in zip(*tables, strict=True)))
    for nested, table in zip(together, tables, strict=True):
        (alone,) = nested_of_draws(layout, *(column[None] for column in table))
        assert nested.order.tolist() == alone.order.tolist()
        assert nested.rate.tolist() == alone.rate.tolist()
        assert nested.selected.tolist() == alone.selected.tolist()


@given(st.lists(cell_rows(), min_size=1, max_size=6))
def test_grids_ranked_together_are_ranked_as_if_alone(grids):
    random = np.random.default_rng(0)
    cells = [as_cells(rows) for rows in grids]
    # with edges of their own, some of which are equal
    cells = [
        Cells(
            uncertainty_edges=part.uncertainty_edges,
            rows=tuple(
                replace(row, lower=np.sort(random.integers(0, 9, len(row.lower)) / 9)) for row in part.rows
            ),
        )
        for part in cells
    ]
    for part, (same, nested) in zip(cells, nested_of_each(cells), strict=True):
        alone = nested_boundaries(part)
        assert same is part
        for name, column in vars(alone).items():
            assert getattr(nested, name).tolist() == column.tolist()


def test_permuted_uncertainties_share_the_fit_by_score(monkeypatch):
    random = np.random.default_rng(0)
    count = random.integers(1, 9, (2, 30))
    positives = random.binomial(count, 0.4)
    layout = Layout.from_cells(
        as_cells([list(zip(*row, strict=True)) for row in zip(count, positives, strict=True)])
    )
    layout = Layout(lower=np.tile(layout.lower[:, :30], 2), sizes=layout.sizes)
    swapped = random.random(30) < 0.5
    tables = [
        np.stack([table, np.where(swapped, table[::-1], table)]).reshape(2, -1)
        for table in (count, positives)
    ]
    alone = [smoothed_rates(layout, *(table[[draw]] for table in tables))[0].tolist() for draw in (0, 1)]
    fits, fit = [], smoothing_of_cells._local_linear
    monkeypatch.setattr(
        smoothing_of_cells, "_local_linear", lambda rows, *more: fits.append(len(rows)) or fit(rows, *more)
    )
    assert smoothed_rates(layout, *tables).tolist() == alone
    assert fits == [1]
