"""Oracle of the net benefit, row by row, in exact fractions."""

from fractions import Fraction


def net_benefit(rows, odds):
    """Return the mean over rows of 1 for a true positive, -odds for a false positive, and 0 otherwise.

    Parameters
    ----------
    rows
        (flagged, positive) per row.
    odds
        True positives that are worth one false positive.
    """
    gains = [(Fraction(1) if positive else -odds) if flagged else Fraction(0) for flagged, positive in rows]
    return sum(gains, Fraction(0)) / len(gains)
