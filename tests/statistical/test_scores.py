"""Simulation of the differences between two scores of the same rows: their intervals cover at their level."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from tests.statistical.levels import lowest, repetitions
from uqcli.base.counts import pool
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.typed_constraints import parse_constraint
from uqcli.estimates.paired import PairedCounts
from uqcli.estimates.proportion import holm
from uqcli.estimates.score_metrics import auc, average_precision
from uqcli.overview.scores import curve_of, paired_intervals, reached_bounds

RUNS = repetitions(100) * 3 // 2
FILES = repetitions(200)
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
        shown = reached_bounds(BOUNDS, list(map(curve_of, paired.sides)))
        for name, interval in paired_intervals(paired, shown, seed=run).items():
            if interval is not None:
                made[name] += 1
                covered[name] += interval[0] <= truth[name] <= interval[1]
    for name in truth:
        share = covered[name] / max(made[name], 1)
        if made[name]:
            assert share >= lowest(0.93, made[name], drawn=RUNS), (name, share)
    assert made["auc"] >= (0.8 if (rows, base) == (500, -5) else 0.9) * RUNS


def least_p_value(random, positives, negatives, better=0.0):
    """Return the least adjusted p-value of seven scores against the first, and whether it is of the last one.

    All eight see the cause of the label with as much noise; the last one ranks better by some standard
    deviations.
    """
    label = np.arange(positives + negatives) < positives
    cause = random.normal(size=len(label)) + label
    scores = [cause + random.normal(size=len(label)) for _ in range(8)]
    scores[-1] = scores[-1] + better * np.sqrt(2) * label  # cause and noise have this deviation
    tested = {
        index: PairedCounts.from_predictions(scores[0], scores[index], label, None).delong_p_value()
        for index in range(1, 8)
    }
    adjusted = holm(tested)
    first = min(adjusted, key=adjusted.get)
    return adjusted[first], first == 7


@pytest.mark.parametrize(("positives", "negatives"), [(10, 90), (20, 80), (20, 2000), (100, 400)])
def test_no_equal_score_is_called_better_or_worse(positives, negatives):
    random = np.random.default_rng([17, positives, negatives])
    called = sum(least_p_value(random, positives, negatives)[0] <= 0.05 for _ in range(5 * FILES))
    assert stats.binomtest(called, 5 * FILES, 0.06, alternative="greater").pvalue > 0.01, called / (5 * FILES)


def test_a_better_score_of_eight_is_found():
    random = np.random.default_rng(18)
    found = [least_p_value(random, 100, 400, better=0.5) for _ in range(FILES)]
    share = np.mean([p_value <= 0.05 and is_better for p_value, is_better in found])
    assert share > 0.7, share
