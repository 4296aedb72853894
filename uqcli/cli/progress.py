"""Progress on a terminal's standard error, shown after some seconds of a run."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from uqcli.base.files import STDIO
from uqcli.base.running.interruption import register_cleanup
from uqcli.base.running.progress import set_receiver

if TYPE_CHECKING:
    from rich.progress import Progress

_DELAY_SECONDS: Final = 2.0
"""Seconds of a run before progress is shown."""


class TerminalProgress:
    """Progress bar of the latest task: amount done, speed and remaining time."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._bar: Progress | None = None
        self._task = ""
        self._task_started = self._started

    def update(self, task: str, done: int, unit: str, share: float | None) -> None:
        """Show a progress event (see uqcli.base.running.progress)."""
        now = time.monotonic()
        if task != self._task or done == 0:
            self._task, self._task_started = task, now
            if self._bar is not None:
                self._bar.reset(self._bar.task_ids[0])
        if now - self._started < _DELAY_SECONDS:
            return
        if self._bar is None:
            self._bar = _bar()
            self._bar.start()
        speed = done / max(now - self._task_started, 1e-3)
        description = f"{task}: {done:,} {unit}, {speed:,.0f} a second"
        total = None if share is None else 1.0
        self._bar.update(self._bar.task_ids[0], description=description, total=total, completed=share or 0)

    def stop(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()


def _bar() -> Progress:
    """Create a bar with one task; it hides the cursor, so a cleanup restores it after a signal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    text, width = TextColumn("{task.description}", markup=False), BarColumn(bar_width=24)
    bar = Progress(text, width, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    bar.add_task("", total=None)
    register_cleanup(_show_cursor)
    return bar


def _show_cursor() -> None:
    """Clear the line and show the cursor; takes no lock."""
    with suppress(OSError):
        os.write(2, b"\r\x1b[2K\x1b[?25h")


_displays: list[TerminalProgress] = []


def show_progress(output: str | None) -> None:
    """Start showing progress if standard error is a terminal, and no rows go to the same terminal."""
    if not sys.stderr.isatty() or (output == STDIO and sys.stdout.isatty()):
        return
    _displays[:] = [TerminalProgress()]
    set_receiver(_displays[0].update)


def hide_progress() -> None:
    """Stop showing progress."""
    set_receiver(None)
    while _displays:
        _displays.pop().stop()
