"""Draw order statistics within clusters of rows, by which clusters exchange values."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.kernels.compile import kernel_beside


def exchanged_rows(steps: Floats, sizes: Ints, starts: Ints, donor: Ints) -> Ints:
    """Return the row whose value each row takes from the donor of its cluster.

    If both have as many rows, it is the row of the same place. Otherwise rows are drawn with replacement, in
    order: the normalised sums of exponential numbers (steps, one more for each cluster than it has rows) are
    order statistics of uniform ones. Each of C clusters has its number of rows, its first row, and its donor.
    """
    source = np.empty(len(steps) - len(sizes), dtype=np.int64)
    fill_sources.run(len(source) // ROWS_PER_STEP, steps, sizes, starts, donor, source)
    return source


def _fill_source_arrays(steps: Floats, sizes: Ints, starts: Ints, donor: Ints, source: Ints) -> int:
    clusters = np.arange(len(sizes))
    cumulative = np.cumsum(steps)
    first, last = starts + clusters, starts + sizes + clusters
    before = cumulative[first] - steps[first]
    cluster = np.repeat(clusters, sizes)
    rows = np.arange(len(source))
    share = (cumulative[rows + cluster] - before[cluster]) / (cumulative[last] - before)[cluster]
    size = sizes[donor][cluster]
    place = np.minimum((share * size).astype(np.int64), size - 1)
    same = (sizes[donor] == sizes)[cluster]
    source[:] = starts[donor][cluster] + np.where(same, rows - starts[cluster], place)
    return len(source)


@kernel_beside(_fill_source_arrays)
def fill_sources(steps: Floats, sizes: Ints, starts: Ints, donor: Ints, source: Ints) -> int:
    """Fill in the source of each row; see ``exchanged_rows``. Sums are added in order, as numpy does."""
    row = 0
    total = 0.0
    for cluster in range(len(sizes)):
        first = row + cluster
        size = sizes[cluster]
        begin = starts[donor[cluster]]
        available = sizes[donor[cluster]]
        before = (total + steps[first]) - steps[first]
        cumulative = total
        for step in range(size + 1):
            cumulative += steps[first + step]
        if available == size:
            for place in range(size):
                source[row + place] = begin + place
        else:
            whole = cumulative - before
            partial = total
            for place in range(size):
                partial += steps[first + place]
                drawn = int((partial - before) / whole * available)
                source[row + place] = begin + min(drawn, available - 1)
        total = cumulative
        row += size
    return row
