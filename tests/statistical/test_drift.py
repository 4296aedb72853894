"""Simulations of the comparison of new rows with the calibration rows: false alarms come at their levels."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

import uqcli
from tests.statistical.levels import repetitions
from tests.statistical.populations import POPULATIONS
from uqcli.estimates.proportion import flagged_interval
from uqcli.shift.mixture import UnitCounts, Units, same_shares
from uqcli.watch.unlabelled import homogeneity, population_stability

REPETITIONS = repetitions(200)


def is_above(alarms, runs, level):
    """Return whether false alarms are significantly more frequent than their level."""
    return stats.binomtest(alarms, runs, level, alternative="greater").pvalue < 1e-4


@pytest.mark.parametrize("level", [0.95, 0.999])
@pytest.mark.parametrize(("fit_rows", "new_rows"), [(30, 50), (200, 1000), (1000, 200), (50_000, 1_000_000)])
@pytest.mark.parametrize("share", [0.001, 0.05, 0.5, 0.99])
def test_the_interval_of_flagged_rows_covers(level, fit_rows, new_rows, share):
    runs, random = 250 * REPETITIONS, np.random.default_rng([1, fit_rows, new_rows, int(1000 * share)])
    interval = cache(lambda selected: flagged_interval(selected, fit_rows, new_rows, level))
    alarms = 0
    for fitted, new in zip(
        random.binomial(fit_rows, share, runs).tolist(),
        random.binomial(new_rows, share, runs).tolist(),
        strict=True,
    ):
        low, high = interval(fitted)
        alarms += not low <= new <= high
    assert not is_above(alarms, runs, 1 - level), alarms / runs


OPTIONS = {
    "default": {},
    "st": {"algorithm": "st"},
    "vw-dpmt": {"algorithm": "vw-dpmt", "uncertainty_bins": 3},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", POPULATIONS)
def test_thresholds_chosen_on_the_rows_keep_the_level(name, options):
    """The interval takes the rule as given. Its choice must not make alarms more frequent."""
    population, runs = POPULATIONS[name], max(40, REPETITIONS // 3)
    alarms, fitted = dict.fromkeys((0.95, 0.999), 0), 0
    for seed in range(runs):
        score, uncertainty, label = population.sample(1500, seed)
        try:
            rule = uqcli.find_boundary(
                score, label, uncertainty=uncertainty, precision=population.bound, **OPTIONS[options]
            )
        except uqcli.InfeasibleError:
            continue
        fitted += 1
        score, uncertainty, _ = population.sample(3000, 10_000 + seed)
        selected = int(rule.decide(score, uncertainty).sum())
        fit = rule.artifact.fit
        for level in alarms:
            low, high = flagged_interval(fit.selected, fit.rows, 3000, level)
            alarms[level] += not low <= selected <= high
    assert fitted > runs / 2
    for level, number in alarms.items():
        assert not is_above(number, fitted, 1 - level), (level, number / fitted)


def counted(random, rows, new_rows, cells):
    """Draw rows and new rows, and count them in cells of equal weight of the first."""
    ranked = np.sort(random.random(rows))
    edges = ranked[[rank * rows // cells for rank in range(1, cells)]]
    samples = ranked, random.random(new_rows)
    return [np.bincount(np.searchsorted(edges, each, side="right"), minlength=cells) for each in samples]


SIZES = [(200, 50, 10), (1000, 1000, 80), (10_000, 500, 80), (1000, 100, 80), (20_000, 20_000, 20)]


@pytest.mark.parametrize(("rows", "new_rows", "cells"), SIZES)
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_the_p_value_of_homogeneity_keeps_its_level(rows, new_rows, cells, level):
    random, runs = np.random.default_rng([2, rows, new_rows]), 20 * REPETITIONS
    p_values = [homogeneity(*counted(random, rows, new_rows, cells))[2] for _ in range(runs)]
    assert not is_above(sum(p < level for p in p_values), runs, 1.1 * level)


@pytest.mark.parametrize(("rows", "new_rows", "cells"), SIZES)
def test_the_mean_index_without_drift_is_that_of_samples(rows, new_rows, cells):
    random = np.random.default_rng([3, rows, new_rows])
    found = [population_stability(*counted(random, rows, new_rows, cells)) for _ in range(REPETITIONS)]
    index, without_drift = np.mean(found, axis=0)
    assert index == pytest.approx(without_drift, rel=0.12)


@pytest.mark.parametrize(("fit_rows", "new_rows"), [(100, 1000), (1000, 1000), (5000, 100)])
def test_the_limit_on_rows_outside_the_range_keeps_its_level(fit_rows, new_rows):
    """The ranges of two numbers leave out at most the share of four rows, dependent or not."""
    random, runs = np.random.default_rng([4, fit_rows]), 10 * REPETITIONS
    for correlation in (0.0, 0.9):
        alarms = dict.fromkeys((0.95, 0.999), 0)
        for _ in range(runs):
            first, second = random.normal(size=(2, fit_rows + new_rows))
            columns = np.stack([first, correlation * first + np.sqrt(1 - correlation**2) * second])
            fit, new = columns[:, :fit_rows], columns[:, fit_rows:]
            low, high = fit.min(axis=1)[:, None], fit.max(axis=1)[:, None]
            outside = int(((new < low) | (new > high)).any(axis=0).sum())
            for level in alarms:
                alarms[level] += outside > flagged_interval(3, fit_rows, new_rows, level)[1]
        for level, number in alarms.items():
            assert not is_above(number, runs, (1 - level) / 2), (level, number / runs)


DAY_EFFECTS = [
    (0.0, 20, 20, 50),
    (0.5, 20, 60, 50),
    (0.5, 100, 30, 500),
    (1.0, 40, 40, 200),
    (1.0, 60, 20, 50),
]


@pytest.mark.parametrize(("effect", "days", "new_days", "rows"), DAY_EFFECTS)
def test_the_p_value_between_days_keeps_its_level(effect, days, new_days, rows):
    """By rows such days reject nearly always; sizes of days vary, and edges are those of the old rows."""

    def scores(random, number):
        sizes = np.maximum(5, (rows * random.lognormal(0, 0.5, number)).astype(int))
        day = np.repeat(np.arange(number), sizes)
        return day, random.normal(size=len(day)) + effect * random.normal(size=number)[day]

    runs, rejected = 2 * REPETITIONS, 0
    for seed in range(runs):
        random = np.random.default_rng([6, seed, days, new_days, rows])
        samples = scores(random, days), scores(random, new_days)
        ranked = np.sort(samples[0][1])
        edges = ranked[[rank * len(ranked) // 5 for rank in range(1, 5)]]
        old, new = (
            UnitCounts(
                unit=day,
                class_index=np.zeros(len(day), dtype=np.int64),
                cell=np.searchsorted(edges, score, side="right"),
                count=np.ones(len(day), dtype=np.int64),
                shape=(int(day[-1]) + 1, 1, 5),
            )
            for day, score in samples
        )
        found = same_shares(old.by_class()[0], old.covariance()[0, 0], Units.of(old), new)
        rejected += found.rejects
    assert stats.binomtest(rejected, runs, 0.02, alternative="greater").pvalue > 1e-3, rejected / runs
