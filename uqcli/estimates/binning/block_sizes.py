"""Bin sizes of pava-bc [TCE sec. 3].

With the paper's N//20 and N//5, every bin keeps at least a twentieth of the rows, and its test gains power
with N. In large files the test detects the slope of the rate within a bin, and rejects true probabilities. A
bin of n rows is n/N wide and resolves sqrt(rate (1 - rate) / n), so n must grow more slowly than N^(2/3).
"""

from __future__ import annotations

from math import isqrt

from uqcli.base import defaults
from uqcli.base.blockwise import total
from uqcli.base.choices import BinSizing
from uqcli.base.counts import Ints, ValueCounts
from uqcli.base.records import dataclass


@dataclass(frozen=True, kw_only=True)
class BlockSizes:
    """Minimum and maximum number of rows per bin of pava-bc.

    Attributes
    ----------
    n_min, n_max
        Explicit bounds; None for the default, which never contradicts the other bound.
    sizing
        ``auto`` bounds grow with the square root of the rows, and are larger if positives are rare; ``paper``
        bounds are N//20 and N//5.
    """

    n_min: int | None = None
    n_max: int | None = None
    sizing: BinSizing = defaults.BIN_SIZES

    def bounds(self, counts: ValueCounts) -> tuple[int, int]:
        """Return the bounds n_min and n_max for these rows."""
        return self.bounds_for(counts.rows, total(counts.positives))

    def bounds_for(self, rows: int, positives: int) -> tuple[int, int]:
        """Return the bounds n_min and n_max for a number of rows and positives.

        Examples
        --------
        >>> BlockSizes().bounds_for(1_000_000, 500_000), BlockSizes().bounds_for(1_000, 500)
        ((2000, 8000), (50, 200))
        """
        n_min = max(1, self._default_min(rows, positives)) if self.n_min is None else self.n_min
        if self.n_min is None and self.n_max is not None:
            n_min = max(1, min(n_min, self.n_max))
        if self.n_max is not None:
            return n_min, self.n_max
        n_max = rows // 5 if self.sizing is BinSizing.PAPER else min(rows // 5, 4 * n_min)
        return n_min, max(1, n_max) if self.n_min is None else max(n_min, n_max)

    def _default_min(self, rows: int, positives: int) -> int:
        twentieth, spread = rows // 20, positives * (rows - positives)
        if self.sizing is BinSizing.PAPER or spread == 0:
            return twentieth
        return min(twentieth, isqrt(rows**3 // spread))


def size_notes(count: Ints, n_min: int, n_max: int) -> list[str]:
    """Return the notes on the sizes of pava-bc bins; count has shape (B,)."""
    notes = []
    if n_max < 2 * n_min:
        notes.append(f"n_max {n_max} is below twice n_min {n_min}, so some bins cannot be split.")
    large = [str(index + 1) for index, size in enumerate(count.tolist()) if size > n_max]
    if large:
        subject = f"bin {large[0]} has" if len(large) == 1 else f"bins {', '.join(large)} have"
        notes.append(f"{subject} more than {n_max:,} rows, because of ties or merges.")
    return notes
