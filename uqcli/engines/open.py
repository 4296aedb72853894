"""Create engines by name; functions that need no engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from uqcli.base.choices import EngineName
from uqcli.engines.protocol import Destination, Engine

if TYPE_CHECKING:
    import polars as pl


def _local() -> Engine:
    from uqcli.engines.local.engine import LocalEngine

    return LocalEngine()


def _spark() -> Engine:
    from uqcli.engines.spark.engine import SparkEngine

    return SparkEngine()


ENGINES: Final[Mapping[EngineName, Callable[[], Engine]]] = MappingProxyType(
    {EngineName.POLARS: _local, EngineName.SPARK: _spark}
)


def open_engine(name: EngineName) -> Engine:
    """Create an engine."""
    return ENGINES[name]()


def reusable_streams() -> AbstractContextManager[None]:
    """Allow repeated reads of streams until the block ends."""
    from uqcli.engines.local.read.streams import reusable_streams

    return reusable_streams()


def write_frames(frames: Iterable[pl.DataFrame], empty: pl.DataFrame, output: Destination) -> None:
    """Write frames in order (see uqcli.engines.local.write.generated)."""
    from uqcli.engines.local.write.generated import write_frames

    write_frames(frames, empty, output)
