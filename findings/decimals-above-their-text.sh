#!/usr/bin/env bash
# Arrow turns more than half of all decimals with five places into a double above that of their text.
#
# One would guess: a decimal 0.00003 becomes the same double as the text 0.00003, as everywhere else.
# What happens: of the 99,999 decimals from 0.00001 to 0.99999, pyarrow's cast to double is above the double
#   of the text in 55,227 cases, and below it in none. polars, DuckDB, DataFusion and Python agree with the
#   text in all.
# Why: the cast multiplies the whole number by 0.00001, which is no double itself and lies above it, instead
#   of dividing by 100,000.
# Who meets it: scores that a database keeps as DECIMAL, read through Arrow, beside a threshold that was
#   chosen on a CSV of the same rows: a score equal to the threshold, or to the edge of a bin, changes sides.
source "$(dirname "$0")/common.sh"

packages pyarrow==26.0.1 datafusion==55.0.0 polars==2.1.0 duckdb==2.0.1 numpy==2.4.6 pandas==3.1.1
cat > "$folder/look.py" <<'P'
from decimal import Decimal

import datafusion
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

texts = [f"0.{number:05d}" for number in range(1, 100_000)]
nearest = np.array([float(text) for text in texts])
decimals = pa.array([Decimal(text) for text in texts], pa.decimal128(10, 5))
rows = pa.table({"d": decimals, "row": range(len(texts))})
context = datafusion.SessionContext()
context.register_record_batches("rows", [rows.to_batches()])
doubles = {
    "pyarrow": decimals.cast(pa.float64()).to_numpy(),
    "DataFusion": context.sql("select cast(d as double) as d from rows order by row").to_pandas()["d"].to_numpy(),
    "polars": pl.Series(decimals).cast(pl.Float64).to_numpy(),
    "DuckDB": np.array([row[0] for row in duckdb.sql("select d::double from rows order by row").fetchall()]),
    "Python": np.array([float(decimal) for decimal in decimals.to_pylist()]),
}
for name, found in doubles.items():
    print(name, (found > nearest).sum(), "above,", (found < nearest).sum(), "below")
print(texts[2], "in pyarrow:", doubles["pyarrow"][2])
P
seen "$folder/venv/bin/python" look.py <<'P'
pyarrow 55227 above, 0 below
DataFusion 0 above, 0 below
polars 0 above, 0 below
DuckDB 0 above, 0 below
Python 0 above, 0 below
0.00003 in pyarrow: 3.0000000000000004e-05
P
