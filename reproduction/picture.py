"""Figures of the page: those that commands draw are taken as they are, the others are drawn here."""

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
    "svg.hashsalt": "uqcli",  # the same figure is the same bytes
}
_SIDES = {"left": 0.6, "right": 0.15, "bottom": 0.5, "top": 0.35}
"""Inches around and between axes; a layout that is solved for would differ in its last digits."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure of the page.

    Attributes
    ----------
    name
        Of its file, beside the page.
    """

    name: str
    title: str
    caption: str
    svg: str


def drawn(panels: int, draw: Callable[[list[Axes]], None], *, width: float = 9.6, below: float = 0.0) -> str:
    """An SVG picture of axes side by side.

    Parameters
    ----------
    draw
        From the axes, which share the vertical one.
    below
        Inches for a legend below all of them; the other lengths are inches, too.
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
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()
