"""What is said of an uncertainty holds at its level: verdicts under no effect, and intervals of gains."""

import os

import numpy as np
import pytest

import uqcli
from uqcli.choices import Binning
from uqcli.counts import bin_of
from uqcli.defaults import FOLDS
from uqcli.methods.bin.grid import GridSpec, cells_from, pool_by, uncertainty_edges_of
from uqcli.methods.boundary.constraint import constraint_from
from uqcli.methods.boundary.ranking.permutation import CrossValidatedGrid, Curve, gain, gain_of
from uqcli.rows import Rows

REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "12"))
TRUE_ROWS = 40_000
BOUND = constraint_from(precision="0.6")
WORTH = constraint_from(gain="3", cost="2")
SPEC = GridSpec(binning=Binning.SHARED, uncertainty_bins=2, score_bins=500)


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


USELESS = {
    "follows the score": lambda score, random: np.clip(
        0.5 * (1 - score) + 0.5 * random.random(len(score)), 0, 1
    ),
    "the score": lambda score, random: score,
    "a wave of the score": lambda score, random: np.sin(20 * score),
    "levels of the score": lambda score, random: np.floor(3 * score),
    "noise": lambda score, random: random.random(len(score)),
    "noise, mostly one value": lambda score, random: np.maximum(random.random(len(score)), 0.9),
}
"""Uncertainties that tell nothing that the score does not."""


def slack(share):
    """Three standard errors of a share of the repetitions."""
    return 3 * np.sqrt(share * (1 - share) / REPETITIONS)


@pytest.mark.parametrize("name", USELESS)
@pytest.mark.parametrize("size", [500, 3000])
def test_a_useless_uncertainty_is_seldom_said_to_help_or_to_hurt(size, name):
    p_values, opposite, helps, hurts = [], [], 0, 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        score = random.beta(1, 2, size)
        label = random.random(size) < score
        given = {"precision": "0.6", "compare": True, "seed": seed}
        found = uqcli.find_boundary(score, label, uncertainty=USELESS[name](score, random), **given).compared
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
        numbers = {"score": score, "uncertainty": uncertainty}
        rows = Rows(numbers=numbers, positive=label)
        edges = uncertainty_edges_of(rows, SPEC)
        cells = cells_from(edges, pool_by(rows, edges), SPEC)
        found = gain_of(cells, bound, seed, permutations=1)
        if found is None:
            covered += 1
            continue
        held_out = CrossValidatedGrid.of(cells, seed)
        alerts = int(held_out.by_score.alerts[held_out.by_score.alerts_at(bound)])
        new = drawn(rate, TRUE_ROWS, random)
        truth = true_gains(held_out, new, alerts / size, bound)
        estimates = (found.equal_alerts, found.at_bound, found.value)[: len(covered)]
        for at, estimate in enumerate(estimates):
            covered[at] += estimate.low - 1e-12 <= truth[at] <= estimate.high + 1e-12
    assert (covered / REPETITIONS >= 0.95 - slack(0.95)).all(), covered / REPETITIONS


def true_gains(rows, new, share, bound):
    """Of the folds' rankings of new rows: at a share of alerts, at the bound, in what is maximised."""
    score, uncertainty, label = new
    level = bin_of(uncertainty, rows.cells.uncertainty_edges)
    place = bin_of(score, rows.cells.rows[0].lower[1:])
    cell = level * rows.length + place
    count, hits = (
        np.tile(np.bincount(each, minlength=rows.count.shape[1]), FOLDS) for each in (cell, cell[label])
    )
    ours = Curve.of(rows.shares.ravel(), hits, count)
    from_top = np.tile(np.arange(rows.length)[::-1], FOLDS * len(rows.cells.rows))
    other = Curve.of(from_top, hits, count)
    new_rows = FOLDS * len(label)
    value = float(ours.value(bound) - other.value(bound)) * rows.cells.total / new_rows
    return gain(ours, other, round(share * new_rows)), ours.recall(bound) - other.recall(bound), value
