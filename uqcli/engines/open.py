"""Engines by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from uqcli.choices import EngineName
from uqcli.engines.local import LocalEngine
from uqcli.engines.protocol import Engine

ENGINES: Final[Mapping[EngineName, Callable[[], Engine]]] = MappingProxyType({EngineName.POLARS: LocalEngine})


def open_engine(name: EngineName) -> Engine:
    """Make an engine ready."""
    return ENGINES[name]()
