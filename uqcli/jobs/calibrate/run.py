"""``uqcli calibrate``: from labelled scores to probabilities people can act on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uqcli import defaults
from uqcli.artifacts.calibrator import CalibratorArtifact
from uqcli.artifacts.saved import Source
from uqcli.choices import ArtifactKind, CalibrationMethod
from uqcli.counts import Floats
from uqcli.engines.probabilities import require_probabilities
from uqcli.engines.protocol import LabelledRows
from uqcli.engines.request import DataRequest, FeatureRequest
from uqcli.errors import UsageError
from uqcli.jobs.before_after import panels
from uqcli.jobs.calibrate.fit import (
    SCORE_FITS,
    CalibrationOptions,
    FittedCalibration,
    before,
    cross_fitted,
    fit,
    fit_counts,
)
from uqcli.jobs.calibrate.parameters import parameters_of
from uqcli.jobs.calibrate.scored_rows import ScoredRows, drawn_from, rows_of
from uqcli.jobs.class_mix import TargetMix, load_mix
from uqcli.jobs.compare import ComparedRows, compare
from uqcli.jobs.intervals import ResamplingPlan, check_bootstrap, check_confidence
from uqcli.jobs.labelled import open_table, read_labelled, source_of
from uqcli.jobs.result import Result
from uqcli.methods.bin.isotonic_error import BinError, errors_of_rows
from uqcli.methods.calibrate.histogram import target_bound
from uqcli.methods.calibrate.maps import HistogramMap, UncertaintyMap
from uqcli.methods.calibrate.tree import require_trees
from uqcli.reports.before_after import ReliabilityPanel
from uqcli.reports.calibrate.report import CalibrateReport, LevelErrors


@dataclass(frozen=True, kw_only=True)
class CalibrateRequest:
    """A calibrator that is asked for.

    Attributes
    ----------
    features, partition
        Columns of heterogeneous calibration: to learn trees from, or whose texts are the groups.
    test, tree_data
        INPUT arguments of other rows: to measure on (none: cross-fitting), to learn trees from (none: half of
        the rows).
    shift
        Path of class weights of a target for which probabilities are corrected after the map.
    bootstrap
        Replicates of the intervals; None makes them for data of moderate size.
    """

    data: DataRequest
    calibration: CalibrationOptions
    features: tuple[str, ...] = ()
    partition: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    tree_data: tuple[str, ...] = ()
    shift: str | None = None
    bootstrap: int | None = None
    confidence: float = defaults.CONFIDENCE


@dataclass(frozen=True, kw_only=True)
class _Measured:
    """Rows that were not used for the probabilities ``after``, and what to say of them."""

    rows: ScoredRows
    after: Floats
    where: str


def run(request: CalibrateRequest) -> Result[CalibrateReport, CalibratorArtifact]:
    """Fit a calibrator, and measure it on rows it was not fitted on.

    Raises
    ------
    UsageError, DataError, ArtifactError, MissingExtraError
        An option is out of range or missing, a score is no probability, rows or class weights cannot be read.
    """
    how, data = request.calibration, _with_roles(request)
    target = None if request.shift is None else load_mix(request.shift, data.positive_value)
    _check(request, target)
    rows, source, fitted, tree_rows = (
        _fitted_on_counts(data, request) if how.method in SCORE_FITS else _fitted_on_rows(data, request)
    )
    measured = _measured(data, rows, fitted, request, tree_rows)
    plan = _plan(request, measured)
    artifact = CalibratorArtifact(
        kind=ArtifactKind.CALIBRATOR,
        source=source,
        parameters=parameters_of(
            how,
            request.features or request.partition,
            on_invalid=data.on_invalid,
            positive=data.positive_value,
        ),
        method=how.method,
        logit=how.scale.real,
        undersampled=how.scale.undersampled,
        calibration=fitted.map,
        weights=None if target is None else [target.mix.negative, target.mix.positive],
    )
    report = CalibrateReport(
        artifact=artifact,
        resampling=(plan.replicates, plan.confidence),
        tested=bool(request.test),
        compared=None if measured is None else compare(_compared_rows(measured, how), plan),
        where=None if measured is None else measured.where,
        panels=() if measured is None else _panels(measured, fitted, how),
        errors=None if measured is None else _level_errors(measured, rows, fitted, request),
        notes=(*fitted.notes, *_plan_note(request, plan, measured), *_shift_notes(target, fitted)),
    )
    return Result(report=report, artifact=artifact)


def _with_roles(request: CalibrateRequest) -> DataRequest:
    """The columns that the method looks at."""
    data, method = request.data, request.calibration.method
    roles = data.roles if method is CalibrationMethod.MIST else data.roles.without("uncertainty")
    features = [FeatureRequest(name=name) for name in request.features]
    features += [FeatureRequest(name=name, text=True) for name in request.partition]
    return replace(data, roles=replace(roles, features=tuple(features)))


def _check(request: CalibrateRequest, target: TargetMix | None) -> None:
    how, roles = request.calibration, request.data.roles
    how.check()
    check_confidence(request.confidence)
    answers = {roles.label, roles.weight} & {*request.features, *request.partition}
    if answers:
        raise UsageError(f"column '{answers.pop()}' is the label or the weight", expected="other features")
    if how.method is CalibrationMethod.HETEROGENEOUS:
        if bool(request.features) == bool(request.partition):
            raise UsageError(
                "method heterogeneous needs columns", expected="either --features or --partition"
            )
        if request.features:
            require_trees()
    check_bootstrap(request.bootstrap)
    if target is not None and min(target.mix.positive, target.mix.negative) <= 0:
        raise UsageError("a class has weight 0 in the target", expected="both classes in the target")


_Fitted = tuple[ScoredRows, Source, FittedCalibration, ScoredRows | None]
"""Rows to measure on, what was read, the map, and the rows that trees were learned from."""


def _fitted_on_rows(data: DataRequest, request: CalibrateRequest) -> _Fitted:
    rows, source = _read(data, request)
    tree_rows = None
    if request.tree_data:
        tree_rows = _read_like(rows, replace(data, inputs=request.tree_data), request)
    return rows, source, fit(rows, request.calibration, tree_rows), tree_rows


def _fitted_on_counts(data: DataRequest, request: CalibrateRequest) -> _Fitted:
    """A map of the scores alone is fitted to their counts; rows are made of as many as are measured."""
    how = request.calibration
    table = open_table(data, looks_at_uncertainty=False)
    counts = table.pooled(np.empty(0))[0]
    source = source_of(table.facts)
    _require_scores(counts.value, request, source)
    fitted = fit_counts(counts, how)
    drawn = drawn_from(counts, how.seed)
    if drawn is not counts and not request.test:
        note = f"Measured on {drawn.rows:,} rows drawn from all {counts.rows:,}; fitted on all."
        fitted = replace(fitted, notes=(*fitted.notes, note))
    return rows_of(drawn), source, fitted, None


def _read(data: DataRequest, request: CalibrateRequest) -> tuple[ScoredRows, Source]:
    labelled, source = read_labelled(data)
    _require_scores(labelled.numbers["score"], request, source)
    return _pooled(labelled), source


def _require_scores(score: Floats, request: CalibrateRequest, source: Source) -> None:
    if not request.calibration.scale.real:
        require_probabilities(
            score, source.columns["score"], remedy="give --logit for logits and other real scores"
        )


def _pooled(labelled: LabelledRows) -> ScoredRows:
    """Distinct rows in sorted order, those of weight 0 left out."""
    assert labelled.positive is not None  # the roles name a label of two classes
    size = len(labelled.positive)
    return ScoredRows(
        score=labelled.numbers["score"],
        uncertainty=labelled.numbers.get("uncertainty"),
        positive=labelled.positive,
        weight=np.ones(size, dtype=np.int64) if labelled.weight is None else labelled.weight,
        features=labelled.features,
    ).pooled()


def _read_like(rows: ScoredRows, data: DataRequest, request: CalibrateRequest) -> ScoredRows:
    """Rows of other inputs, whose features are read as numbers or texts as those of the first."""
    features = tuple(
        replace(each, text=rows.features[each.name].levels is not None) for each in data.roles.features
    )
    return _read(replace(data, roles=replace(data.roles, features=features)), request)[0]


def _measured(
    data: DataRequest,
    rows: ScoredRows,
    fitted: FittedCalibration,
    request: CalibrateRequest,
    tree_rows: ScoredRows | None,
) -> _Measured | None:
    if request.test:
        test = _read_like(rows, replace(data, inputs=request.test), request)
        return _Measured(rows=test, after=fitted.predict(test).probability, where="on the test rows")
    found = cross_fitted(rows, request.calibration, tree_rows)
    if found is None:
        return None
    return _Measured(rows=found.rows, after=found.probability, where="under cross-fitting")


def _plan(request: CalibrateRequest, measured: _Measured | None) -> ResamplingPlan:
    replicates = request.bootstrap
    if replicates is None:
        few = measured is not None and measured.rows.size <= defaults.BOOTSTRAP_ROWS
        replicates = defaults.BOOTSTRAP if few else 0
    return ResamplingPlan(replicates=replicates, seed=request.calibration.seed, confidence=request.confidence)


def _plan_note(request: CalibrateRequest, plan: ResamplingPlan, measured: _Measured | None) -> list[str]:
    if measured is None:
        return ["One row is too few to measure on: no before and after."]
    if request.bootstrap is None and not plan.replicates:
        return [f"No intervals above {defaults.BOOTSTRAP_ROWS:,} rows; ask for them with --bootstrap."]
    return []


def _shift_notes(target: TargetMix | None, fitted: FittedCalibration) -> list[str]:
    """What the correction for another class mix does, with the bound of [LS Theorem 4] for histograms."""
    if target is None:
        return []
    mix, shift = target.mix, target.shift
    ratio = f"{mix.positive / mix.negative:.4g}"
    notes = [
        f"Afterwards the odds are multiplied by {ratio} for the target's class mix, which labelled rows of "
        "the source cannot measure."
    ]
    if isinstance(fitted.map, HistogramMap) and shift.interval is not None:
        pairs = zip(shift.weights, shift.interval, strict=True)
        unsure = max(max(weight - low, high - weight) for weight, (low, high) in pairs)
        largest = max(error for error in fitted.map.error if error is not None)
        bound = target_bound([mix.negative, mix.positive], 2 * largest, unsure)
        notes.append(
            f"In the target every bin's probability is within {min(1.0, bound / 2):.3g} of the truth, if the "
            f"weights are within their intervals (bound of Theorem 4)."
        )
    return notes


def _compared_rows(measured: _Measured, how: CalibrationOptions) -> ComparedRows:
    rows = measured.rows
    return ComparedRows(
        before=before(rows, how.scale),
        after=measured.after,
        positive=rows.positive,
        weight=rows.weight,
    )


def _panels(
    measured: _Measured, fitted: FittedCalibration, how: CalibrationOptions
) -> tuple[ReliabilityPanel, ...]:
    leaf = fitted.predict(measured.rows).leaf
    return panels(_compared_rows(measured, how), fitted.map, measured.rows.uncertainty, leaf)


def _level_errors(
    measured: _Measured, rows: ScoredRows, fitted: FittedCalibration, request: CalibrateRequest
) -> LevelErrors | None:
    """ECE@j of one isotonic fit and of one in each uncertainty bin, both on rows not used for them."""
    how = request.calibration
    if not isinstance(fitted.map, UncertaintyMap) or measured.rows.uncertainty is None:
        return None
    single_how = replace(how, method=CalibrationMethod.ISOTONIC)
    if not request.test:
        found = cross_fitted(rows, single_how, None)  # the same folds, hence the same rows in each
        if found is None:
            return None
        single = found.probability
    else:
        single = fit(rows, single_how).predict(measured.rows).probability
    return LevelErrors(
        single=_errors(measured, single, fitted.map), by_level=_errors(measured, measured.after, fitted.map)
    )


def _errors(measured: _Measured, probability: Floats, map_: UncertaintyMap) -> BinError:
    rows = measured.rows
    assert rows.uncertainty is not None  # mist looks at it
    return errors_of_rows(
        np.searchsorted(np.array(map_.uncertainty_edges), rows.uncertainty, side="right"),
        len(map_.maps),
        score=rows.score,
        probability=probability,
        positive=rows.positive,
        weight=rows.weight,
        score_bins=defaults.SINGLE_SCORE_BINS,
    )
