"""Certified boundaries: a precision that new rows keep, but for a chosen risk.

A small pilot ranks nested boundaries; the other rows test them, from the one that the pilot finds safest to
looser ones, each at the full level, until one cannot be certified. The sequence is fixed before a row of
the test is looked at, so the precision of the last certified boundary is below the bound with a chance of
at most delta, whatever the law of the rows.
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
"""One row in so many ranks the boundaries."""


@dataclass(frozen=True, kw_only=True)
class Certified:
    """The loosest certified boundary.

    Attributes
    ----------
    thresholds
        Of each uncertainty bin: None = never positive, the lowest finite double = always.
    p_value
        Chance of so many true positives among the tested rows if the precision were just the bound.
    tested, selected, true_positives
        Rows of the test, and what the boundary selects of them.
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
        Of the boundary that was tested first; None where nothing could be tested.
    rows_needed
        About how many hold-out rows would do; None where these do not show that any number would.
    """

    p_value: float | None
    rows_needed: int | None


def certify(pilot: Cells, test: Cells, bound: Fraction, delta: float) -> Certified | NotCertified:
    """The loosest nested boundary whose precision is at least the bound, but for a risk of delta.

    Parameters
    ----------
    pilot, test
        Counts of different rows under the same edges, those of the pilot.
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
    fails = np.flatnonzero(~(p_values <= delta))
    certified = int(fails[0]) if len(fails) else len(p_values)
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
    """Where the smoothed rates of the pilot lie farthest above the bound, in standard errors."""
    count = np.concatenate([row.count for row in pilot.rows])[nested.order]
    selected = nested.selected
    there = selected > 0
    if bound >= 1 or not there.any():
        return None
    expected = np.cumsum(count * nested.rate)
    z = np.full(len(count), -np.inf)
    z[there] = (expected[there] - bound * selected[there]) / np.sqrt(bound * (1 - bound) * selected[there])
    return int(np.argmax(z))


def _p_values(true_positives: Ints, selected: Ints, bound: float) -> Floats:
    """``P(Bin(selected, bound) >= true_positives)``, 1 where nothing is selected."""
    from scipy.special import bdtrc

    p_values = np.ones(len(selected))
    hit = true_positives > 0
    p_values[hit] = bdtrc(true_positives[hit] - 1.0, selected[hit], bound)
    return p_values


def _times_needed(true_positives: int, selected: int, bound: float, delta: float) -> float | None:
    """How many times as many rows would let a boundary pass, by the normal approximation."""
    from scipy.special import ndtri

    if selected == 0:
        return None
    z = (true_positives - bound * selected) / math.sqrt(bound * (1 - bound) * selected)
    return None if z <= 0 else max(1.0, (float(ndtri(1 - delta)) / z) ** 2)


def _thresholds(cells: Cells, tops: tuple[int, ...]) -> tuple[float | None, ...]:
    """Lower ends of the cells taken; they are not raised, which would look at the tested labels."""
    thresholds: list[float | None] = []
    for row, top in zip(cells.rows, tops, strict=True):
        first = len(row.count) - top
        thresholds.append(None if top == 0 else LOWEST if first == 0 else float(row.lower[first]))
    return tuple(thresholds)
