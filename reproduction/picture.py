"""Figures of the page that no command draws, and the records of all figures."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, RED, BLUE, GREEN, VIOLET, GREY = "#22262b", "#c8352b", "#2f6db3", "#2b8a5f", "#7a4fa3", "#b9c0c8"

_STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e6e9",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "svg.hashsalt": "uqcli",  # equal figures have equal bytes
}
_SIDES = {"left": 0.6, "right": 0.15, "bottom": 0.5, "top": 0.35}
"""Margins in inches; a layout by a solver would differ in its last digits."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure of the page.

    Attributes
    ----------
    name
        Name of its file, in the folder of images.
    """

    name: str
    title: str
    caption: str
    svg: str


def draw_svg(
    panels: int, draw: Callable[[list[Axes]], None], *, width: float = 9.6, below: float = 0.0
) -> str:
    """Draw axes side by side as SVG.

    Parameters
    ----------
    draw
        Function that draws on the axes, which share the vertical one.
    below
        Inches for a legend below the axes; ``width`` is also in inches.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    height = 3.3 + below
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height))
        FigureCanvasSVG(figure)
        axes = list(figure.subplots(1, panels, squeeze=False, sharey=True)[0])
        figure.subplots_adjust(
            left=_SIDES["left"] / width,
            right=1 - _SIDES["right"] / width,
            bottom=(_SIDES["bottom"] + below) / height,
            top=1 - _SIDES["top"] / height,
            wspace=0.12,
        )
        draw(axes)
        if below:
            lines, names = axes[0].get_legend_handles_labels()
            figure.legend(lines, names, loc="lower center", ncols=6)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
