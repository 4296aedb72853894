"""Tests of isotonic maps by uncertainty bin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.calibration_rows import PROBABILITY, ROWS, arrays, scored
from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import pool
from uqcli.calibrate.fit import fit
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps.isotonic import fit_isotonic


@given(ROWS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_mist_is_isotonic_in_each_uncertainty_bin(rows, bins, random):
    score, label = arrays(rows)
    uncertainty = np.array([random.choice([0.0, 0.5, 1.0]) for _ in rows])
    data = scored(score, label, uncertainty=uncertainty)
    fitted = fit(data, CalibrationOptions(method=CalibrationMethod.MIST, uncertainty_bins=bins))
    probability = fitted.predict(data).probability
    ordered = np.sort(uncertainty)
    edges = [ordered[r * len(rows) // bins] for r in range(1, bins)]
    bin_of_row = np.array([sum(edge <= value for edge in edges) for value in uncertainty])
    for bin_index in np.unique(bin_of_row):
        inside = bin_of_row == bin_index
        alone = fit_isotonic(pool(score[inside], label[inside]))
        np.testing.assert_array_equal(probability[inside], alone.probability(score[inside], PROBABILITY))
