"""Create engines by name, refuse runs that need more memory than they may take, and write frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from uqcli.base.choices import EngineName
from uqcli.base.errors import Words, words
from uqcli.base.options import RowOutput
from uqcli.base.records import dataclass
from uqcli.base.running.memory import allowed_bytes, require_allowed
from uqcli.engines.protocol import Engine
from uqcli.engines.request import DataRequest

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


def write_frames(frames: Iterable[pl.DataFrame], empty: pl.DataFrame, output: RowOutput) -> None:
    """Write frames of the columns of ``empty`` in order; a regular file appears only when all are written.

    The format is CSV unless the output or its name implies another one.
    """
    from uqcli.engines.inputs import format_of, inferred_format
    from uqcli.engines.local.arrow import table_of
    from uqcli.engines.local.write.sinks import CsvSink, open_sink

    csv = partial(CsvSink, delimiter=inferred_format(output.target).delimiter)
    output_format = format_of(output.target, output.output_format)
    with open_sink(output.target, output_format, table_of(empty).schema, csv, output.queue) as sink:
        for frame in frames:
            sink.write(table_of(frame))


@dataclass(frozen=True, kw_only=True)
class Need:
    """Memory that a run needs for its rows beside its program, in bytes measured on 10 million distinct rows.

    ``instead`` is an alternative that works for any number of rows. If ``pooled``, rows of equal scores take
    the memory of one.
    """

    description: str
    bytes_per_row: int
    instead: Words
    bytes_per_class: int = 0
    pooled: bool = False


DISTINCT_SCORES: Final = Need(
    description="every distinct score with its counts",
    bytes_per_row=35,
    instead="round the scores, or draw some millions of rows",
    pooled=True,
)
SCORE_MAPS: Final = Need(
    description="every distinct score with its counts and rows to measure a map",
    bytes_per_row=45,
    instead="round the scores, or draw some millions of rows",
    pooled=True,
)
FIRST_LOOK: Final = Need(
    description="every distinct score with its counts and uncertainties",
    bytes_per_row=55,
    instead="draw some millions of rows",
    pooled=True,
)
GROUPED_SCORES: Final = Need(
    description="every distinct score of each group with its counts",
    bytes_per_row=110,
    instead="round the scores, or draw some millions of rows",
    pooled=True,
)
CLUSTERED_SCORES: Final = Need(
    description="every score with its cluster or day",
    bytes_per_row=125,
    instead=words("draw some millions of rows, or leave out --cluster"),
)
CLUSTERED_SETS: Final = Need(
    description="every row with its cluster or day",
    bytes_per_row=115,
    bytes_per_class=10,
    instead=words("draw some millions of rows, or leave out --cluster"),
)
EVERY_SCORE: Final = Need(
    description="a bin for every score",
    bytes_per_row=250,
    instead=words("take --score-bins 500 (the default)"),
    pooled=True,
)
RANKED: Final = Need(
    description="every row with its rank",
    bytes_per_row=180,
    instead=words("draw some millions of rows, or leave out --certify"),
)
RANKED_TWICE: Final = Need(
    description="every row with its rank by score and uncertainty",
    bytes_per_row=220,
    instead=words("take another --algorithm, or draw some millions of rows"),
)
CLUSTERED: Final = Need(
    description="every row with its cluster or day",
    bytes_per_row=50,
    instead=words("draw some millions of rows, or leave out --cluster or --day"),
)
ISOTONIC_PAIRS: Final = Need(
    description="every row of the isotonic maps",
    bytes_per_row=310,
    instead=words("take --method isotonic or histogram without --cluster, or draw some millions of rows"),
)
TREES: Final = Need(
    description="the features of every row",
    bytes_per_row=500,
    instead=words("name the groups with --partition, or draw some millions of rows"),
)
CLASS_ROWS: Final = Need(
    description="the class probabilities of every row",
    bytes_per_row=60,
    bytes_per_class=30,
    instead="draw some millions of rows",
)
LIKELIHOOD: Final = Need(
    description="the likelihood of every row",
    bytes_per_row=60,
    bytes_per_class=60,
    instead=words("take --estimator bbse, or draw some millions of rows"),
)


_FEW_BYTES: Final = 20_000_000
"""Bytes of rows that the program has room for in any run."""


def require_memory(data: DataRequest, need: Need, beside: int = 0) -> None:
    """Refuse a run that needs more memory than it may take, before it reads the rows.

    Other rows take ``beside`` bytes meanwhile.
    """
    data = data.without("uncertainty")  # not needed here; there may be several columns or none
    expected = open_engine(data.engine).expected(data)
    needed = 0 if expected is None else beside + needed_bytes(need, *expected)
    if expected is None or needed <= _FEW_BYTES or needed <= allowed_bytes():
        return
    rows, classes = expected
    if need.pooled:
        rows = min(rows, _distinct_expected(data))
    require_allowed(
        beside + needed_bytes(need, rows, classes),
        f"about {rows:,} rows: {need.description} takes",
        need.instead,
    )


def expected_bytes(data: DataRequest, need: Need) -> int:
    """Return the memory that the rows of a request need; 0 if their number is not known beforehand."""
    expected = open_engine(data.engine).expected(data.without("uncertainty"))
    return 0 if expected is None else needed_bytes(need, *expected)


def needed_bytes(need: Need, rows: int, classes: int) -> int:
    """Return the memory that a run needs beside its program."""
    return rows * (need.bytes_per_row + need.bytes_per_class * classes)


def _distinct_expected(data: DataRequest) -> int:
    """Estimate the number of distinct scores by the collisions among the first rows.

    Of n draws from d equally frequent values, about n * n / (2 d) pairs are equal. Unequal frequencies give
    more collisions, and hence an underestimate.
    """
    first = next(iter(open_engine(data.engine).batches(data)), None)
    if first is None:
        return 0
    scores = first.numbers["score"]
    collisions = len(scores) - len(np.unique(scores))
    return len(scores) ** 2 // (2 * collisions) if collisions else (2**53)
