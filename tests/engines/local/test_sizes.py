"""Tests that rows are read and written in batches of so many bytes, since a text may be referred to often."""

import resource
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from uqcli.base.choices import FileFormat
from uqcli.base.running import memory
from uqcli.cli.app import run
from uqcli.engines.inputs import resolve_inputs
from uqcli.engines.local.arrow import frame_of
from uqcli.engines.local.check.key_numbers import KeyColumn, KeyNumbers
from uqcli.engines.local.check.values import distinct_of, texts_of
from uqcli.engines.local.read import columnar, sizes
from uqcli.engines.local.read.open import loads_of, open_sources
from uqcli.engines.local.write import sinks
from uqcli.engines.protocol import FIRST_ROWS
from uqcli.engines.request import ReadOptions

ROWS = 4000
LIMIT = 200_000
TEXT_BYTES = 10_000
LONG = "x" * TEXT_BYTES


def rows_of(rows=ROWS, long=LONG):
    """Rows of which every other one has the long text, beside one without and one that is null."""
    random = np.random.default_rng(1)
    score = random.random(rows)
    indices = pa.array([None if row % 50 == 7 else row % 2 for row in range(rows)], pa.int32())
    return pa.table(
        {
            "score": score,
            "label": (random.random(rows) < score).astype(np.int64),
            "group": pa.DictionaryArray.from_arrays(indices, pa.array([f" {long}a", "b"])),
        }
    )


def listed(table):
    """Rows whose texts are lists of one, empty at first."""
    texts = table["group"].cast(pa.string()).to_pylist()
    return table.set_column(2, "group", pa.array([[], *([text] for text in texts[1:])]))


def written(table, kind, path):
    """Write rows so that their texts are stored once."""
    if kind == "feather of plain texts":
        table = table.set_column(2, "group", table["group"].cast(pa.string()))
    if path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    else:
        pq.write_table(
            listed(table) if kind == "lists" else table,
            path,
            store_schema=kind == "dictionary",
            row_group_size=len(table) // (5 if kind == "row groups" else 1),
        )


KINDS = ["plain", "dictionary", "row groups", "lists", "arrow", "feather of plain texts"]


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(columnar, "bytes_per_batch", lambda: LIMIT)


@pytest.fixture(params=KINDS)
def source(request, tmp_path, small_batches):
    """An opened file of such rows."""
    path = (
        tmp_path / f"rows.{'arrow' if 'arrow' in request.param or 'feather' in request.param else 'parquet'}"
    )
    written(rows_of(), request.param, path)
    with open_sources(resolve_inputs((str(path),), ReadOptions()), ReadOptions()) as (opened,):
        yield opened


def text_bytes(frame):
    return int(
        frame["group"]
        .cast(pl.List(pl.String) if frame["group"].dtype == pl.List else pl.String)
        .explode()
        .str.len_bytes()
        .sum()
        or 0
    )


def test_no_batch_has_more_bytes_than_allowed(source):
    names, frames = ["score", "label", "group"], []
    for load in loads_of(source, names, 0, 1 << 17, {}):
        for batch in load():
            assert batch.first_row == sum(map(len, frames))
            assert text_bytes(batch.frame) <= LIMIT
            frames.append(batch.frame)
    blocks = list(source.blocks())
    assert all(text_bytes(frame_of(block)) <= LIMIT for block in blocks)
    expected = rows_of()
    for tables in (frames, [frame_of(block) for block in blocks]):
        assert pl.concat([table["score"] for table in tables]).to_list() == expected["score"].to_pylist()
        texts = [text for table in tables for text in table["group"].cast(table["group"].dtype).to_list()]
        single = [text[0] if isinstance(text, list) and text else text for text in texts]
        assert single[1:] == expected["group"].to_pylist()[1:]


def test_numbers_are_bounded_by_their_bytes(tmp_path, small_batches):
    wide = pl.DataFrame({f"c{number}": np.arange(2000.0) for number in range(40)})
    wide.write_parquet(tmp_path / "wide.parquet")
    with open_sources(resolve_inputs((str(tmp_path / "wide.parquet"),), ReadOptions()), ReadOptions()) as (
        opened,
    ):
        sizes_of_batches = [len(batch.frame) for batch in opened.batches(wide.columns)]
        few = [len(batch.frame) for batch in opened.batches(["c0"])]
    assert sum(sizes_of_batches) == sum(few) == 2000
    assert max(sizes_of_batches) <= LIMIT / (8 * 40)
    assert few == [2000]


def test_a_first_look_takes_row_groups_in_turn_and_only_those_it_needs(tmp_path, monkeypatch):
    table = rows_of(long="short")
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=900)
    opened_groups = []
    whole = columnar.ParquetSource._longest_in
    monkeypatch.setattr(
        columnar.ParquetSource,
        "_longest_in",
        lambda self, group, leaf: opened_groups.append(group) or whole(self, group, leaf),
    )
    with open_sources(resolve_inputs((str(tmp_path / "rows.parquet"),), ReadOptions()), ReadOptions()) as (
        opened,
    ):
        batches = opened.batches(["score", "group"], max_rows=FIRST_ROWS)
        found = [next(batches), next(batches)]
        assert set(opened_groups) == {0, 1}
        found += batches
    assert [batch.first_row for batch in found] == [0, 900, 1800, 2700, 3600]
    assert pl.concat([batch.frame for batch in found])["score"].to_list() == table["score"].to_pylist()


def test_texts_that_only_tell_rows_apart_stay_in_their_dictionary(tmp_path, small_batches):
    written(rows_of(), "plain", tmp_path / "rows.parquet")
    read = ReadOptions(text_columns=("group",))
    with open_sources(resolve_inputs((str(tmp_path / "rows.parquet"),), read), read) as (opened,):
        (batch,) = opened.batches(["score", "group"])
    assert batch.frame["group"].dtype == pl.Categorical
    assert len(batch.frame) == ROWS
    numbers = KeyNumbers()
    codes = numbers.numbers(KeyColumn.of(batch.frame["group"], "group"))
    assert list(numbers) == [f"{LONG}a", "b"]
    assert codes.tolist() == [-1 if row % 50 == 7 else row % 2 for row in range(ROWS)]


def test_short_texts_are_read_as_before(tmp_path, monkeypatch):
    written(rows_of(long="short"), "plain", tmp_path / "rows.parquet")
    read = ReadOptions(text_columns=("group",))
    with open_sources(resolve_inputs((str(tmp_path / "rows.parquet"),), read), read) as (opened,):
        (batch,) = opened.batches(["score", "group"])
    assert batch.frame["group"].dtype == pl.String


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["b", " a ", "TRUE", ""])])
def test_texts_of_a_dictionary_are_those_of_its_rows(dtype):
    texts = ["b", " a ", None, "", "TRUE", "b", " a ", None]
    series = pl.Series("g", texts, dtype=pl.String).cast(dtype)
    assert texts_of(series, "g").to_list() == ["b", "a", None, None, "true", "b", "a", None]
    numbers = KeyNumbers()
    assert numbers.numbers(KeyColumn.of(series, "g")).tolist() == [0, 1, -1, -1, 2, 0, 1, -1]
    assert list(numbers) == ["b", "a", "true"]
    if dtype != pl.String:
        distinct, place = distinct_of(series)
        assert distinct.to_list() == ["b", " a ", None, "", "TRUE"]
        assert distinct.gather(place).to_list() == texts


def test_the_bytes_of_a_batch_count_against_the_memory(monkeypatch):
    monkeypatch.setattr(memory, "threads", lambda: 4)
    monkeypatch.setattr(memory, "_aims", [])
    monkeypatch.setattr(memory, "_typed", [])
    usual = memory.bytes_per_batch()
    assert usual <= memory.kept_bytes() / 4
    monkeypatch.setattr(memory, "_typed", [64_000_000])
    assert memory.bytes_per_batch() == 1 << 20
    monkeypatch.setattr(memory, "_typed", [1])
    assert memory.bytes_per_batch() == 1 << 20


@pytest.mark.parametrize("pieces", [1, 7, 400])
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_row_groups_have_so_many_bytes_whatever_the_batches(tmp_path, monkeypatch, pieces, ending):
    monkeypatch.setattr(sinks, "_BYTES_PER_GROUP", LIMIT)
    table = rows_of(400).append_column("plain", rows_of(400)["group"].cast(pa.string()))
    if ending == "arrow":  # whose dictionaries may not change
        table = table.drop_columns("group")
    contents = set()
    for number in (1, pieces):
        path = tmp_path / f"{number}.{ending}"
        with sinks.open_sink(str(path), FileFormat(ending), table.schema, None) as sink:
            for start in range(0, 400, 400 // number):
                sink.write(table.slice(start, 400 // number))
        contents.add(path.read_bytes() if ending == "parquet" else _batches_of(path))
    assert len(contents) == 1
    if ending == "parquet":
        groups = pq.ParquetFile(path)
        assert groups.num_row_groups > 5
        for group in range(groups.num_row_groups):
            texts = groups.read_row_group(group, columns=["plain"])["plain"]
            assert sum(len(text or "") for text in texts.to_pylist()) <= LIMIT + TEXT_BYTES + 2
        assert groups.read().equals(table)


def _batches_of(path):
    """Return the rows of each batch; bytes of an Arrow file depend on how its buffers came about."""
    with pa.ipc.open_file(path) as file:
        return tuple(str(file.get_batch(index).to_pydict()) for index in range(file.num_record_batches))


def test_sizes_of_rows_are_exact_for_texts_and_numbers():
    batch = pa.record_batch({"a": [1.0, 2.0, None], "b": ["x", None, "xyz"], "c": [True, False, None]})
    assert sizes.row_bytes(batch).tolist() == [8 + 5, 8 + 4, 8 + 7]


LINES = {
    "overview": ("overview", "{}"),
    "boundary by": ("boundary", "{}", "--precision", "0.6", "--by", "group"),
    "tce by": ("tce", "{}", "--by", "group"),
    "tce audit": ("tce", "{}", "--audit", "group"),
    "evaluate by": ("evaluate", "rule.json", "{}", "--by", "group", "--on-invalid", "drop"),
    "evaluate cluster": ("evaluate", "rule.json", "{}", "--cluster", "group"),
    "calibrate": ("calibrate", "{}", "--method", "heterogeneous", "--partition", "group"),
    "watch": ("watch", "rule.json", "{}", "--cluster", "group"),
    "apply to Parquet": ("apply", "rule.json", "{}", "-o", "out.parquet"),
    "apply to CSV": ("apply", "rule.json", "{}", "-o", "/dev/null"),
    "apply to JSON": ("apply", "rule.json", "{}", "-o", "/dev/null", "--output-format", "jsonl"),
    "apply per": ("apply", "rule.json", "{}", "--top", "3", "--per", "group", "-o", "out.parquet"),
}
PEAK = "import sys; from uqcli.cli.app import run; code = run(sys.argv[1:]); " + (
    "lines = open('/proc/self/status'); "  # the peak that resource knows is also that of the parent
    "print(code, *[line.split()[1] for line in lines if line[:5] == 'VmHWM'], file=sys.stderr)"
)


@pytest.mark.parametrize(
    "line",
    [pytest.param(line, marks=[] if line == "boundary by" else pytest.mark.thorough) for line in LINES],
)
def test_a_text_of_a_megabyte_in_thousands_of_rows_takes_little_memory(tmp_path, monkeypatch, line):
    """The file has a megabyte, its rows have four gigabytes."""
    monkeypatch.chdir(tmp_path)
    texts = pa.array(["x" * 1_000_000 + "a", "b"])
    groups = pa.DictionaryArray.from_arrays(pa.array(np.arange(ROWS) % 2, pa.int32()), texts)
    table = rows_of(ROWS, "short").set_column(2, "group", groups)
    written(table, "plain", tmp_path / "rows.parquet")
    assert (tmp_path / "rows.parquet").stat().st_size < 3_000_000
    written(rows_of(ROWS, "short"), "plain", tmp_path / "short.parquet")
    assert run(["boundary", "short.parquet", "--precision", "0.6", "-o", "rule.json", "-q"]) == 0
    words = [word.format("rows.parquet") for word in LINES[line]]
    outcome = subprocess.run(
        [sys.executable, "-c", PEAK, *words, "-q"],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)),
    )
    code, peak = map(int, outcome.stderr.split()[-2:])
    is_saved = line in {"boundary by", "calibrate"}  # with the names of its groups, which are too long
    assert code == (3 if is_saved else 0), outcome.stderr[-500:]
    assert ("4,096" in outcome.stderr) is is_saved
    assert peak < 1_200_000
