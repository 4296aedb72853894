"""Calibration lines of bootstrap samples, by Newton steps from the line of all rows."""

from __future__ import annotations

import numpy as np

from uqcli.base.blockwise import Counts, parts
from uqcli.base.counts import Floats, pool
from uqcli.estimates.linear_scaling import log_odds
from uqcli.kernels.drawn import ROWS_PER_STEP, line_sums
from uqcli.kernels.linear import solved
from uqcli.kernels.logistic import separates, sigmoid
from uqcli.tce.calibration_line import CalibrationLine, calibration_line, sandwich, symmetric

_MOST_STEPS = 8
_SMALL_STEP = 1e-3
"""Step in standard errors after which the next one would be a millionth of one."""


class DrawnLines:
    """Lines of samples of scores: those of positive rows, then those of negative ones, ascending in each.

    The first step of each sample needs the probabilities of the line of all rows only, and most samples need
    one more. Errors are those before the last step.
    """

    def __init__(self, value: Floats, positives: int, line: CalibrationLine) -> None:
        self._value = value
        self._start = np.array(line.coefficients)
        self._x = log_odds(value)
        self._labels = ((1, slice(0, positives)), (0, slice(positives, len(value))))
        self._at_start = self._probability(self._start) if line.coefficients else self._x

    def of(self, times: Counts) -> CalibrationLine:
        """Fit the line of rows that are drawn so many times, shape (m,)."""
        if self._has_no_line(times):
            return CalibrationLine(in_the_large=None)
        beta = self._start
        for number in range(_MOST_STEPS if len(beta) else 0):
            sums = self._sums(times, beta, is_first=number == 0)
            hessian = symmetric(*sums[2:5])
            step, errors = solved(hessian, sums[:2]), sandwich(symmetric(*sums[5:]), hessian)
            beta = beta + step
            if errors and (np.abs(step) <= _SMALL_STEP * np.array(errors)).all():
                return CalibrationLine(coefficients=beta.tolist(), in_the_large=None, errors=errors)
            if not np.abs(step).max() < 1:
                break
        drawn = times > 0
        label = np.arange(len(times)) < self._labels[0][1].stop
        weight = times[drawn].astype(np.int64)
        return calibration_line(pool(self._value[drawn], label[drawn], weight), errors=True)

    def _has_no_line(self, times: Counts) -> bool:
        """Whether the drawn rows have one label only, or a threshold separates them."""
        ends = []
        for _, rows in self._labels:
            drawn = times[rows] > 0
            if not drawn.any():
                return True
            ends += [drawn.argmax(), len(drawn) - 1 - drawn[::-1].argmax()]
        positions = np.array(ends) + np.array([0, 0, self._labels[1][1].start, self._labels[1][1].start])
        return separates(self._x[positions], falling=True)

    def _probability(self, beta: Floats) -> Floats:
        return np.concatenate([sigmoid(beta[0] + beta[1] * self._x[part]) for part in parts(len(self._x))])

    def _sums(self, times: Counts, beta: Floats, *, is_first: bool) -> Floats:
        """Return the sums of ``line_sums`` at a line, part by part, so that numbers stay in the cache."""
        sums = np.zeros(8)
        for label, rows in self._labels:
            for part in parts(rows.stop - rows.start):
                inside = slice(rows.start + part.start, rows.start + part.stop)
                x = self._x[inside]
                probability = self._at_start[inside] if is_first else sigmoid(beta[0] + beta[1] * x)
                line_sums.run(len(x) // ROWS_PER_STEP, x, probability, times[inside], label, sums)
        return sums
