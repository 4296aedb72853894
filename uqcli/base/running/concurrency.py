"""Concurrency: read ahead in a thread, and parallel map in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from queue import Empty, Full, Queue
from threading import Condition, Event, Thread
from typing import Any, Final, TypeVar

from uqcli.base.running.machine import threads

T = TypeVar("T")
R = TypeVar("R")

_QUEUE_SIZE: Final = 2
_IN_FLIGHT: Final = 2
"""Tasks of each thread that are waiting, running or finished."""

_POLL_SECONDS: Final = 0.1
"""Seconds between checks, while a reader is blocked, whether its consumer has closed."""


_abandoned: ContextVar[Event | None] = ContextVar("abandoned", default=None)
_failed: ContextVar[Event | None] = ContextVar("failed", default=None)
"""Set when a task of the parallel map that waits for the next item has failed."""


def is_abandoned() -> bool:
    """Whether the consumer of this reader thread has closed."""
    event = _abandoned.get()
    return event is not None and event.is_set()


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Iterate in order, with a thread that produces a few items ahead.

    The items end early if a task of the parallel map that takes them has failed, since a pipe may be silent
    for hours.
    """
    queue: Queue[tuple[T | None, BaseException | None] | None] = Queue(_QUEUE_SIZE)
    closed = Event()

    def put(entry: tuple[T | None, BaseException | None] | None) -> None:
        while not closed.is_set():
            try:
                queue.put(entry, timeout=_POLL_SECONDS)
            except Full:
                continue
            return

    def make() -> None:
        _abandoned.set(closed)
        try:
            for item in items:
                put((item, None))
                if closed.is_set():
                    return
            put(None)
        except BaseException as error:
            put((None, error))

    def take() -> tuple[T | None, BaseException | None] | None:
        failed = _failed.get()
        while True:
            try:
                return queue.get(timeout=_POLL_SECONDS)
            except Empty:
                if failed is not None and failed.is_set():
                    return None

    thread = Thread(target=copy_context().run, args=(make,), daemon=True)
    thread.start()
    try:
        while (entry := take()) is not None:
            item, error = entry
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        closed.set()
        thread.join()


class Threads(ThreadPoolExecutor):
    """A pool whose threads work in the context of who submits, so that what they say belongs to the run."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Submit work, which runs in a copy of this context."""
        return super().submit(copy_context().run, fn, *args, **kwargs)


class Turns:
    """Turns of tasks that run in parallel, but do a part of their work in their order.

    Tasks must be begun in this order, so that the one whose turn it is runs.
    """

    def __init__(self) -> None:
        self._next = 0
        self._over: set[int] = set()
        self._changed = Condition()

    def take(self, turn: int, prepare: Callable[[], T], work: Callable[[T], None]) -> T:
        """Prepare at once, and work on what was prepared when all lower turns are over."""
        try:
            prepared = prepare()
            with self._changed:
                self._changed.wait_for(lambda: self._next == turn)
            work(prepared)
            return prepared
        finally:  # also after an error, so that no other task waits for ever
            with self._changed:
                self._over.add(turn)
                while self._next in self._over:
                    self._over.remove(self._next)
                    self._next += 1
                self._changed.notify_all()


_idle: dict[int, list[Threads]] = {}
"""Pools that no map uses, by their number of threads; a child process has none of the threads."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


@contextmanager
def pool_of(workers: int) -> Iterator[Threads]:
    """Lend a pool of threads, which take longer to start than many maps; a map inside a map gets another."""
    idle = _idle.setdefault(workers, [])
    try:
        pool = idle.pop()
    except IndexError:
        pool = Threads(workers)
    try:
        yield pool
    finally:
        idle.append(pool)


def parallel_map(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Map in parallel and yield the results in order; two a thread are in memory at a time.

    An error of the items is raised after the results of those before it, as in a loop. A single item needs
    no thread, nor does a single core.
    """
    if (isinstance(items, Sequence) and len(items) < 2) or (workers := threads()) == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[R]] = deque()
    left, error = iter(items), None
    failed = Event()

    def tried(item: T) -> R:
        try:
            return work(item)
        except BaseException:
            failed.set()
            raise

    def next_item() -> T:
        token = _failed.set(failed)
        try:
            return next(left)
        finally:
            _failed.reset(token)

    with pool_of(workers) as pool:
        try:
            while True:
                try:
                    item = next_item()
                except StopIteration:
                    break
                except Exception as failure:
                    error = failure
                    break
                waiting.append(pool.submit(tried, item))
                while waiting and (len(waiting) >= _IN_FLIGHT * workers or waiting[0].done()):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # the caller may have stopped early
            wait([future for future in waiting if not future.cancel()])
    if error is not None:
        raise error
