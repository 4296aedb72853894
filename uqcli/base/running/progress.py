"""Progress events, shown only on a terminal, and the rows that each input had."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

T = TypeVar("T")

Receiver = Callable[[str, int, str, float | None], None]
"""Receives progress events; called often."""

_receivers: list[Receiver] = []


def set_receiver(receiver: Receiver | None) -> None:
    """Register the receiver of progress events; None for none."""
    _receivers[:] = [] if receiver is None else [receiver]


def report_progress(task: str, done: int, unit: str, share: float | None) -> None:
    """Report the progress of a task: what is done, and its share from 0 to 1, or None if unknown."""
    for receiver in _receivers:
        receiver(task, done, unit, share)


def with_progress(items: Iterable[T], task: str, total: int) -> Iterator[T]:
    """Yield the results of draws, reporting progress after each.

    Examples
    --------
    >>> list(with_progress("ab", "drawing", 2))
    ['a', 'b']
    """
    for done, item in enumerate(items, start=1):
        yield item
        report_progress(task, done, "draws", done / max(total, 1))


_rows: Final[dict[str, int]] = {}


def rows_read(name: str, rows: int) -> None:
    """Record the rows of a completely read input."""
    _rows[name] = rows


def rows_by_input() -> dict[str, int]:
    """Return the rows of each input read so far, unusable ones included."""
    return dict(_rows)


def clear() -> None:
    """Clear the counts for a new run."""
    _rows.clear()
