"""Bins of equal width between 0 and 1 [TCE sec. 3]."""

from __future__ import annotations

from uqcli.base.counts import Floats, ValueCounts
from uqcli.base.errors import DataError
from uqcli.estimates.binning.edges import even_edges, outer_ranks
from uqcli.estimates.binning.registry import BinningRule


def equispaced_edges(counts: ValueCounts, bins: int) -> Floats:
    """Return the edges ``r/bins`` between 0 and 1, whatever the data; float64, shape (bins-1,).

    Raises
    ------
    DataError
        A score is not a probability.
    """
    low, high = float(counts.value[0]), float(counts.value[-1])
    if low < 0 or high > 1:
        raise DataError(
            f"scores from {low:g} to {high:g}",
            expected="probabilities between 0 and 1",
            remedy="divide them by 100 if they are percentages, or calibrate the scores first",
        )
    return even_edges(bins)


RULE = BinningRule(
    edges=lambda counts, sizes: equispaced_edges(counts, sizes.bins),
    ranks=outer_ranks,
    global_score_range=True,
)
