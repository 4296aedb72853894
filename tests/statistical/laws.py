"""Populations whose truth is known, and what a boundary found on a hold-out of them comes to."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import uqcli


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@dataclass(frozen=True)
class Law:
    """Scores, uncertainties and the rate of positives at each; a bound on precision that can be reached."""

    rows: Callable
    rate: Callable
    bound: str

    def sample(self, size, seed):
        """Scores, uncertainties and labels."""
        random = np.random.default_rng([7, seed])
        score, uncertainty = self.rows(random, size)
        return score, uncertainty, random.random(size) < self.rate(score, uncertainty)

    @cached_property
    def population(self):
        """Scores, uncertainties and rates of many rows."""
        score, uncertainty = self.rows(np.random.default_rng(99), 300_000)
        return score, uncertainty, self.rate(score, uncertainty)

    def truth(self, model):
        """Precision and recall of a boundary, and its recall less the score's at as many alerts."""
        score, uncertainty, rate = self.population
        chosen = model.decide(score, uncertainty)
        alone = rate[np.argsort(-score, kind="stable")][: int(chosen.sum())].sum()
        hits = rate[chosen].sum()
        return float(rate[chosen].mean()), float(hits / rate.sum()), float((hits - alone) / rate.sum())


def squares(random, size):
    return random.random(size), random.random(size)


def normal(random, size):
    return sigmoid(random.normal(size=size)), random.normal(size=size)


def of_the_score(random, size):
    score = random.random(size)
    return score, np.sin(9 * score)


def tied(random, size):
    return random.integers(0, 20, size) / 20, random.integers(0, 3, size).astype(float)


LAWS = {
    "a step": Law(squares, lambda s, u: s**2 * (1 - 0.4 * (u > 0.5)), "0.7"),
    "evidence": Law(squares, lambda s, u: s + (0.25 - s) * u, "0.6"),
    "rare, evidence": Law(normal, lambda s, u: sigmoid(-5.6 + 1.8 * np.log(s / (1 - s)) + u), "0.3"),
    "ties": Law(tied, lambda s, u: s**2 * (1 - 0.2 * u), "0.6"),
    "useless noise": Law(squares, lambda s, u: s**1.5 + 0 * u, "0.7"),
    "useless, of the score": Law(of_the_score, lambda s, u: s**1.5 + 0 * u, "0.7"),
    "rare, useless": Law(normal, lambda s, u: sigmoid(-5.2 + 2 * np.log(s / (1 - s))) + 0 * u, "0.3"),
}


def measured(law, size, seed, **options):
    """Of one hold-out: precision less bound, recall, gap to the score, what was expected; or None."""
    score, uncertainty, label = law.sample(size, seed)
    try:
        model = uqcli.find_boundary(
            score, label, uncertainty=uncertainty, precision=law.bound, seed=seed, **options
        )
    except uqcli.InfeasibleError:
        return None
    precision, recall, gap = law.truth(model)
    found = model.artifact.expected
    line = {
        "excess": precision - float(law.bound),
        "recall": recall,
        "gap": gap,
        "alerts": model.fit.selected,
        "apparent": model.fit.precision - precision,
    }
    if found:
        for name, value in (("precision", precision), ("recall", recall)):
            told = getattr(found, name)
            line[f"{name}_bias"] = told.value - value
            if told.low is not None:
                line[f"{name}_covered"] = told.low <= value <= told.high
    return line
