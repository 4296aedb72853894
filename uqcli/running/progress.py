"""How far a run is: told by those who work, shown by whoever listens; nobody does unless a terminal waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

Hear = Callable[[str, int, str, float | None], None]
"""Takes what ``tell`` is told; called often."""

_listening: list[Hear] = []


def listen(hear: Hear | None) -> None:
    """Let somebody hear of every step from now on; None for nobody."""
    _listening[:] = [] if hear is None else [hear]


def tell(work: str, done: int, unit: str, share: float | None) -> None:
    """Say how far a piece of work is.

    Parameters
    ----------
    work
        What is done, such as ``reading``; another name is another piece.
    done
        How much of it, in its unit.
    share
        From 0 to 1; None where nobody can say.
    """
    for hear in _listening:
        hear(work, done, unit, share)


def followed(items: Iterable[T], work: str, total: int, unit: str = "draws") -> Iterator[T]:
    """The same items, each told when it has been worked on.

    Examples
    --------
    >>> list(followed("ab", "drawing", 2))
    ['a', 'b']
    """
    for number, item in enumerate(items, start=1):
        yield item
        tell(work, number, unit, number / max(total, 1))
