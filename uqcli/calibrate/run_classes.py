"""Fit and evaluate calibrators of class probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Final

import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import ArtifactKind, CalibrationMethod
from uqcli.base.errors import UsageError, words
from uqcli.base.options import ResamplingOptions, check_bootstrap, check_confidence
from uqcli.base.records import dataclass
from uqcli.base.rows import ClassCounts, DistinctClasses, Rows
from uqcli.base.running.messages import caution, collected_doubts
from uqcli.base.wording import MOST_NAMED, first_of
from uqcli.calibrate.fit import Choice
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.folds import (
    CrossFittedLosses,
    can_be_split,
    folds_of,
    sample_of_rows,
    units_of,
    weights_of_folds,
)
from uqcli.calibrate.maps import ClassMap
from uqcli.calibrate.maps.classes import (
    ClassFold,
    fit_class_temperature,
    fit_linear,
    fit_one_vs_rest,
    label_losses,
    tuned_penalty,
)
from uqcli.calibrate.maps.histogram import fit_class_histogram
from uqcli.calibrate.options import CalibrateRequest
from uqcli.calibrate.parts import (
    Chosen,
    FittedMap,
    MeasuredClasses,
    Measurement,
    Target,
    TestSet,
    Unmeasured,
    WeightedTarget,
    clusters_of,
    inapplicable,
    intervals,
    noted,
    ranking,
)
from uqcli.calibrate.report import CalibratePart, CalibrateReport
from uqcli.calibrate.rule import CalibratorArtifact, CalibratorParameters
from uqcli.calibrate.scale import Scale
from uqcli.comparison.run import PairedRows
from uqcli.engines.open import CLASS_ROWS, require_memory
from uqcli.engines.probabilities import label_indices, probabilities
from uqcli.engines.protocol import ReadRows
from uqcli.engines.request import PROBA, DataRequest, Roles
from uqcli.estimates.paired import keyed_by_cluster
from uqcli.rules.labelled import read_labelled, sum_notes
from uqcli.rules.result import Result, keeps_doubts
from uqcli.rules.saved import Source
from uqcli.shift.rule import load_shift


@keeps_doubts
def run_classes(request: CalibrateRequest) -> Result[CalibrateReport, CalibratorArtifact]:
    """Fit a map of class probabilities, and measure it cross-validated or on a test set."""
    problem = _Problem.from_request(request)
    method, chosen = request.calibration.method, list[CalibratePart]()
    if method is None:
        choice = _chosen(problem)
        method, chosen = choice.method, [Chosen(choice=choice)]
    elif obstacle := _obstacles(problem).get(method):
        raise UsageError(f"method {method} with these rows: it {obstacle}", expected="method vector")
    return _result(problem, _try(problem, method), chosen)


@keeps_doubts
def run_all_classes(request: CalibrateRequest) -> Result[CalibrateReport, CalibratorArtifact]:
    """Fit every map of class probabilities, and keep the one with the lowest log loss outside its fit."""
    problem = _Problem.from_request(request)
    obstacles, measured = _obstacles(problem), list[tuple[str, Measurement]]()
    best: _Tried | None = None
    for method in CLASS_FITS:
        if method not in obstacles:
            tried = _try(problem, method)
            measured.append((str(method), tried.measurement.undrawn()))
            if best is None or tried.measurement.log_loss < best.measurement.log_loss:
                best = tried
    assert best is not None  # temperature has no obstacle
    ranked = sorted(measured, key=lambda pair: pair[1].log_loss)
    return _result(problem, best, [*ranking(ranked, draws_all=False), inapplicable(obstacles)])


ClassFit = Callable[[ClassCounts, ClassMap | None], tuple[ClassMap, tuple[str, ...]]]
"""Fit to rows, from the map of nearly the same rows or from none; with notes."""


@dataclass(frozen=True, kw_only=True)
class _Problem:
    """What is fitted: rows, folds to choose by, the test set if there is one, target, and fits by method.

    ``unnormalised`` is max |sum p - 1| over rows.
    """

    request: CalibrateRequest
    rows: Rows
    roles: Roles
    source: Source
    unnormalised: float
    test_sets: Sequence[Rows]
    target: Target
    folds: tuple[ClassFold, ...] = ()
    tuned: dict[CalibrationMethod, ClassFit] = field(default_factory=dict)

    @classmethod
    def from_request(cls, request: CalibrateRequest) -> _Problem:
        """Check a request, and read its rows."""
        _check(request)
        data = request.data.without("uncertainty")
        read, source = _read(data)
        seen = np.bincount(label_indices(read.rows), minlength=len(read.classes))
        absent = [f"'{name}'" for name, rows in zip(read.classes, seen.tolist(), strict=True) if not rows]
        if absent:
            caution(
                "absent-class",
                f"no row has {'the label' if len(absent) == 1 else 'any of the labels'} "
                f"{first_of(absent, MOST_NAMED)}, which the calibrator therefore takes "
                "to be rare: add such rows, or check --label and --proba.",
            )
        roles = Roles(numbers={}, classes={name: source.columns[PROBA + name] for name in read.classes})
        tests = []
        if request.parts.test:
            alike = replace(data.roles, class_columns=None, classes=roles.classes)
            with collected_doubts():  # about the test set, not about the map
                tests.append(_read(replace(data, roles=alike).on(request.parts.test))[0].rows)
        problem = cls(
            request=request,
            rows=read.rows,
            roles=roles,
            source=source,
            unnormalised=read.unnormalised,
            test_sets=tests,
            target=_target(request, read.classes),
        )
        return replace(problem, folds=_folds(problem))

    def counts(self, rows: Rows) -> ClassCounts:
        """Pool some rows."""
        return ClassCounts.from_rows(probabilities(rows, self.roles), label_indices(rows), rows.weight)

    def paired(self, rows: Rows, map_: ClassMap) -> PairedRows:
        """Pair the probabilities of some rows with the calibrated ones."""
        before, cluster = probabilities(rows, self.roles), self.options.cluster
        return PairedRows(rows=rows, before=before, after=map_.probabilities(before), cluster=cluster)

    @property
    def options(self) -> CalibrationOptions:
        return self.request.calibration

    @property
    def plan(self) -> ResamplingOptions:
        """Intervals of what is measured: the test set, or all rows if some can be left out of a fit."""
        if self.test_sets:
            return self.request.plan(self.test_sets[0].size)
        return self.request.plan(self.rows.size if can_be_split(self.rows, self.options.cluster) else 0)

    def fit_of(self, method: CalibrationMethod) -> ClassFit:
        """Return the fit of a method; its penalties are chosen at the first call."""
        if method not in self.tuned:
            self.tuned[method] = CLASS_FITS[method](self.folds, self.options)
        return self.tuned[method]


def _read(data: DataRequest) -> tuple[ReadRows, Source]:
    require_memory(data, CLASS_ROWS)
    read, source = read_labelled(data)
    return replace(read, rows=keyed_by_cluster(read, data.roles.cluster).pooled()), source


def _folds(problem: _Problem) -> tuple[ClassFold, ...]:
    """Return the folds by which methods and penalties are chosen; empty if there are too few rows."""
    options = problem.options
    rows = sample_of_rows(problem.rows, _CHOICE_ROWS, options.seed)
    if units_of(rows, options.cluster) < defaults.FOLDS:
        return ()
    return tuple(
        (problem.counts(training), problem.counts(held_out))
        for training, held_out in folds_of(rows, options.seed, options.cluster)
    )


def _linear(folds: Sequence[ClassFold], *, is_full: bool) -> ClassFit:
    penalty = tuned_penalty(folds, is_full=is_full)
    return lambda counts, start: (fit_linear(counts, penalty, start), ())


def _without_notes(fit: Callable[[ClassCounts], ClassMap]) -> ClassFit:
    """Adapt a fit that has neither a start nor a note."""
    return lambda counts, _: (fit(counts), ())


CLASS_FITS: Mapping[CalibrationMethod, Callable[[Sequence[ClassFold], CalibrationOptions], ClassFit]] = {
    CalibrationMethod.TEMPERATURE: lambda _, __: fit_class_temperature,
    CalibrationMethod.VECTOR: lambda folds, _: _linear(folds, is_full=False),
    CalibrationMethod.MATRIX: lambda folds, _: _linear(folds, is_full=True),
    CalibrationMethod.ISOTONIC: lambda _, __: _without_notes(partial(fit_one_vs_rest, with_intervals=False)),
    CalibrationMethod.VENN_ABERS: lambda _, __: _without_notes(partial(fit_one_vs_rest, with_intervals=True)),
    CalibrationMethod.HISTOGRAM: lambda _, options: _without_notes(
        partial(fit_class_histogram, edges_of=options.histogram_edges, confidence=options.confidence)
    ),
}
"""Methods that calibrate all classes: each chooses its penalties by folds, then fits."""

_SIMPLEST_FIRST: Final = (
    CalibrationMethod.TEMPERATURE,
    CalibrationMethod.VECTOR,
    CalibrationMethod.MATRIX,
    CalibrationMethod.ISOTONIC,
)
"""Methods of class probabilities among which one is chosen."""

_CHOICE_ROWS: Final = 20_000
"""Rows on which methods and penalties are chosen."""

_MAX_MATRIX_CLASSES: Final = 100


def _obstacles(problem: _Problem) -> dict[CalibrationMethod, str]:
    classes, obstacles = len(problem.roles.classes), {}
    if classes > _MAX_MATRIX_CLASSES:
        obstacles[CalibrationMethod.MATRIX] = f"takes at most {_MAX_MATRIX_CLASSES} classes"
    elif problem.rows.size < classes * (classes + 1):
        obstacles[CalibrationMethod.MATRIX] = f"needs {classes * (classes + 1):,} rows for {classes} classes"
    if problem.options.cluster is not None:
        obstacles[CalibrationMethod.HISTOGRAM] = "has an error bound of independent rows"
    return obstacles


def _chosen(problem: _Problem) -> Choice:
    """Choose the simplest method whose cross-fitted log loss is as good as the lowest."""
    if not problem.folds:
        return Choice(method=_SIMPLEST_FIRST[0], tried=())
    obstacles = _obstacles(problem)
    losses = {}
    for method in _SIMPLEST_FIRST:
        if method in obstacles:
            continue
        fit = problem.fit_of(method)
        held_out = [label_losses(fit(training, None)[0], fold) for training, fold in problem.folds]
        losses[method] = CrossFittedLosses(
            loss=np.concatenate(held_out), count=np.concatenate([fold.count for _, fold in problem.folds])
        )
    return Choice.among(losses)


@dataclass(frozen=True, kw_only=True)
class _Tried:
    """A fitted map, how it was measured, and the parts of both."""

    method: CalibrationMethod
    calibration: ClassMap
    measurement: Measurement
    parts: Sequence[CalibratePart]


def _try(problem: _Problem, method: CalibrationMethod) -> _Tried:
    """Fit a method, and measure it on rows outside its fit, unless there are too few."""
    fit = problem.fit_of(method)
    calibration, notes, pairs = _fitted(problem, fit)
    measurement, parts = _measured(problem, pairs)
    parts = [*parts, measurement, noted("fit", notes)]
    return _Tried(method=method, calibration=calibration, measurement=measurement, parts=parts)


def _fitted(problem: _Problem, fit: ClassFit) -> tuple[ClassMap, tuple[str, ...], PairedRows | None]:
    """Fit a map to all rows, and pair the probabilities of those to measure; None if there are too few."""
    distinct = DistinctClasses.of(probabilities(problem.rows, problem.roles), label_indices(problem.rows))
    calibration, notes = fit(distinct.counts(problem.rows.weight), None)
    if problem.test_sets:
        return calibration, notes, problem.paired(problem.test_sets[0], calibration)
    if can_be_split(problem.rows, problem.options.cluster):
        return calibration, notes, _cross_validated(problem, distinct, fit, calibration)
    return calibration, notes, None


def _measured(problem: _Problem, pairs: PairedRows | None) -> tuple[Measurement, list[CalibratePart]]:
    if pairs is None:
        return Unmeasured(), []
    how: list[CalibratePart] = [TestSet(rows=rows) for rows in problem.test_sets]
    compared, classes = pairs.compared(problem.plan), tuple(problem.roles.classes)
    measured = MeasuredClasses(compared=compared, panels=pairs.panels(), classes=classes)
    return measured, [*how, *clusters_of(pairs.rows, problem.options.cluster)]


def _result(
    problem: _Problem, kept: _Tried, parts: Sequence[CalibratePart]
) -> Result[CalibrateReport, CalibratorArtifact]:
    """Build the rule file and the report of a map; ``parts`` are those of how it was chosen."""
    request, calibration = problem.request, kept.calibration
    artifact = CalibratorArtifact(
        kind=ArtifactKind.CALIBRATOR,
        source=problem.source,
        parameters=CalibratorParameters.of(
            replace(problem.options, method=kept.method),
            (),
            on_invalid=request.data.on_invalid,
            positive=None,
        ),
        method=kept.method,
        logit=False,
        undersampled=1.0,
        calibration=calibration,
        weights=problem.target.saved(),
        classes=list(problem.roles.classes),
    )
    report = CalibrateReport(
        artifact=artifact,
        resampling=problem.plan,
        parts=[
            FittedMap(artifact=artifact),
            *parts,
            *kept.parts,
            intervals(request, problem.plan),
            *problem.target.parts(calibration),
            noted("sums", sum_notes(problem.unnormalised)),
        ],
    )
    return Result(report=report, artifact=artifact)


def _target(request: CalibrateRequest, classes: Sequence[str]) -> Target:
    if request.shift is None:
        return Target()
    shift = load_shift(request.shift)
    weights = shift.weights_for(classes)
    if min(weights) <= 0:
        raise UsageError("a class has weight 0 in the target data", expected="all classes in the target data")
    corrected = (
        "Afterwards each class's probability is multiplied by its weight in the target; labelled rows of the "
        "source cannot measure that."
    )
    return WeightedTarget(weights=weights, error=shift.weight_error, corrected=corrected, norm=1)


def _check(request: CalibrateRequest) -> None:
    options = request.calibration
    options.check()
    check_confidence(request.resampling.confidence)
    check_bootstrap(request.resampling.bootstrap)
    if options.scale != Scale():
        raise UsageError(
            words("--logit or --undersampled beside --proba"), expected="probabilities as they are"
        )
    if options.method is not None and options.method not in CLASS_FITS:
        raise UsageError(
            words("class probabilities with method {}", options.method),
            expected=f"one of {', '.join(CLASS_FITS)}",
        )
    if request.parts.features or request.parts.partition:
        raise UsageError(words("--features or --partition beside --proba"), expected="one score")


def _cross_validated(
    problem: _Problem, distinct: DistinctClasses, fit: ClassFit, calibration: ClassMap
) -> PairedRows:
    """Pair the probabilities with cross-validated ones; each fit starts from the map of all rows."""
    rows, options = problem.rows, problem.options
    weight = rows.weights()
    return PairedRows.joined(
        [
            problem.paired(rows.reweighted(fold), fit(distinct.counts(weight - fold), calibration)[0])
            for fold in weights_of_folds(rows, options.seed, options.cluster)
        ]
    )
