"""Tests of the designs of samples: probabilities by definition, widths by formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.sampling import probabilities
from uqcli.sample.sampling import (
    STEPS,
    RateCounter,
    labels_for,
    precision_width,
    recall_design,
    steps,
    uniform_design,
)


def counted(step, flagged, cut=0, labelled=None):
    counter = RateCounter()
    labelled = np.zeros(len(step), dtype=bool) if labelled is None else labelled
    for part in (slice(None, cut), slice(cut, None)):
        counter.add(step[part], flagged[part], labelled[part])
    return counter.result()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 80), st.integers(1, 100))
def test_probabilities_are_those_of_water_filling_whatever_the_order(seed, rows, labels):
    random = np.random.default_rng(seed)
    step = random.integers(1, STEPS + 1, rows)
    flagged = random.random(rows) < 0.4
    flagged[:2] = True, False
    design = recall_design(counted(step, flagged), labels)
    rates = (step / STEPS) ** 2
    if labels < rows:
        expected = probabilities(rates.tolist(), flagged.tolist(), labels)
        np.testing.assert_allclose(design.of_rows(step, flagged), expected, rtol=1e-9)
    assert design.labels == pytest.approx(min(labels, rows))
    order = random.permutation(rows)
    again = recall_design(counted(step[order], flagged[order], cut=rows // 2), labels)
    assert (again.of_rows(step, flagged) == design.of_rows(step, flagged)).all()


def test_no_rate_is_drawn_with_less_than_half_of_the_mean():
    step = steps(np.concatenate([np.full(5000, 1e-9), np.full(500, 0.3), np.full(500, 0.6)]))
    flagged = np.arange(6000) >= 5500
    design = recall_design(counted(step, flagged), 600)
    assert design.of_rows(step, flagged).min() == pytest.approx(0.05)
    assert design.labels == pytest.approx(600)


def test_the_design_is_nowhere_wider_than_a_uniform_sample():
    random = np.random.default_rng(0)
    score = random.beta(0.5, 4, 20_000)
    step = steps(score)
    for cut in (0.1, 0.3, 0.5, 0.7):
        rows = counted(step, score >= cut)
        assert recall_design(rows, 1000).width(0.95) < uniform_design(rows, 1000).width(0.95)


def test_the_least_number_of_labels_has_the_width():
    rows = counted(np.ones(20_000, dtype=np.int64), np.arange(20_000) < 10_000)

    def width(labels):
        return precision_width(rows, 0.8, labels, 0.95)

    labels = labels_for(width, 0.1, 10_000)
    assert width(labels) <= 0.1 < width(labels - 1)
    assert labels_for(width, 0.1, labels - 1) is None
    assert labels_for(width, 0.1, 0) is None


def test_rows_with_a_label_are_not_drawn_and_lower_the_width():
    random = np.random.default_rng(3)
    score = random.beta(0.7, 4, 5000)
    step, flagged, labelled = steps(score), score > 0.3, random.random(5000) < 0.3
    plain, known = counted(step, flagged), counted(step, flagged, labelled=labelled)
    assert (known.rows, known.flagged, known.recall) == (plain.rows, plain.flagged, plain.recall)
    assert (known.rows_labelled, known.flagged_labelled) == (labelled.sum(), (labelled & flagged).sum())
    design = recall_design(known, 400)
    assert design.labels == pytest.approx(400)
    assert design.of_rows(step, flagged)[~labelled].sum() == pytest.approx(400)
    assert design.width(0.95) < recall_design(plain, 400).width(0.95)
    everything = recall_design(known, 9999)
    assert everything.width(0.95) == recall_design(plain, 9999).width(0.95)
    assert precision_width(known, 0.6, 50, 0.95) < precision_width(plain, 0.6, 50, 0.95)
    rest = known.flagged - known.flagged_labelled
    assert precision_width(known, 0.6, rest, 0.95) == precision_width(plain, 0.6, plain.flagged, 0.95)
