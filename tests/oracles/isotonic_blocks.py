"""Oracle of the blocks of isotonic fits of labels to scores, made from all rows at once."""

from uqcli.base.counts import ValueCounts
from uqcli.kernels.pava import isotonic_sums


def isotonic_counts(counts):
    """Return the blocks of the fit, each at its first score."""
    if len(counts.value) == 0:
        return counts
    first, count, positives = isotonic_sums(counts.positives, counts.count)
    return ValueCounts(value=counts.value[first], count=count, positives=positives)
