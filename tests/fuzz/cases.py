"""Good inputs of every kind, and the command lines that read them."""

import io
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from tests.cli.conftest import sample_frame
from uqcli.cli.app import program, run

FEW = ("--bootstrap", "0")


@dataclass(frozen=True)
class Seeds:
    """Files to mutate: tables by name, artifacts by name, and options by command."""

    tables: dict[str, bytes]
    artifacts: dict[str, bytes]
    options: dict[str, list[str]]


def options_of_commands() -> dict[str, list[str]]:
    """The option names of every command."""
    found = {}
    for command in program().registered_commands:
        parameters = command.callback.__signature__.parameters.values()  # type: ignore[union-attr]
        found[str(command.name)] = [f"--{each.name.replace('_', '-')}" for each in parameters]
    return found


def _tables() -> dict[str, bytes]:
    frame = sample_frame(120).with_columns(
        g=pl.Series([f"g{row % 3}" for row in range(120)]),
        p_0=(1 - pl.col("score")).round(3),
        p_1=pl.col("score"),
    )
    category = frame.with_columns(pl.col("g").cast(pl.Categorical))
    forms = {
        "a.csv": frame.write_csv,
        "b.tsv": lambda out: frame.write_csv(out, separator="\t"),
        "c.parquet": category.write_parquet,
        "d.parquet": lambda out: pq.write_table(frame.to_arrow(), out, compression="none"),
        "e.arrow": category.write_ipc,
        "f.arrow": frame.write_ipc_stream,
    }
    made = {}
    for name, write in forms.items():
        out = io.BytesIO()
        write(out)
        made[name] = out.getvalue()
    return made


def model_lines(data: str) -> dict[str, list[str]]:
    """How the artifacts to mutate are made."""
    return {
        "grid": ["bin", data, "--score-bins", "5"],
        "pava": ["bin", data, "--binning", "pava-bc"],
        "boundary": ["boundary", data, "--precision", "0.5", "--score-bins", "10"],
        "hr": ["boundary", data, "--precision", "0.5", "--algorithm", "hr"],
        "utility": ["boundary", data, "--gain", "2", "--cost", "1", "--score-bins", "5"],
        "platt": ["calibrate", data, *FEW],
        "beta": ["calibrate", data, "--method", "beta", *FEW],
        "histogram": ["calibrate", data, "--method", "histogram", "--n-bins", "4", *FEW],
        "mist": ["calibrate", data, "--method", "mist", *FEW],
        "tree": [
            *("calibrate", data, "--method", "heterogeneous", "--features", "g,uncertainty"),
            *("--min-leaf", "20", *FEW),
        ],
        "groups": ["calibrate", data, "--method", "heterogeneous", "--partition", "g", *FEW],
        "aps": ["conformal", data, "--proba", "p_*"],
        "lac": ["conformal", data, "--method", "lac", "--by", "g"],
        "conditional": ["conformal", data, "--mode", "label-conditional", "--alpha-by-class", "1=0.2"],
        "shift": ["shift", data, "--estimator", "known", "--prior", "0.4,0.6", *FEW],
    }


def make_seeds(place: Path) -> Seeds:
    """Make every good input in a folder."""
    tables = _tables()
    data = place / "good.parquet"
    data.write_bytes(tables["d.parquet"])
    artifacts = {}
    for name, line in model_lines(str(data)).items():
        path = place / f"{name}.json"
        if run([*line, "-q", "-o", str(path), "--no-config"]):
            raise RuntimeError(f"the artifact '{name}' to begin with cannot be made")
        artifacts[name] = path.read_bytes()
    return Seeds(tables=tables, artifacts=artifacts, options=options_of_commands())


def lines_reading(data: str, place: Path) -> list[list[str]]:
    """Command lines that read a table."""
    out = str(place / "out")
    models = [["apply", str(place / f"{name}.json"), data] for name in ("boundary", "tree", "aps", "grid")]
    return [
        *(line for line in model_lines(data).values()),
        *([*line, "-o", f"{out}.{ending}"] for line in models for ending in ("csv", "parquet", "arrow")),
        ["evaluate", str(place / "boundary.json"), data],
        ["evaluate", str(place / "lac.json"), data],
        ["tce", data, "--by", "g"],
        ["tce", data, "--proba", "p_*"],
        ["uncertainty", data, "--members", "p_*", "--overwrite", "-o", f"{out}.csv"],
        ["shift", data, "--target", str(place / "good.parquet"), *FEW],
    ]


def lines_with_artifact(path: str, place: Path) -> list[list[str]]:
    """Command lines that read an artifact."""
    good = str(place / "good.parquet")
    return [
        *([["show", path]] * 3),
        ["apply", path, good, "-o", str(place / "out.parquet")],
        ["apply", path, good, "-o", str(place / "out.csv")],
        ["evaluate", path, good],
        ["bin", good, "--edges", path],
        ["bin", "--merge", path, path],
        ["boundary", "--grid", path, "--precision", "0.5"],
        ["boundary", good, "--precision", "0.5", "--shift", path],
        ["conformal", good, "--mode", "label-shift", "--shift", path],
        ["calibrate", good, "--shift", path, *FEW],
    ]
