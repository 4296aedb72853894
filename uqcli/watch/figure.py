"""Figure of promised rates over the batches of a watch, with their confidence sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from uqcli.base.escaping import printable
from uqcli.estimates.estimate import interval
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import BLUE, GREY, RED, draw_grid_lines
from uqcli.watch.state import short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LONGEST_NAME = 90
"""Letters of a target with the name of its group."""

_MAX_PANELS = 6
_MAX_DAYS = 7
"""Days that are named on the axis."""


def rates_over_time(promises: Sequence[Any], confidence: float, *, is_day: bool) -> Figure:
    """Build a figure with one panel for each promise, at most six.

    Parameters
    ----------
    promises
        Of ``uqcli.watch.report.MeasuredPromise``, the worst first.
    is_day
        Whether batches are named after days.
    """
    shown = promises[:_MAX_PANELS]

    def draw(canvas: Canvas) -> list[HoverText]:
        texts: list[HoverText] = []
        all_axes = canvas.subplots(len(shown), 1, squeeze=False)[:, 0]
        for axes, promise in zip(all_axes, shown, strict=True):
            texts += _draw(axes, promise, is_day=is_day)
        all_axes[-1].set_xlabel("day" if is_day else "batch")
        return texts

    height = 2.6 * len(shown) + 0.4
    names = ", ".join(printable(promise.text) for promise in shown)
    return Figure(
        title=f"Rate over time with its {100 * confidence:g} % confidence sequence: {names}",
        caption="The line is the rate over all batches so far. "
        f"With {100 * confidence:g} % confidence the band contains the true rate, however often you look. "
        "Points are single batches. A band beyond the red line is not yet an alarm, which needs more "
        "evidence."
        + (
            f" The worst {_MAX_PANELS} of {len(promises)} targets are drawn."
            if promises[_MAX_PANELS:]
            else ""
        ),
        width=8.5,
        height=height,
        narrow_height=height,
        draw=draw,
    )


def _draw(axes: Axes, promise: Any, *, is_day: bool) -> list[HoverText]:
    draw_grid_lines(axes)
    seen = promise.over_time() if promise.batches else ()
    positions = list(range(1, len(seen) + 1))
    low, high = [total.rate.low for total in seen], [total.rate.high for total in seen]
    if len(seen) == 1:  # neither a band nor a line has a width
        axes.plot(positions * 2, [*low, *high], color=BLUE, linewidth=1.6)
        axes.plot(positions, [total.rate.value for total in seen], color=BLUE, marker="o")
    axes.fill_between(positions, low, high, color=BLUE, alpha=0.18, linewidth=0, step="mid")
    known = [
        (x, total.rate.value)
        for x, total in zip(positions, seen, strict=True)
        if total.rate.value is not None
    ]
    axes.plot([x for x, _ in known], [y for _, y in known], color=BLUE, linewidth=1.6)
    alone = [(x, total.own) for x, total in zip(positions, seen, strict=True) if total.own is not None]
    axes.plot(
        [x for x, _ in alone], [y for _, y in alone], color=GREY, linestyle="none", marker="o", markersize=3
    )
    axes.axhline(promise.bound, color=RED, linewidth=1.6)
    alarms = ((promise.alarmed_at, "alarm", -12), (promise.changed_at, "change alarm", -26))
    for name, label, height in alarms:
        at = next((x for x, total in zip(positions, seen, strict=True) if total.batch == name), None)
        if at is not None:
            axes.axvline(at, color=RED, linewidth=1, linestyle=(0, (3, 2)))
            axes.annotate(
                label,
                (at, 1),
                xycoords=("data", "axes fraction"),
                xytext=(3, height),
                textcoords="offset points",
                color=RED,
            )
    later = [end for total in seen[len(seen) // 5 :] for end in (total.rate.low, total.rate.high)]
    ends = [*later, promise.bound, *(y for _, y in alone)]
    margin = 0.05 * (max(ends) - min(ends)) or 0.05
    axes.set_ylim(max(0, min(ends) - margin), min(1, max(ends) + margin))
    axes.set_xlim(0.5, max(len(seen), 1) + 0.5)
    if seen and (is_day or len(seen) == 1):
        step = -(-len(seen) // _MAX_DAYS)
        axes.set_xticks(positions[::step], [short_name(total.batch) for total in seen[::step]])
    axes.set_title(printable(promise.text, LONGEST_NAME))
    return [
        HoverText(
            axes=axes,
            x=(x - 0.5, x + 0.5),
            y=(total.rate.low, total.rate.high),
            text=f"{short_name(total.batch)}: {interval(total.rate)} so far",
        )
        for x, total in zip(positions, seen, strict=True)
    ]
