"""``uqcli calibrate``: fit one map from scores to probabilities, or all that apply, and measure it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from uqcli.base import defaults
from uqcli.base.choices import OF_UNCERTAINTY, ArtifactKind, CalibrationMethod
from uqcli.base.counts import Floats, Ints, ValueCounts
from uqcli.base.errors import UsageError, words
from uqcli.base.options import ResamplingOptions, check_bootstrap, check_confidence
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.messages import collected_doubts, doubt
from uqcli.bin.isotonic_error import errors_of_rows
from uqcli.calibrate.fit import (
    ROW_FITS,
    SCORE_FITS,
    Choice,
    FittedCalibration,
    chosen_for_counts,
    chosen_for_rows,
    fit,
    fit_counts,
    fit_each,
    fit_with_tree_sizes,
)
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.folds import on_few_scores, rows_of, sample_of
from uqcli.calibrate.options import CalibrateRequest
from uqcli.calibrate.parts import (
    Chosen,
    CrossValidation,
    FittedScoreMap,
    IsotonicErrors,
    Measured,
    Measurement,
    Target,
    TestSet,
    Unmeasured,
    WeightedTarget,
    clusters_of,
    inapplicable,
    intervals,
    labels_of_one_class,
    noted,
    ranking,
    rows_by_score,
)
from uqcli.calibrate.report import CalibratePart, CalibrateReport, notes_of
from uqcli.calibrate.rule import CalibrationCounts, CalibratorArtifact, CalibratorParameters
from uqcli.calibrate.tree import require_trees
from uqcli.comparison.run import PairedRows
from uqcli.engines.columns import MissingColumnError
from uqcli.engines.open import (
    CLUSTERED,
    ISOTONIC_PAIRS,
    SCORE_MAPS,
    TREES,
    expected_bytes,
    require_memory,
    reusable_streams,
)
from uqcli.engines.probabilities import require_probabilities
from uqcli.engines.protocol import ALL_ROWS
from uqcli.engines.request import TURNED, DataRequest, FeatureRequest
from uqcli.estimates.paired import keyed_by_cluster
from uqcli.estimates.score_metrics import REVERSED, is_reversed
from uqcli.rules.labelled import open_table, read_labelled, source_of
from uqcli.rules.result import Result, keeps_doubts
from uqcli.rules.saved import Source, refuse_unsavable
from uqcli.shift.rule import load_shift, target_weights_of


@keeps_doubts
def run(request: CalibrateRequest) -> Result[CalibrateReport, CalibratorArtifact]:
    """Fit a calibrator, and measure it cross-validated or on a test set."""
    if request.data.roles.class_columns is not None:
        from uqcli.calibrate.run_classes import run_classes  # its methods are not needed for one score

        return run_classes(request)
    calibrator = make_calibrator(request)
    plan, parts = _measured(calibrator, request)
    report = CalibrateReport(
        artifact=calibrator.artifact,
        resampling=plan,
        parts=[*calibrator.parts, *parts, intervals(request, plan)],
    )
    return Result(report=report, artifact=calibrator.artifact)


def _measured(
    calibrator: FittedCalibrator, request: CalibrateRequest
) -> tuple[ResamplingOptions, list[CalibratePart]]:
    """Measure a map on rows that its fit did not use, if there are enough; return the intervals and parts."""
    read, fitted, rows = calibrator.read, calibrator.fitted, calibrator.fitted_rows
    how, cluster = _measuring(read, request), fitted.options.cluster
    if not how.can_measure(read.rows, cluster):
        return request.plan(0), [Unmeasured()]
    (pairs,) = how.pairs([fitted], read.rows, read.tree_rows)
    plan = request.plan(pairs.rows.size)
    measured = Measured(compared=pairs.compared(plan), panels=pairs.panels(_parts(pairs.rows, fitted)))
    parts = [how, measured, *clusters_of(pairs.rows, cluster), *_isotonic_errors(pairs, calibrator, how)]
    if read.rows.size != rows:
        drawn = f"Measured on {read.rows.size:,} rows drawn from all {rows:,}; fitted on all."
        parts.append(noted("sampled", [drawn]))
    return plan, parts


def _measuring(read: Read, request: CalibrateRequest) -> CrossValidation:
    """Read the test set, if there is one."""
    test = request.parts.test
    return TestSet(rows=_read_like(read.rows, read.data.on(test), request)) if test else CrossValidation()


def _parts(rows: Rows, fitted: FittedCalibration) -> list[tuple[str, Ints]]:
    return fitted.map.rows_by_part(rows.uncertainty, fitted.predict(rows).leaf)


def _isotonic_errors(
    measured: PairedRows, calibrator: FittedCalibrator, how: CrossValidation
) -> list[CalibratePart]:
    """Compute ECE@j of a single isotonic fit and of one per uncertainty bin, on rows outside their fits."""
    parts = calibrator.fitted.map.parts(measured.rows.uncertainty, None)  # None for leaves
    if parts is None:
        return []
    levels, level = parts
    rows, options = calibrator.read.rows, calibrator.fitted.options
    isotonic = fit(rows, replace(options, method=CalibrationMethod.ISOTONIC))
    (single,) = how.pairs([isotonic], rows, None)  # the same folds, so the same rows in each
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
    return [IsotonicErrors(single=of_single, by_bin=of_bins)]


@dataclass(frozen=True, kw_only=True)
class Read:
    """What is read for a calibrator: rows of the fit, or a sample if there are more than are measured.

    Trees may be learned from separate rows.
    """

    data: DataRequest
    source: Source
    rows: Rows
    tree_rows: Rows | None
    target: Target


@dataclass(frozen=True, kw_only=True)
class FittedCalibrator:
    """A calibrator, and the rows to measure it on.

    ``parts`` are those of the fit, and ``fitted_rows`` is the total weight of its rows.
    """

    artifact: CalibratorArtifact
    fitted: FittedCalibration
    read: Read
    fitted_rows: int
    parts: Sequence[CalibratePart]

    @property
    def notes(self) -> list[str]:
        """Notes on the fit."""
        return notes_of(self.parts)


def make_calibrator(request: CalibrateRequest) -> FittedCalibrator:
    """Fit a calibrator."""
    options, target = request.calibration, _target_of(request)
    uses_uncertainty = options.method in OF_UNCERTAINTY
    data = _with_features(request, request.data if uses_uncertainty else request.data.without("uncertainty"))
    _check(request, target)
    is_of_score = options.method is None or options.method in SCORE_FITS
    fit_to = _fit_to_counts if is_of_score and options.cluster is None else _fit_to_rows
    return fit_to(data, request, target)


def _target_of(request: CalibrateRequest) -> Target:
    if request.shift is None:
        return Target()
    weights = target_weights_of(load_shift(request.shift), request.data.positive_value)
    odds = "The odds are then multiplied by {ratio:.4g}"
    return WeightedTarget(
        weights=(weights.negative, weights.positive),
        error=weights.error,
        corrected=f"{odds} for the target's class priors; metrics are of the source.",
        norm=2,
    )


def _with_features(request: CalibrateRequest, data: DataRequest) -> DataRequest:
    categorical = set(request.parts.categorical)
    features = [
        FeatureRequest(name=name, text=True if name in categorical else None)
        for name in request.parts.features
    ]
    features += [FeatureRequest(name=name, text=True, makes_groups=True) for name in request.parts.partition]
    return replace(data, roles=replace(data.roles, features=tuple(features)))


def _check(request: CalibrateRequest, target: Target) -> None:
    options, roles = request.calibration, request.data.roles
    options.check()
    check_confidence(request.resampling.confidence)
    reserved = {roles.label, roles.weight} & {*request.parts.features, *request.parts.partition}
    if reserved:
        raise UsageError(f"column '{reserved.pop()}' is the label or the weight", expected="other features")
    if others := [name for name in request.parts.categorical if name not in request.parts.features]:
        raise UsageError(words("--categorical {}", others[0]), expected=words("columns of --features"))
    if options.method in (CalibrationMethod.VECTOR, CalibrationMethod.MATRIX):
        raise UsageError(words("method {} without --proba", options.method), expected="class probabilities")
    if options.method is CalibrationMethod.HETEROGENEOUS:
        if bool(request.parts.features) == bool(request.parts.partition):
            raise UsageError(
                "method heterogeneous needs columns", expected=words("either --features or --partition")
            )
        if request.parts.features:
            require_trees()
    check_bootstrap(request.resampling.bootstrap)
    if any(weight <= 0 for weight in target.weights):
        expected = "both classes in the target data"
        raise UsageError("a class has weight 0 in the target data", expected=expected)


def _fit_to_rows(data: DataRequest, request: CalibrateRequest, target: Target) -> FittedCalibrator:
    beside = 0 if data.roles.cluster is None else expected_bytes(data, CLUSTERED)
    require_memory(data, TREES if request.parts.features else ISOTONIC_PAIRS, beside)
    read = _read(data, request, target)
    options, chosen = _chosen(request.calibration, lambda: chosen_for_rows(read.rows, request.calibration))
    fitted = fit_with_tree_sizes(read.rows, options, read.tree_rows)
    return _calibrator(fitted, read, read.rows.counts(read.rows.score), request, chosen)


def _fit_to_counts(data: DataRequest, request: CalibrateRequest, target: Target) -> FittedCalibrator:
    """Fit a map of the score alone to counts; measured rows are derived from the counts."""
    require_memory(data, SCORE_MAPS)
    table = open_table(data, uses_uncertainty=False)
    counts = table.pooled(ALL_ROWS)[0]
    source = source_of(table.summary)
    _require_scores(counts.ends, request, source)
    rows = rows_of(sample_of(counts, request.calibration.seed))
    options, chosen = _chosen(request.calibration, lambda: chosen_for_counts(counts, request.calibration))
    fitted = fit_counts(counts, options)
    read = Read(data=data, source=source, rows=rows, tree_rows=None, target=target)
    return _calibrator(fitted, read, counts, request, chosen)


def _chosen(
    options: CalibrationOptions, choose: Callable[[], Choice]
) -> tuple[CalibrationOptions, list[CalibratePart]]:
    """Choose a method unless one was given."""
    if options.method is not None:
        return options, []
    choice = choose()
    return replace(options, method=choice.method), [Chosen(choice=choice)]


def _calibrator(
    fitted: FittedCalibration,
    read: Read,
    counts: ValueCounts,
    request: CalibrateRequest,
    chosen: Sequence[CalibratePart] = (),
) -> FittedCalibrator:
    """Build the rule file of a map, with all calibration rows by score, as read."""
    options, few = fitted.options, on_few_scores(counts)
    if one_class := labels_of_one_class(read.source):
        doubt(f"{': '.join(one_class)}.")
    if is_reversed(counts):
        doubt(REVERSED)
    artifact = CalibratorArtifact(
        kind=ArtifactKind.CALIBRATOR,
        source=read.source,
        parameters=CalibratorParameters.of(
            options,
            request.parts.features or request.parts.partition,
            on_invalid=request.data.on_invalid,
            positive=request.data.positive_value,
        ),
        method=fitted.method,
        logit=options.scale.real,
        undersampled=options.scale.undersampled,
        calibration=fitted.map,
        weights=read.target.saved(),
        calibration_counts=CalibrationCounts(
            score=few.value.tolist(), count=few.count.tolist(), positives=few.positives.tolist()
        ),
    )
    return FittedCalibrator(
        artifact=artifact,
        fitted=fitted,
        read=read,
        fitted_rows=counts.rows,
        parts=[
            FittedScoreMap(artifact=artifact),
            *chosen,
            *rows_by_score(read.source, few),
            noted("fit", fitted.notes),
            *read.target.parts(fitted.map),
        ],
    )


def _read(data: DataRequest, request: CalibrateRequest, target: Target) -> Read:
    rows, source = _read_rows(data, request)
    tree_data = request.parts.tree_data
    tree_rows = _read_like(rows, data.on(tree_data), request) if tree_data else None
    return Read(data=data, source=source, rows=rows, tree_rows=tree_rows, target=target)


def _read_rows(data: DataRequest, request: CalibrateRequest) -> tuple[Rows, Source]:
    """Return the distinct rows in sorted order, without those of weight 0."""
    read, source = read_labelled(data)
    _require_scores(read.rows.score, request, source)
    for feature in read.rows.features.values():
        refuse_unsavable(feature.levels or ())
    return keyed_by_cluster(read, request.calibration.cluster).pooled(), source


def _require_scores(score: Floats, request: CalibrateRequest, source: Source) -> None:
    if not request.calibration.scale.real:
        require_probabilities(
            score, source.columns["score"], remedy=words("give --logit for logits and other real scores")
        )


def _read_like(rows: Rows, data: DataRequest, request: CalibrateRequest) -> Rows:
    """Read rows of other inputs, with features typed as in ``rows``."""
    features = tuple(
        replace(feature, text=rows.features[feature.name].levels is not None)
        for feature in data.roles.features
    )
    with collected_doubts():  # about the test set, not about the map
        return _read_rows(replace(data, roles=replace(data.roles, features=features)), request)[0]


@keeps_doubts
def run_all_methods(request: CalibrateRequest) -> Result[CalibrateReport, CalibratorArtifact]:
    """Fit every applicable calibrator, and keep the one with the lowest log loss on rows outside its fit.

    The method of the request is ignored.
    """
    if request.data.roles.class_columns is not None:
        from uqcli.calibrate.run_classes import run_all_classes

        return run_all_classes(request)
    with reusable_streams():  # read again if the uncertainty column is missing
        read, obstacles = _read_for_all(request)
        how = _measuring(read, request)
    rows = how.chosen(read.rows)
    plan = request.plan(rows.size)
    methods = [method for method in (*SCORE_FITS, *ROW_FITS) if method not in obstacles]
    results = sorted(_try(read, methods, request, how, plan), key=lambda candidate: candidate[1].log_loss)
    best, measured = results[0]
    columns = {role: name for role, name in read.source.columns.items() if _is_read(role, best.method)}
    read = replace(read, source=msgspec.structs.replace(read.source, columns=columns))
    calibrator = _calibrator(best, read, read.rows.counts(read.rows.score), request)
    ranked = [(str(fitted.method), measurement) for fitted, measurement in results]
    parts = [*calibrator.parts, how, measured, intervals(request, plan), inapplicable(obstacles)]
    parts += [*clusters_of(rows, request.calibration.cluster), *ranking(ranked, draws_all=True)]
    report = CalibrateReport(artifact=calibrator.artifact, resampling=plan, parts=parts)
    return Result(report=report, artifact=calibrator.artifact)


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
    if request.calibration.scale.real:
        obstacles[CalibrationMethod.IDENTITY] = "needs scores that are probabilities"
    return obstacles


def _read_for_all(request: CalibrateRequest) -> tuple[Read, dict[CalibrationMethod, str]]:
    """Read the columns of all methods, without an uncertainty if there is none; return the obstacles."""
    column, obstacles = request.data.roles.numbers.get("uncertainty"), _obstacles(request)
    try:
        return _read_all_columns(request), obstacles
    except MissingColumnError as error:
        if "uncertainty" not in error.roles or column != defaults.UNCERTAINTY:
            raise
    obstacles |= dict.fromkeys(OF_UNCERTAINTY, f"needs a column '{column}'")
    return _read_all_columns(replace(request, data=request.data.without("uncertainty"))), obstacles


def _read_all_columns(request: CalibrateRequest) -> Read:
    data, target = _with_features(request, request.data), _target_of(request)
    has_columns = bool(request.parts.features or request.parts.partition)
    method = CalibrationMethod.HETEROGENEOUS if has_columns else None
    _check(replace(request, calibration=replace(request.calibration, method=method)), target)
    require_memory(data, TREES if request.parts.features else ISOTONIC_PAIRS)
    return _read(data, request, target)


def _try(
    read: Read,
    methods: Sequence[CalibrationMethod],
    request: CalibrateRequest,
    how: CrossValidation,
    plan: ResamplingOptions,
) -> list[tuple[FittedCalibration, Measurement]]:
    """Fit methods as if each were requested alone, and measure them on the rows shared by all of them.

    Returns the fitted maps, and how each compares with the scores, if there are enough rows.
    """
    of_score, tree_rows = [method for method in methods if method in SCORE_FITS], None
    if read.tree_rows is not None:
        tree_rows = _columns_used(read.tree_rows, CalibrationMethod.HETEROGENEOUS)
    options = [replace(request.calibration, method=method) for method in methods]
    fits = fit_each(_columns_used(read.rows, of_score[0]), options[: len(of_score)], None)
    for more in options[len(of_score) :]:
        fits.append(fit_with_tree_sizes(_columns_used(read.rows, more.chosen_method), more, tree_rows))
    if not how.can_measure(read.rows, request.calibration.cluster):
        return [(fitted, Unmeasured()) for fitted in fits]
    tried: list[tuple[FittedCalibration, Measurement]] = []
    for fitted, pairs in zip(fits, how.pairs(fits, read.rows, tree_rows), strict=True):
        panel = replace(pairs.panels()[0], title=str(fitted.method))
        tried.append((fitted, Measured(compared=pairs.compared(plan), panels=[panel])))
    return tried


def _is_read(role: str, method: CalibrationMethod) -> bool:
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
