"""Runs uqcli as a process, and records every breach of a guarantee."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.hang import HANGS_AFTER
from uqcli.base.errors import TERMINATION_SIGNALS

PROGRAM = (sys.executable, "-m", "uqcli")
_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 24, 1, 2
EXIT_CODES = {signal_number: 128 + signal_number for signal_number in TERMINATION_SIGNALS}


@dataclass
class Findings:
    """Counts of faults, and every breach of a guarantee."""

    counts: Counter = field(default_factory=Counter)
    breaches: list = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, name, increment=1):
        with self._lock:
            self.counts[name] += increment

    def require(self, guarantee, detail, holds):
        """Record a breach unless the guarantee holds."""
        if not holds:
            with self._lock:
                self.breaches.append(f"{guarantee}: {detail}")
                print(f"BREACH {self.breaches[-1]}", flush=True)

    def require_one_line(self, code, errors, detail):
        """Require exit code 0 without a message, or one line without a traceback."""
        text = errors.decode("utf-8", "replace")
        lines = text.splitlines()
        self.require("one line", f"{detail}: {text[-300:]!r}", len(lines) == (1 if code else 0))
        self.require(
            "no bug", f"{detail}: {text[-300:]!r}", "Traceback" not in text and "internal" not in text
        )


def start(arguments, folder, **options):
    """Start uqcli in a folder."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        cwd=folder,
        stdout=options.pop("stdout", subprocess.DEVNULL),
        stderr=subprocess.PIPE,
        **options,
    )


def run(arguments, folder, **options):
    """Run uqcli to its end, and return its exit code and standard error."""
    process = start(arguments, folder, **options)
    _, errors = process.communicate(timeout=HANGS_AFTER)
    return process.returncode, errors


def must_run(arguments, folder, **options):
    """Run a command that must succeed."""
    code, errors = run(arguments, folder, **options)
    if code:
        raise RuntimeError(f"{arguments} ended with {code}: {errors.decode()}")


def leftovers(folder):
    """List temporary files beside outputs."""
    return sorted(path.name for path in Path(folder).iterdir() if path.name.endswith(".tmp"))


def reached_the_program(process):
    """Return whether the interpreter runs uqcli, which handles SIGTERM from then on."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return True
    caught_signals = re.search(r"SigCgt:\s*(\w+)", status)
    return process.poll() is not None or bool(int(caught_signals[1], 16) >> (signal.SIGTERM - 1) & 1)


def obey_permissions():
    """Drop the capabilities of root that bypass permissions, so that a child is refused as other users are.

    The user stays the same, so that the interpreter and uqcli stay readable in any place.
    """
    if os.getuid() == 0:
        for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            if _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "prctl")
