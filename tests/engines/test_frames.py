"""A data frame is read as the Parquet file of the same columns is: the same values, the same complaints."""

import re
from dataclasses import fields, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.engines.conftest import AGAIN
from uqcli.choices import EngineName, OnInvalid
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns, Destination, Partition, StreamRequest
from uqcli.engines.request import ClassColumns, DataRequest, FeatureRequest, Roles
from uqcli.errors import DataError

ROLES = Roles(numbers={"score": "score", "uncertainty": "uncertainty"}, label="label")
INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
NUMBERS = (*INTEGERS, pl.Float16, pl.Float32, pl.Float64, pl.Decimal(20, 3))
TEXTS = (pl.String, pl.Categorical, pl.Enum(["0", "1"]))
TRUTHS = [1, 0, 1, 1, 0, 0, 1]
WITH_GAPS = [1, 0, None, 1, 0, None, 1]
MOMENT = datetime(2024, 2, 29, 12, 30, 1, 5000, tzinfo=UTC)


def columns():
    """One column of every type, with nulls and without."""
    found = {str(kind): pl.Series(values=TRUTHS).cast(kind) for kind in NUMBERS}
    found |= {f"{kind} with gaps": pl.Series(values=WITH_GAPS).cast(kind) for kind in NUMBERS}
    for kind in TEXTS:
        found[str(kind)] = pl.Series(values=list(map(str, TRUTHS)), dtype=kind)
        found[f"{kind} with gaps"] = pl.Series(values=["1", "0", None, "1", "0", None, "1"], dtype=kind)
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
        "structs": [{"a": each} for each in TRUTHS],
    }
    found |= {name: pl.Series(values=each) for name, each in values.items()}
    found["milliseconds"] = found["moments"].cast(pl.Datetime("ms", "Europe/Berlin"))
    return found


COLUMNS = columns()
TYPES = {name: column for name, column in COLUMNS.items() if f"{name} with gaps" not in COLUMNS}
"""One column of every type, the one with nulls; the others differ where rows are read, in any room."""


@pytest.fixture(params=EngineName)
def whole(request):
    """An engine with room for all."""
    return open_engine(request.param)


def rows_with(**others):
    plain = {
        "score": [0.5, 0.25, 0.5, -0.0, 0.75, 1.0, 0.0],
        "uncertainty": [1, 2, 3, 1, 2, 3, 1],
        "label": TRUTHS,
        "weight": [1, 2, 0, 1, 3, 1, 1],
        "p_a": [0.5, 0.25, 0.5, 0.0, 0.75, 1.0, 0.0],
        "p_b": [0.5, 0.75, 0.5, 1.0, 0.25, 0.0, 1.0],
    }
    return pl.DataFrame(plain | others)


def told(request, ask):
    """What is answered, or what is said; with the same name for a file and for a frame."""
    try:
        return flat(ask(request))
    except DataError as error:
        said = re.sub(r"row index (\d+)", lambda found: f"data row {int(found[1]) + 1}", str(error))
        for name in request.inputs:
            said = said.replace(f"'{name}'", "the data frame").replace(" as parquet", "")
        # what was expected of either, and so what to do, differs where neither can be read
        return said.partition(";")[0] if said.startswith("cannot read") else said


def flat(answer):
    """An answer as plain values that can be compared."""
    if isinstance(answer, list | tuple):
        return [flat(each) for each in answer]
    if isinstance(answer, dict):
        return {name: flat(each) for name, each in answer.items()}
    if isinstance(answer, np.ndarray | pl.Series):
        return (
            str(answer.dtype),
            repr(answer.tolist() if isinstance(answer, np.ndarray) else answer.to_list()),
        )
    if hasattr(answer, "__dataclass_fields__"):
        return {each.name: flat(getattr(answer, each.name)) for each in fields(answer)}
    return answer


def of_file(request, folder):
    """The same asked of the frame in a Parquet file."""
    path = folder / "rows.parquet"
    request.frame.write_parquet(path)
    return replace(request, inputs=(str(path),), frame=None)


def asked_of_tables(engine):
    def ask(request):
        table = engine.table(request)
        by = Partition(edges=np.array([2.0]))
        return [table.pooled(by), table.isotonic(by), table.facts, table.rows()]

    return ask


def of_batches(engine):
    def ask(request):
        batches = engine.batches(request)
        found = list(batches)
        assert all(rows.valid is None for rows in found)
        joined = {role: np.concatenate([rows.numbers[role] for rows in found]) for role in found[0].numbers}
        position = np.concatenate([rows.position for rows in found])
        return [joined, batches.dropped, batches.levels, batches.unnormalised, position]

    return ask


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


def same_rows(request, folder, ask):
    """Whether rows are dropped or refused, a frame and a file have one answer; it is given."""
    for on_invalid in (OnInvalid.ERROR, OnInvalid.DROP):
        asked = replace(request, on_invalid=on_invalid)
        found = told(asked, ask)
        expected = told(of_file(asked, folder), ask)
        assert found == expected
    return found


@pytest.mark.parametrize("role", CASES)
def test_a_column_of_any_type_is_read_as_from_a_file(whole, tmp_path, role):
    answered = 0
    for column in COLUMNS.values():
        request = DataRequest(inputs=(), frame=rows_with(x=column), roles=CASES[role])
        ask = whole.rows if role != "pattern" else of_batches(whole)
        for positive in (None, "1") if role == "label" else (None,):
            found = same_rows(replace(request, positive_value=positive), tmp_path, ask)
            answered += not isinstance(found, str)
    assert answered > 5


@pytest.mark.parametrize("role", ["score", "label", "weight"])
def test_tables_of_a_column_of_any_type_are_those_of_a_file(engine, room, tmp_path, role):
    ask = asked_of_tables(engine)
    # where rows come in parts, each type is tried in one of the two rooms
    asked = COLUMNS if room == EngineName.POLARS else dict(list(TYPES.items())[room == AGAIN :: 2])
    for column in asked.values():
        request = DataRequest(
            inputs=(), frame=rows_with(x=column), roles=CASES[role], on_invalid=OnInvalid.DROP
        )
        assert told(request, ask) == told(of_file(request, tmp_path), ask)


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
def test_what_is_wrong_with_columns_is_said_as_of_a_file(whole, tmp_path, roles):
    request = DataRequest(inputs=(), frame=rows_with(), roles=roles)
    assert "the data frame" in same_rows(request, tmp_path, whole.rows)


def test_no_row_is_too_few(engine, tmp_path):
    request = DataRequest(inputs=(), frame=rows_with().clear(), roles=ROLES)
    assert "no rows to work on" in same_rows(request, tmp_path, engine.rows)
    assert "no rows to work on" in same_rows(request, tmp_path, asked_of_tables(engine))


def test_columns_are_found_by_their_names_only(whole):
    frame = rows_with().rename({"score": "^.*$", "uncertainty": "*"})
    roles = replace(ROLES, numbers={"score": "^.*$", "uncertainty": "*"})
    rows = whole.rows(DataRequest(inputs=(), frame=frame, roles=roles)).rows
    assert rows.numbers["uncertainty"].tolist() == frame["*"].to_list()


@pytest.mark.parametrize(
    "column",
    [pl.Series([object()] * 7, dtype=pl.Object), pl.Series(TRUTHS, dtype=pl.Int128)],
    ids=lambda column: str(column.dtype),
)
@pytest.mark.parametrize("role", CASES)
def test_a_type_that_no_file_holds_is_refused(whole, column, role):
    request = DataRequest(inputs=(), frame=rows_with(x=column), roles=CASES[role])
    with pytest.raises(DataError, match=f"column 'x' of the data frame holds {column.dtype}"):
        whole.rows(request)


def test_rows_are_numbered_as_in_python(whole):
    frame = rows_with(score=[0.5, 0.25, 0.5, None, 0.75, 1.0, 0.0])
    with pytest.raises(DataError, match=r"first in row index 3 of the data frame"):
        whole.rows(DataRequest(inputs=(), frame=frame, roles=ROLES))


def test_a_frame_stays_as_it_is(engine):
    frame = rows_with()
    before = frame.to_dict(as_series=False)  # no view of the same memory
    table = engine.table(DataRequest(inputs=(), frame=frame, roles=replace(ROLES, weight="weight")))
    for by in ([2.0], [1.0, 3.0], []):
        table.pooled(Partition(edges=np.array(by)))
    table.rows()
    assert frame.to_dict(as_series=False) == before


def test_requests_are_the_same_of_one_frame_only():
    frame = rows_with()
    request = DataRequest(inputs=(), frame=frame, roles=ROLES)
    assert request == replace(request)
    assert request != replace(request, frame=frame.clone())
    assert request != replace(request, frame=None)
    assert request != replace(request, on_invalid=OnInvalid.DROP)


READERS = {"parquet": pl.read_parquet, "arrow": pl.read_ipc, "csv": Path.read_text}


@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize("on_invalid", [OnInvalid.KEEP, OnInvalid.DROP])
def test_a_streamed_frame_is_written_as_its_file_would_be(whole, tmp_path, ending, on_invalid):
    texts = {name: COLUMNS[name] for name in (*map(str, TEXTS), "names", "dates", "truths", "moments")}
    frame = rows_with(**texts, score=[0.5, 0.25, None, -0.0, 0.75, 1.0, float("nan")])
    added = AddedColumns(
        types={"high": "bool", "twice": "float64"},
        compute=lambda rows: {"high": rows.score > 0.4, "twice": 2 * rows.score},
    )
    roles = Roles(numbers={"score": "score"})
    request = DataRequest(inputs=(), frame=frame, roles=roles, on_invalid=on_invalid)
    written, facts = [], []
    for each in (request, of_file(request, tmp_path)):
        output = tmp_path / f"out.{ending}"
        facts.append(
            whole.stream(StreamRequest(data=each, added=added, output=Destination(place=str(output))))
        )
        written.append(READERS[ending](output))
    assert facts[0] == facts[1]
    if ending == "csv":
        assert written[0] == written[1]
    else:
        assert_frame_equal(*written)
