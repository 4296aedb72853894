"""Progress on a terminal's standard error, once a run has taken a while."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from uqcli.files import STDIO
from uqcli.running.interruption import when_interrupted
from uqcli.running.progress import Step, listen

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE: Final = 2.0
"""Seconds without a word."""


class TerminalProgress:
    """Shows the piece of work that was heard of last: how much, how fast, and how long it will take."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._work = ""
        self._since = self._begun

    def heard(self, step: Step) -> None:
        """See Listener."""
        now = time.monotonic()
        if step.work != self._work or step.done == 0:
            self._work, self._since = step.work, now
            self._clear_task()
        if now - self._begun < _PATIENCE:
            return
        bar = self._shown()
        if self._task is None:
            self._task = bar.add_task(step.work, total=None)
        speed = step.done / max(now - self._since, 1e-3)
        words = f"{step.done:,} {step.unit}, {speed:,.0f} a second"
        total = None if step.share is None else 1.0
        bar.update(self._task, description=f"{step.work}: {words}", total=total, completed=step.share or 0)

    def stop(self) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _clear_task(self) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None

    def _shown(self) -> Progress:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            when_interrupted(_show_cursor)
            self._bar.start()
        return self._bar


def _show_cursor() -> None:
    """Clear the line and show the cursor, which the bar hides; takes no lock."""
    with suppress(OSError):
        os.write(2, b"\r\x1b[2K\x1b[?25h")


_shown: list[TerminalProgress] = []


def show_progress(output: str | None) -> None:
    """Show progress from now on where standard error is a terminal that no rows are written to.

    Parameters
    ----------
    output
        Where rows go; None and ``-`` are standard output.
    """
    if not sys.stderr.isatty() or (output == STDIO and sys.stdout.isatty()):
        return
    _shown[:] = [TerminalProgress()]
    listen(_shown[0])


def hide_progress() -> None:
    """Show none any more."""
    listen(None)
    while _shown:
        _shown.pop().stop()
