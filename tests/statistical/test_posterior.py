"""Tests of the simulated posterior network, against closed forms, Monte Carlo and the paper's Figure 3."""

import mpmath
import numpy as np
import pytest

from reproduction.generators.posterior import PosteriorModel, expected_positivity


def all_evidence(n):
    return np.full(n + 1, n, dtype=np.int64), np.arange(n + 1, dtype=np.int64)


@pytest.mark.parametrize("n", [1, 5, 50, 5000])
@pytest.mark.parametrize("nu", [0.05, 1.0, 4.0])
def test_without_undersampling_the_mean_has_a_closed_form(n, nu):
    model = PosteriorModel(tau=1.0, nu=nu)
    evidence, positive_evidence = (column[:: max(n // 50, 1)] for column in all_evidence(n))
    strength = nu * model.prior
    expected = (positive_evidence / n + model.xi * strength / n) / (1 + strength / n)
    np.testing.assert_allclose(expected_positivity(model, evidence, positive_evidence), expected, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 7, 60, 500])
@pytest.mark.parametrize("tau", [0.3, 3.0, 10.0])
def test_with_undersampling_the_mean_equals_the_hypergeometric_form(n, tau):
    model = PosteriorModel(tau=tau, xi=0.25, nu=2.0)
    evidence, positive_evidence = (column[:: max(n // 12, 1)] for column in all_evidence(n))
    strength = model.nu * model.prior
    expected = []
    with mpmath.workdps(60):
        for k in positive_evidence.tolist():
            a, b = strength * model.xi + k, strength * (1 - model.xi) + n - k
            ratio = mpmath.hyp2f1(n, a + 1, a + b + 1, 1 - tau) / mpmath.hyp2f1(n, a, a + b, 1 - tau)
            expected.append(float(a / (a + b) * ratio))
    np.testing.assert_allclose(expected_positivity(model, evidence, positive_evidence), expected, rtol=1e-9)


def test_weak_priors_and_much_evidence_stay_finite():
    model = PosteriorModel(tau=1000.0, prior=1e-3, nu=1e-3)
    evidence = np.array([10**6, 10**6, 10**6])
    result = expected_positivity(model, evidence, np.array([0, 5, 10**6]))
    assert np.isfinite(result).all()
    assert (np.diff(result) > 0).all()


def test_the_expected_positive_rate_is_the_mean_true_rate():
    rows = PosteriorModel(tau=3.0, gammas=(0.25,)).draw(200_000)
    for score in np.unique(rows["score"]):
        inside = rows["score"] == score
        if inside.sum() > 500:
            expected = rows["expected_positivity"][inside][0]
            error = rows["true_positivity"][inside].std() / np.sqrt(inside.sum())
            assert abs(rows["true_positivity"][inside].mean() - expected) < 4.5 * error


@pytest.mark.parametrize("gamma", [0.02, 0.1, 0.5])
def test_the_positive_rate_rises_with_the_score_at_fixed_gamma(gamma):
    model = PosteriorModel(tau=3.0, gammas=(gamma,))
    evidence, positive_evidence = all_evidence(model.evidence()[0])
    assert (np.diff(expected_positivity(model, evidence, positive_evidence)) > 0).all()
    rows = model.draw(200_000)
    groups = np.digitize(rows["score"], np.quantile(rows["score"], [0.25, 0.5, 0.75]))
    rates = [rows["label"][groups == group].mean() for group in np.unique(groups)]
    assert rates == sorted(rates)


def test_overestimation_grows_with_tau():
    overestimation = []
    for tau in (1.0, 2.0, 3.0, 5.0, 10.0):
        model = PosteriorModel(tau=tau, gammas=(0.1,))
        evidence, positive_evidence = all_evidence(model.evidence()[0])
        score = (model.prior * model.omega + positive_evidence) / (model.prior + evidence)
        overestimation.append(score - expected_positivity(model, evidence, positive_evidence))
        rows = model.draw(50_000)
        top = rows["score"] > 0.7
        excess = rows["score"][top] - rows["label"][top]
        assert tau == 1.0 or excess.mean() > 3 * excess.std() / np.sqrt(top.sum())
    assert (np.diff(np.array(overestimation), axis=0) > 0).all()


def test_positive_rates_differ_by_uncertainty_at_high_scores():
    model = PosteriorModel(tau=3.0, xi=0.25, gammas=(0.01, 0.25))
    rows = model.draw(200_000)
    certain = rows["evidence"] == rows["evidence"].max()
    gaps = []
    for low, high in ((0.2, 0.4), (0.75, 0.95)):
        inside = (rows["score"] >= low) & (rows["score"] < high)
        gaps.append(rows["label"][inside & certain].mean() - rows["label"][inside & ~certain].mean())
    assert gaps[1] > gaps[0] + 0.02
