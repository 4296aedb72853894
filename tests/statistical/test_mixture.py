"""Simulations of the test of label shift: it seldom rejects one, and it finds a population that moves."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit, softmax

from tests.statistical.levels import repetitions
from uqcli.shift.mixture import UnitRows, mixture_of

RUNS = repetitions(200)
LEVEL, LARGEST = 0.01, 0.025


def is_above(rejected, runs, share):
    """Return whether rejections are significantly more frequent than a share."""
    return stats.binomtest(rejected, runs, share, alternative="greater").pvalue < 1e-3


def unit_rows(probability, label, unit=None):
    size = len(label)
    return UnitRows(
        probability=probability,
        label=label,
        unit=np.zeros(size, dtype=np.int64) if unit is None else unit,
        weight=np.ones(size, dtype=np.int64),
    )


def unlabelled(rows):
    return unit_rows(rows.probability, np.zeros(len(rows.label), dtype=np.int64), rows.unit)


def two_classes(random, rows, prior, digits=None):
    label = (random.random(rows) < prior).astype(np.int64)
    score = expit(random.normal(1.5 * label, 1.0) - 1)
    score = score if digits is None else score.round(digits)
    return unit_rows(np.stack([1 - score, score], axis=1), label)


def several_classes(random, rows, priors):
    label = random.choice(len(priors), rows, p=priors).astype(np.int64)
    values = random.normal(size=(rows, len(priors)))
    values[np.arange(rows), label] += 1.5
    return unit_rows(softmax(1.5 * values, axis=1), label)


def days(random, number, rows, prior, on_scores, on_labels):
    """Draw days whose effects move all scores of a day, and its share of positives."""
    day = np.repeat(np.arange(number), rows)
    share = expit(logit(prior) + on_labels * random.normal(size=number))[day]
    label = (random.random(len(day)) < share).astype(np.int64)
    score = expit(random.normal(1.5 * label, 1.0) + on_scores * random.normal(size=number)[day] - 1)
    return unit_rows(np.stack([1 - score, score], axis=1), label, day)


def rejections(runs, draw, *, by_unit=False):
    """Count the tests with an answer, and those that reject."""
    answers = rejected = 0
    for run in range(runs):
        source, target = draw(run)
        found = mixture_of(source, unlabelled(target), by_unit=by_unit)
        answers += found.p_value is not None
        rejected += found.rejects
    return answers, rejected


@pytest.mark.parametrize("prior", [0.02, 0.2, 0.6])
@pytest.mark.parametrize("prevalence", [0.02, 0.2, 0.5])
@pytest.mark.parametrize("new_rows", [300, 20_000])
@pytest.mark.parametrize("rows", [300, 2000, 20_000])
def test_two_classes_keep_the_size(rows, new_rows, prevalence, prior):
    def draw(run):
        random = np.random.default_rng([1, run, rows, new_rows, int(100 * prevalence), int(100 * prior)])
        digits = 2 if run % 4 == 0 else None
        return two_classes(random, rows, prevalence, digits), two_classes(random, new_rows, prior, digits)

    answers, rejected = rejections(RUNS, draw)
    assert not is_above(rejected, max(answers, 1), LARGEST), rejected / answers
    assert (answers > 0.8 * RUNS) == (rows > 300 or prevalence > 0.02)


PRIORS = {
    3: {"even": [1 / 3] * 3, "uneven": [0.7, 0.2, 0.1]},
    6: {"even": [1 / 6] * 6, "uneven": [0.35, 0.25, 0.15, 0.1, 0.08, 0.07]},
}


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("priors", ["even", "uneven"])
@pytest.mark.parametrize("new_rows", [300, 20_000])
@pytest.mark.parametrize("rows", [300, 2000, 20_000])
@pytest.mark.parametrize("classes", PRIORS)
def test_several_classes_keep_the_size(classes, rows, new_rows, priors, moved):
    source = PRIORS[classes][priors]
    target = source[::-1] if priors == "uneven" else PRIORS[classes]["uneven"]

    def draw(run):
        random = np.random.default_rng([2, run, classes, rows, new_rows, len(priors), moved])
        new = several_classes(random, new_rows, target if moved else source)
        return several_classes(random, rows, source), new

    runs = max(40, RUNS // 5)
    answers, rejected = rejections(runs, draw)
    assert not is_above(rejected, max(answers, 1), LARGEST), rejected / answers


@pytest.mark.parametrize(("on_scores", "on_labels"), [(0.3, 0.0), (0.0, 0.7), (0.3, 0.7), (1.0, 1.0)])
@pytest.mark.parametrize(("prevalence", "prior"), [(0.2, 0.2), (0.2, 0.5), (0.05, 0.2)])
@pytest.mark.parametrize("rows", [50, 1000])
@pytest.mark.parametrize(("number", "new_days"), [(20, 20), (20, 100), (100, 20), (100, 100)])
def test_days_keep_the_size(number, new_days, rows, prevalence, prior, on_scores, on_labels):
    def draw(run):
        random = np.random.default_rng(
            [3, run, number, new_days, rows, int(100 * prior), int(10 * on_scores), int(10 * on_labels)]
        )
        source = days(random, number, rows, prevalence, on_scores, on_labels)
        return source, days(random, new_days, rows, prior, on_scores, on_labels)

    answers, rejected = rejections(max(40, RUNS // (1 if rows == 50 else 4)), draw, by_unit=True)
    assert not is_above(rejected, max(answers, 1), LARGEST), rejected / answers


@pytest.mark.parametrize("rows", [50, 1000])
def test_rows_of_a_day_taken_as_independent_reject_label_shift(rows):
    """Why days must be named: without them dependent rows are taken for a contradiction."""

    def draw(run):
        random = np.random.default_rng([4, run, rows])
        return days(random, 40, rows, 0.2, 1.0, 0.7), days(random, 40, rows, 0.2, 1.0, 0.7)

    runs = max(20, RUNS // 5)
    _, rejected = rejections(runs, draw)
    assert is_above(rejected, runs, LARGEST)
    answers, rejected = rejections(runs, draw, by_unit=True)
    assert not is_above(rejected, answers, LARGEST)


def moving(random, rows, move, day_effect=None):
    """Draw rows of two features, of which one moves; labels depend on the features as before."""
    day = np.arange(rows) // 100
    features = random.normal(size=(2, rows))
    features[1] = 0.7 * features[1] + move
    if day_effect:
        features[0] += day_effect * random.normal(size=day[-1] + 1)[day]
    score = expit(1.5 * features[0] + 2 * features[1] - 1)
    label = (random.random(rows) < score).astype(np.int64)
    return unit_rows(np.stack([1 - score, score], axis=1), label, day)


@pytest.mark.parametrize("by_unit", [False, True])
def test_a_feature_that_moves_is_found(by_unit):
    def draw(run):
        random = np.random.default_rng([5, run])
        effect = 0.3 if by_unit else None
        return moving(random, 5000, 0.0, effect), moving(random, 5000, 1.0, effect)

    runs = max(20, RUNS // 4)
    answers, rejected = rejections(runs, draw, by_unit=by_unit)
    assert answers == runs
    assert rejected > 0.8 * runs
