"""Contract tests of rows outside the ranges of numbers: both engines count the usable ones."""

import numpy as np
import polars as pl
import pytest

from tests.engines.test_tables import write_inputs
from uqcli.base.choices import EngineName, OnInvalid
from uqcli.base.options import RowOutput
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns, StreamRequest
from uqcli.engines.request import PROBA, DataRequest, Roles

ROWS = pl.DataFrame(
    {
        "score": [0.1, 0.2, 0.3, None, 0.9, -4.0, 0.2, float("nan")],
        "uncertainty": [5.0, 1.0, 2.0, 9.0, 2.0, 9.0, None, 1.0],
    }
)
RANGES = {"score": (0.1, 0.3), "uncertainty": (1.0, 2.0)}
NUMBERS = Roles(numbers={"score": "score", "uncertainty": "uncertainty"})
CLASSES = Roles(numbers={}, classes={name: f"p_{name}" for name in "abc"})
PROBABILITIES = pl.DataFrame({"p_a": [0.5, 0.1, 0.4, 0.9, None], "p_b": [0.3, 0.1, 0.3, 0.1, 0.5]})
PROBABILITIES = PROBABILITIES.with_columns(p_c=1.0 - pl.col("p_a") - pl.col("p_b"))


def summary(engine, inputs, output, roles, ranges, on_invalid, only=None):
    first = next(iter(roles.all_numbers()))
    added = AddedColumns(types={"high": "bool"}, compute=lambda rows: {"high": rows.numbers[first] > 0.25})
    data = DataRequest(**inputs, roles=roles, on_invalid=on_invalid)
    request = StreamRequest(
        data=data, added=added, output=RowOutput(output=str(output)), only=only, ranges=ranges
    )
    return open_engine(engine).stream(request)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("engine", list(EngineName))
@pytest.mark.parametrize("on_invalid", [OnInvalid.KEEP, OnInvalid.DROP])
@pytest.mark.parametrize("only", [None, "high"])
def test_usable_rows_outside_any_range_are_counted(tmp_path, engine, on_invalid, only):
    inputs = write_inputs(ROWS, tmp_path, cuts=[3])
    for number, (ranges, expected) in enumerate(
        (
            (RANGES, 3),
            ({"score": RANGES["score"]}, 2),
            ({"uncertainty": RANGES["uncertainty"]}, 2),
            ({"score": (-4.0, 0.9)}, 0),
            ({}, 0),
        )
    ):
        output = tmp_path / f"out{number}.parquet"
        counted = summary(engine, inputs, output, NUMBERS, ranges, on_invalid, only)
        assert counted.outside == expected
        assert counted.undecided + counted.dropped == 3


@pytest.mark.parametrize("engine", list(EngineName))
def test_the_score_of_classes_is_the_largest_probability(tmp_path, engine):
    inputs = write_inputs(PROBABILITIES, tmp_path)
    assert PROBA + "a" in CLASSES.all_numbers()
    counted = summary(
        engine, inputs, tmp_path / "out.parquet", CLASSES, {"score": (0.45, 0.85)}, OnInvalid.KEEP
    )
    largest = np.array([0.5, 0.8, 0.4, 0.9])
    assert counted.outside == ((largest < 0.45) | (largest > 0.85)).sum() == 2
