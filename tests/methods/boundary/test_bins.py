"""The number of uncertainty bins is chosen by rows held out."""

import numpy as np
import pytest

from uqcli.choices import Binning, ConstraintKind
from uqcli.methods.bin.grid import GridSpec, cells_from, pool_by, uncertainty_edges_of
from uqcli.methods.boundary.bins import BINS, BinsTried, fewest_of, tried_bins
from uqcli.methods.boundary.constraint import parse_constraint
from uqcli.rows import Rows

SPEC = GridSpec(binning=Binning.SHARED, uncertainty_bins=8, score_bins=100)


def cells_of(seed, size, useful):
    """Cells of rows whose uncertainty tells something, or nothing."""
    random = np.random.default_rng(seed)
    score, uncertainty = random.random(size), random.random(size)
    rate = np.clip(score - (0.7 * uncertainty if useful else 0.2), 0, 1)
    positive = random.random(size) < rate
    rows = Rows(numbers={"score": score, "uncertainty": uncertainty}, positive=positive)
    edges = uncertainty_edges_of(rows, SPEC)
    return cells_from(edges, pool_by(rows, edges), SPEC)


@pytest.mark.parametrize(("useful", "expected"), [(True, (2, 4, 8)), (False, (1,))])
def test_bins_are_taken_where_they_pay(useful, expected):
    keep = parse_constraint(ConstraintKind.PRECISION, "0.5")
    chosen = [fewest_of(tried_bins(cells_of(seed, 3000, useful), keep, 0)) for seed in range(8)]
    assert sum(each in expected for each in chosen) >= 6, chosen


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("recall", "0.5"),
        ("max-selected", "10%"),
        ("max-fpr", "0.1"),
        ("precision", "0.4"),
        ("max-selected", "150"),
        ("utility", "gain=1,cost=1"),
    ],
)
def test_every_constraint_has_an_answer(kind, value):
    tried = tried_bins(cells_of(0, 2000, True), parse_constraint(ConstraintKind(kind), value), 1)
    assert [each.bins for each in tried] == list(BINS)
    assert tried[0].gain == 0
    assert all(np.isfinite([each.gain, each.behind, each.error]).all() for each in tried)


def test_too_few_alerts_say_nothing():
    keep = parse_constraint(ConstraintKind.PRECISION, "0.9999")
    assert tried_bins(cells_of(3, 1000, True), keep, 0) == ()
    assert fewest_of(()) == 1


def test_the_seed_decides_and_nothing_else():
    keep, cells = parse_constraint(ConstraintKind.PRECISION, "0.5"), cells_of(3, 1000, True)
    assert tried_bins(cells, keep, 0) == tried_bins(cells, keep, 0)
    assert tried_bins(cells, keep, 0) != tried_bins(cells, keep, 1)


def test_the_fewest_within_an_error_of_the_best():
    lines = [(1, 0.02, 0.005), (2, 0.004, 0.005), (3, 0.0, 0.0)]
    tried = tuple(BinsTried(bins=b, gain=0.03 - d, behind=d, error=e) for b, d, e in lines)
    assert fewest_of(tried) == 2
