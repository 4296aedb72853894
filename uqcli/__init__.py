"""Decision boundaries on score x uncertainty, from saved predictions.

The same work as the command line, on arrays: ``from uqcli import find_boundary``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uqcli.defaults import VERSION

if TYPE_CHECKING:
    from uqcli.jobs.search import find_boundary
    from uqcli.methods.boundary.result import FittedBoundary

__version__ = VERSION
__all__ = ["FittedBoundary", "__version__", "find_boundary"]

_HOMES = {"find_boundary": "uqcli.jobs.search", "FittedBoundary": "uqcli.methods.boundary.result"}


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``import uqcli`` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'uqcli' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
