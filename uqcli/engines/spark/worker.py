"""Functions that run on the workers, pickled by value, with numpy and pyarrow only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

Batches = Iterable[pa.RecordBatch]
Work = Callable[[Batches], Iterator[pa.RecordBatch]]

CELLS_SCHEMA = "cell long, n long, p long, low double, high double"
ROWS_SCHEMA = "part long, value double, y long, w long"

_MIN_BATCH_ROWS = 1 << 19
"""Rows counted at a time, since Spark's batches are small compared with the cells."""


def cells_counted(low: int, shift: int, size: int, parts: int, amounts: list[str]) -> Work:
    """Count rows and positive rows by cell, with the smallest and largest value of each.

    The cell of a value is its key less ``low``, shifted right and clipped to ``range(size)``; each part is
    offset by ``size``. Amounts are columns that are summed over all and over the positive rows of each cell.
    """

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        cells = size * parts
        sums = np.zeros((2 * len(amounts), cells), dtype=np.int64)
        count, positives = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
        smallest, largest = np.full(cells, np.inf), np.full(cells, -np.inf)
        for table in _larger(batches):
            value, y, w = (_array(table, name) for name in ("v", "y", "w"))
            cell = _cells(value, table, (low, shift, size))
            for index, name in enumerate(amounts):
                amount = _array(table, name)
                np.add.at(sums[index], cell, amount)
                np.add.at(sums[len(amounts) + index], cell, amount * y)
            # exact, since each sum is far below 2**53
            count += np.bincount(cell, weights=w, minlength=cells).astype(np.int64)
            positives += np.bincount(cell, weights=w * y, minlength=cells).astype(np.int64)
            np.minimum.at(smallest, cell, value)
            np.maximum.at(largest, cell, value)
        nonempty = np.flatnonzero(count)
        columns = (
            nonempty,
            count[nonempty],
            positives[nonempty],
            smallest[nonempty],
            largest[nonempty],
            *sums[:, nonempty],
        )
        yield pa.RecordBatch.from_arrays(
            [pa.array(column) for column in columns],
            names=["cell", "n", "p", "low", "high", *(f"s{index}" for index in range(len(sums)))],
        )

    return work


def cells_opened(low: int, shift: int, size: int, amounts: list[str], flagged: Any) -> Work:
    """Select the rows in flagged cells; ``flagged`` is the mask of the parts * size cells, packed to bits."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        flags = np.unpackbits(flagged).astype(bool)
        for table in _larger(batches):
            value = _array(table, "v")
            cell = _cells(value, table, (low, shift, size))
            selected = np.flatnonzero(flags[cell])
            copied = ["y", "w", *amounts]
            columns = (
                cell[selected] // size,
                value[selected],
                *(_array(table, name)[selected] for name in copied),
            )
            yield pa.RecordBatch.from_arrays(
                [pa.array(column) for column in columns], names=["part", "value", *copied]
            )

    return work


def forms_of_times(column: str) -> Work:
    """Read the unit and the time zone of a column from the metadata of Parquet files, given as bytes."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        for batch in batches:
            forms = []
            for content in batch.column(0):
                schema = pq.read_schema(pa.BufferReader(content.as_buffer()))
                if column in schema.names:
                    kind = schema.field(column).type
                    forms.append((kind.unit, kind.tz or ""))
            arrays = [pa.array([form[index] for form in forms], pa.string()) for index in range(2)]
            yield pa.RecordBatch.from_arrays(arrays, names=["unit", "zone"])

    return work


def probe(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Return a row, as proof that functions run."""
    for _ in batches:
        pass
    yield pa.RecordBatch.from_arrays([pa.array(np.zeros(1, dtype=np.int64))], names=["ready"])


def _larger(batches: Batches) -> Iterator[pa.Table]:
    """Combine small batches."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += len(batch)
        if rows >= _MIN_BATCH_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting)


def _array(table: pa.Table, name: str) -> Any:
    return table.column(name).to_numpy()


def _cells(value: Any, table: pa.Table, cell_range: tuple[int, int, int]) -> Any:
    """Return the cell of each row; int64."""
    low, shift, size = cell_range
    bits = value.view(np.int64)
    keys = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)  # order-preserving
    offset = np.maximum(keys, low).view(np.uint64) - np.int64(low).view(np.uint64)
    cell = np.minimum(offset >> np.uint64(shift), np.uint64(size - 1)).astype(np.int64)
    return cell + _array(table, "part") * size


def columns_added(
    pickled_rule: tuple[bytes, bytes, str],
    *,
    roles: dict[str, str],
    features: dict[str, tuple[str, tuple[str, ...]]],
    added: dict[str, tuple[str, tuple[str, ...]]],
    kept_columns: int,
) -> Work:
    """Add a rule's columns to rows.

    The pickled rule is its function, zipped sources that it needs, and their version. Roles and features have
    their columns, of which ``ok`` is whether a row is usable. Added columns have their type, in the order a0,
    a1, ..., and the texts that they may hold. The leading columns are kept.
    """

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        compute = _loaded(*pickled_rule)
        for batch in batches:
            if len(batch):
                computed = compute(_rows(batch, roles, features))
                unusable = ~batch.column(batch.schema.get_field_index("ok")).to_numpy(zero_copy_only=False)
                columns = [_added(computed[name], *form, unusable) for name, form in added.items()]
                yield pa.RecordBatch.from_arrays(
                    [*batch.columns[:kept_columns], *columns],
                    names=[*batch.schema.names[:kept_columns], *(f"a{index}" for index in range(len(added)))],
                )

    return work


def _loaded(function: bytes, package: bytes, version: str) -> Any:
    """Unpickle a function, importing the sent sources unless this version is installed."""
    import atexit
    import io
    import pickle
    import shutil
    import sys
    import tempfile
    import zipfile

    if _installed() != version:
        for name in [module for module in sys.modules if module.partition(".")[0] == "uqcli"]:
            del sys.modules[name]
        folder = tempfile.mkdtemp(prefix="uqcli-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        with zipfile.ZipFile(io.BytesIO(package)) as archive:
            archive.extractall(folder)
        sys.path.insert(0, folder)
    return pickle.loads(function)


def _installed() -> str | None:
    """Return the version of the package installed on the worker."""
    try:
        from uqcli.base import defaults
    except ImportError:
        return None
    return defaults.VERSION


def _rows(
    batch: pa.RecordBatch, roles: dict[str, str], features: dict[str, tuple[str, tuple[str, ...]]]
) -> Any:
    from uqcli.base.counts import Feature
    from uqcli.base.rows import Rows

    def column(name: str) -> Any:
        return batch.column(batch.schema.get_field_index(name)).to_numpy(zero_copy_only=False)

    valid = column("ok").astype(bool)
    return Rows(
        numbers={role: np.asarray(column(name), dtype=np.float64) for role, name in roles.items()},
        features={
            name: Feature(levels=levels, value=np.asarray(column(feature), dtype=np.float64))
            for name, (feature, levels) in features.items()
        },
        valid=None if valid.all() else valid,
    )


def _added(values: Any, kind: str, texts: tuple[str, ...], unusable: Any) -> Any:
    """Return the Arrow array, null in unusable rows."""
    if kind == "text":
        text = np.array([*texts, None], dtype=object)[np.where(unusable, -1, values)]  # -1 is the last, null
        return pa.array(text, type=pa.string())
    if kind != "labels":
        return pa.array(values, mask=unusable)
    labels = np.array(texts, dtype=object)
    lists = [None if out else labels[row].tolist() for row, out in zip(values, unusable, strict=True)]
    return pa.array(lists, type=pa.list_(pa.string()))
