"""Tests of files as other programs write them: they are read, or the error names what they are."""

import csv
import gzip
import itertools
import json
from urllib.parse import quote

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import fit

ROWS = pl.DataFrame(
    {
        "id": range(40),
        "score": [0.925, 0.8125, 0.1, 0.25] * 10,
        "uncertainty": [1.5, 2.0] * 20,
        "label": [1, 1, 0, 0] * 10,
    }
)
TEXT = ROWS.write_csv()
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 123\n"
COMMAS = ROWS.write_csv(separator=";", decimal_comma=True)


def packed(kind):
    if kind == "gzip":
        return gzip.compress(TEXT.encode())
    if kind == "zstd":
        return pa.compress(TEXT.encode(), codec="zstd", asbytes=True)
    sink = pa.BufferOutputStream()
    if kind == "Parquet":
        pq.write_table(ROWS.to_arrow(), sink)
    elif kind == "Arrow":
        with pa.ipc.new_file(sink, ROWS.to_arrow().schema) as arrow:
            arrow.write_table(ROWS.to_arrow())
    return sink.getvalue().to_pybytes()


def write_rules():
    ROWS.write_csv("rows.csv")
    fit("boundary rows.csv --algorithm st --precision 0.9 -o rule.json")
    fit("calibrate rows.csv --method platt -o map.json")


@pytest.fixture(autouse=True)
def folder(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared(write_rules)
    return tmp_path


def applied(uqcli, *arguments, rule="rule.json", stdin=b""):
    outcome = uqcli("apply", rule, *arguments, stdin=stdin)
    assert outcome.code == 0, outcome.err
    return outcome.out


@pytest.mark.parametrize("suffix", [".parq", ".pq", ".PQ"])
def test_other_names_of_parquet(uqcli, folder, suffix):
    ROWS.write_parquet(folder / f"x{suffix}")
    assert applied(uqcli, f"x{suffix}") == applied(uqcli, "rows.csv")
    assert uqcli("apply", "rule.json", "rows.csv", "-o", f"o{suffix}", "-q").code == 0
    assert pl.read_parquet(folder / f"o{suffix}").height == ROWS.height


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("first", "separator"), [("sep=;", ";"), ('"sep=|"', "|"), ("SEP=\t", "\t"), ("sep=,", ",")]
)
def test_the_delimiter_of_a_first_line(uqcli, folder, first, separator, line_end):
    text = "\ufeff" + first + "\n" + ROWS.write_csv(separator=separator)
    content = text.replace("\n", line_end).encode()
    (folder / "x.csv").write_bytes(content)
    expected = applied(uqcli, "rows.csv").replace(b",", separator.encode())
    assert applied(uqcli, "x.csv").replace(b"\r\n", b"\n") == expected
    assert applied(uqcli, "-", stdin=content).replace(b"\r\n", b"\n") == expected
    assert applied(uqcli, "x.csv", "--delimiter", separator).replace(b"\r\n", b"\n") == expected
    assert uqcli("tce", "x.csv", "--json").json == uqcli("tce", "rows.csv", "--json").json


def test_decimal_commas_are_read_and_written(uqcli, folder):
    (folder / "x.csv").write_text(COMMAS)
    assert uqcli("tce", "x.csv", "--decimal", ",", "--json").json == uqcli("tce", "rows.csv", "--json").json
    decided = applied(uqcli, "x.csv", "--decimal", ",").decode()
    assert [line.rpartition(";")[0] for line in decided.splitlines()] == COMMAS.splitlines()
    assert decided.count("true") == applied(uqcli, "rows.csv").count(b"true")
    calibrated = applied(uqcli, "x.csv", "--decimal", ",", rule="map.json").decode()
    values = [line.rpartition(";")[2].replace(",", ".") for line in calibrated.splitlines()[1:]]
    expected = [
        line.rpartition(",")[2] for line in applied(uqcli, "rows.csv", rule="map.json").decode().splitlines()
    ]
    assert values == expected[1:]
    assert "," in calibrated.splitlines()[1].rpartition(";")[2]


@pytest.mark.parametrize("source", ["x.csv", "rows.parquet", "rows.tsv"])
def test_added_numbers_with_a_comma_are_quoted_between_commas(uqcli, folder, source):
    ROWS.write_csv(folder / "x.csv", decimal_comma=True)
    ROWS.write_csv(folder / "rows.tsv", separator="\t", decimal_comma=True)
    ROWS.write_parquet(folder / "rows.parquet")
    assert uqcli("apply", "map.json", source, "--decimal", ",", "-q", "-o", "o.csv").code == 0
    written = pl.read_csv(folder / "o.csv", decimal_comma=True)
    applied(uqcli, "rows.csv", "-q", "-o", "p.csv", rule="map.json")
    assert written.equals(pl.read_csv(folder / "p.csv"))


def test_the_decimal_mark_is_a_point_or_a_comma(uqcli, folder):
    assert uqcli("tce", "rows.csv", "--decimal", ";").code == 2
    outcome = uqcli("tce", "rows.csv", "--decimal", ",")
    assert outcome.code == 3
    assert "leave out --decimal" in outcome.err


@given(
    value=st.floats(-1e6, 1e6, allow_subnormal=False),
    mark=st.sampled_from([".", ","]),
    form=st.sampled_from(["{!r}", "{:.3f}", " {:.2e} ", "+{!r}"]),
)
def test_a_number_has_one_decimal_mark(value, mark, form):
    from uqcli.base.errors import DataError
    from uqcli.engines.inputs import InputFrame
    from uqcli.engines.local.check.values import numbers_of
    from uqcli.engines.local.read.batch import Batch

    text = form.format(abs(value) if form.startswith("+") else value)
    for decimal, other in ((".", ","), (",", ".")):
        frame = pl.DataFrame({"x": [text.replace(".", mark)]})
        batch = Batch(frame=frame, short=None, first_row=0, origin=InputFrame(frame=frame), decimal=decimal)
        if mark == other and "." in text:
            with pytest.raises(DataError):
                numbers_of(batch, "x", narrow=False)
        else:
            assert numbers_of(batch, "x", narrow=False)[0].tolist() == [float(text) + 0.0]


@pytest.mark.parametrize(
    ("value", "wanted", "unwanted"),
    [
        ("0,5", 'give --decimal ",", or write 0.5 for 0,5', "null"),
        ("1,585", 'write 1585 for 1,585, or give --decimal "," if it is 1.585', "0.5 for"),
        ("0,5 %", 'give --decimal ",", or write 0.5 for 0,5', "null"),
        ("n/a", "--null-value", "percent"),
        ("#DIV/0!", "--null-value", "write"),
        ("1.#QNAN", "--null-value", "write"),
        ("$0.5", "write 0.5 for $0.5", "null"),
        ("EUR 1,234.56", "write 1234.56 for EUR 1,234.56", "null"),
        ("1,234.56", "write 1234.56 for 1,234.56", "null"),
        ("5'118", "write 5118 for 5'118", "null"),
        ("5\u202f118", "write 5118 for 5\u202f118", "null"),
        ("\u22123.08", "write -3.08 for \u22123.08", "null"),
        ("5.1180D-01", "write 5.1180E-01 for 5.1180D-01", "null"),
        ("'0.5", "write 0.5 for '0.5", "null"),
        ("1_000", "write 1000 for 1_000", "null"),
        ("(0.5)", "write -0.5 for (0.5)", "null"),
        ("\u0660.\u0665", "write 0.5 for \u0660.\u0665", "null"),
        ("score", "remove the line, which repeats the column names", "null"),
    ],
)
def test_a_text_that_is_no_number_has_its_own_remedy(uqcli, folder, value, wanted, unwanted):
    (folder / "x.csv").write_text(f"score;uncertainty;label\n{value};1;1\n")
    error = uqcli("tce", "x.csv").err
    assert wanted in error
    assert unwanted not in error
    (folder / "x.jsonl").write_text(json.dumps({"score": value, "uncertainty": 1, "label": 1}) + "\n")
    assert "--decimal" not in uqcli("tce", "x.jsonl").err


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("1.585", "write 1585 for 1.585, or leave out --decimal if it is 1.585"),
        ("0.5", "leave out --decimal if the decimal mark is a point"),
        ("1.234,5", "write 1234,5 for 1.234,5"),
        ("€ 0,5", "write 0,5 for € 0,5"),
    ],
)
def test_a_text_that_is_no_number_with_a_comma_has_its_own_remedy(uqcli, folder, value, wanted):
    (folder / "x.csv").write_text(f"score;uncertainty;label\n{value};1;1\n")
    assert wanted in uqcli("tce", "x.csv", "--decimal", ",").err


def test_a_cluster_refuses_text_that_is_none(uqcli, folder):
    (folder / "x.csv").write_bytes(gzip.compress(TEXT.encode()))
    assert "is gzip" in uqcli("tce", "x.csv", "--engine", "spark").err
    assert uqcli("tce", "rows.csv", "--engine", "spark", "--decimal", ",").code == 2


@pytest.mark.parametrize(
    ("kind", "suffix"),
    list(itertools.product(["gzip", "zstd", "Parquet", "Arrow"], [".csv", ".jsonl", ".csv.gz"])),
)
def test_content_of_another_format_is_named(uqcli, folder, kind, suffix):
    content = packed(kind)
    (folder / f"x{suffix}").write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    outcome = uqcli("tce", f"x{suffix}")
    assert outcome.code == 3
    assert f"is {kind}" in outcome.err
    if kind != "Parquet":
        assert f"is {kind}" in uqcli("tce", "-", stdin=content).err


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.csv.gz", TEXT.encode(), "gzip content, as its name says; name it after its content"),
        ("x.csv.zst", TEXT.encode(), "zstd content, as its name says; name it after its content"),
        ("x.csv.zst", gzip.compress(TEXT.encode()), "add .gz to its name"),
        ("x.parquet", gzip.compress(TEXT.encode()), "add .gz to its name"),
        ("x.csv.gz", gzip.compress(TEXT.encode())[:-20], "written completely"),
        ("x.feather", b"FEA1\0\0\0\0FEA1", "Feather of version 1"),
        ("x.jsonl", json.dumps(ROWS.to_dicts()).encode(), "jq -c '.[]'"),
        ("x.jsonl", b"\xef\xbb\xbf" + json.dumps(ROWS.to_dicts(), indent=1).encode(), "jq -c '.[]'"),
        (
            "x.jsonl",
            b"[0.5, 1]\n[0.4, 0]\n",
            "lines of JSON arrays; expected one JSON object per line; write",
        ),
        ("x.jsonl", TEXT.encode(), "is 'id,score,uncertainty,label', not a JSON object"),
        ("x.jsonl", ROWS.write_ndjson().encode()[:-5], "check that the file was written completely"),
        ("x.csv", ROWS.write_ndjson().encode(), "give --format jsonl"),
        ("x.csv", json.dumps(ROWS.to_dicts()).encode(), "jq -c '.[]'"),
        ("x.parquet", TEXT.encode(), "Parquet content, as its name or --format says; name it after"),
        ("x.parquet", "score;größe\n".encode() * 100, "name it after its content"),
        ("x.arrow", TEXT.encode(), "Arrow content, as its name or --format says; name it after"),
        ("x.parquet", packed("Parquet")[:-100], "written completely"),
        ("x.parquet", POINTER, "git lfs pull"),
        ("x.csv", POINTER, "is a pointer of Git LFS"),
        ("x.jsonl", POINTER, "is a pointer of Git LFS"),
        ("x.csv", b"<!DOCTYPE html><html>Sign in</html>\n", "is XML or HTML"),
        ("x.csv", b"rows.csv".ljust(257, b"\0") + b"ustar\0", "is a tar archive; expected text; unpack it"),
    ],
)
def test_a_name_that_does_not_fit_is_said(uqcli, folder, name, content, words):
    (folder / name).write_bytes(content)
    outcome = uqcli("tce", name)
    assert outcome.code == 3
    assert words in outcome.err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.json", "uqcli does not read .json ('x.json'); expected .parquet"),
        ("x.json", "give --format jsonl if it has one object per line"),
        ("x.xlsx", "export the sheet as CSV"),
        ("x.CSV.ZIP", "does not read .zip"),
        ("x.tar.gz", "unpack it"),
        ("x.sas7bdat", "export the rows as CSV or Parquet"),
        ("x.txt", "does not show a format"),
        ("x.txt", "rename it or give --format"),
    ],
)
def test_an_ending_of_another_format_has_its_own_remedy(uqcli, folder, name, words):
    (folder / name).write_text(TEXT)
    outcome = uqcli("tce", name)
    assert outcome.code == 3
    assert words in outcome.err
    assert uqcli("tce", name, "--format", "csv").code == (0 if name != "x.tar.gz" else 3)


@pytest.mark.parametrize("line", ["tce rule.json", "apply rule.json map.json", "tce rows.csv map.json"])
def test_a_rule_file_is_no_file_of_rows(uqcli, folder, line):
    outcome = uqcli(*line.split())
    assert outcome.code == 3
    assert "is a rule file, not a file of rows" in outcome.err
    assert "name a file of rows in its place" in outcome.err


def test_a_typed_format_holds_whatever_the_name_says(uqcli, folder):
    ROWS.write_ndjson(folder / "x.csv")
    ROWS.write_parquet(folder / "y.csv")
    (folder / "z.parquet").write_text(TEXT)
    expected = uqcli("tce", "rows.csv", "--json").json
    for name, format_ in (("x.csv", "jsonl"), ("y.csv", "parquet"), ("z.parquet", "csv")):
        assert uqcli("tce", name, "--format", format_, "--json").json == expected
    wrong = uqcli("tce", "y.csv", "--format", "csv").err
    assert "name it .parquet" in wrong
    ROWS.write_parquet(folder / "y.parquet")
    assert "leave out --format" in uqcli("tce", "y.parquet", "--format", "csv").err
    (folder / "uqcli.toml").write_text("[tce]\nformat = 'csv'\n")  # of streams
    assert uqcli("tce", "y.parquet", "--json").json == expected
    assert uqcli("tce", "-", "--json", stdin=TEXT.encode()).json == expected


def test_errors_on_streams_name_the_option_of_their_format(uqcli, folder):
    assert "give --format arrow" in uqcli("tce", "-", stdin=packed("Arrow")).err
    assert "give --format jsonl" in uqcli("tce", "-", stdin=ROWS.write_ndjson().encode()).err
    assert uqcli("tce", "-", stdin=packed("gzip")).err.endswith("; unpack it\n")


LINES = TEXT.splitlines()


@pytest.mark.parametrize(
    ("lines", "options", "words"),
    [
        (["Scores of May", "", *LINES], (), "the column names come 2 lines further down"),
        (["# made by hand", *LINES], (), "1 line further down; expected column names in the first line"),
        (LINES[1:], (), "has values, not column names: '0,0.925,1.5,1'"),
        (LINES, ("--delimiter", ";"), "expected the commas between them; leave out --delimiter"),
        ([line.replace(",", " ") for line in LINES], (), "give --delimiter ' '"),
        ([LINES[0], *(f"{i},{line}" for i, line in enumerate(LINES[1:]))], (), "row names"),
    ],
)
def test_a_first_line_that_names_no_columns_is_explained(uqcli, folder, lines, options, words):
    content = "\n".join([*lines, ""]).encode()
    (folder / "x.csv").write_bytes(content)
    for outcome in (uqcli("tce", "x.csv", *options), uqcli("tce", "-", *options, stdin=content)):
        assert outcome.code == 3
        assert words in outcome.err


def test_a_column_may_have_the_name_of_a_format(uqcli, folder):
    (folder / "x.csv").write_text(TEXT.replace("id", "PAR1", 1))
    assert applied(uqcli, "x.csv").startswith(b"PAR1,score")


@pytest.mark.parametrize(
    "line", ["(40 rows)", "(40 rows affected)\r\n", "40 rows in set (0.01 sec)", "\x1a", "\x1a\n"]
)
@pytest.mark.parametrize(
    "columns", [["id", "score", "uncertainty", "label"], ["score", "id", "uncertainty", "label"]]
)
def test_a_last_line_that_is_no_record_is_named(uqcli, folder, line, columns):
    text = ROWS.select(columns).write_csv() + line
    (folder / "x.csv").write_text(text, newline="")
    shown = "Ctrl-Z" if "\x1a" in line else line.strip()
    for command in (["tce", "x.csv"], ["apply", "rule.json", "x.csv"]):
        outcome = uqcli(*command)
        assert outcome.code == 3
        assert f"data row 41 of 'x.csv' is no row, but the last line '{shown}'" in outcome.err
    if columns[0] == "id":
        assert uqcli("tce", "x.csv", "--on-invalid", "drop").code == 0


@pytest.mark.parametrize("name", ["two\nlines", "a\r", 'says "x"', "a,b", " ", ""])
def test_csv_output_quotes_names_that_contain_line_ends(uqcli, folder, name):
    odd = ROWS.with_columns(pl.lit("v").alias(name))
    odd.write_parquet(folder / "odd.parquet")
    assert uqcli("apply", "rule.json", "odd.parquet", "-q", "-o", "odd.csv").code == 0
    with (folder / "odd.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == [*odd.columns, "decision"]
    assert [row[4] for row in rows] == ["v"] * ROWS.height
    key = folder / f"key={quote(name, safe='')}" if name.strip() else folder / "key=1"
    key.mkdir()
    ROWS.write_csv(key / "x.csv")
    output = list(csv.reader(applied(uqcli, key, "--prefix", name).decode().splitlines(keepends=True)))
    assert output[0] == [*ROWS.columns, "key", f"{name}decision"]
    assert output[1][4] == (name if name.strip() else "1")
