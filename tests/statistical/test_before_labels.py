"""Simulations of precision and recall before labels: intervals cover the rates that labels later show."""

import os

import numpy as np
import pytest

from uqcli.counts import pool
from uqcli.methods.calibrate.few_scores import on_few_scores
from uqcli.methods.watch.before_labels import expected_before_labels

REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "60"))
CONFIDENCE = 0.95
NEW_ROWS = 1000
PRECISIONS = [0.5, 0.6, 0.7, 0.8, 0.9]
LAWS = {
    "calibrated scores": (lambda random, rows: random.beta(0.6, 1.0, rows), lambda score: score),
    "scores far too low": (
        lambda random, rows: random.beta(2, 6, rows),
        lambda score: 1 / (1 + np.exp(4 - 14 * score)),
    ),
}


def draw(law, random, rows):
    """Draw scores and labels."""
    scores, rate = LAWS[law]
    score = scores(random, rows)
    return score, random.random(rows) < rate(score)


def threshold_of(law, precision):
    """Return the lowest score from which on rows have the precision."""
    score, label = draw(law, np.random.default_rng(0), 400_000)
    order = np.argsort(-score)
    reached = np.cumsum(label[order]) / np.arange(1, len(score) + 1) >= precision
    return score[order][np.flatnonzero(reached)[-1]]


def unlabelled(score):
    return pool(score, np.zeros(len(score), dtype=bool))


def repeat(law, rows, precision, repetitions=REPETITIONS):
    """Yield what is expected and what labels show: precision and recall."""
    threshold = threshold_of(law, precision)
    for seed in range(repetitions):
        random = np.random.default_rng([seed, rows])
        calibration = on_few_scores(pool(*draw(law, random, rows)))
        score, label = draw(law, random, NEW_ROWS)
        is_flagged = score >= threshold
        found = expected_before_labels(
            calibration, unlabelled(score[is_flagged]), unlabelled(score), seed, CONFIDENCE
        )
        if not found.reason:
            yield found, (label[is_flagged].mean(), label[is_flagged].sum() / label.sum())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rows", [500, 2000])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_intervals_contain_what_labels_show(law, rows, precision):
    covered = np.array(
        [
            [
                estimate.low <= shown <= estimate.high
                for estimate, shown in zip((found.precision, found.recall), rates, strict=True)
            ]
            for found, rates in repeat(law, rows, precision)
        ]
    )
    assert len(covered) > REPETITIONS / 2
    deviation = np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / len(covered))
    assert (covered.mean(axis=0) >= CONFIDENCE - 0.02 - 3 * deviation).all(), covered.mean(axis=0)
