"""Simulations of intervals of paired differences: they cover at few rows, near 0 and 1, with any effect."""

import os

import numpy as np
import pytest
from scipy import stats

from uqcli.jobs.evaluate.calibrators import resampled_losses
from uqcli.jobs.evaluate.difference import difference_of
from uqcli.jobs.intervals import ResamplingPlan
from uqcli.methods.evaluate.difference import Chosen, PairedSelections
from uqcli.methods.evaluate.paired import PairedCounts

REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "200"))

# among positives and among negatives: shares that only the first, both, or only the second rule flags
SETTINGS = {
    "identical": ((0, 0.7, 0), (0, 0.1, 0)),
    "nearly identical": ((0.01, 0.8, 0.01), (0.01, 0.1, 0.01)),
    "recalls near 0": ((0.01, 0.02, 0.03), (0, 0.01, 0.02)),
    "recalls near 1": ((0.02, 0.97, 0.01), (0.1, 0.3, 0.1)),
    "perfect precision": ((0.1, 0.4, 0.1), (0, 0, 0)),
    "no effect": ((0.1, 0.5, 0.1), (0.05, 0.1, 0.05)),
    "nothing in common": ((0.5, 0, 0.5), (0.2, 0, 0.2)),
    "nested": ((0, 0.5, 0.2), (0, 0.05, 0.3)),
    "strong effect": ((0.02, 0.3, 0.6), (0.1, 0.05, 0.05)),
    "gained are right, lost are wrong": ((0, 0.3, 0.3), (0.3, 0.3, 0)),
    "both ways": ((0.3, 0.1, 0.3), (0.02, 0.3, 0.02)),
}


def truth(law, positives):
    lost, kept, gained = (
        (positives * positive_share, (1 - positives) * negative_share)
        for positive_share, negative_share in zip(*law, strict=True)
    )
    first, second = (np.add(kept, only_one) for only_one in (lost, gained))
    return {
        "recall": law[0][2] - law[0][0],
        "precision": second[0] / second.sum() - first[0] / first.sum(),
        "selected": second.sum() - first.sum(),
    }


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("rows", [20, 50, 200])
def test_intervals_of_differences_cover(setting, rows):
    law, positives = SETTINGS[setting], 0.4
    expected = truth(law, positives)
    shares = [positives * share for share in law[0]] + [(1 - positives) * share for share in law[1]]
    cells = [*shares, positives * (1 - sum(law[0])), (1 - positives) * (1 - sum(law[1]))]
    covered = dict.fromkeys(expected, 0)
    for run in range(REPETITIONS):
        drawn = np.random.default_rng([rows, run]).multinomial(rows, cells).tolist()
        lost, kept, gained = (
            Chosen(positives=drawn[index], negatives=drawn[3 + index]) for index in range(3)
        )
        pair = PairedSelections(lost=lost, kept=kept, gained=gained)
        difference = difference_of(pair, rows, sum(drawn[:3]) + drawn[6], 0.95)
        ends = {
            "recall": (difference.recall.low, difference.recall.high),
            "precision": (difference.precision.low, difference.precision.high),
            "selected": (difference.selected.low / rows, difference.selected.high / rows),
        }
        for name, value in expected.items():
            covered[name] += ends[name][0] <= value + 1e-12 and value <= ends[name][1] + 1e-12
    for name, count in covered.items():
        below = stats.binomtest(count, REPETITIONS, 0.95, alternative="less").pvalue
        assert below > 0.001, (name, count / REPETITIONS)


def losses(p, truth):
    return {
        "log_loss": np.mean(-truth * np.log(p) - (1 - truth) * np.log1p(-p)),
        "brier": np.mean(truth * (1 - p) ** 2 + (1 - truth) * p**2),
    }


MAPS = {  # a second map that differs from the first in some of the scores
    "nowhere almost": lambda score: np.where(score > 0.93, 0.98, score),
    "at the upper end": lambda score: np.where(score > 0.68, 0.98, score),
    "in the middle": lambda score: np.where(abs(score - 0.5) < 0.14, score + 0.2, score),
    "everywhere": lambda score: 0.8 * score + 0.1,
    "hardly, but for a few": lambda score: np.where(score > 0.9, 0.99, score + 1e-6),
}


@pytest.mark.parametrize("setting", MAPS)
def test_intervals_of_the_difference_of_two_calibrators_cover(setting):
    repetitions = max(100, REPETITIONS // 2)
    points, second = np.linspace(0.05, 0.95, 200_001), MAPS[setting]
    first_losses, second_losses = losses(points, points), losses(second(points), points)
    covered, intervals = dict.fromkeys(first_losses, 0), 0
    for run in range(repetitions):
        random = np.random.default_rng([11, run])
        score = random.uniform(0.05, 0.95, 300)
        pairs = PairedCounts.from_predictions(score, second(score), random.random(300) < score, None)
        estimates = resampled_losses(pairs, ResamplingPlan(replicates=60, seed=run))
        intervals += bool(estimates)
        for name, estimate in estimates.items():
            covered[name] += estimate.low <= second_losses[name] - first_losses[name] <= estimate.high
    if setting in ("at the upper end", "in the middle", "everywhere"):
        assert intervals > 0.5 * repetitions
    for name, count in covered.items():
        below = stats.binomtest(count, intervals, 0.93, alternative="less").pvalue if intervals else 1
        assert below > 0.01, (name, count / intervals)
