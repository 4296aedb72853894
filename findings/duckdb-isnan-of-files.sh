#!/usr/bin/env bash
# DuckDB answers isnan() of a Parquet column from the file's statistics, which leave NaN out.
#
# One would guess: a query gives the same rows from a file as from a table that was loaded from it.
# What happens: minimum and maximum of a column in a Parquet file leave NaN out, as the format asks of writers.
#   DuckDB concludes from 30 and 60 that no value is NaN, and replaces isnan(x) by false. The values are still
#   NaN: from the file the filter finds no row, from memory it finds one. NOT isfinite(x) is right in both.
# Why: the statistics bound only the numbers that can be ordered, and the optimiser takes them for bounds of all.
# Who meets it: exported decision trees and any SQL that sends NaN one way, where pandas, polars or pyarrow
#   wrote the file. A check against a table in memory agrees with the program, and production does not.
source "$(dirname "$0")/common.sh"

packages duckdb==2.0.1 pyarrow==26.0.1
cat > "$folder/look.py" <<'P'
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

ages = pa.table({"age": [30.0, float("nan"), 60.0]})
pq.write_table(ages, "ages.parquet")
statistics = pq.read_metadata("ages.parquet").row_group(0).column(0).statistics
print("statistics:", statistics.min, statistics.max)
for name in ("ages", "'ages.parquet'"):
    for test in ("isnan(age)", "not isfinite(age)"):
        print(name, test, duckdb.sql(f"select count(*) from {name} where {test}").fetchall()[0][0])
print("values of the file:", [row[0] for row in duckdb.sql("select age from 'ages.parquet'").fetchall()])
P
seen "$folder/venv/bin/python" look.py <<'P'
statistics: 30.0 60.0
ages isnan(age) 1
ages not isfinite(age) 1
'ages.parquet' isnan(age) 0
'ages.parquet' not isfinite(age) 1
values of the file: [30.0, nan, 60.0]
P
