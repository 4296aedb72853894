"""Simulation of the differences between two scores of the same rows: their intervals cover at their level."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from uqcli.base.counts import pool
from uqcli.boundary.search.constraint import ConstraintKind, parse_constraint
from uqcli.estimates.paired import PairedCounts
from uqcli.estimates.score_metrics import auc, average_precision
from uqcli.overview.scores import curve_of, paired_intervals, reached_bounds

RUNS = 100
PRECISIONS = ("0.1", "0.2", "0.3", "0.5", "0.7", "0.9")
BOUNDS = [parse_constraint(ConstraintKind.PRECISION, text) for text in PRECISIONS]


def drawn(random, rows, noises, base):
    """Draw two probabilities that see the cause of the label with noise, and the label."""
    cause = random.normal(size=rows)
    label = random.random(rows) < expit(base + 2 * cause)
    return *(expit(base + cause + noise * random.normal(size=rows)) for noise in noises), label


def differences(first, second, label):
    counts = [pool(score, label) for score in (first, second)]
    loss = [np.where(label, (1 - score) ** 2, score**2).mean() for score in (first, second)]
    logs = [-np.log(np.where(label, score, 1 - score)).mean() for score in (first, second)]
    values = {
        "auc": [auc(each) for each in counts],
        "average_precision": [average_precision(each) for each in counts],
        "brier": loss,
        "log_loss": logs,
        **{f"recall_at_{bound.value}": [curve_of(each).recall(bound) for each in counts] for bound in BOUNDS},
    }
    return {name: second - first for name, (first, second) in values.items()}


@pytest.mark.parametrize(
    ("rows", "noises", "base"),
    [
        (300, (0.5, 0.5), -1),
        (300, (1.0, 0.3), -3),
        (500, (1.0, 0.3), -5),  # 14 positive rows
        (1000, (0.0, 0.05), -1),
        (1000, (1.0, 0.3), -3),
        (1000, (1.0, 0.3), -5),
    ],
)
def test_intervals_of_differences_between_scores_cover(rows, noises, base):
    truth = differences(*drawn(np.random.default_rng(0), 1_000_000, noises, base))
    if noises[0] == noises[1]:
        truth = dict.fromkeys(truth, 0.0)
    covered, made = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
    for run in range(RUNS):
        first, second, label = drawn(np.random.default_rng([run, rows]), rows, noises, base)
        paired = PairedCounts.from_predictions(first, second, label, None)
        shown = reached_bounds(BOUNDS, list(map(curve_of, paired.counts())))
        for name, interval in paired_intervals(paired, shown, seed=run).items():
            if interval is not None:
                made[name] += 1
                covered[name] += interval[0] <= truth[name] <= interval[1]
    for name in truth:
        share = covered[name] / max(made[name], 1)
        if made[name]:
            assert stats.binomtest(covered[name], made[name], 0.93, alternative="less").pvalue > 0.01, (
                name,
                share,
            )
    assert made["auc"] >= (0.8 if (rows, base) == (500, -5) else 0.9) * RUNS
