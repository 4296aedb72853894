"""Test of the hypothesis that new rows and those of a reference are from one population (Pearson 1900)."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Ints
from uqcli.base.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Homogeneity:
    """Pearson's test of homogeneity.

    Attributes
    ----------
    statistic
        Pearson's X^2.
    degrees
        Degrees of freedom: cells with rows, less one.
    p_value
        None if fewer than two cells have rows, or a sample has none.
    """

    statistic: float
    degrees: int
    p_value: float | None


def homogeneity(reference: Ints, new: Ints) -> Homogeneity:
    """Test whether two samples have the same shares of rows in each cell.

    The p-value is asymptotic, for single looks at one sample.

    Parameters
    ----------
    reference, new : int64, same shape
        Rows in each cell; cells without any are ignored.

    Examples
    --------
    >>> test = homogeneity(np.array([50, 50]), np.array([60, 40]))
    >>> round(test.statistic, 3), test.degrees, round(test.p_value, 3)
    (2.02, 1, 0.155)
    """
    reference, new = np.ravel(reference), np.ravel(new)
    cells = reference + new
    present = cells > 0
    rows, degrees = (int(reference.sum()), int(new.sum())), int(present.sum()) - 1
    if degrees < 1 or 0 in rows:
        return Homogeneity(statistic=0.0, degrees=max(degrees, 0), p_value=None)
    from scipy.special import chdtrc

    difference = reference[present] / rows[0] - new[present] / rows[1]
    scale = float(rows[0]) * rows[1] / cells[present]
    statistic = float((scale * difference**2).sum())
    return Homogeneity(statistic=statistic, degrees=degrees, p_value=float(chdtrc(degrees, statistic)))
