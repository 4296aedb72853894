"""SIGINT, SIGTERM and SIGHUP: no temporary file stays, and the answer comes at once.

A Python-level handler would wait for the running kernel. The interpreter writes the signal's number to
a wake-up file descriptor instead; a daemon thread reads it, removes temporaries and ends the process.
"""

from __future__ import annotations

import os
import signal
import threading

from uqcli.errors import HungUpRunError, InterruptedRunError, TerminatedRunError
from uqcli.files import remove_temporaries

_EXIT_CODES = {
    signal.SIGHUP: (HungUpRunError.exit_code, "hung up"),
    signal.SIGINT: (InterruptedRunError.exit_code, "interrupted"),
    signal.SIGTERM: (TerminatedRunError.exit_code, "terminated"),
}


def answer_signals() -> None:
    """Install the handlers; a signal that our parent ignores (nohup, background jobs) stays ignored."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    ignored = {number for number in _EXIT_CODES if signal.getsignal(number) is signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, ignored)  # polars installs a handler of its own over "ignore"
    for number in set(_EXIT_CODES) - ignored:
        signal.signal(number, _leave_it_to_the_thread)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(read_end,), daemon=True, name="signals").start()


def _leave_it_to_the_thread(_number: int, _frame: object) -> None:
    """Without a Python-level handler the interpreter would not write to the wake-up descriptor."""


def _watch(read_end: int) -> None:
    while True:
        number = os.read(read_end, 1)[0]
        if number in _EXIT_CODES:
            code, word = _EXIT_CODES[signal.Signals(number)]
            remove_temporaries()
            os.write(2, f"error: {word}; no output file was changed\n".encode())
            os._exit(code)
