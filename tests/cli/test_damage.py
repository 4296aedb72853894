"""Damaged columnar files, seeds, memory and arithmetic: each ends with its own exit code, in one line."""

import io
import json
import subprocess
import sys
import warnings

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import sample_frame
from uqcli.api.boundary.boundary import find_boundary
from uqcli.api.calibrate.calibrator import Calibrator
from uqcli.choices import CalibrationMethod, Partitioner
from uqcli.defaults import MOST_SEED
from uqcli.draws import Purpose, uniforms
from uqcli.errors import DataError, UsageError
from uqcli.jobs.calibrate.fit import CalibrationOptions


def one_line(outcome, code):
    assert outcome.code == code, outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert outcome.err.startswith("error: ")
    assert "panicked" not in outcome.err
    return outcome.err


def damaged(content, random):
    changed = bytearray(content)
    for _ in range(int(random.integers(1, 5))):
        at = int(random.integers(0, len(changed)))
        match int(random.integers(4)):
            case 0:
                del changed[at:]
            case 1:
                changed[at:at] = random.bytes(5)
            case 2:
                changed[at : at + 4] = b"\xff" * 4
            case _:
                changed[at] = int(random.integers(256))
        if not changed:
            break
    return bytes(changed)


def columnar(frame):
    """The rows in several forms of Parquet and Arrow."""
    rows = frame.with_columns(pl.col("id").str.tail(1).cast(pl.Categorical).alias("group"))
    forms = {}
    for name, write in {
        "polars.parquet": rows.write_parquet,
        "plain.parquet": lambda out: pq.write_table(rows.to_arrow(), out, compression="none"),
        "file.arrow": rows.write_ipc,
        "packed.arrow": lambda out: rows.write_ipc(out, compression="zstd"),
        "stream.arrow": rows.write_ipc_stream,
    }.items():
        out = io.BytesIO()
        write(out)
        forms[name] = out.getvalue()
    return forms


@pytest.mark.parametrize("form", list(columnar(sample_frame(3))))
def test_damaged_files_are_exit_three_or_still_whole(uqcli, frame, artifact, tmp_path, form):
    content = columnar(frame)[form]
    random = np.random.default_rng(17)
    path = tmp_path / form
    codes = []
    for _ in range(12):
        path.write_bytes(damaged(content, random))
        commands = (
            ("boundary", path, "--precision", "0.4", "--score-bins", "10", "-q"),
            ("apply", artifact, path, "-o", tmp_path / f"out.{random.choice(['csv', 'parquet', 'arrow'])}"),
        )
        for command in commands:
            outcome = uqcli(*command)
            codes.append(outcome.code)
            if outcome.code:
                one_line(outcome, outcome.code)
                assert outcome.code in (2, 3, 4)
    assert codes.count(3) > 6


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_categories_as_polars_writes_them(uqcli, frame, artifact, tmp_path, ending):
    path, out = tmp_path / "categories.arrow", tmp_path / f"out.{ending}"
    path.write_bytes(columnar(frame)["file.arrow"])
    outcome = uqcli("apply", artifact, path, "-o", out, "-q")
    assert outcome.code == 0, outcome.err
    readers = {"parquet": pl.read_parquet, "arrow": pl.read_ipc, "csv": pl.read_csv}
    read = readers[ending](out)["group"].cast(pl.String)
    assert read.to_list() == frame["id"].str.tail(1).to_list()


def test_a_type_that_nothing_reads(uqcli, frame, tmp_path):
    path = tmp_path / "wide.arrow"
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    schema = table.schema.append(pa.field("wide", pa.month_day_nano_interval()))
    table = pa.Table.from_arrays(
        [*table.columns, pa.nulls(frame.height, schema.field("wide").type)], schema=schema
    )
    with pa.ipc.new_file(path, schema) as writer:
        writer.write_table(table)
    model = tmp_path / "b.json"
    assert uqcli("boundary", path, "--precision", "0.4", "-o", model, "-q").code == 0
    one_line(uqcli("apply", model, path, "-o", tmp_path / "out.parquet", "-q"), 3)
    assert not (tmp_path / "out.parquet").exists()


PARTED = (
    *("calibrate", "data.parquet", "--method", "heterogeneous", "--features", "g", "--min-leaf", "20"),
    *("--bootstrap", "0"),
)
SEEDED = {
    "calibrate": ("calibrate", "data.parquet", "--method", "platt", "--bootstrap", "3"),
    "tree": PARTED,
    "forest": (*PARTED, "--partitioner", "forest"),
    "boosted": (*PARTED, "--partitioner", "boosted"),
    "conformal": ("conformal", "data.parquet"),
    "tce": ("tce", "data.parquet", "--bootstrap", "3"),
    "evaluate": ("evaluate", "calibrator.json", "data.parquet", "--bootstrap", "2"),
    "simulate": ("simulate", "gaussian", "--rows", "3"),
}


@pytest.fixture
def seeded(uqcli, tmp_path, frame):
    frame.with_columns((pl.int_range(pl.len()) % 7).alias("g")).write_parquet(tmp_path / "data.parquet")
    arguments = ("--bootstrap", "0", "-o", "calibrator.json", "-q")
    assert uqcli("calibrate", "data.parquet", *arguments).code == 0


@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("command", SEEDED)
def test_seeds_from_nought_to_the_largest(uqcli, command, tmp_path, monkeypatch):
    monkeypatch.setattr("uqcli.methods.calibrate.tree.FOREST", 5)
    writes = command not in ("tce", "evaluate", "simulate")
    more = ("-o", tmp_path / "made.json") if writes else ()
    for seed in (0, 2**32 - 1, 2**32, MOST_SEED):  # scikit-learn's largest, and beyond any integer of numpy's
        outcome = uqcli(*SEEDED[command], "--seed", seed, *more)
        assert outcome.code == 0, outcome.err
        if writes:
            assert json.loads((tmp_path / "made.json").read_text())["parameters"]["seed"] == seed
    if writes:
        assert uqcli("show", tmp_path / "made.json", "-q").code == 0
    for seed in (-1, MOST_SEED + 1, 10**40, "1.5", "one", ""):
        one_line(uqcli(*SEEDED[command], "--seed", seed), 2)


@pytest.mark.parametrize("partitioner", Partitioner)
def test_seeds_from_python(partitioner):
    score = np.linspace(0.05, 0.95, 60)
    label = (np.arange(60) % 3 == 0).astype(int)
    features = {"g": np.arange(60) % 5}
    for seed in (2**32 - 1, MOST_SEED):
        how = CalibrationOptions(
            method=CalibrationMethod.HETEROGENEOUS, partitioner=partitioner, min_leaf=5, seed=seed
        )
        assert Calibrator.fit(score, label, options=how, features=features).artifact.parameters.seed == seed
    for seed in (-1, MOST_SEED + 1, 1.5):
        with pytest.raises(UsageError, match="seed"):
            Calibrator.fit(score, label, options=CalibrationOptions(seed=seed))
        with pytest.raises(UsageError, match="seed"):
            uniforms(np.arange(3), seed, Purpose.FIT)


def test_a_span_that_no_number_holds(uqcli, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("score,uncertainty,label\n0.9,-1e308,1\n0.8,1e308,1\n0.2,0,0\n")
    message = one_line(uqcli("boundary", path, "--precision", "0.5", "--algorithm", "hr"), 3)
    assert "too wide" in message
    with pytest.raises(DataError, match="too wide"):
        find_boundary(
            [0.9, 0.8], [1, 0], uncertainty=[-1e308, 1e308], precision="0.5",
            algorithm="hr",
        )  # fmt: skip


def test_a_saved_span_that_no_number_holds(uqcli, data, tmp_path):
    path = tmp_path / "hr.json"
    assert uqcli("boundary", data, "--precision", "0.5", "--algorithm", "hr", "-q", "-o", path).code == 0
    content = json.loads(path.read_text())
    content["recalibration"] |= {"low": -1e308, "high": 1e308}
    path.write_text(json.dumps(content))
    one_line(uqcli("apply", path, data), 5)


def test_signalling_nans_are_nans(uqcli, tmp_path):
    signalling = np.array([0x7FF0000000000001, 0x3FE0000000000000], dtype=np.uint64).view(np.float64)
    path = tmp_path / "nan.parquet"
    columns = {"score": signalling, "uncertainty": [0.0, 1.0], "label": [1, 0]}
    pq.write_table(pa.table(columns), path)
    assert "1 NaN" in one_line(uqcli("boundary", path, "--precision", "0.5"), 3)


def test_warnings_never_reach_users(tmp_path):
    program = (
        "import sys, warnings, uqcli.cli.app as app\n"
        "def run(arguments):\n"
        "    warnings.warn('divided by zero', RuntimeWarning)\n"
        "    import numpy as np\n"
        "    np.float64(1) / np.float64(0)\n"
        "    return 0\n"
        "app.run = run\n"
        "from uqcli.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    asked = subprocess.run(
        [sys.executable, "-W", "default", "-c", program], capture_output=True, text=True, check=False
    )
    assert "divided by zero" in asked.stderr


def test_warnings_are_errors_in_tests():
    with pytest.raises(RuntimeWarning):
        warnings.warn("divided by zero", RuntimeWarning, stacklevel=1)


@pytest.mark.parametrize("what", ["decision", "calibrated"])
def test_a_fault_in_arithmetic_is_not_a_broken_file(uqcli, data, artifact, tmp_path, monkeypatch, what):
    model = artifact
    if what == "calibrated":
        model = tmp_path / "c.json"
        assert uqcli("calibrate", data, "-o", model, "-q").code == 0

    def faulty(*_, **__):
        raise ValueError("shapes do not agree")

    monkeypatch.setattr("uqcli.artifacts.boundary.decide", faulty)
    monkeypatch.setattr("uqcli.methods.calibrate.maps.LogisticMap.predict", faulty)
    outcome = uqcli("apply", model, data)
    assert "internal error: ValueError: shapes do not agree" in one_line(outcome, 1)


@pytest.mark.parametrize(
    "error", [MemoryError(), pa.lib.ArrowMemoryError("malloc of size 9 failed"), OSError(12, "x")]
)
def test_want_of_memory_is_exit_three(uqcli, data, artifact, monkeypatch, error):
    def faulty(*_, **__):
        raise error

    monkeypatch.setattr("uqcli.artifacts.boundary.decide", faulty)
    assert "memory" in one_line(uqcli("apply", artifact, data, "-o", "-"), 3)


def test_an_address_space_limit(data):
    program = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (400_000_000, 400_000_000))\n"
        "from uqcli.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "boundary", data, "--precision", "0.5"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "memory" in done.stderr


def test_a_panic_elsewhere_is_an_internal_error(uqcli, data, artifact, monkeypatch):
    def faulty(*_, **__):
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr("uqcli.artifacts.boundary.decide", faulty)
    assert "internal error: PanicException" in one_line(uqcli("apply", artifact, data), 1)


@pytest.mark.parametrize("where", ["file", "column"])
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_notes_of_a_file_that_are_no_text_are_left_out(uqcli, data, tmp_path, ending, where):
    """polars panics over metadata that is not UTF-8, though the rows are whole."""
    table = pq.read_table(data)
    notes = {b"made by": b"\xff\xfe"}
    if where == "file":
        table = table.replace_schema_metadata(notes)
    else:
        fields = [each.with_metadata(notes) if each.name == "score" else each for each in table.schema]
        table = table.cast(pa.schema(fields))
    path = tmp_path / f"noted.{ending}"
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    asked = ("--precision", "0.7", "--score-bins", "20", "--json")
    plain, noted = (uqcli("boundary", each, *asked) for each in (data, path))
    assert (noted.code, noted.err) == (0, "")
    assert noted.out == plain.out
    assert uqcli("boundary", path, *asked[:-1], "-q", "-o", "b.json").code == 0
    for out in ("out.csv", "out.parquet"):
        applied = uqcli("apply", "b.json", path, "-o", out, "-q")
        assert (applied.code, applied.err) == (0, "")
