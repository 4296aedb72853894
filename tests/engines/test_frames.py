"""Tests that a data frame is read like a Parquet file of its columns: same values, same errors."""

import re
from dataclasses import fields, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.engines.conftest import REREAD_PARTS
from uqcli.base.choices import EngineName, OnInvalid
from uqcli.base.errors import DataError
from uqcli.base.options import RowOutput
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns, Partition, StreamRequest
from uqcli.engines.request import ClassColumns, DataRequest, FeatureRequest, Roles, in_memory

ROLES = Roles(numbers={"score": "score", "uncertainty": "uncertainty"}, label="label")
INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
NUMBERS = (*INTEGERS, pl.Float16, pl.Float32, pl.Float64, pl.Decimal(20, 3))
TEXTS = (pl.String, pl.Categorical, pl.Enum(["0", "1"]))
TRUTHS = [1, 0, 1, 1, 0, 0, 1]
WITH_GAPS = [1, 0, None, 1, 0, None, 1]
MOMENT = datetime(2024, 2, 29, 12, 30, 1, 5000, tzinfo=UTC)


def columns():
    """Make one column of every type, with nulls and without."""
    columns_by_name = {str(kind): pl.Series(values=TRUTHS).cast(kind) for kind in NUMBERS}
    columns_by_name |= {f"{kind} with gaps": pl.Series(values=WITH_GAPS).cast(kind) for kind in NUMBERS}
    for kind in TEXTS:
        columns_by_name[str(kind)] = pl.Series(values=list(map(str, TRUTHS)), dtype=kind)
        columns_by_name[f"{kind} with gaps"] = pl.Series(
            values=["1", "0", None, "1", "0", None, "1"], dtype=kind
        )
    values = {
        "names": ["a", " b", "", None, "A", "true", "TRUE"],
        "decimals": ["1.5", " 2 ", "", None, "-0", "1e3", "nan"],
        "infinite": [1.0, float("inf"), None, float("nan"), -0.0, 2.5, float("-inf")],
        "truths": [True, False, None, True, False, None, True],
        "bytes": [b"1", b"0", None, b"1", b"0", b"1", b"0"],
        "lists": [[1], [0], None, [], [1], [0], [1]],
        "nothing": [None] * 7,
        "dates": [date(2024, 2, day) for day in range(1, 8)],
        "times": [time(12, minute) for minute in range(7)],
        "moments": [MOMENT + timedelta(hours=hours) for hours in range(7)],
        "lengths": [timedelta(hours=hours) for hours in range(7)],
        "structs": [{"a": truth} for truth in TRUTHS],
    }
    columns_by_name |= {name: pl.Series(values=column) for name, column in values.items()}
    columns_by_name["milliseconds"] = columns_by_name["moments"].cast(pl.Datetime("ms", "Europe/Berlin"))
    return columns_by_name


COLUMNS = columns()
TYPES = {name: column for name, column in COLUMNS.items() if f"{name} with gaps" not in COLUMNS}
"""One column of every type, with nulls where COLUMNS has both; nulls only change how rows are read."""


@pytest.fixture(params=EngineName)
def any_engine(request):
    """Open each engine with its default limits."""
    return open_engine(request.param)


def frame_with(**more_columns):
    base_columns = {
        "score": [0.5, 0.25, 0.5, -0.0, 0.75, 1.0, 0.0],
        "uncertainty": [1, 2, 3, 1, 2, 3, 1],
        "label": TRUTHS,
        "weight": [1, 2, 0, 1, 3, 1, 1],
        "p_a": [0.5, 0.25, 0.5, 0.0, 0.75, 1.0, 0.0],
        "p_b": [0.5, 0.75, 0.5, 1.0, 0.25, 0.0, 1.0],
    }
    return pl.DataFrame(base_columns | more_columns)


def answer_or_message(request, query):
    """Return the answer, or the error message with the same name for a file and for a frame."""
    try:
        return flat(query(request))
    except DataError as error:
        message = re.sub(r"row index (\d+)", lambda match: f"data row {int(match[1]) + 1}", str(error))
        for name in request.inputs:
            message = message.replace(f"'{name}'", "the data frame").replace(" as parquet", "")
        # if neither can be read, the advice after the semicolon differs
        return message.partition(";")[0] if message.startswith("cannot read") else message


def flat(answer):
    """Turn an answer into plain values that can be compared."""
    if isinstance(answer, list | tuple):
        return [flat(item) for item in answer]
    if isinstance(answer, dict):
        return {name: flat(item) for name, item in answer.items()}
    if isinstance(answer, np.ndarray | pl.Series):
        return (
            str(answer.dtype),
            repr(answer.tolist() if isinstance(answer, np.ndarray) else answer.to_list()),
        )
    if hasattr(answer, "__dataclass_fields__"):
        return {field.name: flat(getattr(answer, field.name)) for field in fields(answer)}
    return answer


def as_file(request, folder):
    """Make the same request for a Parquet file of the frame."""
    path = folder / "rows.parquet"
    request.inputs[0].content.write_parquet(path)
    return replace(request, inputs=(str(path),))


def table_query(engine):
    def query(request):
        table = engine.table(request)
        by = Partition(edges=np.array([2.0]))
        return [table.pooled(by), table.isotonic(by), table.summary, table.rows()]

    return query


def batch_query(engine):
    def query(request):
        batches = engine.batches(request)
        parts = list(batches)
        assert all(rows.valid is None for rows in parts)
        joined = {role: np.concatenate([rows.numbers[role] for rows in parts]) for role in parts[0].numbers}
        position = np.concatenate([rows.position for rows in parts])
        return [joined, batches.dropped, batches.levels, batches.unnormalised, position]

    return query


CASES = {
    "score": Roles(numbers={"score": "x", "uncertainty": "uncertainty"}, label="label"),
    "label": replace(ROLES, label="x"),
    "weight": replace(ROLES, weight="x"),
    "key": replace(ROLES, keys=("x",)),
    "feature": replace(ROLES, features=(FeatureRequest(name="x"),)),
    "text feature": replace(ROLES, features=(FeatureRequest(name="x", text=True),)),
    "known feature": replace(ROLES, features=(FeatureRequest(name="x", levels=("1", "a")),)),
    "class": Roles(numbers={}, label="x", class_columns=ClassColumns(columns="p_*", names=("0", "1"))),
    "pattern": replace(ROLES, pattern="[xu]*"),
}


def same_answer(request, folder, query):
    """Return the answer, which must be equal for a frame and a file; rows are dropped or refused."""
    for on_invalid in (OnInvalid.ERROR, OnInvalid.DROP):
        attempt = replace(request, on_invalid=on_invalid)
        answer = answer_or_message(attempt, query)
        expected = answer_or_message(as_file(attempt, folder), query)
        assert answer == expected
    return answer


@pytest.mark.filterwarnings("ignore:.* of the rows were left out:UserWarning")
@pytest.mark.covering("thorough", every=9)
@pytest.mark.parametrize("role", CASES)
def test_a_column_of_any_type_is_read_as_from_a_file(any_engine, tmp_path, role):
    answered = 0
    for column in COLUMNS.values():
        request = DataRequest(inputs=in_memory(frame_with(x=column)), roles=CASES[role])
        query = any_engine.rows if role != "pattern" else batch_query(any_engine)
        for positive in (None, "1") if role == "label" else (None,):
            answer = same_answer(replace(request, positive_value=positive), tmp_path, query)
            answered += not isinstance(answer, str)
    assert answered > 5


@pytest.mark.filterwarnings("ignore:.* of the rows were left out:UserWarning")
@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("role", ["score", "label", "weight"])
def test_tables_of_a_column_of_any_type_are_those_of_a_file(engine, variant, tmp_path, role):
    query = table_query(engine)
    # where rows come in parts, each type is tried under one of the two limits
    tested_columns = (
        COLUMNS if variant == EngineName.POLARS else dict(list(TYPES.items())[variant == REREAD_PARTS :: 2])
    )
    for column in tested_columns.values():
        request = DataRequest(
            inputs=in_memory(frame_with(x=column)), roles=CASES[role], on_invalid=OnInvalid.DROP
        )
        assert answer_or_message(request, query) == answer_or_message(as_file(request, tmp_path), query)


@pytest.mark.parametrize(
    "roles",
    [
        replace(ROLES, label="lable"),
        replace(ROLES, pattern="q*"),
        Roles(numbers={}, label="label", class_columns=ClassColumns(columns="q_*")),
        Roles(numbers={}, label="label", class_columns=ClassColumns(columns="p_a,p_c")),
        Roles(numbers={}, label="label", class_columns=ClassColumns(columns="p_a,weight", names=("0", "1"))),
        Roles(numbers={}, label="label", class_columns=ClassColumns(columns="p_*")),
    ],
    ids=str,
)
def test_errors_about_columns_are_those_of_a_file(any_engine, tmp_path, roles):
    request = DataRequest(inputs=in_memory(frame_with()), roles=roles)
    assert "the data frame" in same_answer(request, tmp_path, any_engine.rows)


def test_an_empty_frame_is_refused(engine, tmp_path):
    request = DataRequest(inputs=in_memory(frame_with().clear()), roles=ROLES)
    assert "no rows to work on" in same_answer(request, tmp_path, engine.rows)
    assert "no rows to work on" in same_answer(request, tmp_path, table_query(engine))


def test_columns_are_found_by_their_names_only(any_engine):
    frame = frame_with().rename({"score": "^.*$", "uncertainty": "*"})
    roles = replace(ROLES, numbers={"score": "^.*$", "uncertainty": "*"})
    rows = any_engine.rows(DataRequest(inputs=in_memory(frame), roles=roles)).rows
    assert rows.numbers["uncertainty"].tolist() == frame["*"].to_list()


@pytest.mark.parametrize(
    "column",
    [pl.Series([object()] * 7, dtype=pl.Object), pl.Series(TRUTHS, dtype=pl.Int128)],
    ids=lambda column: str(column.dtype),
)
@pytest.mark.parametrize("role", CASES)
def test_a_type_that_no_file_can_contain_is_refused(any_engine, column, role):
    request = DataRequest(inputs=in_memory(frame_with(x=column)), roles=CASES[role])
    with pytest.raises(DataError, match=f"column 'x' of the data frame holds {column.dtype}"):
        any_engine.rows(request)


def test_rows_of_a_frame_are_numbered_from_zero(any_engine):
    frame = frame_with(score=[0.5, 0.25, 0.5, None, 0.75, 1.0, 0.0])
    with pytest.raises(DataError, match=r"first in row index 3 of the data frame"):
        any_engine.rows(DataRequest(inputs=in_memory(frame), roles=ROLES))


def test_a_frame_is_not_modified(engine):
    frame = frame_with()
    before = frame.to_dict(as_series=False)  # no view of the same memory
    table = engine.table(DataRequest(inputs=in_memory(frame), roles=replace(ROLES, weight="weight")))
    for edges in ([2.0], [1.0, 3.0], []):
        table.pooled(Partition(edges=np.array(edges)))
    table.rows()
    assert frame.to_dict(as_series=False) == before


def test_requests_are_equal_only_for_the_same_frame():
    frame = frame_with()
    request = DataRequest(inputs=in_memory(frame), roles=ROLES)
    assert request == replace(request)
    assert request != replace(request, inputs=in_memory(frame))
    assert request != replace(request, inputs=())
    assert request != replace(request, on_invalid=OnInvalid.DROP)


READERS = {"parquet": pl.read_parquet, "arrow": pl.read_ipc, "csv": Path.read_text}


@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize("on_invalid", [OnInvalid.KEEP, OnInvalid.DROP])
def test_a_streamed_frame_is_written_as_its_file_would_be(any_engine, tmp_path, ending, on_invalid):
    texts = {name: COLUMNS[name] for name in (*map(str, TEXTS), "names", "dates", "truths", "moments")}
    frame = frame_with(**texts, score=[0.5, 0.25, None, -0.0, 0.75, 1.0, float("nan")])
    added = AddedColumns(
        types={"high": "bool", "twice": "float64"},
        compute=lambda rows: {"high": rows.score > 0.4, "twice": 2 * rows.score},
    )
    roles = Roles(numbers={"score": "score"})
    request = DataRequest(inputs=in_memory(frame), roles=roles, on_invalid=on_invalid)
    written, summaries = [], []
    for data in (request, as_file(request, tmp_path)):
        output = tmp_path / f"out.{ending}"
        summaries.append(
            any_engine.stream(StreamRequest(data=data, added=added, output=RowOutput(output=str(output))))
        )
        written.append(READERS[ending](output))
    assert summaries[0] == summaries[1]
    if ending == "csv":
        assert written[0] == written[1]
    else:
        assert_frame_equal(*written)
