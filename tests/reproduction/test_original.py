"""Tests of the calibration paper's own rows: printed values follow to the last digit."""

import numpy as np
import pytest

from reproduction.gaussian import Cell, _original_metrics, without_constant_columns
from reproduction.original import pava_bc_cuts, quantile_cuts
from reproduction.spread import spread
from reproduction.values import read, tables_of


def table_of(key):
    study = next(table["study"] for table in read()["table"] if table["key"] == key)
    return next(table for table in tables_of(study) if table.key == key)


@pytest.mark.covering("thorough", every=3, also=["tce11t-0-3"])
@pytest.mark.parametrize(
    ("key", "row", "by_uqcli"),
    [("tce2", 0, 4), ("tce2", 5, 4), ("tce6", 0, 6), ("tce9", 3, 7), ("tce11t", 0, 3), ("tce12", 8, 7)],
)
def test_cells_of_the_tables_are_exact(key, row, by_uqcli):
    table = table_of(key)
    published = table.rows[row]
    ours, as_printed = _original_metrics(*published.settings.items())
    cells = []
    for column, value in zip(table.columns, published.published, strict=True):
        digits = 2 if key == "tce2" and column.startswith("tce") else 4
        cells.append(
            Cell(
                published=value,
                ours=ours[column],
                as_printed=as_printed[column],
                others=spread([value], value, digits),
                digits=digits,
            )
        )
    assert all(cell.is_exact_as_printed for cell in cells)
    assert sum(cell.is_exact for cell in cells) == by_uqcli


def test_a_cell_that_differs_is_bold():
    values = {"published": 0.5, "as_printed": 0.5, "others": spread([0.4, 0.6], 0.5, 4), "digits": 4}
    assert Cell(ours=0.5, **values).text == "0.5000; 0.5000 (0.4000–0.6000)"
    assert Cell(ours=0.4, **values).text == "**0.5000: 0.4000; 0.5000 (0.4000–0.6000)**"


def test_quantile_ranks_are_rounded_down_in_double_precision():
    cuts = quantile_cuts(6000, 100)
    assert (cuts[29], cuts[30], cuts[-1]) == (1739, 1800, 6000)


def test_blocks_follow_algorithm_2():
    assert pava_bc_cuts(np.array([0, 0, 1, 0, 1, 1, 1, 1]), 2, 4).tolist() == [0, 2, 4, 8]


def test_columns_that_do_not_vary_are_told_in_a_sentence():
    rows = [[f"{pair}, level {level}", f"{level}", f"7 of {pair}"] for pair in "ab" for level in (1, 2, 3)]
    header, kept, text = without_constant_columns(["", "TCE", "ECE"], rows)
    assert (header, kept) == (["", "TCE"], [row[:2] for row in rows])
    assert text == ["Equal in all rows with a and with b: ECE 7 of a and 7 of b."]
    assert without_constant_columns(["", "TCE", "ECE"], rows[2:4]) == (["", "TCE", "ECE"], rows[2:4], [])
