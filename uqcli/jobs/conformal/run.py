"""``uqcli conformal``: sets of classes that hold the true one as often as promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from uqcli.artifacts.models import ConformalArtifact, ConformalParameters, SavedGroups, ShiftArtifact
from uqcli.choices import ArtifactKind, ConformalMethod, ConformalMode, EngineName
from uqcli.counts import Floats, Ints
from uqcli.draws import Purpose, uniforms
from uqcli.engines.request import DataRequest
from uqcli.errors import UsageError
from uqcli.exact import decimal
from uqcli.jobs.class_rows import ClassReader, without_uncertainty
from uqcli.jobs.labelled import sum_notes
from uqcli.methods.conformal.scores import SCORES
from uqcli.methods.conformal.thresholds import (
    EVERY_LABEL,
    THRESHOLDS,
    LabelScores,
    Promise,
    marginal_threshold,
)
from uqcli.reports.conformal.report import ConformalReport


@dataclass(frozen=True, kw_only=True)
class ConformalOptions:
    """What sets promise and how.

    Attributes
    ----------
    alpha
        One less the coverage, a decimal in (0, 1) as typed.
    alpha_by_class
        Other alphas for some classes (label-conditional).
    by
        Column whose groups get thresholds of their own.
    """

    method: ConformalMethod = ConformalMethod.APS
    mode: ConformalMode = ConformalMode.MARGINAL
    alpha: str = "0.1"
    alpha_by_class: Mapping[str, str] = field(default_factory=dict)
    randomize: bool = True
    seed: int = 0
    by: str | None = None


@dataclass(frozen=True, kw_only=True)
class ConformalOutcome:
    """The artifact and the report."""

    artifact: ConformalArtifact
    report: ConformalReport


@dataclass(frozen=True, kw_only=True)
class _Calibration:
    """Scores of all calibration rows, with their groups where there are any."""

    scores: LabelScores
    group: Ints | None
    names: tuple[str, ...]
    classes: tuple[str, ...]
    unnormalised: float


def run(
    data: DataRequest, options: ConformalOptions, engine: EngineName, shift: ShiftArtifact | None = None
) -> ConformalOutcome:
    """Find the thresholds of conformal sets.

    Parameters
    ----------
    shift
        Class weights for mode label-shift.

    Raises
    ------
    UsageError, DataError
        An option is out of range, classes differ, or the rows cannot be read.
    """
    alpha = parse_alpha(options.alpha)
    _check(options, shift)
    reader = ClassReader(without_uncertainty(data), engine)
    calibration = _calibration(reader, options)
    classes, scores = calibration.classes, calibration.scores
    weights = None if shift is None else weights_for(shift, classes)
    thresholds = _thresholds(scores, classes, options, alpha, weights)
    counts = _class_counts(scores, len(classes))
    artifact = ConformalArtifact(
        kind=ArtifactKind.CONFORMAL,
        source=reader.source,
        parameters=ConformalParameters(
            method=options.method,
            mode=options.mode,
            alpha=options.alpha,
            alpha_by_class=dict(options.alpha_by_class) or None,
            randomize=options.randomize,
            seed=options.seed,
            by=options.by,
            on_invalid=data.on_invalid,
            positive=data.positive_value,
        ),
        method=options.method,
        mode=options.mode,
        alpha=float(alpha),
        classes=list(classes),
        thresholds=thresholds,
        weights=weights,
        groups=_groups(calibration, options, alpha),
        calibration_rows=counts,
    )
    report = ConformalReport(
        artifact=artifact, rows_of_class=counts, notes=_notes(artifact, calibration, counts)
    )
    return ConformalOutcome(artifact=artifact, report=report)


def parse_alpha(text: str) -> Fraction:
    """An alpha as the exact fraction of the decimal that was typed.

    Raises
    ------
    UsageError
        Not a decimal in (0, 1).
    """
    return decimal("alpha", text, above=0, below=1)


def _check(options: ConformalOptions, shift: ShiftArtifact | None) -> None:
    shifted = options.mode is ConformalMode.LABEL_SHIFT
    if shifted and shift is None:
        raise UsageError("mode label-shift without class weights", expected="--shift or --target")
    if not shifted and shift is not None:
        raise UsageError(f"class weights with mode {options.mode}", expected="--mode label-shift")
    if options.alpha_by_class and options.mode is not ConformalMode.LABEL_CONDITIONAL:
        raise UsageError(f"alphas by class with mode {options.mode}", expected="--mode label-conditional")
    if options.by is not None and options.mode is not ConformalMode.MARGINAL:
        raise UsageError(f"groups with mode {options.mode}", expected="--mode marginal")


def weights_for(shift: ShiftArtifact, classes: Sequence[str]) -> list[float]:
    """Class weights in the order of some classes.

    Raises
    ------
    UsageError
        The weights are of other classes.
    """
    by_class = dict(zip(shift.classes, shift.weights, strict=True))
    if set(by_class) != set(classes):
        raise UsageError(
            f"class weights are of classes {', '.join(shift.classes[:12])}",
            expected=f"weights of {', '.join(list(classes)[:12])}",
        )
    return [by_class[name] for name in classes]


def _calibration(reader: ClassReader, options: ConformalOptions) -> _Calibration:
    """Reduce each batch to its labels' scores: memory does not grow with the classes."""
    scores: list[Floats] = []
    labels: list[Ints] = []
    weights: list[Ints] = []
    groups: list[Ints] = []
    for batch in reader:
        assert batch.label is not None  # the roles name a label
        # a row that weighs nothing is absent: its score is no step, either
        there = slice(None) if batch.weight is None else batch.weight > 0
        uniform = np.ones(len(batch.label))
        if options.randomize and options.method is ConformalMethod.APS:
            uniform = uniforms(batch.position, options.seed, Purpose.FIT)
        of_labels = SCORES[options.method].of_labels(batch.probability, batch.label, uniform)
        scores.append(of_labels[there])
        labels.append(batch.label[there].astype(np.min_scalar_type(len(reader.classes))))
        if batch.weight is not None:
            weights.append(batch.weight[there])
        if options.by is not None:
            groups.append(batch.rows.keys[options.by][there])
    weight = np.concatenate(weights) if weights else None
    known = {} if options.by is None else dict(reader.levels[options.by])
    return _Calibration(
        scores=LabelScores(
            score=np.concatenate(scores),
            label=np.concatenate(labels),
            weight=None if weight is None or (weight == 1).all() else weight,
        ),
        group=np.concatenate(groups) if groups else None,
        names=tuple(sorted(known, key=known.__getitem__)),
        classes=reader.classes,
        unnormalised=reader.unnormalised,
    )


def _thresholds(
    scores: LabelScores,
    classes: Sequence[str],
    options: ConformalOptions,
    alpha: Fraction,
    weights: Sequence[float] | None,
) -> list[float]:
    unknown = set(options.alpha_by_class) - set(classes)
    if unknown:
        raise UsageError(
            f"alpha for class '{min(unknown)}'", expected=f"classes among {', '.join(list(classes)[:12])}"
        )
    given = {name: parse_alpha(text) for name, text in options.alpha_by_class.items()}
    promise = Promise(alphas=[given.get(name, alpha) for name in classes], weights=weights)
    return THRESHOLDS[options.mode](scores, promise)


def _groups(calibration: _Calibration, options: ConformalOptions, alpha: Fraction) -> SavedGroups | None:
    """Thresholds of each group, by the marginal rule inside it; groups sorted by name."""
    if calibration.group is None or options.by is None:
        return None
    named = sorted((name, number) for number, name in enumerate(calibration.names))
    lines = []
    for name, number in named:
        part = calibration.scores.only(calibration.group == number)
        if part.rows:
            threshold = marginal_threshold(part.score, part.weight, alpha)
            lines.append((name, [threshold] * len(calibration.classes), part.rows))
    return SavedGroups(
        column=options.by,
        names=[name for name, _, _ in lines],
        thresholds=[line for _, line, _ in lines],
        calibration_rows=[rows for _, _, rows in lines],
    )


def _class_counts(scores: LabelScores, classes: int) -> list[int]:
    return [part.rows for part in (scores.only(scores.label == number) for number in range(classes))]


def _notes(artifact: ConformalArtifact, calibration: _Calibration, counts: Sequence[int]) -> list[str]:
    notes = []
    every = [
        name
        for name, threshold in zip(artifact.classes, artifact.thresholds, strict=True)
        if threshold >= EVERY_LABEL
    ]
    if len(every) == len(artifact.classes):
        notes.append(
            "Every set holds every class: alpha is too small for so few rows, or classes too unsure."
        )
    elif every:
        notes.append(f"In every set, for want of rows: {', '.join(every[:20])}.")
    unseen = [name for name, rows in zip(artifact.classes, counts, strict=True) if not rows]
    if unseen:
        notes.append(f"Classes without a row: {', '.join(unseen[:20])}.")
    return [*notes, *sum_notes(calibration.unnormalised)]
