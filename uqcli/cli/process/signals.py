"""Signals that end a run: no temporary file stays, and the answer comes at once.

A Python-level handler would wait for the running kernel. The interpreter writes the signal's number to
a wake-up file descriptor instead; a daemon thread reads it, removes temporaries and ends the process.
"""

from __future__ import annotations

import os
import signal
import threading
import time

from uqcli.cli.failing import tell_of_signal
from uqcli.errors import ENDING
from uqcli.running.interruption import (
    changing,
    pending_files,
    remove_temporaries,
    replaced_files,
    run_cleanup,
)

_PATIENCE = 2.0
"""Seconds that a rename, an error line or the end of the process may take before a signal overtakes it."""

_concluded = threading.Event()


def answer_signals() -> None:
    """Install the handlers; a signal that our parent ignores (nohup, background jobs) stays ignored."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # none is lost between two handlers
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(read_end,), daemon=True, name="signals").start()
    answered = {number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN}
    for number in answered:
        signal.signal(number, _leave_it_to_the_thread)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, answered)  # polars installs a handler of its own over "ignore"


def conclude() -> None:
    """Say that the run has ended as it did: a signal no longer changes its words and its exit code."""
    with changing:
        _concluded.set()


def ignore_signals() -> None:
    """Let the interpreter end undisturbed: it would restore the defaults, which kill without a word."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _leave_it_to_the_thread(_number: int, _frame: object) -> None:
    """Without a Python-level handler the interpreter would not write to the wake-up descriptor."""


def _watch(read_end: int) -> None:
    while True:
        number = os.read(read_end, 1)[0]
        if number in ENDING:
            _end(128 + number, ENDING[signal.Signals(number)])


def _end(code: int, word: str) -> None:
    """Clean up and leave; no file takes its place meanwhile, and no other line is written."""
    changing.acquire(timeout=_PATIENCE)
    if _concluded.is_set():
        time.sleep(_PATIENCE)  # the process ends by itself, unless somebody keeps it
    else:
        remove_temporaries()
        os.write(2, f"error: {word}; {_what_changed()}\n".encode("utf-8", "backslashreplace"))
        tell_of_signal(code, word)
        run_cleanup()
    os._exit(code)


def _what_changed() -> str:
    changes = [
        f"{what}: {', '.join(map(repr, names))}"
        for what, names in (("written before", replaced_files()), ("may be written", pending_files()))
        if names
    ]
    return " ".join("; ".join(changes or ["no output file was changed"]).split())
