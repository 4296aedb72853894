"""Tests of the tables of features, of the candidates for an uncertainty, and of what the study shows."""

import numpy as np
import polars as pl
import pytest

from reproduction import candidates, tables
from reproduction.candidates import Amount, scored
from reproduction.studies import uncertainties
from reproduction.tables import Table
from uqcli.boundary.comparison import UncertaintyComparison

FEW = Amount(members=2, trees=5)


@pytest.fixture(scope="module")
def table():
    """Make rows whose label follows a number and a category; one row in three is new, some far away."""
    draws = np.random.default_rng(0)
    numbers = draws.normal(size=(900, 2))
    numbers[-20:] += 50
    numbers[::50, 1] = np.nan
    categories = draws.integers(0, 3, size=(900, 1))
    label = (numbers[:, 0] + categories[:, 0] + draws.normal(size=900) > 1).astype(np.int64)
    trained = np.arange(900) < 600
    return Table(
        numbers=numbers,
        categories=categories,
        many_valued=np.arange(900)[:, None] % 450,
        label=label,
        trained=trained,
        hold_outs={"new": ~trained},
    )


@pytest.fixture(scope="module")
def columns(table):
    return scored(table, FEW, seed=0)


def test_candidates_are_finite_and_named(table, columns):
    assert set(columns) == {"score", *candidates.NAMES}
    for values in columns.values():
        assert values.shape == (300,)
        assert np.isfinite(values).all()


@pytest.mark.thorough
def test_candidates_are_seeded(table, columns):
    again = scored(table, FEW, seed=0)
    assert all(np.array_equal(again[name], values) for name, values in columns.items())


def test_far_rows_are_far_and_similar_rows_are_near(columns):
    assert columns["distance"][-20:].min() > columns["distance"][:-20].max()


def test_the_rarest_category_is_counted_in_training_rows_only(table, columns):
    codes = np.hstack([table.categories, table.many_valued])
    train, new = codes[:600], codes[600:]
    expected = [min((train[:, column] == row[column]).sum() for column in (0, 1)) for row in new]
    assert columns["seen"].tolist() == expected


def test_leaves_are_those_of_training_rows():
    table = Table(
        numbers=np.zeros((5, 1)),
        categories=np.zeros((5, 1), np.int64),
        many_valued=np.empty((5, 0), np.int64),
        label=np.array([1, 0, 1, 0, 0]),
        trained=np.array([True, True, True, False, False]),
        hold_outs={},
    )
    rows, positives = candidates._leaf_counts(np.array([4, 4, 2]), np.array([2, 4]), table)
    assert (rows.tolist(), positives.tolist()) == ([1, 2], [1, 1])


def test_positive_rates_do_not_count_the_row_itself():
    codes, label = np.arange(300), np.arange(300) % 2
    trained = np.arange(300) < 200
    rates = tables._positive_rates(codes, label, trained)
    assert rates[trained] == pytest.approx(0.5)  # each value occurs once: only the rate of all rows is left
    assert rates[~trained] == pytest.approx(0.5)
    frequent = tables._positive_rates(np.arange(2000) % 2, np.arange(2000) % 2, np.arange(2000) < 1500)
    assert np.abs(frequent - np.arange(2000) % 2).max() < 0.03


def test_missing_values_and_texts_get_codes():
    codes = tables._codes(pl.DataFrame({"a": ["y", None, "x", "y"], "b": [3, 3, None, 1]}))
    assert codes.tolist() == [[2, 2], [0, 2], [1, 0], [2, 1]]


def test_adult_has_its_rows():
    table = tables.adult()
    assert (len(table.label), table.label.sum()) == (32_561, 7_841)
    assert table.categories.shape[1] == 7
    assert table.numbers.shape[1] == 5
    assert not (table.hold_outs["adult"] & table.trained).any()
    assert 0.49 < table.trained.mean() < 0.51
    assert len(table.head(100).features()) == 100


def test_undersampling_keeps_one_negative_in_ten_of_those_that_train():
    whole, few = tables.adult(), tables.undersampled()
    negative = whole.label == 0
    assert np.array_equal(few.trained & ~negative, whole.trained & ~negative)
    kept = (few.trained & negative).sum() / (whole.trained & negative).sum()
    assert kept == pytest.approx(1 / tables.KEPT_NEGATIVES, abs=0.01)
    assert np.array_equal(few.hold_outs["adult, 1 negative in 10"], whole.hold_outs["adult"])


def test_a_table_that_is_not_installed_is_named():
    with pytest.raises(ModuleNotFoundError, match="no module nowhere"):
        tables._installed("nowhere")


def comparison_of(informative):
    draws = np.random.default_rng(0)
    score, uncertainty = draws.beta(1, 2, 5_000), draws.random(5_000)
    factor = 1.6 - 1.2 * uncertainty if informative else np.ones(5_000)
    label = draws.random(5_000) < np.clip(score * factor, 0, 1)
    rows = pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": label})
    return uncertainties.compared(rows, ["uncertainty"], 0.7)["uncertainty"]


@pytest.mark.thorough
def test_a_gain_is_shown_as_the_report_prints_it_and_in_bold_if_it_helps():
    helps = comparison_of(informative=True)
    assert helps.verdict == "helps"
    assert uncertainties.cell(helps) == f"**{helps.cells[0]}, p {helps.cells[1]}**"
    useless = comparison_of(informative=False)
    assert isinstance(useless, UncertaintyComparison)
    assert uncertainties.cell(useless) == f"{useless.cells[0]}, p {useless.cells[1]}"


def test_hold_outs_have_the_rows_that_did_not_train(table, columns):
    held_out = uncertainties._hold_outs(table, pl.DataFrame(columns))
    assert list(held_out) == ["new"]
    assert held_out["new"]["label"].to_list() == table.label[600:].tolist()
