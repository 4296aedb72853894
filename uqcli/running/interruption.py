"""What is to be done when a signal ends the run, beside removing files: known to who starts it."""

from __future__ import annotations

from collections.abc import Callable

_works: list[Callable[[], None]] = []


def when_interrupted(work: Callable[[], None]) -> None:
    """Have something done once a signal ends the run; it must not take long."""
    _works.append(work)


def answer_interruption() -> None:
    """Do what was asked for; safe to call from another thread."""
    for work in tuple(_works):
        work()
