"""Coverage of intervals of rates from few labels and the probabilities of all rows, also over clusters."""

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri

from tests.statistical import clustered
from tests.statistical.levels import lowest, repetitions
from tests.statistical.test_clusters import unequal_sizes
from uqcli.estimates.model_assisted import Clusters, ModelAssisted, shorter
from uqcli.estimates.proportion import proportion_estimate
from uqcli.estimates.survey import proportion_interval

REPETITIONS = 10 * repetitions(60)
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
        assert covered >= lowest(COVERED, REPETITIONS) * REPETITIONS


def test_right_probabilities_make_intervals_of_recall_that_are_shown_and_cover():
    number, covered = coverage(0.2, 0.8, 1000, "right", REPETITIONS)["recall"]
    assert number == REPETITIONS
    assert covered >= lowest(0.95, number) * number


SIZES = {
    "10": lambda random, clusters: np.full(clusters, 10),
    "1-30": lambda random, clusters: random.integers(1, 31, clusters),
    "log-normal": lambda random, clusters: unequal_sizes(random, "log-normal", clusters),
    "Pareto": lambda random, clusters: unequal_sizes(random, 1.5, clusters),
}
LEVEL = -2.1
"""Log-odds of a row in the middle, by which about a fifth of the rows are positive."""


def drawn_of_clusters(random, sizes, clusters, correlation, number, whole):
    """Draw the cluster, true probability and label of rows, and which have a label."""
    cluster = np.repeat(np.arange(clusters), SIZES[sizes](random, clusters))
    truth = expit(2 * clustered.normals(random, cluster, correlation) + LEVEL)
    share = min(1, number / len(cluster))
    known = (random.random(clusters) < share)[cluster] if whole else random.random(len(cluster)) < share
    return cluster, truth, clustered.labels(random, cluster, truth, correlation), np.flatnonzero(known)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(
    ("clusters", "correlation", "number", "model"),
    [
        (50, 0.5, 300, "right"),
        (200, 0.1, 1000, "right"),
        (200, 0.5, 300, "shifted"),
        (200, 0.5, 1000, "overconfident"),
    ],
)
def test_intervals_over_clusters_cover(clusters, correlation, number, model, sizes, whole):
    everyone = expit(2 * ndtri((np.arange(400_000) + 0.5) / 400_000) + LEVEL)
    cut = everyone[-np.searchsorted(np.cumsum(everyone[::-1]), 0.8 * everyone.sum())]
    true = {
        "recall": everyone[everyone > cut].sum() / everyone.sum(),
        "fpr": (1 - everyone[everyone > cut]).sum() / (1 - everyone).sum(),
        "prevalence": everyone.mean(),
    }
    covered, made = dict.fromkeys(true, 0), dict.fromkeys(true, 0)
    for seed in range(REPETITIONS):
        random = np.random.default_rng([seed, clusters, number, int(10 * correlation), len(sizes)])
        cluster, truth, label, known = drawn_of_clusters(random, sizes, clusters, correlation, number, whole)
        if len(known) < 2:
            continue
        chosen, probability = truth > cut, MODELS[model](truth)
        expected, rows = (
            np.array([np.bincount(cluster, value * part, clusters) for part in (chosen, ~chosen)])
            for value in (probability, np.ones(len(truth)))
        )
        label, chosen = label[known], chosen[known]
        sample = ModelAssisted(
            chosen=chosen,
            label=label,
            probability=probability[known],
            weight=np.full(len(known), len(truth) / len(known)),
            count=np.ones(len(known), dtype=np.int64),
            expected=tuple(expected.sum(axis=1)),
            rows=tuple(rows.sum(axis=1).astype(int).tolist()),
            confidence=0.95,
            clusters=Clusters(of=cluster[known], expected=expected, rows=rows),
        )
        for name, result, successes, trials in (
            ("recall", sample.share(positive=True), label & chosen, label),
            ("fpr", sample.share(positive=False), ~label & chosen, ~label),
            ("prevalence", sample.prevalence(), label, label | True),
        ):
            printed = proportion_interval(*clustered.sums(cluster[known], successes, trials), 0.95)
            if result is not None and shorter(printed, result):
                printed = result
            if printed.low is not None:
                made[name] += 1
                covered[name] += printed.low <= true[name] <= printed.high
    for name, number_made in made.items():
        if number_made >= REPETITIONS / 4:  # fewer intervals do not show their level
            assert covered[name] >= lowest(COVERED, number_made, drawn=REPETITIONS) * number_made, (
                name,
                covered,
                made,
            )
    assert max(made.values()) > REPETITIONS / 4
