"""Writes files of rows for the benchmarks, part by part in constant memory."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

PART_ROWS = 1 << 20
FLOAT32_FROM = 20_000_000
"""Files of at least this many rows have float32 numbers, as is usual at that size."""


def dtype_of(rows):
    """Choose the type of the numbers in a file of this many rows."""
    return np.float32 if rows >= FLOAT32_FROM else np.float64


def rows_file(folder, rows, *, ties, seed=0):
    """Write calibrated scores, continuous or with two decimals, uncertainties, and labels 0 and 1."""

    def draw_part(random, size):
        score = random.beta(1, 5, size)
        score = score.round(2) if ties else score
        label = random.random(size) < score
        dtype = dtype_of(rows)
        return {
            "score": score.astype(dtype),
            "uncertainty": random.beta(1, 5, size).astype(dtype),
            "label": label.astype(np.int8),
        }

    name = f"rows_{rows}_{'tied' if ties else 'continuous'}{seed or ''}.parquet"
    return _write_parts(folder / name, rows, draw_part, seed)


def text_file(path, ending):
    """Write the same rows as CSV, and as JSON lines if requested, unless the files exist."""
    for format_name in ("csv", "jsonl") if ending == "jsonl" else ("csv",):
        text_path = path.with_suffix(f".{format_name}")
        if not text_path.exists():
            rows = pl.scan_parquet(path)
            (rows.sink_csv if format_name == "csv" else rows.sink_ndjson)(text_path)
    return path.with_suffix(f".{ending}")


def classes_file(folder, rows, classes=10):
    """Write class probabilities, and class numbers drawn from them."""

    def draw_part(random, size):
        probability = random.standard_gamma(0.3, (size, classes)) + 1e-9
        probability /= probability.sum(axis=1, keepdims=True)
        label = (probability.cumsum(axis=1) < random.random((size, 1))).sum(axis=1).clip(0, classes - 1)
        columns = {
            f"p_{class_number}": probability[:, class_number].astype(dtype_of(rows))
            for class_number in range(classes)
        }
        return {**columns, "label": label.astype(np.int16)}

    return _write_parts(folder / f"classes_{rows}.parquet", rows, draw_part)


def _write_parts(path, rows, draw_part, seed=0):
    random = np.random.default_rng(seed)
    writer = None
    for start in range(0, rows, PART_ROWS):
        table = pa.table(draw_part(random, min(PART_ROWS, rows - start)))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
    return path
