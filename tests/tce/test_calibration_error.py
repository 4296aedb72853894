"""Tests of the test-based calibration error, against scipy row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.oracles import calibration_error as oracle
from uqcli.base.choices import CalibrationTest, ScoreBinning
from uqcli.base.counts import ValueCounts, pool
from uqcli.estimates.calibration_tests import binomial_rejected, t_rejected
from uqcli.estimates.linear_scaling import log_odds
from uqcli.kernels.logistic import logistic_fit, sigmoid
from uqcli.tce.calibration_line import calibration_line
from uqcli.tce.measure import measure
from uqcli.tce.options import MeasureOptions

LEVELS = [0.05, 0.01, 0.1, 0.5, 1.0, 0.001]
FAR = st.one_of(
    st.just(0.0),
    # scipy itself fails on subnormal scores; with a single positive row, the p-value is the score
    st.floats(1e-12, 1).filter(lambda score: score == 1 or score not in LEVELS),
)


def rejected_in_one_bin(test, score, positives, rows, alpha):
    start = np.array([0, len(score)])
    return test(score, start, np.array([positives]), np.array([rows]), alpha).of_scores()


ALPHAS = st.sampled_from(LEVELS)


@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.05, 0.1])
def test_a_p_value_equal_to_the_level_rejects(alpha):
    """A single positive row of score alpha has the p-value alpha."""
    assert stats.binomtest(1, 1, alpha).pvalue == alpha
    assert rejected_in_one_bin(binomial_rejected, np.array([alpha]), 1, 1, alpha).tolist() == [True]


@settings(max_examples=150)
@given(st.integers(1, 250), st.floats(0, 1), ALPHAS, st.lists(FAR, min_size=1, max_size=12))
def test_binomial_decisions_equal_scipys(rows, share, alpha, far):
    positives = round(share * rows)
    rate, width = positives / rows, 2 / np.sqrt(rows)
    near = [rate + width * step for step in (-1.5, -1.1, -1, -0.9, -0.5, 0, 0.5, 0.9, 1, 1.1, 1.5)]
    score = np.sort(np.clip(np.array([*far, *near]), 0, 1))
    expected = [stats.binomtest(positives, rows, q).pvalue <= alpha for q in score]
    assert rejected_in_one_bin(binomial_rejected, score, positives, rows, alpha).tolist() == expected


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize(("positives", "rows"), [(1, 30), (29, 30), (36, 300), (264, 300)])
def test_acceptance_regions_may_have_gaps(positives, rows):
    score = np.linspace(0, 1, 1001 if rows == 30 else 251)
    if rows == 300:  # gaps are narrow and near the ends of the region
        near = positives / rows + 0.08 * np.array([-1, 1])
        score = np.unique(np.concatenate([score, np.linspace(*near, 601)]))
    decisions = rejected_in_one_bin(binomial_rejected, score, positives, rows, 0.05)
    assert decisions.tolist() == [stats.binomtest(positives, rows, q).pvalue <= 0.05 for q in score]
    assert np.count_nonzero(np.diff(decisions.astype(int))) > 2


def test_a_known_gap_is_accepted():
    decisions = rejected_in_one_bin(binomial_rejected, np.array([0.1633, 0.1751, 0.18]), 1, 30, 0.05)
    assert decisions.tolist() == [True, False, True]


@given(st.integers(1, 200), st.floats(0, 1), ALPHAS, st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_t_decisions_equal_scipys(rows, share, alpha, scores):
    positives = round(share * rows)
    labels = [1] * positives + [0] * (rows - positives)
    expected = [oracle.is_rejected(q, labels, alpha, "t") for q in scores]
    assert rejected_in_one_bin(t_rejected, np.array(scores), positives, rows, alpha).tolist() == expected


ROWS = st.lists(
    st.tuples(st.one_of(FAR, st.integers(0, 5).map(lambda v: v / 5)), st.booleans()), min_size=1, max_size=40
)


@settings(max_examples=100)
@given(ROWS, st.sampled_from(ScoreBinning), st.sampled_from(CalibrationTest), ALPHAS, st.integers(1, 12))
def test_metrics_equal_those_summed_over_rows(rows, binning, test, alpha, n_bins):
    data = [(score + 0.0, int(label)) for score, label in rows]
    counts = pool(np.array([s for s, _ in data]), np.array([bool(y) for _, y in data]))
    report = measure(counts, MeasureOptions(binning=binning, test=test, alpha=alpha, n_bins=n_bins))
    metrics = report.metrics
    expected = oracle.measure(data, report.bins.low[1:].tolist(), alpha, test)
    assert metrics["tce"] == pytest.approx(expected["tce"])
    assert metrics["estimation_error"] == pytest.approx(expected["estimation"], abs=1e-12)
    assert metrics["within_bin_error"] == pytest.approx(expected["within"], abs=1e-12)
    equispaced = oracle.measure(data, [b / n_bins for b in range(1, n_bins)], alpha, test)
    assert metrics["ece"] == pytest.approx(equispaced["expected"], abs=1e-12)
    assert metrics["mce"] == pytest.approx(equispaced["maximum"], abs=1e-12)
    ordered = sorted(s for s, _ in data)
    edges = [ordered[b * len(ordered) // n_bins] for b in range(1, n_bins)]
    quantile = oracle.measure(data, edges, alpha, test)
    assert metrics["tce_q"] == pytest.approx(quantile["tce"])
    assert metrics["ace"] == pytest.approx(quantile["expected"], abs=1e-12)
    assert metrics["mce_q"] == pytest.approx(quantile["maximum"], abs=1e-12)
    assert metrics["brier"] == pytest.approx(oracle.brier(data), abs=1e-12)
    assert metrics["log_loss"] == pytest.approx(oracle.log_loss(data), rel=1e-9)


@given(ROWS, st.randoms(use_true_random=False))
def test_row_order_and_repetition_do_not_matter(rows, random):
    score, label = np.array([s + 0.0 for s, _ in rows]), np.array([y for _, y in rows])
    order = np.array(random.sample(range(len(rows)), len(rows)))
    metrics = measure(pool(score, label), MeasureOptions()).metrics
    assert measure(pool(score[order], label[order]), MeasureOptions()).metrics == metrics
    twice = pool(np.concatenate([score, score]), np.concatenate([label, label]))
    weighted = pool(score, label, np.full(len(score), 2, dtype=np.int64))
    assert measure(twice, MeasureOptions()).metrics == measure(weighted, MeasureOptions()).metrics


@given(ROWS, st.sampled_from([ScoreBinning.PAVA, ScoreBinning.PAVA_BC, ScoreBinning.QUANTILE]))
def test_bins_depend_only_on_the_order_of_scores(rows, binning):
    """An increasing transformation of the scores changes no bin."""
    score, label = np.array([s + 0.0 for s, _ in rows]), np.array([y for _, y in rows])
    rescaled = np.searchsorted(np.unique(score), score) / (len(rows) + 1)
    original, transformed = (
        measure(pool(scores, label), MeasureOptions(binning=binning, n_bins=4))
        for scores in (score, rescaled)
    )
    assert original.bins.count.tolist() == transformed.bins.count.tolist()
    assert original.bins.positives.tolist() == transformed.bins.positives.tolist()


@given(ROWS, st.data())
def test_bounded_bins_keep_their_sizes(rows, data):
    """No bin is below n_min, and only ties or forced merges exceed n_max."""
    score, label = np.array([s + 0.0 for s, _ in rows]), np.array([y for _, y in rows])
    counts = pool(score, label)
    n_min = data.draw(st.integers(1, len(rows)))
    n_max = data.draw(st.integers(n_min, len(rows) + 2))
    bins = measure(counts, MeasureOptions(n_min=n_min, n_max=n_max)).bins
    assert (bins.count >= n_min).all()
    largest = int(counts.count.max())
    assert (bins.count <= max(n_max, 2 * (n_min - 1) + largest, n_min - 1 + n_max)).all()


@settings(max_examples=60)
@given(ROWS)
def test_brier_parts_and_cumulative_error_equal_those_summed_over_rows(rows):
    data = [(score + 0.0, int(label)) for score, label in rows]
    counts = pool(np.array([s for s, _ in data]), np.array([bool(y) for _, y in data]))
    metrics = measure(counts, MeasureOptions()).metrics
    parts = [metrics["mcb"], metrics["dsc"], metrics["unc"]]
    np.testing.assert_allclose(parts, oracle.brier_parts(data), atol=1e-12)
    assert metrics["brier"] == pytest.approx(metrics["mcb"] - metrics["dsc"] + metrics["unc"], abs=1e-12)
    assert metrics["ecce"] == pytest.approx(oracle.cumulative_error(data), abs=1e-12)
    twice = ValueCounts(value=counts.value, count=2 * counts.count, positives=2 * counts.positives)
    repeated = measure(twice, MeasureOptions()).metrics
    for name in ("mcb", "dsc", "unc", "ecce", "ece", "brier"):
        assert repeated[name] == pytest.approx(metrics[name], abs=1e-12)


@pytest.mark.parametrize("rows", [60, 700, 20_000])
def test_the_calibration_line_maximises_the_likelihood(rows):
    random = np.random.default_rng(rows)
    score = random.beta(1, 3, rows)
    label = random.random(rows) < np.clip(1.4 * score, 0, 1)
    line = calibration_line(pool(score, label))
    data = list(zip(score.tolist(), label.astype(int).tolist(), strict=True))
    np.testing.assert_allclose([line.intercept, line.slope], oracle.calibration_line(data), atol=1e-5)
    probability = 1 / (1 + np.exp(-line.in_the_large - np.log(score / (1 - score))))
    assert probability.sum() == pytest.approx(label.sum(), rel=1e-9)  # where the likelihood is highest


@pytest.mark.parametrize(
    ("mean", "intercept", "slope"), [(-2, 0, 1), (-20, 18, 1), (-2, 0, -0.5), (0, 2, 30), (-2, -2, 0.01)]
)
def test_the_line_of_many_scores_is_that_of_all_at_once_however_miscalibrated(mean, intercept, slope):
    random = np.random.default_rng(7)
    x = random.normal(mean, 1, 10_000)
    label = random.random(10_000) < sigmoid(intercept + slope * x)
    counts = pool(sigmoid(x), label)
    line = calibration_line(counts)
    expected = logistic_fit(log_odds(counts.value)[None], counts.count, counts.positives)
    np.testing.assert_allclose([line.intercept, line.slope], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("score", "label", "has_in_the_large"),
    [
        ([0.1, 0.2, 0.9], [0, 0, 1], True),  # scores separate the classes
        ([0.1, 0.2, 0.9], [1, 1, 0], True),  # scores separate the classes in reverse order
        ([0.4, 0.4, 0.4], [0, 1, 1], True),
        ([0.1, 0.5], [0, 0], False),
    ],
)
def test_without_a_likelihood_maximum_there_is_no_calibration_line(score, label, has_in_the_large):
    line = calibration_line(pool(np.array(score), np.array(label) == 1))
    assert (line.intercept, line.slope) == (None, None)
    assert (line.in_the_large is not None) == has_in_the_large
