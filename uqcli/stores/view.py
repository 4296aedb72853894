"""What a run has seen of the stores: from its beginning to its end it sees the same.

Folders are listed once, and an object that is read again must be the one that was read first. Outside
a run nothing is remembered: a session from Python may write what it has read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uqcli.stores.folders import Entry


@dataclass
class View:
    """Listings by folder, and versions by address."""

    listings: dict[str, tuple[Entry, ...]] = field(default_factory=dict)
    versions: dict[str, Hashable] = field(default_factory=dict)


_views: list[View] = []  # no context variable: threads of the run see it, too


def current_view() -> View:
    """What this run remembers; something that is forgotten at once outside a run."""
    return _views[-1] if _views else View()


@contextmanager
def one_view() -> Iterator[None]:
    """A run."""
    _views.append(View())
    try:
        yield
    finally:
        _views.pop()
