"""Tests of damaged files, seeds, memory and arithmetic: each error has its exit code and one line."""

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

from tests.cli.conftest import fit, sample_frame
from tests.hang import HANGS_AFTER
from uqcli.api.fitted import Calibrator
from uqcli.api.functions import find_boundary
from uqcli.base.choices import CalibrationMethod, Partitioner
from uqcli.base.defaults import MAX_SEED
from uqcli.base.draws import Purpose, uniforms
from uqcli.base.errors import DataError, UsageError
from uqcli.calibrate.fit_options import CalibrationOptions


def error_line(outcome, code):
    assert outcome.code == code, outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert outcome.err.startswith("error: ")
    assert "panicked" not in outcome.err
    return outcome.err


def damage(content, random):
    damaged_content = bytearray(content)
    for _ in range(int(random.integers(1, 5))):
        position = int(random.integers(0, len(damaged_content)))
        match int(random.integers(4)):
            case 0:
                del damaged_content[position:]
            case 1:
                damaged_content[position:position] = random.bytes(5)
            case 2:
                damaged_content[position : position + 4] = b"\xff" * 4
            case _:
                damaged_content[position] = int(random.integers(256))
        if not damaged_content:
            break
    return bytes(damaged_content)


def columnar_contents(frame):
    """Write the rows in several forms of Parquet and Arrow."""
    rows = frame.with_columns(pl.col("id").str.tail(1).cast(pl.Categorical).alias("group"))
    contents = {}
    for name, write in {
        "polars.parquet": rows.write_parquet,
        "plain.parquet": lambda buffer: pq.write_table(rows.to_arrow(), buffer, compression="none"),
        "file.arrow": rows.write_ipc,
        "packed.arrow": lambda buffer: rows.write_ipc(buffer, compression="zstd"),
        "stream.arrow": rows.write_ipc_stream,
    }.items():
        buffer = io.BytesIO()
        write(buffer)
        contents[name] = buffer.getvalue()
    return contents


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("file_name", list(columnar_contents(sample_frame(3))))
def test_damaged_files_exit_three_or_are_still_readable(uqcli, frame, artifact, tmp_path, file_name):
    content = columnar_contents(frame)[file_name]
    random = np.random.default_rng(17)
    path = tmp_path / file_name
    codes = []
    for _ in range(12):
        path.write_bytes(damage(content, random))
        commands = (
            ("boundary", path, "--precision", "0.4", "--score-bins", "10", "-q"),
            ("apply", artifact, path, "-o", tmp_path / f"out.{random.choice(['csv', 'parquet', 'arrow'])}"),
        )
        for command in commands:
            outcome = uqcli(*command)
            codes.append(outcome.code)
            if outcome.code:
                error_line(outcome, outcome.code)
                assert outcome.code in (2, 3, 4)
    assert codes.count(3) > 6


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_categories_of_polars_are_read(uqcli, frame, artifact, tmp_path, ending):
    path, output = tmp_path / "categories.arrow", tmp_path / f"out.{ending}"
    path.write_bytes(columnar_contents(frame)["file.arrow"])
    outcome = uqcli("apply", artifact, path, "-o", output, "-q")
    assert outcome.code == 0, outcome.err
    readers = {"parquet": pl.read_parquet, "arrow": pl.read_ipc, "csv": pl.read_csv}
    categories = readers[ending](output)["group"].cast(pl.String)
    assert categories.to_list() == frame["id"].str.tail(1).to_list()


def test_an_unreadable_type_is_an_error(uqcli, frame, tmp_path):
    path = tmp_path / "wide.arrow"
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    schema = table.schema.append(pa.field("wide", pa.month_day_nano_interval()))
    table = pa.Table.from_arrays(
        [*table.columns, pa.nulls(frame.height, schema.field("wide").type)], schema=schema
    )
    with pa.ipc.new_file(path, schema) as writer:
        writer.write_table(table)
    rule = tmp_path / "b.json"
    assert uqcli("boundary", path, "--precision", "0.4", "-o", rule, "-q").code == 0
    error_line(uqcli("apply", rule, path, "-o", tmp_path / "out.parquet", "-q"), 3)
    assert not (tmp_path / "out.parquet").exists()


HETEROGENEOUS = (
    *("calibrate", "data.parquet", "--method", "heterogeneous", "--features", "g", "--min-leaf", "20"),
    *("--bootstrap", "0"),
)
SEEDED = {
    "calibrate": ("calibrate", "data.parquet", "--method", "platt", "--bootstrap", "3"),
    "tree": HETEROGENEOUS,
    "forest": (*HETEROGENEOUS, "--partitioner", "forest"),
    "boosted": (*HETEROGENEOUS, "--partitioner", "boosted"),
    "conformal": ("conformal", "data.parquet"),
    "tce": ("tce", "data.parquet", "--bootstrap", "3"),
    "evaluate": ("evaluate", "calibrator.json", "data.parquet", "--bootstrap", "2"),
}


def write_seeded():
    sample_frame().with_columns((pl.int_range(pl.len()) % 7).alias("g")).write_parquet("data.parquet")
    fit("calibrate data.parquet --bootstrap 0 -o calibrator.json")


@pytest.fixture
def seeded(prepared):
    prepared(write_seeded)


@pytest.mark.thorough
@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("command", SEEDED)
def test_seeds_range_from_0_to_the_largest(uqcli, command, tmp_path, monkeypatch):
    monkeypatch.setattr("uqcli.calibrate.tree.FOREST_TREES", 5)
    writes = command not in ("tce", "evaluate")
    output = ("-o", tmp_path / "made.json") if writes else ()
    for seed in (0, 2**32 - 1, 2**32, MAX_SEED):  # scikit-learn's largest, and larger than numpy's integers
        outcome = uqcli(*SEEDED[command], "--seed", seed, *output)
        assert outcome.code == 0, outcome.err
        if writes:
            assert json.loads((tmp_path / "made.json").read_text())["parameters"]["seed"] == seed
    if writes:
        assert uqcli("show", tmp_path / "made.json", "-q").code == 0
    for seed in (-1, MAX_SEED + 1, 10**40, "1.5", "one", ""):
        error_line(uqcli(*SEEDED[command], "--seed", seed), 2)


@pytest.mark.parametrize("partitioner", Partitioner)
def test_seeds_of_the_api_are_checked(partitioner):
    score = np.linspace(0.05, 0.95, 60)
    label = (np.arange(60) % 3 == 0).astype(int)
    features = {"g": np.arange(60) % 5}
    for seed in (2**32 - 1, MAX_SEED):
        options = CalibrationOptions(
            method=CalibrationMethod.HETEROGENEOUS, partitioner=partitioner, min_leaf=5, seed=seed
        )
        assert (
            Calibrator.fit(score, label, options=options, features=features).artifact.parameters.seed == seed
        )
    for seed in (-1, MAX_SEED + 1, 1.5):
        with pytest.raises(UsageError, match="seed"):
            Calibrator.fit(score, label, options=CalibrationOptions(seed=seed))
        with pytest.raises(UsageError, match="seed"):
            uniforms(np.arange(3), seed, Purpose.FIT)


def test_an_overflowing_range_is_an_error(uqcli, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("score,uncertainty,label\n0.9,-1e308,1\n0.8,1e308,1\n0.2,0,0\n")
    message = error_line(uqcli("boundary", path, "--precision", "0.5", "--algorithm", "hr"), 3)
    assert "too wide" in message
    with pytest.raises(DataError, match="too wide"):
        find_boundary(
            [0.9, 0.8], [1, 0], uncertainty=[-1e308, 1e308], precision="0.5",
            algorithm="hr",
        )  # fmt: skip


def test_a_saved_overflowing_range_is_an_error(uqcli, data, tmp_path):
    path = tmp_path / "hr.json"
    assert uqcli("boundary", data, "--precision", "0.5", "--algorithm", "hr", "-q", "-o", path).code == 0
    content = json.loads(path.read_text())
    content["recalibration"] |= {"low": -1e308, "high": 1e308}
    path.write_text(json.dumps(content))
    error_line(uqcli("apply", path, data), 5)


def test_signalling_nans_are_nans(uqcli, tmp_path):
    signalling = np.array([0x7FF0000000000001, 0x3FE0000000000000], dtype=np.uint64).view(np.float64)
    path = tmp_path / "nan.parquet"
    columns = {"score": signalling, "uncertainty": [0.0, 1.0], "label": [1, 0]}
    pq.write_table(pa.table(columns), path)
    assert "1 NaN" in error_line(uqcli("boundary", path, "--precision", "0.5"), 3)


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
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, "")
    with_warnings = subprocess.run(
        [sys.executable, "-W", "default", "-c", program], capture_output=True, text=True, check=False
    )
    assert "divided by zero" in with_warnings.stderr


def test_warnings_are_errors_in_tests():
    with pytest.raises(RuntimeWarning):
        warnings.warn("divided by zero", RuntimeWarning, stacklevel=1)


@pytest.mark.parametrize("kind", ["decision", "calibrated"])
def test_an_arithmetic_error_is_not_reported_as_a_broken_file(
    uqcli, data, artifact, tmp_path, monkeypatch, kind
):
    rule_file = artifact
    if kind == "calibrated":
        rule_file = tmp_path / "c.json"
        assert uqcli("calibrate", data, "-o", rule_file, "-q").code == 0

    def faulty(*_, **__):
        raise ValueError("shapes do not agree")

    monkeypatch.setattr("uqcli.boundary.rule_part.decide", faulty)
    monkeypatch.setattr("uqcli.calibrate.maps.LogisticMap.predict", faulty)
    outcome = uqcli("apply", rule_file, data)
    assert "internal error: ValueError: shapes do not agree" in error_line(outcome, 1)


@pytest.mark.parametrize(
    "error", [MemoryError(), pa.lib.ArrowMemoryError("malloc of size 9 failed"), OSError(12, "x")]
)
def test_lack_of_memory_exits_three(uqcli, data, artifact, monkeypatch, error):
    def faulty(*_, **__):
        raise error

    monkeypatch.setattr("uqcli.boundary.rule_part.decide", faulty)
    assert "memory" in error_line(uqcli("apply", artifact, data, "-o", "-"), 3)


def test_a_limit_of_the_address_space_is_an_error(data):
    program = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (400_000_000, 400_000_000))\n"
        "from uqcli.__main__ import main\n"
        "main()\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program, "boundary", data, "--precision", "0.5"],
        capture_output=True, text=True, check=False, timeout=HANGS_AFTER,
    )  # fmt: skip
    assert process.returncode == 3, process.stderr
    assert "memory" in process.stderr


def test_an_unexpected_panic_is_an_internal_error(uqcli, data, artifact, monkeypatch):
    def faulty(*_, **__):
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr("uqcli.boundary.rule_part.decide", faulty)
    assert "internal error: PanicException" in error_line(uqcli("apply", artifact, data), 1)


@pytest.mark.covering("thorough", every=100, also=["arrow-file"])
@pytest.mark.parametrize("level", ["file", "column"])
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_metadata_that_is_no_text_is_ignored(uqcli, data, tmp_path, ending, level):
    """polars panics at metadata that are not UTF-8, although the rows are readable."""
    table = pq.read_table(data)
    metadata = {b"made by": b"\xff\xfe"}
    if level == "file":
        table = table.replace_schema_metadata(metadata)
    else:
        fields = [field.with_metadata(metadata) if field.name == "score" else field for field in table.schema]
        table = table.cast(pa.schema(fields))
    path = tmp_path / f"noted.{ending}"
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    options = ("--precision", "0.7", "--score-bins", "20", "--json")
    expected, with_metadata = (uqcli("boundary", path_read, *options) for path_read in (data, path))
    assert (with_metadata.code, with_metadata.err) == (0, "")
    assert with_metadata.out == expected.out
    assert uqcli("boundary", path, *options[:-1], "-q", "-o", "b.json").code == 0
    for output in ("out.csv", "out.parquet"):
        applied = uqcli("apply", "b.json", path, "-o", output, "-q")
        assert (applied.code, applied.err) == (0, "")
