"""Compute all calibration errors of one score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from uqcli.base.blockwise import VALUES_PER_PART
from uqcli.base.choices import Binning
from uqcli.base.counts import Ints, ValueCounts
from uqcli.base.records import dataclass
from uqcli.base.running.concurrency import Threads
from uqcli.base.running.machine import threads
from uqcli.estimates.calibration_error import (
    Binned,
    Rejected,
    ScoreBins,
    brier,
    expected_error,
    label_variance,
    log_loss,
    maximum_error,
)
from uqcli.kernels.pava import isotonic_sums
from uqcli.kernels.sums import running_extremes, sums_before
from uqcli.tce.calibration_line import CalibrationLine, calibration_line
from uqcli.tce.options import MeasureOptions


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Metrics, the bins of ``binning`` with their rejected rows, and the equispaced bins.

    Attributes
    ----------
    metrics
        None if undefined, for example a slope with a single class.
    rejected
        None if no score was tested.
    line
        Calibration intercept and slope with their standard errors.
    """

    metrics: Mapping[str, float | None]
    bins: ScoreBins
    rejected: Rejected | None
    equispaced: ScoreBins
    line: CalibrationLine


def measure(counts: ValueCounts, options: MeasureOptions, *, tests: bool = True) -> Measured:
    """Compute the calibration errors of tie-pooled probabilities [TCE sec. 3].

    Parameters
    ----------
    counts
        Scores in [0, 1].
    tests
        Whether to test the scores; without, the metrics that count rejected ones are None.

    Raises
    ------
    UsageError
        The bounds of pava-bc contradict each other or the number of rows.
    """
    work: tuple[Callable[[ValueCounts], Any], ...] = (calibration_line, brier, log_loss, cumulative_error)
    # to begin threads takes longer than few values, and one thread is no help to this one
    are_few = len(counts.value) <= VALUES_PER_PART or threads() == 1
    with nullcontext() if are_few else Threads(threads()) as pool:
        mapped = map if pool is None else pool.map
        results = mapped(lambda error: error(counts), work)
        binned = Binned(counts, options.sizes, options.test, options.alpha)
        tested = (Binning(options.binning), Binning.QUANTILE, Binning.PAVA)
        bins = binned[tested[0]]
        rejected = [binned.rejected(binning) if tests else None for binning in tested]
        tce, tce_q, tce_v = (None if rows is None else rows.percent(counts.rows) for rows in rejected)
        equispaced = binned[Binning.EQUISPACED]  # while the threads work
    line, brier_score, log_loss_mean, cumulative = results
    estimation_error, within_bin_error = label_variance(bins)
    isotonic = binned[Binning.PAVA]
    mcb, dsc, unc = brier_parts(brier_score, isotonic.count, isotonic.positives)
    metrics = {
        "tce": tce,
        "tce_q": tce_q,
        "tce_v": tce_v,
        "ece": expected_error(equispaced),
        "ace": expected_error(binned[Binning.QUANTILE]),
        "mce": maximum_error(equispaced),
        "mce_q": maximum_error(binned[Binning.QUANTILE]),
        "ecce": cumulative,
        "brier": brier_score,
        "mcb": mcb,
        "dsc": dsc,
        "unc": unc,
        "log_loss": log_loss_mean,
        "intercept": line.intercept,
        "slope": line.slope,
        "intercept_at_slope_1": line.in_the_large,
        "estimation_error": estimation_error,
        "within_bin_error": within_bin_error,
    }
    return Measured(metrics=metrics, bins=bins, rejected=rejected[0], equispaced=equispaced, line=line)


def test_based_error(counts: ValueCounts, options: MeasureOptions) -> float:
    """Compute the test-based calibration error only, in percent."""
    return (
        Binned(counts, options.sizes, options.test, options.alpha)
        .rejected(Binning(options.binning))
        .percent(counts.rows)
    )


class ErrorsOfDraws:
    """Errors that are compared with their null distribution, since noise inflates them, of drawn labels.

    Bins that are cut by scores alone are cut once.
    """

    def __init__(self, counts: ValueCounts, options: MeasureOptions) -> None:
        self._counts, self._options = counts, options
        observed = Binned(counts, options.sizes, options.test, options.alpha)
        self._fixed = {binning: observed[binning] for binning in (Binning.EQUISPACED, Binning.QUANTILE)}

    def of(self, positives: Ints) -> dict[str, float]:
        """Compute them for as many positive rows at each score, shape (m,)."""
        counts, options = replace(self._counts, positives=positives), self._options
        binned = Binned(counts, options.sizes, options.test, options.alpha)
        for binning, bins in self._fixed.items():
            binned[binning] = replace(bins, positives=np.diff(sums_before(positives, bins.start)))
        _, rows, positives_of_blocks = isotonic_sums(counts.positives, counts.count)
        return {
            "ece": expected_error(binned[Binning.EQUISPACED]),
            "ace": expected_error(binned[Binning.QUANTILE]),
            "mce": maximum_error(binned[Binning.EQUISPACED]),
            "tce": binned.rejected(Binning(options.binning)).percent(counts.rows),
            "mcb": brier_parts(brier(counts), rows, positives_of_blocks)[0],
            "ecce": cumulative_error(counts),
        }


def cumulative_error(counts: ValueCounts) -> float:
    """Compute the range of the cumulative sums of (label - score) / N in ascending order of score, from 0."""
    highest, lowest = running_extremes(counts)
    return (highest - lowest) / counts.rows


def brier_parts(brier_score: float, rows: Ints, positives: Ints) -> tuple[float, float, float]:
    """Decompose a Brier score: it is miscalibration - discrimination + uncertainty, each at least 0.

    Parameters
    ----------
    rows, positives : int64, shape (B,)
        Counts of the isotonic blocks.

    Returns
    -------
    How much the best monotone recalibration reduces the score, how much better the recalibrated scores are
    than the overall rate, and the Brier score of that rate.
    """
    total, total_positives = int(rows.sum()), int(positives.sum())
    fitted_brier_score = float((positives * ((rows - positives) / rows)).sum()) / total
    uncertainty = total_positives / total * ((total - total_positives) / total)
    miscalibration = max(0.0, brier_score - fitted_brier_score)  # rounding may leave -1e-17
    return miscalibration, max(0.0, uncertainty - fitted_brier_score), uncertainty
