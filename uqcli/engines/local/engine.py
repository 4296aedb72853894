"""Local engine: polars and Arrow readers, counting in numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.counts import Feature, Ints
from uqcli.base.rows import Rows
from uqcli.base.running.machine import rows_per_part
from uqcli.engines.local.check.batches import LocalBatches, opened, origins_of
from uqcli.engines.local.check.keys import columns_of, grouped_rows, keys_of
from uqcli.engines.local.check.rows import CheckedRows
from uqcli.engines.local.check.values import whole_feature
from uqcli.engines.local.count.cached import CachedRows
from uqcli.engines.local.count.table import LocalTable
from uqcli.engines.local.read.streams import digest_of
from uqcli.engines.protocol import Columns, Keys, ReadRows, StreamRequest, StreamSummary
from uqcli.engines.request import DataRequest, FeatureRequest


class LocalEngine:
    """Reads files on this machine in batches."""

    def expected(self, request: DataRequest) -> tuple[int, int] | None:
        """Estimate the size of the inputs; None if one is a stream or compressed text."""
        if not all(origin.regular for origin in origins_of(request)):
            return None  # opening would consume a stream
        with opened(request) as (sources, roles):
            rows = [source.rows_expected() for source in sources]
        sizes = [row for row in rows if row is not None]
        return (sum(sizes), len(roles.classes)) if len(sizes) == len(rows) else None

    def table(self, request: DataRequest) -> LocalTable:
        """Return the table of the request's rows."""
        return LocalTable(CachedRows(request))

    def rows(self, request: DataRequest) -> ReadRows:
        """Read all requested columns of every row; memory grows with their number."""
        reader = self.batches(request)
        batches = [checked for checked, _ in reader.each(lambda checked: checked)]
        rows, roles = Rows.joined([batch.rows for batch in batches]), reader.roles
        groups = {name: _groups(codes, reader.levels[name]) for name, codes in rows.groups.items()}
        features = {feature.name: _feature(feature, rows, batches) for feature in roles.features}
        return ReadRows(
            rows=replace(
                rows, groups={name: codes for name, (_, codes) in groups.items()}, features=features
            ),
            classes=tuple(roles.classes),
            group_names={name: names for name, (names, _) in groups.items()},
            unnormalised=reader.unnormalised,
            summary=reader.summary,
        )

    def batches(self, request: DataRequest) -> LocalBatches:
        """Iterate over checked rows without the unusable ones."""
        return LocalBatches(request, max_rows=rows_per_part())

    def columns(self, request: DataRequest) -> Columns:
        """Find the columns of the inputs by the first rows."""
        return columns_of(request)

    def keys(self, request: DataRequest) -> Keys:
        """Find columns that can be keys by the first rows; none if the inputs can be read only once."""
        return keys_of(request)

    def first_rows(self, request: DataRequest, limit: int, keys: Keys) -> Rows:
        """Read the usable ones among the first rows, with groups by key, without cautions on them."""
        return grouped_rows(self.batches(request).first(limit, (*keys.dates, *keys.others)), keys)

    def digest(self, request: DataRequest) -> str:
        """Compute the SHA-256 of all bytes of the inputs in order; streams must be kept."""
        return digest_of(origins_of(request))

    def stream(self, request: StreamRequest) -> StreamSummary:
        """Apply a rule to files (see uqcli.engines.local.write.streaming)."""
        from uqcli.engines.local.write.streaming import stream_parquet, stream_through

        with opened(request.data) as (sources, roles):
            resolved = replace(request, data=replace(request.data, roles=roles))
            return stream_parquet(sources, resolved) or stream_through(sources, resolved)


def _feature(request: FeatureRequest, rows: Rows, batches: Sequence[CheckedRows]) -> Feature:
    if request.known:
        return rows.features[request.name]
    return whole_feature(request.name, [batch.raw[request.name] for batch in batches], text=request.text)


def _groups(codes: Ints, levels: Mapping[str, int]) -> tuple[tuple[str, ...], Ints]:
    """Sort group names, drop those without usable rows, and renumber each row's group."""
    used = np.bincount(codes, minlength=len(levels)) > 0
    names = sorted(name for name, level in levels.items() if used[level])
    rank = np.zeros(len(levels), dtype=np.int64)
    rank[[levels[name] for name in names]] = np.arange(len(names))
    return tuple(names), rank[codes]
