"""Tests of the scale of scores and of the correction for undersampled negatives."""

import numpy as np

from tests.oracles import calibration as oracle
from uqcli.calibrate.scale import Scale


def test_undersampling_is_corrected_in_closed_form():
    truth, tau = np.linspace(0.001, 0.999, 50), 4.0
    undersampled_rate = truth / (truth + (1 - truth) / tau)
    np.testing.assert_allclose(Scale(undersampled=tau).corrected(undersampled_rate), truth)
    real = Scale(real=True, undersampled=tau)
    np.testing.assert_allclose(real.probability(real.corrected(oracle.logit(undersampled_rate))), truth)
    assert Scale(undersampled=tau).corrected(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]
