"""Tests of lines and errors of drawn rows, against those computed from scratch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.choices import Binning
from uqcli.base.counts import ValueCounts, pool
from uqcli.base.rows import ClassCounts
from uqcli.tce.calibration_line import calibration_line
from uqcli.tce.drawn_lines import DrawnLines
from uqcli.tce.measure import ErrorsOfDraws, measure
from uqcli.tce.options import MeasureOptions


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.sampled_from([3, 8, 30, 2000]),
    values=st.sampled_from([2, 5, 10**9]),
    slope=st.sampled_from([0, 1, 9]),
)
def test_the_line_of_a_sample_is_that_of_its_rows(seed, rows, values, slope):
    random = np.random.default_rng(seed)
    score = random.integers(0, values, rows) / values
    label = random.random(rows) < 1 / (1 + np.exp(-slope * (2 * score - 1)))
    counts = pool(score, label)
    order = np.lexsort((score, ~label))
    times = random.multinomial(rows, np.full(rows, 1 / rows))
    lines = DrawnLines(score[order], int(label.sum()), calibration_line(counts, errors=True))
    drawn, present = lines.of(times), times > 0
    expected = calibration_line(
        pool(score[order][present], label[order][present], times[present]), errors=True
    )
    assert len(drawn.coefficients) == len(expected.coefficients)
    for found, wanted, error in zip(drawn.coefficients, expected.coefficients, expected.errors, strict=False):
        assert found == pytest.approx(wanted, abs=1e-4 * error + 1e-9)
    assert drawn.errors == pytest.approx(expected.errors, rel=1e-3, abs=1e-6)


@given(seed=st.integers(0, 2**32 - 1), ties=st.booleans())
def test_errors_of_drawn_labels_are_those_of_their_rows(seed, ties):
    random = np.random.default_rng(seed)
    score = random.integers(1, 30, 200) / 30 if ties else random.random(200)
    counts, options = pool(score, random.random(200) < score), MeasureOptions()
    positives = random.binomial(counts.count, counts.value)
    expected = measure(
        ValueCounts(value=counts.value, count=counts.count, positives=positives), options
    ).metrics
    errors = ErrorsOfDraws(counts, options).of(positives)
    assert errors == {name: expected[name] for name in errors}
    quantiles = MeasureOptions(binning=Binning.QUANTILE)
    assert ErrorsOfDraws(counts, quantiles).of(positives)["tce"] == expected["tce_q"]


@pytest.mark.parametrize("weight", [None, np.array([1, 2, 3])])
def test_drawn_classes_occur_as_often_as_they_are_probable(weight):
    probability = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [0.7, 0.0, 0.3]])
    rows = ClassCounts.from_rows(probability, np.zeros(3, dtype=np.int64), weight)
    draws = np.array([rows.draw_labels(np.random.default_rng(seed)) for seed in range(4000)])
    assert (draws.sum(axis=2) == rows.count).all()
    np.testing.assert_allclose(draws.mean(axis=0) / rows.count[:, None], rows.probability, atol=0.03)
