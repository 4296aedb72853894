"""Figure of precision and recall of boundaries with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from uqcli.base.escaping import printable
from uqcli.estimates.estimate import Estimate, interval
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import BLUE, GREY, RED, label_lines, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


NamedRate = tuple[str, Estimate, float | None]
"""Name of a rule or group, its rate, and the target of the rate; None if the rule has another constraint."""


def rates_figure(rates: Sequence[tuple[str, Sequence[NamedRate]]], confidence: float) -> Figure:
    """Build a figure with one panel per rate that is known for a rule, and one line per rule."""
    known = [
        (title, measured)
        for title, measured in rates
        if any(rate.value is not None or rate.low is not None for _, rate, _ in measured)
    ]
    rates = known or rates
    has_intervals = any(rate.low is not None for _, measured in rates for _, rate, _ in measured)
    lines = len(rates[0][1])

    def draw(canvas: Canvas) -> list[HoverText]:
        texts = []
        all_axes = panels(canvas, [1] * len(rates), share_y=True)
        for axes, (title, measured) in zip(all_axes, rates, strict=True):
            _draw(axes, title, measured)
            for position, (name, rate, _) in enumerate(measured):
                low, high = rate.low, rate.high
                if low is not None and high is not None:
                    text = f"{title} of {printable(name)}: {interval(rate)}"
                    texts.append(HoverText(axes=axes, x=(low, high), y=(position, position), text=text))
        return texts

    names = ", ".join(printable(name) for name, _, _ in rates[0][1])
    titles = " and ".join(title for title, _ in rates)
    height = 1.3 + 0.42 * lines
    has_targets = any(target is not None for _, measured in rates for _, _, target in measured)
    return Figure(
        title=f"{titles}{f' with {100 * confidence:g} % intervals' if has_intervals else ''}: {names}",
        caption=f"If a target (red) lies outside the {100 * confidence:g} % interval, it is significantly "
        "met or missed. If it lies inside, the data do not show which."
        if has_targets and has_intervals
        else "",
        width=10.5,
        height=height,
        narrow_height=height * len(rates),
        draw=draw,
    )


def _draw(axes: Axes, title: str, measured: Sequence[NamedRate]) -> None:
    axes.set_title(title)
    for position, (_, rate, target) in enumerate(measured):
        value, low, high = rate.value, rate.low, rate.high
        if target is not None:
            axes.plot([target] * 2, [position - 0.36, position + 0.36], color=RED, linewidth=2)
        if low is not None and high is not None:
            axes.plot(
                [low, high],
                [position, position],
                color=GREY if value is None else BLUE,
                linewidth=1.2 if value is None else 1.6,
                linestyle=(0, (2, 2)) if value is None else "-",
            )
        if value is not None:
            axes.plot([value], [position], color=BLUE, marker="o", markersize=6)
    if any(target is not None for _, _, target in measured):
        axes.plot([], [], color=RED, linewidth=2, label="target")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, borderpad=0)
    label_lines(axes, [name for name, _, _ in measured])
    if all(rate.low is None for _, rate, _ in measured):
        axes.set_xlim(0, 1)  # the points alone would fill the width with meaningless digits
    axes.margins(x=0.08)
