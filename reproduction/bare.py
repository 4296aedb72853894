"""A bare polars program beside which commands are timed: ``python -m reproduction.bare FILE UNIT``.

It finds the lowest threshold at which nine of ten flagged rows are positive, and counts rows, positives,
flagged rows and true positives by unit. It checks nothing and computes no range.
"""

import sys

import polars as pl

PRECISION = 0.9

path, unit = sys.argv[1:]
rows = pl.read_parquet(path, columns=["score", "label", unit])
by_score = (
    rows.group_by("score").agg(pl.len().alias("rows"), pl.col("label").sum()).sort("score", descending=True)
)
reached = by_score.filter(pl.col("label").cum_sum() >= PRECISION * pl.col("rows").cum_sum())
flagged = pl.col("score") >= reached["score"].min()
of_unit = rows.group_by(unit).agg(
    pl.len(),
    pl.col("label").sum(),
    flagged.sum().alias("flagged"),
    (flagged & (pl.col("label") == 1)).sum().alias("true positives"),
)
sys.stdout.write(f"{len(of_unit)} {of_unit['flagged'].sum()}\n")
