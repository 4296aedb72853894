"""Figure of class priors in source and target data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from uqcli.base.wording import count, percent
from uqcli.estimates.estimate import Estimate
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import BLUE, INK, label_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_MAX_CLASSES: Final = 40
"""Most classes in the figure; those whose priors differ most are shown."""

ClassShare = tuple[str, Estimate, Estimate]
"""Name of a class, its prior in the source data, and its estimate in the target data."""


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
                if estimate.ends:
                    axes.plot(estimate.ends, [position, position], color=colour, linewidth=1.6)
                style: dict[str, Any] = {
                    "color": colour,
                    "marker": marker,
                    "markersize": 5.5,
                    "linestyle": "",
                }
                value = math.nan if estimate.value is None else estimate.value
                axes.plot([value], [position], label=data if index == 0 else None, **style)
                x = (estimate.low or value, estimate.high or value)
                text = f"class {name}, {data} data: {_in_words(estimate)}"
                texts.append(HoverText(axes=axes, x=x, y=(position, position), text=text))
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
    ends = " to ".join(map(percent, estimate.ends))
    return f"{percent(estimate.value)} of rows{f' ({ends})' if ends else ''}"


def _most_different(shares: Sequence[ClassShare]) -> list[ClassShare]:
    distances = [abs((target.value or 0.0) - (source.value or 0.0)) for _, source, target in shares]
    chosen = sorted(range(len(shares)), key=lambda number: -distances[number])[:_MAX_CLASSES]
    return [shares[number] for number in sorted(chosen)]
