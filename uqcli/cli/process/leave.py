"""The end of the process."""

from __future__ import annotations

import atexit
import os
import threading
from typing import NoReturn


def end_at_once(code: int) -> NoReturn:
    """Exit without taking the libraries apart, which takes 0.1 s.

    Like the interpreter it first waits for threads that are no daemons, and calls what libraries registered.
    Everything is written and closed before.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    os._exit(code)
