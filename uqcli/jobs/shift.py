"""``uqcli shift``: how the class mix of unlabelled data differs from labelled data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from uqcli import defaults
from uqcli.artifacts.models import ShiftArtifact, ShiftParameters, Source
from uqcli.choices import ArtifactKind, Confusion, EngineName, ShiftEstimator
from uqcli.counts import Bools, Floats, Ints, pool
from uqcli.engines.protocol import DataRequest
from uqcli.errors import InfeasibleError, UsageError
from uqcli.jobs.class_rows import ClassReader, without_uncertainty
from uqcli.jobs.intervals import check_bootstrap, check_confidence
from uqcli.kernels.nonconformity import Matrix
from uqcli.methods.binning.edges import even_edges
from uqcli.methods.metrics.bootstrap import basic_interval, resampled_weights
from uqcli.methods.metrics.calibration_error import expected_error, in_bins
from uqcli.methods.shift.sums import exact_sums, mean_responsibilities
from uqcli.methods.shift.weights import ClassWeights, bbse, em, known, no_shift_p_value
from uqcli.reports.shift import ShiftReport


@dataclass(frozen=True, kw_only=True)
class ShiftOptions:
    """How class weights are found.

    Attributes
    ----------
    prior
        Target prior in the order of the classes, for estimator known.
    bootstrap
        Replicates of the intervals; None makes them for data of moderate size.
    """

    estimator: ShiftEstimator = ShiftEstimator.BBSE
    confusion: Confusion = Confusion.HARD
    prior: tuple[float, ...] | None = None
    bootstrap: int | None = None
    confidence: float = defaults.CONFIDENCE
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class ShiftOutcome:
    """The report, and the artifact unless the estimate is infeasible."""

    report: ShiftReport
    artifact: ShiftArtifact | None
    failure: InfeasibleError | None


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """All rows of one side.

    Attributes
    ----------
    probability : float64, shape (n, C)
    label : int64, shape (n,)
        -1 on the target's side.
    weight, position : int64, shape (n,)
    predicted : int64, shape (n,)
        Likeliest class, the first of equals.
    """

    probability: Matrix
    label: Ints
    weight: Ints
    position: Ints
    predicted: Ints
    classes: tuple[str, ...]
    source: Source

    def prior(self, weight: Ints) -> Floats:
        """Class shares under weights of the rows."""
        counts = _counts(self.label, weight, len(self.classes))
        share: Floats = counts / counts.sum()
        return share

    def predictions(self) -> Floats:
        """Rows by predicted class."""
        return _counts(self.predicted, self.weight, len(self.classes))


@dataclass(frozen=True, kw_only=True)
class _Sides:
    """Source and target; no target where the prior is known."""

    source: _Rows
    target: _Rows | None

    @property
    def size(self) -> int:
        """Rows of both."""
        return len(self.source.weight) + (0 if self.target is None else len(self.target.weight))


def run(
    data: DataRequest, target: DataRequest | None, options: ShiftOptions, engine: EngineName
) -> ShiftOutcome:
    """Estimate class weights q/p.

    Parameters
    ----------
    target
        Unlabelled rows; None only for estimator known.

    Raises
    ------
    UsageError, DataError
        An option is missing or out of range, or rows cannot be read.
    """
    _check(target, options)
    sides = _Sides(source=_read(data, engine), target=None if target is None else _read(target, engine))
    _same_classes(sides, options)
    target_weight = None if sides.target is None else sides.target.weight
    try:
        found = _estimate(sides, sides.source.weight, target_weight, options)
    except InfeasibleError as failure:
        report = _report(sides, options, data, None, None)
        return ShiftOutcome(report=replace(report, failure=str(failure)), artifact=None, failure=failure)
    intervals, failed = _intervals(sides, options, found)
    report = replace(_report(sides, options, data, found, intervals), failed_replicates=failed)
    return ShiftOutcome(report=report, artifact=report.artifact, failure=None)


def _check(target: DataRequest | None, options: ShiftOptions) -> None:
    check_confidence(options.confidence)
    given = options.prior is not None
    if given != (options.estimator is ShiftEstimator.KNOWN):
        raise UsageError(
            f"estimator {options.estimator} {'with' if given else 'without'} --prior",
            expected="--prior with --estimator known, and only with it",
        )
    if target is None and not given:
        raise UsageError("no target", expected="--target FILE with unlabelled rows")
    if options.prior is not None:
        total = sum(options.prior)
        if not (min(options.prior) >= 0 and abs(total - 1) <= 1e-6):
            raise UsageError(f"--prior adds up to {total:g}", expected="shares from 0 to 1 that add up to 1")
    check_bootstrap(options.bootstrap)


def _read(request: DataRequest, engine: EngineName) -> _Rows:
    reader = ClassReader(without_uncertainty(request), engine)
    batches = list(reader)
    probability = np.concatenate([batch.probability for batch in batches])
    labels = [batch.label for batch in batches if batch.label is not None]
    return _Rows(
        probability=probability,
        label=np.concatenate(labels) if labels else np.full(len(probability), -1),
        weight=np.concatenate([batch.counted() for batch in batches]),
        position=np.concatenate([batch.position for batch in batches]),
        predicted=probability.argmax(axis=1),
        classes=reader.classes,
        source=reader.source,
    )


def _same_classes(sides: _Sides, options: ShiftOptions) -> None:
    source, target = sides.source, sides.target
    if target is not None and target.classes != source.classes:
        raise UsageError(
            f"source has classes {', '.join(source.classes[:12])}, target {', '.join(target.classes[:12])}",
            expected="the same classes",
        )
    if options.prior is not None and len(options.prior) != len(source.classes):
        raise UsageError(
            f"--prior names {len(options.prior)} shares",
            expected=f"one for each of {len(source.classes)} classes",
        )


def _estimate(
    sides: _Sides, source_weight: Ints, target_weight: Ints | None, options: ShiftOptions
) -> ClassWeights:
    """Class weights under weights of the rows: their own, or resampled ones."""
    source, target = sides.source, sides.target
    if target is None or target_weight is None or options.prior is not None:
        return known(np.array(options.prior), source.prior(source_weight), source.classes)
    if options.estimator is ShiftEstimator.EM:
        expectation = mean_responsibilities(target.probability, target_weight)
        return em(expectation, source.prior(source_weight), source.classes)
    classes = len(source.classes)
    joint: Floats
    if options.confusion is Confusion.HARD:
        cell = source.predicted * classes + source.label
        joint = _counts(cell, source_weight, classes**2).reshape(classes, classes)
        mean = _counts(target.predicted, target_weight, classes)
    else:
        columns = [
            exact_sums(source.probability, source_weight * (source.label == each)) for each in range(classes)
        ]
        joint, mean = np.stack(columns, axis=1), exact_sums(target.probability, target_weight)
    found = bbse(joint / source_weight.sum(), mean / target_weight.sum(), source.classes)
    if options.confusion is Confusion.HARD:
        return found
    # probabilities of a row add up to 1 only nearly, and so would the target's shares
    total = float((found.weights * source.prior(source_weight)).sum())
    return replace(found, weights=found.weights / total)


def _counts(number: Ints, weight: Ints, size: int) -> Floats:
    """Weights added up by number."""
    return np.bincount(number, weights=weight, minlength=size).astype(np.float64)


def _replicates(sides: _Sides, options: ShiftOptions) -> int:
    if options.bootstrap is not None:
        return options.bootstrap
    return defaults.BOOTSTRAP if sides.size <= 2 * defaults.BOOTSTRAP_ROWS else 0


def _intervals(
    sides: _Sides, options: ShiftOptions, found: ClassWeights
) -> tuple[list[tuple[float, float]] | None, int]:
    """Bootstrap intervals of the weights, and how many resamplings had no estimate.

    Both sides are resampled, the target's rows after the source's.
    """
    replicates = _replicates(sides, options)
    drawn: list[Floats] = []
    source, target = sides.source, sides.target
    after = int(source.position[-1]) + 1
    for number in range(replicates):
        source_weight = resampled_weights(source.position, source.weight, options.seed, number)
        target_weight = None
        if target is not None:
            target_weight = resampled_weights(after + target.position, target.weight, options.seed, number)
        try:
            drawn.append(_estimate(sides, source_weight, target_weight, options).weights)
        except InfeasibleError:
            continue  # a resampling without some class says nothing of the others
    failed = replicates - len(drawn)
    if len(drawn) < 2:
        return None, failed
    intervals = []
    for each, value in enumerate(found.weights.tolist()):
        values = [float(weights[each]) for weights in drawn]
        ends = basic_interval(value, values, options.confidence, (0.0, np.inf))
        assert ends is not None  # the value is defined
        intervals.append(ends)
    return intervals, failed


def _report(
    sides: _Sides,
    options: ShiftOptions,
    data: DataRequest,
    found: ClassWeights | None,
    interval: Sequence[tuple[float, float]] | None,
) -> ShiftReport:
    source, target = sides.source, sides.target
    replicates = _replicates(sides, options)
    p_value = None if target is None else no_shift_p_value(source.predictions(), target.predictions())
    parameters = ShiftParameters(
        estimator=options.estimator,
        confusion=options.confusion if options.estimator is ShiftEstimator.BBSE else None,
        prior=None if options.prior is None else list(options.prior),
        bootstrap=replicates,
        confidence=options.confidence if replicates else None,
        seed=options.seed if replicates else None,
        on_invalid=data.on_invalid,
        positive=data.positive_value,
    )
    artifact = None
    if found is not None:
        prior = source.prior(source.weight)
        artifact = ShiftArtifact(
            kind=ArtifactKind.SHIFT,
            source=source.source,
            parameters=parameters,
            estimator=options.estimator,
            classes=list(source.classes),
            weights=found.weights.tolist(),
            source_prior=prior.tolist(),
            target_prior=(found.weights * prior).tolist(),
            interval=None if interval is None else [list(ends) for ends in interval],
            shift_p=p_value,
        )
    return ShiftReport(
        source=source.source,
        classes=source.classes,
        failed_replicates=0,
        target_rows=0 if target is None else target.source.rows,
        parameters=parameters,
        artifact=artifact,
        found=found,
        shift_p=p_value,
        calibration=_calibration_error(source),
        failure=None,
    )


def _calibration_error(source: _Rows) -> float:
    """Mean over the classes of the ECE on the source: what EM takes for 0."""
    edges = even_edges(defaults.SINGLE_SCORE_BINS)
    errors = []
    for number, column in enumerate(source.probability.T):
        positive: Bools = source.label == number
        errors.append(expected_error(in_bins(pool(column, positive, source.weight), edges)))
    return sum(errors) / len(errors)


def target_request(data: DataRequest, inputs: Sequence[str]) -> DataRequest:
    """The same columns without labels and weights, which belong to the labelled rows, of other inputs."""
    roles = replace(data.roles, label=None, weight=None)
    return replace(data, inputs=tuple(inputs), roles=roles, positive_value=None)
