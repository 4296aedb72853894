"""The number of uncertainty bins is chosen by rows held out."""

import numpy as np
import pytest

from uqcli.choices import Binning, ConstraintKind
from uqcli.jobs.boundary.auto_bins import BINS, fewest_of, tried_bins
from uqcli.methods.bin.grid import GridSpec
from uqcli.methods.boundary.constraint import parse_constraint
from uqcli.reports.boundary.bins_tried import BinsTried
from uqcli.rows import Rows

SPEC = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=3, score_bins=100)


def rows_of(seed, size, useful):
    """Rows whose uncertainty tells something, or nothing."""
    random = np.random.default_rng(seed)
    score, uncertainty = random.random(size), random.random(size)
    rate = np.clip(score - (0.7 * uncertainty if useful else 0.2), 0, 1)
    positive = random.random(size) < rate
    rows = Rows(numbers={"score": score, "uncertainty": uncertainty}, positive=positive)
    return rows.pooled()


@pytest.mark.parametrize(("useful", "expected"), [(True, (3, 5, 8)), (False, (1,))])
def test_bins_are_taken_where_they_pay(useful, expected):
    keep = parse_constraint(ConstraintKind.PRECISION, "0.5")
    chosen = [fewest_of(tried_bins(rows_of(seed, 3000, useful), SPEC, keep, 0)) for seed in range(8)]
    assert sum(each in expected for each in chosen) >= 6, chosen


@pytest.mark.parametrize(
    ("kind", "value"), [("recall", "0.5"), ("max-selected", "10%"), ("max-fpr", "0.1"), ("precision", "0.99")]
)
def test_every_constraint_has_an_answer(kind, value):
    tried = tried_bins(rows_of(0, 500, True), SPEC, parse_constraint(ConstraintKind(kind), value), 1)
    assert [each.bins for each in tried] == list(BINS)
    assert tried[0].gain == 0
    assert all(np.isfinite([each.gain, each.behind, each.error]).all() for each in tried)


def test_the_order_of_rows_has_no_say():
    rows = rows_of(3, 1000, True)
    keep = parse_constraint(ConstraintKind.PRECISION, "0.5")
    mixed = rows.only(np.random.default_rng(0).permutation(len(rows))).pooled()
    assert tried_bins(rows, SPEC, keep, 0) == tried_bins(mixed, SPEC, keep, 0)
    assert tried_bins(rows, SPEC, keep, 0) != tried_bins(rows, SPEC, keep, 1)


def test_the_fewest_within_an_error_of_the_best():
    lines = [(1, 0.02, 0.005), (2, 0.004, 0.005), (3, 0.0, 0.0)]
    tried = tuple(BinsTried(bins=b, gain=0.03 - d, behind=d, error=e) for b, d, e in lines)
    assert fewest_of(tried) == 2
