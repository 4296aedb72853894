"""Work done side by side: reading ahead of checking, and parts of one job in threads."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from queue import Full, Queue
from threading import Event, Thread
from typing import Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_DEPTH: Final = 2
_MOST_THREADS: Final = 8
_PATIENCE: Final = 0.1
"""Seconds after which a reader looks up whether anyone still waits for it."""


_abandoned: ContextVar[Event | None] = ContextVar("abandoned", default=None)


def is_abandoned() -> bool:
    """Whether nobody waits any more for what this thread reads."""
    event = _abandoned.get()
    return event is not None and event.is_set()


def threads() -> int:
    """How many threads share a job: the cores this process may use."""
    usable = getattr(os, "sched_getaffinity", None)  # not on every system
    return min(_MOST_THREADS, len(usable(0)) if usable else os.cpu_count() or 1)


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items in order, a few of them made by a thread before they are asked for."""
    queue: Queue[tuple[T | None, BaseException | None] | None] = Queue(_DEPTH)
    gone = Event()

    def put(entry: tuple[T | None, BaseException | None] | None) -> None:
        while not gone.is_set():
            try:
                queue.put(entry, timeout=_PATIENCE)
            except Full:
                continue
            return

    def make() -> None:
        _abandoned.set(gone)
        try:
            for item in items:
                put((item, None))
                if gone.is_set():
                    return
            put(None)
        except BaseException as error:
            put((None, error))

    thread = Thread(target=make, daemon=True)
    thread.start()
    try:
        while (entry := queue.get()) is not None:
            item, error = entry
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        gone.set()
        thread.join()


def side_by_side(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Results of work on each item, in order; a few at a time are in memory."""
    workers = threads()
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
