"""Inductive Venn-Abers prediction: isotonic fits with the new row, once as a negative and once as a positive.

Vovk, Petej and Fedorova (2015), "Large-scale probabilistic predictors with and without guarantees of
validity".
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, ValueCounts
from uqcli.calibrate.maps.base import BaseScoreMap, Fit, Interval, not_ascending, not_probabilities
from uqcli.calibrate.scale import Scale
from uqcli.kernels.pava import fits_with_one_more
from uqcli.rules.expressions import Arithmetic, Constant, Expression, Steps, let, minus

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions


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
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> Fit:
        """See BaseScoreMap."""
        del options
        return Fit(map=fit_venn_abers(counts))

    @property
    def has_interval(self) -> bool:
        """See BaseMap."""
        return True

    def contradiction(self) -> str | None:
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
        return Interval(low=low, high=high)

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        del scale
        interval = self.interval(corrected)
        mixed: Floats = interval.high / (1 - interval.low + interval.high)
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


def fit_venn_abers(counts: ValueCounts) -> VennAbersMap:
    """Compute both fits for every score.

    Between two calibration scores, a negative row has the fit of the score below. A positive row has that of
    the score above.

    Parameters
    ----------
    counts
        Corrected scores, at least one.
    """
    low, high = fits_with_one_more(counts.count, counts.positives)
    first = np.append(True, low[1:] > low[:-1])
    last = np.append(high[1:] > high[:-1], True)
    return VennAbersMap(
        low_from=counts.value[first].tolist(),
        low=low[first].tolist(),
        high_to=counts.value[last].tolist(),
        high=high[last].tolist(),
    )
