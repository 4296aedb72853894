"""Contract tests of added columns of texts: every engine and every format has the same values."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines.test_tables import write_inputs
from uqcli.base.choices import EngineName, OnInvalid
from uqcli.base.options import RowOutput
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns, StreamRequest
from uqcli.engines.request import DataRequest, Roles

TEXTS = ("cat, or dog", 'a "quoted" name', "Übermaß 猫", "two\nlines", "", " plain ", "null")
SCORES = [0.0, 1.0, None, 2.0, 3.0, 4.0, 5.0, 6.0, -1.0]
ROWS = pl.DataFrame({"score": SCORES, "note": [f"n{index}" for index in range(len(SCORES))]})
EXPECTED = [*TEXTS[:2], None, *TEXTS[2:], None]
"""Text of each row: none for the null score, which is not usable, and none for the negative one."""

LOCAL = ("csv", "tsv", "csv.gz", "parquet", "arrow", "jsonl")


def chosen(rows):
    """Return the index of each row's text, -1 below 0, and an index out of range for unusable rows."""
    index = np.where(np.isfinite(rows.score), rows.score, 999).astype(np.int64)
    return {"class": index, "high": rows.score > 2}


ADDED = AddedColumns(types={"class": "text", "high": "bool"}, texts={"class": TEXTS}, compute=chosen)


def stream(
    inputs,
    output,
    *,
    engine=EngineName.POLARS,
    added=ADDED,
    on_invalid=OnInvalid.KEEP,
    overwrite=False,
    **options,
):
    data = DataRequest(**inputs, roles=Roles(numbers={"score": "score"}), on_invalid=on_invalid)
    destination = RowOutput(output=str(output), overwrite=overwrite)
    return open_engine(engine).stream(StreamRequest(data=data, added=added, output=destination, **options))


def texts_in(path):
    """Read the added texts back; None for null."""
    ending = path.name.partition(".")[2]
    if ending == "parquet":
        return pl.read_parquet(path)["class"].to_list()
    if ending == "arrow":
        return pl.read_ipc(path)["class"].to_list()
    if ending == "jsonl":
        return [json.loads(line)["class"] for line in path.read_text().splitlines()]
    return pl.read_csv(path, separator="\t" if ending == "tsv" else ",", infer_schema=False)[
        "class"
    ].to_list()


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("target", LOCAL)
@pytest.mark.parametrize("source", [*LOCAL, "frame"])
def test_texts_are_written_in_every_format(tmp_path, source, target):
    inputs = write_inputs(ROWS, tmp_path, ending=source)
    if source == "tsv":
        ROWS.write_csv(tmp_path / "0.tsv", separator="\t")
    output = tmp_path / f"out.{target}"
    summary = stream(inputs, output)
    assert texts_in(output) == EXPECTED
    assert (summary.rows, summary.selected, summary.undecided) == (9, 4, 1)
    summary = stream(inputs, output, on_invalid=OnInvalid.DROP)
    assert texts_in(output) == [*EXPECTED[:2], *EXPECTED[3:]]
    assert (summary.rows, summary.selected, summary.dropped) == (8, 4, 1)


@pytest.mark.parametrize("on_invalid", [OnInvalid.KEEP, OnInvalid.DROP])
def test_a_cluster_writes_the_same_texts(tmp_path, on_invalid):
    def chosen_and_listed(rows):
        return {**chosen(rows), "listed": rows.score[:, None] > np.arange(len(TEXTS))}

    types = {**ADDED.types, "listed": "labels"}
    added = replace(ADDED, types=types, labels=TEXTS, compute=chosen_and_listed)
    inputs = write_inputs(ROWS, tmp_path)
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    summaries = [
        stream(inputs, here, added=added, on_invalid=on_invalid),
        stream(inputs, there, engine=EngineName.SPARK, added=added, on_invalid=on_invalid),
    ]
    assert summaries[0] == summaries[1]
    written = pl.read_parquet(sorted(there.glob("*.parquet")))
    assert written.sort("note").equals(pl.read_parquet(here).sort("note"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=6), tabs=st.booleans())
def test_csv_texts_are_quoted_alike_beside_copied_fields(tmp_path, texts, tabs):
    """Fields of CSV are copied; other rows are written anew, with the same quotes."""
    indices = [*range(len(texts)), -1]
    rows = pl.DataFrame({"score": [float(index) for index in indices]})
    added = replace(ADDED, types={"class": "text"}, texts={"class": tuple(texts)})
    ending, delimiter = ("tsv", "\t") if tabs else ("csv", ",")
    rows.write_csv(tmp_path / f"in.{ending}", separator=delimiter)
    rows.write_parquet(tmp_path / "in.parquet")
    outputs = []
    for source in (ending, "parquet"):
        output = tmp_path / f"out.{ending}"
        stream({"inputs": (str(tmp_path / f"in.{source}"),)}, output, added=added)
        outputs.append(output.read_bytes())
    assert outputs[0] == outputs[1]
    records = list(csv.reader(io.StringIO(outputs[0].decode(), newline=""), delimiter=delimiter))
    assert [record[1] for record in records[1:]] == [*texts, ""]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_texts_replace_a_column(tmp_path, ending):
    inputs = write_inputs(ROWS.with_columns(pl.lit(7).alias("class")), tmp_path, ending=ending)
    output = tmp_path / f"out.{ending}"
    stream(inputs, output, overwrite=True)
    assert texts_in(output) == EXPECTED
