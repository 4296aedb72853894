"""Populations with known positive rates, and the true metrics of boundaries fitted on their samples."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import uqcli


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@dataclass(frozen=True)
class Population:
    """A distribution of scores and uncertainties, its positive rates, and a feasible precision bound."""

    rows: Callable
    rate: Callable
    bound: str

    def sample(self, size, seed):
        """Draw scores, uncertainties and labels."""
        random = np.random.default_rng([7, seed])
        score, uncertainty = self.rows(random, size)
        return score, uncertainty, random.random(size) < self.rate(score, uncertainty)

    @cached_property
    def large_sample(self):
        """Draw scores, uncertainties and positive rates of many rows."""
        score, uncertainty = self.rows(np.random.default_rng(99), 300_000)
        return score, uncertainty, self.rate(score, uncertainty)

    def truth(self, model):
        """Return precision, recall, and the gain in recall over the score alone at as many alerts."""
        score, uncertainty, rate = self.large_sample
        flagged = model.decide(score, uncertainty)
        if not flagged.any():  # a threshold above all of these rows
            flagged[np.argmax(score)] = True
        score_only_hits = rate[np.argsort(-score, kind="stable")][: int(flagged.sum())].sum()
        hits = rate[flagged].sum()
        return (
            float(rate[flagged].mean()),
            min(1.0, float(hits / rate.sum())),  # sums in another order
            float((hits - score_only_hits) / rate.sum()),
        )


def uniform_square(random, size):
    return random.random(size), random.random(size)


def normal(random, size):
    return sigmoid(random.normal(size=size)), random.normal(size=size)


def wave_of_the_score(random, size):
    score = random.random(size)
    return score, np.sin(9 * score)


def tied(random, size):
    return random.integers(0, 20, size) / 20, random.integers(0, 3, size).astype(float)


POPULATIONS = {
    "a step": Population(uniform_square, lambda s, u: s**2 * (1 - 0.4 * (u > 0.5)), "0.7"),
    "evidence": Population(uniform_square, lambda s, u: s + (0.25 - s) * u, "0.6"),
    "rare, evidence": Population(normal, lambda s, u: sigmoid(-5.6 + 1.8 * np.log(s / (1 - s)) + u), "0.3"),
    "ties": Population(tied, lambda s, u: s**2 * (1 - 0.2 * u), "0.6"),
    "useless noise": Population(uniform_square, lambda s, u: s**1.5 + 0 * u, "0.7"),
    "useless, from the score": Population(wave_of_the_score, lambda s, u: s**1.5 + 0 * u, "0.7"),
    "rare, useless": Population(normal, lambda s, u: sigmoid(-5.2 + 2 * np.log(s / (1 - s))) + 0 * u, "0.3"),
}


def measure_boundary(population, size, seed, **options):
    """Fit a boundary on one calibration set, and return its true and expected metrics; None if infeasible."""
    score, uncertainty, label = population.sample(size, seed)
    try:
        model = uqcli.find_boundary(
            score, label, uncertainty=uncertainty, seed=seed, **{"precision": population.bound, **options}
        )
    except uqcli.InfeasibleError:
        return None
    precision, recall, gap = population.truth(model)
    expected = model.artifact.expected
    measurement = {
        "excess": precision - float(population.bound),
        "recall": recall,
        "gap": gap,
        "alerts": model.fit.selected,
        "apparent": model.fit.precision - precision,
    }
    if expected:
        for name, value in (("precision", precision), ("recall", recall)):
            estimate = getattr(expected, name)
            measurement[f"{name}_bias"] = estimate.value - value
            if estimate.low is not None:
                measurement[f"{name}_covered"] = estimate.low <= value <= estimate.high
    return measurement
