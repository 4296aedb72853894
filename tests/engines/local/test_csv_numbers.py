"""Tests of numbers in CSV: read as numbers where all are such, with the bits that their texts have."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.errors import DataError
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.read.csv_text import CsvBlock
from uqcli.engines.request import DataRequest, Roles

ODD = [
    "nan",
    " 0.5",
    "0.5 ",
    '"0.5"',
    '""',
    " ",
    "1_0",
    "-inf",
    "1e400",
    "5e-324",
    "+.5",
    "-0.0",
    "0x1",
    "NA",
]
TEXTS = st.one_of(
    st.floats().map(repr),
    st.decimals(allow_nan=False, places=30).map(str),
    st.integers().map(str),
    st.sampled_from(ODD),
)
ROLES = Roles(numbers={"score": "score"}, label="label")


def result(path):
    """Return the numbers and labels, or the message of the error."""
    try:
        rows = list(LocalBatches(DataRequest(inputs=(str(path),), roles=ROLES)))
    except DataError as error:
        return str(error)
    numbers = np.concatenate([part.numbers["score"] for part in rows])
    return numbers.tobytes(), np.concatenate([part.labels for part in rows]).tolist()


@given(
    st.lists(st.tuples(TEXTS, st.sampled_from(["0", "1"])), min_size=1, max_size=9),
    st.sampled_from(["", "true", "02", "2", "1.0", "+1", " 1", '"0"', "null"]),
)
def test_numbers_and_labels_are_those_of_their_texts(tmp_path_factory, rows, label):
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    records = [*rows, ("0.25", label)] if label else rows
    path.write_text("score,label\n" + "".join(f"{score},{value}\n" for score, value in records))
    as_numbers = result(path)
    with pytest.MonkeyPatch.context() as patch:
        parsed = CsvBlock.values
        patch.setattr(CsvBlock, "values", lambda self, columns, _: parsed(self, columns))
        assert result(path) == as_numbers


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        ("0.5,0\n.25,1\n", [pl.Float64, pl.Int8]),
        ("0.5,true\n.25,\n", [pl.Float64, pl.String]),
        ("0.5 ,0\n.25,1\n", [pl.String, pl.String]),
    ],
)
def test_only_columns_with_other_texts_are_read_as_text(tmp_path, monkeypatch, rows, kinds):
    (tmp_path / "rows.csv").write_text("score,label\n" + rows)
    found, parsed = [], CsvBlock.values
    monkeypatch.setattr(
        CsvBlock, "values", lambda self, *given: (found.append(parsed(self, *given)), found[-1])[1]
    )
    result(tmp_path / "rows.csv")
    assert [found[0][name].dtype for name in ("score", "label")] == kinds
