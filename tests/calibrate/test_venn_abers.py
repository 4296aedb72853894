"""Tests of Venn-Abers prediction, against isotonic fits with the new row added."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import calibration as oracle
from tests.properties.calibration_rows import PROBABILITY, ROWS, arrays
from uqcli.base.counts import pool
from uqcli.calibrate.maps.isotonic import fit_venn_abers


@given(ROWS, st.lists(st.floats(-0.5, 1.5), max_size=5))
def test_both_fits_are_those_with_the_new_row(rows, elsewhere):
    score, label = arrays(rows)
    fitted = fit_venn_abers(pool(score, label))
    new = np.array([*score, *elsewhere]) + 0.0
    expected = np.array([oracle.venn_abers(score.tolist(), label.tolist(), value) for value in new.tolist()])
    interval = fitted.interval(new)
    np.testing.assert_allclose(np.stack([interval[0], interval[1]], axis=1), expected, atol=1e-12)
    low, high = expected.T
    np.testing.assert_allclose(fitted.probability(new, PROBABILITY), high / (1 - low + high), atol=1e-12)
    assert not fitted.contradiction()


def test_the_map_keeps_few_steps():
    random = np.random.default_rng(3)
    score = random.random(20_000)
    fitted = fit_venn_abers(pool(score, random.random(20_000) < score))
    assert len(fitted.low) + len(fitted.high) < 4000
    interval = fitted.interval(np.linspace(0.1, 0.9, 50))
    assert (interval[0] < interval[1]).all()
    assert (interval[1] - interval[0]).max() < 0.02
