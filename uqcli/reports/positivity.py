"""Figure of the positive rate by score and uncertainty [UB fig. 1]: a map with thresholds, and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from uqcli.base.counts import CellRow, Cells, Floats, Ints, distinct_numbers
from uqcli.base.defaults import CONFIDENCE, LOWEST
from uqcli.base.records import dataclass
from uqcli.base.wording import percent, rows_of
from uqcli.estimates.proportion import clopper_pearson
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import INK, RED, is_narrow, level_colours, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_BANDS, _MIN_ROWS = 25, 20
"""Number of score bands of equal width; neighbours with fewer rows than this minimum are merged."""

_MIN_SHADE: Final = 0.15
"""Strength of the shade of ranges with hardly any rows, whose rates are mostly chance."""

_MAX_CURVES: Final = 3
_LONGEST_LEGEND: Final = 38
"""Letters of the names of all curves that fit beside each other above the axes."""

"""Curves that can be told apart, of evenly spaced levels of uncertainty."""

_MAX_GAP: Final = 0.15
"""Largest share of the axis that a line between two points crosses."""

_MAX_DRAWN_SCORE: Final = 1e300
"""Largest score for which matplotlib can compute axes."""

_EMPTY_COLOUR: Final = "#eceef0"

_STYLES: Final[Sequence[dict[str, Any]]] = (
    {"color": RED, "linewidth": 2.4},
    {"color": INK, "linewidth": 1.6, "linestyle": (0, (4, 2))},
)
"""Styles of the lines of two boundaries."""

REVIEW: Final = "review threshold"
"""Name of the line between reviewed and cleared rows."""


Boundaries = Mapping[str, tuple[float | None, ...]]
"""Boundaries to draw by name: one threshold per uncertainty bin, or one for all."""


@dataclass(frozen=True, kw_only=True)
class _Level:
    """An uncertainty bin in the figure, by m score ranges.

    ``ends`` has shape (m+1,), the others (m,). ``position`` is the mean lower edge of the cells in a range,
    weighted by rows; counts are of rows in the cells whose lower edge is in it.
    """

    ends: Floats
    position: Floats
    count: Ints
    positives: Ints

    @classmethod
    def from_cells(cls, row: CellRow, ends: Floats) -> _Level:
        """Merge the cells of an uncertainty bin into score ranges of one or more bands."""
        band = np.clip(np.searchsorted(ends, row.lower, side="right") - 1, 0, _BANDS - 1)
        count, positives = (
            np.bincount(band, values, _BANDS).astype(np.int64) for values in (row.count, row.positives)
        )
        starts, rows_in_range = [], _MIN_ROWS
        for number, rows in enumerate(count.tolist()):
            if max(rows_in_range, rows) >= _MIN_ROWS:
                starts.append(number)
                rows_in_range = 0
            rows_in_range += rows
        weighted = np.bincount(band, np.clip(row.lower, ends[0], ends[-1]) * row.count, _BANDS)
        return cls(
            ends=ends[[*starts, _BANDS]],
            position=np.add.reduceat(weighted, starts) / np.maximum(np.add.reduceat(count, starts), 1),
            count=np.add.reduceat(count, starts),
            positives=np.add.reduceat(positives, starts),
        )

    @property
    def rate(self) -> Floats:
        """Positive rate of each range; NaN without rows."""
        return np.where(self.count > 0, self.positives / np.maximum(self.count, 1), np.nan)


def positive_rate_figure(cells: Cells, boundaries: Boundaries) -> Figure:
    """Build the figure: the map with boundaries, and one curve per level of uncertainty."""
    span = _span(cells, boundaries)
    levels = _levels(cells, span)

    def draw(canvas: Canvas) -> Sequence[HoverText]:
        left, right = panels(canvas, [1.15, 1])
        left.set_gid("plane")
        draw_map(left, cells, boundaries, narrow=is_narrow(canvas))
        columns = 1 if is_narrow(canvas) else _MAX_CURVES
        _draw_curves(right, levels, span, _names(cells.uncertainty_edges.tolist()), columns)
        right.set_xlabel("score")
        return _texts(left, levels, _names(cells.uncertainty_edges.tolist()))

    suffix = "".join(f", with {name}" for name in boundaries)
    title = f"Positive rate by score and uncertainty{suffix}"
    return Figure(
        title=title,
        caption=_caption(boundaries, len(cells.rows)),
        width=10.5,
        height=4.4,
        narrow_height=7.6,
        draw=draw,
    )


def _texts(axes: Axes, levels: Sequence[_Level], names: Sequence[str]) -> list[HoverText]:
    """Describe each range of scores in each uncertainty bin."""
    return [
        HoverText(
            axes=axes,
            x=(low, high),
            y=(number, number + 1),
            text=f"uncertainty {name}, score {low:.3g} to {high:.3g}: "
            f"{percent(rate)} of {rows_of(rows)} are positive",
        )
        for number, (level, name) in enumerate(zip(levels, names, strict=True))
        for (low, high), rows, rate in zip(
            pairwise(level.ends.tolist()), level.count.tolist(), level.rate.tolist(), strict=True
        )
        if rows
    ]


def draw_map(axes: Axes, cells: Cells, boundaries: Boundaries, *, narrow: bool = False) -> None:
    """Draw the positive rate by score and uncertainty, with boundaries on it."""
    span = _span(cells, boundaries)
    levels = _levels(cells, span)
    _draw_rates(axes, levels, span, _names(cells.uncertainty_edges.tolist()), narrow=narrow)
    for (name, thresholds), style in zip(boundaries.items(), _STYLES, strict=False):
        _draw_boundary(axes, name, thresholds, len(levels), style)
    if boundaries:
        columns = 1 if narrow else 2
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, ncols=columns, borderpad=0)
    axes.set_xlabel("score")


def _levels(cells: Cells, span: tuple[float, float]) -> list[_Level]:
    ends = np.linspace(*span, _BANDS + 1)
    return [_Level.from_cells(row, ends) for row in cells.rows]


def _caption(boundaries: Boundaries, levels: int) -> str:
    """Build the caption: how to read the map and the curves."""
    flagged = f" Rows right of the {next(iter(boundaries))} are flagged." if boundaries else ""
    if REVIEW in boundaries:
        flagged += f" Rows between it and the {REVIEW} are reviewed."
    compared = (
        "Where the bars of two curves do not overlap, the same score means different rates of positives."
    )
    return (
        "The darker a cell, the more of its rows are positive; faint cells have few rows, grey ones "
        f"none.{flagged}{f' {compared}' if levels > 1 else ''}"
    )


def _span(cells: Cells, boundaries: Boundaries) -> tuple[float, float]:
    """Return the range of scores on the axes: 0 to 1 if no edge or threshold is outside."""
    thresholds = [t for line in boundaries.values() for t in line if t is not None]
    scores = np.concatenate([*(cells_of_row.lower for cells_of_row in cells.rows), thresholds])
    scores = np.clip(scores[scores > LOWEST], -_MAX_DRAWN_SCORE, _MAX_DRAWN_SCORE)
    if len(scores) == 0 or (scores.min() >= 0 and scores.max() <= 1):
        return 0.0, 1.0
    low, high = float(scores.min()), float(scores.max())
    margin = 0.08 * ((high - low) or max(1.0, abs(high)))  # a width for scores of any size
    return low - margin, high + margin


def _names(edges: Sequence[float]) -> list[str]:
    if not edges:
        return ["all"]
    texts = [f"{edge:.3g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *between, f"from {texts[-1]}"]


def _draw_rates(
    axes: Axes, levels: Sequence[_Level], span: tuple[float, float], names: Sequence[str], *, narrow: bool
) -> None:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    norm, shading = Normalize(0, _highest(levels)), colormaps["Blues"].with_extremes(bad=_EMPTY_COLOUR)
    for number, level in enumerate(levels):
        shades = shading(norm(np.ma.masked_invalid(level.rate)))[:, :3]
        bands = np.diff(level.ends) * _BANDS / (span[1] - span[0])
        strength = np.where(level.count, np.clip(level.count / bands / _MIN_ROWS, _MIN_SHADE, 1), 1)
        shades = 1 - strength[:, None] * (1 - shades)  # towards white
        axes.pcolormesh(level.ends, [number, number + 1], shades[None, :, :])
    label = "uncertainty" if len(levels) == 1 else "uncertainty (less certain \u2192)"
    axes.set(ylabel=label, xlim=span, ylim=(0, len(levels)))
    step = -(-len(levels) // 12)
    rows = [rows_of(int(level.count.sum())) for level in levels]
    labels = [f"{name}\n{size}" for name, size in zip(names, rows, strict=True)]
    axes.set_yticks(np.arange(0, len(levels), step) + 0.5, labels[::step])
    axes.tick_params(axis="y", length=0)
    colours = ScalarMappable(norm, shading)
    colour_bar_style: dict[str, Any] = {"fraction": 0.06, "pad": 0.02}
    if narrow:
        colour_bar_style["location"] = "bottom"
    bar: Any = axes.figure.colorbar(colours, ax=axes, label="positive rate", **colour_bar_style)
    bar.outline.set_visible(False)


def _highest(levels: Sequence[_Level]) -> float:
    rates = np.concatenate([level.rate for level in levels])
    return float(np.nanmax(rates, initial=0.0)) or 1.0


def _draw_boundary(
    axes: Axes, name: str, line: tuple[float | None, ...], levels: int, style: dict[str, Any]
) -> None:
    """Draw a step line along the thresholds; a bin without a threshold has its step right of the axes."""
    from matplotlib import patheffects

    thresholds = line if len(line) == levels else line * levels
    low, high = axes.get_xlim()
    outside = high + (high - low)
    score = np.repeat(
        [outside if threshold is None else max(threshold, low - (high - low)) for threshold in thresholds], 2
    )
    height = np.repeat(np.arange(levels + 1), 2)[1:-1]
    outline = [patheffects.withStroke(linewidth=style["linewidth"] + 1.6, foreground="white")]
    axes.plot(score, height, label=name, solid_joinstyle="miter", path_effects=outline, **style)
    axes.set_xlim(low, high)


def _draw_curves(
    axes: Axes, levels: Sequence[_Level], span: tuple[float, float], names: Sequence[str], columns: int
) -> None:
    first = (
        0 if len(levels) <= _MAX_CURVES else (len(levels) - 1) // 3
    )  # the lowest levels have few positives
    numbers = distinct_numbers(
        np.linspace(first, len(levels) - 1, min(_MAX_CURVES, len(levels))).round().astype(int)
    )
    for number, colour in zip(numbers.tolist(), level_colours(len(numbers)), strict=True):
        level = levels[number]
        rate = level.rate
        pairs = zip(level.positives.tolist(), level.count.tolist(), strict=True)
        bounds = np.array([clopper_pearson(*pair, CONFIDENCE) for pair in pairs])
        errors = np.nan_to_num(np.maximum([rate - bounds[:, 0], bounds[:, 1] - rate], 0))
        style = {"color": colour, "linewidth": 1.6, "marker": "o", "markersize": 3, "elinewidth": 0.7}
        farther = np.diff(level.position) > _MAX_GAP * (span[1] - span[0])
        gaps = np.flatnonzero(farther) + 1  # no line where there are no rows
        broken = (np.insert(values, gaps, np.nan, axis=-1) for values in (level.position, rate, errors))
        position, broken_rate, broken_errors = broken
        axes.errorbar(position, broken_rate, yerr=broken_errors, label=names[number], **style)
    axes.set(ylabel="positive rate (95 % CI)", xlim=span)
    axes.set_ylim(0, min(1.02, 1.3 * _highest(levels)))
    if len(levels) > 1:
        style = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False, "borderpad": 0}
        if sum(len(names[number]) for number in numbers.tolist()) > _LONGEST_LEGEND:
            columns = 1
        axes.legend(title="uncertainty", alignment="left", ncols=columns, columnspacing=1.0, **style)
