"""The process of a run: its environment, limits and threads, progress on the terminal, and signals.

Environment variables are set before libraries read them. Signals end a run at once, without leaving temporary
files. A Python-level handler would wait until the compiled (numba or polars) call returns. The interpreter
therefore writes the signal's number to a wake-up file descriptor. A daemon thread reads it, removes temporary
files and ends the process.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import math
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from uqcli.base.errors import TERMINATION_SIGNALS, DataError, words
from uqcli.base.files import STDIO
from uqcli.base.operating_system import IS_WINDOWS, limits, mask_signals, never_wait, raise_limit
from uqcli.base.running import machine, memory
from uqcli.base.running.interruption import (
    changing,
    pending_files,
    register_cleanup,
    remove_temporaries,
    replaced_files,
    run_cleanup,
)
from uqcli.base.running.messages import set_receiver
from uqcli.cli.failed_run import write_signal_failure

if TYPE_CHECKING:
    from rich.progress import Progress

_NARROWEST, _WIDEST = 20, 10_000
"""Columns of a terminal; other numbers are ignored."""

_COLOUR_VARIABLES: Final = ("FORCE_COLOR", "PY_COLORS", "TTY_COMPATIBLE")


def set_environment() -> None:
    """Let ``NO_COLOR`` win, and draw figures only to files."""
    if os.environ.get("NO_COLOR"):
        for name in _COLOUR_VARIABLES:
            os.environ.pop(name, None)
    columns = os.environ.get("COLUMNS", "")
    if not (columns.isdecimal() and _NARROWEST <= int(columns[:9]) <= _WIDEST):
        os.environ.pop("COLUMNS", None)
    if not os.environ.get("POLARS_MAX_THREADS", "1").strip(" 0"):
        del os.environ["POLARS_MAX_THREADS"]  # polars cannot use 0 threads
    os.environ["MPLBACKEND"] = "agg"  # a notebook's backend may not be installed
    _ignore_working_directory()


def _ignore_working_directory() -> None:
    """Keep libraries from reading their configuration in the working directory, which may be anybody's.

    numba reads it at every compilation if it finds YAML, and matplotlib when it is loaded, even a FIFO.
    """
    if os.path.lexists(".numba_config.yaml"):
        sys.modules["yaml"] = None  # type: ignore[assignment]  # as Python documents, it is not found
    if os.path.lexists("matplotlibrc"):
        working = os.getcwd()  # noqa: PTH109
        os.chdir(Path(__file__).parent)
        try:
            with suppress(ImportError):
                importlib.import_module("matplotlib")
        finally:
            os.chdir(working)


_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of glibc's ``mallopt``."""

_MIN_FILES: Final = 32
"""Open files that libraries need before the first row."""

_TRIM_BYTES: Final = 1 << 30
_MMAP_BYTES: Final = 32 << 20

_SCARCE_TRIM_BYTES, _SCARCE_MMAP_BYTES = 8 << 20, 1 << 20
"""Where memory is scarce, what is freed returns to the system, but for a few small arrays."""

_SCARCE_VARIABLES: Final = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # whose own pool keeps what it frees
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0",  # of polars, which keeps it for ten seconds
}


def keep_freed_memory() -> None:
    """Make glibc keep freed memory instead of returning it to the system.

    A run allocates the same few arrays for each part of the rows. The system clears each returned page, which
    takes a fifth to a half of the time of counting large files.
    """
    _keep_freed(_TRIM_BYTES, _MMAP_BYTES)


def _keep_freed(most: int, mapped: int) -> None:
    """Let glibc keep so many freed bytes, and map arrays of at least so many by themselves."""
    if IS_WINDOWS:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # other C libraries do not have it
        for name, value in ((_TRIM_THRESHOLD, most), (_MMAP_THRESHOLD, mapped), (_ARENA_MAX, 1)):
            mallopt(name, value)


def limit_memory(size: str | None) -> str | None:
    """Set the memory of a run (see uqcli.base.running.memory), before libraries are loaded.

    A callback of ``--memory``.
    """
    memory.limit_kept(size)
    if memory.is_scarce():
        for name, value in _SCARCE_VARIABLES.items():
            os.environ.setdefault(name, value)
    if _guards.is_set():
        if memory.is_scarce():
            _keep_freed(_SCARCE_TRIM_BYTES, _SCARCE_MMAP_BYTES)
        limit = memory.limit_bytes()
        if limit < math.inf:
            threading.Thread(target=_guard, args=(int(limit),), daemon=True, name="memory").start()
    return size


def collect_seldom() -> None:
    """Let Python look for cycles seldom; while libraries are loaded it would look fifty times in vain."""
    gc.set_threshold(50_000, 20, 20)


def check_limits() -> None:
    """Refuse a limit of open files or of memory at which libraries would panic or crash."""
    soft, hard = limits("NOFILE")
    if soft < _MIN_FILES:
        if hard < _MIN_FILES:
            raise DataError(
                f"the limit of open files is {soft}",
                expected=f"at least {_MIN_FILES}",
                remedy=f"raise it with ulimit -n {8 * _MIN_FILES}",
            )
        raise_limit("NOFILE", _MIN_FILES)
    _check_threads()
    addresses, _ = limits("AS")
    if addresses < (least := memory.least_addresses() + memory.PROGRAM_BYTES):
        raise DataError(
            f"the memory limit is {int(addresses) >> 20} MiB",
            expected=f"at least {-(-least >> 20)} MiB with {machine.threads()} threads",
            remedy=words("raise it with ulimit -v {} or more, or give --threads 1", -(-least >> 10)),
        )


_FEW_TASKS: Final = 4096
"""Limit of processes and threads above which no run needs to try whether it can start its own."""

_THREADS_BY_POOL, _OTHER_THREADS = 4, 24
"""Threads of all pools for each thread of one, and others: a first look has 29 with 2, and 138 with 32."""


def _check_threads() -> None:
    """Refuse a limit of processes at which libraries would panic: a user's, or one of a control group."""
    needed = _THREADS_BY_POOL * machine.threads() + _OTHER_THREADS
    for folder in machine.group_folders("pids"):
        tasks = machine.numbers_in(folder / "pids.max", folder / "pids.current")
        if tasks and tasks[0] - tasks[1] < needed:
            raise DataError(
                f"the control group allows {tasks[0]} processes and threads, of which {tasks[1]} run",
                expected=f"room for {needed} more",
                remedy=words("raise its pids.max (docker run --pids-limit)"),
            )
    soft, _ = limits("NPROC")
    if soft < _FEW_TASKS and not _can_start(needed):
        raise DataError(
            f"the limit of processes is {int(soft)}, of which most run",
            expected=f"room for {needed} more, threads included",
            remedy="raise it with ulimit -u",
        )


def _can_start(threads: int) -> bool:
    """Whether the process can start so many threads now; root has no limit."""
    ended, started = threading.Event(), list[threading.Thread]()
    try:
        for _ in range(threads):
            started.append(threading.Thread(target=ended.wait, daemon=True))
            started[-1].start()
    except RuntimeError:
        return False
    finally:
        ended.set()
    return True


def limit_threads(threads: int | None) -> int | None:
    """Set the number of threads of all pools before libraries are loaded; None for one per usable core.

    A callback of ``--threads``, since a command loads its libraries only after parsing. OpenBLAS has one
    thread, since more threads change the order of sums.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    size = str(threads or machine.threads())
    for name in machine.POOL_VARIABLES:
        os.environ[name] = size if threads else os.environ.get(name, size)
    return threads


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
        """Show a progress event (see uqcli.base.running.messages)."""
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


_TIMEOUT_SECONDS = 2.0
"""Seconds to wait for a rename, an error line or the end of the process before a signal ends it."""

_ended = threading.Event()


_guards = threading.Event()
"""Set in a process of its own, which may be ended for its memory."""

_GUARD_SECONDS: Final = 0.01
"""Seconds between two looks at the memory; longer while a library holds Python's lock."""

_GUARD_SHARE: Final = 25
"""One part in so many of the limit is left for what is allocated between two looks, and for page tables."""


def _guard(limit: int) -> None:
    """End the run before it takes more memory than its limit, which its estimates should have refused."""
    most = limit + memory.PROGRAM_BYTES
    while memory.resident_bytes() < most - most // _GUARD_SHARE:
        time.sleep(_GUARD_SECONDS)
    # how much more is unknown: twice as much seldom takes another try
    outcome = (
        f"the run needs more than the {memory.gigabytes(most)} of memory that it may take; expected "
        f"{memory.larger_limits(2 * limit)}, and as much free memory, or fewer rows"
    )
    _end(DataError.exit_code, outcome, outcome)


def install_handlers() -> None:
    """Install the handlers; a signal that the parent ignores (nohup, background jobs) stays ignored."""
    read_end, write_end = os.pipe()
    never_wait(write_end)
    _guards.set()
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
            outcome = TERMINATION_SIGNALS[signal.Signals(signal_number)]
            _end(128 + signal_number, outcome, f"the run was {outcome}")


def _end(code: int, outcome: str, found: str) -> None:
    """Clean up and end the process, while no file is renamed and no other error is printed.

    The reports say what was ``found``, and the terminal its outcome and the state of the outputs.
    """
    changing.acquire(timeout=_TIMEOUT_SECONDS)
    if _ended.is_set():
        time.sleep(_TIMEOUT_SECONDS)  # the process ends by itself unless something blocks it
    else:
        remove_temporaries()
        os.write(2, f"error: {outcome}; {_state_of_outputs()}\n".encode("utf-8", "backslashreplace"))
        write_signal_failure(code, found)
        run_cleanup()
    os._exit(code)


def _state_of_outputs() -> str:
    changes = [
        f"{verb}: {', '.join(map(repr, names))}"
        for verb, names in (("written before", replaced_files()), ("may be written", pending_files()))
        if names
    ]
    return " ".join("; ".join(changes or ["no output file was changed"]).split())
