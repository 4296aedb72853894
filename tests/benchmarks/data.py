"""Files of rows, made part by part so that memory does not grow with them."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

PART = 1 << 20
SINGLE_FROM = 20_000_000
"""Rows from which on numbers are float32, as files of that size hold them."""


def dtype_of(rows):
    """Numbers of a file of so many rows."""
    return np.float32 if rows >= SINGLE_FROM else np.float64


def rows_file(folder, rows, *, ties):
    """Scores that are calibrated, continuous or of two decimals; uncertainties; labels of 0 and 1."""

    def part(random, size):
        score = random.beta(1, 5, size)
        score = score.round(2) if ties else score
        label = random.random(size) < score
        kind = dtype_of(rows)
        return {
            "score": score.astype(kind),
            "uncertainty": random.beta(1, 5, size).astype(kind),
            "label": label.astype(np.int8),
        }

    return _written(folder / f"rows_{rows}_{'tied' if ties else 'continuous'}.parquet", rows, part)


def text_file(path, ending):
    """The same rows as CSV, and as JSON lines where these are asked for; made once."""
    for each in ("csv", "jsonl") if ending == "jsonl" else ("csv",):
        text = path.with_suffix(f".{each}")
        if not text.exists():
            rows = pl.scan_parquet(path)
            (rows.sink_csv if each == "csv" else rows.sink_ndjson)(text)
    return path.with_suffix(f".{ending}")


def classes_file(folder, rows, classes=10):
    """Probabilities of classes and the number of the class that came of them."""

    def part(random, size):
        probability = random.standard_gamma(0.3, (size, classes)) + 1e-9
        probability /= probability.sum(axis=1, keepdims=True)
        label = (probability.cumsum(axis=1) < random.random((size, 1))).sum(axis=1).clip(0, classes - 1)
        columns = {f"p_{each}": probability[:, each].astype(dtype_of(rows)) for each in range(classes)}
        return {**columns, "label": label.astype(np.int16)}

    return _written(folder / f"classes_{rows}.parquet", rows, part)


def _written(path, rows, part):
    random = np.random.default_rng(0)
    writer = None
    for start in range(0, rows, PART):
        table = pa.table(part(random, min(PART, rows - start)))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
    return path
