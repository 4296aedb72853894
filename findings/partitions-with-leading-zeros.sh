#!/usr/bin/env bash
# A folder with the partitions g=01 and g=1 is two groups, one group, or an error, by reader.
#
# One would guess: a partition is named by its text, or all readers turn it into a number alike; at worst a
#   reader merges both, silently.
# What happens: pyarrow and polars read whole numbers and merge the two, DuckDB and DataFusion keep the texts
#   apart, and pandas fails in the middle of reading: pyarrow gives it a dictionary that has the number twice.
# Why: the layout of Hive writes no types, so each reader infers them, and a dictionary of partitions is made
#   of texts before these become numbers.
# Who meets it: whoever groups scores by zero-padded codes (shops, months, postal areas) in a data lake, and
#   compares the groups of two engines; and whoever hands such a folder to pandas.
source "$(dirname "$0")/common.sh"

packages pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1 datafusion==55.0.0
cat > "$folder/look.py" <<'P'
from pathlib import Path

import datafusion
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

for index, group in enumerate(("01", "1")):
    Path(f"rows/g={group}").mkdir(parents=True)
    pq.write_table(pa.table({"score": [index / 2]}), f"rows/g={group}/part.parquet")
print("pyarrow:", pq.read_table("rows")["g"].to_pylist())
print("polars:", pl.read_parquet("rows", hive_partitioning=True)["g"].to_list())
query = "select g from read_parquet('rows/*/*.parquet', hive_partitioning = true) order by g"
print("DuckDB:", [row[0] for row in duckdb.sql(query).fetchall()])
context = datafusion.SessionContext()
context.sql("create external table rows stored as parquet partitioned by (g) location 'rows/'")
print("DataFusion:", context.sql("select g from rows order by g").to_pydict()["g"])
try:
    print("pandas:", pd.read_parquet("rows")["g"].tolist())
except ValueError as error:
    print("pandas: ValueError,", error)
P
seen "$folder/venv/bin/python" look.py <<'P'
pyarrow: [1, 1]
polars: [1, 1]
DuckDB: ['01', '1']
DataFusion: ['01', '1']
pandas: ValueError, Categorical categories must be unique
P
