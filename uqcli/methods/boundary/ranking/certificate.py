"""Certified boundaries: guaranteed precision on new data, at a stated risk.

A small pilot ranks nested boundaries. The other rows test them in sequence, beginning with the safest by the
pilot, each at the full level, until a test fails. The sequence is fixed before any test row is seen. The
precision of the last certified boundary is therefore below the bound with probability at most delta, for any
distribution of the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from uqcli.counts import Cells, Floats, Ints
from uqcli.defaults import LOWEST
from uqcli.methods.boundary.ranking.smoothing import NestedBoundaries, nested_boundaries

PILOT_PARTS = 5
"""Inverse of the share of rows in the pilot."""


@dataclass(frozen=True, kw_only=True)
class Certified:
    """Loosest certified boundary.

    Attributes
    ----------
    thresholds
        Threshold per uncertainty bin: None never flags, the lowest finite double always flags.
    p_value
        Probability of at least as many true positives among the tested rows at exactly the bound.
    tested, selected, true_positives
        Tested rows, those of them that the boundary selects, and the positive ones of these.
    """

    uncertainty_edges: Floats
    thresholds: tuple[float | None, ...]
    p_value: float
    tested: int
    selected: int
    true_positives: int


@dataclass(frozen=True, kw_only=True)
class NotCertified:
    """Why no boundary is certified.

    Attributes
    ----------
    p_value
        p-value of the first boundary tested; None if nothing could be tested.
    rows_needed
        Approximate size of a sufficient calibration set; None if these rows do not suggest that any size
        suffices.
    """

    p_value: float | None
    rows_needed: int | None


def certify(pilot: Cells, test: Cells, bound: Fraction, delta: float) -> Certified | NotCertified:
    """Find the loosest nested boundary whose precision is at least the bound, at risk delta.

    Parameters
    ----------
    pilot, test
        Counts of disjoint rows with the same edges, those of the pilot.
    bound
        In (0, 1].
    delta
        In (0, 1).
    """
    nested = nested_boundaries(pilot)
    true_positives, selected = nested.counts_of(test)
    start = _safest(nested, pilot, float(bound))
    if start is None:
        return NotCertified(p_value=None, rows_needed=None)
    p_values = _p_values(true_positives[start:], selected[start:], float(bound))
    failed = np.flatnonzero(~(p_values <= delta))
    certified = int(failed[0]) if len(failed) else len(p_values)
    if certified == 0:
        times = _times_needed(int(true_positives[start]), int(selected[start]), float(bound), delta)
        rows = None if times is None else math.ceil(times * (pilot.total + test.total))
        return NotCertified(p_value=float(p_values[0]), rows_needed=rows)
    last = start + certified - 1
    return Certified(
        uncertainty_edges=pilot.uncertainty_edges,
        thresholds=_thresholds(pilot, nested.tops(last, len(pilot.rows))),
        p_value=float(p_values[certified - 1]),
        tested=test.total,
        selected=int(selected[last]),
        true_positives=int(true_positives[last]),
    )


def _safest(nested: NestedBoundaries, pilot: Cells, bound: float) -> int | None:
    """Return the boundary whose smoothed pilot rate is farthest above the bound, in standard errors."""
    count = np.concatenate([row.count for row in pilot.rows])[nested.order]
    selected = nested.selected
    flags_rows = selected > 0
    if bound >= 1 or not flags_rows.any():
        return None
    expected = np.cumsum(count * nested.rate)
    z = np.full(len(count), -np.inf)
    z[flags_rows] = (expected[flags_rows] - bound * selected[flags_rows]) / np.sqrt(
        bound * (1 - bound) * selected[flags_rows]
    )
    return int(np.argmax(z))


def _p_values(true_positives: Ints, selected: Ints, bound: float) -> Floats:
    """Compute ``P(Bin(selected, bound) >= true_positives)``, 1 if nothing is selected."""
    from scipy.special import bdtrc

    p_values = np.ones(len(selected))
    hit = true_positives > 0
    p_values[hit] = bdtrc(true_positives[hit] - 1.0, selected[hit], bound)
    return p_values


def _times_needed(true_positives: int, selected: int, bound: float, delta: float) -> float | None:
    """Return the factor on the number of rows for a boundary to pass, by the normal approximation."""
    from scipy.special import ndtri

    if selected == 0:
        return None
    z = (true_positives - bound * selected) / math.sqrt(bound * (1 - bound) * selected)
    return None if z <= 0 else max(1.0, (float(ndtri(1 - delta)) / z) ** 2)


def _thresholds(cells: Cells, tops: tuple[int, ...]) -> tuple[float | None, ...]:
    """Return the lower edges of the cells taken; raising them would use the tested labels."""
    thresholds: list[float | None] = []
    for row, top in zip(cells.rows, tops, strict=True):
        first = len(row.count) - top
        thresholds.append(None if top == 0 else LOWEST if first == 0 else float(row.lower[first]))
    return tuple(thresholds)
