"""Valid inputs of every kind for the fuzzer, and the command lines that read them."""

import io
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from tests.cli.conftest import sample_frame
from uqcli.cli.app import program, run

NO_BOOTSTRAP = ("--bootstrap", "0")


@dataclass(frozen=True)
class Seeds:
    """Contents to mutate: tables and rule files by name, and options by command."""

    tables: dict[str, bytes]
    artifacts: dict[str, bytes]
    state: bytes
    options: dict[str, list[str]]


def options_of_commands() -> dict[str, list[str]]:
    """List the option names of every command."""
    options = {}
    for command in program().registered_commands:
        parameters = command.callback.__signature__.parameters.values()  # type: ignore[union-attr]
        options[str(command.name)] = [f"--{parameter.name.replace('_', '-')}" for parameter in parameters]
    return options


def _tables() -> dict[str, bytes]:
    frame = sample_frame(120).with_columns(
        g=pl.Series([f"g{row % 3}" for row in range(120)]),
        p_0=(1 - pl.col("score")).round(3),
        p_1=pl.col("score"),
    )
    category = frame.with_columns(pl.col("g").cast(pl.Categorical))
    writers = {
        "a.csv": frame.write_csv,
        "b.tsv": lambda buffer: frame.write_csv(buffer, separator="\t"),
        "c.parquet": category.write_parquet,
        "d.parquet": lambda buffer: pq.write_table(frame.to_arrow(), buffer, compression="none"),
        "e.arrow": category.write_ipc,
        "f.arrow": frame.write_ipc_stream,
    }
    tables = {}
    for name, write in writers.items():
        buffer = io.BytesIO()
        write(buffer)
        tables[name] = buffer.getvalue()
    return tables


def fitting_lines(data: str) -> dict[str, list[str]]:
    """Return the command lines that fit the rule files to mutate."""
    return {
        "grid": ["bin", data, "--score-bins", "5"],
        "pava": ["bin", data, "--binning", "pava-bc"],
        "boundary": ["boundary", data, "--precision", "0.5", "--score-bins", "10"],
        "hr": ["boundary", data, "--precision", "0.5", "--algorithm", "hr"],
        "utility": ["boundary", data, "--gain", "2", "--cost", "1", "--score-bins", "5"],
        "platt": ["calibrate", data, *NO_BOOTSTRAP],
        "beta": ["calibrate", data, "--method", "beta", *NO_BOOTSTRAP],
        "histogram": ["calibrate", data, "--method", "histogram", "--n-bins", "4", *NO_BOOTSTRAP],
        "mist": ["calibrate", data, "--method", "mist", *NO_BOOTSTRAP],
        "tree": [
            *("calibrate", data, "--method", "heterogeneous", "--features", "g,uncertainty"),
            *("--min-leaf", "20", *NO_BOOTSTRAP),
        ],
        "groups": ["calibrate", data, "--method", "heterogeneous", "--partition", "g", *NO_BOOTSTRAP],
        "aps": ["conformal", data, "--proba", "p_*"],
        "lac": ["conformal", data, "--method", "lac", "--by", "g"],
        "conditional": ["conformal", data, "--mode", "label-conditional", "--alpha-by-class", "1=0.2"],
        "shift": ["shift", data, "--estimator", "known", "--prior", "0.4,0.6", *NO_BOOTSTRAP],
    }


def make_seeds(folder: Path) -> Seeds:
    """Write every valid input into a folder."""
    tables = _tables()
    data = folder / "good.parquet"
    data.write_bytes(tables["d.parquet"])
    artifacts = {}
    for name, line in fitting_lines(str(data)).items():
        path = folder / f"{name}.json"
        if run([*line, "-q", "-o", str(path), "--no-config"]):
            raise RuntimeError(f"the rule file '{name}' to mutate cannot be made")
        artifacts[name] = path.read_bytes()
    state = folder / "state.json"
    watched = ["watch", str(folder / "boundary.json"), str(data), "--state", str(state), "-q", "--no-config"]
    if run(watched):
        raise RuntimeError("the state to mutate cannot be made")
    return Seeds(tables=tables, artifacts=artifacts, state=state.read_bytes(), options=options_of_commands())


def lines_reading(data: str, folder: Path) -> list[list[str]]:
    """List the command lines that read a table."""
    output = str(folder / "out")
    apply_lines = [
        ["apply", str(folder / f"{name}.json"), data] for name in ("boundary", "tree", "aps", "grid")
    ]
    return [
        *(line for line in fitting_lines(data).values()),
        *(
            [*line, "-o", f"{output}.{ending}"]
            for line in apply_lines
            for ending in ("csv", "parquet", "arrow")
        ),
        ["evaluate", str(folder / "boundary.json"), data],
        ["evaluate", str(folder / "lac.json"), data],
        ["tce", data, "--by", "g"],
        ["tce", data, "--proba", "p_*"],
        ["uncertainty", data, "--members", "p_*", "--overwrite", "-o", f"{output}.csv"],
        ["shift", data, "--target", str(folder / "good.parquet"), *NO_BOOTSTRAP],
    ]


def lines_with_artifact(path: str, folder: Path) -> list[list[str]]:
    """List the command lines that read a rule file."""
    valid_rows = str(folder / "good.parquet")
    return [
        *([["show", path]] * 3),
        ["apply", path, valid_rows, "-o", str(folder / "out.parquet")],
        ["apply", path, valid_rows, "-o", str(folder / "out.csv")],
        ["evaluate", path, valid_rows],
        ["bin", valid_rows, "--edges", path],
        ["bin", "--merge", path, path],
        ["boundary", "--grid", path, "--precision", "0.5"],
        ["boundary", valid_rows, "--precision", "0.5", "--shift", path],
        ["conformal", valid_rows, "--mode", "label-shift", "--shift", path],
        ["calibrate", valid_rows, "--shift", path, *NO_BOOTSTRAP],
        ["watch", path, valid_rows],
        ["sample", path, valid_rows, "--for", "precision", "--budget", "5", "-o", str(folder / "out.csv")],
        ["export", path, "--to", "python", "-o", str(folder / "out.py")],
        ["export", path, "--to", "sql", "--table", "t", "-o", str(folder / "out.sql")],
        ["export", path, "--to", "onnx", "-o", str(folder / "out.onnx")],
    ]
