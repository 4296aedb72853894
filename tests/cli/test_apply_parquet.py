"""Tests of ``apply`` from Parquet to Parquet: polars writes what it gives back, and pyarrow the rest."""

import datetime as dt

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import fit
from uqcli.engines.local.write import streaming

ROWS, FEW = 3000, 5
DATES = [dt.date(2020, 1, 1), None, dt.date(1900, 1, 1), dt.date(2024, 2, 29), dt.date(1, 1, 1)]
LISTS = [[1, 2], None, [], [None], [3]]
MISSING_PAIR = None if int(pa.__version__.split(".")[0]) >= 26 else [0, 0]
"""Earlier versions of pyarrow cannot read a missing list of fixed size from Parquet."""

PAIRS = [("a", 1)], None, [], [("b", None)], [("c", 3)]


def numbers(kind):
    return pa.array([1, None, 3, 4, 5], type=pa.int64()).cast(kind)


COME_BACK = {
    "bool": pa.array([True, None, False, True, True]),
    **{str(kind): numbers(kind) for kind in (pa.int8(), pa.uint16(), pa.int32(), pa.uint64(), pa.float32())},
    "float64": pa.array([1.5, None, float("nan"), -0.0, float("inf")]),
    "null": pa.nulls(FEW),
    **{str(kind): pa.array(["a", None, "", "é", "x"], kind) for kind in (pa.string(), pa.large_string())},
    "string_view": pa.array(["a", None, "", "é", "x"], pa.string_view()),
    **{str(kind): pa.array([b"a", None, b"", b"y", b"x"], kind) for kind in (pa.binary(), pa.large_binary())},
    "date32": pa.array(DATES),
    **{f"timestamp {unit}": numbers(pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
    "zone": numbers(pa.timestamp("us", "Europe/Berlin")),
    **{f"duration {unit}": numbers(pa.duration(unit)) for unit in ("ms", "us", "ns")},
    "time64 ns": pa.array([1000, None, 3000, 4000, 5000], pa.time64("ns")),
    "decimal32": pa.array([1, None, 3, 4, 5], pa.decimal32(7, 2)),
    "decimal128": pa.array([1, None, 3, 4, 5], pa.decimal128(38, 4)),
    "list": pa.array(LISTS, pa.list_(pa.int64())),
    "large list": pa.array(LISTS, pa.large_list(pa.int64())),
    "fixed list": pa.array([[1, 2], MISSING_PAIR, [3, 4], [None, 1], [3, 5]], pa.list_(pa.int64(), 2)),
    "struct": pa.array(
        [{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 2, "b": None}, {"a": 3, "b": "z"}]
    ),
    "map": pa.array(PAIRS, pa.map_(pa.string(), pa.int64())),
    "dictionary of numbers": pa.array([1, None, 2, 1, 2]).dictionary_encode(),
    "dictionary": pa.array(["a", None, "b", "a", "c"]).dictionary_encode(),
    "ordered": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 1, 0], pa.int8()), ["lo", "hi"], ordered=True
    ),
}
OTHERS = {
    "float16": pa.array(np.array([1, 2, 3, 4, 5], dtype=np.float16)),
    "date64": pa.array([*DATES[:4], None], pa.date64()),
    "duration s": numbers(pa.duration("s")),
    **{str(kind): numbers(pa.int32()).cast(kind) for kind in (pa.time32("s"), pa.time32("ms"))},
    "time64 us": numbers(pa.time64("us")),
    "decimal256": pa.array([1, None, 3, 4, 5], pa.decimal256(50, 4)),
    "fixed binary": pa.array([b"ab", None, b"cd", b"ef", b"gh"], pa.binary(2)),
    "list of dates": pa.array([[dt.date(2020, 1, 1)], None, [], [None], []], pa.list_(pa.date64())),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef"] * FEW, pa.binary(16))),
}


def write_rules():
    random = np.random.default_rng(3)
    score = random.random(ROWS).round(2)
    frame = pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.normal(0, 1, ROWS),
            "label": random.random(ROWS) < score,
            "group": random.choice(["a", "b"], ROWS),
            **{f"p_{index}": [0.2, 0.3, 0.5][index] + 0 * score for index in range(3)},
        }
    )
    frame.write_parquet("rows.parquet", row_group_size=170)
    fit("boundary rows.parquet --precision 0.7 -o rule.json --by group")
    fit("boundary rows.parquet --precision 0.7 -o plain.json")
    fit("conformal rows.parquet --proba p_* --label group --classes a,b,c -o sets.json")
    return frame


@pytest.fixture
def rule(prepared, monkeypatch):
    """Rules of scores and uncertainties, and rows, in a folder."""
    monkeypatch.setattr(streaming, "MIN_ROWS", 0)
    return prepared(write_rules)


def both_ways(uqcli, monkeypatch, *line):
    """Return the outcome and the table of a command line as it is, and without polars' reader and writer."""
    results = []
    for disabled in (False, True):
        with monkeypatch.context() as patch:
            if disabled:
                patch.setattr(streaming, "stream_parquet", lambda *_: None)
            outcome = uqcli("apply", *line, "-o", "out.parquet", "--json")
        written = pq.read_metadata("out.parquet").created_by if outcome.code == 0 else ""
        results.append((outcome, pq.read_table("out.parquet") if written else None, "olars" in written))
    (outcome, table, is_new), (expected, expected_table, is_old) = results
    assert not is_old
    assert (outcome.code, outcome.out, outcome.err) == (expected.code, expected.out, expected.err)
    return table, expected_table, is_new


@pytest.mark.usefixtures("rule")
@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("name", [*COME_BACK, *OTHERS])
def test_columns_of_every_type_come_back(uqcli, monkeypatch, name):
    column = (COME_BACK | OTHERS)[name]
    field = pa.field("kept", column.type, metadata={"of": "the column"})
    numbers = [pa.array(np.arange(FEW) / 4, pa.float32()), pa.array(np.zeros(FEW))]
    schema = pa.schema([field, ("score", pa.float32()), ("uncertainty", pa.float64())], metadata={"of": "é"})
    pq.write_table(pa.table([column, *numbers], schema=schema), "few.parquet")
    table, expected, is_new = both_ways(uqcli, monkeypatch, "plain.json", "few.parquet")
    assert is_new == (name in COME_BACK)
    assert table.schema.equals(expected.schema, check_metadata=True)
    assert str(table.to_pylist()) == str(expected.to_pylist())
    assert table.to_pandas().astype(str).equals(expected.to_pandas().astype(str))
    assert {b"of", b"uqcli.decision"} <= set(pq.read_metadata("out.parquet").metadata)


@pytest.mark.usefixtures("rule")
@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([pa.field("kept", pa.int64(), nullable=False), ("score", pa.float64())]),
        pa.schema(
            [pa.field("kept", pa.int64(), metadata={"PARQUET:field_id": "7"}), ("score", pa.float64())]
        ),
        pa.schema(
            [("kept", pa.list_(pa.field("item", pa.int64(), nullable=False))), ("score", pa.float64())]
        ),
    ],
)
def test_required_and_numbered_columns_are_written_by_pyarrow(uqcli, monkeypatch, schema):
    values = [[1], [2]] if pa.types.is_list(schema.field(0).type) else [1, 2]
    table = pa.table([pa.array(values, schema.field(0).type), pa.array([0.1, 0.9])], schema=schema)
    pq.write_table(table, "few.parquet")
    table, expected, is_new = both_ways(uqcli, monkeypatch, "plain.json", "few.parquet")
    assert not is_new
    assert table.schema.equals(expected.schema, check_metadata=True)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize(
    "line",
    [
        ("rule.json",),
        ("rule.json", "--only-selected"),
        ("plain.json", "--top", "100"),
        ("plain.json", "--top", "3", "--per", "group"),
        ("sets.json",),
        ("plain.json", "--overwrite"),
        ("plain.json", "--on-invalid", "drop", "--score", "odd"),
        ("plain.json", "--on-invalid", "keep", "--score", "odd"),
        ("plain.json", "--score", "odd"),
    ],
)
def test_rows_are_those_of_one_thread(uqcli, monkeypatch, rule, line):
    rows = rule.with_columns(
        odd=pl.Series([None if number % 97 == 7 else number % 11 / 7 for number in range(ROWS)]),
        **({"decision": pl.Series(["x"] * ROWS)} if "--overwrite" in line else {}),
    )
    names = []
    for number, (first, end) in enumerate(((0, 1), (1, 1), (1, 1100), (1100, ROWS))):
        names.append(f"{number}.parquet")
        rows[first:end].write_parquet(names[-1], row_group_size=50)
    table, expected, is_new = both_ways(uqcli, monkeypatch, *line[:1], *names, *line[1:])
    assert is_new == (line[-1] != "odd" or "--on-invalid" in line)
    if table is not None:
        assert table.equals(expected)
        assert table.schema.equals(expected.schema, check_metadata=True)


def test_files_of_other_schemas_and_after_an_error_are_left_to_one_thread(uqcli, monkeypatch, rule):
    rule.with_columns(pl.col("label").cast(pl.Int8)).write_parquet("other.parquet")
    rule.with_columns(pl.col("label").cast(pl.Int32)).write_parquet("another.parquet")
    table, expected, is_new = both_ways(uqcli, monkeypatch, "plain.json", "other.parquet", "another.parquet")
    assert not is_new
    assert table.equals(expected)
    with monkeypatch.context() as patch:
        patch.setattr(streaming, "MIN_ROWS", ROWS + 1)
        assert not both_ways(uqcli, monkeypatch, "plain.json", "rows.parquet")[2]
    with monkeypatch.context() as patch:
        patch.setattr(pl.LazyFrame, "sink_parquet", lambda *_, **__: 1 / 0)
        assert uqcli("apply", "plain.json", "rows.parquet", "-o", "again.parquet", "-q").code == 0
    assert pq.read_table("again.parquet").num_rows == ROWS
