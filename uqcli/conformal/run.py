"""``uqcli conformal``: find prediction sets with guaranteed coverage."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from uqcli.base.choices import ArtifactKind, ConformalMethod, ConformalMode
from uqcli.base.counts import Floats, Ints
from uqcli.base.draws import Purpose, uniforms
from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import decimal
from uqcli.base.options import OptionalResampling, caution_confidence
from uqcli.base.running.cautions import doubt
from uqcli.conformal.options import ConformalRequest
from uqcli.conformal.report import ConformalReport
from uqcli.conformal.rule import ConformalArtifact, ConformalParameters, SavedGroups, format_of
from uqcli.conformal.scores import SCORES, THRESHOLDS, LabelScores
from uqcli.engines.open import reusable_streams
from uqcli.engines.probabilities import label_indices, positions_of
from uqcli.rules.labelled import ClassReader, sum_notes
from uqcli.rules.result import Result, inherit_doubts, keeps_doubts
from uqcli.shift.options import ShiftRequest
from uqcli.shift.report import ShiftReport
from uqcli.shift.rule import ShiftArtifact, load_shift
from uqcli.shift.run import run as run_shift


@keeps_doubts
def run(request: ConformalRequest) -> Result[ConformalReport | ShiftReport, ConformalArtifact | None]:
    """Find the thresholds of prediction sets.

    Raises
    ------
    UsageError, DataError, ArtifactError
        An option is out of range, classes differ, or rows or class weights cannot be read.
    """
    alpha = parse_alpha(request.alpha)
    caution_confidence("--alpha", float(alpha))
    if request.shift is not None and request.target is not None:
        raise UsageError("--shift and --target cannot be combined", remedy="leave one of them out")
    shift = None if request.shift is None else load_shift(request.shift)
    if request.target is None:
        return _fitted(request, alpha, shift)
    if request.mode is not ConformalMode.LABEL_SHIFT:
        raise UsageError(f"--target with mode {request.mode}", expected="--mode label-shift")
    with reusable_streams():  # also read for the class weights
        estimated = run_shift(
            ShiftRequest(data=request.data, target=request.target, resampling=OptionalResampling(bootstrap=0))
        )
        if estimated.artifact is None:
            return Result(report=estimated.report, artifact=None, failure=estimated.failure)
        inherit_doubts(estimated.artifact)
        return _fitted(request, alpha, estimated.artifact)


def _fitted(
    request: ConformalRequest, alpha: Fraction, shift: ShiftArtifact | None
) -> Result[ConformalReport, ConformalArtifact]:
    _check(request, shift)
    reader = ClassReader(request.data.without("uncertainty").grouped_by(request.by))
    scores, group = _scores(reader, request)
    classes = reader.classes
    weights = None if shift is None else shift.weights_for(classes)
    counts = [scores.select(scores.label == index).rows for index in range(len(classes))]
    thresholds = _thresholds(scores, classes, request, alpha, weights)
    groups = None if group is None else _groups(scores, group, reader, request, alpha)
    artifact = ConformalArtifact(
        kind=ArtifactKind.CONFORMAL,
        format_version=format_of(request.method, [thresholds, *(groups.thresholds if groups else ())]),
        source=reader.source,
        parameters=_parameters(request),
        method=request.method,
        mode=request.mode,
        alpha=float(alpha),
        classes=list(classes),
        thresholds=thresholds,
        weights=weights,
        groups=groups,
        calibration_rows=counts,
    )
    notes = [*_notes(artifact, counts), *sum_notes(reader.unnormalised)]
    for sentence in notes:
        doubt(sentence)
    report = ConformalReport(artifact=artifact, rows_of_class=counts, notes=notes)
    return Result(report=report, artifact=artifact)


def _parameters(request: ConformalRequest) -> ConformalParameters:
    return ConformalParameters(
        method=request.method,
        mode=request.mode,
        alpha=request.alpha,
        alpha_by_class=dict(request.alpha_by_class or {}) or None,
        randomize=not request.no_randomize,
        seed=request.seed,
        by=request.by,
        on_invalid=request.data.on_invalid,
        positive=request.data.positive_value,
    )


def parse_alpha(text: str) -> Fraction:
    """Parse an alpha as an exact fraction.

    Raises
    ------
    UsageError
        It is not a decimal in (0, 1).
    """
    return decimal("alpha", text, above=0, below=1)


def _check(request: ConformalRequest, shift: ShiftArtifact | None) -> None:
    shifted = request.mode is ConformalMode.LABEL_SHIFT
    if shifted and shift is None:
        raise UsageError("mode label-shift without class weights", expected="--shift or --target")
    if not shifted and shift is not None:
        raise UsageError(f"class weights with mode {request.mode}", expected="--mode label-shift")
    if request.alpha_by_class and request.mode is not ConformalMode.LABEL_CONDITIONAL:
        raise UsageError(f"alphas by class with mode {request.mode}", expected="--mode label-conditional")
    if shifted and request.data.roles.cluster is not None:
        raise UsageError("--cluster with mode label-shift", expected="--mode marginal or label-conditional")
    if request.by is not None and request.mode is not ConformalMode.MARGINAL:
        raise UsageError(f"groups with mode {request.mode}", expected="--mode marginal")


def _scores(reader: ClassReader, request: ConformalRequest) -> tuple[LabelScores, Ints | None]:
    """Read the scores of the rows' labels, and the group of each row if there are groups.

    Each batch is reduced to these scores, so that memory does not grow with the classes.
    """
    scores: list[Floats] = []
    labels: list[Ints] = []
    weights: list[Ints] = []
    groups: list[Ints] = []
    clusters: list[Ints] = []
    for rows in reader:
        label = label_indices(rows)
        # rows of weight 0 are ignored: their scores are no candidate thresholds
        present = slice(None) if rows.weight is None else rows.weight > 0
        uniform = np.ones(len(rows))
        if not request.no_randomize and request.method is ConformalMethod.APS:
            uniform = uniforms(positions_of(rows), request.seed, Purpose.FIT)
        score = SCORES[request.method].label_scores(reader.probabilities(rows), label, uniform)
        scores.append(score[present])
        labels.append(label[present].astype(np.min_scalar_type(len(reader.classes))))
        if rows.weight is not None:
            weights.append(rows.weight[present])
        if request.by is not None:
            groups.append(rows.groups[request.by][present])
        if (cluster := request.data.roles.cluster) is not None:
            clusters.append(rows.groups[cluster][present])
    weight = np.concatenate(weights) if weights else None
    label_scores = LabelScores(
        score=np.concatenate(scores),
        label=np.concatenate(labels),
        weight=None if weight is None or (weight == 1).all() else weight,
        cluster=np.concatenate(clusters) if clusters else None,
    )
    return label_scores, np.concatenate(groups) if groups else None


def _thresholds(
    scores: LabelScores,
    classes: Sequence[str],
    request: ConformalRequest,
    alpha: Fraction,
    weights: Sequence[float] | None,
) -> list[float]:
    unknown = set(request.alpha_by_class or ()) - set(classes)
    if unknown:
        raise UsageError(
            f"alpha for class '{min(unknown)}'", expected=f"classes among {', '.join(list(classes)[:12])}"
        )
    own = {name: parse_alpha(text) for name, text in (request.alpha_by_class or {}).items()}
    thresholds = THRESHOLDS[request.mode](scores, [own.get(name, alpha) for name in classes], weights)
    every_label = SCORES[request.method].every_label
    return [min(threshold, every_label) for threshold in thresholds]


def _groups(
    scores: LabelScores, group: Ints, reader: ClassReader, request: ConformalRequest, alpha: Fraction
) -> SavedGroups:
    """Return the thresholds by group, from the marginal rule within each; groups sorted by name."""
    by, every_label = request.by or "", SCORES[request.method].every_label
    groups = []
    for name, index in sorted(reader.levels[by].items()):
        part = scores.select(group == index)
        if part.rows:
            threshold = min(part.threshold(alpha), every_label)
            groups.append((name, [threshold] * len(reader.classes), part.rows))
    return SavedGroups(
        column=by,
        names=[name for name, _, _ in groups],
        thresholds=[thresholds for _, thresholds, _ in groups],
        calibration_rows=[rows for _, _, rows in groups],
    )


def _notes(artifact: ConformalArtifact, counts: Sequence[int]) -> list[str]:
    notes = []
    always_in = [
        name
        for name, threshold in zip(artifact.classes, artifact.thresholds, strict=True)
        if threshold >= artifact.every_label
    ]
    if len(always_in) == len(artifact.classes):
        notes.append("every set holds every class; use more rows or a larger alpha.")
    elif always_in:
        notes.append(f"too few rows, so these classes are in every set: {', '.join(always_in[:20])}.")
    unseen = [name for name, rows in zip(artifact.classes, counts, strict=True) if not rows]
    if unseen:
        notes.append(f"classes without rows: {', '.join(unseen[:20])}.")
    return notes
