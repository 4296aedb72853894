"""Trade-off between recall and precision, as a table and as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from uqcli.choices import Algorithm
from uqcli.document import Figure
from uqcli.methods.boundary.result import FittedBoundary
from uqcli.reports.figures import BLUE, GREY, INK, RED, draw_grid_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

TradeOff = Mapping[Algorithm, Sequence[FittedBoundary]]

_STYLES: Final[Mapping[Algorithm, tuple[str, Mapping[str, Any]]]] = MappingProxyType(
    {
        Algorithm.VW_DPMT: ("score and uncertainty", {"color": BLUE, "linewidth": 1.8}),
        Algorithm.SMOOTH: ("smoothed", {"color": GREY, "linewidth": 1.8}),
        Algorithm.ST: ("score alone", {"color": INK, "linewidth": 1.4, "linestyle": (0, (4, 2))}),
    }
)


def trade_off_columns(trade_off: TradeOff, bins: int) -> dict[str, list[Any]]:
    """Build the columns of a table of boundaries; a single threshold is repeated for each uncertainty bin."""
    lines = [(algorithm, boundary) for algorithm, boundaries in trade_off.items() for boundary in boundaries]
    table: dict[str, list[Any]] = {
        "algorithm": [str(algorithm) for algorithm, _ in lines],
        "selected": [boundary.fit.selected for _, boundary in lines],
        "true_positives": [boundary.fit.true_positives for _, boundary in lines],
        "recall": [boundary.fit.recall for _, boundary in lines],
        "precision": [boundary.fit.precision for _, boundary in lines],
    }
    for number in range(bins):
        table[f"threshold_{number + 1}"] = [
            boundary.thresholds[number if len(boundary.thresholds) > 1 else 0] for _, boundary in lines
        ]
    return table


def trade_off_figure(trade_off: TradeOff, chosen: FittedBoundary | None) -> Figure:
    """Build the figure of precision and recall on the calibration set, with the boundary."""

    def draw(canvas: Canvas) -> None:
        axes: Axes = canvas.subplots()
        for algorithm, boundaries in trade_off.items():
            name, style = _STYLES[algorithm]
            axes.plot(*_points(boundaries), label=name, **style)
        if chosen is not None:
            axes.plot(
                *_points([chosen]), color=RED, marker="o", markersize=7, linestyle="", label="the boundary"
            )
        axes.set(xlabel="recall on the calibration set", ylabel="precision", xlim=(0, 1.02))
        draw_grid_lines(axes)
        axes.legend()

    title = "Precision against recall on the rows that boundaries were chosen on"
    return Figure(
        title=title,
        caption="Higher is better. All curves are measured on the calibration set; expect a little less on "
        "new data.",
        width=7.0,
        height=4.2,
        narrow_height=3.8,
        draw=draw,
    )


def _points(boundaries: Sequence[FittedBoundary]) -> tuple[list[float], list[float]]:
    """Return recalls and precisions; boundaries flag at least one row, and the set has a positive."""
    return [boundary.fit.recall or 0.0 for boundary in boundaries], [
        boundary.fit.precision or 0.0 for boundary in boundaries
    ]
