#!/usr/bin/env bash
# A row with the score NaN is above every threshold in a table, and below it in the Parquet file of the table.
#
# One would guess: a filter `score > t` gives the same rows from a file as from a table loaded from it,
#   whether NaN counts as large (DuckDB, DataFusion) or as no number.
# What happens: both engines sort NaN above all numbers, so the filter finds the row in memory; from the file
#   it finds none, once the threshold is at or above the largest number. Below that, the row is found in both.
# Why: maximum and minimum of a file leave NaN out, and a row group whose maximum is not above the threshold
#   is skipped.
# Who meets it: alerts on scores of a model that returns NaN for odd rows: whether they are alerts depends on
#   the other rows of the file, and on whether somebody loaded it first.
source "$(dirname "$0")/common.sh"

packages duckdb==2.0.1 datafusion==55.0.0 pyarrow==26.0.1
cat > "$folder/look.py" <<'P'
import datafusion
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

rows = pa.table({"score": [0.3, float("nan"), 0.6]})
pq.write_table(rows, "rows.parquet")
context = datafusion.SessionContext()
context.register_parquet("file", "rows.parquet")
context.register_record_batches("memory", [rows.to_batches()])
for threshold in (0.5, 0.6):
    query = f"select count(*) as n from {{}} where score > {threshold}"
    for place, table in (("memory", "rows"), ("file", "'rows.parquet'")):
        found = duckdb.sql(query.format(table)).fetchall()[0][0]
        other = context.sql(query.format(place)).to_pydict()["n"][0]
        print(f"above {threshold}, from {place}: DuckDB {found}, DataFusion {other}")
P
seen "$folder/venv/bin/python" look.py <<'P'
above 0.5, from memory: DuckDB 2, DataFusion 2
above 0.5, from file: DuckDB 2, DataFusion 2
above 0.6, from memory: DuckDB 1, DataFusion 1
above 0.6, from file: DuckDB 0, DataFusion 0
P
