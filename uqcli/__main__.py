"""The process: ``uqcli`` and ``python -m uqcli``. Nothing else exits."""

from __future__ import annotations

import os
import sys
import warnings
from typing import NoReturn

from uqcli.cli.signals import answer_signals


def main() -> NoReturn:
    """Run the program as a process: signals answered, a closed pipe left in silence."""
    answer_signals()  # before anything slow is imported
    _open_missing_streams()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # they are for those who change the program, and errors in its tests
    from uqcli.cli.app import run

    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)  # so that the interpreter's own last flush stays silent
        os.dup2(null, sys.stdout.fileno())
    sys.exit(code)


def _open_missing_streams() -> None:
    """Give daemons and cron wrappers that closed our output a place to write; names may be any bytes."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  stays open
        getattr(sys, name).reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
