"""Tests of several inputs whose columns differ in type: they are joined without loss, or refused."""

import datetime as dt
import decimal
import itertools
import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import fit
from uqcli.cli.app import run
from uqcli.engines.local.arrow import common_type

NOON = dt.datetime(2026, 11, 1, 12)
COLUMNS = {
    "null": pa.nulls(2),
    "bool": pa.array([True, False]),
    "int8": pa.array([7, -7], pa.int8()),
    "int32": pa.array([7, -(2**31)], pa.int32()),
    "int64": pa.array([7, 2**53 + 1]),
    "uint8": pa.array([7, 255], pa.uint8()),
    "uint64": pa.array([7, 2**64 - 1], pa.uint64()),
    "float": pa.array([0.1, 7.0], pa.float32()),
    "double": pa.array([0.1, 1e300]),
    "decimal(9,2)": pa.array([decimal.Decimal("7.25"), None], pa.decimal128(9, 2)),
    "decimal(12,4)": pa.array([decimal.Decimal("7.2525"), None], pa.decimal128(12, 4)),
    "decimal(38,0)": pa.array([decimal.Decimal(7), None], pa.decimal128(38, 0)),
    "string": pa.array(["7", "a,b"]),
    "large_string": pa.array(["7", "ü"], pa.large_string()),
    "string_view": pa.array(["7", "v"], pa.string_view()),
    "categories": pa.array(["7", "c"]).dictionary_encode(),
    "date": pa.array([NOON.date(), None]),
    "timestamp[ms]": pa.array([NOON, None], pa.timestamp("ms")),
    "timestamp[us]": pa.array([NOON.replace(microsecond=7), None], pa.timestamp("us")),
    "timestamp[us, UTC]": pa.array([NOON, None], pa.timestamp("us", "UTC")),
    "timestamp[us, Tokyo]": pa.array([NOON, None], pa.timestamp("us", "Asia/Tokyo")),
    "time[ms]": pa.array([NOON.time(), None], pa.time32("ms")),
    "time[us]": pa.array([NOON.time(), None], pa.time64("us")),
}
OUTPUTS = ("o.csv", "o.jsonl", "o.parquet", "o.arrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("types")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        frame = pl.DataFrame({"score": [0.9, 0.8, 0.1, 0.2] * 9, "label": [1, 1, 0, 0] * 9})
        frame.write_csv("rows.csv")
        fit("boundary rows.csv --algorithm st --precision 0.9 -o rule.json")
        for name, column in COLUMNS.items():
            table = pa.table({"score": [0.95, 0.1], "x": column})
            pq.write_table(table, f"{name}.parquet")
            with pa.ipc.new_file(f"{name}.arrow", table.schema) as arrow:
                arrow.write_table(table)
    return folder


@given(
    pair=st.sampled_from(list(itertools.permutations(COLUMNS, 2))),  # a file named twice is read once
    suffix=st.sampled_from(["parquet", "arrow"]),
)
def test_all_formats_join_the_same_types_without_loss(folder, pair, suffix):
    names = [f"{name}.{suffix}" for name in pair]
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        codes = {
            output: run(["apply", "rule.json", *names, "--overwrite", "-q", "-o", output])
            for output in OUTPUTS
        }
        left, right = (COLUMNS[name].type for name in pair)
        joined = common_type(left, right)
        assert set(codes.values()) == {3 if joined is None else 0}, (pair, codes)
        if joined is not None:
            values = [value for name in pair for value in COLUMNS[name].to_pylist()]
            assert pq.read_table("o.parquet")["x"].to_pylist() == pytest.approx(values, nan_ok=True)
            assert pl.read_csv("o.csv", infer_schema=False).height == 4


@given(kinds=st.lists(st.sampled_from([column.type for column in COLUMNS.values()]), min_size=3, max_size=3))
def test_the_order_of_types_does_not_matter(kinds):
    first, second, third = kinds
    left, right = common_type(first, second), common_type(second, third)
    assert common_type(first, second) == common_type(second, first)
    assert (left and common_type(left, third)) == (right and common_type(first, right))


def write(path, name, column, **more):
    pq.write_table(pa.table({"score": [0.9, 0.8, 0.1, 0.2] * 9, name: column, **more}), path)


def test_the_error_names_the_column_and_both_types(uqcli, folder, monkeypatch):
    monkeypatch.chdir(folder)
    outcome = uqcli("apply", "rule.json", "int64.parquet", "double.parquet")
    assert outcome.code == 3
    assert "column 'x' is int64 in 'int64.parquet' and double in 'double.parquet'" in outcome.err


def test_csv_columns_join_as_text(uqcli, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "a.csv").write_text("score,x\n0.95,10\n")
    (folder / "b.csv").write_text("score,x\n1,10.5\n")
    assert (
        uqcli("apply", "rule.json", "a.csv", "b.csv").out == b"score,x,decision\n0.95,10,true\n1,10.5,true\n"
    )
    assert uqcli("apply", "rule.json", "a.csv", "b.csv", "-o", "o.parquet").code == 0
    assert pl.read_parquet("o.parquet").to_dict(as_series=False) == {
        "score": [0.95, 1.0],
        "x": ["10", "10.5"],
        "decision": [True, True],
    }


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_key_of_json_lines_without_values_has_any_type(uqcli, folder, monkeypatch, output):
    monkeypatch.chdir(folder)
    (folder / "a.jsonl").write_text('{"score": 0.95, "x": null}\n')
    (folder / "b.jsonl").write_text('{"score": 0.1, "x": 7}\n')
    (folder / "c.jsonl").write_text('{"score": 0.1, "x": 7.5}\n')
    assert uqcli("apply", "rule.json", "a.jsonl", "b.jsonl", "-o", output, "-q").code == 0
    assert uqcli("apply", "rule.json", "b.jsonl", "c.jsonl", "-o", output).code == 3
    if output == "o.jsonl":
        assert [json.loads(line)["x"] for line in (folder / output).read_text().splitlines()] == [None, 7]


def test_what_is_only_read_is_compared_by_value(uqcli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels, shops = [1, 1, 0, 0] * 9, [1, 2] * 18
    days = [NOON, NOON.replace(day=2)] * 18
    write(
        "jan.parquet", "label", pa.array(labels), shop=pa.array(shops), day=pa.array(days, pa.timestamp("ms"))
    )
    write(
        "feb.parquet",
        "label",
        pa.array([float(label) for label in labels]),
        shop=pa.array([float(shop) for shop in shops]),
        day=pa.array(days, pa.timestamp("us")),
    )
    for key, expected in (("shop", ["1", "2"]), ("day", None)):
        outcome = uqcli("tce", "feb.parquet", "jan.parquet", "--by", key, "--json", "--bootstrap", "0")
        assert outcome.code == 0, outcome.err
        groups = outcome.json["groups"]
        assert len(groups) == 2
        assert expected is None or [group["name"] for group in groups] == expected


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_key_of_the_folder_is_no_column_with_other_values(uqcli, folder, tmp_path, monkeypatch, suffix):
    monkeypatch.chdir(tmp_path)
    write_frame = {
        "csv": pl.DataFrame.write_csv,
        "jsonl": pl.DataFrame.write_ndjson,
        "parquet": pl.DataFrame.write_parquet,
    }[suffix]
    for key, values, code in [
        ("run=07", [7, 7], 0),
        ("day=2026-11-01", [NOON.date()] * 2, 0),
        ("run=7", [7, 8], 3),
    ]:
        place = tmp_path / f"{code}{key[:3]}" / key
        place.mkdir(parents=True)
        name = key.partition("=")[0]
        frame = pl.DataFrame({"score": [0.9, 0.1], "label": [1, 0], name: values})
        write_frame(frame, place / f"x.{suffix}")
        outcome = uqcli("apply", folder / "rule.json", place.parent, "-o", "o.csv")
        assert outcome.code == code, outcome.err
        assert (f"column '{name}'" in outcome.err) == (code == 3)
        assert uqcli("tce", place.parent, "--by", name, "--bootstrap", "0").code == code


@pytest.mark.parametrize(
    ("names", "kind"),
    [(("null", "int32", "int64"), pl.Int64), (("float", "double"), pl.Float64), (("int64", "double"), None)],
)
def test_a_cluster_joins_the_same_types(uqcli, folder, tmp_path, names, kind):
    inputs = [folder / f"{name}.parquet" for name in names]
    outcome = uqcli("apply", folder / "rule.json", *inputs, "-o", tmp_path / "o", "--engine", "spark", "-q")
    assert outcome.code == (3 if kind is None else 0), outcome.err
    if kind is not None:
        values = [value for name in names for value in COLUMNS[name].to_pylist()]
        written = pl.read_parquet(tmp_path / "o/*.parquet")["x"]
        assert written.dtype == kind
        assert sorted(map(str, written)) == sorted(map(str, pl.Series(values, dtype=kind)))
