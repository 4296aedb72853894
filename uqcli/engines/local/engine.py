"""The engine of one machine: polars and Arrow readers, counting in numpy."""

from __future__ import annotations

from dataclasses import replace

from uqcli.engines.local.check.batches import LocalBatches, opened, origins_of
from uqcli.engines.local.check.labelled import all_rows
from uqcli.engines.local.count.table import LocalTable
from uqcli.engines.local.read.digest import digest_of
from uqcli.engines.protocol import Expected, ReadRows, StreamFacts, StreamRequest
from uqcli.engines.request import DataRequest


class LocalEngine:
    """Reads files on this machine, batch by batch."""

    def expected(self, request: DataRequest) -> Expected | None:
        """About how much the inputs hold; None where one is a stream or compressed text."""
        if not all(each.regular for each in origins_of(request)):
            return None  # what can be read once is not opened for this
        with opened(request) as (sources, roles):
            rows = [source.rows_expected() for source in sources]
        known = [each for each in rows if each is not None]
        return Expected(rows=sum(known), classes=len(roles.classes)) if len(known) == len(rows) else None

    def table(self, request: DataRequest) -> LocalTable:
        """Rows to be counted."""
        return LocalTable(request)

    def rows(self, request: DataRequest) -> ReadRows:
        """Read the score, uncertainty, label and weight of every row.

        Raises
        ------
        DataError
            An input cannot be read, a column is missing, a value is unusable, or no row is left.
        """
        return all_rows(self.batches(request))

    def batches(self, request: DataRequest) -> LocalBatches:
        """Stream checked rows; unusable ones are left out."""
        return LocalBatches(request)

    def digest(self, request: DataRequest) -> str:
        """SHA-256 of all bytes of the inputs, one after the other; streams must be kept."""
        return digest_of(origins_of(request))

    def stream(self, request: StreamRequest) -> StreamFacts:
        """Stream files through a model (see uqcli.engines.local.write.streaming)."""
        from uqcli.engines.local.write.streaming import stream_through

        with opened(request.data) as (sources, roles):
            return stream_through(sources, replace(request, data=replace(request.data, roles=roles)))
