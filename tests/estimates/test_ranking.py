"""Tests of AUC and average precision, against every pair of rows and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import average_precision_score

from tests.properties.strategies import data_sets
from uqcli.base.counts import pool
from uqcli.estimates.score_metrics import auc, average_precision


@given(data_sets(max_size=20))
def test_ranking_metrics_equal_their_definitions(data):
    score, _, positive, weight = (np.array(column) for column in zip(*data, strict=True))
    counts = pool(score, positive, weight)
    rows = [(s, y) for s, y, w in zip(score, positive, weight, strict=True) for _ in range(w)]
    concordances = [
        (above > below) + (above == below) / 2
        for above, y in rows
        if y
        for below, label_below in rows
        if not label_below
    ]
    if concordances:
        assert auc(counts) == pytest.approx(sum(concordances) / len(concordances))
    else:
        assert auc(counts) is None
    if any(y for _, y in rows):
        expected = average_precision_score([y for _, y in rows], [s for s, _ in rows])
        assert average_precision(counts) == pytest.approx(expected)
    else:
        assert average_precision(counts) is None
