"""Intervals of paired differences hold their level at few rows and near the edges, effect or none."""

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

# of positives, and of other rows: shares that only the first, both, and only the second boundary select
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
    lost, kept, gained = ((positives * one, (1 - positives) * other) for one, other in zip(*law, strict=True))
    first, second = (np.add(kept, alone) for alone in (lost, gained))
    return {
        "recall": law[0][2] - law[0][0],
        "precision": second[0] / second.sum() - first[0] / first.sum(),
        "selected": second.sum() - first.sum(),
    }


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("rows", [20, 50, 200])
def test_intervals_of_differences(setting, rows):
    law, positives = SETTINGS[setting], 0.4
    expected = truth(law, positives)
    shares = [positives * each for each in law[0]] + [(1 - positives) * each for each in law[1]]
    cells = [*shares, positives * (1 - sum(law[0])), (1 - positives) * (1 - sum(law[1]))]
    held = dict.fromkeys(expected, 0)
    for run in range(REPETITIONS):
        drawn = np.random.default_rng([rows, run]).multinomial(rows, cells).tolist()
        lost, kept, gained = (Chosen(positives=drawn[at], negatives=drawn[3 + at]) for at in range(3))
        pair = PairedSelections(lost=lost, kept=kept, gained=gained)
        found = difference_of(pair, rows, sum(drawn[:3]) + drawn[6], 0.95)
        ends = {
            "recall": (found.recall.low, found.recall.high),
            "precision": (found.precision.low, found.precision.high),
            "selected": (found.selected.low / rows, found.selected.high / rows),
        }
        for name, value in expected.items():
            held[name] += ends[name][0] <= value + 1e-12 and value <= ends[name][1] + 1e-12
    for name, count in held.items():
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
def test_intervals_of_losses_of_two_calibrators(setting):
    repetitions = max(100, REPETITIONS // 2)
    points, second = np.linspace(0.05, 0.95, 200_001), MAPS[setting]
    first, other = losses(points, points), losses(second(points), points)
    held, asked = dict.fromkeys(first, 0), 0
    for run in range(repetitions):
        random = np.random.default_rng([11, run])
        score = random.uniform(0.05, 0.95, 300)
        pairs = PairedCounts.of(score, second(score), random.random(300) < score, None)
        found = resampled_losses(pairs, ResamplingPlan(replicates=60, seed=run))
        asked += bool(found)
        for name, estimate in found.items():
            held[name] += estimate.low <= other[name] - first[name] <= estimate.high
    if setting in ("at the upper end", "in the middle", "everywhere"):
        assert asked > 0.5 * repetitions
    for name, count in held.items():
        below = stats.binomtest(count, asked, 0.93, alternative="less").pvalue if asked else 1
        assert below > 0.01, (name, count / asked)
