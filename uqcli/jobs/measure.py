"""All calibration errors of one column of probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from uqcli import defaults
from uqcli.choices import Binning, CalibrationTest, ScoreBinning
from uqcli.counts import ValueCounts, pool
from uqcli.errors import DataError, UsageError
from uqcli.exact import check_size
from uqcli.jobs.arrays import checked_labels, checked_numbers, checked_probabilities, checked_weights
from uqcli.methods.binning.registry import BINNINGS, BinSizes
from uqcli.methods.metrics.calibration_error import (
    Rejected,
    ScoreBins,
    brier,
    expected_error,
    in_bins,
    label_variance,
    log_loss,
    maximum_error,
    reject,
)

_SIDE_BINNINGS: Final[Mapping[str, Binning]] = MappingProxyType(
    {"quantile": Binning.QUANTILE, "equispaced": Binning.EQUISPACED, "pava": Binning.PAVA}
)


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """What is measured and how.

    Attributes
    ----------
    n_min, n_max
        Rows in a bin of pava-bc; None means N//20 and N//5, at least 1.
    n_bins
        Number of quantile and equispaced bins.
    alpha
        Level of the tests, in (0, 1].
    """

    binning: ScoreBinning = ScoreBinning.PAVA_BC
    n_min: int | None = None
    n_max: int | None = None
    n_bins: int = defaults.SINGLE_SCORE_BINS
    alpha: float = defaults.ALPHA
    test: CalibrationTest = CalibrationTest.BINOMIAL

    @property
    def sizes(self) -> BinSizes:
        """Number and sizes of bins."""
        return BinSizes(bins=self.n_bins, n_min=self.n_min, n_max=self.n_max)

    def check(self) -> None:
        """Refuse a level that is none, and bins that no table could hold.

        Raises
        ------
        UsageError
            alpha or a number of bins is out of range.
        """
        if not 0 < self.alpha <= 1:
            raise UsageError(f"alpha {self.alpha:g}", expected="above 0 and at most 1")
        for name, number in (("n_bins", self.n_bins), ("n_min", self.n_min), ("n_max", self.n_max)):
            if number is not None:
                check_size(name, number)

    def for_part(self, rows: int) -> MeasureOptions:
        """The same for a part of the rows, which may be smaller than n_min."""
        if self.n_min is None and self.n_max is None:
            return self
        n_min, n_max = self.sizes.bounds(rows)
        n_min = min(n_min, rows)
        return replace(self, n_min=n_min, n_max=max(n_min, n_max))


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The metrics by name, the bins of ``binning`` with their rejected rows, and the equispaced bins."""

    metrics: Mapping[str, float]
    bins: ScoreBins
    rejected: Rejected
    equispaced: ScoreBins


def measure(counts: ValueCounts, options: MeasureOptions) -> Measured:
    """Calibration errors of tie-pooled probabilities [TCE sec. 3].

    Parameters
    ----------
    counts
        Scores in [0, 1].

    Raises
    ------
    UsageError
        The bounds of pava-bc contradict each other or the number of rows.
    """

    def binned(binning: Binning) -> ScoreBins:
        return in_bins(counts, BINNINGS[binning].edges(counts, options.sizes))

    def tested(bins: ScoreBins) -> Rejected:
        return reject(counts, bins, options.test, options.alpha)

    side = {name: binned(binning) for name, binning in _SIDE_BINNINGS.items()}
    bins = side.get(options.binning) or binned(Binning(options.binning))
    rejected = tested(bins)
    estimation_error, within_bin_error = label_variance(bins)
    metrics = {
        "tce": rejected.percent(counts.rows),
        "tce_q": tested(side["quantile"]).percent(counts.rows),
        "tce_v": tested(side["pava"]).percent(counts.rows),
        "ece": expected_error(side["equispaced"]),
        "ace": expected_error(side["quantile"]),
        "mce": maximum_error(side["equispaced"]),
        "mce_q": maximum_error(side["quantile"]),
        "brier": brier(counts),
        "log_loss": log_loss(counts),
        "estimation_error": estimation_error,
        "within_bin_error": within_bin_error,
    }
    return Measured(metrics=metrics, bins=bins, rejected=rejected, equispaced=side["equispaced"])


@dataclass(frozen=True, kw_only=True)
class Classwise:
    """Means of the one-against-the-rest metrics, and each class by itself."""

    metrics: Mapping[str, float]
    by_class: tuple[Measured, ...]


def calibration_error(
    score: ArrayLike,
    label: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    options: MeasureOptions = MeasureOptions(),
) -> Measured:
    """Test-based calibration error, ECE and relatives of arrays [TCE sec. 3].

    Parameters
    ----------
    score : shape (n,)
        Probabilities of the positive label.
    label : shape (n,)
        0 and 1.
    weight : shape (n,), optional
        How often each row counts, non-negative integers.

    Raises
    ------
    DataError, UsageError
        An array has another shape or values, or an option is out of range.

    Examples
    --------
    >>> found = calibration_error([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    >>> found.metrics["tce"], round(found.metrics["ece"], 3)
    (0.0, 0.15)
    """
    options.check()
    values = checked_probabilities("score", score)
    rows = len(values)
    counts = pool(values, checked_labels("label", label, rows), checked_weights(weight, rows))
    return measure(counts, options)


def classwise_calibration_error(
    probability: ArrayLike,
    label: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    options: MeasureOptions = MeasureOptions(),
) -> Classwise:
    """The same for many classes: each against the rest, and the mean.

    Parameters
    ----------
    probability : shape (n, C)
    label : shape (n,)
        Class numbers from 0 to C-1.
    weight : shape (n,), optional

    Raises
    ------
    DataError, UsageError
        See ``calibration_error``.
    """
    options.check()
    matrix = np.asarray(probability, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise DataError(f"probability has shape {matrix.shape}", expected="(n, C) with C of at least 2")
    rows, classes = matrix.shape
    numbers = checked_numbers("label", label, rows)
    if not np.isin(numbers, np.arange(classes)).all():
        raise DataError("label holds other numbers", expected=f"class numbers from 0 to {classes - 1}")
    weights = checked_weights(weight, rows)
    by_class = tuple(
        measure(
            pool(checked_probabilities("probability", matrix[:, each]), numbers == each, weights), options
        )
        for each in range(classes)
    )
    return Classwise(metrics=mean_metrics([each.metrics for each in by_class]), by_class=by_class)


def mean_metrics(by_class: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean over classes: classwise errors."""
    return {name: sum(each[name] for each in by_class) / len(by_class) for name in by_class[0]}
