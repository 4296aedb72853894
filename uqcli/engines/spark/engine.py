"""The engine of a cluster, by Spark Connect."""

from __future__ import annotations

from typing import NoReturn

from uqcli.engines.protocol import ReadRows, StreamFacts, StreamRequest
from uqcli.engines.request import DataRequest
from uqcli.engines.spark.distinct import DistinctBatches, read_rows
from uqcli.engines.spark.table import SparkTable
from uqcli.errors import UsageError


class SparkEngine:
    """Counts where the rows are.

    Parameters
    ----------
    expressions
        Whether to count by expressions alone; None finds out whether the cluster's workers run functions.
    """

    def __init__(self, *, expressions: bool | None = None) -> None:
        self._expressions = expressions

    def table(self, request: DataRequest) -> SparkTable:
        """Rows to be counted."""
        return SparkTable(request, expressions=self._expressions)

    def rows(self, request: DataRequest) -> ReadRows:
        """Distinct rows with their weights, if they are not too many."""
        return read_rows(request)

    def batches(self, request: DataRequest) -> DistinctBatches:
        """Distinct rows with their weights, if they are not too many."""
        return DistinctBatches(request)

    def stream(self, request: StreamRequest) -> StreamFacts:
        """Refuse, so far."""
        _later(request)


def _later(request: StreamRequest) -> NoReturn:
    raise UsageError(f"--engine spark for {request.output.place}", expected="--engine polars")
