"""The engine of a cluster, by Spark Connect."""

from __future__ import annotations

from uqcli.engines.protocol import ReadRows, StreamFacts, StreamRequest
from uqcli.engines.request import DataRequest
from uqcli.engines.spark.distinct import DistinctBatches, read_rows
from uqcli.engines.spark.table import SparkTable
from uqcli.engines.spark.write import stream_through


class SparkEngine:
    """Counts where the rows are.

    Parameters
    ----------
    expressions
        Whether to count by expressions alone; None finds out whether the cluster's workers run functions.
    """

    def __init__(self, *, expressions: bool | None = None) -> None:
        self._expressions = expressions

    def expected(self, request: DataRequest) -> None:
        """The cluster's memory is not this machine's; what comes here has limits of its own."""
        del request

    def table(self, request: DataRequest) -> SparkTable:
        """Rows to be counted."""
        return SparkTable(request, expressions=self._expressions)

    def rows(self, request: DataRequest) -> ReadRows:
        """Distinct rows with their weights, if they are not too many."""
        return read_rows(request)

    def batches(self, request: DataRequest) -> DistinctBatches:
        """Distinct rows with their weights, if they are not too many."""
        return DistinctBatches(request)

    def digest(self, request: DataRequest) -> str:
        """Of files that this machine sees, too."""
        from uqcli.engines.local.engine import LocalEngine

        return LocalEngine().digest(request)

    def stream(self, request: StreamRequest) -> StreamFacts:
        """Rows through a model, into a directory of Parquet parts."""
        return stream_through(request)
