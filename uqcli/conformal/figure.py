"""Figure of the thresholds of prediction sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uqcli.base.escaping import printable
from uqcli.base.wording import count
from uqcli.conformal.rule import ConformalArtifact
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import BLUE, label_lines, level_colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

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
