"""Process entry point of ``uqcli`` and ``python -m uqcli``, which exits with the code of the run."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from typing import NoReturn

from uqcli.base.defaults import VERSION
from uqcli.base.errors import TERMINATION_SIGNALS, DataError
from uqcli.cli.failed_run import find_reports, write_signal_failure  # here: the signal may arrive mid-import


def _end_at_once(signal_number: int, _frame: object) -> NoReturn:
    """Exit on a signal before there is anything to clean up."""
    outcome = TERMINATION_SIGNALS[signal.Signals(signal_number)]
    try:
        os.write(2, f"error: {outcome}; no output file was changed\n".encode())
        find_reports(sys.argv[1:])
        write_signal_failure(128 + signal_number, f"the run was {outcome}")
    finally:
        os._exit(128 + signal_number)


for _number in TERMINATION_SIGNALS:  # installed before the slow imports
    if signal.getsignal(_number) is not signal.SIG_IGN:
        signal.signal(_number, _end_at_once)


def _read_names_as_utf8() -> None:
    """Start again where Python takes names for ASCII: with LC_ALL=C and without its UTF-8 mode."""
    if sys.getfilesystemencoding() == "ascii" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def main() -> NoReturn:
    """Run the program: handle signals, end silently on a closed pipe."""
    _read_names_as_utf8()
    from uqcli.base.files import open_missing_streams

    open_missing_streams()
    if _is_answered(sys.argv[1:]):
        _leave(0)
    from uqcli.cli.process import (
        collect_seldom,
        ignore_signals,
        install_handlers,
        keep_freed_memory,
        mark_ended,
        set_environment,
    )

    set_environment()
    find_reports(sys.argv[1:])
    install_handlers()
    keep_freed_memory()
    collect_seldom()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # warnings are for developers, and errors in the tests
    from uqcli.cli.app import run

    code = run(sys.argv[1:])
    _flush()
    mark_ended()
    ignore_signals()
    _leave(code)


def _is_answered(words: list[str]) -> bool:
    """Answer what scripts and people ask before each step, as the commands take three times as long to load.

    False for everything else, and if writing fails, which the program tells once it is loaded.
    """
    from uqcli.base.files import STDIO, check_results_stream

    with suppress(OSError, DataError):
        text = f"uqcli {VERSION}\n" if words == ["--version"] else ""
        if words == ["-h"]:
            from uqcli.cli.short_help import short_help

            text = short_help()
        if text:
            check_results_stream(STDIO)
            os.write(1, text.encode())
            return True
    return False


def _flush() -> None:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)  # so that the final flush cannot fail
        os.dup2(null, sys.stdout.fileno())


def _leave(code: int) -> NoReturn:
    """Exit without taking the libraries apart, which takes 0.1 s.

    Like the interpreter it first waits for threads that are no daemons, and calls what libraries registered.
    Everything is written and closed before.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    os._exit(code)


if __name__ == "__main__":
    main()
