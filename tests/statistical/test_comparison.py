"""Simulations of the permutation test: verdicts keep their level, and intervals cover the gain."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import uqcli
from tests.statistical.levels import highest, keep, lowest, repetitions
from uqcli.base.amounts import units
from uqcli.base.choices import Binning
from uqcli.base.counts import bin_of, no_amounts
from uqcli.base.defaults import FOLDS
from uqcli.base.rows import Rows
from uqcli.bin.grid import GridSpec, cells_from, pool_by, uncertainty_edges_of
from uqcli.boundary.permutation import CrossValidatedGrid, Curve, gain, gain_of
from uqcli.boundary.search.typed_constraints import constraint_from

REPETITIONS = repetitions(12)
TRUE_ROWS = 40_000
CENSUS = Path(__file__).parents[2] / "sample_data" / "census_calibration.parquet"
BOUND = constraint_from(precision="0.6")
WORTH = constraint_from(gain="3", cost="2")
SPEC = GridSpec(binning=Binning.SHARED, uncertainty_bins=2, score_bins=500)


def uninformative(score, uncertainty):
    """Return rates that depend on the score alone."""
    del uncertainty
    return score


def informative(score, uncertainty):
    """Return rates that fall with the uncertainty."""
    return np.clip(score * (1.4 - 0.8 * uncertainty), 0, 1)


def draw_rows(rate, size, random):
    """Draw ascending scores, correlated uncertainties and labels."""
    score = np.sort(random.beta(1, 2, size))
    uncertainty = np.clip(0.5 * (1 - score) + 0.5 * random.random(size), 0, 1)
    return score, uncertainty, random.random(size) < rate(score, uncertainty)


UNINFORMATIVE = {
    "follows the score": lambda score, random: np.clip(
        0.5 * (1 - score) + 0.5 * random.random(len(score)), 0, 1
    ),
    "the score": lambda score, random: score,
    "a wave of the score": lambda score, random: np.sin(20 * score),
    "levels of the score": lambda score, random: np.floor(3 * score),
    "noise": lambda score, random: random.random(len(score)),
    "noise, scores of 30 values": lambda score, random: random.random(len(score)),
    "noise, mostly one value": lambda score, random: np.maximum(random.random(len(score)), 0.9),
}
"""Uncertainties without information beyond the score."""


@pytest.mark.parametrize("name", UNINFORMATIVE)
@pytest.mark.parametrize("size", [500, 1000])
def test_verdicts_on_an_uninformative_uncertainty_keep_their_level(size, name):
    p_values, p_values_of_harm, helps, hurts = [], [], 0, 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        score = random.beta(1, 2, size)
        if "30 values" in name:
            score = np.ceil(30 * score) / 31
        label = random.random(size) < score
        options = {"precision": "0.6", "compare": True, "seed": seed}
        comparison = uqcli.find_boundary(
            score, label, uncertainty=UNINFORMATIVE[name](score, random), **options
        ).compared
        helps += comparison.verdict == "helps"
        hurts += comparison.verdict == "hurts"
        p_values.append(1 if comparison.p_value is None else comparison.p_value)
        p_values_of_harm.append(1 if comparison.p_hurts is None else comparison.p_hurts)
    assert max(helps, hurts) / REPETITIONS <= highest(0.05, REPETITIONS)
    for sample in (p_values, p_values_of_harm):
        assert np.mean(np.array(sample) <= 0.05) <= highest(0.05, REPETITIONS)
    for verdict, sample in (("helps", p_values), ("hurts", p_values_of_harm)):
        share = np.mean(np.array(sample) <= 0.05)
        keep(f"compare/p at most 0.05 for {verdict}/{name}/{size} rows", share, REPETITIONS)


@pytest.mark.parametrize(("size", "least"), [(1000, 0.15), (2000, 0.55), (5000, 0.95)])
def test_an_informative_uncertainty_helps_on_the_census(size, least):
    rows, helps = pl.read_parquet(CENSUS), 0
    for seed in range(REPETITIONS):
        drawn = rows[np.random.default_rng([3, seed]).integers(0, len(rows), size)]
        score, label, uncertainty = (drawn[name].to_numpy() for name in ("score", "label", "uncertainty"))
        options = {"precision": "0.7", "compare": True, "seed": seed}
        helps += (
            uqcli.find_boundary(score, label, uncertainty=uncertainty, **options).compared.verdict == "helps"
        )
    assert helps / REPETITIONS >= least - 3 * np.sqrt(0.25 / REPETITIONS)
    keep(f"compare/helps on the census/{size} rows", helps / REPETITIONS, REPETITIONS)


@pytest.mark.parametrize("bound", [BOUND, WORTH], ids=["precision", "utility"])
@pytest.mark.parametrize("rate", [uninformative, informative])
@pytest.mark.parametrize("size", [300, 1500])
def test_intervals_cover_the_gains_on_new_data(rate, size, bound):
    covered = np.zeros(2 if bound is BOUND else 3)
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        score, uncertainty, label = draw_rows(rate, size, random)
        numbers = {"score": score, "uncertainty": uncertainty}
        rows = Rows(numbers=numbers, positive=label)
        edges = uncertainty_edges_of(rows, SPEC)
        cells = cells_from(edges, pool_by(rows, edges), SPEC)
        cross_validated = CrossValidatedGrid.from_cells(cells, seed)
        gain = gain_of(cross_validated, bound, seed, permutations=1)
        if gain is None:
            covered += 1
            continue
        alerts = int(cross_validated.by_score.alerts[cross_validated.by_score.alerts_at(bound)])
        new_rows = draw_rows(rate, TRUE_ROWS, random)
        truth = true_gains(cross_validated, new_rows, alerts / size, bound)
        estimates = [getattr(gain, name) for name in ("equal_alerts", "at_bound", "value")[: len(covered)]]
        for index, estimate in enumerate(estimates):
            covered[index] += estimate.low - 1e-12 <= truth[index] <= estimate.high + 1e-12
    assert (covered / REPETITIONS >= lowest(0.95, REPETITIONS)).all(), covered / REPETITIONS


MONEY = constraint_from(gain="gain", cost="8")
AMOUNTS = {
    "log-normal": lambda random, size: np.exp(random.normal(2, 1, size)),
    "heavy log-normal": lambda random, size: np.exp(random.normal(2, 1.5, size)),
    "Pareto": lambda random, size: 6 * (1 + random.pareto(2.2, size)),
}


def folds_with_amounts(rate, size, draw, random):
    """Draw rows with amounts, and split them into folds; also return the grid."""
    score, uncertainty, label = draw_rows(rate, size, random)
    amount = units(draw(random, size).round(2))
    rows = Rows(numbers={"score": score, "uncertainty": uncertainty}, positive=label)
    edges = uncertainty_edges_of(rows, SPEC)
    cells = cells_from(edges, pool_by(rows, edges), SPEC)
    cell = cell_of(cells, score, uncertainty)
    sums = [[[np.bincount(cell, amount * mask, len(cells.flat[0]))] for mask in (1, label)]]
    by_bin = np.split(np.array(sums[0]).astype(np.int64), len(cells.rows), axis=-1)
    cells = replace(
        cells,
        rows=tuple(
            replace(row, sums=tuple(part.swapaxes(0, 1)))
            for row, part in zip(cells.rows, by_bin, strict=True)
        ),
    )
    return CrossValidatedGrid.from_rows(
        cells,
        fold=random.integers(0, FOLDS, size),
        cell=cell,
        positive=label,
        amounts=amount[None],
        values=MONEY.values(label, amount[None]),
    )


def cell_of(cells, score, uncertainty):
    """Return the index of each row's cell."""
    lower = cells.rows[0].lower
    return bin_of(uncertainty, cells.uncertainty_edges) * len(lower) + bin_of(score, lower[1:])


@pytest.mark.parametrize("amounts", AMOUNTS)
@pytest.mark.parametrize("rate", [uninformative, informative])
@pytest.mark.parametrize("size", [500, 2500])
def test_intervals_cover_the_gain_in_money_on_new_data(size, rate, amounts):
    covered = shown = 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([size, seed])
        grid = folds_with_amounts(rate, size, AMOUNTS[amounts], random)
        gain = gain_of(grid, MONEY, seed, permutations=1)
        if gain is None or gain.value.low is None:
            continue
        shown += 1
        score, uncertainty, label = draw_rows(rate, TRUE_ROWS, random)
        amount = AMOUNTS[amounts](random, 4_000_000).mean()
        cell = cell_of(grid.cells, score, uncertainty)
        worth = np.bincount(cell, np.where(label, amount, -8), grid.count.shape[1]) * size / TRUE_ROWS
        # both rankings take the rows of their best thresholds on the calibration set
        by_rank, by_score = flagged_cells(grid)
        truth = ((by_rank - by_score) * worth).sum() / FOLDS
        covered += gain.value.low <= truth <= gain.value.high
    assert shown == 0 or covered / shown >= lowest(0.95, shown, drawn=REPETITIONS), (covered, shown)


def flagged_cells(grid):
    """Return whether each fold and cell is flagged by rank, and by score."""
    ranks = np.unique(grid.shares, return_inverse=True)[1].reshape(grid.shares.shape)
    from_top = np.tile(np.arange(grid.length)[::-1], len(grid.cells.rows))
    by_rank, by_score = (curve.alerts_at(MONEY) or 0 for curve in (grid.by_rank, grid.by_score))
    return (ranks < by_rank).astype(int), (from_top < by_score).astype(int)


def true_gains(grid, labelled_rows, alert_share, bound):
    """Return the true gains on new rows: at a share of alerts, at the bound, in the objective."""
    score, uncertainty, label = labelled_rows
    uncertainty_bin = bin_of(uncertainty, grid.cells.uncertainty_edges)
    score_bin = bin_of(score, grid.cells.rows[0].lower[1:])
    cell = uncertainty_bin * grid.length + score_bin
    count, hits = (
        np.tile(np.bincount(cells_of_rows, minlength=grid.count.shape[1]), FOLDS)
        for cells_of_rows in (cell, cell[label])
    )
    by_rank = Curve.from_counts(grid.shares.ravel(), hits, count, no_amounts(len(count)))
    from_top = np.tile(np.arange(grid.length)[::-1], FOLDS * len(grid.cells.rows))
    by_score = Curve.from_counts(from_top, hits, count, no_amounts(len(count)))
    new_rows = FOLDS * len(label)
    value = float(by_rank.value(bound) - by_score.value(bound)) * grid.cells.total / new_rows
    return (
        gain(by_rank, by_score, round(alert_share * new_rows)),
        by_rank.recall(bound) - by_score.recall(bound),
        value,
    )
