"""What is said of an uncertainty holds at its level: verdicts under no effect, and intervals of gains."""

import os

import numpy as np
import pytest

import uqcli
from uqcli.methods.boundary.constraint import the_constraint
from uqcli.methods.boundary.ranking.placebo import Curve, OrderedRows, gain, gain_of

REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "12"))
TRUE_ROWS = 40_000
BOUND = the_constraint(precision="0.6")
WORTH = the_constraint(gain="3", cost="2")


def useless(score, uncertainty):
    """Rates of the score alone."""
    del uncertainty
    return score


def useful(score, uncertainty):
    """Rates that fall with the uncertainty."""
    return np.clip(score * (1.4 - 0.8 * uncertainty), 0, 1)


def drawn(rate, size, random):
    """Scores in ascending order, uncertainties that follow them, and labels."""
    score = np.sort(random.beta(1, 2, size))
    uncertainty = np.clip(0.5 * (1 - score) + 0.5 * random.random(size), 0, 1)
    return score, uncertainty, random.random(size) < rate(score, uncertainty)


def slack(share):
    """Three standard errors of a share of the repetitions."""
    return 3 * np.sqrt(share * (1 - share) / REPETITIONS)


@pytest.mark.parametrize("size", [500, 3000])
def test_an_uncertainty_that_only_follows_the_score_is_seldom_said_to_help_or_to_hurt(size):
    p_values, opposite, helps, hurts = [], [], 0, 0
    for seed in range(REPETITIONS):
        score, uncertainty, label = drawn(useless, size, np.random.default_rng(seed))
        given = {"uncertainty": uncertainty, "precision": "0.6", "compare": True, "seed": seed}
        found = uqcli.find_boundary(score, label, **given).compared
        helps += found.verdict == "helps"
        hurts += found.verdict == "hurts"
        p_values.append(1 if found.p_value is None else found.p_value)
        opposite.append(1 if found.p_hurts is None else found.p_hurts)
    assert max(helps, hurts) / REPETITIONS <= 0.05 + slack(0.05)
    for each in (p_values, opposite):
        assert np.mean(np.array(each) <= 0.05) <= 0.05 + slack(0.05)


@pytest.mark.parametrize("bound", [BOUND, WORTH], ids=["precision", "utility"])
@pytest.mark.parametrize("rate", [useless, useful])
@pytest.mark.parametrize("size", [300, 1500])
def test_gains_of_the_ranking_on_new_rows_lie_in_their_intervals(rate, size, bound):
    covered = np.zeros(2 if bound is BOUND else 3)
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        score, uncertainty, label = drawn(rate, size, random)
        cuts = np.sort(uncertainty)[[size // 3, 2 * size // 3]]
        rows = OrderedRows(
            first=np.arange(size),
            positive=label,
            fold=random.permutation(np.arange(size) * 5 // size),
            level=np.searchsorted(cuts, uncertainty, side="right"),
        )
        found = gain_of(rows, bound, (seed, 0), placebos=1)
        if found is None:
            covered += 1
            continue
        alerts = int(rows.by_score.alerts[rows.by_score.alerts_at(bound)])
        new = drawn(rate, TRUE_ROWS, random)
        truth = true_gains(rows, score, cuts, new, alerts / size, bound)
        estimates = (found.equal_alerts, found.at_bound, found.value)[: len(covered)]
        for at, estimate in enumerate(estimates):
            covered[at] += estimate.low - 1e-12 <= truth[at] <= estimate.high + 1e-12
    assert (covered / REPETITIONS >= 0.95 - slack(0.95)).all(), covered / REPETITIONS


def true_gains(rows, score, cuts, new, share, bound):
    """Of the folds' rankings of new rows: at a share of alerts, at the bound, in what is maximised."""
    new_score, new_uncertainty, label = new
    shares, lower = rows.rankings
    level = np.searchsorted(cuts, new_uncertainty, side="right")
    ranks = np.empty((len(shares), len(label)))
    for number, starts in enumerate(lower):
        there = level == number
        cell = np.searchsorted(score[starts[1:].astype(int)], new_score[there], side="right")
        ranks[:, there] = shares[:, number * len(starts) + cell]
    ones, hits = np.ones(ranks.size, dtype=np.int64), np.tile(label, len(ranks)).astype(np.int64)
    ours = Curve.of(ranks.ravel(), hits, ones)
    other = Curve.of(-np.tile(np.arange(len(label)), len(ranks)), hits, ones)
    value = float(ours.value(bound) - other.value(bound)) * len(rows.first) / ranks.size
    return gain(ours, other, share * ranks.size), ours.recall(bound) - other.recall(bound), value
