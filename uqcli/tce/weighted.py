"""Calibration errors of rows with sampling weights: functions of weighted counts, without tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uqcli.base.choices import ScoreBinning
from uqcli.base.counts import ValueCounts
from uqcli.base.rows import Rows
from uqcli.base.sampling_weights import as_counts
from uqcli.estimates.calibration_error import counting_rows
from uqcli.estimates.weighted_rows import SAMPLING_WEIGHT
from uqcli.tce.measure import Measured
from uqcli.tce.options import MeasureOptions


def without_tests(options: MeasureOptions) -> MeasureOptions:
    """Return the options of bins; pava-bc sizes its bins for tests, so equal widths replace it."""
    by_size = options.binning is ScoreBinning.PAVA_BC
    return replace(options, binning=ScoreBinning.EQUISPACED) if by_size else options


def by_weight(rows: Rows) -> Rows:
    """Let rows count in proportion to their sampling weights, in the smallest whole numbers that do.

    Equal weights thus give the bits of rows without weights.
    """
    times = rows.weights()
    weight = as_counts(rows.numbers[SAMPLING_WEIGHT], times) // np.maximum(times, 1)
    return replace(rows, weight=weight // max(1, int(np.gcd.reduce(weight))) * times)


def counting(measured: Measured, rows: ValueCounts) -> Measured:
    """Let the bins of metrics by weight count rows."""
    return replace(
        measured,
        bins=counting_rows(measured.bins, rows),
        equispaced=counting_rows(measured.equispaced, rows),
    )
