"""Designs of rows as tests make them: counts of what two rules flag, and rows with weights."""

from uqcli.base.sampling_weights import UNITS, WeightSums
from uqcli.estimates.design import CLEARED, FLAGGED, IndependentRows, WeightedRows


def independent(lost, kept, gained, neither, confidence):
    """Return rows by which of two rules flags them, as (positive, negative) numbers."""
    flags = {(FLAGGED, CLEARED): lost, (FLAGGED, FLAGGED): kept, (CLEARED, FLAGGED): gained}
    sets = {**flags, (CLEARED, CLEARED): neither}
    counts = {
        (decisions, label): pair[not label] for decisions, pair in sets.items() for label in (True, False)
    }
    return IndependentRows(confidence=confidence, counts=counts)


def one_rule(positives, negatives, rows, confidence):
    """Return rows of which the first rule flags so many, and the second none; the others are negative."""
    return independent((positives, negatives), (0, 0), (0, 0), (0, rows - positives - negatives), confidence)


def weighted(rows, confidence):
    """Return (flagged by the first, flagged by the second, label, weight) rows as a design."""
    sums = {}
    for first, second, label, weight in rows:
        key = (FLAGGED if first else CLEARED, FLAGGED if second else CLEARED), label
        sums[key] = sums.get(key, WeightSums()) + WeightSums.alike(1, round(weight * UNITS))
    return WeightedRows(confidence=confidence, sums=sums)
