"""``uqcli conformal``: find prediction sets with guaranteed coverage, and report their thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from uqcli.base.choices import ArtifactKind, ConformalMethod, ConformalMode
from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.draws import Purpose, uniforms
from uqcli.base.errors import UsageError, words
from uqcli.base.exact_numbers import decimal
from uqcli.base.notices import Notice
from uqcli.base.options import OptionalResampling, caution_confidence
from uqcli.base.records import dataclass
from uqcli.base.running.messages import doubt
from uqcli.base.wording import count, exact_number, printable
from uqcli.conformal.coverage import SCORES, THRESHOLDS, ClusteredScores, LabelScores, widened
from uqcli.conformal.groups import SavedGroups
from uqcli.conformal.options import ConformalRequest
from uqcli.conformal.rule import ConformalArtifact, ConformalParameters, format_of
from uqcli.engines.open import CLUSTERED_SETS, require_memory, reusable_streams
from uqcli.engines.probabilities import label_indices, positions_of
from uqcli.estimates.dependence import UnitSums, unit_sums
from uqcli.estimates.unit_trials import UnitTrials
from uqcli.reports.document import (
    Document,
    Figure,
    HeadCard,
    HoverText,
    KeyNumber,
    Metric,
    OneResult,
    Verdict,
    head_of,
)
from uqcli.reports.figures import BLUE, label_lines, level_colours
from uqcli.rules.labelled import ClassReader, sum_notes
from uqcli.rules.result import Result, inherit_doubts, keeps_doubts
from uqcli.rules.saved import SavedDependence, promise_name, refuse_unsavable
from uqcli.shift.options import ShiftRequest
from uqcli.shift.report import ShiftReport
from uqcli.shift.rule import ShiftArtifact, load_shift

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

METHODS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ConformalMethod.APS: "the likeliest classes until their probabilities together reach the threshold",
        ConformalMethod.LAC: "every class above a probability",
    }
)
"""Methods in words."""


@dataclass(frozen=True, kw_only=True)
class ConformalReport(OneResult):
    """Thresholds of prediction sets, and the calibration rows of each class, by weight."""

    artifact: ConformalArtifact
    rows_of_class: Sequence[int]
    notes: Sequence[Notice]

    @property
    def listed(self) -> list[Metric]:
        """Counts of rows and classes, and of classes that are in every set."""
        artifact = self.artifact
        always_in = sum(threshold >= artifact.every_label for threshold in artifact.thresholds)
        return [
            Metric("rows", "calibration rows", sum(self.rows_of_class), count),
            Metric("classes", "", len(artifact.classes)),
            Metric("always_in", "classes in every set", always_in, count),
        ]

    def _subject(self) -> str:
        if self.artifact.groups:
            return "the new rows of each group"
        subjects = {
            ConformalMode.LABEL_CONDITIONAL: "the new rows of each class",
            ConformalMode.LABEL_SHIFT: "the target data",
        }
        return subjects.get(self.artifact.mode, "new rows")

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        artifact = self.artifact
        return {
            **head_of("conformal", artifact.source, artifact.parameters),
            "metrics": dict(self.metrics),
            "classes": artifact.classes,
            "thresholds": artifact.thresholds,
            "weights": artifact.weights,
            "groups": msgspec.to_builtins(artifact.groups),
            "notes": list(self.notes),
        }

    def document(self) -> Document:
        """Return the readable form."""
        rows = count(self.artifact.source.rows)
        return Document(
            title=self._title(),
            lead=[self.artifact.guarantee()],
            tables=self.artifact.tables(self.rows_of_class),
            cautions=self.notes,
            notes=[
                f"Method and mode: {self.artifact.in_short()}, from {rows} calibration rows.",
                f"{self.artifact.method}: {METHODS[self.artifact.method]}.",
            ],
            next="evaluate {rule} TEST.csv",
            card=self._card(),
            figures=[
                replace(thresholds_figure(self.artifact), on_page=len(set(self.artifact.thresholds)) > 1)
            ],
        )

    def _title(self) -> str:
        if self.artifact.unsealed:
            return self.artifact.guarantee()
        return (
            "Each row gets a set of plausible classes, which contains the true class for at least "
            f"{100 * (1 - self.artifact.alpha):g} % of {self._subject()}, on average."
        )

    def _card(self) -> HeadCard:
        artifact = self.artifact
        guaranteed = f"{100 * (1 - artifact.alpha):g} %"
        rows, _, always_in = self.listed
        return HeadCard(
            title=self._title(),
            verdict=Verdict(text=artifact.guarantee().partition(":")[0].lower(), tone="bad")
            if artifact.unsealed
            else Verdict(text="guaranteed on average", tone="good"),
            subject="Fitted on {inputs}. Each row gets the set of classes that are plausible for it.",
            numbers=[
                KeyNumber(label="guaranteed coverage", value=guaranteed, interval=f"mode {artifact.mode}"),
                rows.number(),
                always_in.number(f"of {len(artifact.classes)} classes"),
            ],
        )


_MAX_CLASSES: Final = 40
_MAX_GROUPS: Final = 6


def thresholds_figure(artifact: ConformalArtifact) -> Figure:
    """Build a figure with one line per class: the thresholds of all rows, or of the first groups."""
    names = artifact.classes[:_MAX_CLASSES]
    lines = {"all rows": artifact.thresholds}
    if artifact.groups:
        groups = zip(artifact.groups.names, artifact.groups.thresholds, strict=True)
        lines = dict([*groups][:_MAX_GROUPS])

    end = max([1.0, *(threshold for thresholds in lines.values() for threshold in thresholds)])

    def draw(canvas: Canvas) -> list[HoverText]:
        axes, texts = canvas.subplots(), []
        colours = [BLUE] if len(lines) == 1 else level_colours(len(lines))
        for (line, thresholds), colour in zip(lines.items(), colours, strict=True):
            shown = thresholds[: len(names)]
            axes.plot(
                shown, range(len(shown)), color=colour, marker="o", linestyle="", label=printable(line, 28)
            )
            for number, (name, threshold) in enumerate(zip(names, shown, strict=True)):
                text = f"class {printable(name)}, {printable(line, 28)}: threshold {exact_number(threshold)}"
                texts.append(HoverText(axes=axes, x=(threshold,) * 2, y=(number,) * 2, text=text))
        axes.set(
            xlabel="threshold of the nonconformity score", ylabel="class", xlim=(-0.02 * end, 1.02 * end)
        )
        label_lines(axes, names)
        if len(lines) > 1:
            axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, ncols=3, borderpad=0)
        return texts

    which = (
        f" of {len(names)} of {count(len(artifact.classes))}" if len(names) < len(artifact.classes) else ""
    )
    height = 1.3 + 0.3 * len(names)
    return Figure(
        title=f"Threshold of each class{which}",
        caption="A class is in the set if its nonconformity score is at most the threshold. Farther right: "
        f"in more sets; at {artifact.every_label:g}: in every set.",
        width=7.0,
        height=height,
        narrow_height=height,
        draw=draw,
    )


@keeps_doubts
def run(request: ConformalRequest) -> Result[ConformalReport | ShiftReport, ConformalArtifact | None]:
    """Find the thresholds of prediction sets."""
    alpha = parse_alpha(request.alpha)
    caution_confidence("--alpha", float(alpha))
    if request.shift is not None and request.target:
        raise UsageError(words("--shift and --target cannot be combined"), remedy="leave one of them out")
    shift = None if request.shift is None else load_shift(request.shift)
    if request.data.roles.cluster is not None:
        require_memory(request.data, CLUSTERED_SETS)
    if not request.target:
        return _fitted(request, alpha, shift)
    if request.mode is not ConformalMode.LABEL_SHIFT:
        raise UsageError(words("--target with mode {}", request.mode), expected=words("--mode label-shift"))
    from uqcli.shift.run import run as run_shift  # its tests load more than thresholds of sets need

    with reusable_streams():  # also read for the class weights
        estimated = run_shift(
            ShiftRequest(data=request.data, target=request.target, resampling=OptionalResampling(bootstrap=0))
        )
        if not estimated.artifact:
            return Result(report=estimated.report, artifact=None, failure=estimated.failure)
        inherit_doubts(estimated.artifact)
        return _fitted(request, alpha, estimated.artifact)


def _fitted(
    request: ConformalRequest, alpha: Fraction, shift: ShiftArtifact | None
) -> Result[ConformalReport, ConformalArtifact]:
    _check(request, shift)
    reader = ClassReader(request.data.without("uncertainty").grouped_by(request.by))
    method, mode, by, roles = request.method, request.mode, request.by, request.data.roles
    randomizes = not request.no_randomize and method is ConformalMethod.APS
    scores, keys = _scores(reader, method, seed=request.seed if randomizes else None, cluster=roles.cluster)
    classes = reader.classes
    weights = shift.weights_for(classes) if shift else None
    counts = [scores.select(scores.label == index).rows for index in range(len(classes))]
    saved = partial(_saved_threshold, method=method, is_single="score" in roles.numbers)
    alphas = _alphas(classes, alpha, dict(request.alpha_by_class))
    thresholds = _thresholds(scores, mode, alphas, weights, saved)
    groups = None if by is None else _groups(scores, keys[by], by=by, reader=reader, alpha=alpha, saved=saved)
    artifact = ConformalArtifact(
        kind=ArtifactKind.CONFORMAL,
        format_version=format_of(method, [thresholds, *(groups.thresholds if groups else ())]),
        source=reader.source,
        parameters=_parameters(request),
        method=method,
        mode=mode,
        alpha=float(alpha),
        classes=list(classes),
        thresholds=thresholds,
        weights=weights,
        groups=groups,
        calibration_rows=counts,
    )
    if isinstance(scores, ClusteredScores):
        promises = _dependence(artifact, scores, keys, reader.levels)
        dependence = SavedDependence(column=scores.column, promises=promises)
        artifact = msgspec.structs.replace(artifact, dependence=dependence)
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
        alpha_by_class=dict(request.alpha_by_class) or None,
        randomize=not request.no_randomize,
        seed=request.seed,
        by=request.by,
        on_invalid=request.data.on_invalid,
        positive=request.data.positive_value,
    )


def parse_alpha(text: str) -> Fraction:
    """Parse an alpha, a decimal in (0, 1), as an exact fraction."""
    return decimal("alpha", text, above=0, below=1)


def _check(request: ConformalRequest, shift: ShiftArtifact | None) -> None:
    shifted = request.mode is ConformalMode.LABEL_SHIFT
    if shifted and not shift:
        raise UsageError("mode label-shift without class weights", expected=words("--shift or --target"))
    if not shifted and shift:
        raise UsageError(f"class weights with mode {request.mode}", expected=words("--mode label-shift"))
    if request.alpha_by_class and request.mode is not ConformalMode.LABEL_CONDITIONAL:
        raise UsageError(
            f"alphas by class with mode {request.mode}", expected=words("--mode label-conditional")
        )
    if shifted and request.data.roles.cluster is not None:
        raise UsageError(
            words("--cluster with mode label-shift"), expected=words("--mode marginal or label-conditional")
        )
    if request.by is not None and request.mode is not ConformalMode.MARGINAL:
        raise UsageError(f"groups with mode {request.mode}", expected=words("--mode marginal"))


def _scores(
    reader: ClassReader, method: ConformalMethod, *, seed: int | None, cluster: str | None
) -> tuple[LabelScores, Mapping[str, Ints]]:
    """Read the scores of the rows' labels, and the groups of the rows by each key.

    With a seed, scores are drawn. Each batch is reduced to these scores, so that memory does not grow with
    the classes.
    """
    scores: list[Floats] = []
    labels: list[Ints] = []
    weights: list[Ints] = []
    keys: dict[str, list[Ints]] = {}
    for rows in reader:
        label = label_indices(rows)
        # rows of weight 0 are ignored: their scores are no candidate thresholds
        present = slice(None) if rows.weight is None else rows.weight > 0
        uniform = np.ones(len(rows)) if seed is None else uniforms(positions_of(rows), seed, Purpose.FIT)
        score = SCORES[method].label_scores(reader.probabilities(rows), label, uniform)
        scores.append(score[present])
        labels.append(label[present].astype(np.min_scalar_type(len(reader.classes))))
        if rows.weight is not None:
            weights.append(rows.weight[present])
        for key, group in rows.groups.items():
            keys.setdefault(key, []).append(group[present])
    weight = np.concatenate(weights) if weights else np.ones(1, dtype=np.int64)
    by_key = {key: np.concatenate(groups) for key, groups in keys.items()}
    label_scores = LabelScores(
        score=np.concatenate(scores),
        label=np.concatenate(labels),
        weight=None if (weight == 1).all() else weight,
    )
    if cluster is not None:
        label_scores = ClusteredScores(**vars(label_scores), column=cluster, cluster=by_key[cluster])
    return label_scores, by_key


def _alphas(classes: Sequence[str], alpha: Fraction, by_class: Mapping[str, str]) -> list[Fraction]:
    """Return the alpha of each class, of which some have their own."""
    unknown = set(by_class) - set(classes)
    if unknown:
        raise UsageError(
            f"alpha for class '{min(unknown)}'", expected=f"classes among {', '.join(list(classes)[:12])}"
        )
    own = {name: parse_alpha(text) for name, text in by_class.items()}
    return [own.get(name, alpha) for name in classes]


_Saved = Callable[[float, Floats], float]
"""Function from a threshold, and the scores among which it was found, to the threshold to save."""


def _thresholds(
    scores: LabelScores,
    mode: ConformalMode,
    alphas: Sequence[Fraction],
    weights: Sequence[float] | None,
    saved: _Saved,
) -> list[float]:
    thresholds = THRESHOLDS[mode](scores, alphas, weights)
    if mode is not ConformalMode.LABEL_CONDITIONAL:
        of_all = {threshold: saved(threshold, scores.score) for threshold in set(thresholds)}
        return [of_all[threshold] for threshold in thresholds]
    return [
        saved(threshold, scores.score[scores.label == label]) for label, threshold in enumerate(thresholds)
    ]


def _saved_threshold(threshold: float, scores: Floats, *, method: ConformalMethod, is_single: bool) -> float:
    threshold = min(threshold, SCORES[method].every_label)
    return widened(threshold, scores, is_single=is_single) if method is ConformalMethod.LAC else threshold


def _groups(
    scores: LabelScores, group: Ints, *, by: str, reader: ClassReader, alpha: Fraction, saved: _Saved
) -> SavedGroups:
    """Return the thresholds by group, from the marginal rule within each; groups sorted by name."""
    refuse_unsavable(reader.levels[by])
    groups = []
    for name, index in sorted(reader.levels[by].items()):
        part = scores.select(group == index)
        if part.rows:
            threshold = saved(part.threshold(alpha), part.score)
            groups.append((name, [threshold] * len(reader.classes), part.rows))
    return SavedGroups(
        column=by,
        names=[name for name, _, _ in groups],
        thresholds=[thresholds for _, thresholds, _ in groups],
        calibration_rows=[rows for _, _, rows in groups],
    )


def _dependence(
    artifact: ConformalArtifact,
    scores: ClusteredScores,
    keys: Mapping[str, Ints],
    levels: Mapping[str, Mapping[str, int]],
) -> dict[str, UnitSums]:
    """Sum up how the coverage of the rows behind each threshold depends on their cluster."""
    groups, thresholds = artifact.groups, artifact.thresholds
    everywhere = np.ones(len(scores.score), dtype=np.bool_)
    parts: list[tuple[str | None, Bools, float]] = [(None, everywhere, thresholds[0])]
    if groups:
        group, names = keys[groups.column], zip(groups.names, groups.thresholds, strict=True)
        parts = [(name, group == levels[groups.column][name], threshold) for name, (threshold, *_) in names]
    elif artifact.mode is ConformalMode.LABEL_CONDITIONAL:
        of_class = enumerate(zip(artifact.classes, thresholds, strict=True))
        parts = [(name, scores.label == label, threshold) for label, (name, threshold) in of_class]
    promises = {}
    for name, chosen, threshold in parts:
        rows = scores.select(chosen)
        if not len(rows.score):
            continue
        trials = UnitTrials()
        trials.add(np.zeros_like(rows.cluster), rows.cluster, rows.weight, rows.score <= threshold)
        promises[promise_name("coverage", name)] = unit_sums(*trials.of(None))
    return promises


def _notes(artifact: ConformalArtifact, counts: Sequence[int]) -> list[Notice]:
    notes = list[Notice]()
    always_in = [
        name
        for name, threshold in zip(artifact.classes, artifact.thresholds, strict=True)
        if threshold >= artifact.every_label
    ]
    if len(always_in) == len(artifact.classes):
        notes.append(Notice("every-class", "every set holds every class; use more rows or a larger alpha."))
    elif always_in:
        listed = ", ".join(always_in[:20])
        notes.append(Notice("always-in-set", f"too few rows, so these classes are in every set: {listed}."))
    unseen = [name for name, rows in zip(artifact.classes, counts, strict=True) if not rows]
    if unseen:
        notes.append(Notice("absent-class", f"classes without rows: {', '.join(unseen[:20])}."))
    return notes
