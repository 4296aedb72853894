"""Report of ``uqcli shift``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from uqcli.base.choices import ShiftEstimator
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, p_text, percent, printable
from uqcli.estimates.estimate import UNKNOWN, Estimate, ends_of
from uqcli.estimates.resampling import MIN_CLASS_ROWS
from uqcli.reports.document import (
    Document,
    Figure,
    HeadCard,
    HoverText,
    KeyNumber,
    Metrics,
    MetricValue,
    OneResult,
    Verdict,
    head_of,
    plain,
)
from uqcli.reports.figures import BLUE, INK, label_lines
from uqcli.rules.saved import Source
from uqcli.shift.estimators import ClassWeights
from uqcli.shift.mixture import MixtureTest
from uqcli.shift.rule import ShiftArtifact, ShiftParameters

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_LEVEL = 0.05
_MAX_CALIBRATION_ERROR = 0.05
_MAX_NAMED = 20
_MAX_CONDITION = 100
_MAX_CLASSES: Final = 40
"""Most classes in the figure; those whose priors differ most are shown."""

ESTIMATORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ShiftEstimator.BBSE: "from predicted classes, corrected for the mistakes seen on the labelled rows",
        ShiftEstimator.EM: "by maximum likelihood, from probabilities that it calibrates",
        ShiftEstimator.KNOWN: "as given",
    }
)
"""Estimators in words."""

ClassShare = tuple[str, Estimate, Estimate]
"""Name of a class, its prior in the source data, and its estimate in the target data."""


@dataclass(frozen=True, kw_only=True)
class ShiftReport(OneResult):
    """Class weights, or why there are none.

    ``no_shift`` tests whether source and target data have the same predicted classes: by rows, or by day or
    cluster. ``mixture`` tests whether the target data are a mixture of the classes of the source data.
    ``confidence`` is that of all intervals. ``calibration`` is the mean over the classes of the ECE on the
    source data; for EM of its calibrated probabilities, each from labelled rows without that row.
    ``source_shares`` are the priors in the source data, with their exact intervals. ``failed_draws`` are
    bootstrap draws without an estimate, which the intervals leave out.
    """

    source: Source
    classes: tuple[str, ...]
    source_shares: Sequence[Estimate]
    target_rows: int
    parameters: ShiftParameters
    artifact: ShiftArtifact | None
    weights: ClassWeights | None
    no_shift: MixtureTest
    mixture: MixtureTest
    confidence: float
    calibration: float
    failed_draws: int
    failure: str | None

    @property
    def metrics(self) -> Metrics:
        """P-values, condition, calibration error, and the weight and priors of each class."""
        metrics: dict[str, MetricValue] = {
            "shift_p": self.no_shift.p_value,
            "mixture_p": self.mixture.p_value,
            "smallest_singular": None if self.weights is None else self.weights.smallest_singular,
            "condition": None if self.weights is None else self.weights.condition,
            "calibration_error": self.calibration,
        }
        undefined: dict[str, MetricValue] = dict.fromkeys(self.classes)
        metrics["weights"] = undefined if self.artifact is None else self.artifact.estimates()
        metrics["weights_p"] = {**undefined, **self._p_values}
        metrics["target_prior"] = (
            undefined
            if self.artifact is None
            else dict(zip(self.artifact.classes, self.artifact.target_prior, strict=True))
        )
        metrics["class_shares"] = {
            name: {"source": source, "target": target} for name, source, target in self.class_shares
        }
        return metrics

    @property
    def class_shares(self) -> list[ClassShare]:
        """Priors of each class in source and target data."""
        targets = [UNKNOWN] * len(self.classes)
        if self.artifact is not None:
            targets = self.artifact.target_shares()
        return list(zip(self.classes, self.source_shares, targets, strict=True))

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **head_of("shift", self.source, self.parameters),
            "target": {"rows": self.target_rows},
            "metrics": plain(self.metrics),
            "changed": self._named,
            "notes": [*self._lead(), *self.cautions(), *self._notes()],
        }

    def document(self) -> Document:
        """Return the readable form."""
        card = self._card()
        tables = [] if self.artifact is None else [self.artifact.table(self.source_shares)]
        figures = [] if self.artifact is None else [shares_figure(self.class_shares, self.confidence)]
        return Document(
            title=self._title(),
            lead=self._lead(),
            tables=tables,
            cautions=self.cautions(),
            notes=self._notes(),
            next="" if card.action or self.artifact is None else "evaluate RULE.json TEST.csv --shift {rule}",
            figures=figures,
            card=card,
        )

    def _title(self) -> str:
        """State whether the classes are as frequent in the new rows, and which changed most."""
        if self.mixture.rejects:
            return (
                "More changed than how frequent the classes are: the new rows are not a mixture of the "
                f"labelled classes ({p_text(self.mixture.p_value)})."
            )
        if self.artifact is None:
            return f"No class weights: {self.failure}."
        return self._frequencies() if self.target_rows else self._by_the_prior(self.artifact)

    def _frequencies(self) -> str:
        """State whether the classes are as frequent, as far as it was tested."""
        if self.no_shift.p_value is None:
            return f"Whether the classes differ in frequency was not tested: {self.no_shift.reason}."
        tested = f"{p_text(self.no_shift.p_value)}, {self._test}"
        if not self._differ:
            return f"No significant change in how frequent the classes are ({tested})."
        name = self._named
        if name is None:
            return f"The classes differ in frequency between the files ({tested})."
        rows = f"{count(self.target_rows)} unlabelled rows"
        weight = next(weight.value for changed, weight in self._changed if changed == name)
        return (
            f"Class {printable(name, 30)} is {_times(weight or 0.0)} in the {rows} as in the labelled ones."
        )

    def _by_the_prior(self, artifact: ShiftArtifact) -> str:
        """State what a given prior says without rows."""
        weights = dict(zip(artifact.classes, artifact.weights, strict=True))
        name = max(weights, key=lambda name: abs(weights[name] - 1))
        return (
            f"By the given prior, class {printable(name, 30)} is {_times(weights[name])} as in the "
            "labelled rows."
        )

    @property
    def _test(self) -> str:
        """Name of the test of equal predicted classes."""
        if self.no_shift.units is None:
            return "G-test"
        return f"test between {self._units}"

    @property
    def _units(self) -> str:
        return "clusters" if self.parameters.day is msgspec.UNSET else "days"

    @property
    def _differ(self) -> bool:
        """Whether the predicted classes differ significantly."""
        return self.no_shift.p_value is not None and self.no_shift.p_value < _LEVEL

    @property
    def _p_values(self) -> dict[str, float]:
        return {} if self.artifact is None else self.artifact.p_values()

    @property
    def _significant(self) -> list[str]:
        """Classes whose frequency changed significantly, those farthest from a weight of 1 first.

        There are none unless the predicted classes also differ.
        """
        if self.artifact is None or not self._differ:
            return []
        distances = {
            name: abs(weight - 1)
            for name, weight in zip(self.artifact.classes, self.artifact.weights, strict=True)
        }
        shown = [name for name, p_value in self._p_values.items() if p_value <= _LEVEL]
        return sorted(shown, key=lambda name: -distances[name])

    @property
    def _named(self) -> str | None:
        """Class that the report names as changed; None if none is shown to have."""
        return next(iter(self._significant), None)

    @property
    def _changed(self) -> list[tuple[str, Estimate]]:
        """Classes and their weights, those farthest from 1 first."""
        if self.artifact is None:
            return []
        weights = [
            (name, weight)
            for name, weight in self.artifact.estimates().items()
            if isinstance(weight, Estimate) and weight.value is not None
        ]
        return sorted(weights, key=lambda pair: -abs(math.log(max(pair[1].value or 0, 1e-9))))

    def _card(self) -> HeadCard:
        """Build the head of the page, with the classes whose weights are farthest from 1."""
        subject = (
            f"{{inputs}}: {count(self.source.rows)} labelled rows compared with "
            f"{count(self.target_rows)} unlabelled target rows."
        )
        if self.mixture.rejects:
            return HeadCard(
                title=self._title(),
                subject=subject,
                verdict=Verdict(text="not a label shift", tone="bad"),
                action="Label some of the new rows: more than class priors changed.",
            )
        verdict = None
        if self.no_shift.p_value is not None:
            verdict = Verdict(text="significant difference" if self._differ else "no significant difference")
        if self.artifact is None:
            return HeadCard(title=self._title(), verdict=Verdict(text="failed", tone="bad"))
        return HeadCard(
            title=self._title(),
            subject=subject,
            action="" if self.no_shift.p_value is None or self._differ else self._action(),
            verdict=verdict,
            numbers=[
                KeyNumber(
                    label=f"frequency of class {printable(name, 20)}",
                    value=f"x {weight.value:.2f}",
                    interval=ends_of(weight, ".2f").strip(" []").replace(", ", " to "),
                )
                for name, weight in self._changed[:3]
            ],
        )

    def _action(self) -> str:
        """State what to do if no change is significant."""
        few = self.target_rows < MIN_CLASS_ROWS * len(self.classes)
        if few or all((target.low, target.high) == (0, 1) for _, _, target in self.class_shares):
            return "Use more target rows, or label some: these do not show how frequent the classes are."
        return "Nothing needs to change; label some target rows to be surer."

    @property
    def _has_intervals(self) -> bool:
        return self.artifact is not None and self.artifact.interval is not None

    def _lead(self) -> list[str]:
        """State whether predicted classes differ; empty if a caution says that more than priors changed."""
        if self.mixture.rejects or not self.target_rows:
            return []
        differ = "differ" if self._differ else "do not differ significantly"
        tested = f"Predicted classes {differ} ({p_text(self.no_shift.p_value)}, {self._test})."
        is_said = self.no_shift.p_value is None or self._test in self._title()
        return [*([] if is_said else [tested]), *self._untested()]

    def _untested(self) -> list[str]:
        """State why it was not tested whether this is a label shift; empty if it was."""
        if self.mixture.p_value is not None:
            return []
        return [f"Whether only class priors changed was not tested: {self.mixture.reason}."]

    def cautions(self) -> list[Notice]:
        """Collect the cautions of this result."""
        notices = list[Notice]()
        if self.mixture.rejects:
            notices.append(
                Notice(
                    "not-a-mixture",
                    "the new rows are not a mixture of the labelled classes "
                    f"({p_text(self.mixture.p_value)}), so do not rely on the weights: label some of the new "
                    "rows to see what changed.",
                )
            )
        if 0 < self.target_rows < MIN_CLASS_ROWS * len(self.classes):
            notices.append(
                Notice(
                    "few-target-rows",
                    f"there are fewer than {MIN_CLASS_ROWS} unlabelled rows for each class, too few for "
                    "intervals: use more of them.",
                )
            )
        weights = self.weights
        if weights is not None and weights.condition is not None and weights.condition > _MAX_CONDITION:
            notices.append(
                Notice(
                    "ill-conditioned",
                    f"the weights are unreliable, since the classifier confuses classes too often (condition "
                    f"{weights.condition:.3g}): merge classes, or use a better classifier.",
                )
            )
        if self.parameters.estimator == "em" and self.calibration > _MAX_CALIBRATION_ERROR:
            notices.append(
                Notice(
                    "uncalibrated",
                    f"EM's calibration leaves an ECE of {self.calibration:.3g} on the labelled rows: try "
                    "--estimator bbse.",
                )
            )
        if weights is not None and weights.clipped and self.artifact is not None:
            names = ", ".join(self.artifact.classes[number] for number in weights.clipped[:20])
            notices.append(
                Notice(
                    "clipped-weights",
                    f"negative class weights were set to 0 (class {names}): use more labelled rows of "
                    "these classes.",
                )
            )
        if self.failed_draws:
            ends = "the intervals leave them out." if self._has_intervals else "there are no intervals."
            notices.append(
                Notice(
                    "failed-draws",
                    f"{self.failed_draws} of {self.parameters.bootstrap} draws had no estimate, so {ends}",
                )
            )
        return notices

    def _notes(self) -> list[str]:
        notes = [] if self.failure is None else [f"No class weights: {self.failure}."]
        notes.append(f"{self.parameters.estimator}: {ESTIMATORS[self.parameters.estimator]}.")
        if self.parameters.estimator is ShiftEstimator.EM:
            scaling = "Platt" if len(self.classes) == 2 else "vector"
            notes.append(f"EM calibrated the probabilities on the labelled rows first ({scaling} scaling).")
        if self.artifact is not None:
            notes += [
                "A weight above 1 means that the class is more frequent in the target data.",
                "The weights assume that only class frequencies changed; label some target rows to check.",
            ]
        notes += self._about_mixture()
        if self.artifact is not None:
            notes += self._about_weights()
        weights = self.weights
        if weights is not None and weights.condition is not None:
            number = f"The condition number of the confusion matrix is {weights.condition:.3g}"
            notes.append(f"{number}; the closer it is to 1, the more reliable the weights are.")
        return notes

    def _about_mixture(self) -> list[str]:
        """State the test of label shift, what it takes for granted, and what it cannot see."""
        test = self.mixture
        if test.p_value is None:
            return [] if self.target_rows else self._untested()
        taken = (
            "The test assumes that rows are independent: if they are not, name the column of their days "
            "or customers (--day, --cluster)."
        )
        if test.units is not None:
            taken = (
                f"It takes the rows of {self._units} as dependent ({count(test.units)} {self._units} or more "
                "in each file)."
            )
        return [
            "The assumption that the new rows are a mixture of the labelled classes was tested: "
            f"{p_text(test.p_value)}. {taken}",
            "The test can miss a change within a class that looks like a mixture of the old classes, "
            "such as positives that now score lower.",
        ]

    def _about_weights(self) -> list[str]:
        """List the classes that changed, and state what the intervals of the weights take for granted."""
        if not self._has_intervals:
            return []
        sentences = []
        if self.no_shift.p_value is not None:
            names = [printable(name) for name in self._significant]
            listed = ", ".join(names[:_MAX_NAMED]) + (" and more" if len(names) > _MAX_NAMED else "")
            sentences.append(
                f"Classes that changed significantly (the {self._test}, then the interval of each weight, "
                f"adjusted for all classes): {listed or 'none'}."
            )
        if not isinstance(self.parameters.day, msgspec.UnsetType) or not isinstance(
            self.parameters.cluster, msgspec.UnsetType
        ):
            sentences.append(
                f"The {100 * self.confidence:g} % intervals of the weights take rows as independent, so they "
                f"are too narrow if the rows of {self._units} are alike."
            )
        if self.parameters.seed is not None:
            sentences.append(f"The random seed ({self.parameters.seed}) affects the intervals.")
        return sentences


_FRACTIONS: Final = {1: "", 2: "half", 3: "a third", 4: "a quarter", 5: "a fifth"}


def _times(weight: float) -> str:
    """Describe a class weight in words.

    >>> _times(0.34), _times(2.04), _times(1.004)
    ('a third as frequent', '2 times as frequent', 'as frequent')
    """
    if round(weight, 2) == 1:
        return "as frequent"
    part = _FRACTIONS.get(round(1 / weight)) if weight else None
    if part and abs(weight * round(1 / weight) - 1) < 0.05:
        return f"{part} as frequent"
    return f"{weight:.2g} times as frequent"


def shares_figure(shares: Sequence[ClassShare], confidence: float) -> Figure:
    """Build a figure with one line per class, in the order of the classes."""
    chosen = _most_different(shares)
    lines = len(chosen)

    def draw(canvas: Canvas) -> list[HoverText]:
        axes = canvas.subplots()
        texts = []
        names, *sides = zip(*chosen, strict=True)
        styles = ((-0.16, INK, "D", "source"), (0.16, BLUE, "o", "target"))
        for estimates, (offset, colour, marker, data) in zip(sides, styles, strict=True):
            for index, (name, estimate) in enumerate(zip(names, estimates, strict=True)):
                position = index + offset
                if estimate.low is not None and estimate.high is not None:
                    axes.plot(
                        [estimate.low, estimate.high], [position, position], color=colour, linewidth=1.6
                    )
                style: dict[str, Any] = {
                    "color": colour,
                    "marker": marker,
                    "markersize": 5.5,
                    "linestyle": "",
                }
                value = math.nan if estimate.value is None else estimate.value
                axes.plot([value], [position], label=data if index == 0 else None, **style)
                ends = (estimate.low or value, estimate.high or value)
                text = f"class {name}, {data} data: {_in_words(estimate)}"
                texts.append(HoverText(axes=axes, x=ends, y=(position, position), text=text))
        label_lines(axes, list(names))
        axes.set(xlabel="share of rows (prior)", ylabel="class")
        shown = [end for side in (*sides[0], *sides[1]) for end in (side.low, side.high, side.value)]
        axes.set_xlim(0, 1.08 * max((end for end in shown if end is not None), default=1.0))
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, ncols=2, borderpad=0)
        return texts

    which = f" of the {lines} of {count(len(shares))} that differ most" if lines < len(shares) else ""
    title = f"Class priors{which} in source and target with {100 * confidence:g} % intervals"
    height = 1.4 + 0.42 * lines
    return Figure(
        title=title,
        caption="Each interval holds by itself. Which classes changed significantly is tested for all of "
        "them together, by the interval of the weight of each, the ratio of its two frequencies.",
        width=6.0,
        height=height,
        narrow_height=height,
        draw=draw,
    )


def _in_words(estimate: Estimate) -> str:
    ends = "" if estimate.low is None else f" ({percent(estimate.low)} to {percent(estimate.high)})"
    return f"{percent(estimate.value)} of rows{ends}"


def _most_different(shares: Sequence[ClassShare]) -> list[ClassShare]:
    distances = [abs((target.value or 0.0) - (source.value or 0.0)) for _, source, target in shares]
    chosen = sorted(range(len(shares)), key=lambda number: -distances[number])[:_MAX_CLASSES]
    return [shares[number] for number in sorted(chosen)]
