"""Simulations of bounds on the positives among dropped rows: few are broken, also where rates are the bound.

The share of positives up to each of the lower scores is the bound, or it crosses the bound, or every share is
just above it. Labels are chosen as ``sample`` does, or rows are split, or a precision is promised as well.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import uqcli
from tests.statistical.levels import highest, repetitions
from uqcli.base.rows import Rows
from uqcli.boundary.certificate import Certified
from uqcli.boundary.certificate_rows import mirrored, mirrored_outcome, region_certifier
from uqcli.estimates.confusion import Rate
from uqcli.sample.certificate import BOTTOM, region_share, share_above

REPETITIONS = repetitions(60)
DELTA = 0.1
STEPS = 20_000
SHAPES = ("plateau", "rising", "above")
PREVALENCES = (0.005, 0.02, 0.1, 0.5)
BOUNDS = (0.25, 0.7)
"""Bounds as multiples of the prevalence."""

END = 0.5
"""Share of rows at which the rate leaves the bound."""


class Population:
    """Rows by their share from the lowest score, in (0, 1): the rate there, and the mean rate up to there.

    Parameters
    ----------
    shape
        How the share of positives meets the bound.
    prevalence
        Share of positives among all rows.
    multiple
        Largest share of positives among dropped rows, as a multiple of the prevalence.
    atoms
        Number of different scores; 0 for no ties.
    """

    def __init__(self, shape, prevalence, multiple, atoms=0):
        self.bound, self.atoms = round(multiple * prevalence, 6), atoms
        middle = (np.arange(STEPS) + 0.5) / STEPS
        slope = 0.5 * self.bound if shape == "rising" else 0.0
        low = self.bound + (1e-6 if shape == "above" else 0.0)
        within = low + slope * (2 * middle / END - 1)
        first, mean = self.bound + slope, (prevalence - self.bound * END) / (1 - END)
        power = (1 - first) / (mean - first) - 1  # by which the prevalence is right
        beyond = first + (1 - first) * ((middle - END) / (1 - END)).clip(0) ** power
        self.rate = np.where(middle < END, within, beyond)
        self.mean = np.cumsum(self.rate) / np.arange(1, STEPS + 1)

    def rows(self, share, random):
        """Draw labelled rows."""
        return self.score(share), random.random(len(share)) < self.rate[(share * STEPS).astype(int)]

    def score(self, share):
        """Return the scores of rows, which rise with their share."""
        return share if not self.atoms else np.ceil(share * self.atoms) / self.atoms

    def breaks(self, threshold):
        """Whether too many of the rows below a threshold are positive."""
        share = min(threshold, 1.0)
        if self.atoms:  # rows of the atom at the threshold are flagged
            share = (math.ceil(round(share * self.atoms, 6)) - (threshold <= 1)) / self.atoms
        dropped = round(share * STEPS)
        return dropped > 0 and self.mean[dropped - 1] > self.bound + 1e-9


def from_chosen(population, pool, budget, random):
    """Certify a threshold from labels chosen in a pool as ``sample`` does; None if none is certified."""
    if (1 - population.bound) ** (budget - budget // 3) > DELTA:
        return None  # not even if all labels were negative
    share = np.sort(random.random(pool))
    least, drawn = 1 - Fraction(str(population.bound)), random.permutation(pool)[: budget // 3]
    score, label = population.rows(share[drawn], random)
    pilot = Rows(numbers={"score": score}, positive=label).pooled()
    part = region_share(share_above(mirrored(pilot), least), BOTTOM)
    highest = population.score(share)[math.ceil(part * pool) - 1]
    rest = np.setdiff1d(np.flatnonzero(population.score(share) <= highest), drawn)
    tested = random.permutation(rest)[: budget - len(drawn)]
    if not len(tested):
        return None
    score, label = population.rows(share[tested], random)
    rows = Rows(numbers={"score": score}, positive=label).pooled()
    certifier, sequence = region_certifier(mirrored(rows), -highest, float(least), DELTA)
    promises = [(Rate.PRECISION, least)]
    outcome = mirrored_outcome(certifier.certify(promises, DELTA, sequence=sequence))
    return outcome.thresholds[0] if isinstance(outcome, Certified) else None


def from_all(population, _, size, random):
    """Certify a threshold on rows of all scores; None if none is certified."""
    score, label = population.rows(random.random(size), random)
    if not label.any():
        return None
    try:
        found = uqcli.find_boundary(
            score, label, max_omission=str(population.bound), certify=DELTA, seed=int(random.integers(1000))
        )
    except uqcli.InfeasibleError:
        return None
    return found.thresholds[0]


def share_broken(certify, population, *sizes):
    """Return the share of repetitions whose certificate breaks its bound."""
    broken = 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([seed, *sizes, population.atoms])
        threshold = certify(population, *sizes, random)
        broken += threshold is not None and population.breaks(threshold)
    return broken / REPETITIONS


def require_few_broken(shares):
    """Require that few certificates break their bound in each cell, and on average no more than the risk."""
    allowed = highest(DELTA, REPETITIONS)
    assert max(shares.values()) <= allowed, shares
    assert np.mean(list(shares.values())) <= DELTA


@pytest.mark.parametrize("labels", [100, 300, 1000])
@pytest.mark.parametrize("atoms", [0, 20, 1000])
def test_certificates_from_chosen_labels_break_their_bound_as_rarely_as_stated(atoms, labels):
    require_few_broken(
        {
            (shape, prevalence, multiple, pool): share_broken(
                from_chosen, Population(shape, prevalence, multiple, atoms), pool, labels
            )
            for shape in SHAPES
            for prevalence in PREVALENCES
            for multiple in BOUNDS
            for pool in (2000, 30_000)
        }
    )


@pytest.mark.parametrize("size", [100, 1000, 4000])
@pytest.mark.parametrize("atoms", [0, 20])
def test_certificates_from_rows_of_all_scores_break_their_bound_as_rarely_as_stated(atoms, size):
    require_few_broken(
        {
            (shape, prevalence, multiple): share_broken(
                from_all, Population(shape, prevalence, multiple, atoms), 0, size
            )
            for shape in SHAPES
            for prevalence in PREVALENCES
            for multiple in BOUNDS
        }
    )


def smooth(score):
    """Return rates by which precision and omission cross their bounds at different scores."""
    return score**3


def steep(score):
    """Return rates by which the precision is kept far below the scores where nothing may be dropped."""
    return np.where(score > 0.5, 0.9, 0.02)


@pytest.mark.parametrize(("rate", "precision"), [(smooth, 0.6), (steep, 0.5)])
@pytest.mark.parametrize("atoms", [0, 20])
def test_a_precision_and_an_omission_are_broken_together_as_rarely_as_stated(rate, precision, atoms):
    broken, certified, points = 0, 0, (np.arange(40_000) + 0.5) / 40_000
    for seed in range(REPETITIONS):
        random = np.random.default_rng([seed, atoms])
        score = random.random(2500)
        values, grid = ((np.ceil(x * atoms) / atoms if atoms else x) for x in (score, points))
        label = random.random(2500) < rate(values)
        bounds = {"precision": str(precision), "max_omission": "0.05"}
        try:
            found = uqcli.find_boundary(values, label, **bounds, certify=DELTA, seed=seed)
        except uqcli.InfeasibleError:
            continue
        zone, truth = found.zones(grid), rate(grid)
        flagged, cleared = truth[zone == "flag"], truth[zone == "clear"]
        certified += 1
        broken += flagged.mean() < precision or (len(cleared) > 0 and cleared.mean() > 0.05)
    assert broken / REPETITIONS <= highest(DELTA, REPETITIONS)
    assert certified > REPETITIONS / 2  # otherwise little was tested
