"""Columns whose names polars reads as patterns are plain names, in every command and format."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

NAMES = {"score": "^s.*$", "uncertainty": "^.*$", "label": "^label$", "shop": "^(a|b)$", "id": "^id$"}
READ = "--score {score} --label {label}"
COMMANDS = {
    "boundary": "boundary {input} --precision 0.6 --score-bins 20 --by {shop} --min-group 50 "
    "--uncertainty {uncertainty} -q -o rule.json",
    "evaluate": "evaluate rule.json {input} --by {shop} --audit {shop} --cluster {id} --json",
    "tce": "tce {input} --by {shop} --bootstrap 0 --json",
    "calibrate": "calibrate {input} --method heterogeneous --partition {shop} --min-leaf 20 -q -o map.json",
    "overview": "overview {input} --uncertainty {uncertainty} --json",
    "watch": "watch rule.json {input} --cluster {id} --json",
}


def rows():
    random = np.random.default_rng(6)
    score = random.random(300)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.random(300),
            "label": (random.random(300) < score).astype(int),
            "shop": random.choice(["x", "y"], 300),
            "id": random.integers(0, 40, 300),
        }
    )


WRITERS = {
    "csv": pl.DataFrame.write_csv,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
    "jsonl": pl.DataFrame.write_ndjson,
}


def run_all(uqcli, folder, names, ending, monkeypatch):
    """Run all commands in a folder of its own, and return their reports without the names."""
    Path(folder).mkdir()
    monkeypatch.chdir(folder)
    frame = rows().rename(names)
    WRITERS[ending](frame, f"rows.{ending}")
    reports = []
    for command, line in COMMANDS.items() if ending != "arrow" else list(COMMANDS.items())[:3]:
        words = [part.format(input=f"rows.{ending}", **names) for part in line.split()]
        read = [] if command in ("evaluate", "watch") else [part.format(**names) for part in READ.split()]
        outcome = uqcli(*words, *read)
        assert outcome.code in (0, 6), outcome.err
        if outcome.out:
            reports.append(outcome.json["metrics"])
    for output in WRITERS:
        line = f"apply rule.json rows.{ending} -q -o applied.{output} --prefix ^ --on-invalid keep"
        assert uqcli(*line.split()).code == 0
    reports += [pl.read_parquet("applied.parquet").columns[-1], pl.read_parquet("applied.parquet").rows()]
    monkeypatch.chdir("..")
    return reports


@pytest.mark.parametrize(
    "ending", [pytest.param(name, marks=[] if name == "arrow" else pytest.mark.thorough) for name in WRITERS]
)
def test_results_are_those_of_plain_names(uqcli, monkeypatch, ending):
    plain = run_all(uqcli, "plain", {name: name for name in NAMES}, ending, monkeypatch)
    assert run_all(uqcli, "patterns", NAMES, ending, monkeypatch) == plain
