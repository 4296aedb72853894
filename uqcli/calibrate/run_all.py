"""``uqcli calibrate --method all``: compare all applicable methods on the same folds."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import OF_UNCERTAINTY, CalibrationMethod
from uqcli.base.counts import Floats
from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.calibrate.choose import with_tree_sizes
from uqcli.calibrate.cross_fit import (
    CalibrationSet,
    ReadForAll,
    artifact_of,
    read_for_all,
    read_like,
    shift_notes,
)
from uqcli.calibrate.fit import (
    ROW_FITS,
    SCORE_FITS,
    CrossValidated,
    FittedCalibration,
    cross_validated,
    fit,
    uncorrected_probabilities,
)
from uqcli.calibrate.options import CalibrateRequest, PartOptions
from uqcli.calibrate.plan import plan_note, plan_of
from uqcli.calibrate.report import CalibrateReport
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.calibrate.run_classes import run_all_classes
from uqcli.comparison.figure import ReliabilityPanel
from uqcli.comparison.panels import panels
from uqcli.comparison.report import Comparison, value_of
from uqcli.comparison.run import compare
from uqcli.engines.columns import MissingColumnError
from uqcli.engines.open import reusable_streams
from uqcli.engines.request import TURNED
from uqcli.estimates.cluster_pairs import clustered_pairs, clusters_in
from uqcli.estimates.paired import PairedCounts
from uqcli.rules.result import Result, keeps_doubts
from uqcli.rules.saved import Source


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

    @property
    def log_loss(self) -> float:
        """Log loss, by which methods are ranked; infinite if unknown."""
        value = None if self.compared is None else value_of(self.compared.after["log_loss"])
        return np.inf if value is None else value


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
        return run_all_classes(request)
    with reusable_streams():  # read again if the uncertainty column is missing
        obstacles = _obstacles(request)
        read, obstacles = _read(request, obstacles)
        test = (
            None
            if request.parts.test is None
            else read_like(read.rows, read.data.on(request.parts.test), request)
        )
    measured = read.rows if test is None else test
    plan = plan_of(request, measured.size)
    methods = [method for method in (*SCORE_FITS, *ROW_FITS) if method not in obstacles]
    results = sorted(
        (_try(read, method, request, test, plan) for method in methods), key=lambda t: t.log_loss
    )
    best = results[0]
    calibration_set = CalibrationSet(source=best.source, counts=read.rows.counts(read.rows.score))
    artifact = artifact_of(best.fitted, calibration_set, best.request, read.data, read.target)
    enough = best.compared is not None
    report = CalibrateReport(
        artifact=artifact,
        resampling=(plan.bootstrap, plan.confidence),
        tested=request.parts.test is not None,
        compared=best.compared,
        where="on the test set" if test is not None else "(cross-validated)",
        panels=tuple(candidate.panel for candidate in results if candidate.panel is not None),
        errors=None,
        notes=(
            *best.fitted.notes,
            *plan_note(request, plan, measured=enough),
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
    """Return the reasons why methods do not apply to the request."""
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


def _read(
    request: CalibrateRequest, obstacles: dict[CalibrationMethod, str]
) -> tuple[ReadForAll, dict[CalibrationMethod, str]]:
    """Read the columns of all methods, without the uncertainty if there is none."""
    column = request.data.roles.numbers.get("uncertainty")
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
    options, notes = with_tree_sizes(rows, options, tree_rows)
    single = replace(single, calibration=options)
    fitted = fit(rows, options, tree_rows)
    fitted = replace(fitted, notes=(*fitted.notes, *notes))
    if test is None:
        predicted = cross_validated(read.rows, options, tree_rows)
    else:
        predicted = CrossValidated(rows=test, probability=fitted.predict(test).probability)
    compared, panel = None, None
    if predicted is not None:
        uncalibrated = uncorrected_probabilities(predicted.rows, options.scale)
        compared = _compared(predicted, uncalibrated, plan, options.cluster)
        panel = replace(
            panels(
                predicted.rows,
                uncalibrated,
                predicted.probability,
                fitted.map.rows_by_part(predicted.rows.uncertainty, None),
            )[0],
            title=str(method),
        )
    columns = {role: name for role, name in read.source.columns.items() if _is_read(role, method)}
    source = msgspec.structs.replace(read.source, columns=columns)
    return _Tried(request=single, source=source, fitted=fitted, compared=compared, panel=panel)


def _compared(
    predicted: CrossValidated, uncalibrated: Floats, plan: ResamplingOptions, cluster: str | None
) -> Comparison:
    rows, after = predicted.rows, predicted.probability
    paired_counts = PairedCounts.from_predictions(uncalibrated, after, rows.labels, rows.weight)
    return compare(paired_counts, plan, clustered_pairs(uncalibrated, after, rows, cluster))


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
