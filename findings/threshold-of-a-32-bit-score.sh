#!/usr/bin/env bash
# A 32-bit score of 0.7 reaches the threshold 0.7 in DuckDB, polars and pandas, and not in four other engines.
#
# One would guess: `score >= 0.7` on a FLOAT column gives the same rows in every engine, as all follow IEEE
#   754.
# What happens: the nearest 32-bit number to 0.7 is below it. DuckDB, polars and pandas round the threshold to
#   32 bits, and the row is flagged; DataFusion, ClickHouse, SQLite and pyarrow widen the score, and it is
#   not. numpy does the one for Python's 0.7 and the other for its own float64(0.7).
# Why: a literal is a decimal or a "weak" number in the first, and takes the type of the column; in the others
#   the wider type wins.
# Who meets it: models that write 32 bits, with a threshold that is one of the scores: all rows that tie at it
#   change sides between the warehouse and the notebook.
source "$(dirname "$0")/common.sh"

packages duckdb==2.0.1 polars==2.1.0 pandas==3.1.1 datafusion==55.0.0 chdb==4.4.0 pyarrow==26.0.1 numpy==2.4.6
cat > "$folder/look.py" <<'P'
import sqlite3

import chdb
import datafusion
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

score = np.array([0.7], dtype=np.float32)
pq.write_table(pa.table({"score": score}), "rows.parquet")
context = datafusion.SessionContext()
context.register_parquet("rows", "rows.parquet")
database = sqlite3.connect(":memory:")
database.execute("create table rows (score real)")
database.execute("insert into rows values (?)", (float(score[0]),))
query = "select count(*) as n from {} where score >= 0.7"
rows = pq.read_table("rows.parquet")
flagged = {
    "DuckDB": duckdb.sql(query.format("'rows.parquet'")).fetchall()[0][0],
    "polars": pl.read_parquet("rows.parquet").filter(pl.col("score") >= 0.7).height,
    "pandas": (rows.to_pandas()["score"] >= 0.7).sum(),
    "numpy, 0.7": (score >= 0.7).sum(),
    "numpy, float64(0.7)": (score >= np.float64(0.7)).sum(),
    "DataFusion": context.sql(query.format("rows")).to_pydict()["n"][0],
    "ClickHouse": str(chdb.query(query.format("file('rows.parquet')"))).strip(),
    "SQLite": database.execute(query.format("rows")).fetchone()[0],
    "pyarrow": ds.dataset("rows.parquet").to_table(filter=ds.field("score") >= 0.7).num_rows,
}
for name, number in flagged.items():
    print(f"{name}: {number}")
P
seen "$folder/venv/bin/python" look.py <<'P'
DuckDB: 1
polars: 1
pandas: 1
numpy, 0.7: 1
numpy, float64(0.7): 0
DataFusion: 0
ClickHouse: 0
SQLite: 0
pyarrow: 0
P
