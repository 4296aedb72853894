"""Local engine: polars and Arrow readers, counting in numpy, and keys found by the first rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.counts import Feature, Ints
from uqcli.base.draws import text_keys
from uqcli.base.errors import DataError
from uqcli.base.rows import Rows
from uqcli.base.running.memory import rows_per_part
from uqcli.engines import refusals
from uqcli.engines.columns import looked_at, shared_names
from uqcli.engines.local.check.batches import LocalBatches, opened, origins_of
from uqcli.engines.local.check.first_look import described, holds_dates, holds_keys
from uqcli.engines.local.check.key_numbers import KeyNumbers
from uqcli.engines.local.check.rows import CheckedRows
from uqcli.engines.local.check.values import days_of, distinct_of, key_texts, whole_feature
from uqcli.engines.local.count.cached import CachedRows
from uqcli.engines.local.count.table import LocalTable
from uqcli.engines.local.read.columnar import ColumnarSource
from uqcli.engines.local.read.csv_source import CsvSource
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.json_lines import JsonSource
from uqcli.engines.local.read.open import OpenedInput
from uqcli.engines.local.read.streams import are_streams_reusable, digest_of
from uqcli.engines.protocol import FIRST_ROWS, Columns, Keys, ReadRows, StreamRequest, StreamSummary
from uqcli.engines.request import DataRequest, FeatureRequest, Roles
from uqcli.kernels.units import dense_ranks

_FIRST_BYTES: Final = 1 << 24
"""Bytes of these rows that are enough, if they are wide."""


def _grouped_rows(parts: Iterable[tuple[Rows, pl.DataFrame]], keys: Keys) -> Rows:
    """Join rows, and group them by keys beside them; dates and times by day, rows without a value in -1."""
    rows, frames = zip(*parts, strict=True)
    groups = {}
    for name in (*keys.dates, *keys.others):
        parts_of_key = [frame.get_column(name).alias("") for frame in frames]
        groups[name] = _codes(parts_of_key, name, is_day=name in keys.dates)
    together = Rows.joined(rows)
    return replace(together, groups={**together.groups, **groups})


def _codes(parts: Sequence[pl.Series], name: str, *, is_day: bool) -> Ints:
    """Number the values of a key, or their days; -1 for none.

    Numbers and dates of one type are compared as such, which is faster than their texts.
    """
    kind = parts[0].dtype
    is_direct = kind.is_temporal() if is_day else kind.is_integer()
    if is_direct and all(part.dtype == kind for part in parts):
        column = pl.concat(parts)
        value = (column.dt.date() if is_day else column).hash()
    else:
        column = pl.concat([_hashed(part, name, is_day=is_day) for part in parts])
        value = column.fill_null(0)
    _, codes = dense_ranks(value.to_numpy().view(np.int64))
    return np.where(column.is_null().to_numpy(), -1, codes)


def _hashed(part: pl.Series, name: str, *, is_day: bool) -> pl.Series:
    """Hash the texts of a column, or their days; null without a text."""
    place = None
    if isinstance(part.dtype, pl.Categorical | pl.Enum):
        part, place = distinct_of(part)
        part = part.cast(pl.String)
    text = key_texts(part, name)
    value = (days_of(text) if is_day else text).hash().set(text.is_null(), None)
    return value if place is None else value.gather(place)


def _may_be_key(source: OpenedInput, name: str) -> bool:
    """Whether a column has a type of keys; texts of CSV and JSON may be anything."""
    if not isinstance(source, ColumnarSource):
        return True
    kind = source.arrow_schema.field(name).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    kinds = (
        *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
        *(pa.types.is_integer, pa.types.is_date, pa.types.is_timestamp),
    )
    return any(is_kind(kind) for is_kind in kinds)


def _with_rows(sources: Sequence[OpenedInput]) -> OpenedInput:
    """Return the first input that has rows; of the formats, CSV alone has columns without them."""
    for source in sources if len(sources) > 1 else ():
        is_known = isinstance(source, CsvSource) and source.origin.regular
        if not is_known or _read_first(source, [source.columns[0]], FIRST_ROWS).height:
            return source
    return sources[0]


def _first_rows(source: OpenedInput, names: list[str], most: int = FIRST_ROWS) -> pl.DataFrame:
    """Read the first rows of some columns that nobody named, without those that cannot be read."""
    with suppress(DataError):
        return _read_first(source, names, most)
    parts = []
    for name in names:
        with suppress(DataError):
            parts.append(_read_first(source, [name], most))
    return pl.concat(parts, how="horizontal") if parts else pl.DataFrame()


def _read_first(source: OpenedInput, names: list[str], most: int) -> pl.DataFrame:
    """Read the first rows of some columns; categories become texts."""
    if not names:
        return pl.DataFrame()
    frames, rows, size = list[pl.DataFrame](), 0, 0
    is_one_block = most == FIRST_ROWS and not isinstance(source, ColumnarSource)
    with reading(source.origin):
        for batch in source.batches(names, max_rows=FIRST_ROWS):
            frame = batch.frame[: most - rows]
            categories = [name for name, kind in frame.schema.items() if kind in (pl.Categorical, pl.Enum)]
            frames.append(frame.with_columns([frame.get_column(name).cast(pl.String) for name in categories]))
            rows, size = rows + len(frame), size + int(frames[-1].estimated_size())
            if rows >= most or size >= _FIRST_BYTES or is_one_block:
                break
    return pl.concat(frames, how="vertical_relaxed") if frames else pl.DataFrame()


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
        rows, roles = Rows.joined([batch.with_positions() for batch in batches]), reader.roles
        names, groups, cluster_keys = dict[str, tuple[str, ...]](), dict[str, Ints](), np.zeros(0, np.int64)
        for name, codes in rows.groups.items():
            if name == roles.cluster and name not in (roles.by, *roles.keys):
                cluster_keys, groups[name] = _clusters(codes, reader.levels[name])
                continue
            names[name], groups[name] = _groups(codes, reader.levels[name])
            if name == roles.cluster:
                cluster_keys = text_keys(names[name])
        features = {feature.name: _feature(feature, rows, batches) for feature in roles.features}
        return ReadRows(
            rows=replace(rows, groups=groups, features=features),
            classes=tuple(roles.classes),
            group_names=names,
            cluster_keys=cluster_keys,
            unnormalised=reader.unnormalised,
            summary=reader.summary,
        )

    def batches(self, request: DataRequest) -> LocalBatches:
        """Iterate over checked rows without the unusable ones."""
        return LocalBatches(request, max_rows=rows_per_part())

    def columns(self, request: DataRequest, rows: int = FIRST_ROWS) -> Columns:
        """Find the columns of all inputs; the first rows of the first input show what they hold."""
        with opened(replace(request, roles=Roles(numbers={}), labels=None)) as (sources, _):
            names = shared_names([source.columns for source in sources])
            source = _with_rows(sources)
            first = _first_rows(source, looked_at(names, request.roles.columns()), rows)
            delimiter = source.dialect.delimiter if isinstance(source, CsvSource) else ""
            settings = ["null_value"] if isinstance(source, CsvSource | JsonSource) else []
        settings += ["delimiter", "decimal"] if delimiter else []
        return replace(described(names, first), delimiter=delimiter, settings=frozenset(settings))

    def keys(self, request: DataRequest) -> Keys:
        """Find columns of all inputs that can be keys; none if an input can be read only once.

        The first rows of the first input decide which columns are dates.
        """
        if not (are_streams_reusable() or all(origin.regular for origin in origins_of(request))):
            return Keys()
        scored = replace(request.roles, keys=(), by=None, cluster=None, fitted=(), features=())
        with opened(replace(request, roles=scored)) as (sources, _):  # whose texts need not be told apart
            names = looked_at(shared_names([source.columns for source in sources]), request.roles.columns())
            source = _with_rows(sources)
            first = _first_rows(source, [name for name in names if _may_be_key(source, name)])
        dates = [name for name in first.columns if holds_dates(first.get_column(name).alias(""))]
        others = [name for name in first.columns if holds_keys(first.get_column(name).alias(""))]
        return Keys(dates=tuple(dates), others=tuple(name for name in others if name not in dates))

    def first_rows(self, request: DataRequest, limit: int, keys: Keys) -> Rows:
        """Read the usable ones among the first rows, with groups by key, without cautions on them."""
        return _grouped_rows(self.batches(request).first(limit, (*keys.dates, *keys.others)), keys)

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
    feature = whole_feature(request.name, [batch.raw[request.name] for batch in batches], text=request.text)
    if request.makes_groups and feature.levels is not None:
        refusals.require_few_groups(len(feature.levels), request.name)
    return feature


def _groups(codes: Ints, levels: KeyNumbers) -> tuple[tuple[str, ...], Ints]:
    """Sort group names, drop those without usable rows, and renumber each row's group."""
    names, numbers = levels.in_order(np.flatnonzero(np.bincount(codes)))
    return tuple(names.to_list()), _renumbered(codes, numbers)


def _clusters(codes: Ints, levels: KeyNumbers) -> tuple[Ints, Ints]:
    """Sort the keys of the texts of clusters with usable rows, and renumber each row's cluster."""
    numbers = np.flatnonzero(np.bincount(codes))
    keys = text_keys(levels.texts.gather(numbers))
    order = np.argsort(keys)
    return keys[order], _renumbered(codes, numbers[order])


def _renumbered(codes: Ints, numbers: Ints) -> Ints:
    """Return the place of each code among some distinct ones."""
    rank = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    rank[numbers] = np.arange(len(numbers))
    return rank[codes]
