"""Simulations of precision and recall before labels: intervals cover the rates that labels later show."""

import numpy as np
import pytest

from tests.statistical.levels import keep, lowest, repetitions
from uqcli import shift_weights
from uqcli.base.counts import pool
from uqcli.calibrate.folds import on_few_scores
from uqcli.watch.before_labels import expected_before_labels

REPETITIONS = repetitions(60)
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


def covered_by(results):
    """Return whether the intervals of precision and recall contain what labels show; shape (runs, 2)."""
    return np.array(
        [
            [
                estimate.low <= shown <= estimate.high
                for estimate, shown in zip((found.precision, found.recall), rates, strict=True)
            ]
            for found, rates in results
            if None not in (found.precision.low, found.recall.low)
        ]
    )


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rows", [500, 2000])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_intervals_contain_what_labels_show(law, rows, precision):
    covered = covered_by(repeat(law, rows, precision))
    assert len(covered) > REPETITIONS / 3
    found = covered.mean(axis=0)
    keep(f"before labels/covered/{law}, {rows} rows, precision {precision}", found.min(), REPETITIONS)
    assert (found >= lowest(CONFIDENCE, len(covered), nominal=CONFIDENCE)).all(), found


def shifted(law, random, rows, prior):
    """Draw rows whose positives are as frequent as ``prior``; each class has the law's scores."""
    score, label = draw(law, random, 40 * rows)
    positives = random.binomial(rows, prior)
    chosen = np.concatenate([np.flatnonzero(label)[:positives], np.flatnonzero(~label)[: rows - positives]])
    return score[chosen], label[chosen]


def repeat_shifted(law, rows, prior, threshold, repetitions=REPETITIONS, *, estimator="bbse"):
    """Yield what is expected with estimated class weights, and what labels show."""
    for seed in range(repetitions):
        random = np.random.default_rng([seed, rows, 1])
        score, label = draw(law, random, rows)
        new, new_label = shifted(law, random, NEW_ROWS, prior)
        shift = shift_weights(score, label.astype(int), new, estimator=estimator, bootstrap=200, seed=seed)
        is_flagged = new >= threshold
        found = expected_before_labels(
            on_few_scores(pool(score, label)),
            unlabelled(new[is_flagged]),
            unlabelled(new),
            seed,
            CONFIDENCE,
            weights=tuple(shift.weights),
            weight_draws=shift.artifact.draws_for(["0", "1"]),
        )
        if not found.reason:
            yield found, (new_label[is_flagged].mean(), new_label[is_flagged].sum() / new_label.sum())


@pytest.mark.parametrize(("estimator", "rows"), [("em", 500), ("bbse", 2000), ("bbse", 500)])
@pytest.mark.parametrize("prior", [0.08, 0.2, 0.6])
def test_intervals_cover_under_label_shift(estimator, rows, prior):
    covered = covered_by(repeat_shifted("calibrated scores", rows, prior, 0.5, estimator=estimator))
    assert len(covered) > REPETITIONS / 3
    found = covered.mean(axis=0)
    keep(f"before labels/covered under shift/{estimator}, {rows} rows, {prior}", found.min(), REPETITIONS)
    assert (found >= lowest(CONFIDENCE, len(covered), nominal=CONFIDENCE)).all(), found
