"""``uqcli calibrate``: from labelled scores to probabilities people can act on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uqcli import defaults
from uqcli.artifacts.models import CalibratorArtifact, Source
from uqcli.choices import ArtifactKind, CalibrationMethod, EngineName
from uqcli.counts import Floats
from uqcli.engines.protocol import LabelledRows
from uqcli.engines.request import DataRequest
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
from uqcli.jobs.class_mix import TargetMix
from uqcli.jobs.compare import ComparedRows, compare
from uqcli.jobs.intervals import ResamplingPlan, check_bootstrap, check_confidence
from uqcli.jobs.labelled import open_table, read_labelled, require_probabilities, source_of
from uqcli.methods.bin.isotonic_error import BinError, errors_of_rows
from uqcli.methods.calibrate.histogram import target_bound
from uqcli.methods.calibrate.maps.base import Parts
from uqcli.methods.calibrate.tree import require_trees
from uqcli.reports.before_after import ReliabilityPanel
from uqcli.reports.calibrate.report import CalibrateReport, LevelErrors


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions:
    """A run of the command.

    Attributes
    ----------
    features, partition
        Columns of heterogeneous calibration: to learn trees from, or whose texts are the groups.
    test, tree_data
        Other rows: to measure on (None: cross-fitting), to learn trees from (None: half of the rows).
    shift
        Class weights of a target for which probabilities are corrected after the map.
    bootstrap
        Replicates of the intervals; None makes them for data of moderate size.
    """

    calibration: CalibrationOptions
    features: tuple[str, ...] = ()
    partition: tuple[str, ...] = ()
    test: DataRequest | None = None
    tree_data: DataRequest | None = None
    shift: TargetMix | None = None
    bootstrap: int | None = None
    confidence: float = defaults.CONFIDENCE


@dataclass(frozen=True, kw_only=True)
class CalibrateOutcome:
    """The artifact and the report."""

    artifact: CalibratorArtifact
    report: CalibrateReport


@dataclass(frozen=True, kw_only=True)
class _Measured:
    """Rows that were not used for the probabilities ``after``, and what to say of them."""

    rows: ScoredRows
    after: Floats
    where: str


def run(data: DataRequest, options: CalibrateOptions, engine: EngineName) -> CalibrateOutcome:
    """Fit a calibrator, and measure it on rows it was not fitted on.

    Raises
    ------
    UsageError, DataError, MissingExtraError
        An option is out of range or missing, a score is no probability, rows cannot be read.
    """
    how = options.calibration
    _check(data, options)
    if options.shift is not None and min(options.shift.mix.positive, options.shift.mix.negative) <= 0:
        raise UsageError("a class has weight 0 in the target", expected="both classes in the target")
    rows, source, fitted, tree_rows = (
        _fitted_on_counts(data, options, engine)
        if how.method in SCORE_FITS
        else _fitted_on_rows(data, options, engine)
    )
    measured = _measured(rows, fitted, options, tree_rows, engine)
    plan = _plan(options, measured)
    compared = None
    if measured is not None:
        compared = compare(_compared_rows(measured, how), plan)
    artifact = CalibratorArtifact(
        kind=ArtifactKind.CALIBRATOR,
        source=source,
        parameters=parameters_of(
            how,
            options.features or options.partition,
            on_invalid=data.on_invalid,
            positive=data.positive_value,
        ),
        method=how.method,
        logit=how.scale.real,
        undersampled=how.scale.undersampled,
        calibration=fitted.map,
        weights=None if options.shift is None else [options.shift.mix.negative, options.shift.mix.positive],
    )
    report = CalibrateReport(
        artifact=artifact,
        resampling=(plan.replicates, plan.confidence),
        tested=options.test is not None,
        compared=compared,
        where=None if measured is None else measured.where,
        panels=() if measured is None else _panels(measured, fitted, how),
        errors=None if measured is None else _level_errors(measured, rows, fitted, options),
        notes=(*fitted.notes, *_plan_note(options, plan, measured), *_shift_notes(options, fitted)),
    )
    return CalibrateOutcome(artifact=artifact, report=report)


def _check(data: DataRequest, options: CalibrateOptions) -> None:
    how = options.calibration
    how.check()
    check_confidence(options.confidence)
    answers = {data.roles.label, data.roles.weight} & {*options.features, *options.partition}
    if answers:
        raise UsageError(f"column '{answers.pop()}' is the label or the weight", expected="other features")
    if how.method is CalibrationMethod.HETEROGENEOUS:
        if bool(options.features) == bool(options.partition):
            raise UsageError(
                "method heterogeneous needs columns", expected="either --features or --partition"
            )
        if options.features:
            require_trees()
    check_bootstrap(options.bootstrap)


_Fitted = tuple[ScoredRows, Source, FittedCalibration, ScoredRows | None]
"""Rows to measure on, what was read, the map, and the rows that trees were learned from."""


def _fitted_on_rows(data: DataRequest, options: CalibrateOptions, engine: EngineName) -> _Fitted:
    rows, source = _read(data, options, engine)
    tree_rows = None
    if options.tree_data is not None:
        tree_rows = _read_like(rows, options.tree_data, options, engine)
    return rows, source, fit(rows, options.calibration, tree_rows), tree_rows


def _fitted_on_counts(data: DataRequest, options: CalibrateOptions, engine: EngineName) -> _Fitted:
    """A map of the scores alone is fitted to their counts; rows are made of as many as are measured."""
    how = options.calibration
    table = open_table(data, engine, looks_at_uncertainty=False)
    counts = table.pooled(np.empty(0))[0]
    source = source_of(table.facts)
    _require_scores(counts.value, options, source)
    fitted = fit_counts(counts, how)
    drawn = drawn_from(counts, how.seed)
    if drawn is not counts and options.test is None:
        note = f"Measured on {drawn.rows:,} rows drawn from all {counts.rows:,}; fitted on all."
        fitted = replace(fitted, notes=(*fitted.notes, note))
    return rows_of(drawn), source, fitted, None


def _read(data: DataRequest, options: CalibrateOptions, engine: EngineName) -> tuple[ScoredRows, Source]:
    labelled, source = read_labelled(data, engine)
    _require_scores(labelled.numbers["score"], options, source)
    return _pooled(labelled), source


def _require_scores(score: Floats, options: CalibrateOptions, source: Source) -> None:
    if not options.calibration.scale.real:
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


def _read_like(
    rows: ScoredRows, data: DataRequest, options: CalibrateOptions, engine: EngineName
) -> ScoredRows:
    """Rows of other inputs, whose features are read as numbers or texts as those of the first."""
    features = tuple(
        replace(each, text=rows.features[each.name].levels is not None) for each in data.roles.features
    )
    return _read(replace(data, roles=replace(data.roles, features=features)), options, engine)[0]


def _measured(
    rows: ScoredRows,
    fitted: FittedCalibration,
    options: CalibrateOptions,
    tree_rows: ScoredRows | None,
    engine: EngineName,
) -> _Measured | None:
    if options.test is not None:
        test = _read_like(rows, options.test, options, engine)
        return _Measured(rows=test, after=fitted.predict(test).probability, where="on the test rows")
    found = cross_fitted(rows, options.calibration, tree_rows)
    if found is None:
        return None
    return _Measured(rows=found.rows, after=found.probability, where="under cross-fitting")


def _plan(options: CalibrateOptions, measured: _Measured | None) -> ResamplingPlan:
    replicates = options.bootstrap
    if replicates is None:
        few = measured is not None and measured.rows.size <= defaults.BOOTSTRAP_ROWS
        replicates = defaults.BOOTSTRAP if few else 0
    return ResamplingPlan(replicates=replicates, seed=options.calibration.seed, confidence=options.confidence)


def _plan_note(options: CalibrateOptions, plan: ResamplingPlan, measured: _Measured | None) -> list[str]:
    if measured is None:
        return ["One row is too few to measure on: no before and after."]
    if options.bootstrap is None and not plan.replicates:
        return [f"No intervals above {defaults.BOOTSTRAP_ROWS:,} rows; ask for them with --bootstrap."]
    return []


def _shift_notes(options: CalibrateOptions, fitted: FittedCalibration) -> list[str]:
    """What the correction for another class mix does, with the bound of [LS Theorem 4] for histograms."""
    if options.shift is None:
        return []
    mix, shift = options.shift.mix, options.shift.shift
    ratio = f"{mix.positive / mix.negative:.4g}"
    notes = [
        f"Afterwards the odds are multiplied by {ratio} for the target's class mix, which labelled rows of "
        "the source cannot measure."
    ]
    largest = fitted.map.largest_error
    if largest is not None and shift.interval is not None:
        pairs = zip(shift.weights, shift.interval, strict=True)
        unsure = max(max(weight - low, high - weight) for weight, (low, high) in pairs)
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
    measured: _Measured, rows: ScoredRows, fitted: FittedCalibration, options: CalibrateOptions
) -> LevelErrors | None:
    """ECE@j of one isotonic fit and of one in each uncertainty bin, both on rows not used for them."""
    how = options.calibration
    levels = fitted.map.parts(measured.rows.uncertainty, None)  # of leaves there are none to tell
    if levels is None:
        return None
    single_how = replace(how, method=CalibrationMethod.ISOTONIC)
    if options.test is None:
        found = cross_fitted(rows, single_how, None)  # the same folds, hence the same rows in each
        if found is None:
            return None
        single = found.probability
    else:
        single = fit(rows, single_how).predict(measured.rows).probability
    return LevelErrors(
        single=_errors(measured, single, levels), by_level=_errors(measured, measured.after, levels)
    )


def _errors(measured: _Measured, probability: Floats, levels: Parts) -> BinError:
    rows = measured.rows
    return errors_of_rows(
        levels.number,
        len(levels.names),
        score=rows.score,
        probability=probability,
        positive=rows.positive,
        weight=rows.weight,
        score_bins=defaults.SINGLE_SCORE_BINS,
    )
