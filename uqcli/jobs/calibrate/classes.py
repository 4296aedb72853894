"""Fit and evaluate calibrators of class probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from uqcli import defaults
from uqcli.artifacts.calibrator import CalibratorArtifact
from uqcli.artifacts.saved import Source
from uqcli.choices import ArtifactKind, CalibrationMethod
from uqcli.class_counts import ClassCounts, Matrix
from uqcli.draws import Purpose, generator
from uqcli.engines.probabilities import label_indices, probabilities
from uqcli.engines.request import PROBA, DataRequest, Roles
from uqcli.errors import UsageError
from uqcli.jobs.before_after import panel_of_classes
from uqcli.jobs.calibrate.fitted import CalibrateRequest
from uqcli.jobs.calibrate.parameters import parameters_of
from uqcli.jobs.calibrate.plan import plan_note, plan_of
from uqcli.jobs.calibrate.sampled_rows import deal_rows
from uqcli.jobs.compare import compare
from uqcli.jobs.intervals import check_bootstrap, check_confidence
from uqcli.jobs.labelled import read_labelled, sum_notes
from uqcli.jobs.memory import CLASS_ROWS, require_memory
from uqcli.jobs.result import Result
from uqcli.jobs.target_weights import load_shift
from uqcli.methods.calibrate.classes import fit_class_temperature
from uqcli.methods.calibrate.maps import ClassMap
from uqcli.methods.calibrate.scale import Scale
from uqcli.methods.evaluate.paired_classes import PairedClassCounts
from uqcli.reports.calibrate.report import CalibrateReport
from uqcli.rows import Rows


def run_classes(request: CalibrateRequest) -> Result[CalibrateReport, CalibratorArtifact]:
    """Fit a map of class probabilities, and measure it cross-validated or on a test set.

    Raises
    ------
    UsageError, DataError, ArtifactError
        An option does not apply to class probabilities, or rows or class weights cannot be read.
    """
    _check(request)
    data = request.data.without("uncertainty")
    read = _read(data)
    fit = CLASS_FITS[request.calibration.method]
    calibration, notes = fit(read.counts())
    weights = _weights(request, read)
    options = request.calibration
    artifact = CalibratorArtifact(
        kind=ArtifactKind.CALIBRATOR,
        source=read.source,
        parameters=parameters_of(options, (), on_invalid=data.on_invalid, positive=None),
        method=options.method,
        logit=False,
        undersampled=1.0,
        calibration=calibration,
        weights=weights,
        classes=list(read.roles.classes),
    )
    if request.test is not None:
        test_data = replace(data, roles=replace(data.roles, class_columns=None, classes=read.roles.classes))
        paired_counts, data_name = _tested(test_data.on(request.test), calibration), "on the test set"
    else:
        paired_counts, data_name = _cross_validated(read, fit, options.seed), "(cross-validated)"
    plan = plan_of(request, None if paired_counts is None else int(paired_counts.count.sum()))
    report = CalibrateReport(
        artifact=artifact,
        resampling=(plan.replicates, plan.confidence),
        tested=request.test is not None,
        compared=None if paired_counts is None else compare(paired_counts, plan),
        where=None if paired_counts is None else data_name,
        panels=() if paired_counts is None else (panel_of_classes(paired_counts),),
        errors=None,
        notes=(
            *notes,
            *plan_note(request, plan, measured=paired_counts is not None),
            *([] if weights is None else [_CORRECTED]),
            *sum_notes(read.unnormalised),
        ),
    )
    return Result(report=report, artifact=artifact)


ClassFit = Callable[[ClassCounts], tuple[ClassMap, tuple[str, ...]]]

CLASS_FITS: Mapping[CalibrationMethod, ClassFit] = {CalibrationMethod.TEMPERATURE: fit_class_temperature}
"""Methods that calibrate all classes jointly."""

_CORRECTED = (
    "Afterwards each class's probability is multiplied by its weight in the target; labelled rows of the "
    "source cannot measure that."
)


@dataclass(frozen=True, kw_only=True)
class _Read:
    """Distinct rows in sorted order."""

    rows: Rows
    roles: Roles
    source: Source
    unnormalised: float

    def probability(self, rows: Rows) -> Matrix:
        """Return the class probabilities of some rows."""
        return probabilities(rows, self.roles)

    def counts(self, rows: Rows | None = None) -> ClassCounts:
        """Pool some rows, or all."""
        selected = self.rows if rows is None else rows
        return ClassCounts.from_rows(self.probability(selected), label_indices(selected), selected.weight)


def _read(data: DataRequest) -> _Read:
    require_memory(data, CLASS_ROWS)
    read, source = read_labelled(data)
    columns = {name: source.columns[PROBA + name] for name in read.classes}
    return _Read(
        rows=read.rows.pooled(),
        roles=Roles(numbers={}, classes=columns),
        source=source,
        unnormalised=read.unnormalised,
    )


def _check(request: CalibrateRequest) -> None:
    options = request.calibration
    options.check()
    check_confidence(request.confidence)
    check_bootstrap(request.bootstrap)
    if options.method not in CLASS_FITS:
        expected = f"method {' or '.join(CLASS_FITS)}"
        raise UsageError(f"class probabilities with method {options.method}", expected=expected)
    if options.scale != Scale():
        raise UsageError("--logit or --undersampled beside --proba", expected="probabilities as they are")
    if request.features or request.partition:
        raise UsageError("--features or --partition beside --proba", expected="one score")


def _weights(request: CalibrateRequest, read: _Read) -> list[float] | None:
    if request.shift is None:
        return None
    weights = list(load_shift(request.shift).weights_for(tuple(read.roles.classes)))
    if min(weights) <= 0:
        raise UsageError("a class has weight 0 in the target data", expected="all classes in the target data")
    return weights


def _tested(data: DataRequest, map_: ClassMap) -> PairedClassCounts | None:
    """Compute the probabilities of the test set, before and after the map."""
    read = _read(data)
    before = read.probability(read.rows)
    return PairedClassCounts.from_predictions(
        before, map_.probabilities(before), label_indices(read.rows), read.rows.weight
    )


def _cross_validated(read: _Read, fit: ClassFit, seed: int) -> PairedClassCounts | None:
    """Compute the cross-validated probabilities; None with a single row."""
    rows = read.rows
    if rows.size < 2:
        return None
    weight = rows.weights()
    folds = deal_rows(rows, min(defaults.FOLDS, rows.size), generator(seed, Purpose.SPLIT, 1))
    predictions = []
    for fold in folds:
        held_out = rows.reweighted(fold)
        calibration, _ = fit(read.counts(rows.reweighted(weight - fold)))
        before = read.probability(held_out)
        predictions.append((held_out, before, calibration.probabilities(before)))
    joined = Rows.joined([fold_rows for fold_rows, _, _ in predictions])
    before, after = (np.concatenate(pieces) for pieces in list(zip(*predictions, strict=True))[1:])
    return PairedClassCounts.from_predictions(before, after, label_indices(joined), joined.weight)
