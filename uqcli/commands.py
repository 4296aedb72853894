"""Every command as a function: ``from uqcli import commands as uq; uq.boundary(rows, precision=0.9)``.

The functions are made from the declarations of the command line, each on its first use: they have its
options, checks, defaults and help. Rows are a data frame of any library, a mapping of arrays, a path or
several of these; a saved rule is a path, or the ``rule`` of a result. No configuration file and no
``UQCLI_`` variable is read. ``make reference`` writes ``commands.pyi``, by which editors and type checkers
know the functions.
"""

from __future__ import annotations

from typing import Any

from uqcli.calls import Result, Rule, function, load
from uqcli.jobs.declared import COMMANDS

__all__ = ["Result", "Rule", "load", *COMMANDS]  # noqa: PLE0604 - names, all of them


def __getattr__(name: str) -> Any:
    if name not in COMMANDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, function(name))


def __dir__() -> list[str]:
    return sorted(__all__)
