"""The coverage of prediction sets whose calibration set is fixed.

For exchangeable rows, the coverage given the calibration set is Beta(k, n + 1 - k). It is often below
1 - alpha.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

_DIGITS: Final = 10**12


def coverage_bound(kept: int, calibration_rows: int, delta: Fraction) -> Fraction:
    """Compute the coverage that prediction sets have at least, with probability 1 - delta / 2.

    The other half of the risk is left for the test, whose alarm is at an e-value of 2 / delta.

    Parameters
    ----------
    kept
        Rank of the threshold among the calibration rows, from 0 to ``calibration_rows + 1``. At the highest
        rank the sets contain every label.
    delta
        In (0, 1).

    Returns
    -------
    Fraction
        Rounded down to 12 digits.

    Examples
    --------
    >>> float(coverage_bound(901, 1000, Fraction(1, 100)))
    0.874223416491
    """
    from scipy.special import betaincinv

    if kept > calibration_rows:
        return Fraction(1)
    if kept <= 0:
        return Fraction(0)
    quantile = float(betaincinv(kept, calibration_rows + 1 - kept, float(delta / 2)))
    return Fraction(math.floor(quantile * _DIGITS), _DIGITS)
