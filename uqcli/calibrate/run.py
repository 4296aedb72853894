"""``uqcli calibrate``: fit and evaluate a map from scores to probabilities."""

from __future__ import annotations

from dataclasses import replace

from uqcli.base import defaults
from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats
from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.bin.isotonic_error import BinError, errors_of_rows
from uqcli.calibrate.cross_fit import FittedCalibrator, make_calibrator, read_like, shift_notes
from uqcli.calibrate.fit import FittedCalibration, cross_validated, fit, uncorrected_probabilities
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps.base import Parts
from uqcli.calibrate.options import CalibrateRequest
from uqcli.calibrate.plan import plan_note, plan_of
from uqcli.calibrate.report import CalibrateReport
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.comparison.figure import ReliabilityPanel
from uqcli.comparison.panels import panels
from uqcli.comparison.report import Comparison
from uqcli.comparison.run import compare
from uqcli.estimates.cluster_pairs import clustered_pairs, clusters_in
from uqcli.estimates.paired import PairedCounts
from uqcli.rules.result import Result, keeps_doubts


@dataclass(frozen=True, kw_only=True)
class _Measured:
    """Rows with probabilities from fits that did not use them, and a description of these rows."""

    rows: Rows
    after: Floats
    where: str


@keeps_doubts
def run(request: CalibrateRequest) -> Result[CalibrateReport, CalibratorArtifact]:
    """Fit a calibrator, and measure it cross-validated or on a test set.

    Raises
    ------
    UsageError, DataError, ArtifactError, MissingExtraError
        An option is invalid, a score is not a probability, or rows or class weights cannot be read.
    """
    if request.data.roles.class_columns is not None:
        from uqcli.calibrate.run_classes import run_classes  # its methods are not needed for one score

        return run_classes(request)
    fitted = make_calibrator(request)
    options, measured = fitted.options, _measured(fitted, request)
    plan = plan_of(request, None if measured is None else measured.rows.size)
    report = CalibrateReport(
        artifact=fitted.artifact,
        resampling=(plan.bootstrap, plan.confidence),
        tested=request.parts.test is not None,
        compared=None if measured is None else _compared(measured, options, plan),
        clusters=None if measured is None else clusters_in(measured.rows, options.cluster),
        where=None if measured is None else measured.where,
        panels=() if measured is None else _panels(measured, fitted.fitted, options),
        errors=None if measured is None else _isotonic_errors(measured, fitted, request),
        choice=fitted.choice,
        notes=(
            *fitted.fitted.notes,
            *_sample_note(fitted, request),
            *plan_note(request, plan, measured=measured is not None),
            *shift_notes(fitted.target, fitted.fitted.map),
        ),
    )
    return Result(report=report, artifact=fitted.artifact)


def _measured(fitted: FittedCalibrator, request: CalibrateRequest) -> _Measured | None:
    if request.parts.test is not None:
        test = read_like(fitted.rows, fitted.data.on(request.parts.test), request)
        return _Measured(rows=test, after=fitted.fitted.predict(test).probability, where="on the test set")
    predicted = cross_validated(fitted.rows, fitted.options, fitted.tree_rows)
    if predicted is None:
        return None
    return _Measured(rows=predicted.rows, after=predicted.probability, where="(cross-validated)")


def _sample_note(fitted: FittedCalibrator, request: CalibrateRequest) -> list[str]:
    if request.parts.test is not None or fitted.rows.size == fitted.fitted_rows:
        return []
    return [f"Measured on {fitted.rows.size:,} rows drawn from all {fitted.fitted_rows:,}; fitted on all."]


def _compared(measured: _Measured, options: CalibrationOptions, plan: ResamplingOptions) -> Comparison:
    rows, after = measured.rows, measured.after
    before = uncorrected_probabilities(rows, options.scale)
    paired_counts = PairedCounts.from_predictions(before, after, rows.labels, rows.weight)
    return compare(paired_counts, plan, clustered_pairs(before, after, rows, options.cluster))


def _panels(
    measured: _Measured, fitted: FittedCalibration, options: CalibrationOptions
) -> tuple[ReliabilityPanel, ...]:
    rows = measured.rows
    leaf = fitted.predict(rows).leaf
    return panels(
        rows,
        uncorrected_probabilities(rows, options.scale),
        measured.after,
        fitted.map.rows_by_part(rows.uncertainty, leaf),
    )


def _isotonic_errors(
    measured: _Measured, fitted: FittedCalibrator, request: CalibrateRequest
) -> tuple[BinError, BinError] | None:
    """Compute ECE@j of a single isotonic fit and of one per uncertainty bin, on rows outside their fits."""
    options = fitted.options
    uncertainty_bins = fitted.fitted.map.parts(measured.rows.uncertainty, None)  # None for leaves
    if uncertainty_bins is None:
        return None
    single_options = replace(options, method=CalibrationMethod.ISOTONIC)
    if request.parts.test is None:
        predicted = cross_validated(
            fitted.rows, single_options, None
        )  # the same folds, so the same rows in each
        if predicted is None:
            return None
        single = predicted.probability
    else:
        single = fit(fitted.rows, single_options).predict(measured.rows).probability
    return (
        _errors(measured, single, uncertainty_bins),
        _errors(measured, measured.after, uncertainty_bins),
    )


def _errors(measured: _Measured, probability: Floats, uncertainty_bins: Parts) -> BinError:
    return errors_of_rows(
        measured.rows,
        probability,
        uncertainty_bin=uncertainty_bins.index,
        uncertainty_bins=len(uncertainty_bins.names),
        score_bins=defaults.SINGLE_SCORE_BINS,
    )
