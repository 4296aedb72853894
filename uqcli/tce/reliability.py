"""Figure of reliability diagrams [TCE sec. 3, fig. 1]: test-based and standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.base.wording import p_text, percent, rows_of
from uqcli.estimates.calibration_error import Histogram
from uqcli.estimates.calibration_tests import p_values
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import BLUE, GREY, INK, RED, is_narrow, wrap_title
from uqcli.tce.band import Band
from uqcli.tce.results import ClassResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MAX_LABELS = 12


def reliability_figure(titled: Sequence[tuple[str, ClassResult]]) -> Figure:
    """Build a figure with one row per panel, below its title: the test-based and the standard diagram."""
    panels = [panel for _, panel in titled]

    def draw(canvas: Canvas) -> list[HoverText]:
        texts: list[HoverText] = []
        rows = canvas.subfigures(len(panels), 1, squeeze=False)[:, 0]
        narrow = is_narrow(canvas)
        mosaic, ratios = (_STACKED_LAYOUT, _STACKED_RATIOS) if narrow else (_WIDE_LAYOUT, _WIDE_RATIOS)
        for number, (row, (title, panel)) in enumerate(zip(rows, titled, strict=True)):
            shown = wrap_title(title) if narrow else title
            row.suptitle(shown, x=0.01, ha="left", fontsize=11, color=INK, parse_math=False)
            axes = row.subplot_mosaic(mosaic, empty_sentinel="none", **ratios)
            _draw_panel(panel, axes, _axis_end(panels), narrow=narrow, explained=number > 0)
            texts += _texts(panel, axes)
        return texts

    more = (
        "Red: the scores of these rows are significantly wrong, given the labels in their bin. With 95 % "
        "confidence, the shaded band contains the rate of positives at all scores at once, if that rate "
        "rises with the score."
    )
    if panels[0].by_weight:
        more = "Rates and predictions count by sampling weight, without intervals."
    return Figure(
        title=f"Reliability diagrams: {'; '.join(title for title, _ in titled)}",
        caption=f"Each blue shape shows the scores in one bin, and each dash its rate of positives. {more}",
        width=10.5,
        height=4.8 * len(panels),
        narrow_height=8.2 * len(panels),
        draw=draw,
        required=True,
    )


_WIDE_LAYOUT: Final = [["violins", "side", "standard"], ["bins", "none", "standard"]]
_WIDE_RATIOS: Final[Any] = {"width_ratios": [4.2, 0.9, 3.6], "height_ratios": [3, 1]}
_STACKED_LAYOUT: Final = [["violins", "side"], ["bins", "none"], ["standard", "standard"]]
_STACKED_RATIOS: Final[Any] = {"width_ratios": [4.2, 0.9], "height_ratios": [3, 1, 3.6]}


def _draw_panel(panel: ClassResult, axes: Any, top: float, *, narrow: bool, explained: bool) -> None:
    """Draw a panel; its lower and right axes have legends unless a panel above has explained them."""
    from matplotlib.ticker import MaxNLocator

    _violins(axes["violins"], panel, top, inside=narrow)
    _side_histogram(axes["side"], panel.diagram.everything, top)
    _bin_sizes(axes["bins"], panel)
    _standard(axes["standard"], panel, top)
    if not explained:
        axes["side"].xaxis.set_major_locator(MaxNLocator(nbins=2, integer=True))
        columns = 1 if narrow else 2
        axes["bins"].legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False, borderpad=0
        )
        axes["standard"].legend(loc="upper left", frameon=False)


def _texts(panel: ClassResult, axes: Any) -> list[HoverText]:
    bins, standard = panel.bins, panel.diagram.reliability
    filled = np.flatnonzero(bins.count > 0)
    texts = []
    for number, test in zip(filled.tolist(), _tests(panel, filled), strict=True):
        text = (
            f"Bin {number + 1}, scores {bins.low[number]:.3g} to {bins.high[number]:.3g}: "
            f"{rows_of(int(bins.count[number]))}, {percent(bins.rate[number])} positive, mean score "
            f"{percent(bins.mean_score[number])}{test}"
        )
        for name in ("violins", "bins"):
            ends = axes[name].get_ylim()
            texts.append(HoverText(axes=axes[name], x=(number + 0.6, number + 1.4), y=ends, text=text))
    for mean, rate, low, high, rows in zip(
        standard.mean_score, standard.rate, standard.low, standard.high, standard.count, strict=True
    ):
        text = f"{rows_of(int(rows))} with mean score {percent(mean)}: {percent(rate)} positive"
        if not panel.by_weight:
            text += f" (95 % interval {percent(low)} to {percent(high)})"
        texts.append(HoverText(axes=axes["standard"], x=(mean, mean), y=(rate, rate), text=text))
    return texts


def _tests(panel: ClassResult, filled: Ints) -> list[str]:
    """Describe the test of the mean score of some bins; empty texts if nothing is tested."""
    bins = panel.bins
    if panel.by_weight:
        return [""] * len(filled)
    shares = panel.tested.rows[filled] / bins.count[filled]
    tests = p_values(bins.mean_score[filled], bins.positives[filled], bins.count[filled])
    return [
        f" ({p_text(p_value)}), {percent(rejected)} of the scores significantly wrong"
        for p_value, rejected in zip(tests.tolist(), shares.tolist(), strict=True)
    ]


def _axis_end(panels: Sequence[ClassResult]) -> float:
    """Return the upper end of the axes of predictions and rates, the same in all panels."""
    rates = [panel.bins.rate[panel.bins.count > 0].max() for panel in panels]
    bars = [(panel.diagram.reliability.rate + panel.diagram.reliability.bars[1]).max() for panel in panels]
    return (
        min(1.03, 1.06 * float(max(*(panel.diagram.everything.high for panel in panels), *rates, *bars)))
        or 1.0
    )


def _violins(axes: Axes, panel: ClassResult, top: float, *, inside: bool) -> None:
    axes.set_title("By bin")
    shapes = panel.diagram.shapes
    for number, shape in enumerate(shapes, start=1):
        if shape is None:
            continue
        if shape.low == shape.high:
            axes.plot([number - 0.3, number + 0.3], [shape.low] * 2, color=BLUE, linewidth=2.2)
        else:
            height, half_width = _outline(shape)
            axes.fill_betweenx(
                height, number - half_width, number + half_width, color=BLUE, alpha=0.55, linewidth=0.6
            )
    filled = np.flatnonzero(panel.bins.count > 0)
    rate = panel.bins.rate[filled]
    axes.hlines(rate, filled + 0.55, filled + 1.45, color=INK, linewidth=1.6)
    axes.plot([], [], color=INK, linewidth=1.6, label="positive rate")
    axes.fill_between([], [], color=BLUE, alpha=0.55, label="predictions")
    axes.set(ylabel="prediction", ylim=(-0.02 * top, top), xlim=(0.4, len(shapes) + 0.6))
    axes.tick_params(labelbottom=False)
    _number_bins(axes, len(shapes))
    if inside:
        axes.legend(loc="upper left")
    else:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, borderpad=0)


def _outline(shape: Histogram) -> tuple[Floats, Floats]:
    """Return the heights and half widths of a violin: the slightly smoothed histogram of a bin."""
    kernel = np.array([1.0, 3.0, 4.0, 3.0, 1.0])
    width = np.convolve(np.pad(shape.count.astype(np.float64), 2, mode="edge"), kernel / 12, "valid")
    cells = len(shape.count)
    middle = shape.low + (shape.high - shape.low) * ((np.arange(cells) + 0.5) / cells)
    height = np.concatenate([[shape.low], middle, [shape.high]])
    width = np.concatenate([[width[0]], width, [width[-1]]])
    return height, 0.42 * width / max(width.max(), 1e-300)


def _number_bins(axes: Axes, bins: int) -> None:
    step = 1 if bins <= _MAX_LABELS else -(-bins // 10)
    axes.set_xticks(range(1, bins + 1, step))


def _side_histogram(axes: Axes, shape: Histogram, top: float) -> None:
    axes.set_title("All", loc="left")
    if shape.low == shape.high:
        axes.barh([shape.low], [shape.count.sum()], height=0.02 * top, color=GREY)
    else:
        edges = np.linspace(shape.low, shape.high, len(shape.count) + 1)
        axes.stairs(shape.count, edges, orientation="horizontal", fill=True, color=GREY)
    axes.set_ylim(-0.02 * top, top)
    axes.tick_params(labelleft=False)
    axes.set_xticks([])
    axes.set_xlabel("rows")
    axes.spines["bottom"].set_visible(False)


def _bin_sizes(axes: Axes, panel: ClassResult) -> None:
    number = np.arange(1, len(panel.bins.count) + 1)
    axes.bar(number, panel.bins.count, color=GREY, width=0.8, label="rows")
    if not panel.by_weight:
        axes.bar(number, panel.tested.rows, color=RED, width=0.8, label="rejected by the test")
    axes.set(xlabel="bin, by ascending score", ylabel="rows", xlim=(0.4, len(number) + 0.6))
    highest = int(panel.bins.count.max())
    axes.set_ylim(0, 1.05 * highest)
    axes.set_yticks([0, highest], ["0", f"{highest:,}"])
    _number_bins(axes, len(number))


def _standard(axes: Axes, panel: ClassResult, top: float) -> None:
    axes.set_title("Positive rate by score")
    standard = panel.diagram.reliability
    axes.plot([0, top], [0, top], color="#8a9199", linewidth=1, linestyle=(0, (4, 3)), label="calibrated")
    if panel.band is not None:
        _band(axes, panel.band)
    bars = standard.bars
    axes.errorbar(standard.mean_score, standard.rate, yerr=bars, fmt="none", ecolor=BLUE, elinewidth=1)
    area = 14 + 150 * standard.count / standard.count.sum()
    axes.scatter(standard.mean_score, standard.rate, s=area, color=BLUE, edgecolor="white", zorder=3)
    axes.set(xlabel="mean prediction of equal-width bins")
    axes.set(ylabel="positive rate by weight" if panel.by_weight else "positive rate (95 % CI)")
    axes.set(xlim=(-0.02 * top, top), ylim=(-0.02 * top, top))
    axes.set_aspect("equal")


def _band(axes: Axes, band: Band) -> None:
    """Shade the band: the lower limit steps up at the last score of a cell, the upper one after the first."""
    start, end = band.first[0], band.last[-1]
    low = np.repeat(np.concatenate([[0.0], band.low]), 2)
    at_low = np.concatenate([[start], np.repeat(band.last, 2), [end]])
    high = np.repeat(np.concatenate([band.high, [1.0]]), 2)
    at_high = np.concatenate([[start], np.repeat(band.first, 2), [end]])
    outline = [np.concatenate([at_low, at_high[::-1]]), np.concatenate([low, high[::-1]])]
    axes.fill(*outline, color=BLUE, alpha=0.14, linewidth=0, label="95 % band of the rate")
