"""``uqcli shift``: estimate class weights of unlabelled target data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import ArtifactKind, Binning, ConfusionForm, ShiftEstimator
from uqcli.base.counts import Floats, Ints, pool
from uqcli.base.draws import Purpose, generator
from uqcli.base.errors import InfeasibleError, UsageError, words
from uqcli.base.options import check_bootstrap, check_confidence
from uqcli.base.records import dataclass
from uqcli.base.rows import ClassCounts
from uqcli.base.running.messages import doubt, with_progress
from uqcli.engines.open import CLASS_ROWS, LIKELIHOOD, expected_bytes, require_memory
from uqcli.engines.probabilities import label_indices
from uqcli.engines.request import DataRequest, Inputs
from uqcli.estimates.binning import BINNING_RULES, BinSizes
from uqcli.estimates.calibration_error import expected_error, in_bins
from uqcli.estimates.linear_scaling import LinearScaling
from uqcli.estimates.proportion import proportion_estimate
from uqcli.estimates.resampling import MIN_CLASS_ROWS, min_replicates, percentile_interval, tail_of
from uqcli.rules.labelled import ClassReader
from uqcli.rules.result import Result, keeps_doubts
from uqcli.rules.saved import Source, absent_if_none
from uqcli.shift.estimators import (
    ClassWeights,
    Draw,
    Evidence,
    KnownPrior,
    Likelihood,
    MeanProbabilities,
    PredictedClasses,
    no_shift_p_value,
    pooled_classes,
)
from uqcli.shift.mixture import MixtureTest, UnitCounts, UnitRows, mixture_of, same_shares_between_units
from uqcli.shift.options import ShiftRequest
from uqcli.shift.parts import Files, failed_draws, frequencies, mixture, unweighted, weighted
from uqcli.shift.report import ShiftReport
from uqcli.shift.rule import ShiftArtifact, ShiftParameters

_MIN_REPORTED = 1e-6
"""Interval ends below it are reported as 0, which EM only approaches."""


@dataclass(frozen=True, kw_only=True)
class _Side:
    """Rows of source or target, and the most probable class of each, the first of ties.

    Labels are all 0 for the target, which has none.
    """

    rows: UnitRows
    predicted: Ints
    classes: tuple[str, ...]
    input_summary: Source

    @property
    def class_counts(self) -> Ints:
        """Weight of the rows by class."""
        return self.weight_by_index(self.rows.label, len(self.classes))

    @property
    def predicted_counts(self) -> Ints:
        """Weight of the rows by predicted class."""
        return self.weight_by_index(self.predicted, len(self.classes))

    def weight_by_index(self, index: Ints, size: int) -> Ints:
        """Sum the weight of rows by an index below ``size``; exact, since weights sum to less than 2**53."""
        return np.bincount(index, weights=self.rows.weight, minlength=size).astype(np.int64)

    def counts_by_unit(self, cell_of: Ints) -> UnitCounts:
        """Count the rows by day or cluster, and by the cell of their predicted class."""
        rows = replace(self.rows, label=np.zeros_like(self.rows.label))
        return rows.counts(cell_of[self.predicted], int(cell_of.max()) + 1, 1)

    @property
    def size(self) -> int:
        """Total weight."""
        return int(self.rows.weight.sum())

    def distinct(self) -> ClassCounts:
        """Pool equal rows, in sorted order."""
        return ClassCounts.from_rows(self.rows.probability, self.rows.label, self.rows.weight)


class _KnownTarget:
    """There are no target rows, since the class priors of the target are known."""

    rows = size = 0
    has_few_rows = False

    def __init__(self, source: _Side, request: ShiftRequest) -> None:
        self.source, self.request = source, request

    def evidence(self) -> Evidence:
        """Return what shows the class weights."""
        classes = self.source.classes
        prior = np.array(self.request.prior)
        if len(prior) != len(classes):
            found = words("--prior names {} shares", len(prior))
            raise UsageError(found, expected=f"one for each of {len(classes)} classes")
        return KnownPrior(target_prior=prior, class_counts=self.source.class_counts, classes=classes)

    def tests(self) -> tuple[MixtureTest, MixtureTest]:
        """Test whether the predicted classes are as frequent in the target, and whether it is a mixture."""
        untested = MixtureTest(p_value=None, reason="there are no new rows")
        return untested, untested


class _TargetRows(_KnownTarget):
    """There are unlabelled target rows."""

    def __init__(self, source: _Side, request: ShiftRequest, side: _Side) -> None:
        super().__init__(source, request)
        if side.classes != source.classes:
            own, other = (", ".join(classes[:12]) for classes in (source.classes, side.classes))
            raise UsageError(f"source has classes {own}, target {other}", expected="the same classes")
        self.side, self.rows, self.size = side, side.input_summary.rows, side.size
        self.has_few_rows = self.rows < MIN_CLASS_ROWS * len(side.classes)

    def evidence(self) -> Evidence:
        source, target, classes = self.source, self.side, self.source.classes
        if self.request.estimator is ShiftEstimator.KNOWN:
            return super().evidence()
        if self.request.estimator is ShiftEstimator.EM:
            return Likelihood(source=source.distinct(), target=target.distinct(), classes=classes)
        if self.request.confusion is ConfusionForm.SOFT:
            return MeanProbabilities(source=source.distinct(), target=target.distinct(), classes=classes)
        cell = source.predicted * len(classes) + source.rows.label
        joint = source.weight_by_index(cell, len(classes) ** 2).reshape(len(classes), len(classes))
        return PredictedClasses(joint=joint, target=target.predicted_counts, classes=classes)

    def tests(self) -> tuple[MixtureTest, MixtureTest]:
        by_unit = bool(self.request.day or self.request.clusters.cluster)
        is_mixture = mixture_of(self.source.rows, self.side.rows, by_unit=by_unit)
        return _no_shift(self.source, self.side, by_unit=by_unit), is_mixture


@keeps_doubts
def run(request: ShiftRequest) -> Result[ShiftReport, ShiftArtifact | None]:
    """Estimate class weights q/p."""
    _check(request)
    _require_memory(request)
    data = request.data.clustered_by(request.day or request.clusters.cluster, days=request.day is not None)
    # the target is read first
    sides = [_read(_unlabelled(data, request.target))] if request.target else []
    source = _read(data)
    target = [*(_TargetRows(source, request, side) for side in sides), _KnownTarget(source, request)][0]
    evidence, tests = target.evidence(), target.tests()
    files = _files(source, target, request)
    parts = [files.part(), frequencies(files, tests[0]), mixture(files, tests[1])]
    try:
        weights = evidence.estimate()
    except InfeasibleError as failure:
        parts.append(unweighted(str(failure)))
        report = ShiftReport(source=source.input_summary, parameters=files.parameters, parts=parts)
        return Result(report=report, artifact=None, failure=failure)
    draws = _draws(evidence, weights, _replicates(source, target, request), request)
    files = replace(files, parameters=_parameters(request, len(draws)))
    artifact = _artifact(files, source.input_summary, weights, draws, tests)
    failed = sum(draw is None for draw in draws)
    parts += weighted(files, artifact, weights, tests[0])
    parts += failed_draws(files, failed, has_intervals=artifact.interval is not None)
    report = ShiftReport(source=source.input_summary, parameters=files.parameters, parts=parts)
    for sentence in report.cautions():
        doubt(sentence)
    return Result(report=report, artifact=artifact)


def _unlabelled(data: DataRequest, target: Inputs) -> DataRequest:
    roles = replace(data.roles, label=None, weight=None)
    return replace(data.on(target), roles=roles, positive_value=None)


def _check(request: ShiftRequest) -> None:
    check_confidence(request.resampling.confidence)
    if request.day is not None and request.clusters.cluster is not None:
        raise UsageError(words("--day and --cluster cannot be combined"), remedy="leave one of them out")
    has_prior = request.prior is not None
    if has_prior != (request.estimator is ShiftEstimator.KNOWN):
        raise UsageError(
            words("estimator {} {} --prior", request.estimator, "with" if has_prior else "without"),
            expected=words("--prior with --estimator known, and only with it"),
        )
    if not request.target and not has_prior:
        raise UsageError("no target", expected=words("--target FILE with unlabelled rows"))
    if request.prior is not None:
        total = sum(request.prior)
        if not (min(request.prior) >= 0 and abs(total - 1) <= 1e-6):
            raise UsageError(
                words("--prior adds up to {:g}", total), expected="shares from 0 to 1 that add up to 1"
            )
    check_bootstrap(request.resampling.bootstrap)


def _require_memory(request: ShiftRequest) -> None:
    keeps_probabilities = request.estimator is ShiftEstimator.EM or request.confusion is ConfusionForm.SOFT
    need = LIKELIHOOD if keeps_probabilities else CLASS_ROWS
    require_memory(request.data, need)
    if request.target:
        require_memory(_unlabelled(request.data, request.target), need, expected_bytes(request.data, need))


def _read(data: DataRequest) -> _Side:
    reader, key = ClassReader(data.without("uncertainty")), data.roles.cluster
    batches, predicted = [], []
    for rows in reader:
        probability, none = reader.probabilities(rows), np.zeros(len(rows), dtype=np.int64)
        label = none if data.roles.label is None else label_indices(rows)
        unit = none if key is None else rows.groups[key]
        batches.append((probability, label, unit, rows.weights()))
        predicted.append(probability.argmax(axis=1))
    probability, label, unit, weight = (np.concatenate(column) for column in zip(*batches, strict=True))
    return _Side(
        rows=UnitRows(probability=np.ascontiguousarray(probability), label=label, unit=unit, weight=weight),
        predicted=np.concatenate(predicted),
        classes=reader.classes,
        input_summary=reader.source,
    )


def _replicates(source: _Side, target: _KnownTarget, request: ShiftRequest) -> int:
    """Return the number of draws; by default 0 with many rows and no counts, where draws are slow."""
    if target.has_few_rows:
        return 0  # no valid interval exists
    if request.resampling.bootstrap is not None:
        return request.resampling.bootstrap
    uses_counts = request.estimator is not ShiftEstimator.EM and request.confusion is ConfusionForm.HARD
    rows = source.size + target.size
    return defaults.BOOTSTRAP if uses_counts or rows <= 2 * defaults.BOOTSTRAP_ROWS else 0


def _draws(
    evidence: Evidence, weights: ClassWeights, replicates: int, request: ShiftRequest
) -> list[Draw | None]:
    """Return the estimates from bootstrap draws; None for a draw without an estimate."""
    results: list[Draw | None] = []
    draws = max(replicates, min_replicates(request.resampling.confidence)) if replicates else 0
    for draw_index in with_progress(range(draws), "drawing class weights", draws):
        try:
            results.append(
                evidence.redrawn(generator(request.resampling.seed, Purpose.BOOTSTRAP, draw_index), weights)
            )
        except InfeasibleError:
            results.append(None)
    return results


def intervals_of_weights(draws: Sequence[Floats | None], confidence: float) -> list[list[float]] | None:
    """Compute percentile intervals of class weights, clipped at 0; None if too many draws have none."""
    defined = [draw for draw in draws if draw is not None]
    tail = tail_of(len(draws), confidence)
    if tail is None or len(draws) - len(defined) > tail:
        return None
    intervals = []
    for values in np.stack(defined, axis=1).tolist():
        interval = percentile_interval(values, confidence)
        if interval is None:
            return None
        intervals.append([0.0 if limit < _MIN_REPORTED else limit for limit in interval])
    return intervals


def intervals_of_priors(draws: Sequence[Floats | None], confidence: float) -> list[list[float]] | None:
    """Compute the percentile intervals of the target priors, clipped to [0, 1]."""
    intervals = intervals_of_weights(draws, confidence)
    return intervals and [
        [1.0 if limit > 1 - _MIN_REPORTED else limit for limit in interval] for interval in intervals
    ]


def _files(source: _Side, target: _KnownTarget, request: ShiftRequest) -> Files:
    confidence = request.resampling.confidence
    return Files(
        rows=source.input_summary.rows,
        target_rows=target.rows,
        classes=source.classes,
        source_shares=[
            proportion_estimate(label, source.size, confidence) for label in source.class_counts.tolist()
        ],
        parameters=_parameters(request, 0),
        calibration=_calibration_error(source, request.estimator),
        confidence=confidence,
    )


def _no_shift(source: _Side, target: _Side, *, by_unit: bool) -> MixtureTest:
    """Test whether both files have the same predicted classes."""
    predicted = [side.predicted_counts.astype(np.float64) for side in (source, target)]
    if not by_unit:
        return MixtureTest(p_value=no_shift_p_value(*predicted))
    cell_of, needs_exact_test = pooled_classes(*predicted)
    if needs_exact_test:
        return MixtureTest(p_value=None, reason="nearly all rows are predicted as one class")
    counts = [side.counts_by_unit(cell_of) for side in (source, target)]
    return same_shares_between_units(*counts)


def _parameters(request: ShiftRequest, replicates: int) -> ShiftParameters:
    return ShiftParameters(
        estimator=request.estimator,
        confusion=request.confusion if request.estimator is ShiftEstimator.BBSE else None,
        prior=None if request.prior is None else list(request.prior),
        bootstrap=replicates,
        confidence=request.resampling.confidence if replicates else None,
        seed=request.resampling.seed if replicates else None,
        on_invalid=request.data.on_invalid,
        positive=request.data.positive_value,
        day=absent_if_none(request.day),
        cluster=absent_if_none(request.clusters.cluster),
    )


def _artifact(
    files: Files,
    source: Source,
    class_weights: ClassWeights,
    draws: Sequence[Draw | None],
    tests: tuple[MixtureTest, MixtureTest],
) -> ShiftArtifact:
    prior = np.array([share.value for share in files.source_shares])
    weight_draws, estimator = [draw and draw[0] for draw in draws], files.parameters.estimator
    interval = intervals_of_weights(weight_draws, files.confidence)
    prior_intervals = intervals_of_priors([draw and draw[1] for draw in draws], files.confidence)
    no_shift, is_mixture = tests
    return ShiftArtifact(
        kind=ArtifactKind.SHIFT,
        source=source,
        parameters=files.parameters,
        estimator=estimator,
        classes=list(files.classes),
        weights=class_weights.weights.tolist(),
        source_prior=prior.tolist(),
        target_prior=(class_weights.weights * prior).tolist(),
        interval=interval,
        shift_p=no_shift.p_value,
        mixture_p=is_mixture.p_value,
        draws=None
        if interval is None
        else [weight.tolist() for weight in weight_draws if weight is not None],
        target_interval=None if estimator is ShiftEstimator.KNOWN else prior_intervals,
    )


def _calibration_error(source: _Side, estimator: ShiftEstimator) -> float:
    """Return the class mean of the ECE on the source data; for EM of the calibrated probabilities."""
    rule, sizes = BINNING_RULES[Binning.EQUISPACED], BinSizes(bins=defaults.SINGLE_SCORE_BINS)
    counts, classes = source.distinct(), len(source.classes)
    probability = counts.probability
    if estimator is ShiftEstimator.EM:
        probability = LinearScaling(counts=counts, classes=classes).cross_fitted()
    of_classes = [
        pool(probability[:, index], counts.label == index, counts.count) for index in range(classes)
    ]
    errors = [expected_error(in_bins(scores, rule.edges(scores, sizes))) for scores in of_classes]
    return sum(errors) / classes
