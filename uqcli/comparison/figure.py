"""Reliability diagrams before and after calibration, of all rows and by leaf or uncertainty level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from uqcli.base import defaults
from uqcli.base.choices import Binning
from uqcli.base.counts import Floats, Ints, ValueCounts, merge
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.wording import percent, printable, rows_of
from uqcli.estimates.binning import BINNING_RULES, BinSizes
from uqcli.estimates.calibration_error import Reliability, in_bins, reliability
from uqcli.estimates.drawn_pairs import SIDES
from uqcli.estimates.paired import PairedClassCounts
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import BLUE, GREY, INK, is_narrow, wrap_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MAX_COLUMNS = 3


@dataclass(frozen=True, kw_only=True)
class ReliabilityPanel:
    """Reliability of some rows before and after calibration.

    ``sides`` computes both, and is called only if the panel is drawn.
    """

    title: str
    sides: Callable[[], tuple[Reliability, Reliability]]

    @property
    def before(self) -> Reliability:
        """Reliability before calibration."""
        return self._both[0]

    @property
    def after(self) -> Reliability:
        """Reliability after calibration."""
        return self._both[1]

    @cached_property
    def _both(self) -> tuple[Reliability, Reliability]:
        return self.sides()


def before_and_after_figure(panels: Sequence[ReliabilityPanel]) -> Figure:
    """Build a figure with one standard reliability diagram per panel, before and after calibration."""
    columns = 2 if len(panels) == 4 else min(_MAX_COLUMNS, len(panels))
    lines = -(-len(panels) // columns)

    def draw(canvas: Canvas) -> list[HoverText]:
        shape = (len(panels), 1) if is_narrow(canvas) else (lines, columns)
        axes = canvas.subplots(*shape, squeeze=False).ravel()
        top = _axis_end(panels)
        for panel_axes, panel in zip(axes, panels, strict=False):
            _draw_panel(panel_axes, panel, top)
        for panel_axes in axes[len(panels) :]:
            panel_axes.set_axis_off()
        axes[0].legend(loc="upper left")
        pairs = list(zip(axes, panels, strict=False))
        return [text for place, panel in pairs for text in _texts(place, panel)]

    titles = "; ".join(printable(panel.title) for panel in panels)
    return Figure(
        title=f"Reliability before and after calibration: {titles}",
        caption="Dots on the dashed line are calibrated; larger dots have more rows. Bars: 95 % intervals.",
        width=3.5 * columns if columns == _MAX_COLUMNS else 4.0 * columns + (0.6 if columns == 1 else 0),
        height=(3.5 if columns == _MAX_COLUMNS else 3.9) * lines,
        narrow_height=3.7 * len(panels),
        draw=draw,
        required=True,
    )


def _texts(axes: Axes, panel: ReliabilityPanel) -> list[HoverText]:
    """Describe the bins of a panel."""
    return [
        HoverText(
            axes=axes,
            x=(mean, mean),
            y=(rate, rate),
            text=f"{name}: {rows_of(int(rows))} with mean prediction {percent(mean)}, "
            f"{percent(rate)} positive",
        )
        for name, bins in (("before", panel.before), ("after", panel.after))
        for mean, rate, rows in zip(bins.mean_score, bins.rate, bins.count, strict=True)
    ]


def _axis_end(panels: Sequence[ReliabilityPanel]) -> float:
    """Return the upper end of both axes, the same in all panels."""
    reliabilities = [bins for panel in panels for bins in (panel.before, panel.after)]
    highest = max(float(max(bins.mean_score.max(), bins.rate.max())) for bins in reliabilities)
    return min(1.03, 1.15 * highest) or 1.0


def _draw_panel(axes: Axes, panel: ReliabilityPanel, top: float) -> None:
    axes.set_title(wrap_title(panel.title), parse_math=False, fontsize=9)
    for name, bins, colour in (("before", panel.before, GREY), ("after", panel.after, BLUE)):
        axes.errorbar(bins.mean_score, bins.rate, yerr=bins.bars, fmt="none", ecolor=colour, elinewidth=1)
        area = 12 + 110 * bins.count / bins.count.sum()
        axes.scatter(
            bins.mean_score,
            bins.rate,
            s=area,
            color=colour,
            edgecolor=INK,
            linewidth=0.4,
            zorder=3,
            label=name,
        )
    axes.plot([0, top], [0, top], color="#8a9199", linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    axes.set(xlim=(-0.02 * top, top), ylim=(-0.02 * top, top))
    axes.set(xlabel="mean prediction", ylabel="positive rate")


_MAX_PANELS = 9


def panels(
    sides: tuple[ValueCounts, ValueCounts],
    rows: Rows,
    before: Floats,
    after: Floats,
    parts: Sequence[tuple[str, Ints]],
) -> tuple[ReliabilityPanel, ...]:
    """Build one panel for all rows, pooled by both sides, and one for each of the first non-empty parts.

    Parts are given by name and rows.
    """
    nonempty = [
        (name, indices)
        for name, indices in parts
        if (len(indices) if rows.weight is None else rows.weight[indices].any())
    ]
    pooled = [("All rows", sides)] if sides[0].rows else []
    pooled += [
        (name, (rows.counts(before, indices), rows.counts(after, indices)))
        for name, indices in nonempty[: _MAX_PANELS - len(pooled)]
    ]
    return tuple(_panel(name, _reliability(first), _reliability(second)) for name, (first, second) in pooled)


def _panel(title: str, before: Reliability, after: Reliability) -> ReliabilityPanel:
    return ReliabilityPanel(title=title, sides=lambda: (before, after))


def panel_of_classes(paired_counts: PairedClassCounts) -> ReliabilityPanel:
    """Build one panel for all classes, each one-vs-rest."""

    def sides() -> tuple[Reliability, Reliability]:
        before, after = (_reliability(merge(list(paired_counts.against_rest(side)))) for side in SIDES[:2])
        return before, after

    return ReliabilityPanel(title="Each class against the rest", sides=sides)


def _reliability(counts: ValueCounts) -> Reliability:
    sizes = BinSizes(bins=defaults.SINGLE_SCORE_BINS)
    return reliability(in_bins(counts, BINNING_RULES[Binning.EQUISPACED].edges(counts, sizes)))
