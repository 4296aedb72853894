"""Simulations of every printed interval: it covers at about its level, for few rows and near 0 and 1."""

import numpy as np
import pytest
from scipy import stats

from tests.statistical.levels import lowest, repetitions
from tests.statistical.test_shift import evidence_of, sampled_rows
from uqcli.base.counts import pool
from uqcli.base.draws import Purpose, generator
from uqcli.base.errors import InfeasibleError
from uqcli.base.options import ResamplingOptions
from uqcli.comparison.run import compare
from uqcli.estimates.paired import PairedClassCounts, PairedCounts
from uqcli.estimates.resampling import Resamples, tail_of
from uqcli.shift.estimators import PredictedClasses
from uqcli.shift.rule import coverage_draws, percentiles, precision_interval
from uqcli.shift.run import intervals_of_weights
from uqcli.tce.chance import chance_of_scores, intervals_of_scores
from uqcli.tce.measure import measure
from uqcli.tce.options import MeasureOptions

RUNS = repetitions(100) * 3 // 2


def covers(covered, intervals_made):
    """Return whether a coverage is consistent with two percentage points below the nominal one."""
    return covered / intervals_made >= lowest(0.93, intervals_made, drawn=RUNS)


def log_losses(p):
    return -(p * np.log(p) + (1 - p) * np.log1p(-p))


DISTRIBUTIONS = {  # scores that are true probabilities
    "half": lambda random, rows: random.uniform(0.05, 0.95, rows),
    "rare": lambda random, rows: random.beta(2, 30, rows),
}


@pytest.mark.parametrize(("distribution", "rows"), [("half", 100), ("half", 400), ("rare", 1000)])
def test_intervals_of_losses_and_of_the_calibration_line_cover(distribution, rows):
    truth = DISTRIBUTIONS[distribution](np.random.default_rng(0), 400_000)
    expected = {
        "brier": np.mean(truth * (1 - truth)),
        "log_loss": np.mean(log_losses(truth)),
        "intercept": 0.0,
        "slope": 1.0,
    }
    covered, intervals_made = dict.fromkeys(expected, 0), dict.fromkeys(expected, 0)
    for run in range(RUNS):
        random = np.random.default_rng([1, run])
        score = DISTRIBUTIONS[distribution](random, rows)
        counts = pool(score, random.random(rows) < score)
        plan = ResamplingOptions(bootstrap=60, seed=run)
        for name, interval in intervals_of_scores(counts, plan, (0,)).items():
            if interval is not None:
                intervals_made[name] += 1
                covered[name] += interval[0] <= expected[name] <= interval[1]
    for name in expected:
        assert intervals_made[name] > 0.9 * RUNS
        assert covers(covered[name], intervals_made[name]), (name, covered[name] / intervals_made[name])


def test_p_values_of_true_probabilities_have_their_level():
    rejections = dict.fromkeys(("ece", "ace", "mce", "tce", "mcb", "ecce"), 0)
    for run in range(RUNS):
        random = np.random.default_rng([2, run])
        score = random.beta(1, 4, 200)
        counts = pool(score, random.random(200) < score)
        values = measure(counts, MeasureOptions()).metrics
        plan = ResamplingOptions(bootstrap=39, seed=run)
        chance = chance_of_scores(counts, values, MeasureOptions(), plan, (0,))
        for name in rejections:
            rejections[name] += chance.if_calibrated[name].p_value <= 0.1
    for name, count in rejections.items():
        assert stats.binomtest(count, RUNS, 0.1, alternative="greater").pvalue > 0.01, (name, count)


def test_paired_intervals_of_a_calibrator_cover_on_new_data():
    """For a fixed map, a million draws give the AUC and the differences of the losses."""
    random = np.random.default_rng(0)
    truth = random.uniform(0.05, 0.95, 1_000_000)
    before, after = truth**2, 0.9 * truth + 0.05

    def losses(p):
        log = -(truth * np.log(p) + (1 - truth) * np.log1p(-p))
        return {"log_loss": log.mean(), "brier": (truth * (1 - p) ** 2 + (1 - truth) * p**2).mean()}

    expected = {name: losses(after)[name] - value for name, value in losses(before).items()}
    order = np.argsort(truth)
    below = np.cumsum(1 - truth[order]) - (1 - truth[order]) / 2
    auc = (truth[order] * below).sum() / (truth.sum() * (1 - truth).sum())
    covered = {"log_loss": 0, "brier": 0, "auc": 0}
    for run in range(RUNS):
        random = np.random.default_rng([3, run])
        score = random.uniform(0.05, 0.95, 300)
        counts = PairedCounts.from_predictions(score**2, 0.9 * score + 0.05, random.random(300) < score, None)
        comparison = compare(counts, ResamplingOptions(bootstrap=60, seed=run))
        for name, value in expected.items():
            covered[name] += comparison.difference[name].low <= value <= comparison.difference[name].high
        covered["auc"] += comparison.before["auc"].low <= auc <= comparison.before["auc"].high
    for name, count in covered.items():
        assert covers(count, RUNS), (name, count / RUNS)


def test_calibration_of_true_probabilities_seldom_improves_significantly():
    helped = 0
    for run in range(RUNS):
        random = np.random.default_rng([4, run])
        score = random.uniform(0.02, 0.98, 300)
        after = np.clip(score + random.normal(0, 0.03, 300), 0.01, 0.99)
        counts = PairedCounts.from_predictions(score, after, random.random(300) < score, None)
        helped += compare(counts, ResamplingOptions(bootstrap=60, seed=run)).difference["log_loss"].high < 0
    assert stats.binomtest(helped, RUNS, 0.025, alternative="greater").pvalue > 0.01


SOURCE, TARGET = np.array([0.5, 0.3, 0.2]), np.array([0.25, 0.7, 0.05])


NAMES = ("0", "1", "2")


def draw_class_rows(random, rows, prior):
    """Draw probabilities that are calibrated under the source priors, and labels."""
    return sampled_rows(random, rows, prior, SOURCE, 1.6)


@pytest.mark.parametrize(("kind", "runs", "rows"), [("hard", 250, 300), ("soft", 60, 300), ("em", 40, 300)])
def test_intervals_of_class_weights_and_of_coverage_on_target_data_cover(kind, runs, rows):
    covered, coverage_hits, intervals_made = np.zeros(3), 0, 0
    runs = repetitions(runs) * 3 // 2
    truth, labels = draw_class_rows(np.random.default_rng(9), 200_000, TARGET)
    coverage = (truth[np.arange(len(labels)), labels] >= 0.2).mean()
    for run in range(runs):
        random = np.random.default_rng([5, run])
        evidence = evidence_of(
            kind, draw_class_rows(random, rows, SOURCE), draw_class_rows(random, rows, TARGET)[0], NAMES
        )
        estimate, redrawn = evidence.estimate(), []
        for replicate in range(79):
            try:
                redrawn.append(evidence.redrawn(generator(run, Purpose.BOOTSTRAP, replicate), estimate))
            except InfeasibleError:
                redrawn.append(None)
        weights = [draw and draw[0] for draw in redrawn]
        intervals = intervals_of_weights(weights, 0.95)
        if intervals is None:
            continue
        intervals_made += 1
        covered += [
            low <= weight <= high for (low, high), weight in zip(intervals, TARGET / SOURCE, strict=True)
        ]
        draws = np.array([weight_draw for weight_draw in weights if weight_draw is not None])
        probability, label = draw_class_rows(random, rows, SOURCE)
        in_set = probability[np.arange(rows), label] >= 0.2
        counts = np.bincount(label, minlength=3), np.bincount(label[in_set], minlength=3)
        interval = percentiles(coverage_draws(draws, *counts, generator(run, Purpose.TARGET)), 0.95)
        coverage_hits += interval[0] <= coverage <= interval[1]
    assert intervals_made > 0.9 * runs
    for count in covered:
        assert covers(int(count), intervals_made), covered / intervals_made
    assert covers(coverage_hits, intervals_made), coverage_hits / intervals_made


def test_intervals_of_precision_on_target_data_cover():
    """The positive rate is 0.1 in the source and 0.2 in the target data."""
    source, target, covered, runs = 0.1, 0.2, 0, repetitions(250) * 3 // 2
    recall, false_positive_rate = 0.6, 0.05
    precision = target * recall / (target * recall + (1 - target) * false_positive_rate)
    for run in range(runs):
        random = np.random.default_rng([6, run])
        positives = random.binomial(600, source)
        flagged = random.binomial(600 - positives, false_positive_rate), random.binomial(positives, recall)
        joint = np.array([[600 - positives - flagged[0], positives - flagged[1]], [flagged[0], flagged[1]]])
        alert_rate = target * recall + (1 - target) * false_positive_rate
        predicted = random.binomial(600, alert_rate)
        evidence = PredictedClasses(
            joint=joint, target=np.array([600 - predicted, predicted]), classes=("0", "1")
        )
        estimate = evidence.estimate()
        draws = np.array(
            [
                evidence.redrawn(generator(run, Purpose.BOOTSTRAP, replicate), estimate)[0]
                for replicate in range(99)
            ]
        )
        new_positives = random.binomial(300, source)
        counts = (
            random.binomial(new_positives, recall),
            random.binomial(300 - new_positives, false_positive_rate),
        )
        low, high = precision_interval(draws, *counts, 0.95, generator(run, Purpose.TARGET))
        covered += low <= precision <= high
    assert covers(covered, runs), covered / runs


@pytest.mark.parametrize("counts", [[5, 1, 0, 14], [50, 1, 0, 14], [1, 1, 1, 1, 1]])
def test_resampled_counts_follow_the_distribution_of_resampled_rows(counts):
    count, rows = np.array(counts), sum(counts)
    drawn = np.array([Resamples(count).times(np.random.default_rng(seed)) for seed in range(4000)])
    assert (drawn.sum(axis=1) == rows).all()
    np.testing.assert_allclose(drawn.mean(axis=0), count, atol=0.2)
    shares = count / rows
    np.testing.assert_allclose(drawn.var(axis=0), rows * shares * (1 - shares), rtol=0.1, atol=1e-12)


@pytest.mark.parametrize(
    ("replicates", "tail"), [(38, None), (39, 0), (100, 1), (199, 4), (200, 4), (1000, 24)]
)
def test_order_statistics_have_at_least_the_nominal_confidence(replicates, tail):
    assert tail_of(replicates, 0.95) == tail
    if tail is not None:
        assert (replicates - 1 - 2 * tail) / (replicates + 1) >= 0.95 - 1e-12


@pytest.mark.parametrize(("shape", "rows"), [((1, 1, 1), 100), ((3, 1, 0.5, 0.5), 400)])
def test_paired_intervals_of_class_probabilities_cover(shape, rows):
    def draw_probability(random, size):
        probability = np.clip(random.dirichlet(shape, size), 1e-4, 1)
        return probability / probability.sum(axis=1, keepdims=True)

    def sharper(probability):
        powers = probability**1.5
        return powers / powers.sum(axis=1, keepdims=True)

    def losses(truth, predicted):
        squares = (predicted**2).sum(axis=1) - 2 * (truth * predicted).sum(axis=1) + 1
        return {
            "log_loss": -(truth * np.log(predicted)).sum(axis=1).mean(),
            "brier": squares.mean() / len(shape),
        }

    truth = draw_probability(np.random.default_rng(0), 400_000)
    before, after = losses(truth, sharper(truth)), losses(truth, truth)
    difference = {name: after[name] - before[name] for name in after}
    expected = {"before": before, "after": after, "difference": difference}
    covered = {(side, name): 0 for side in expected for name in before}
    intervals_made = dict.fromkeys(covered, 0)
    for run in range(RUNS):
        random = np.random.default_rng([5, run])
        probability = draw_probability(random, rows)
        label = (random.random((rows, 1)) > probability.cumsum(axis=1)[:, :-1]).sum(axis=1)
        counts = PairedClassCounts.from_predictions(sharper(probability), probability, label, None)
        compared = compare(counts, ResamplingOptions(bootstrap=60, seed=run))
        for side, name in covered:
            interval = getattr(compared, side)[name]
            if interval.low is not None:
                intervals_made[side, name] += 1
                covered[side, name] += interval.low <= expected[side][name] <= interval.high
    for key, count in covered.items():
        assert intervals_made[key] > 0.9 * RUNS
        assert covers(count, intervals_made[key]), (key, count / intervals_made[key])
