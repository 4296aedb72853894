"""``uqcli calibrate``: fit one map from scores to probabilities, or all that apply, and measure it."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from uqcli.base import defaults
from uqcli.base.choices import OF_UNCERTAINTY, CalibrationMethod
from uqcli.base.counts import Ints
from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.bin.isotonic_error import BinError, errors_of_rows
from uqcli.calibrate.choice import fit_with_tree_sizes
from uqcli.calibrate.cross_fit import (
    FittedCalibrator,
    ReadForAll,
    artifact_of,
    make_calibrator,
    read_for_all,
    read_like,
    shift_notes,
)
from uqcli.calibrate.fit import ROW_FITS, SCORE_FITS, FittedCalibration, cross_validated, fit
from uqcli.calibrate.options import CalibrateRequest, PartOptions
from uqcli.calibrate.report import CalibrateReport, log_loss_of
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.comparison.figure import ReliabilityPanel
from uqcli.comparison.report import Comparison
from uqcli.comparison.run import PairedRows
from uqcli.engines.columns import MissingColumnError
from uqcli.engines.open import reusable_streams
from uqcli.engines.request import TURNED
from uqcli.estimates.clustered import clusters_in
from uqcli.rules.result import Result, keeps_doubts
from uqcli.rules.saved import Source


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
    plan = request.plan(None if measured is None else measured.rows.size)
    notes = [*fitted.fitted.notes]
    if request.parts.test is None and fitted.rows.size != fitted.fitted_rows:
        notes.append(
            f"Measured on {fitted.rows.size:,} rows drawn from all {fitted.fitted_rows:,}; fitted on all."
        )
    report = CalibrateReport(
        artifact=fitted.artifact,
        resampling=plan,
        tested=request.parts.test is not None,
        compared=None if measured is None else measured.compared(plan),
        clusters=None if measured is None else clusters_in(measured.rows, options.cluster),
        panels=() if measured is None else measured.panels(_parts(measured.rows, fitted.fitted)),
        errors=None if measured is None else _isotonic_errors(measured, fitted, request),
        choice=fitted.choice,
        notes=(
            *notes,
            *request.unmeasured(plan, measured=measured is not None),
            *shift_notes(fitted.target, fitted.fitted.map),
        ),
    )
    return Result(report=report, artifact=fitted.artifact)


def _measured(fitted: FittedCalibrator, request: CalibrateRequest) -> PairedRows | None:
    """Return rows with probabilities from fits that did not use them; None if there are too few."""
    if request.parts.test is None:
        return cross_validated(fitted.rows, fitted.options, fitted.tree_rows)
    test = read_like(fitted.rows, fitted.data.on(request.parts.test), request)
    return fitted.fitted.paired(test, fitted.options.cluster)


def _parts(rows: Rows, fitted: FittedCalibration) -> list[tuple[str, Ints]]:
    return fitted.map.rows_by_part(rows.uncertainty, fitted.predict(rows).leaf)


def _isotonic_errors(
    measured: PairedRows, fitted: FittedCalibrator, request: CalibrateRequest
) -> tuple[BinError, BinError] | None:
    """Compute ECE@j of a single isotonic fit and of one per uncertainty bin, on rows outside their fits."""
    parts = fitted.fitted.map.parts(measured.rows.uncertainty, None)  # None for leaves
    if parts is None:
        return None
    levels, level = parts
    options = replace(fitted.options, method=CalibrationMethod.ISOTONIC)
    if request.parts.test is None:
        single = cross_validated(fitted.rows, options, None)  # the same folds, so the same rows in each
        assert single is not None  # as the rows were measured
    else:
        single = fit(fitted.rows, options).paired(measured.rows, options.cluster)
    of_single, of_bins = (
        errors_of_rows(
            measured.rows,
            probability,
            uncertainty_bin=level,
            uncertainty_bins=len(levels),
            score_bins=defaults.SINGLE_SCORE_BINS,
        )
        for probability in (single.after, measured.after)
    )
    return of_single, of_bins


@dataclass(frozen=True, kw_only=True)
class _Tried:
    """An applicable method, fitted and measured.

    Attributes
    ----------
    request
        The request for this method alone.
    compared, panel
        None if there are too few rows.
    """

    request: CalibrateRequest
    source: Source
    fitted: FittedCalibration
    compared: Comparison | None
    panel: ReliabilityPanel | None

    @property
    def method(self) -> CalibrationMethod:
        method = self.request.calibration.method
        assert method is not None
        return method


@keeps_doubts
def run_all_methods(request: CalibrateRequest) -> Result[CalibrateReport, CalibratorArtifact]:
    """Fit every applicable calibrator, and keep the one with the lowest log loss on rows outside its fit.

    Parameters
    ----------
    request
        Request whose method is ignored.

    Raises
    ------
    UsageError, DataError, ArtifactError, MissingExtraError
        See ``run``.
    """
    if request.data.roles.class_columns is not None:
        from uqcli.calibrate.run_classes import run_all_classes

        return run_all_classes(request)
    with reusable_streams():  # read again if the uncertainty column is missing
        read, obstacles = _read(request)
        test = None
        if request.parts.test is not None:
            test = read_like(read.rows, read.data.on(request.parts.test), request)
    measured = read.rows if test is None else test
    plan = request.plan(measured.size)
    methods = [method for method in (*SCORE_FITS, *ROW_FITS) if method not in obstacles]
    tried = [_try(read, method, request, test, plan) for method in methods]
    results = sorted(tried, key=lambda candidate: log_loss_of(candidate.compared))
    best = results[0]
    counts = read.rows.counts(read.rows.score)
    artifact = artifact_of(best.fitted, best.source, counts, best.request, read.target)
    report = CalibrateReport(
        artifact=artifact,
        resampling=plan,
        tested=request.parts.test is not None,
        compared=best.compared,
        panels=tuple(candidate.panel for candidate in results if candidate.panel is not None),
        notes=(
            *best.fitted.notes,
            *request.unmeasured(plan, measured=best.compared is not None),
            *shift_notes(read.target, best.fitted.map),
        ),
        methods=tuple(
            (str(candidate.method), candidate.compared) for candidate in results if candidate.compared
        ),
        obstacles=obstacles,
        clusters=clusters_in(measured, request.calibration.cluster),
    )
    return Result(report=report, artifact=artifact)


def _obstacles(request: CalibrateRequest) -> dict[CalibrationMethod, str]:
    obstacles: dict[CalibrationMethod, str] = {}
    if "uncertainty" not in request.data.roles.numbers:
        obstacles |= dict.fromkeys(OF_UNCERTAINTY, "needs an uncertainty")
    if not request.parts.features and not request.parts.partition:
        obstacles[CalibrationMethod.HETEROGENEOUS] = "needs --features or --partition"
    if request.calibration.cluster is not None:
        obstacles[CalibrationMethod.HISTOGRAM] = "has an error bound of independent rows"
    if request.calibration.scale.undersampled == 1:
        obstacles[CalibrationMethod.PRIOR] = "needs --undersampled"
    return obstacles


def _read(request: CalibrateRequest) -> tuple[ReadForAll, dict[CalibrationMethod, str]]:
    """Read the columns of all methods, without an uncertainty if there is none; return the obstacles."""
    column, obstacles = request.data.roles.numbers.get("uncertainty"), _obstacles(request)
    try:
        return read_for_all(request), obstacles
    except MissingColumnError as error:
        if error.role != "uncertainty" or column != defaults.UNCERTAINTY:
            raise
    without_uncertainty = replace(request, data=request.data.without("uncertainty"))
    return read_for_all(without_uncertainty), {
        **obstacles,
        **dict.fromkeys(OF_UNCERTAINTY, f"needs a column '{column}'"),
    }


def _try(
    read: ReadForAll,
    method: CalibrationMethod,
    request: CalibrateRequest,
    test: Rows | None,
    plan: ResamplingOptions,
) -> _Tried:
    """Fit a method as if requested alone, and measure it on the rows shared by all methods."""
    single = _alone(request, method)
    options = single.calibration
    rows, tree_rows = _columns_used(read.rows, method), None
    if read.tree_rows is not None and method is CalibrationMethod.HETEROGENEOUS:
        tree_rows = _columns_used(read.tree_rows, method)
    fitted, options = fit_with_tree_sizes(rows, options, tree_rows)
    single = replace(single, calibration=options)
    if test is None:
        measured = cross_validated(read.rows, options, tree_rows)
    else:
        measured = fitted.paired(test, options.cluster)
    compared, panel = None, None
    if measured is not None:
        compared = measured.compared(plan)
        panel = replace(measured.panels()[0], title=str(method))
    columns = {role: name for role, name in read.source.columns.items() if _is_read(role, method)}
    source = msgspec.structs.replace(read.source, columns=columns)
    return _Tried(request=single, source=source, fitted=fitted, compared=compared, panel=panel)


def _alone(request: CalibrateRequest, method: CalibrationMethod) -> CalibrateRequest:
    heterogeneous = method is CalibrationMethod.HETEROGENEOUS
    return replace(
        request,
        calibration=replace(request.calibration, method=method),
        parts=request.parts if heterogeneous else PartOptions(test=request.parts.test),
    )


def _is_read(role: str, method: CalibrationMethod) -> bool:
    """Whether a method uses the column of a role."""
    if role in ("uncertainty", TURNED):
        return method in OF_UNCERTAINTY
    return not role.startswith("features.") or method is CalibrationMethod.HETEROGENEOUS


def _columns_used(rows: Rows, method: CalibrationMethod) -> Rows:
    """Pool rows by the columns that a method uses, so that other columns do not change its result."""
    return replace(
        rows,
        numbers={role: values for role, values in rows.numbers.items() if _is_read(role, method)},
        features=rows.features if method is CalibrationMethod.HETEROGENEOUS else {},
    ).pooled()
