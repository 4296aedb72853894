"""Coverage of intervals of rates from few labels and the probabilities of all rows."""

import os

import numpy as np
import pytest
from scipy.special import expit, logit

from tests.statistical.test_designs import least
from uqcli.estimates.model_assisted import ModelAssisted, shorter
from uqcli.estimates.proportion import proportion_estimate

REPETITIONS = 10 * int(os.environ.get("STATISTICAL_REPETITIONS", "60"))
COVERED = 0.92
ROWS = 20_000
PREVALENCES = (0.01, 0.05, 0.2)
RECALLS = (0.3, 0.6, 0.8, 0.9, 0.98)
LABELS = (100, 300, 1000)

MODELS = {
    "right": lambda truth: truth,
    "too flat": lambda truth: expit(0.5 * logit(truth) - 0.5),
    "shifted": lambda truth: expit(logit(truth) + 1.5),
    "overconfident": lambda truth: expit(2 * logit(truth)),
    "constant": lambda truth: np.full_like(truth, truth.mean()),
}


def truths(random, prevalence, rows):
    """Return true probabilities with this mean, from a skewed score."""
    x = 2 * random.normal(size=rows)
    low, high = -20.0, 5.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if expit(x + middle).mean() > prevalence else (middle, high)
    return expit(x + low)


def coverage(prevalence, recall, labels, model, repetitions):
    """Return how often recall, fpr and prevalence are assisted, and how often what is printed covers."""
    random = np.random.default_rng([int(100 * prevalence), int(100 * recall), labels, len(model)])
    everyone = truths(random, prevalence, 400_000)
    order = np.argsort(-everyone)
    cut = everyone[order[np.searchsorted(np.cumsum(everyone[order]), recall * everyone.sum())]]
    flags = everyone > cut
    true = {
        "recall": everyone[flags].sum() / everyone.sum(),
        "fpr": (1 - everyone[flags]).sum() / (1 - everyone).sum(),
        "prevalence": everyone.mean(),
    }
    probabilities = MODELS[model](everyone)
    shown, covered = dict.fromkeys(true, 0), dict.fromkeys(true, 0)
    for _ in range(repetitions):
        rows = random.integers(0, len(everyone), ROWS)
        known = rows[:labels]
        flagged = flags[rows]
        sample = ModelAssisted(
            chosen=flags[known],
            label=random.random(labels) < everyone[known],
            probability=probabilities[known],
            weight=np.full(labels, ROWS / labels),
            count=np.ones(labels, dtype=np.int64),
            expected=(probabilities[rows][flagged].sum(), probabilities[rows][~flagged].sum()),
            rows=(int(flagged.sum()), int((~flagged).sum())),
            confidence=0.95,
        )
        for name, result, successes, trials in (
            ("recall", sample.share(positive=True), sample.label & sample.chosen, sample.label),
            ("fpr", sample.share(positive=False), ~sample.label & sample.chosen, ~sample.label),
            ("prevalence", sample.prevalence(), sample.label, sample.label | True),
        ):
            printed = proportion_estimate(int(successes.sum()), int(trials.sum()), 0.95)
            if result is not None and shorter(printed, result):
                shown[name], printed = shown[name] + 1, result
            covered[name] += printed.low is None or printed.low <= true[name] <= printed.high
    return {name: (number, covered[name]) for name, number in shown.items()}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("prevalence", "recall", "labels"),
    [
        (0.01, 0.9, 100),
        (0.2, 0.6, 100),
        (0.2, 0.9, 300),
        (0.05, 0.3, 1000),
        (0.05, 0.8, 1000),
        (0.2, 0.8, 1000),
    ],
)
def test_intervals_cover_whatever_the_probabilities_are(model, prevalence, recall, labels):
    for _, covered in coverage(prevalence, recall, labels, model, REPETITIONS).values():
        assert covered >= least(COVERED, REPETITIONS) * REPETITIONS


def test_right_probabilities_make_intervals_of_recall_that_are_shown_and_cover():
    number, covered = coverage(0.2, 0.8, 1000, "right", REPETITIONS)["recall"]
    assert number == REPETITIONS
    assert covered >= least(0.95, number) * number
