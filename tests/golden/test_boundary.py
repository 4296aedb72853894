"""Golden tests of true positives on generated data; the dense table confirms the optimum."""

from fractions import Fraction

import numpy as np
import pytest

from tests.oracles.boundary import dense_table
from tests.properties.strategies import build_cells
from uqcli.base.choices import Algorithm, Binning
from uqcli.base.rows import Rows
from uqcli.bin.grid import GridSpec
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.typed_constraints import parse_constraint


def generated_rows(rows):
    """Generate rows by integer arithmetic alone, so that they are equal on every machine."""
    state = 12345
    drawn = []
    for _ in range(3 * rows):
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        drawn.append(state >> 40)
    a, b, c = (np.array(drawn[start::3]) for start in range(3))
    score, uncertainty = a % 1009 / 1009, b % 997 / 997
    return Rows(
        numbers={"score": score, "uncertainty": uncertainty},
        positive=(c % 1000) / 1000 < score * (1.1 - 0.7 * uncertainty),
    )


ROWS = generated_rows(2000)

GOLDEN = {
    (Algorithm.VW_DPMT, 3, 100): {"0.5": 692, "0.6": 558, "0.7": 361, "0.8": 216, "0.9": 115},
    (Algorithm.VW_DPMT, 5, 40): {"0.5": 694, "0.6": 573, "0.7": 403, "0.8": 242, "0.9": 137},
    (Algorithm.VW_DPMT, 3, None): {"0.5": 693, "0.6": 559, "0.7": 364, "0.8": 225, "0.9": 118},
    (Algorithm.MIST, 3, 100): {"0.5": 681, "0.6": 537, "0.7": 361, "0.8": 216, "0.9": 115},
    (Algorithm.MIST, 5, 40): {"0.5": 691, "0.6": 570, "0.7": 402, "0.8": 204, "0.9": 120},
    (Algorithm.MIST, 3, None): {"0.5": 682, "0.6": 542, "0.7": 362, "0.8": 220, "0.9": 111},
    (Algorithm.ST, 1, None): {"0.5": 676, "0.6": 470, "0.7": 224, "0.8": 0, "0.9": 0},
}


@pytest.mark.parametrize(("algorithm", "uncertainty_bins", "score_bins"), GOLDEN)
def test_true_positives_are_the_golden_values(algorithm, uncertainty_bins, score_bins):
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=uncertainty_bins, score_bins=score_bins)
    cells = build_cells(ROWS, spec)
    true_positives = {}
    for precision in GOLDEN[algorithm, uncertainty_bins, score_bins]:
        boundary = optimise(cells, algorithm, parse_constraint(ConstraintKind.PRECISION, precision)).boundary
        true_positives[precision] = boundary.fit.true_positives if boundary else 0
    assert true_positives == GOLDEN[algorithm, uncertainty_bins, score_bins]


@pytest.mark.parametrize("precision", ["0.6", "0.75", "0.9"])
@pytest.mark.parametrize("score_bins", [20, 60])
def test_the_optimum_equals_the_dense_table(precision, score_bins):
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=3, score_bins=score_bins)
    cells = build_cells(ROWS, spec)
    rows = [list(zip(row.count.tolist(), row.positives.tolist(), strict=True)) for row in cells.rows]
    boundary = optimise(
        cells, Algorithm.VW_DPMT, parse_constraint(ConstraintKind.PRECISION, precision)
    ).boundary
    assert (boundary.fit.true_positives if boundary else 0) == dense_table(rows, Fraction(precision))
