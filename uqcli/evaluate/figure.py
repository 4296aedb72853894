"""Figure of precision and recall of boundaries with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from uqcli.base.escaping import printable
from uqcli.base.records import dataclass
from uqcli.estimates.estimate import Estimate, interval
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import BLUE, GREY, RED, label_lines, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


@dataclass(frozen=True, kw_only=True)
class NamedRate:
    """A rate of one rule.

    Attributes
    ----------
    target
        Target of the rate; None if the rule has another constraint.
    """

    name: str
    rate: Estimate
    target: float | None


def rates_figure(rates: Sequence[tuple[str, Sequence[NamedRate]]], confidence: float) -> Figure:
    """Build a figure with one panel per rate that is known for a rule, and one line per rule."""
    known = [
        (title, measured)
        for title, measured in rates
        if any(rate.rate.value is not None or rate.rate.low is not None for rate in measured)
    ]
    rates = known or rates
    has_intervals = any(rate.rate.low is not None for _, measured in rates for rate in measured)
    lines = len(rates[0][1])

    def draw(canvas: Canvas) -> list[HoverText]:
        texts = []
        all_axes = panels(canvas, [1] * len(rates), share_y=True)
        for axes, (title, measured) in zip(all_axes, rates, strict=True):
            _draw(axes, title, measured)
            for position, named_rate in enumerate(measured):
                low, high = named_rate.rate.low, named_rate.rate.high
                if low is not None and high is not None:
                    text = f"{title} of {printable(named_rate.name)}: {interval(named_rate.rate)}"
                    texts.append(HoverText(axes=axes, x=(low, high), y=(position, position), text=text))
        return texts

    names = ", ".join(printable(rate.name) for rate in rates[0][1])
    titles = " and ".join(title for title, _ in rates)
    height = 1.3 + 0.42 * lines
    has_targets = any(rate.target is not None for _, measured in rates for rate in measured)
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
    for position, named_rate in enumerate(measured):
        low, high = named_rate.rate.low, named_rate.rate.high
        if named_rate.target is not None:
            axes.plot([named_rate.target] * 2, [position - 0.36, position + 0.36], color=RED, linewidth=2)
        value = named_rate.rate.value
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
    if any(rate.target is not None for rate in measured):
        axes.plot([], [], color=RED, linewidth=2, label="target")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, borderpad=0)
    label_lines(axes, [rate.name for rate in measured])
    if all(named_rate.rate.low is None for named_rate in measured):
        axes.set_xlim(0, 1)  # the points alone would fill the width with meaningless digits
    axes.margins(x=0.08)
