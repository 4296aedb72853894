"""Tests of uncertainties, against numerical integration and their definitions."""

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from uqcli.uncertainty.beta import beta_entropy, from_beta, from_members


def coin_entropy(p):
    return float(stats.bernoulli(p).entropy())


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.5, 0.7), (0.8, 0.6), (40.0, 3.0), (900.0, 1200.0)])
def test_uncertainties_of_a_beta_equal_those_of_scipy_and_integration(a, b):
    uncertainties = from_beta(np.array([a]), np.array([b]))
    distribution = stats.beta(a, b)
    assert uncertainties.score[0] == pytest.approx(distribution.mean())
    assert uncertainties.std[0] == pytest.approx(distribution.std())
    assert uncertainties.beta_entropy[0] == pytest.approx(distribution.entropy(), abs=1e-9)
    assert uncertainties.entropy[0] == pytest.approx(coin_entropy(distribution.mean()))
    expected = distribution.expect(lambda p: -p * np.log(p) - (1 - p) * np.log1p(-p))
    assert uncertainties.mutual_information[0] == pytest.approx(uncertainties.entropy[0] - expected, abs=1e-6)


def test_beta_entropy_is_minus_the_mean_log_density():
    distribution = stats.beta(2.5, 4.0)
    direct = integrate.quad(lambda p: -distribution.pdf(p) * distribution.logpdf(p), 0, 1)[0]
    assert beta_entropy(np.array([2.5]), np.array([4.0]))[0] == pytest.approx(direct, abs=1e-8)


def test_the_normal_limit_joins_smoothly():
    below, above = (beta_entropy(np.array([x]), np.array([3 * x]))[0] for x in (0.9999e7, 1.0001e7))
    assert below == pytest.approx(above, abs=2e-4)
    assert np.isfinite(beta_entropy(np.array([1e15]), np.array([1e15]))).all()


@pytest.mark.parametrize("b", [9e3, 1.1e4, 1e8, 1e16, 1e100])
@pytest.mark.parametrize("a", [1e-3, 1.0, 2.5, 300.0])
def test_one_large_parameter_causes_no_cancellation(a, b):
    with mpmath.workdps(140):
        x, y = mpmath.mpf(a), mpmath.mpf(b)
        digamma_differences = [mpmath.digamma(x + y) - mpmath.digamma(z) for z in (x, y)]
        expected = (
            mpmath.log(mpmath.beta(x, y))
            + (x - 1) * digamma_differences[0]
            + (y - 1) * digamma_differences[1]
        )
        for first, second in ((a, b), (b, a)):
            entropy = beta_entropy(np.array([first]), np.array([second]))[0]
            assert entropy == pytest.approx(float(expected), rel=1e-9, abs=1e-7)  # as good as betaln


def test_uncertainties_of_members_equal_their_definitions():
    members = np.array([[0.2, 0.9], [0.4, 0.9], [0.6, 0.6]])
    uncertainties = from_members(list(members))
    np.testing.assert_allclose(uncertainties.score, members.mean(axis=0))
    np.testing.assert_allclose(uncertainties.std, members.std(axis=0))
    mean_entropy = [coin_entropy(p) for p in members.mean(axis=0)]
    member_entropy = np.array([[coin_entropy(p) for p in row] for row in members])
    np.testing.assert_allclose(uncertainties.entropy, mean_entropy)
    np.testing.assert_allclose(uncertainties.mutual_information, mean_entropy - member_entropy.mean(axis=0))
    mean, variance = members.mean(axis=0), members.var(axis=0)
    strength = mean * (1 - mean) / variance - 1
    matching = stats.beta(mean * strength, (1 - mean) * strength)
    np.testing.assert_allclose(uncertainties.beta_entropy, matching.entropy())


def test_members_that_match_no_beta_stay_finite():
    corners = [np.array([0.0, 1.0, 0.3, 0.0]), np.array([0.0, 1.0, 0.3, 1.0])]
    uncertainties = from_members(corners)
    for values in (
        uncertainties.score,
        uncertainties.beta_entropy,
        uncertainties.std,
        uncertainties.entropy,
        uncertainties.mutual_information,
    ):
        assert np.isfinite(values).all()


def test_mutual_information_of_much_evidence_is_accurate():
    parameter_pairs = [
        (1e16, 1e16),
        (1e15, 3.0),
        (3.0, 1e15),
        (9999.0, 9999.0),
        (10001.0, 10001.0),
        (1e-9, 1e5),
        (0.5, 0.5),
    ]
    uncertainties = from_beta(*(np.array(column) for column in zip(*parameter_pairs, strict=True)))
    with mpmath.workdps(60):
        for row, (first, second) in enumerate(parameter_pairs):
            shares = [
                mpmath.mpf(first) / (mpmath.mpf(first) + second),
                mpmath.mpf(second) / (mpmath.mpf(first) + second),
            ]
            above = [
                mpmath.psi(0, parameter + 1) - mpmath.log(parameter)
                for parameter in map(mpmath.mpf, (first, second))
            ]
            total = mpmath.mpf(first) + second
            expected = mpmath.fdot(shares, above) - (mpmath.psi(0, total + 1) - mpmath.log(total))
            assert uncertainties.mutual_information[row] == pytest.approx(float(expected), rel=1e-9)
            entropy = -mpmath.fdot(shares, list(map(mpmath.log, shares)))
            assert uncertainties.entropy[row] == pytest.approx(float(entropy), rel=1e-12)
