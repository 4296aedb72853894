"""Simulations of intervals of paired differences: they cover for few rows, near 0 and 1, for any effect."""

import numpy as np
import pytest

from tests.designs import independent
from tests.statistical.levels import lowest, repetitions
from uqcli.base.options import ResamplingOptions
from uqcli.estimates.design import flags
from uqcli.estimates.paired import PairedCounts
from uqcli.evaluate.calibrators import resampled_losses

REPETITIONS = repetitions(200)

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


def true_differences(flagged_shares, positive_rate):
    lost, kept, gained = (
        (positive_rate * positive_share, (1 - positive_rate) * negative_share)
        for positive_share, negative_share in zip(*flagged_shares, strict=True)
    )
    first, second = (np.add(kept, only_one) for only_one in (lost, gained))
    return {
        "recall": flagged_shares[0][2] - flagged_shares[0][0],
        "precision": second[0] / second.sum() - first[0] / first.sum(),
        "selected": second.sum() - first.sum(),
    }


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("rows", [20, 50, 200])
def test_intervals_of_differences_cover(setting, rows):
    flagged_shares, positive_rate = SETTINGS[setting], 0.4
    expected = true_differences(flagged_shares, positive_rate)
    shares = [positive_rate * share for share in flagged_shares[0]] + [
        (1 - positive_rate) * share for share in flagged_shares[1]
    ]
    cells = [
        *shares,
        positive_rate * (1 - sum(flagged_shares[0])),
        (1 - positive_rate) * (1 - sum(flagged_shares[1])),
    ]
    covered = dict.fromkeys(expected, 0)
    for run in range(REPETITIONS):
        drawn = np.random.default_rng([rows, run]).multinomial(rows, cells).tolist()
        sets = [(drawn[index], drawn[3 + index]) for index in range(3)]
        design = independent(*sets, (drawn[6], drawn[7]), 0.95)
        selected = design.rows_difference(flags(0), flags(1))
        found = {
            "recall": design.difference(flags(0), flags(1), positive=True),
            "precision": design.precision_difference(flags(0), flags(1)),
            "selected": selected.times(1 / rows),
        }
        intervals = {name: (estimate.low, estimate.high) for name, estimate in found.items()}
        for name, value in expected.items():
            covered[name] += intervals[name][0] <= value + 1e-12 and value <= intervals[name][1] + 1e-12
    for name, count in covered.items():
        assert count / REPETITIONS >= lowest(0.95, REPETITIONS), (name, count / REPETITIONS)


def losses(p, truth):
    return {
        "log_loss": np.mean(-truth * np.log(p) - (1 - truth) * np.log1p(-p)),
        "brier": np.mean(truth * (1 - p) ** 2 + (1 - truth) * p**2),
    }


MAPS = {  # the second map, which differs from the first (the score itself) where its name says
    "almost nowhere": lambda score: np.where(score > 0.93, 0.98, score),
    "at the upper end": lambda score: np.where(score > 0.68, 0.98, score),
    "in the middle": lambda score: np.where(abs(score - 0.5) < 0.14, score + 0.2, score),
    "everywhere": lambda score: 0.8 * score + 0.1,
    "hardly, except for a few": lambda score: np.where(score > 0.9, 0.99, score + 1e-6),
}


@pytest.mark.parametrize("setting", MAPS)
def test_intervals_of_the_difference_of_two_calibrators_cover(setting):
    repetitions = 3 * REPETITIONS if REPETITIONS > 999 else 100
    points, second = np.linspace(0.05, 0.95, 200_001), MAPS[setting]
    first_losses, second_losses = losses(points, points), losses(second(points), points)
    covered, intervals = dict.fromkeys(first_losses, 0), 0
    for run in range(repetitions):
        random = np.random.default_rng([11, run])
        score = random.uniform(0.05, 0.95, 300)
        counts = PairedCounts.from_predictions(score, second(score), random.random(300) < score, None)
        estimates = resampled_losses(counts, ResamplingOptions(bootstrap=60, seed=run))
        intervals += bool(estimates)
        for name, estimate in estimates.items():
            covered[name] += estimate.low <= second_losses[name] - first_losses[name] <= estimate.high
    if setting in ("at the upper end", "in the middle", "everywhere"):
        assert intervals > 0.5 * repetitions
    for name, count in covered.items():
        if intervals:
            assert count / intervals >= lowest(0.93, intervals, drawn=repetitions), (name, count / intervals)
