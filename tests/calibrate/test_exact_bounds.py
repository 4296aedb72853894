"""Exact bounds of the error of histogram calibration, in the source and in target data."""

import math

import pytest

from uqcli.calibrate.maps.histogram import bound, target_bound


@pytest.mark.parametrize(("rows", "bins", "classes"), [(50, 10, 2), (4000, 15, 2), (800, 6, 5)])
def test_bound_of_the_error_of_all_bins(rows, bins, classes):
    """With probability .9, in every bin: 2 / sqrt(N) sqrt(ln(M 2^K / .1) / 2) in the sum of all classes."""
    expected = 2 / math.sqrt(rows) * math.sqrt(0.5 * math.log(bins * 2**classes / 0.1))
    assert bound(rows, bins, 0.9, classes) == pytest.approx(expected, rel=1e-9)


def test_bound_in_target_data():
    """Twice kappa, largest to least weight, times the norm, and twice the weights' error over the least."""
    expected = 2 * 2.5 / 0.5 * 0.07 + 2 * 0.2 / 0.5
    assert target_bound([2.5, 0.5, 1.0], 0.07, 0.2) == pytest.approx(expected, rel=1e-12)
