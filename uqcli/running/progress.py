"""How far a run is: told by those who work, shown by whoever listens; nobody does unless a terminal waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Step:
    """Where a piece of work is.

    Attributes
    ----------
    work
        What is done, such as ``reading``; another name is another piece.
    done
        How much of it, in its unit.
    share
        From 0 to 1; None where nobody can say.
    """

    work: str
    done: int
    unit: str
    share: float | None


class Listener(Protocol):
    """Shows steps."""

    def heard(self, step: Step) -> None:
        """Take notice; called often."""


_listeners: list[Listener] = []


def listen(listener: Listener | None) -> None:
    """Let somebody hear of every step from now on; None for nobody."""
    _listeners[:] = [] if listener is None else [listener]


def tell(work: str, done: int, unit: str, share: float | None) -> None:
    """Say how far a piece of work is."""
    for each in _listeners:
        each.heard(Step(work=work, done=done, unit=unit, share=share))


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
