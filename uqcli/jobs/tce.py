"""``uqcli tce``: whether a model's probabilities can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from uqcli import defaults
from uqcli.choices import Binning, CalibrationTest, EngineName, ScoreBinning
from uqcli.counts import ValueCounts, pool
from uqcli.engines.protocol import DataRequest
from uqcli.errors import DataError, UsageError
from uqcli.jobs.labelled import read_hold_out
from uqcli.methods.binning.registry import BINNINGS, BinSizes, size_notes
from uqcli.methods.metrics.calibration_error import (
    ScoreBins,
    brier,
    expected_error,
    in_bins,
    label_variance,
    log_loss,
    maximum_error,
    rejected_rows,
)
from uqcli.reports.tce import TceParameters, TceReport, TestedBins

_SIDE_BINNINGS: Final[Mapping[str, Binning]] = MappingProxyType(
    {"quantile": Binning.QUANTILE, "equispaced": Binning.EQUISPACED, "pava": Binning.PAVA}
)


@dataclass(frozen=True, kw_only=True)
class TceOptions:
    """What is measured and how.

    Attributes
    ----------
    n_min, n_max
        Rows in a bin of pava-bc; None means N//20 and N//5, at least 1.
    n_bins
        Number of quantile and equispaced bins.
    """

    binning: ScoreBinning = ScoreBinning.PAVA_BC
    n_min: int | None = None
    n_max: int | None = None
    n_bins: int = defaults.SINGLE_SCORE_BINS
    alpha: float = defaults.ALPHA
    test: CalibrationTest = CalibrationTest.BINOMIAL


def run(data: DataRequest, options: TceOptions, engine: EngineName) -> TceReport:
    """Measure the calibration error of labelled scores.

    Raises
    ------
    UsageError, DataError
        An option is out of range, a score is no probability, or the rows cannot be read.
    """
    if not 0 < options.alpha <= 1:
        raise UsageError(f"alpha {options.alpha:g}", expected="above 0 and at most 1")
    rows, source = read_hold_out(data, engine, looks_at_uncertainty=False)
    counts = pool(rows.score, rows.positive, rows.weight)
    _require_probabilities(counts, data)
    tested, metrics = measure(counts, options)
    n_min, n_max = _sizes(options).bounds(counts.rows)
    by_size = options.binning is ScoreBinning.PAVA_BC
    return TceReport(
        source=source,
        parameters=TceParameters(
            binning=options.binning,
            n_min=n_min if by_size else None,
            n_max=n_max if by_size else None,
            n_bins=options.n_bins,
            alpha=options.alpha,
            test=options.test,
            on_invalid=data.on_invalid,
            positive=data.positive_value,
        ),
        metrics=metrics,
        bins=tested,
        warnings=tuple(size_notes(tested.bins.count, n_min, n_max)) if by_size else (),
    )


def measure(counts: ValueCounts, options: TceOptions) -> tuple[TestedBins, dict[str, float | None]]:
    """Calibration errors of tie-pooled probabilities [TCE sec. 3].

    Parameters
    ----------
    counts
        Scores in [0, 1].

    Returns
    -------
    bins, metrics
        The bins of ``options.binning`` with their rejected rows, and the metrics by name.
    """

    def binned(binning: Binning) -> ScoreBins:
        return in_bins(counts, BINNINGS[binning].edges(counts, _sizes(options)))

    def percent(bins: ScoreBins) -> float:
        return 100 * int(rejected_rows(counts, bins, options.test, options.alpha).sum()) / counts.rows

    side = {name: binned(binning) for name, binning in _SIDE_BINNINGS.items()}
    main = binned(Binning(options.binning))
    rejected = rejected_rows(counts, main, options.test, options.alpha)
    estimation_error, within_bin_error = label_variance(main)
    metrics: dict[str, float | None] = {
        "tce": 100 * int(rejected.sum()) / counts.rows,
        "tce_q": percent(side["quantile"]),
        "tce_v": percent(side["pava"]),
        "ece": expected_error(side["equispaced"]),
        "ace": expected_error(side["quantile"]),
        "mce": maximum_error(side["equispaced"]),
        "mce_q": maximum_error(side["quantile"]),
        "brier": brier(counts),
        "log_loss": log_loss(counts),
        "estimation_error": estimation_error,
        "within_bin_error": within_bin_error,
    }
    return TestedBins(bins=main, rejected=rejected), metrics


def _sizes(options: TceOptions) -> BinSizes:
    return BinSizes(bins=options.n_bins, n_min=options.n_min, n_max=options.n_max)


def _require_probabilities(counts: ValueCounts, data: DataRequest) -> None:
    low, high = float(counts.value[0]), float(counts.value[-1])
    if low < 0 or high > 1:
        raise DataError(
            f"column '{data.roles.numbers['score']}' holds scores from {low:g} to {high:g}",
            expected="probabilities between 0 and 1",
            remedy="calibrate the scores first",
        )
