"""Simulations of certified boundaries: they miss their bound with at most the stated risk."""

import contextlib
from dataclasses import dataclass

import numpy as np
import pytest

import uqcli
from tests.statistical.levels import highest, repetitions

REPETITIONS = repetitions(60)
DELTA = 0.2


def rising(score, uncertainty):
    """Return rates that rise with the score, less steeply at high uncertainty."""
    return np.clip(score**2 * (1 - 0.4 * (uncertainty > 0.5)), 0, 1)


def plateau(score, uncertainty):
    """Return rates just below the bound of 0.7 for most alerts, which rules fitted to noise often flag."""
    del uncertainty
    return np.where(score > 0.9, 0.8, np.where(score > 0.4, 0.68, 0.05))


POINTS = [axis.ravel() for axis in np.meshgrid(*[(np.arange(400) + 0.5) / 400] * 2)]
"""Scores and uncertainties over the unit square."""


def true_precision(model, rate):
    """Integrate the precision of a boundary over the unit square."""
    flagged, truth = model.decide(*POINTS), rate(*POINTS)
    return float(truth[flagged].mean()) if flagged.any() else 1.0


def true_recall(flagged, rate):
    """Integrate the share of positives among given points."""
    truth = rate(*POINTS)
    return float(truth[flagged].sum() / truth.sum())


def true_fpr(flagged, rate):
    """Integrate the share of negatives among given points."""
    return true_recall(flagged, lambda *point: 1 - rate(*point))


@pytest.mark.parametrize("rate", [rising, plateau])
@pytest.mark.parametrize("size", [400, 2500])
def test_violations_are_as_rare_as_certified(rate, size):
    certified_misses, uncertified_misses, feasible = 0, 0, 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        score, uncertainty = random.random(size), random.random(size)
        label = random.random(size) < rate(score, uncertainty)
        options = {"uncertainty": uncertainty, "precision": "0.7", "score_bins": 100}
        try:
            model = uqcli.find_boundary(score, label, **options, algorithm="smooth", certify=DELTA, seed=seed)
            certified_misses += true_precision(model, rate) < 0.7
            feasible += 1
        except uqcli.InfeasibleError:
            pass
        with contextlib.suppress(uqcli.InfeasibleError):
            optimum = uqcli.find_boundary(score, label, **options, algorithm="vw-dpmt")
            uncertified_misses += true_precision(optimum, rate) < 0.7
    allowed = highest(DELTA, REPETITIONS)
    assert certified_misses / REPETITIONS <= allowed, certified_misses / REPETITIONS
    assert uncertified_misses / REPETITIONS > (allowed if rate is rising else DELTA), (
        uncertified_misses / REPETITIONS
    )
    if size > 1000 and rate is rising:
        assert feasible >= REPETITIONS / 2


PROMISES = {
    "recall": {"recall": "0.5"},
    "false positives": {"max_fpr": "0.1"},
    "pair": {"precision": "0.6", "recall": "0.4"},
    "several": {"precision": "0.55", "max_fpr": "0.25", "min_specificity": "0.7", "recall": "0.35"},
    "zones": {"precision": "0.6", "miss": "0.4"},
}


def breaks(model, rate, bounds):
    """Whether a boundary breaks one of its bounds."""
    zone = model.zones(*POINTS)
    flagged, handled = zone == "flag", zone != "clear"
    return (
        ("precision" in bounds and true_precision(model, rate) < float(bounds["precision"]))
        or ("recall" in bounds and true_recall(flagged, rate) < float(bounds["recall"]))
        or ("max_fpr" in bounds and true_fpr(flagged, rate) > float(bounds["max_fpr"]))
        or ("min_specificity" in bounds and true_fpr(flagged, rate) > 1 - float(bounds["min_specificity"]))
        or ("miss" in bounds and 1 - true_recall(handled, rate) > float(bounds["miss"]))
    )


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("rate", [rising, plateau])
@pytest.mark.parametrize("size", [300, 2500])
def test_every_promise_is_broken_as_rarely_as_certified(promise, rate, size):
    bounds, broken, feasible = PROMISES[promise], 0, 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(1000 + seed)
        score, uncertainty = random.random(size), random.random(size)
        label = random.random(size) < rate(score, uncertainty)
        options = {"uncertainty": uncertainty, "score_bins": 100, "certify": DELTA, "seed": seed}
        with contextlib.suppress(uqcli.InfeasibleError):
            broken += breaks(uqcli.find_boundary(score, label, **options, **bounds), rate, bounds)
            feasible += 1
    allowed = highest(DELTA, REPETITIONS)
    assert broken / REPETITIONS <= allowed, broken / REPETITIONS
    if size > 1000:
        assert feasible >= REPETITIONS / 2


def test_the_groups_together_break_their_bound_as_rarely_as_certified():
    broken, rates = 0, {"a": rising, "b": plateau, "c": rising}
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        group = np.repeat(list(rates), 700)
        score, uncertainty = random.random(2100), random.random(2100)
        truth = np.concatenate(
            [rate(score[group == name], uncertainty[group == name]) for name, rate in rates.items()]
        )
        label = random.random(2100) < truth
        options = {"precision": "0.6", "bound": "each", "group": group, "score_bins": 50}
        with contextlib.suppress(uqcli.InfeasibleError):
            model = uqcli.find_boundary(score, label, uncertainty=uncertainty, certify=DELTA, **options)
            broken += any(
                true_precision(GroupRule(model=model, name=name), rate) < 0.6 for name, rate in rates.items()
            )
    allowed = highest(DELTA, REPETITIONS)
    assert broken / REPETITIONS <= allowed, broken / REPETITIONS


@dataclass(frozen=True, kw_only=True)
class GroupRule:
    """The rule of one group."""

    model: uqcli.Boundary
    name: str

    def decide(self, score, uncertainty):
        """Decide for rows of this group."""
        return self.model.decide(score, uncertainty, group=np.full(len(score), self.name))


@pytest.mark.filterwarnings("ignore:most rows repeat")
def test_order_and_repetition_of_rows_do_not_change_a_certificate(tmp_path):
    random = np.random.default_rng(1)
    score, uncertainty = random.random(3000).round(2), random.random(3000).round(1)
    label = random.random(3000) < rising(score, uncertainty)
    weight = random.integers(0, 3, 3000)
    options = {"precision": "0.6", "algorithm": "smooth", "certify": "0.1", "seed": 3, "score_bins": 50}
    certified = uqcli.find_boundary(score, label, uncertainty=uncertainty, weight=weight, **options)
    order = random.permutation(np.repeat(np.arange(3000), weight))
    repeated = uqcli.find_boundary(score[order], label[order], uncertainty=uncertainty[order], **options)
    assert certified.artifact.certificate == repeated.artifact.certificate
    assert certified.thresholds == repeated.thresholds
    other_seed = uqcli.find_boundary(
        score, label, uncertainty=uncertainty, weight=weight, **{**options, "seed": 4}
    )
    assert other_seed.artifact.certificate != certified.artifact.certificate
