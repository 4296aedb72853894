"""Progress events, shown only on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

Hear = Callable[[str, int, str, float | None], None]
"""Receives progress events; called often."""

_listening: list[Hear] = []


def listen(hear: Hear | None) -> None:
    """Register the receiver of progress events; None for none."""
    _listening[:] = [] if hear is None else [hear]


def tell(work: str, done: int, unit: str, share: float | None) -> None:
    """Report the progress of a task.

    Parameters
    ----------
    work
        Task, such as ``reading``; another name is another task.
    done
        Amount done, in ``unit``.
    share
        From 0 to 1; None if unknown.
    """
    for hear in _listening:
        hear(work, done, unit, share)


def followed(items: Iterable[T], work: str, total: int, unit: str = "draws") -> Iterator[T]:
    """Yield the items, reporting progress after each.

    Examples
    --------
    >>> list(followed("ab", "drawing", 2))
    ['a', 'b']
    """
    for number, item in enumerate(items, start=1):
        yield item
        tell(work, number, unit, number / max(total, 1))
