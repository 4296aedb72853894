"""Simulations of certificates from chosen labels, and from a pilot: few break their bound, also at the bound.

The precision of the tightest thresholds is exactly the bound, and that of looser ones just below it, or it
falls through the bound, or every threshold is just below it. Library functions are called directly.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.statistical.levels import highest, repetitions
from uqcli.base.choices import Binning
from uqcli.base.rows import Rows
from uqcli.bin.grid import GridSpec, cells_from, cells_under, pool_by, uncertainty_edges_of
from uqcli.boundary.certificate import Certified, Certifier, least_rates
from uqcli.boundary.certificate_rows import region_certifier
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.sample.certificate import TOP, region_share, share_above

REPETITIONS = repetitions(60)
DELTA = 0.1
PRECISION = Fraction(7, 10)
ONE_THRESHOLD = GridSpec(binning=Binning.SHARED, uncertainty_bins=1, score_bins=500)


class Population:
    """Rows by their share from the top score, v in (0, 1): the rate there, and the precision down to there.

    Parameters
    ----------
    shape
        How the precision meets the bound.
    prevalence
        Share of positives, a third of which are above the end of the bound.
    atoms
        Number of different scores; 0 for no ties.
    """

    def __init__(self, shape, prevalence, atoms=0):
        bound = float(PRECISION)
        self.end = min(0.2, prevalence / 3 / bound)
        slope = {"plateau": 0.0, "falling": 0.25, "below": 0.0}[shape]
        top = bound - (1e-6 if shape == "below" else 0.0)
        low = max(0.0, prevalence - 3 * self.end * bound) / (1 - 3 * self.end)
        self.atoms, edges = atoms, np.linspace(0, 1, 20_001)
        middle = (edges[1:] + edges[:-1]) / 2
        within = top + slope * (1 - 2 * middle / self.end)
        after = np.full_like(middle, bound - 0.02 if slope == 0 else bound - slope)
        after[middle > 3 * self.end] = min(low, bound - 0.02)
        self.rate = np.where(middle < self.end, within, after).clip(0, 1)
        self.mean = np.cumsum(self.rate) / np.arange(1, len(middle) + 1)

    def score(self, share):
        """Return the scores of rows, which fall with their share from the top."""
        return 1 - (share if not self.atoms else np.ceil(share * self.atoms) / self.atoms)

    def label(self, share, random):
        """Draw labels."""
        return random.random(len(share)) < self.rate[(share * 20_000).astype(int)]

    def breaks(self, threshold):
        """Whether the precision of a threshold is below the bound."""
        return self.mean[round((1 - threshold) * 20_000) - 1] < float(PRECISION) - 1e-9


def rows_of(population, share, random):
    """Return labelled rows, pooled."""
    return Rows(numbers={"score": population.score(share)}, positive=population.label(share, random)).pooled()


def from_chosen(population, pool, budget, random):
    """Certify a threshold from labels chosen in a pool as ``sample`` does; None if none is certified."""
    share = np.sort(random.random(pool))
    score = population.score(share)

    def region(part):
        lowest = score[math.ceil(part * pool) - 1]
        return int(np.searchsorted(-score, -lowest, side="right")), lowest

    size, _ = region(TOP)
    drawn = random.permutation(size)[: budget // 3]
    crossing = Fraction(size, pool) * share_above(rows_of(population, share[drawn], random), PRECISION)
    size, lowest = region(region_share(crossing))
    rest = np.setdiff1d(np.arange(size), drawn)
    tested = random.permutation(rest)[: budget - len(drawn)]
    if not len(tested):
        return None
    rows = rows_of(population, share[tested], random)
    certifier, sequence = region_certifier(rows, lowest, float(PRECISION), DELTA)
    outcome = certifier.certify(
        least_rates(constraint_from(precision=str(float(PRECISION)))), DELTA, sequence=sequence
    )
    return outcome.thresholds[0] if isinstance(outcome, Certified) else None


def from_pilot(population, pilot, size, random):
    """Certify a threshold on all of some rows, chosen on others; None if none is certified."""
    older, rows = (rows_of(population, random.random(n), random) for n in (pilot, size))
    edges = uncertainty_edges_of(older, ONE_THRESHOLD)
    ranked = cells_from(edges, pool_by(older, edges), ONE_THRESHOLD)
    certifier = Certifier.from_cells(ranked, cells_under(pool_by(rows, edges), ranked))
    outcome = certifier.certify(least_rates(constraint_from(precision=str(float(PRECISION)))), DELTA)
    return outcome.thresholds[0] if isinstance(outcome, Certified) else None


def share_broken(certify, population, first, second):
    """Return the share of repetitions whose certificate breaks its bound."""
    broken = 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([seed, first, second, population.atoms])
        threshold = certify(population, first, second, random)
        broken += threshold is not None and population.breaks(threshold)
    return broken / REPETITIONS


SHAPES = ("plateau", "falling", "below")


@pytest.mark.parametrize("labels", [100, 300, 1000])
@pytest.mark.parametrize("atoms", [0, 100, 1000])
def test_certificates_from_chosen_labels_break_their_bound_as_rarely_as_stated(atoms, labels):
    require_few_broken(from_chosen, atoms, labels, (0.005, 0.05, 0.2, 0.5), (2000, 30_000))


@pytest.mark.parametrize("labels", [100, 300, 1000])
@pytest.mark.parametrize("atoms", [0, 100])
def test_certificates_with_a_pilot_break_their_bound_as_rarely_as_stated(atoms, labels):
    require_few_broken(from_pilot, atoms, labels, (0.05, 0.5), (100, 1000))


def require_few_broken(certify, atoms, labels, prevalences, sizes):
    """Require that few certificates break their bound in each cell, and on average no more than the risk."""
    shares = {
        (shape, prevalence, size): share_broken(certify, Population(shape, prevalence, atoms), size, labels)
        for shape in SHAPES
        for prevalence in prevalences
        for size in sizes
    }
    allowed = highest(DELTA, REPETITIONS)
    assert max(shares.values()) <= allowed, shares
    assert np.mean(list(shares.values())) <= DELTA
