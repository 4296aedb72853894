"""Tests of the cross-validated number of uncertainty bins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uqcli.base.choices import Binning
from uqcli.base.rows import Rows
from uqcli.bin.grid import GridSpec, cells_from, pool_by, uncertainty_edges_of
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.cross_validation import BINS, BinsTried, fewest_of, has_few_alerts, tried_bins
from uqcli.boundary.search.typed_constraints import parse_constraint

SPEC = GridSpec(binning=Binning.SHARED, uncertainty_bins=8, score_bins=100)


def cells_of(seed, size, informative):
    """Draw cells of rows with an informative or uninformative uncertainty."""
    random = np.random.default_rng(seed)
    score, uncertainty = random.random(size), random.random(size)
    rate = np.clip(score - (0.7 * uncertainty if informative else 0.2), 0, 1)
    positive = random.random(size) < rate
    rows = Rows(numbers={"score": score, "uncertainty": uncertainty}, positive=positive)
    edges = uncertainty_edges_of(rows, SPEC)
    return cells_from(edges, pool_by(rows, edges), SPEC)


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize(("informative", "expected"), [(True, (2, 4, 8)), (False, (1,))])
def test_several_bins_are_chosen_only_if_the_uncertainty_is_informative(informative, expected):
    constraint = parse_constraint(ConstraintKind.PRECISION, "0.5")
    chosen = [fewest_of(tried_bins(cells_of(seed, 3000, informative), constraint, 0)) for seed in range(8)]
    assert sum(bins in expected for bins in chosen) >= 6, chosen


@pytest.mark.covering("thorough", every=3)
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
def test_every_constraint_has_a_result(kind, value):
    tried = tried_bins(cells_of(0, 2000, True), parse_constraint(ConstraintKind(kind), value), 1)
    assert [choice.bins for choice in tried] == list(BINS)
    assert tried[0].gain == 0
    assert all(np.isfinite([choice.gain, choice.behind, choice.error]).all() for choice in tried)


def test_too_few_alerts_give_no_choice():
    constraint = parse_constraint(ConstraintKind.PRECISION, "0.9999")
    assert tried_bins(cells_of(3, 1000, True), constraint, 0) == ()
    assert fewest_of(()) == 1


BOUNDS = [
    kind for kind in ConstraintKind if kind not in (ConstraintKind.UTILITY, ConstraintKind.MAX_OMISSION)
]


@settings(max_examples=300)
@given(st.integers(20, 400), st.integers(1, 99), st.floats(0.1, 5.0), st.sampled_from(BOUNDS))
def test_few_alerts_are_never_enough_for_a_choice(size, percent, power, kind):
    random = np.random.default_rng(size)
    score = random.random(size)
    rows = Rows(numbers={"score": score}, positive=random.random(size) < score**power, weight=None)
    cells = cells_from(
        np.empty(0),
        pool_by(rows, np.empty(0)),
        GridSpec(binning=Binning.SHARED, uncertainty_bins=1, score_bins=100),
    )
    constraint = parse_constraint(
        kind, str(percent) if kind is ConstraintKind.MAX_SELECTED else f"0.{percent:02}"
    )
    if has_few_alerts(constraint, cells.total, cells.positives):
        assert tried_bins(cells, constraint, 0) == ()


def test_the_same_seed_gives_the_same_result():
    constraint, cells = parse_constraint(ConstraintKind.PRECISION, "0.5"), cells_of(3, 1000, True)
    assert tried_bins(cells, constraint, 0) == tried_bins(cells, constraint, 0)
    assert tried_bins(cells, constraint, 0) != tried_bins(cells, constraint, 1)


def test_the_fewest_bins_within_one_standard_error_are_chosen():
    choices = [(1, 0.02, 0.005), (2, 0.004, 0.005), (3, 0.0, 0.0)]
    tried = tuple(BinsTried(bins=b, gain=0.03 - d, behind=d, error=e) for b, d, e in choices)
    assert fewest_of(tried) == 2
