"""Blocks of the isotonic fit of labels on scores."""

from __future__ import annotations

from uqcli.counts import ValueCounts
from uqcli.kernels.pava import isotonic_sums


def isotonic_counts(counts: ValueCounts) -> ValueCounts:
    """Blocks of the isotonic fit of the labels on the score, each at its first score."""
    if len(counts.value) == 0:
        return counts
    first, count, positives = isotonic_sums(counts.positives, counts.count)
    return ValueCounts(value=counts.value[first], count=count, positives=positives)
