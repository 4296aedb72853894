"""Tests of the generators: rows of a seed, Gaussian classes, and the theorem on a posterior network."""

import numpy as np
import pytest

from reproduction.generators.gaussian import GaussianModel
from reproduction.generators.posterior import PosteriorModel, expected_curves
from uqcli.base.draws import ROWS_PER_BLOCK
from uqcli.uncertainty.beta import from_beta


@pytest.mark.parametrize("model", [PosteriorModel(gammas=(0.1, 0.5)), GaussianModel(noise=0.2)])
def test_rows_depend_on_the_seed_only(model):
    rows, more, other = model.draw(10, 3), model.draw(ROWS_PER_BLOCK + 10, 3), model.draw(10, 4)
    assert {len(column) for column in more.values()} == {ROWS_PER_BLOCK + 10}
    assert not np.array_equal(rows["score"], other["score"])
    again = model.draw(ROWS_PER_BLOCK + 5000, 3)
    for name, column in more.items():
        np.testing.assert_array_equal(column[:ROWS_PER_BLOCK], again[name][:ROWS_PER_BLOCK])


def test_scores_and_uncertainties_are_those_of_the_posterior():
    rows = PosteriorModel().draw(1_000)
    expected = from_beta(rows["alpha1"], rows["alpha0"])
    np.testing.assert_array_equal(rows["score"], expected.score)
    np.testing.assert_array_equal(rows["uncertainty"], expected.beta_entropy)


def test_without_undersampling_the_bias_has_a_closed_form():
    """[UB Theorem 3.1(b)]."""
    curves = expected_curves(PosteriorModel(tau=1, omega=0.4, nu=3, gammas=(0.25, 0.01)))
    assert [(curve.gamma, curve.evidence) for curve in curves] == [(0.01, 200), (0.25, 8)]
    for curve in curves:
        bias = (curve.score * (3 - 1) + 0.4 - 0.25 * 3) * curve.gamma / (1 + 3 * curve.gamma)
        np.testing.assert_allclose(curve.positivity, curve.score - bias, atol=1e-9)


@pytest.mark.parametrize("prevalence", [0, 1])
def test_all_rows_can_have_one_class(prevalence):
    rows = GaussianModel(prevalence=prevalence, train_prevalence=0.01).draw(500)
    assert (rows["label"] == prevalence).all()
    assert (rows["true_positivity"] == prevalence).all()
    assert ((rows["score"] > 0) & (rows["score"] < 1)).all()


def test_noise_shifts_scores_by_its_standard_deviation_and_changes_nothing_else():
    plain, noisy = (GaussianModel(noise=noise).draw(20_000) for noise in (0.0, 0.5))
    for name in ("label", "x", "true_positivity"):
        np.testing.assert_array_equal(plain[name], noisy[name])
    shift = np.log(noisy["score"] / (1 - noisy["score"])) - np.log(plain["score"] / (1 - plain["score"]))
    assert shift.std() == pytest.approx(0.5, abs=0.01)
    assert abs(shift.mean()) < 0.02
