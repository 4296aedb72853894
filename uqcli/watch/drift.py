"""Tests and measures of drift: whether new rows and those of a reference are from one population."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Floats, Ints
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


_HALF = 0.5
"""Rows added to each cell, since an empty one would make the index infinite."""

_DEVIATIONS = 12
"""Standard deviations around the mean over which a binomial mean is summed."""

_MANY = 10_000
"""Mean number of rows in a cell from which the variance is accurate enough."""


@dataclass(frozen=True, kw_only=True)
class PopulationStability:
    """Population stability index.

    Attributes
    ----------
    value
        Sum of (p - q) ln(p / q) over the cells.
    without_drift
        Its mean for samples of these sizes from one population.
    """

    value: float
    without_drift: float


def population_stability(reference: Ints, new: Ints) -> PopulationStability:
    """Compute the population stability index, with half a row added to each cell.

    Parameters
    ----------
    reference, new : int64, same shape
        Rows in each cell; cells without any are ignored. There must be rows in both.

    Examples
    --------
    >>> round(population_stability(np.array([500, 500]), np.array([600, 400])).value, 4)
    0.0405
    """
    reference, new = np.ravel(reference), np.ravel(new)
    present = reference + new > 0
    reference, new = reference[present], new[present]
    shares = [_shares(counts) for counts in (reference, new)]
    value = float(((shares[0] - shares[1]) * np.log(shares[0] / shares[1])).sum())
    pooled = (reference + new) / (reference + new).sum()
    (p, log_p, p_log_p), (q, log_q, q_log_q) = (
        _binomial_means(int(counts.sum()), pooled) for counts in (reference, new)
    )
    expected = (p - q) * np.log(p / q) + p_log_p + q_log_q
    expected -= p * log_q + q * log_p
    return PopulationStability(value=value, without_drift=float(expected.sum()))


def _shares(counts: Ints) -> Floats:
    shares: Floats = (counts + _HALF) / (counts.sum() + _HALF * len(counts))
    return shares


def _binomial_means(rows: int, probability: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute means over binomial counts, with half a row added: of a cell's share p, of ln p, and of p ln p.

    The last two are less their values at the mean of p. They are exact for few rows in a cell; else they are
    from the variance.
    """
    total = rows + _HALF * len(probability)
    share = (rows * probability + _HALF) / total
    spread = rows * probability * (1 - probability) / total**2 / share**2  # squared relative deviation
    log, share_log = -spread / 2, share * spread / 2
    for cell in np.flatnonzero(rows * probability < _MANY).tolist():
        count, weight = _binomial(rows, float(probability[cell]))
        at = (count + _HALF) / total
        log[cell] = weight @ np.log(at / share[cell])
        share_log[cell] = weight @ (at * np.log(at / share[cell]))
    return share, log, share_log


def _binomial(rows: int, probability: float) -> tuple[Floats, Floats]:
    """Return counts around the mean, and their probabilities."""
    from scipy.special import gammaln

    mean = rows * probability
    reach = _DEVIATIONS * (np.sqrt(mean) + 1)
    count = np.arange(max(0, int(mean - reach)), min(rows, int(mean + reach) + 1) + 1, dtype=np.float64)
    others = rows - count
    logarithm = count * np.log(probability) - gammaln(count + 1) - gammaln(others + 1)
    if probability < 1:
        logarithm += others * np.log1p(-probability)
    weight = np.exp(logarithm - logarithm.max())
    return count, weight / weight.sum()
