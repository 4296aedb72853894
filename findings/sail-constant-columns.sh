#!/usr/bin/env bash
# Sail reads a NaN in a Parquet column as the value that all other rows have.
#
# One would guess: a server that speaks Spark's protocol reads what Spark reads from a Parquet file.
# What happens: a column with equal minimum and maximum in the statistics of the file is taken for a constant,
#   and a NaN in it becomes this constant. There is no error, and counts of rows and of nulls look right.
# Why: statistics leave NaN out, so that equal ends do not mean equal values.
# Who meets it: whoever tests pipelines on Sail because it starts in a second, with rounded scores.
source "$(dirname "$0")/common.sh"

packages pysail==0.7.2 pyspark-client==4.2.0 pyarrow==26.0.1 'pandas==2.3.3'
cat > "$folder/look.py" <<'P'
import os

os.environ["SPARK_HOME"] = os.environ["RUST_LOG"] = "off"
import pyarrow as pa
import pyarrow.parquet as pq
from pysail.spark import SparkConnectServer
from pyspark.sql.connect.session import SparkSession

pq.write_table(pa.table({"score": [0.93, float("nan"), 0.93]}), "scores.parquet")
pq.write_table(pa.table({"score": [0.93, float("nan"), 0.94]}), "others.parquet")
server = SparkConnectServer("127.0.0.1", 0)
server.start(background=True)
host, port = server.listening_address
session = SparkSession.builder.remote(f"sc://{host}:{port}").create()
for name in ("scores.parquet", "others.parquet"):
    print(pq.read_table(name).to_pydict(), "is read as", session.read.parquet(name).toArrow().to_pydict())
print(end="", flush=True)
os._exit(0)  # the server's threads would go on
P
seen "$folder/venv/bin/python" -W ignore look.py <<'P'
{'score': [0.93, nan, 0.93]} is read as {'score': [0.93, 0.93, 0.93]}
{'score': [0.93, nan, 0.94]} is read as {'score': [0.93, nan, 0.94]}
P
