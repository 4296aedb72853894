"""Columns that nobody named stop only an output that cannot hold them; times at fixed offsets are read."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import fit
from uqcli.engines.local.arrow import frame_of
from uqcli.engines.local.check.values import texts_of

ROWS = 600
COMMANDS = {
    "boundary": ("boundary", "{}", "--precision", "0.6", "--score-bins", "20"),
    "overview": ("overview", "{}"),
    "evaluate": ("evaluate", "rule.json", "{}"),
    "tce": ("tce", "{}", "plain.parquet", "--bootstrap", "0"),
}


def odd_columns():
    """Return columns of types that polars lacks, or with values that cannot be read."""
    times = pa.array(np.arange(ROWS) * 7 * 10**9)
    offsets = pa.py_buffer(np.arange(ROWS + 1, dtype=np.int32) * 2)
    return {
        "offset": times.cast(pa.timestamp("us")).cast(pa.timestamp("us", "+05:30")),
        "zone": times.cast(pa.timestamp("us", "Nowhere/City")),
        "nested": pa.array([[row] for row in range(ROWS)], pa.list_(pa.timestamp("us", "-03:30"))),
        "interval": pa.nulls(ROWS, pa.month_day_nano_interval()),
        "text": pa.Array.from_buffers(pa.string(), ROWS, [None, offsets, pa.py_buffer(b"a\xff" * ROWS)]),
    }


@pytest.fixture
def files(prepared):
    return prepared(write_files)


def write_files():
    random = np.random.default_rng(5)
    score = random.random(ROWS)
    plain = {"score": pa.array(score), "label": pa.array((random.random(ROWS) < score).astype(int))}
    pq.write_table(pa.table(plain), "plain.parquet")
    for name, column in odd_columns().items():
        table = pa.table({**plain, "customer_id" if name == "text" else "seen": column})
        with pa.ipc.new_file(f"{name}.arrow", table.schema) as writer:
            writer.write_table(table)
    fit(f"{' '.join(COMMANDS['boundary'])} -o rule.json".format("plain.parquet"))


@pytest.mark.covering("thorough", also=["offset-boundary", "text-boundary"], every=4)
@pytest.mark.parametrize(
    "command",
    [pytest.param(name, marks=[pytest.mark.thorough] if name == "overview" else []) for name in COMMANDS],
)
@pytest.mark.parametrize("column", odd_columns())
def test_results_are_those_without_the_column(uqcli, files, column, command):
    if (column, command) == ("text", "tce"):
        pytest.skip("ids tell whether two inputs hold the same rows")
    with_it, without = (
        uqcli(*(part.format(name) for part in COMMANDS[command]), "--json")
        for name in (f"{column}.arrow", "plain.parquet")
    )
    assert (with_it.code, without.code) == (0, 0), with_it.err
    if command != "tce":  # which reads the plain file once if it is given twice
        assert with_it.json["metrics"] == without.json["metrics"]


def test_apply_writes_local_times_with_their_offset(uqcli, files):
    for output, read in (("o.csv", pl.read_csv), ("o.jsonl", pl.read_ndjson)):
        assert uqcli("apply", "rule.json", "offset.arrow", "-q", "-o", output).code == 0
        assert read(output)["seen"][1] == "1970-01-01T07:26:40.000000+0530"
    assert uqcli("apply", "rule.json", "offset.arrow", "-q", "-o", "o.parquet").code == 0
    assert pq.read_schema("o.parquet").field("seen").type == pa.timestamp("us", "+05:30")
    interval = uqcli("apply", "rule.json", "interval.arrow", "-o", "o.csv")
    assert (interval.code, "column 'seen' holds" in interval.err) == (3, True)


@given(
    minutes=st.integers(-23 * 60 - 59, 23 * 60 + 59),
    unit=st.sampled_from(["s", "ms", "us", "ns"]),
    times=st.lists(st.datetimes(datetime(1700, 1, 2), datetime(2200, 1, 1)) | st.none(), min_size=1),
)
def test_times_at_an_offset_are_local_times(minutes, unit, times):
    offset = timezone(timedelta(minutes=minutes))
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    whole = [None if time is None else time.replace(microsecond=0, tzinfo=UTC) for time in times]
    column = pa.array(whole, pa.timestamp("s", "UTC")).cast(pa.timestamp(unit, zone))
    texts = texts_of(frame_of(pa.table({"time": column}))["time"], "time")
    expected = [None if time is None else time.astimezone(offset) for time in whole]
    assert [text and (text[:19], text[-5:]) for text in texts] == [
        time and (f"{time:%Y-%m-%dT%H:%M:%S}", f"{time:%z}") for time in expected
    ]
