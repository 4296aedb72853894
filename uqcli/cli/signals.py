"""Signals that end a run at once, without leaving temporary files.

A Python-level handler would wait until the compiled (numba or polars) call returns. The interpreter therefore
writes the signal's number to a wake-up file descriptor. A daemon thread reads it, removes temporary files and
ends the process.
"""

from __future__ import annotations

import os
import signal
import threading
import time

from uqcli.base.errors import TERMINATION_SIGNALS
from uqcli.base.operating_system import mask_signals, never_wait
from uqcli.base.running.interruption import (
    changing,
    pending_files,
    remove_temporaries,
    replaced_files,
    run_cleanup,
)
from uqcli.cli.failed_run import write_signal_failure

_TIMEOUT_SECONDS = 2.0
"""Seconds to wait for a rename, an error line or the end of the process before a signal ends it."""

_ended = threading.Event()


def install_handlers() -> None:
    """Install the handlers; a signal that the parent ignores (nohup, background jobs) stays ignored."""
    read_end, write_end = os.pipe()
    never_wait(write_end)
    mask_signals(TERMINATION_SIGNALS, block=True)  # lose none while handlers change
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(read_end,), daemon=True, name="signals").start()
    handled = {
        signal_number
        for signal_number in TERMINATION_SIGNALS
        if signal.getsignal(signal_number) is not signal.SIG_IGN
    }
    for signal_number in handled:
        signal.signal(signal_number, _do_nothing)
    # ignored signals stay blocked, since polars replaces SIG_IGN with its own handler
    mask_signals(handled, block=False)


def mark_ended() -> None:
    """Mark the run as ended: a later signal does not change its message or exit code."""
    with changing:
        _ended.set()


def ignore_signals() -> None:
    """Ignore signals while the interpreter exits; it would restore the defaults, which kill silently."""
    for signal_number in TERMINATION_SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)


def _do_nothing(_number: int, _frame: object) -> None:
    """Do nothing; the interpreter writes to the wake-up descriptor only if a Python handler exists."""


def _watch(read_end: int) -> None:
    while True:
        signal_number = os.read(read_end, 1)[0]
        if signal_number in TERMINATION_SIGNALS:
            _end(128 + signal_number, TERMINATION_SIGNALS[signal.Signals(signal_number)])


def _end(code: int, outcome: str) -> None:
    """Clean up and end the process, while no file is renamed and no other error is printed."""
    changing.acquire(timeout=_TIMEOUT_SECONDS)
    if _ended.is_set():
        time.sleep(_TIMEOUT_SECONDS)  # the process ends by itself unless something blocks it
    else:
        remove_temporaries()
        os.write(2, f"error: {outcome}; {_state_of_outputs()}\n".encode("utf-8", "backslashreplace"))
        write_signal_failure(code, outcome)
        run_cleanup()
    os._exit(code)


def _state_of_outputs() -> str:
    changes = [
        f"{verb}: {', '.join(map(repr, names))}"
        for verb, names in (("written before", replaced_files()), ("may be written", pending_files()))
        if names
    ]
    return " ".join("; ".join(changes or ["no output file was changed"]).split())
