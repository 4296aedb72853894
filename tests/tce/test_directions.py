"""Tests of the sentences on scores that are too high or too low: rows err together as they say."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uqcli.base.counts import pool
from uqcli.estimates.calibration_error import Rejected
from uqcli.tce.measure import measure
from uqcli.tce.options import MeasureOptions
from uqcli.tce.results import ClassResult, advice, findings


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(60, 1500),
    bend=st.sampled_from(["none", "higher", "lower", "sharper", "both"]),
)
def test_a_direction_is_that_of_all_rows_of_its_range_and_significant(seed, rows, bend):
    random = np.random.default_rng(seed)
    score = random.beta(1, 2, rows).round(3)
    truth = {
        "none": score,
        "higher": score**1.5,
        "lower": score**0.6,
        "sharper": 0.3 + 0.4 * score,
        "both": np.where(score > 0.5, score**2, score**0.5),
    }[bend]
    counts = pool(score, random.random(rows) < truth)
    measured = measure(counts, MeasureOptions())
    part = ClassResult(
        name=None,
        positives=int(counts.positives.sum()),
        metrics=measured.metrics,
        bins=measured.bins,
        rejected=measured.rejected,
        counts=counts,
        equispaced=measured.equispaced,
    )
    for sentence in findings(part):
        is_high = "too high" in sentence
        shown = re.search(r"on average ([\d.]+) %, but (?:only )?([\d.]+) % of these rows", sentence)
        mean, rate = map(float, shown.groups())
        assert (mean > rate) == is_high, sentence
        assert ("but only" in sentence) == is_high


@pytest.mark.parametrize(("wrong", "is_said"), [(400, False), (401, True)])
def test_many_rejected_scores_come_with_the_advice_that_small_errors_are_significant(wrong, is_said):
    counts = pool(np.linspace(0, 1, 2000), np.arange(2000) % 2 == 0)
    measured = measure(counts, MeasureOptions())
    rejected = np.zeros(len(measured.bins.count), dtype=np.int64)
    rejected[0] = wrong
    part = ClassResult(
        name=None,
        positives=1000,
        metrics=measured.metrics,
        bins=measured.bins,
        rejected=Rejected(rows=rejected, too_high=rejected),
        counts=counts,
        equispaced=measured.equispaced,
    )
    assert bool(advice(part)) == is_said  # from a fifth of all rows on
