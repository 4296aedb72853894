"""Intervals of paired differences hold their level at few rows and near the edges, effect or none."""

import os

import numpy as np
import pytest
from scipy import stats

from uqcli.jobs.evaluate.difference import difference_of
from uqcli.methods.evaluate.difference import Chosen, PairedSelections

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
