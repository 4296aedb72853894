"""Read labelled rows, fit a calibrator and build its rule file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from uqcli.base.choices import OF_UNCERTAINTY, ArtifactKind, CalibrationMethod
from uqcli.base.counts import Floats, ValueCounts
from uqcli.base.errors import UsageError
from uqcli.base.options import check_bootstrap, check_confidence
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.cautions import collected_doubts
from uqcli.calibrate.choice import Choice, chosen_for_counts, chosen_for_rows, fit_with_tree_sizes
from uqcli.calibrate.fit import SCORE_FITS, FittedCalibration, fit_counts
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.folds import on_few_scores, rows_of, sample_of
from uqcli.calibrate.maps import CalibrationMap
from uqcli.calibrate.maps.histogram import target_bound
from uqcli.calibrate.options import CalibrateRequest
from uqcli.calibrate.rule import CalibrationCounts, CalibratorArtifact, CalibratorParameters
from uqcli.calibrate.tree import require_trees
from uqcli.engines.memory import ISOTONIC_PAIRS, TREES, require_memory
from uqcli.engines.probabilities import require_probabilities
from uqcli.engines.protocol import ALL_ROWS
from uqcli.engines.request import DataRequest, FeatureRequest
from uqcli.estimates.clustered import keyed_by_cluster
from uqcli.rules.labelled import open_table, read_labelled, source_of
from uqcli.rules.saved import Source
from uqcli.shift.rule import ShiftArtifact
from uqcli.shift.target_weights import TargetWeights, load_shift, target_weights_of


@dataclass(frozen=True, kw_only=True)
class FittedCalibrator:
    """A calibrator, and the rows to measure it on.

    Attributes
    ----------
    options
        Options with the method that was fitted.
    choice
        Choice of the method; None if it was given.
    data
        Data request.
    rows
        Rows of the fit, or a sample of them if there are more than are measured.
    fitted_rows
        Total weight of the rows of the fit.
    tree_rows
        Rows that trees were learned from, if separate.
    """

    artifact: CalibratorArtifact
    options: CalibrationOptions
    choice: Choice | None
    fitted: FittedCalibration
    data: DataRequest
    rows: Rows
    fitted_rows: int
    tree_rows: Rows | None
    target: TargetWeights | None

    @property
    def notes(self) -> list[str]:
        """Notes on the fit."""
        chosen = [] if self.choice is None else [self.choice.reason()]
        return [*chosen, *self.fitted.notes, *shift_notes(self.target, self.fitted.map)]


def make_calibrator(request: CalibrateRequest) -> FittedCalibrator:
    """Fit a calibrator.

    Raises
    ------
    UsageError, DataError, ArtifactError, MissingExtraError
        An option is invalid, a score is not a probability, or rows or class weights cannot be read.
    """
    options, target = request.calibration, _target_of(request)
    uses_uncertainty = options.method in OF_UNCERTAINTY
    data = _with_features(request, request.data if uses_uncertainty else request.data.without("uncertainty"))
    _check(request, target)
    is_of_score = options.method is None or options.method in SCORE_FITS
    fit_to = _fitted_on_counts if is_of_score and options.cluster is None else _fitted_on_rows
    return fit_to(data, request, target)


def _target_of(request: CalibrateRequest) -> TargetWeights | None:
    if request.shift is None:
        return None
    return target_weights_of(load_shift(request.shift), request.data.positive_value)


def artifact_of(
    fitted: FittedCalibration,
    source: Source,
    counts: ValueCounts,
    request: CalibrateRequest,
    target: TargetWeights | None,
) -> CalibratorArtifact:
    """Build the rule file of a map that was fitted with the options of the request.

    Parameters
    ----------
    counts
        All calibration rows, by score as read.
    """
    options, few = request.calibration, on_few_scores(counts)
    assert options.method is not None
    return CalibratorArtifact(
        kind=ArtifactKind.CALIBRATOR,
        source=source,
        parameters=CalibratorParameters.of(
            options,
            request.parts.features or request.parts.partition,
            on_invalid=request.data.on_invalid,
            positive=request.data.positive_value,
        ),
        method=options.method,
        logit=options.scale.real,
        undersampled=options.scale.undersampled,
        calibration=fitted.map,
        weights=None if target is None else [target.class_weights.negative, target.class_weights.positive],
        calibration_counts=CalibrationCounts(
            score=few.value.tolist(), count=few.count.tolist(), positives=few.positives.tolist()
        ),
    )


@dataclass(frozen=True, kw_only=True)
class ReadForAll:
    """Rows with the columns of all methods (see FittedCalibrator)."""

    data: DataRequest
    source: Source
    rows: Rows
    tree_rows: Rows | None
    target: TargetWeights | None


def read_for_all(request: CalibrateRequest) -> ReadForAll:
    """Read the rows for fitting all applicable methods.

    Raises
    ------
    UsageError, DataError, ArtifactError, MissingExtraError
        As for ``make_calibrator``.
    """
    data, target = _with_features(request, request.data), _target_of(request)
    has_columns = bool(request.parts.features or request.parts.partition)
    method = CalibrationMethod.HETEROGENEOUS if has_columns else None
    _check(replace(request, calibration=replace(request.calibration, method=method)), target)
    require_memory(data, TREES if request.parts.features else ISOTONIC_PAIRS)
    rows, source, tree_rows = _read_with_tree_rows(data, request)
    return ReadForAll(data=data, source=source, rows=rows, tree_rows=tree_rows, target=target)


def _with_features(request: CalibrateRequest, data: DataRequest) -> DataRequest:
    categorical = set(request.parts.categorical)
    features = [
        FeatureRequest(name=name, text=True if name in categorical else None)
        for name in request.parts.features
    ]
    features += [FeatureRequest(name=name, text=True) for name in request.parts.partition]
    return replace(data, roles=replace(data.roles, features=tuple(features)))


def _check(request: CalibrateRequest, target: TargetWeights | None) -> None:
    options, roles = request.calibration, request.data.roles
    options.check()
    check_confidence(request.resampling.confidence)
    reserved = {roles.label, roles.weight} & {*request.parts.features, *request.parts.partition}
    if reserved:
        raise UsageError(f"column '{reserved.pop()}' is the label or the weight", expected="other features")
    if others := [name for name in request.parts.categorical if name not in request.parts.features]:
        raise UsageError(f"--categorical {others[0]}", expected="columns of --features")
    if options.method in (CalibrationMethod.VECTOR, CalibrationMethod.MATRIX):
        raise UsageError(f"method {options.method} without --proba", expected="class probabilities")
    if options.method is CalibrationMethod.HETEROGENEOUS:
        if bool(request.parts.features) == bool(request.parts.partition):
            raise UsageError(
                "method heterogeneous needs columns", expected="either --features or --partition"
            )
        if request.parts.features:
            require_trees()
    check_bootstrap(request.resampling.bootstrap)
    if target is not None and min(target.class_weights.positive, target.class_weights.negative) <= 0:
        raise UsageError(
            "a class has weight 0 in the target data", expected="both classes in the target data"
        )


def _fitted_on_rows(
    data: DataRequest, request: CalibrateRequest, target: TargetWeights | None
) -> FittedCalibrator:
    require_memory(data, TREES if data.roles.features else ISOTONIC_PAIRS)
    rows, source, tree_rows = _read_with_tree_rows(data, request)
    options, choice = request.calibration, None
    if options.method is None:
        choice = chosen_for_rows(rows, options)
        options = replace(options, method=choice.method)
    fitted, options = fit_with_tree_sizes(rows, options, tree_rows)
    request = replace(request, calibration=options)
    return FittedCalibrator(
        artifact=artifact_of(fitted, source, rows.counts(rows.score), request, target),
        options=options,
        choice=choice,
        fitted=fitted,
        data=data,
        rows=rows,
        fitted_rows=rows.size,
        tree_rows=tree_rows,
        target=target,
    )


def _fitted_on_counts(
    data: DataRequest, request: CalibrateRequest, target: TargetWeights | None
) -> FittedCalibrator:
    """Fit a map of the score alone to counts; measured rows are derived from the counts."""
    options, choice = request.calibration, None
    table = open_table(data, uses_uncertainty=False)
    counts = table.pooled(ALL_ROWS)[0]
    source = source_of(table.summary)
    _require_scores(counts.ends, request, source)
    rows = rows_of(sample_of(counts, options.seed))
    if options.method is None:
        choice = chosen_for_counts(counts, options)
        options = replace(options, method=choice.method)
    fitted = fit_counts(counts, options)
    return FittedCalibrator(
        artifact=artifact_of(fitted, source, counts, replace(request, calibration=options), target),
        options=options,
        choice=choice,
        fitted=fitted,
        data=data,
        rows=rows,
        fitted_rows=counts.rows,
        tree_rows=None,
        target=target,
    )


def _read_with_tree_rows(data: DataRequest, request: CalibrateRequest) -> tuple[Rows, Source, Rows | None]:
    """Return the rows (see ``_read``), their source, and the rows of the trees, if separate."""
    rows, source = _read(data, request)
    tree_data = request.parts.tree_data
    return rows, source, None if tree_data is None else read_like(rows, data.on(tree_data), request)


def _read(data: DataRequest, request: CalibrateRequest) -> tuple[Rows, Source]:
    """Return the distinct rows in sorted order, without those of weight 0."""
    read, source = read_labelled(data)
    _require_scores(read.rows.score, request, source)
    return keyed_by_cluster(read, request.calibration.cluster).pooled(), source


def _require_scores(score: Floats, request: CalibrateRequest, source: Source) -> None:
    if not request.calibration.scale.real:
        require_probabilities(
            score, source.columns["score"], remedy="give --logit for logits and other real scores"
        )


def read_like(rows: Rows, data: DataRequest, request: CalibrateRequest) -> Rows:
    """Read rows of other inputs, with features typed as in ``rows``."""
    features = tuple(
        replace(feature, text=rows.features[feature.name].levels is not None)
        for feature in data.roles.features
    )
    with collected_doubts():  # about the test set, not about the map
        return _read(replace(data, roles=replace(data.roles, features=features)), request)[0]


def shift_notes(target: TargetWeights | None, map_: CalibrationMap) -> list[str]:
    """Return the notes on the class prior correction, with the bound of [LS Theorem 4] for histograms."""
    if target is None:
        return []
    class_weights, shift = target.class_weights, target.shift
    ratio = f"{class_weights.positive / class_weights.negative:.4g}"
    notes = [
        f"The odds are then multiplied by {ratio} for the target's class priors; metrics are of the source."
    ]
    norm = None if map_.largest_error is None else 2 * map_.largest_error
    return [*notes, *target_bound_notes([class_weights.negative, class_weights.positive], shift, norm)]


def target_bound_notes(weights: Sequence[float], shift: ShiftArtifact, norm: float | None) -> list[str]:
    """Return the note on the error bound of a histogram in the target data [LS Theorem 4]; empty without one.

    Parameters
    ----------
    norm
        Bound on the 1-norm in the source; None for other maps.
    """
    if norm is None or shift.interval is None:
        return []
    weights_with_intervals = zip(shift.weights, shift.interval, strict=True)
    weight_error = max(max(weight - low, high - weight) for weight, (low, high) in weights_with_intervals)
    bound = target_bound(weights, norm, weight_error)
    if len(weights) == 2:
        within = f"each bin's probability is within {min(1.0, bound / 2):.3g} of the truth"
    else:
        within = f"the class probabilities of each bin are within {min(2.0, bound):.3g} of the truth (1-norm)"
    return [f"In the target, {within} if the weights are within their intervals (Theorem 4)."]
