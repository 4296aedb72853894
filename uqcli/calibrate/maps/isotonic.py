"""Isotonic regression on the score: of all rows, within uncertainty bins (MIST), or with one row more.

The last are the two fits of Venn-Abers predictors, with the new row as a negative and as a positive.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

import numpy as np
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, Ints, ValueCounts, bin_of, merge
from uqcli.base.single_precision import unless_between
from uqcli.base.wording import count
from uqcli.calibrate.maps.base import (
    BaseRowMap,
    BaseScoreMap,
    Calibrated,
    Count,
    Features,
    FittedMap,
    Interval,
    Parts,
    ends_of_bins,
    first,
    not_ascending,
    not_probabilities,
)
from uqcli.calibrate.scale import Scale
from uqcli.kernels.interpolation import interpolate, knots_apart, scales_and_slopes
from uqcli.kernels.pava import fits_with_one_more, isotonic_sums
from uqcli.reports.document import Table
from uqcli.rules.expressions import Arithmetic, Constant, Expression, Line, Steps, let, minus

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions


PLAIN: Final = Scale()
"""Scale of scores that are probabilities, not corrected."""


class IsotonicMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="isotonic"):
    """Linear interpolation of the points (x, y), constant outside; x and y ascend."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.ISOTONIC})

    x: Annotated[list[float], Meta(min_length=1)]
    y: Annotated[list[float], Meta(min_length=1)]

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> FittedMap:
        """See BaseScoreMap."""
        return FittedMap(map=fit_isotonic(counts, options.scale))

    def contradiction(self) -> str:
        """See BaseMap."""
        if len(self.x) != len(self.y):
            return "its points have no x and y each"
        ascending = not_ascending(self.x, "x") or not_ascending(self.y, "y")
        return ascending or not_probabilities(self.y)

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        del scale
        return interpolate(corrected, np.array(self.x), np.array(self.y))

    def expression(self, corrected: Expression, scale: Scale) -> Expression:
        """See BaseScoreMap."""
        del scale
        return let(corrected, lambda score: interpolated(score, self.x, self.y))

    def steps(self) -> Sequence[float]:
        """See BaseMap."""
        return self.y[0], self.y[-1]

    def formula(self) -> str:
        """See BaseScoreMap."""
        return f"isotonic, {len(set(self.y))} levels from {self.y[0]:.4f} to {self.y[-1]:.4f}"


def interpolated(argument: Expression, x: Sequence[float], y: Sequence[float]) -> Expression:
    """Interpolate points as ``kernels.interpolation.interpolate`` does, to the same doubles; x and y ascend.

    No product underflows, which some databases refuse.
    """
    knots, levels = knots_apart(np.array(x), np.array(y))
    scales, slopes = (numbers.tolist() for numbers in scales_and_slopes(knots, levels))
    x, y = knots.tolist(), levels.tolist()
    steps: list[tuple[float, Expression]] = [(-math.inf, Constant(y[0]))]
    for segment, (scale, slope) in enumerate(zip(scales, slopes, strict=True)):
        if x[segment] < x[segment + 1]:  # the last of equal points counts
            steps += _segment(
                argument, (x[segment], x[segment + 1]), (y[segment], y[segment + 1]), scale, slope
            )
    steps.append((x[-1], Constant(y[-1])))
    steps = [
        step
        for before, step in zip([None, *steps], steps, strict=False)
        if not before or before[1] != step[1]
    ]
    return _of_runs(argument, steps)


def _segment(
    argument: Expression, x: tuple[float, float], y: tuple[float, float], scale: float, slope: float
) -> list[tuple[float, Expression]]:
    """Return the parts of a segment: a line, constant before its first rise and from its end on."""
    start, value = x[0], y[0]
    if slope == 0:
        return [(start, Constant(value))]

    def rise(score: float) -> float:
        return slope * ((score - start) * scale)

    line: Expression = Line(argument, start, slope, value)
    if scale != 1:
        distance = Arithmetic("*", minus(argument, Constant(start)), Constant(scale))
        line = Arithmetic("+", Arithmetic("*", Constant(slope), distance), Constant(value))
    first, last = math.nextafter(start, x[1]), math.nextafter(x[1], start)
    parts = [(start, line)]
    if first < x[1] and rise(first) == 0:
        rising = first_double(first, x[1], lambda score: rise(score) > 0)
        parts = [(start, Constant(value)), (rising, line)]
    if rise(last) + value > y[1]:
        parts.append((first_double(start, last, lambda score: rise(score) + value > y[1]), Constant(y[1])))
    return parts


def first_double(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """Find the first double above ``low`` for which a condition holds; it holds from there to ``high``."""
    below, above = _ordinal(low), _ordinal(high)
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(_double(middle)) else (middle, above)
    return _double(above)


def _ordinal(number: float) -> int:
    """Return the position of a double among all doubles, 0 for zero."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(number)))
    return int(bits) if number > 0 else -int(bits)


def _double(ordinal: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<q", abs(ordinal)))
    return float(number) if ordinal >= 0 else -float(number)


def _of_runs(argument: Expression, steps: Sequence[tuple[float, Expression]]) -> Expression:
    """Return steps; runs of scaled lines stand apart, so that the others can be a table."""
    runs = [list(run) for _, run in groupby(steps, key=lambda step: isinstance(step[1], Arithmetic))]
    parts = tuple(
        Steps(argument, tuple(edge for edge, _ in run[1:]), tuple(leaf for _, leaf in run)) for run in runs
    )
    return parts[0] if len(parts) == 1 else Steps(argument, tuple(run[0][0] for run in runs[1:]), parts)


def fit_isotonic(counts: ValueCounts, scale: Scale = PLAIN, *, certain: bool = True) -> IsotonicMap:
    """Fit least-squares isotonic regression: constant on blocks, linear between them, constant outside.

    Equal to scikit-learn's IsotonicRegression with ``out_of_bounds="clip"``, but blocks have all scores of
    the 32-bit numbers at their ends. There is at least one score, corrected for undersampling. Unless
    ``certain``, rates are never 0 or 1: such a block has the rate (k+1)/(n+2), or its neighbour's if that is
    closer.
    """
    first, count, positives = isotonic_sums(counts.positives, counts.count)
    last = np.append(first[1:], len(counts.value)) - 1
    rate = positives / count
    if not certain:
        rate = _uncertain(rate, count)
    low, high = _ends(counts.value, first, last, scale)
    if first[0] == last[0]:  # constant below, too
        low[0] = high[0]
    if first[-1] == last[-1]:  # constant above, too
        high[-1] = low[-1]
    block_ends = np.stack([low, high], axis=1)
    is_end = np.stack([np.ones(len(first), dtype=np.bool_), low < high], axis=1)
    return IsotonicMap(x=block_ends[is_end].tolist(), y=np.repeat(rate, is_end.sum(axis=1)).tolist())


def _ends(value: Floats, first: Ints, last: Ints, scale: Scale) -> tuple[Floats, Floats]:
    """Return the lowest and the highest score of runs of scores: alike as 32-bit numbers, in no other run."""
    low, high = scale.ends_alike(value[first])[0], scale.ends_alike(value[last])[1]
    return unless_between(value[first], low, value), unless_between(value[last], high, value)


def _uncertain(rate: Floats, count: Ints) -> Floats:
    """Replace rates of 0 and 1, which only the first and the last block can have."""
    softened = rate.copy()
    below, above = np.concatenate([[0.0], rate])[-2], np.concatenate([rate, [1.0]])[1]
    if rate[0] == 0:
        softened[0] = min(1 / (count[0] + 2), above)
    if rate[-1] == 1:
        softened[-1] = max((count[-1] + 1) / (count[-1] + 2), below)
    return softened


class UncertaintyMap(BaseRowMap, frozen=True, kw_only=True, tag_field="map", tag="by-uncertainty"):
    """One isotonic map per uncertainty bin [UB sec. 5]; an uncertainty v is in bin #{edges <= v}."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.MIST})
    needs_uncertainty: ClassVar[bool] = True

    uncertainty_edges: list[float]
    maps: Annotated[list[IsotonicMap], Meta(min_length=1)]
    count: list[Count]

    def contradiction(self) -> str:
        """See BaseMap."""
        if not len(self.maps) == len(self.uncertainty_edges) + 1 == len(self.count):
            return "its uncertainty bins do not have a map each"
        own = first(isotonic_map.contradiction() for isotonic_map in self.maps)
        return not_ascending(self.uncertainty_edges, "edges") or own

    def predict(
        self, corrected: Floats, scale: Scale, uncertainty: Floats | None = None, features: Features = None
    ) -> Calibrated:
        """See BaseMap."""
        del features
        assert uncertainty is not None  # guaranteed by needs_uncertainty
        bin_index = bin_of(uncertainty, np.array(self.uncertainty_edges, dtype=np.float64))
        result = np.empty(len(corrected))
        for index, fitted in enumerate(self.maps):
            inside = bin_index == index
            result[inside] = fitted.probability(corrected[inside], scale)
        return Calibrated(probability=result)

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        assert uncertainty is not None  # guaranteed by needs_uncertainty
        maps = tuple(fitted.exported(corrected, scale) for fitted in self.maps)
        return Steps(uncertainty, tuple(self.uncertainty_edges), maps)

    def parts(self, uncertainty: Floats | None, leaf: Ints | None) -> Parts | None:
        """Return the parts by uncertainty level."""
        del leaf
        if uncertainty is None:
            return None
        names = tuple(f"uncertainty level {level}" for level in range(1, len(self.maps) + 1))
        return names, np.searchsorted(np.array(self.uncertainty_edges), uncertainty, side="right")

    def steps(self) -> Sequence[float]:
        """See BaseMap."""
        return [step for isotonic_map in self.maps for step in isotonic_map.steps()]

    def tables(self, undersampled: float) -> list[Table]:
        """Tabulate its uncertainty levels."""
        del undersampled
        ends_of_levels = ends_of_bins(self.uncertainty_edges)
        rows = [
            (*ends, count(rows), fitted.formula())
            for ends, fitted, rows in zip(ends_of_levels, self.maps, self.count, strict=True)
        ]
        header = ("uncertainty from", "to", "rows", "calibration")
        return [Table(title="Uncertainty levels", header=header, rows=rows, left=0)]


def fit_by_uncertainty(
    parts: Sequence[ValueCounts], uncertainty_edges: Floats, scale: Scale = PLAIN
) -> UncertaintyMap:
    """Fit isotonic regression per uncertainty bin; an empty bin uses the fit of all rows.

    Parts are the corrected scores of each bin; at least one is not empty.
    """
    pooled = merge(parts)
    return UncertaintyMap(
        uncertainty_edges=uncertainty_edges.tolist(),
        maps=[fit_isotonic(part if part.rows else pooled, scale) for part in parts],
        count=[part.rows for part in parts],
    )


class VennAbersMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="venn-abers"):
    """Isotonic fits with the new row, as a negative (low) and as a positive (high), and their mixture.

    ``low`` holds from each ``low_from`` on, and is 0 below the first. ``high`` holds up to each ``high_to``,
    and is 1 above the last.
    """

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.VENN_ABERS})

    low_from: Annotated[list[float], Meta(min_length=1)]
    low: Annotated[list[float], Meta(min_length=1)]
    high_to: Annotated[list[float], Meta(min_length=1)]
    high: Annotated[list[float], Meta(min_length=1)]

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> FittedMap:
        """See BaseScoreMap."""
        return FittedMap(map=fit_venn_abers(counts, options.scale))

    @property
    def has_interval(self) -> bool:
        """See BaseMap."""
        return True

    def contradiction(self) -> str:
        """See BaseMap."""
        if len(self.low_from) != len(self.low) or len(self.high_to) != len(self.high):
            return "its steps have no score and no probability each"
        if max(self.low) >= 1 or min(self.high) <= 0:
            return "its low probabilities reach 1, or its high ones 0"
        for numbers, name in (
            (self.low_from, "low_from"),
            (self.low, "low"),
            (self.high_to, "high_to"),
            (self.high, "high"),
        ):
            if contradiction := not_ascending(numbers, name):
                return contradiction
        return not_probabilities([*self.low, *self.high])

    def interval(self, corrected: Floats) -> Interval:
        """See BaseScoreMap."""
        low = np.array([0.0, *self.low])[np.searchsorted(self.low_from, corrected, side="right")]
        high = np.array([*self.high, 1.0])[np.searchsorted(self.high_to, corrected, side="left")]
        return low, high

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        del scale
        low, high = self.interval(corrected)
        mixed: Floats = high / (1 - low + high)
        return mixed

    def exported_interval(self, corrected: Expression) -> tuple[Expression, Expression]:
        """See BaseScoreMap."""
        above = [math.nextafter(score, math.inf) for score in self.high_to if score < sys.float_info.max]
        low = Steps(corrected, tuple(self.low_from), tuple(map(Constant, [0.0, *self.low])))
        high = Steps(corrected, tuple(above), tuple(map(Constant, [*self.high, 1.0][: len(above) + 1])))
        return low, high

    def expression(self, corrected: Expression, scale: Scale) -> Expression:
        """See BaseScoreMap."""
        del scale

        def mixed(score: Expression) -> Expression:
            low, high = self.exported_interval(score)
            return let(
                high, lambda upper: Arithmetic("/", upper, Arithmetic("+", minus(Constant(1.0), low), upper))
            )

        return let(corrected, mixed)

    def formula(self) -> str:
        """See BaseScoreMap."""
        return f"Venn-Abers, {len(self.low)} low and {len(self.high)} high levels"


def fit_venn_abers(counts: ValueCounts, scale: Scale = PLAIN) -> VennAbersMap:
    """Compute both fits for every score; there is at least one, corrected for undersampling.

    Between two calibration scores, a negative row has the fit of the score below. A positive row has that of
    the score above. Scores that are the 32-bit number of a calibration score have its fits.
    """
    low, high = fits_with_one_more(counts.count, counts.positives)
    first = np.flatnonzero(np.append(True, low[1:] > low[:-1]))
    last = np.flatnonzero(np.append(high[1:] > high[:-1], True))
    low_from, _ = _ends(counts.value, first, first, scale)
    _, high_to = _ends(counts.value, last, last, scale)
    return VennAbersMap(
        low_from=low_from.tolist(),
        low=low[first].tolist(),
        high_to=high_to.tolist(),
        high=high[last].tolist(),
    )
