"""Strategies of small labelled data sets, with the ties and edge cases of real ones."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from uqcli.base.choices import Algorithm, Binning
from uqcli.base.counts import LOWEST, CellRow, Cells
from uqcli.base.rows import Rows
from uqcli.bin.grid import cells_from, pool_by, uncertainty_edges_of
from uqcli.boundary.search.constraint_kinds import RULES, ConstraintKind

PRECISIONS = st.one_of(
    st.sampled_from(
        [Fraction(text) for text in ("0.5", "0.7", "0.9", "1", "0.25", "0.333333333333", "1e-9")]
    ),
    st.fractions(min_value=Fraction(1, 1000), max_value=1, max_denominator=10**12),
)

ON_CELLS = [algorithm for algorithm in Algorithm if algorithm is not Algorithm.HR]
GRIDS = [binning for binning in Binning if binning.cuts_uncertainty]


def precision_constraint(precision):
    """Make the constraint of an exact precision bound."""
    return RULES[ConstraintKind.PRECISION](value=str(precision), numbers=(precision,))


@st.composite
def cell_rows(draw, max_rows=3, max_cells=6, max_count=6):
    """Draw rows of (n, p) cells, some empty."""
    cell = st.integers(0, max_count).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
    row = st.lists(cell, min_size=1, max_size=max_cells)
    return draw(st.lists(row, min_size=1, max_size=max_rows))


def as_cells(rows):
    """Turn the cells into uqcli's table, with scores 0, 1, 2, ... as edges."""
    table = []
    for row in rows:
        lower = np.arange(len(row), dtype=np.float64)
        lower[0] = LOWEST
        counts = np.array(row, dtype=np.int64).reshape(-1, 2)
        table.append(CellRow(lower=lower, count=counts[:, 0].copy(), positives=counts[:, 1].copy()))
    return Cells(uncertainty_edges=np.arange(len(rows) - 1, dtype=np.float64), rows=tuple(table))


@st.composite
def data_sets(draw, weighted=True, max_size=24):
    """Draw lists of (score, uncertainty, positive, weight) with coarse values and many ties."""
    score = draw(
        st.sampled_from(
            [
                st.integers(0, 3).map(lambda v: v / 3),
                st.floats(-2, 2, width=32),
                st.just(0.5),
                st.floats(0, 1),
            ]
        )
    )
    uncertainty = draw(st.sampled_from([st.integers(0, 2).map(float), st.just(-1.5), st.floats(-5, 5)]))
    label = draw(st.sampled_from([st.booleans(), st.just(True), st.just(False)]))
    weight = st.integers(0, 3) if weighted else st.just(1)
    row = st.tuples(score.map(lambda v: v + 0.0), uncertainty.map(lambda v: v + 0.0), label, weight)
    return draw(st.lists(row, min_size=1, max_size=max_size).filter(lambda rows: any(r[3] for r in rows)))


def as_rows(data, weighted=True):
    """Turn the rows into uqcli's arrays."""
    return Rows(
        numbers={
            "score": np.array([row[0] for row in data]),
            "uncertainty": np.array([row[1] for row in data]),
        },
        positive=np.array([row[2] for row in data]),
        weight=np.array([row[3] for row in data], dtype=np.int64) if weighted else None,
    )


def build_cells(calibration_set, spec):
    """Make a grid's cells from rows in memory."""
    edges = uncertainty_edges_of(calibration_set, spec)
    return cells_from(edges, pool_by(calibration_set, edges), spec)
