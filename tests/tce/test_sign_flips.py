"""Tests of calibration errors with random signs of clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.choices import Binning
from uqcli.base.counts import pool
from uqcli.estimates.binning import BINNING_RULES, BinSizes
from uqcli.tce.clusters import SignedErrors
from uqcli.tce.measure import measure
from uqcli.tce.options import MeasureOptions

ROWS = st.lists(st.tuples(st.integers(0, 20), st.booleans(), st.integers(0, 9)), min_size=20, max_size=60)


def signed_of(rows):
    """Return the columns of rows, and their signed errors."""
    rows = sorted(rows, key=lambda row: (row[2], row[0], row[1]))  # as ClusteredScores has them
    score, positive, cluster = map(np.array, zip(*rows, strict=True))
    counts = pool(score / 20, positive)
    edges = {
        name: BINNING_RULES[binning].edges(counts, BinSizes(bins=10))
        for name, binning in (("ece", Binning.EQUISPACED), ("ace", Binning.QUANTILE))
    }
    return (
        counts,
        SignedErrors.from_rows(score / 20, positive, cluster, edges),
        (score / 20, positive, cluster, edges),
    )


@given(ROWS)
def test_errors_without_signs_are_the_measured_ones(rows):
    counts, signed, _ = signed_of(rows)
    metrics = measure(counts, MeasureOptions()).metrics
    for name, value in signed.errors().items():
        assert value == pytest.approx(metrics[name], abs=1e-12)


@given(ROWS, st.integers(0, 99))
def test_signs_are_of_whole_clusters(rows, seed):
    _, signed, (score, positive, cluster, edges) = signed_of(rows)
    sign = 2 * np.random.default_rng(seed).integers(0, 2, signed.clusters) - 1
    of_cluster = dict(zip(np.unique(cluster).tolist(), sign.tolist(), strict=True))
    flipped = [(s, of_cluster[c] * (y - s)) for s, y, c in zip(score, positive, cluster, strict=True)]
    errors = signed.errors(np.random.default_rng(seed))
    for name, edge in edges.items():
        sums = np.zeros(len(edge) + 1)
        for s, residual in flipped:
            sums[np.searchsorted(edge, s, side="right")] += residual
        assert errors[name] == pytest.approx(np.abs(sums).sum() / len(flipped), abs=1e-12)
    totals = np.cumsum([0.0, *(sum(r for s, r in flipped if s == value) for value in np.unique(score))])
    assert errors["ecce"] == pytest.approx((totals.max() - totals.min()) / len(flipped), abs=1e-12)
