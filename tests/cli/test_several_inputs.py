"""Tests of cautions on several inputs that are scores of the same rows by several models."""

import shutil

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit

SHARED = "are in several inputs, and each is counted as another row"
SIMILAR = "the inputs have the same numbers of rows and of labels, but other scores"


def frame_of(seed, rows=500, first=0):
    """Return rows that differ between seeds in their scores only."""
    truth = np.random.default_rng(0).random(first + rows)[first:]
    noise = np.random.default_rng(seed).random((2, rows))
    return pl.DataFrame(
        {
            "id": np.arange(first, first + rows),
            "x1": truth.round(1),
            "x2": truth,
            "score": np.clip(truth + noise[0] / 9, 0, 1),
            "uncertainty": noise[1],
            "label": (np.random.default_rng(9).random(first + rows)[first:] < truth).astype(int),
        }
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame_of(1).write_csv("a.csv")
    frame_of(2).sample(fraction=1, shuffle=True, seed=1).write_parquet("b.parquet")
    frame_of(2)[:400].write_csv("part.csv")
    frame_of(3, first=500).write_csv("next.csv")
    frame_of(1)[:250].write_csv("a1.csv")
    frame_of(1)[250:].write_csv("a2.csv")
    return tmp_path


def cautions(outcome):
    assert outcome.code == 0, outcome.err
    return " ".join(outcome.json.get("cautions", []))


COMMANDS = {
    "tce": "tce {} --bootstrap 0",
    "boundary": "boundary {} --precision 0.6",
    "calibrate": "calibrate {} --method platt --bootstrap 0",
    "evaluate": "evaluate b.json {}",
}


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("engine", ["polars", "spark"])
@pytest.mark.parametrize("command", COMMANDS)
def test_two_models_are_not_pooled_in_silence(uqcli, files, command, engine):
    if command == "evaluate":
        fit("boundary a.csv --precision 0.6 -o b.json")
    for inputs in ("a.csv b.parquet", "part.csv a.csv"):
        line = COMMANDS[command].format(inputs)
        assert SHARED in cautions(uqcli(*line.split(), "--engine", engine, "--json"))
    line = COMMANDS[command].format("a.csv b.parquet").split()
    screen = uqcli(*line, "--engine", engine, "--verbose").out.decode()
    assert "Caution: Rows with the same id and label are in several inputs" in screen
    assert "run the command on each input alone" in screen
    for inputs in ("a.csv next.csv", "a1.csv a2.csv", "a.csv"):
        line = COMMANDS[command].format(inputs)
        assert "several models" not in cautions(uqcli(*line.split(), "--engine", engine, "--json"))


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("engine", ["polars", "spark"])
@pytest.mark.parametrize("dropped", [["id"], ["id", "x1", "x2"]])
def test_rows_without_an_id_are_recognised(uqcli, files, dropped, engine):
    for name, seed in (("a.csv", 1), ("b.csv", 2)):
        frame_of(seed).drop(dropped).write_csv(name)
    line = ("--bootstrap", "0", "--engine", engine, "--json")
    expected = SHARED if dropped == ["id"] else SIMILAR
    for inputs in (["a.csv", "b.csv"], ["b.csv", "a.csv"]):
        assert expected in cautions(uqcli("tce", *inputs, *line))
    shutil.copy("a.csv", "copy.csv")
    assert cautions(uqcli("tce", "a.csv", "copy.csv", *line)) == "" or dropped == ["id"]
    assert cautions(uqcli("tce", "a.csv", "./a.csv", *line)).endswith(": it is read once.")
    frame_of(3)[1:].drop(dropped).write_csv("b.csv")
    assert SIMILAR not in cautions(uqcli("tce", "a.csv", "b.csv", *line))


def test_later_rows_of_the_same_customers_are_other_rows(uqcli, files):
    later = frame_of(3).with_columns(label=1 - frame_of(3)["label"].sort())
    later.write_csv("later.csv")
    assert cautions(uqcli("tce", "a.csv", "later.csv", "--bootstrap", 0, "--json")) == ""


def test_a_folder_is_one_input(uqcli, files):
    (files / "parts").mkdir()
    for name in ("a1.csv", "a2.csv"):
        (files / name).rename(files / "parts" / name)
    line = ("--bootstrap", 0, "--json")
    assert uqcli("tce", "parts", *line).out == uqcli("tce", "a.csv", *line).out
