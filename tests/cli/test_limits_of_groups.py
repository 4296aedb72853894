"""Tests of limits on groups, classes and columns: for every option that makes such, in every command."""

import numpy as np
import polars as pl
import pytest
import typer.main

from uqcli.base import defaults
from uqcli.base.errors import DataError
from uqcli.cli.app import program
from uqcli.engines.refusals import require_few_groups

ROWS = 600
GROUPS = 120

LIMITED = {
    ("overview", "--audit"): ("overview", "rows.parquet"),
    ("boundary", "--by"): ("boundary", "rows.parquet", "--precision", "0.6"),
    ("tce", "--by"): ("tce", "rows.parquet"),
    ("tce", "--audit"): ("tce", "rows.parquet"),
    ("calibrate", "--partition"): ("calibrate", "rows.parquet", "--method", "heterogeneous"),
    ("conformal", "--by"): ("conformal", "rows.parquet", "--proba", "p_*"),
    ("evaluate", "--by"): ("evaluate", "rule.json", "rows.parquet"),
    ("evaluate", "--audit"): ("evaluate", "rule.json", "rows.parquet"),
    ("backtest", "--by"): ("backtest", "rows.parquet", "--day", "day", "--every", "9d", "--precision", "0.6"),
}
"""Command lines that take an option of groups; a new command with one adds its own."""

UNLIMITED = {
    ("boundary", "--per"): ("boundary", "rows.parquet", "--top", "1"),
    ("boundary", "--cluster"): ("boundary", "rows.parquet", "--precision", "0.6"),
    ("boundary", "--day"): ("boundary", "rows.parquet", "--precision", "0.6"),
    ("tce", "--cluster"): ("tce", "rows.parquet"),
    ("calibrate", "--cluster"): ("calibrate", "rows.parquet", "--method", "platt"),
    ("conformal", "--cluster"): ("conformal", "rows.parquet", "--proba", "p_*"),
    ("evaluate", "--cluster"): ("evaluate", "rule.json", "rows.parquet"),
    ("evaluate", "--day"): ("evaluate", "rule.json", "rows.parquet"),
    ("evaluate", "--per"): ("evaluate", "rule.json", "rows.parquet", "--top", "1"),
    ("watch", "--day"): ("watch", "rule.json", "rows.parquet", "--state", "state.json"),
    ("backtest", "--day"): ("backtest", "rows.parquet", "--every", "9d", "--precision", "0.6"),
    ("backtest", "--per"): ("backtest", "rows.parquet", "--day", "day", "--every", "9d", "--top", "1"),
    ("apply", "--per"): ("apply", "rule.json", "rows.parquet", "--top", "1", "-o", "out.csv"),
}

CLASSES = {
    "boundary": ("--precision", "0.6"),
    "tce": (),
    "calibrate": ("--method", "temperature"),
    "conformal": (),
    "shift": ("--target", "rows.parquet"),
}
"""Commands that find the classes of ``--proba`` in the rows, with what else they need."""

FROM_RULES = {"apply", "evaluate", "sample", "watch"}
"""Commands that take them from a rule."""


def options_of(command):
    """Return the options of a command."""
    made = typer.main.get_command(program((command,)))
    return {option for parameter in made.commands[command].params for option in parameter.opts}


def commands():
    return typer.main.get_command(program()).commands


@pytest.fixture
def rows(prepared, uqcli):
    """Rows with many groups and days, and a rule fitted on them."""
    prepared(_write_rows)


def _write_rows():
    random = np.random.default_rng(3)
    score = random.random(ROWS)
    group = np.arange(ROWS) % GROUPS
    day = np.datetime64("2026-01-01") + group
    pl.DataFrame(
        {
            "score": score,
            "label": (random.random(ROWS) < score).astype(np.int8),
            "p_0": 1 - score,
            "p_1": score,
            "group": [f"group {number}" for number in group],
            "day": [str(name) for name in day],
            "half": [f"half {number % 2}" for number in range(ROWS)],
        }
    ).write_parquet("rows.parquet")
    from tests.cli.conftest import fit

    fit("boundary rows.parquet --precision 0.6 -o rule.json")


def test_every_command_with_groups_or_classes_has_a_case():
    for name in commands():
        options = options_of(name)
        for option in {"--by", "--partition", "--audit"} & options:
            assert (name, option) in LIMITED
        for option in {"--per", "--day"} & options:
            assert (name, option) in UNLIMITED or name == "shift"
        assert ("--proba" in options) == (name in CLASSES or name in FROM_RULES)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(("name", "option"), LIMITED)
def test_so_many_groups_pass_and_one_more_is_refused(uqcli, monkeypatch, name, option):
    line = (*LIMITED[name, option], option, "group")
    monkeypatch.setattr(defaults, "MAX_GROUPS", GROUPS - 1)
    outcome = uqcli(*line)
    assert (outcome.code, len(outcome.err.splitlines())) == (3, 1), outcome.err
    assert f"'group' has more than {GROUPS - 1} groups" in outcome.err
    assert "--cluster" in outcome.err
    monkeypatch.setattr(defaults, "MAX_GROUPS", GROUPS)
    assert "groups with results" not in uqcli(*line).err


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(("name", "option"), [key for key in LIMITED if key[1] != "--by"])
def test_groups_of_several_columns_are_counted_together(uqcli, monkeypatch, name, option):
    monkeypatch.setattr("uqcli.audit.segments.MIN_ROWS", 1)
    monkeypatch.setattr(defaults, "MAX_GROUPS", GROUPS)
    outcome = uqcli(*LIMITED[name, option], option, "group,half")
    if option == "--partition":  # each group is in one half
        assert "groups with results" not in outcome.err
        monkeypatch.setattr(defaults, "MAX_GROUPS", GROUPS - 1)
        outcome = uqcli(*LIMITED[name, option], option, "half,group")
    assert outcome.code == 3, outcome.err
    assert f"more than {defaults.MAX_GROUPS} groups" in outcome.err


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(("name", "option"), UNLIMITED)
def test_clusters_days_and_capacities_have_no_limit(uqcli, monkeypatch, name, option):
    monkeypatch.setattr(defaults, "MAX_GROUPS", 2)
    outcome = uqcli(*UNLIMITED[name, option], option, "day" if option in {"--day", "--per"} else "group")
    assert outcome.code == 0, outcome.err


@pytest.mark.usefixtures("rows")
def test_labels_of_another_file_have_no_limit(uqcli, monkeypatch):
    frame = pl.read_parquet("rows.parquet").with_row_index("id")
    frame.select("id", "label").write_parquet("labels.parquet")
    frame.drop("label").write_parquet("scores.parquet")
    monkeypatch.setattr(defaults, "MAX_GROUPS", 2)
    assert uqcli("tce", "scores.parquet", "--labels", "labels.parquet", "--on", "id").code == 0


@pytest.mark.usefixtures("rows")
def test_a_rule_of_many_groups_is_applied(uqcli, monkeypatch):
    line = ("boundary", "rows.parquet", "--precision", "0.6", "--by", "group", "--min-group", "1")
    assert uqcli(*line, "-o", "groups.json", "-q").code == 0
    monkeypatch.setattr(defaults, "MAX_GROUPS", 2)
    monkeypatch.setattr(defaults, "MAX_CLASSES", 1)
    assert uqcli("apply", "groups.json", "rows.parquet", "-o", "out.csv").code == 0


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("columns", [("p_*",), ("p_0,p_1",), ("p_0,p_1", "--classes", "0,1")])
def test_so_many_classes_pass_and_one_more_is_refused(uqcli, monkeypatch, name, columns):
    line = (name, "rows.parquet", *CLASSES[name], "--proba", *columns)
    monkeypatch.setattr(defaults, "MAX_CLASSES", 1)
    outcome = uqcli(*line)
    assert (outcome.code, len(outcome.err.splitlines())) == (3, 1), outcome.err
    assert "at most 1 classes" in outcome.err
    monkeypatch.setattr(defaults, "MAX_CLASSES", 2)
    assert "at most 2 classes" not in uqcli(*line).err


def test_the_limits_are_those_that_are_documented():
    assert (defaults.MAX_GROUPS, defaults.MAX_CLASSES) == (100_000, 1_000)
    require_few_groups(100_000, "g")
    with pytest.raises(DataError):
        require_few_groups(100_001, "g")


def test_a_column_of_a_hundred_thousand_and_one_groups_is_refused(uqcli, tmp_path):
    rows = defaults.MAX_GROUPS + 1
    pl.DataFrame(
        {"score": np.linspace(0, 1, rows), "label": np.arange(rows) % 2, "id": np.arange(rows)}
    ).write_parquet(tmp_path / "ids.parquet")
    outcome = uqcli("tce", tmp_path / "ids.parquet", "--by", "id")
    assert (outcome.code, "'id' has more than 100,000 groups" in outcome.err) == (3, True)


def test_overview_looks_at_the_first_columns_and_those_named(uqcli, tmp_path, monkeypatch):
    random = np.random.default_rng(5)
    score = random.random(300)
    frame = pl.DataFrame(
        {
            **{f"c{number}": random.random(300) for number in range(20)},
            "score": score,
            "label": (random.random(300) < score).astype(np.int8),
            "late": random.random(300),
        }
    )
    frame.write_csv(tmp_path / "wide.csv")
    sentence = "of 23 columns, only the first 5 and those that options name were looked at."
    every = uqcli("overview", tmp_path / "wide.csv", "--json").json
    assert {"c19", "late"} <= set(every["could_be_uncertainty"])
    assert sentence not in every["odd"]
    monkeypatch.setattr(defaults, "MAX_LOOKED_AT", 5)
    few = uqcli("overview", tmp_path / "wide.csv", "--json").json
    assert few["could_be_uncertainty"] == [f"c{number}" for number in range(5)]
    assert sentence in few["odd"]
    assert sentence in uqcli("overview", tmp_path / "wide.csv").out.decode().replace("\n", " ")
    named = uqcli("overview", tmp_path / "wide.csv", "--uncertainty", "late", "--json").json
    assert [compared["uncertainty"] for compared in named["uncertainty"]["compared"]] == ["late"]
