"""Net benefit of a boundary, and the paired difference of two, with intervals."""

from __future__ import annotations

from fractions import Fraction

from uqcli.document import Estimate
from uqcli.methods.evaluate.difference import Chosen, PairedSelections
from uqcli.methods.evaluate.net_benefit import net_benefit, net_benefit_interval, net_benefits_interval


def net_benefit_estimate(flagged: Chosen, rows: int, odds: Fraction, confidence: float) -> Estimate:
    """Compute the net benefit of the flagged rows, with its interval.

    Parameters
    ----------
    rows
        All rows (at least one), by weight.
    """
    low, high = net_benefit_interval(flagged, rows, odds, confidence)
    return Estimate(value=net_benefit(flagged, rows, odds), low=low, high=high)


def net_benefit_difference(pair: PairedSelections, rows: int, odds: Fraction, confidence: float) -> Estimate:
    """Compute the net benefit of the second selection less that of the first, with its interval."""
    low, high = net_benefits_interval(pair, rows, odds, confidence)
    more = Chosen(
        positives=pair.gained.positives - pair.lost.positives,
        negatives=pair.gained.negatives - pair.lost.negatives,
    )
    return Estimate(value=net_benefit(more, rows, odds), low=low, high=high)
