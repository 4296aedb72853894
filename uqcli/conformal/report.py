"""Report of ``uqcli conformal``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from uqcli.base.choices import ConformalMethod, ConformalMode
from uqcli.base.escaping import printable
from uqcli.base.records import dataclass
from uqcli.base.wording import count
from uqcli.conformal.rule import ConformalArtifact
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

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


METHODS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ConformalMethod.APS: "the likeliest classes until their probabilities together reach the threshold",
        ConformalMethod.LAC: "every class above a probability",
    }
)


@dataclass(frozen=True, kw_only=True)
class ConformalReport(OneResult):
    """Thresholds of prediction sets.

    Attributes
    ----------
    rows_of_class
        Calibration rows of each class, by weight.
    """

    artifact: ConformalArtifact
    rows_of_class: Sequence[int]
    notes: Sequence[str]

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
        if self.artifact.groups is not None:
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
    if artifact.groups is not None:
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
                text = f"class {printable(name)}, {printable(line, 28)}: threshold {threshold:.4g}"
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
