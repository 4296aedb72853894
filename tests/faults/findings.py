"""Running the program as others would, and holding what happened against what was promised."""

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

from uqcli.errors import ENDING

PROGRAM = (sys.executable, "-m", "uqcli")
_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 24, 1, 2
CODES = {number: 128 + number for number in ENDING}


@dataclass
class Findings:
    """What was counted, and every promise that was broken."""

    counts: Counter = field(default_factory=Counter)
    breaches: list = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, name, number=1):
        with self._lock:
            self.counts[name] += number

    def require(self, promise, said, ok):
        """Note a breach unless the promise was kept."""
        if not ok:
            with self._lock:
                self.breaches.append(f"{promise}: {said}")
                print(f"BREACH {self.breaches[-1]}", flush=True)

    def one_line(self, code, errors, said):
        """An end is either silent and 0 or one line; never a traceback or a bug."""
        text = errors.decode("utf-8", "replace")
        lines = text.splitlines()
        self.require("one line", f"{said}: {text[-300:]!r}", len(lines) == (1 if code else 0))
        self.require("no bug", f"{said}: {text[-300:]!r}", "Traceback" not in text and "internal" not in text)


def start(arguments, folder, **options):
    """Start the program in a folder."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        cwd=folder,
        stdout=options.pop("stdout", subprocess.DEVNULL),
        stderr=subprocess.PIPE,
        **options,
    )


def run(arguments, folder, **options):
    """Run the program to its end: its exit code and what it wrote on standard error."""
    process = start(arguments, folder, **options)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


def must_run(arguments, folder, **options):
    """Run what cannot fail."""
    code, errors = run(arguments, folder, **options)
    if code:
        raise RuntimeError(f"{arguments} ended with {code}: {errors.decode()}")


def leftovers(folder):
    """Temporary files beside outputs."""
    return sorted(path.name for path in Path(folder).iterdir() if path.name.endswith(".tmp"))


def reached_the_program(process):
    """Whether the interpreter has come to the program: it answers SIGTERM itself from then on."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return True
    caught = re.search(r"SigCgt:\s*(\w+)", status)
    return process.poll() is not None or bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


def bound_by_permissions():
    """Let a child of root be refused as other users are: without the powers to pass over permissions.

    The user stays, so that the interpreter and the program can be read wherever they are installed.
    """
    if os.getuid() == 0:
        for power in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            if _LIBC.prctl(_PR_CAPBSET_DROP, power, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "prctl")
