"""Precision and recall of boundaries with their intervals, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uqcli.document import Estimate, Figure, printable
from uqcli.reports.figures import BLUE, GREY, RED, line_by_line, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A rate of one artifact.

    Attributes
    ----------
    promised
        The bound that it was to keep on the hold-out; None where none was promised of this rate.
    """

    name: str
    rate: Estimate
    promised: float | None


def rates_figure(rates: Sequence[tuple[str, Sequence[Measured]]], confidence: float) -> Figure:
    """A panel for each rate, in which every artifact has a line."""
    lines = len(rates[0][1])

    def draw(canvas: Canvas) -> None:
        every = panels(canvas, [1] * len(rates), share_y=True)
        for axes, (title, measured) in zip(every, rates, strict=True):
            _draw(axes, title, measured)

    names = ", ".join(printable(each.name) for each in rates[0][1])
    titles = " and ".join(title for title, _ in rates)
    height = 1.3 + 0.42 * lines
    return Figure(
        title=f"{titles} with {100 * confidence:g} % intervals: {names}",
        caption=f"A target to the left of its {100 * confidence:g} % interval is met, one to the right is "
        "missed. Inside the interval neither is significant.",
        width=10.5,
        height=height,
        narrow_height=height * len(rates),
        draw=draw,
    )


def _draw(axes: Axes, title: str, measured: Sequence[Measured]) -> None:
    axes.set_title(title)
    for place, each in enumerate(measured):
        low, high = each.rate.low, each.rate.high
        if each.promised is not None:
            axes.plot([each.promised] * 2, [place - 0.36, place + 0.36], color=RED, linewidth=2)
        if low is None or high is None:
            continue
        if each.rate.value is None:
            axes.plot([low, high], [place, place], color=GREY, linewidth=1.2, linestyle=(0, (2, 2)))
            continue
        axes.plot([low, high], [place, place], color=BLUE, linewidth=1.6)
        axes.plot([each.rate.value], [place], color=BLUE, marker="o", markersize=6)
    if any(each.promised is not None for each in measured):
        axes.plot([], [], color=RED, linewidth=2, label="target")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, borderpad=0)
    line_by_line(axes, [each.name for each in measured])
    axes.margins(x=0.08)
