"""Spark engine, through Spark Connect."""

from __future__ import annotations

from uqcli.base.rows import Rows
from uqcli.engines.protocol import Columns, Keys, ReadRows, StreamRequest, StreamSummary
from uqcli.engines.request import DataRequest
from uqcli.engines.spark.distinct import DistinctBatches, read_rows
from uqcli.engines.spark.read import columns_of
from uqcli.engines.spark.table import SparkTable
from uqcli.engines.spark.write import stream_through


class SparkEngine:
    """Counts on the cluster."""

    def expected(self, request: DataRequest) -> None:
        """Return None: the cluster's memory is not this machine's, and collected data has its own limits."""
        del request

    def table(self, request: DataRequest) -> SparkTable:
        """Return the table of the request's rows."""
        return SparkTable(request)

    def rows(self, request: DataRequest) -> ReadRows:
        """Collect distinct rows with their weights, up to a limit."""
        return read_rows(request)

    def batches(self, request: DataRequest) -> DistinctBatches:
        """Return the batches of distinct rows with their weights, up to a limit."""
        return DistinctBatches(request)

    def columns(self, request: DataRequest) -> Columns:
        """Find the columns of the inputs by their types; those of CSV are texts."""
        return columns_of(request)

    def keys(self, request: DataRequest) -> Keys:
        """Return none: rows on a cluster have no order, and hence no first ones."""
        del request
        return Keys()

    def first_rows(self, request: DataRequest, limit: int, keys: Keys) -> Rows:
        """Refuse: see ``keys``, which finds none."""
        raise NotImplementedError(f"first {limit} rows of {request.inputs} by {keys}")

    def digest(self, request: DataRequest) -> str:
        """Compute the digest of the files, which this machine must also see."""
        from uqcli.engines.local.engine import LocalEngine

        return LocalEngine().digest(request)

    def stream(self, request: StreamRequest) -> StreamSummary:
        """Apply a rule to rows, writing a directory of Parquet parts."""
        return stream_through(request)
