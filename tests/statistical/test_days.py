"""Simulations of rules for rows that depend on each other within days: other days are as expected."""

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from tests.statistical.levels import keep, lowest, repetitions
from uqcli.boundary.options import BinOptions, BoundaryRequest, GridOptions, Target
from uqcli.boundary.run import run
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.engines.request import DataRequest, Roles, in_memory
from uqcli.estimates.dependence import unit_sums

REPETITIONS = repetitions(100)
ROLES = Roles(numbers={"score": "score"}, label="label")
POPULATION = 1_000_000


def draw(random, day, effect, move):
    """Draw scores and labels; the log-odds of a day differ by its effect, and its scores by its move."""
    days = int(day[-1]) + 1
    effects, moves = effect * random.normal(size=days), move * random.normal(size=days)
    value = 1.5 * random.normal(size=len(day)) - 1 + moves[day]
    return expit(value), random.random(len(day)) < expit(value + effects[day])


class Population:
    """Rows of as many days, on which rules are measured."""

    def __init__(self, effect, move):
        score, label = draw(np.random.default_rng(0), np.arange(POPULATION), effect, move)
        order = np.argsort(-score)
        self._score, self._found = -score[order], np.cumsum(label[order])

    def rates(self, threshold):
        """Return the precision and the recall of a threshold."""
        flagged = int(np.searchsorted(self._score, -threshold, side="right"))
        return self._found[flagged - 1] / flagged, self._found[flagged - 1] / self._found[-1]


def design_effect(day, flagged, label):
    """Return the design effect of the precision."""
    trials, hits = np.bincount(day[flagged]), np.bincount(day[flagged], weights=label[flagged])
    sums = unit_sums(hits.astype(np.int64), trials)
    return sums.q / sums.n


CASES = [(40, 0, 0, (0.5, 1.5)), (200, 0.6, 0.3, (4, 9)), (1000, 0.6, 0.6, (20, 40)), (1000, 1, 0, (40, 70))]


@pytest.mark.parametrize("bound", [{"precision": "0.6"}, {"recall": "0.6"}])
@pytest.mark.parametrize(("rows", "effect", "move", "design_effects"), CASES)
@pytest.mark.parametrize("days", [30, 50])
def test_expected_ranges_cover_other_days(days, rows, effect, move, design_effects, bound):
    population = Population(effect, move)
    runs = max(40, REPETITIONS // 2)
    covered, effects = np.zeros(2), []
    for seed in range(runs):
        random = np.random.default_rng([days, rows, int(10 * effect), seed])
        day = np.repeat(np.arange(days), np.maximum(1, random.poisson(rows, days)))
        score, label = draw(random, day, effect, move)
        frame = pl.DataFrame({"score": score, "label": label.astype(int), "day": day})
        request = BoundaryRequest(
            data=DataRequest(inputs=in_memory(frame), roles=ROLES).clustered_by("day"),
            target=Target(constraint=constraint_from(**bound)),
            bins=BinOptions(uncertainty_bins=1),
            source=GridOptions(seed=seed),
        )
        rule = run(request).artifact
        effects.append(design_effect(day, score >= rule.thresholds[0], label))
        expected = (rule.expected.precision, rule.expected.recall)
        truth = population.rates(rule.thresholds[0])
        covered += [one.low <= rate <= one.high for one, rate in zip(expected, truth, strict=True)]
    assert (covered / runs >= lowest(0.87, runs)).all(), covered / runs
    for rate, share in zip(("precision", "recall"), covered / runs, strict=True):
        (kind,) = bound
        case = f"{kind} bound/{days} days of {rows} rows/effect {effect}, move {move}"
        keep(f"expected/by day/{rate} covered/{case}", share, runs)
    assert design_effects[0] <= np.mean(effects) <= design_effects[1], np.mean(effects)
