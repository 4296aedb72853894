"""Figure of ``uqcli watch``: the watched rates over the batches, with their confidence sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from uqcli.base.wording import printable
from uqcli.estimates.estimate import interval
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import BLUE, GREY, RED, draw_grid_lines
from uqcli.watch.results import LONGEST_NAME, Alarm, MeasuredPromise
from uqcli.watch.state import short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MAX_PANELS = 6
_MAX_DAYS = 7
"""Days that are named on the axis."""


def rates_over_time(promises: Sequence[MeasuredPromise], confidence: float, *, is_day: bool) -> Figure:
    """Build a figure with one panel for each promise, the worst first, at most six.

    ``is_day`` says that batches are named after days.
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
        "The last point of the band is the printed range. It may be wider than the band before it, which "
        "does not allow for days that differ more than they have shown so far. "
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


def _draw(axes: Axes, promise: MeasuredPromise, *, is_day: bool) -> list[HoverText]:
    draw_grid_lines(axes)
    seen = promise.over_time()
    batches = [batch for batch, _, _ in seen]
    rates: list[Any] = [rate for _, rate, _ in seen]  # which have intervals
    single = {x: own for x, (_, _, own) in enumerate(seen, start=1) if own is not None}
    _draw_rates(axes, rates)
    axes.plot(list(single), list(single.values()), color=GREY, linestyle="none", marker="o", markersize=3)
    axes.axhline(promise.bound, color=RED, linewidth=1.6)
    _draw_alarms(axes, promise, batches)
    _set_height(axes, rates, [promise.bound, *single.values()])
    axes.set_xlim(0.5, max(len(seen), 1) + 0.5)
    if seen and (is_day or len(seen) == 1):
        step = -(-len(seen) // _MAX_DAYS)
        positions = range(1, len(seen) + 1)
        axes.set_xticks(positions[::step], [short_name(batch) for batch in batches[::step]])
    axes.set_title(printable(promise.text, LONGEST_NAME))
    return [
        HoverText(
            axes=axes,
            x=(x - 0.5, x + 0.5),
            y=(rate.low, rate.high),
            text=f"{short_name(batch)}: {interval(rate)} so far",
        )
        for x, (batch, rate) in enumerate(zip(batches, rates, strict=True), start=1)
    ]


def _draw_rates(axes: Axes, rates: Sequence[Any]) -> None:
    """Draw the rate over all batches so far as a line, and its interval as a band."""
    positions = list(range(1, len(rates) + 1))
    low, high = [rate.low for rate in rates], [rate.high for rate in rates]
    if len(rates) == 1:  # neither a band nor a line has a width
        axes.plot(positions * 2, [*low, *high], color=BLUE, linewidth=1.6)
        axes.plot(positions, [rate.value for rate in rates], color=BLUE, marker="o")
    axes.fill_between(positions, low, high, color=BLUE, alpha=0.18, linewidth=0, step="mid")
    known = [(x, rate.value) for x, rate in zip(positions, rates, strict=True) if rate.value is not None]
    axes.plot([x for x, _ in known], [y for _, y in known], color=BLUE, linewidth=1.6)


def _draw_alarms(axes: Axes, promise: MeasuredPromise, batches: Sequence[str]) -> None:
    """Draw a line at the batch of each alarm; their labels have different heights, lest they overlap."""
    alarms = ((Alarm.MISSED, "alarm", -12), (Alarm.CHANGED, "change alarm", -26))
    for alarm, label, height in alarms:
        if promise.rung.at.get(alarm) not in batches:
            continue
        at = batches.index(promise.rung.at[alarm]) + 1
        axes.axvline(at, color=RED, linewidth=1, linestyle=(0, (3, 2)))
        axes.annotate(
            label,
            (at, 1),
            xycoords=("data", "axes fraction"),
            xytext=(3, height),
            textcoords="offset points",
            color=RED,
        )


def _set_height(axes: Axes, rates: Sequence[Any], values: Sequence[float]) -> None:
    """Let all values be seen, and the intervals but the first fifth, which are the widest."""
    later = [end for rate in rates[len(rates) // 5 :] for end in (rate.low, rate.high)]
    ends = [*later, *values]
    margin = 0.05 * (max(ends) - min(ends)) or 0.05
    axes.set_ylim(max(0, min(ends) - margin), min(1, max(ends) + margin))
