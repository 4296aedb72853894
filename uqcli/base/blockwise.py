"""Blockwise operations on long arrays, which stay in the cache and allocate no full-length temporaries.

The cut into parts is fixed, and their sums are combined exactly or in order. Threads that share single parts
wait for each other between the short steps of a part, so they take several parts at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from uqcli.base.running.concurrency import parallel_map
from uqcli.base.running.machine import threads

T = TypeVar("T")
Counts = NDArray[np.signedinteger[Any]]
"""Counts of any width; sums are 64 bits wide."""

VALUES_PER_PART: Final = 1 << 14
"""Values per part."""

_PARTS_PER_TASK: Final = 8
"""Parts that a thread takes at once, or two for each thread if that is more: many threads wait longer."""

FEW_VALUES: Final = 1000
"""Values up to which even asking for the number of threads would take as long as the work."""

COUNTS_PER_PART: Final = 1 << 18
"""Counts per part; their sums are exact in any parts."""


def parts(stop: int, size: int = 0) -> list[slice]:
    """Cut positions 0 to stop-1 into parts, of ``VALUES_PER_PART`` unless a size is given."""
    size = size or VALUES_PER_PART
    return [slice(start, min(stop, start + size)) for start in range(0, stop, size)]


def each_part(work: Callable[[slice], T], stop: int, size: int = 0) -> list[T]:
    """Apply a function to every part of positions 0 to stop-1, in order, in threads if there are many."""
    return each_slice(work, parts(stop, size))


def each_slice(work: Callable[[slice], T], slices: Sequence[slice]) -> list[T]:
    """Apply a function to ascending slices, in order, in threads if they are many or long."""
    if not slices or slices[-1].stop - slices[0].start <= FEW_VALUES:
        return [work(part) for part in slices]
    step = max(1, values_per_task() // max([1, *(part.stop - part.start for part in slices)]))
    tasks = [slices[first : first + step] for first in range(0, len(slices), step)]
    by_task = parallel_map(lambda several: [work(part) for part in several], tasks)
    return [result for results in by_task for result in results]


def values_per_task() -> int:
    """Return the number of values that a thread takes at once: some parts."""
    return VALUES_PER_PART * max(_PARTS_PER_TASK, 2 * threads())


def sums_by_part(terms: Callable[[slice], Iterable[NDArray[np.float64]]], stop: int) -> list[list[float]]:
    """Sum terms over every part of positions 0 to ``stop``-1; return each array's sums by part, in order.

    The function from positions to arrays of terms at them is called in threads.
    """

    def sums(positions: slice) -> list[list[float]]:
        return [part_sums(array) for array in terms(positions)]

    if 0 < stop <= FEW_VALUES:
        return sums(slice(0, stop))
    by_task = parallel_map(sums, parts(stop, values_per_task()))
    return [[value for values in arrays for value in values] for arrays in zip(*by_task, strict=True)]


def total(amount: Counts) -> int:
    """Sum counts exactly.

    Examples
    --------
    >>> total(np.array([3, 1, 2]))
    6
    """
    return int(amount.sum(dtype=np.int64)) if len(amount) <= FEW_VALUES else sum(totals(amount))


def totals(amount: Counts) -> list[int]:
    """Sum counts exactly in each part of ``COUNTS_PER_PART``."""
    return each_part(lambda part: int(amount[part].sum(dtype=np.int64)), len(amount), COUNTS_PER_PART)


def elementwise(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Apply an elementwise function, in threads to several parts at once if there are many values."""
    if len(values) <= FEW_VALUES or len(values) <= (step := values_per_task()):
        return function(values)
    result = np.empty_like(values)

    def fill(start: int) -> None:
        result[start : start + step] = function(values[start : start + step])

    for _ in parallel_map(fill, range(0, len(values), step)):
        pass
    return result


def part_sums(terms: NDArray[np.float64]) -> list[float]:
    """Sum each part of an array, all in the same order of additions."""
    if 0 < len(terms) <= VALUES_PER_PART:
        return [float(terms.sum())]
    whole = len(terms) - len(terms) % VALUES_PER_PART
    sums: list[float] = terms[:whole].reshape(-1, VALUES_PER_PART).sum(axis=1).tolist()
    return sums if whole == len(terms) else [*sums, float(terms[whole:].sum())]
