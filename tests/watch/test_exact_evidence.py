"""One exact number of each kind of evidence, of its limits and of the range of a rate."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.oracles.formulas import evidence as formulas
from tests.watch.test_measure import state_of
from uqcli.boundary.promise import Promise
from uqcli.estimates.dependence import dependence_path, unit_sums
from uqcli.watch.change import ChangeEvidence
from uqcli.watch.evidence import log_e_value, rate_interval
from uqcli.watch.measure import measured_promises
from uqcli.watch.promises import coverage_bound
from uqcli.watch.unlabelled import homogeneity, population_stability


def close(numbers):
    return pytest.approx(numbers, rel=1e-9, abs=1e-9)


def days_of(number, mean, scatter, most, seed, spell=1):
    """Draw days of unequal size with rates of a beta law, each of so many consecutive days."""
    random = np.random.default_rng(seed)
    rates = np.repeat(random.beta(scatter * mean, scatter * (1 - mean), -(-number // spell)), spell)[:number]
    trials = random.integers(1, most, number)
    return random.binomial(trials, rates).tolist(), trials.tolist()


@pytest.mark.parametrize(
    ("successes", "trials", "bound"),
    [(80, 100, "9/10"), (95, 100, "9/10"), (3, 40.5, "1/10"), (1.5, 7.25, "1/3"), (380, 400, "9/10")],
)
def test_e_value(successes, trials, bound):
    found = log_e_value(successes, trials, Fraction(bound))
    assert found == close(formulas.log_e(successes, trials, float(Fraction(bound))))


CALIBRATION = days_of(9, 0.7, 9, 20, 77)


@pytest.mark.parametrize(
    ("number", "spell", "seed", "limit"), [(2, 1, 1, 3), (9, 1, 1, 3), (12, 1, 2, 3), (22, 3, 1, 10**6)]
)
@pytest.mark.parametrize("has_calibration", [False, True])
def test_design_effect_and_evidence_of_a_change(number, spell, seed, limit, has_calibration):
    successes, trials = days_of(number, 0.6, 6, 25, seed, spell)
    days = list(zip(successes, trials, strict=True))
    old = unit_sums(*map(np.array, CALIBRATION)) if has_calibration else None
    calibration = formulas.Source(*CALIBRATION) if has_calibration else None
    path = dependence_path(np.array(successes), np.array(trials), old)
    watched = formulas.Source(successes, trials)
    assert path.used[-1] == close(formulas.watched_divisor(days, calibration))
    assert path.effect[-1] == close(
        formulas.effect([watched, calibration] if calibration else [watched], watched)
    )
    if spell > 1:
        assert formulas.spells([watched]) > 1.1
    change = ChangeEvidence(np.array(days), Fraction(7, 10), math.log(limit), old)
    assert change.log_sum(number) == close(formulas.log_change(days, 0.7, limit, calibration))


def test_calibration_days_that_contradict_those_watched_are_left_out():
    successes, trials = days_of(24, 0.6, 1, 40, 5)
    even = ([14] * 10, [20] * 10)
    days = list(zip(successes, trials, strict=True))
    path = dependence_path(np.array(successes), np.array(trials), unit_sums(*map(np.array, even)))
    assert path.left_out[-1]
    assert path.used[-1] == close(formulas.watched_divisor(days, formulas.Source(*even)))
    assert path.used[-1] == close(formulas.watched_divisor(days))


def test_evidence_limits_and_range_of_several_promises():
    calibration = unit_sums(*map(np.array, CALIBRATION))
    promises = [
        Promise(
            rate="coverage", bound=Fraction(7, 10), origin="", group="a", sides=2, calibration=calibration
        ),
        Promise(rate="coverage", bound=Fraction(1, 2), origin="", group="b", sides=2),
        Promise(rate="fpr", bound=Fraction(1, 20), origin="", sides=1),
    ]
    columns = [days_of(12, 0.55, 8, 25, 3), days_of(12, 0.6, 40, 30, 4), days_of(12, 0.12, 30, 60, 6)]
    counts = [[(k, n) for k, n in zip(*column, strict=True)] for column in columns]
    counts[2] = [(n - k, n) for k, n in counts[2]]  # a success is no false positive
    state = state_of(promises, list(zip(*counts, strict=True)), run_length=500)
    found = measured_promises(state, promises, 0.9)
    assert [promise.evidence.limit for promise in found] == close([2 * 3 / 0.01, 2 * 3 / 0.01, 3 / 0.01])
    assert [promise.change.limit for promise in found] == [1500] * 3
    sources = [formulas.Source(*CALIBRATION), None, None]
    for measured, days, promise, source in zip(found, counts, promises, sources, strict=True):
        least = float(promise.least_success)

        def evidence(observed, bound, source=source):
            return formulas.log_evidence(observed, bound, source)

        assert measured.evidence.log10 * math.log(10) == close(evidence(days, least))
        assert math.log(measured.change.value) == close(formulas.log_change(days, least, 1500, source))
        high = formulas.upper_end(days, 0.9, evidence)
        low = 1 - formulas.upper_end([(n - k, n) for k, n in days], 0.9, evidence)
        ends = (1 - high, 1 - low) if promise.is_upper else (low, high)
        assert (measured.rate.low, measured.rate.high) == pytest.approx(ends, rel=1e-8)


def test_range_of_independent_trials():
    low, high = rate_interval(90, 100, 0.9)

    def evidence(days, bound):
        return formulas.log_e(*days[0], bound)

    assert high == close(formulas.upper_end([(90, 100)], 0.9, evidence))
    assert low == close(1 - formulas.upper_end([(10, 100)], 0.9, evidence))


def test_coverage_that_prediction_sets_promise():
    found = float(coverage_bound(181, 200, Fraction(1, 50)))
    expected = formulas.coverage_bound(181, 200, 0.02)
    assert expected - 1e-12 <= found <= expected


@pytest.mark.parametrize(
    ("old", "new"), [([30, 20, 5, 0, 9], [12, 20, 9, 3, 0]), ([40, 20, 0, 7], [4, 30, 0, 16])]
)
def test_drift_of_unlabelled_rows(old, new):
    assert population_stability(np.array(old), np.array(new)) == close(formulas.stability(old, new))
    assert homogeneity(np.array(old), np.array(new))[2] == close(formulas.homogeneity_p(old, new))
