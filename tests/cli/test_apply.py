"""Tests of ``uqcli apply``: what stays unchanged, and what is added."""

import csv
import gzip
import io
import json
import math

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uqcli import find_boundary
from uqcli.cli.app import run
from uqcli.engines.local.read import csv_text


@pytest.fixture
def decisions(artifact, frame, all_draws):
    """Compute the decisions of the Python API on the sample rows."""
    content = json.loads(artifact.read_text())
    boundary = find_boundary(
        frame["score"], frame["label"], uncertainty=frame["uncertainty"], precision="0.7", score_bins=20
    )
    assert list(boundary.thresholds) == content["thresholds"]
    return boundary.decide(frame["score"], frame["uncertainty"]).tolist()


def test_csv_rows_stay_byte_for_byte(uqcli, artifact, data_csv, decisions):
    outcome = uqcli("apply", artifact, data_csv)
    assert outcome.code == 0
    before, after = data_csv.read_bytes().splitlines(), outcome.out.splitlines()
    assert after[0] == before[0] + b",decision"
    for old, new, decision in zip(before[1:], after[1:], decisions, strict=True):
        assert new == old + (b",true" if decision else b",false")
    assert b"00123" in outcome.out


def test_csv_dialects_are_kept(uqcli, artifact, tmp_path):
    text = (
        '\ufeff"id";score;note;uncertainty\r\n'
        '00123; 0.95 ;"a; b";-1\r\n'
        '"7";"0.95";"two\r\nlines";"-1"\r\n'
        "\r\n"
        '8;0.1;"";9'
    )
    path = tmp_path / "d.csv"
    path.write_bytes(text.encode())
    outcome = uqcli("apply", artifact, path, "--delimiter", ";")
    assert outcome.code == 0, outcome.err
    assert outcome.out == (
        b'"id";score;note;uncertainty;decision\r\n'
        b'00123; 0.95 ;"a; b";-1;true\r\n'
        b'"7";"0.95";"two\r\nlines";"-1";true\r\n'
        b'8;0.1;"";9;false\r\n'
    )


def test_tsv_is_recognised_by_its_ending(uqcli, artifact, tmp_path):
    (tmp_path / "d.tsv").write_text("score\tuncertainty\n0.9\t0\n")
    uqcli("apply", artifact, tmp_path / "d.tsv", "-o", tmp_path / "o.tsv")
    assert (tmp_path / "o.tsv").read_text() == "score\tuncertainty\tdecision\n0.9\t0\ttrue\n"
    uqcli("apply", artifact, tmp_path / "d.tsv", "-o", tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text() == "score,uncertainty,decision\n0.9,0,true\n"


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1 << 20])
def test_block_size_changes_nothing(uqcli, artifact, data_csv, monkeypatch, block_bytes):
    expected = uqcli("apply", artifact, data_csv).out
    monkeypatch.setattr(csv_text, "CSV_BLOCK_BYTES", block_bytes)
    assert uqcli("apply", artifact, data_csv).out == expected


@pytest.mark.parametrize("ending", ["csv.gz", "csv.zst"])
def test_compressed_files_are_read_and_written(uqcli, artifact, data_csv, tmp_path, ending):
    compressed, output = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    if ending == "csv.gz":
        compressed.write_bytes(gzip.compress(data_csv.read_bytes()))
    else:
        with pa.output_stream(str(compressed), compression="zstd") as stream:
            stream.write(data_csv.read_bytes())
    assert uqcli("apply", artifact, compressed, "-o", output).code == 0
    with pa.input_stream(str(output), compression="detect") as stream:
        assert stream.read() == uqcli("apply", artifact, data_csv).out


def test_parquet_keeps_types_order_and_metadata(uqcli, artifact, tmp_path, frame, decisions):
    table = frame.select("id", "score", "uncertainty").to_arrow()
    table = table.append_column("day", pa.array([17_000] * 400, pa.date32()))
    table = table.append_column("tags", pa.array([["a"], None] * 200, pa.list_(pa.string())))
    table = table.append_column("kind", pa.array(["x", "y"] * 200).dictionary_encode())
    table = table.append_column("price", pa.array([1] * 400, pa.decimal128(10, 2)))
    table = table.replace_schema_metadata({"made": "by hand"})
    pq.write_table(table, tmp_path / "d.parquet", row_group_size=64)
    assert uqcli("apply", artifact, tmp_path / "d.parquet", "-o", tmp_path / "o.parquet").code == 0
    result = pq.read_table(tmp_path / "o.parquet")
    original_columns = result.drop_columns(["decision"])
    source = pq.read_table(tmp_path / "d.parquet")
    assert original_columns.equals(source)
    assert original_columns.schema.types == source.schema.types
    assert result.schema.metadata[b"made"] == b"by hand"
    assert result["decision"].to_pylist() == decisions


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("source", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("target", ["csv", "parquet", "arrow"])
def test_every_format_converts_to_every_format(uqcli, artifact, tmp_path, frame, decisions, source, target):
    rows = frame.select("score", "uncertainty")
    path, output = tmp_path / f"d.{source}", tmp_path / f"o.{target}"
    {"csv": rows.write_csv, "parquet": rows.write_parquet, "arrow": rows.write_ipc}[source](path)
    assert uqcli("apply", artifact, path, "-o", output).code == 0
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}[target]
    assert read(output).equals(rows.with_columns(pl.Series("decision", decisions)))


def test_text_columns_of_csv_stay_text_in_parquet(uqcli, artifact, data_csv, tmp_path, frame):
    assert uqcli("apply", artifact, data_csv, "-o", tmp_path / "o.parquet").code == 0
    result = pl.read_parquet(tmp_path / "o.parquet")
    assert result["id"].to_list() == frame["id"].to_list()
    assert result.schema["label"] == pl.String
    assert result.schema["score"] == pl.Float64


def test_decisions_on_the_calibration_set_have_the_fitted_counts(uqcli, artifact, data):
    fit = json.loads(artifact.read_text())["fit"]
    outcome = uqcli("apply", artifact, data, "-o", "o.parquet", "--json")
    assert outcome.json["metrics"]["selected"] == fit["selected"]


def test_float32_columns_are_widened_before_they_are_compared(uqcli, tmp_path):
    score = np.linspace(0, 1, 101, dtype=np.float32)
    rows = pl.DataFrame({"score": score, "uncertainty": score[::-1].copy(), "label": (score > 0.4)})
    rows.write_parquet(tmp_path / "d.parquet")
    options = ["--precision", "0.9", "--score-bins", "all", "--uncertainty-bins", 2, "-q"]
    assert uqcli("boundary", tmp_path / "d.parquet", *options, "-o", "b.json").code == 0
    fit = json.loads((tmp_path / "b.json").read_text())["fit"]
    applied = uqcli("apply", "b.json", tmp_path / "d.parquet", "-o", "o.csv", "--json").json
    assert applied["metrics"]["selected"] == fit["selected"] > 0


def test_one_bin_needs_no_uncertainty(uqcli, tmp_path, data_csv):
    for number, options in enumerate((["--algorithm", "st"], ["--uncertainty-bins", "1"])):
        (tmp_path / "d.csv").write_text("score,label\n0.9,1\n0.8,1\n0.1,0\n")
        output = f"b{number}.json"
        assert uqcli("boundary", "d.csv", "--precision", "0.9", *options, "-q", "-o", output).code == 0
        (tmp_path / "n.csv").write_text("score\n0.95\n0.05\n")
        assert uqcli("apply", output, "n.csv").out == b"score,decision\n0.95,true\n0.05,false\n"


def test_unusable_rows_are_dropped_or_kept(uqcli, artifact, tmp_path):
    rows = "score,uncertainty,x\n0.95,-1,a\n,0,b\n0.9\nNaN,0,c\n0.1,0,d\n"
    (tmp_path / "d.csv").write_text(rows)
    assert uqcli("apply", artifact, "d.csv").code == 3
    assert uqcli("apply", artifact, "d.csv", "--on-invalid", "drop").out == (
        b"score,uncertainty,x,decision\n0.95,-1,a,true\n0.1,0,d,false\n"
    )
    assert uqcli("apply", artifact, "d.csv", "--on-invalid", "keep").out == (
        b"score,uncertainty,x,decision\n0.95,-1,a,true\n,0,b,\n0.9,,,\nNaN,0,c,\n0.1,0,d,false\n"
    )
    kept = uqcli("apply", artifact, "d.csv", "--on-invalid", "keep", "-o", "o.parquet", "--json").json
    assert kept["metrics"] == {
        "rows": 5,
        "selected": 1,
        "undecided": 3,
        "selected_share": 0.2,
        "outside_range": 0.0,
        "dropped_share": 0.0,
    }
    assert pl.read_parquet(tmp_path / "o.parquet")["decision"].to_list() == [True, None, None, None, False]
    dropped = uqcli("apply", artifact, "d.csv", "--on-invalid", "drop", "-o", "o.csv", "--json").json
    assert dropped["source"]["dropped"] == 3


def test_an_existing_decision_column_needs_an_option(uqcli, artifact, tmp_path):
    (tmp_path / "d.csv").write_text("score,decision,uncertainty\n0.95,maybe,-1\n")
    outcome = uqcli("apply", artifact, "d.csv")
    assert outcome.code == 2
    assert "--overwrite" in outcome.err
    assert uqcli("apply", artifact, "d.csv", "--prefix", "my_").out == (
        b"score,decision,uncertainty,my_decision\n0.95,maybe,-1,true\n"
    )
    assert uqcli("apply", artifact, "d.csv", "--overwrite").out == (
        b"score,decision,uncertainty\n0.95,true,-1\n"
    )


def test_text_stays_when_columns_are_replaced_or_reordered(uqcli, artifact, tmp_path):
    (tmp_path / "a.csv").write_bytes(
        b'score,uncertainty,note,decision\r\n0.95,-1,NA,old\r\n0.1,9,"00123",x\r\n'
    )
    (tmp_path / "b.csv").write_bytes(b'decision,"note",uncertainty,score\n,"NA", -1,0.99')
    outcome = uqcli("apply", artifact, "a.csv", "b.csv", "--overwrite", "--null-value", "NA")
    assert outcome.out == (
        b'score,uncertainty,note,decision\r\n0.95,-1,NA,true\r\n0.1,9,"00123",false\r\n0.99, -1,"NA",true\n'
    )


def test_several_inputs_are_matched_by_column_names(uqcli, artifact, tmp_path):
    (tmp_path / "a.csv").write_text("score,uncertainty,x\n0.95,-1,1\n")
    (tmp_path / "b.csv").write_text('x,uncertainty,score\n"2,5",-1,0.96\n')
    (tmp_path / "c.csv").write_text("uncertainty,score,y\n-1,0.97,3\n")
    assert uqcli("apply", artifact, "a.csv", "b.csv").out == (
        b'score,uncertainty,x,decision\n0.95,-1,1,true\n0.96,-1,"2,5",true\n'
    )
    refused = uqcli("apply", artifact, "a.csv", "c.csv")
    assert refused.code == 3
    assert "--union" in refused.err
    assert uqcli("apply", artifact, "a.csv", "c.csv", "--union").out == (
        b"score,uncertainty,x,y,decision\n0.95,-1,1,,true\n0.97,-1,,3,true\n"
    )


def test_columns_are_those_of_the_rule_file_unless_given(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("p,u,y\n0.9,1,yes\n0.8,2,yes\n0.1,3,no\n")
    options = ["--score", "p", "--uncertainty", "u", "--label", "y", "--positive", "yes"]
    assert uqcli("boundary", "d.csv", *options, "--precision", "0.9", "-o", "b.json", "-q").code == 0
    assert uqcli("apply", "b.json", "d.csv").out.count(b"true") == 2
    assert uqcli("evaluate", "b.json", "d.csv", "--json").json["metrics"]["recall"]["value"] == 1
    (tmp_path / "e.csv").write_text("q,u\n0.95,1\n")
    assert uqcli("apply", "b.json", "e.csv", "--score", "q").out == b"q,u,decision\n0.95,1,true\n"


def test_an_empty_input_gives_a_header(uqcli, artifact, tmp_path, frame):
    (tmp_path / "d.csv").write_text("score,uncertainty\n")
    assert uqcli("apply", artifact, "d.csv").out == b"score,uncertainty,decision\n"
    frame.clear().write_parquet(tmp_path / "d.parquet")
    assert uqcli("apply", artifact, "d.parquet", "-o", "o.parquet").code == 0
    assert pl.read_parquet(tmp_path / "o.parquet").schema["decision"] == pl.Boolean


def test_the_rule_file_can_be_standard_input(uqcli, artifact, data_csv):
    from_file = uqcli("apply", artifact, data_csv)
    assert uqcli("apply", "-", data_csv, stdin=artifact.read_bytes()).out == from_file.out
    assert uqcli("apply", "-", "-").code == 2


FIELDS = st.text(st.sampled_from('ab ,;"\n\r\té€0'), max_size=6)


@settings(max_examples=60)
@given(st.lists(st.tuples(FIELDS, FIELDS), max_size=8), st.integers(1, 40), st.sampled_from(["\n", "\r\n"]))
def test_any_quoted_text_passes_unchanged(tmp_path_factory, rows, block_bytes, line_end):
    folder = tmp_path_factory.mktemp("text")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=line_end, quoting=csv.QUOTE_ALL)
    writer.writerow(["a", "score", "b"])
    for first, last in rows:
        writer.writerow([first, "0.5", last])
    (folder / "d.csv").write_bytes(text.getvalue().encode())
    (folder / "b.json").write_text(single_threshold_rule(0.5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_text, "CSV_BLOCK_BYTES", block_bytes)
        assert (
            run(["apply", str(folder / "b.json"), str(folder / "d.csv"), "-q", "-o", str(folder / "o.csv")])
            == 0
        )
    before = text.getvalue().encode().removesuffix(line_end.encode())
    body = before.split(line_end.encode(), 1)[1] if rows else b""
    after = (folder / "o.csv").read_bytes()
    assert after.split(b"\n", 1)[1].replace(b",true" + line_end.encode(), line_end.encode()) == (
        body + line_end.encode() if rows else b""
    )


def single_threshold_rule(threshold):
    fit = {"selected": 1, "true_positives": 1, "rows": 1, "positives": 1, "precision": 1, "recall": 1}
    return json.dumps(
        {
            "kind": "boundary",
            "format_version": 1,
            "source": {"rows": 1, "positives": 1, "dropped": 0, "columns": {"score": "score"}},
            "parameters": {
                "algorithm": "st",
                "binning": None,
                "uncertainty_bins": 1,
                "score_bins": "all",
                "constraint": {"kind": "precision", "value": "1"},
                "on_invalid": "error",
                "positive": None,
            },
            "algorithm": "st",
            "constraint": {"kind": "precision", "value": "1"},
            "uncertainty_edges": [],
            "thresholds": [threshold],
            "fit": fit,
        }
    )


def test_keep_preserves_the_usable_numbers_of_csv(uqcli, artifact, tmp_path):
    rows = "score,uncertainty,id\n0.9,,a\n,0.5,b\nNaN,0.1,c\ninf,0.2,d\n0.7,0.3,e\n0.6\n"
    (tmp_path / "d.csv").write_text(rows)
    assert uqcli("apply", artifact, "d.csv", "--on-invalid", "keep", "-o", "o.parquet").code == 0
    result = pl.read_parquet("o.parquet")
    assert [str(value) for value in result["score"]] == ["0.9", "None", "nan", "inf", "0.7", "0.6"]
    assert result["uncertainty"].to_list() == [None, 0.5, 0.1, 0.2, 0.3, None]
    assert result["decision"].is_null().to_list() == [True, True, True, True, False, True]


@pytest.mark.parametrize("on_invalid", ["drop", "keep"])
def test_a_short_first_record_is_an_unusable_row(uqcli, artifact, tmp_path, on_invalid):
    (tmp_path / "d.csv").write_text("score,uncertainty\n0.9\n0.8,0.1\n")
    outcome = uqcli("apply", artifact, "d.csv", "--on-invalid", on_invalid)
    assert outcome.code == 0, outcome.err
    assert len(outcome.out.splitlines()) == (2 if on_invalid == "drop" else 3)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", [pl.Float64, pl.Float32, pl.List(pl.Float64)])
def test_numbers_that_json_lacks_are_cautioned_of(uqcli, artifact, data, tmp_path, value, kind):
    rows = pl.read_parquet(data).head(3)
    values = [0.5, None, value]
    column = [[item] for item in values] if kind == pl.List(pl.Float64) else values
    rows.with_columns(pl.Series("x", column, dtype=kind)).write_parquet("x.parquet")
    report = ("--report", "r.json", "-q", "-o")
    assert uqcli("apply", artifact, "x.parquet", *report, "o.jsonl").code == 0
    (caution,) = json.loads((tmp_path / "r.json").read_text())["cautions"]
    assert caution == "column 'x' has NaN or infinite numbers, written as null in JSON."
    assert uqcli("apply", artifact, "x.parquet", *report, "o.parquet").code == 0
    assert json.loads((tmp_path / "r.json").read_text())["cautions"] == []
    rows.with_columns(pl.Series("x", [0.5, None, 1.0])).write_parquet("x.parquet")
    assert uqcli("apply", artifact, "x.parquet", *report, "o.jsonl").code == 0
    assert json.loads((tmp_path / "r.json").read_text())["cautions"] == []
