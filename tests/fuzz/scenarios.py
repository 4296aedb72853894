"""Fuzz cases with known answers: descriptors, addresses, configurations, weights and column orders."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from tests.fuzz import mutate
from tests.fuzz.cases import NO_BOOTSTRAP, Seeds

SECRET = "hunter2"
STREAMS = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
"""Names of standard input."""


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of a command line."""

    code: int | str
    out: str
    err: str


@dataclass(frozen=True)
class Scenario:
    """A command line, and the judge of its outcome.

    Attributes
    ----------
    stdin, stdout
        A file for standard input or output, and the flags to open it; None for the usual stream.
    equivalent_line
        Another line that must have the same exit code and the same results.
    created_paths
        Files and folders to remove afterwards.
    """

    line: list[str]
    judge: Callable[[Outcome], str | None]
    stdin: tuple[Path, int] | None = None
    stdout: tuple[Path, int] | None = None
    equivalent_line: list[str] | None = None
    created_paths: list[Path] = field(default_factory=list)


def descriptors(random: mutate.Random, folder: Path, seeds: Seeds) -> Scenario:
    """Name one file in several ways: as an input, as a redirection and as an output."""
    rows = folder / "rows.csv"
    content = seeds.tables["a.csv"]
    rows.write_bytes(content)
    symlink, hard, fifo = folder / "sym.csv", folder / "hard.csv", folder / "new.csv"
    for link in (symlink, hard, fifo):
        link.unlink(missing_ok=True)
    symlink.symlink_to(rows)
    os.link(rows, hard)
    names = [*STREAMS, *map(str, (rows, symlink, hard, folder / "." / "rows.csv"))]
    targets = [*names, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", str(fifo), "/dev/null", str(fifo)]
    flags = (os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_APPEND)
    model = folder / "boundary.json"
    line = mutate.pick(
        random,
        [
            ["apply", str(model), mutate.pick(random, names), "-o", mutate.pick(random, targets)],
            ["apply", str(model), mutate.pick(random, names)],
            ["bin", mutate.pick(random, names), "-q", "-o", mutate.pick(random, targets)],
            [
                "boundary",
                mutate.pick(random, names),
                "--precision",
                "0.5",
                "--frontier",
                mutate.pick(random, targets),
            ],
            ["tce", mutate.pick(random, names), "--report", f"{mutate.pick(random, targets)}"],
            [
                "uncertainty",
                mutate.pick(random, names),
                "--members",
                "p_*",
                "--overwrite",
                "-o",
                mutate.pick(random, targets),
            ],
        ],
    )
    if random.random() < 0.3:
        line += ["--report", mutate.pick(random, [str(folder / "r.json"), str(rows), str(model)])]
    stdin = (rows, mutate.pick(random, flags)) if random.random() < 0.7 else None
    stdout = None
    if random.random() < 0.3:
        stdout = (mutate.pick(random, [rows, folder / "o.csv"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    rule_content = model.read_bytes()
    input_name = line[2] if line[0] == "apply" else line[1]
    is_input = stdin is not None or input_name not in STREAMS

    def judge(outcome: Outcome) -> str | None:
        if rows.read_bytes() != content:
            rows.write_bytes(content)
            if is_input:  # a file that is not read may be replaced
                return "an input was written"
        if model.read_bytes() != rule_content:
            model.write_bytes(rule_content)
            if (
                outcome.code != 0 or line[0] == "apply"
            ):  # a report may replace a rule file that is not an input
                return "an artifact was written"
        if line[0] == "apply" and outcome.code == 0 and line[-1] == str(fifo) and stdin is not None:
            rows_written = pl.read_csv(fifo, infer_schema=False).height
            return None if rows_written == 120 else f"{rows_written} of 120 rows written"
        return None

    return Scenario(
        line=line,
        judge=judge,
        stdin=stdin,
        stdout=stdout,
        created_paths=[folder / "o.csv", folder / "r.json", fifo],
    )


def addresses(random: mutate.Random, folder: Path, _seeds: Seeds) -> Scenario:
    """Use addresses without a server that contain secrets."""
    scheme = mutate.pick(
        random, ["http", "https", "HTTP", "ftp", "file", "s3", "gs", "az", "sc", "xyz", "http+x"]
    )
    user = mutate.pick(random, ["", f"me:{SECRET}@", f"{SECRET}@", f":{SECRET}@", f"a@b:{SECRET}@"])
    host = mutate.pick(
        random, ["127.0.0.1:9", "[::1]:9", "127.0.0.1:x", "", "a b", "127.0.0.1:99999", "\u202e"]
    )
    if scheme in ("s3", "gs", "az"):  # otherwise uqcli would contact a real store
        user, host = f"me:{SECRET}@", ""
    path = mutate.pick(
        random, ["/a.csv", "", "/", "/é.parquet", "/a b.csv", "/%zz.csv", "/*.csv", "/../a.csv"]
    )
    query = mutate.pick(
        random, ["", f"?sig={SECRET}", f"?a=b&token={SECRET}#x", f"#token={SECRET}", f";token={SECRET}"]
    )
    if scheme != "sc" and query.startswith(";"):  # secrets follow a semicolon only in sc://
        query = ""
    address = f"{scheme}://{user}{host}{path}{query}"
    good = str(folder / "good.parquet")
    line = mutate.pick(
        random,
        [
            ["tce", address],
            ["apply", str(folder / "boundary.json"), address],
            ["apply", address, good],
            ["bin", good, "-o", address],
            ["tce", good, "--report", address],
            ["tce", good, "--report", address + ".html"],
            ["boundary", good, "--precision", "0.5", "--shift", address],
            ["tce", good, "--config", address],
            ["tce", good, "--spark", address],
            ["show", address],
        ],
    )

    def judge(outcome: Outcome) -> str | None:
        if SECRET in outcome.out or SECRET in outcome.err:
            return "a secret is printed"
        return (
            "an address without a server was accepted"
            if outcome.code == 0 and "--spark" not in line
            else None
        )  # the default engine ignores --spark

    return Scenario(line=line, judge=judge)


def discovered_configuration(random: mutate.Random, folder: Path, seeds: Seeds) -> Scenario:
    """Write configurations that uqcli discovers, some of them writable by other users."""
    command = mutate.pick(random, ["tce", "bin", "boundary"])
    path = folder / mutate.pick(random, ["uqcli.toml", "pyproject.toml"])
    prefix = "tool.uqcli." if path.name == "pyproject.toml" else ""
    path_option = mutate.pick(random, ["output", "report", "plot", "spark"])
    texts = {
        "plain": f"[{prefix}{command}]\nscore-bins = 7\n"
        if command != "tce"
        else f"[{prefix}tce]\nn-bins = 7\n",
        "steering": f'[{prefix}{command}]\n{path_option} = "x.html"\n',
        "address": f'[{prefix}{command}]\nuncertainty = "https://127.0.0.1:9/x"\n',
        "another's": f'[{prefix}calibrate]\n{path_option} = "x.html"\n',
        "unknown": f"[{prefix}{command}]\nfoo = 1\n",
    }
    kind = mutate.pick(random, list(texts))
    content = texts[kind].encode()
    broken = random.random() < 0.2
    path.write_bytes(mutate.mutated_bytes(random, content) if broken else content)
    mode = mutate.pick(random, [0o600, 0o644, 0o664, 0o666, 0o777, 0o602])
    path.chmod(mode)
    bound = ["--precision", "0.5"] if command == "boundary" else []
    line = [command, str(folder / "good.parquet"), *bound, "-q"]
    source = mutate.pick(random, ["discovered", "named", "ignored"])
    if source != "discovered":
        line += ["--config", str(path)] if source == "named" else ["--no-config"]

    def judge(outcome: Outcome) -> str | None:
        if source == "ignored":
            return None if outcome.code == 0 else "an ignored configuration was read"
        if broken or source == "named":
            return None
        is_read = not mode & 0o002
        allowed = {2} if is_read and kind in {"steering", "unknown"} else {0}
        allowed |= {3} if is_read and kind == "address" else set()  # the name of a column that is not there
        return None if outcome.code in allowed else f"{kind}, mode {mode:o}: exit {outcome.code}"

    del seeds
    return Scenario(line=line, judge=judge, created_paths=[path, folder / "x.html"])


COUNTING_LINES = (
    ["bin", "{}", "--score-bins", "5"],
    ["tce", "{}"],
    ["boundary", "{}", "--precision", "0.5", "--score-bins", "10"],
    ["calibrate", "{}", "--method", "isotonic", *NO_BOOTSTRAP],
    ["evaluate", "{model}", "{}"],
)


def _draw_rows(random: mutate.Random) -> pl.DataFrame:
    size = int(random.integers(1, 60))
    values = random.integers(2, 30)
    return pl.DataFrame(
        {
            "score": (random.integers(0, values, size) / values).tolist(),
            "uncertainty": (random.integers(0, 5, size) / 4).tolist(),
            "label": random.integers(0, 2, size).tolist(),
        }
    )


def _filled_line(line: list[str], folder: Path, name: str, *options: str) -> list[str]:
    filled = [word.format(str(folder / name), model=folder / "boundary.json") for word in line]
    return [*filled, *options, "--json"]


def _difference(first_outcome: Outcome, second_outcome: Outcome) -> str | None:
    if first_outcome.code != second_outcome.code:
        return f"exit {first_outcome.code} and {second_outcome.code}: {second_outcome.err[-200:]}"
    if first_outcome.code != 0:
        return None
    first, second = (json.loads(outcome.out) for outcome in (first_outcome, second_outcome))
    for report in (first, second):  # these name the files and the weights
        for key in ("source", "parameters", "cautions", "notes"):
            report.pop(key, None)
    return None if first == second else "another result"


def weights(random: mutate.Random, folder: Path, _seeds: Seeds) -> Scenario:
    """Compare weights with repeated rows, for every type of weights in files."""
    rows = _draw_rows(random)
    weight = random.integers(0, 4, rows.height)
    repeated = rows[np.repeat(np.arange(rows.height), weight).tolist()]
    dtype = mutate.pick(random, [pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.String])
    rows.with_columns(w=pl.Series(weight.tolist()).cast(dtype)).write_parquet(folder / "weighted.parquet")
    repeated.write_parquet(folder / "repeated.parquet")
    line = mutate.pick(random, COUNTING_LINES)
    equivalent_line = _filled_line(line, folder, "repeated.parquet")
    return Scenario(
        line=_filled_line(line, folder, "weighted.parquet", "--weight", "w"),
        judge=lambda _: None,
        equivalent_line=equivalent_line,
    )


def columns(random: mutate.Random, folder: Path, _seeds: Seeds) -> Scenario:
    """Compare results for another order of columns, additional columns and another format."""
    rows = _draw_rows(random)
    rows.write_parquet(folder / "plain.parquet")
    column_name = mutate.pick(
        random, ["", "Score", "a,b", 'q"', "decision", "\ufeff", "é", "x" * 200, "label ", "1"]
    )
    changed_rows = rows.with_columns(pl.lit("x").alias(column_name))
    changed_rows = changed_rows.select(random.permutation(changed_rows.columns).tolist())
    if mutate.pick(random, ["csv", "parquet"]) == "csv":
        changed_rows.write_csv(folder / "mixed.csv")
        name = "mixed.csv"
    else:
        changed_rows.write_parquet(folder / "mixed.parquet")
        name = "mixed.parquet"
    line = mutate.pick(random, COUNTING_LINES)
    return Scenario(
        line=_filled_line(line, folder, name),
        judge=lambda _: None,
        equivalent_line=_filled_line(line, folder, "plain.parquet"),
    )


def judge_scenario(scenario: Scenario, outcome: Outcome, second_outcome: Outcome | None) -> str | None:
    """Return the fault of the outcome of a scenario, or None."""
    return scenario.judge(outcome) or (
        None if second_outcome is None else _difference(outcome, second_outcome)
    )


def clean_up(scenario: Scenario) -> None:
    """Remove the files of a scenario."""
    for path in scenario.created_paths:
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)


SCENARIOS = {
    "descriptors": descriptors,
    "addresses": addresses,
    "discovered": discovered_configuration,
    "weights": weights,
    "columns": columns,
}
