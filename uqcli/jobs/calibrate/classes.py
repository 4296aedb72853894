"""Fit and evaluate calibrators of class probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

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
from uqcli.jobs.calibrate.fit import CalibrationOptions
from uqcli.jobs.calibrate.fitted import CalibrateRequest
from uqcli.jobs.calibrate.parameters import parameters_of
from uqcli.jobs.calibrate.plan import plan_note, plan_of
from uqcli.jobs.calibrate.sampled_rows import deal_rows, units_of
from uqcli.jobs.clusters import clustered_pairs, clusters_in, keyed_by_cluster
from uqcli.jobs.compare import compare
from uqcli.jobs.intervals import check_bootstrap, check_confidence
from uqcli.jobs.labelled import read_labelled, sum_notes
from uqcli.jobs.memory import CLASS_ROWS, require_memory
from uqcli.jobs.result import Result
from uqcli.jobs.target_weights import load_shift
from uqcli.methods.calibrate.classes import fit_class_temperature
from uqcli.methods.calibrate.maps import ClassMap
from uqcli.methods.calibrate.scale import Scale
from uqcli.methods.evaluate.clustered import ClusteredPairs
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
    cluster = request.calibration.cluster
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
    measured: _Measured | None
    if request.test is not None:
        test_data = replace(data, roles=replace(data.roles, class_columns=None, classes=read.roles.classes))
        measured, data_name = _tested(test_data.on(request.test), calibration), "on the test set"
    else:
        measured, data_name = _cross_validated(read, fit, options), "(cross-validated)"
    paired_counts = None if measured is None else measured.paired
    plan = plan_of(request, None if paired_counts is None else int(paired_counts.count.sum()))
    report = CalibrateReport(
        artifact=artifact,
        resampling=(plan.replicates, plan.confidence),
        tested=request.test is not None,
        compared=None if measured is None else compare(measured.paired, plan, measured.by_cluster(cluster)),
        clusters=None if measured is None else clusters_in(measured.rows, cluster),
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


@dataclass(frozen=True, kw_only=True)
class _Measured:
    """Rows with class probabilities before and after a map that did not use them."""

    rows: Rows
    before: Matrix
    after: Matrix

    @cached_property
    def paired(self) -> PairedClassCounts:
        """Both sets of probabilities, pooled."""
        label = label_indices(self.rows)
        return PairedClassCounts.from_predictions(self.before, self.after, label, self.rows.weight)

    def by_cluster(self, cluster: str | None) -> ClusteredPairs | None:
        """Pair the probabilities by cluster; None if rows are independent."""
        return clustered_pairs(self.before, self.after, self.rows, cluster)


def _read(data: DataRequest) -> _Read:
    require_memory(data, CLASS_ROWS)
    read, source = read_labelled(data)
    columns = {name: source.columns[PROBA + name] for name in read.classes}
    return _Read(
        rows=keyed_by_cluster(read, data.roles.cluster).pooled(),
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


def _tested(data: DataRequest, map_: ClassMap) -> _Measured:
    """Compute the probabilities of the test set, before and after the map."""
    read = _read(data)
    before = read.probability(read.rows)
    return _Measured(rows=read.rows, before=before, after=map_.probabilities(before))


def _cross_validated(read: _Read, fit: ClassFit, options: CalibrationOptions) -> _Measured | None:
    """Compute the cross-validated probabilities; None with a single row or cluster."""
    rows = read.rows
    units = units_of(rows, options.cluster)
    if units < 2:
        return None
    weight = rows.weights()
    random = generator(options.seed, Purpose.SPLIT, 1)
    folds = deal_rows(rows, min(defaults.FOLDS, units), random, options.cluster)
    predictions = []
    for fold in folds:
        held_out = rows.reweighted(fold)
        calibration, _ = fit(read.counts(rows.reweighted(weight - fold)))
        before = read.probability(held_out)
        predictions.append((held_out, before, calibration.probabilities(before)))
    joined = Rows.joined([fold_rows for fold_rows, _, _ in predictions])
    before, after = (np.concatenate(pieces) for pieces in list(zip(*predictions, strict=True))[1:])
    return _Measured(rows=joined, before=before, after=after)
