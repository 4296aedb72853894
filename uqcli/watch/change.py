"""Evidence of a change: an e-detector (Shin, Ramdas and Rinaldo 2022).

The evidence after t batches is the sum over j of the e-value of the batches j to t alone. Its expectation is
at most t as long as every trial succeeds with probability at least the bound. The mean time to a false alarm
at A is therefore at least A batches. A long good past does not delay it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.watch.evidence import log_e_values


def log_change_evidence(
    batches: Sequence[tuple[int, int]], bound: Fraction, used: float | Floats = 1.0
) -> float:
    """Compute the log of the evidence of a change after the last batch.

    Parameters
    ----------
    batches
        Successes and trials of each batch, in order. No batches give minus infinity.
    bound
        From 0 to 1, as for ``log_e_value``.
    used : float, or float64 of shape (t,)
        Number by which counts are divided, since trials of a batch depend on each other: all counts, or those
        since each batch.

    Returns
    -------
    float
        Natural logarithm.

    Examples
    --------
    >>> log_change_evidence([(0, 0), (0, 0)], Fraction(9, 10)) == math.log(2)
    True
    """
    successes, trials = _until_each(batches)
    return _log_evidence_at(len(batches), successes, trials, bound, used)


def change_evidence_path(batches: Sequence[tuple[int, int]], bound: Fraction) -> Floats:
    """Compute the evidence of a change after every batch, not its logarithm.

    Returns
    -------
    float64, shape (t,)
        At least 0; infinity beyond the range of doubles.

    Examples
    --------
    >>> change_evidence_path([(0, 0), (0, 0)], Fraction(9, 10)).round(9).tolist()
    [1.0, 2.0]
    """
    successes, trials = _until_each(batches)
    log_evidence = [_log_evidence_at(look, successes, trials, bound) for look in range(1, len(batches) + 1)]
    with np.errstate(over="ignore"):
        return np.exp(np.array(log_evidence, dtype=np.float64))


def is_change_alarm(log_evidence: float, run_length: int) -> bool:
    """Return whether the evidence of a change reaches the run length.

    Examples
    --------
    >>> is_change_alarm(7.0, 1000), is_change_alarm(6.9, 1000)
    (True, False)
    """
    return log_evidence >= math.log(run_length)


def _until_each(batches: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    """Return the successes and trials before the first batch and after each one."""
    counts = np.zeros((len(batches) + 1, 2), dtype=np.int64)
    counts[1:] = np.array(batches, dtype=np.int64).reshape(-1, 2)
    totals = counts.cumsum(axis=0)
    return totals[:, 0], totals[:, 1]


def _log_evidence_at(
    look: int, successes: Ints, trials: Ints, bound: Fraction, used: float | Floats = 1.0
) -> float:
    own = (successes[look] - successes[:look]) / used, (trials[look] - trials[:look]) / used
    log_e = log_e_values(*own, bound)
    highest = float(log_e.max(initial=-math.inf))
    if math.isinf(highest):
        return highest
    return highest + math.log(float(np.exp(log_e - highest).sum()))
