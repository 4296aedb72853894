"""Figure of promised rates over the batches of a watch, with their confidence sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from uqcli.document import Figure, HoverText, interval, printable
from uqcli.reports.figures import BLUE, GREY, RED, draw_grid_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MAX_PANELS = 6


def rates_over_time(promises: Sequence[Any], confidence: float) -> Figure:
    """Build a figure with one panel for each promise.

    Parameters
    ----------
    promises
        Of ``uqcli.reports.watch.report.MeasuredPromise``, each of two batches or more.
    """
    shown = promises[:_MAX_PANELS]

    def draw(canvas: Canvas) -> list[HoverText]:
        texts: list[HoverText] = []
        all_axes = canvas.subplots(len(shown), 1, squeeze=False)[:, 0]
        for axes, promise in zip(all_axes, shown, strict=True):
            texts += _draw(axes, promise)
        all_axes[-1].set_xlabel("batch")
        return texts

    height = 2.6 * len(shown) + 0.4
    names = ", ".join(printable(promise.text) for promise in shown)
    return Figure(
        title=f"Rate over time with its {100 * confidence:g} % confidence sequence: {names}",
        caption="The line is the rate of all batches so far, the band its confidence sequence. Points are "
        "single batches. The target is missed once the whole band is beyond the red line.",
        width=8.5,
        height=height,
        narrow_height=height,
        draw=draw,
    )


def _draw(axes: Axes, promise: Any) -> list[HoverText]:
    """Draw one promise."""
    draw_grid_lines(axes)
    seen = promise.over_time()
    positions = list(range(1, len(seen) + 1))
    low, high = [each.rate.low for each in seen], [each.rate.high for each in seen]
    axes.fill_between(positions, low, high, color=BLUE, alpha=0.18, linewidth=0, step="mid")
    known = [
        (x, each.rate.value) for x, each in zip(positions, seen, strict=True) if each.rate.value is not None
    ]
    axes.plot([x for x, _ in known], [y for _, y in known], color=BLUE, linewidth=1.6)
    alone = [(x, each.own) for x, each in zip(positions, seen, strict=True) if each.own is not None]
    axes.plot(
        [x for x, _ in alone], [y for _, y in alone], color=GREY, linestyle="none", marker="o", markersize=3
    )
    axes.axhline(promise.bound, color=RED, linewidth=1.6)
    for name, label in ((promise.alarmed_at, "alarm"), (promise.changed_at, "change")):
        at = next((x for x, each in zip(positions, seen, strict=True) if each.batch == name), None)
        if at is not None:
            axes.axvline(at, color=RED, linewidth=1, linestyle=(0, (3, 2)))
            axes.annotate(
                label,
                (at, 1),
                xycoords=("data", "axes fraction"),
                xytext=(3, -12),
                textcoords="offset points",
                color=RED,
            )
    ends = [*low, *high, promise.bound, *(y for _, y in alone)]
    margin = 0.05 * (max(ends) - min(ends)) or 0.05
    later = [end for each in seen[len(seen) // 5 :] for end in (each.rate.low, each.rate.high)]
    axes.set_ylim(max(0, min(*later, promise.bound) - margin), min(1, max(*later, promise.bound) + margin))
    axes.set_xlim(0.5, len(seen) + 0.5)
    axes.set_title(printable(promise.text))
    return [
        HoverText(
            axes=axes,
            x=(x - 0.5, x + 0.5),
            y=(each.rate.low, each.rate.high),
            text=f"{each.batch[:12]}: {interval(each.rate)} so far",
        )
        for x, each in zip(positions, seen, strict=True)
    ]
