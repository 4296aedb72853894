"""Tests of rows without an uncertainty: one threshold is found, as if none had been asked for."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

SAID = "The rows have no uncertainty column, so only the score decides."


def write_files():
    rng = np.random.default_rng(1)
    score = rng.random(2_000).round(3)
    rows = pl.DataFrame(
        {
            "score": score,
            "label": (rng.random(2_000) < score).astype(int),
            "group": rng.choice(["a", "b"], 2_000),
            "amount": rng.integers(1, 9, 2_000),
        }
    )
    rows.write_csv("rows.csv")
    rows.write_parquet("rows.parquet")
    rows.with_columns(uncertainty=pl.lit(0.5)).write_csv("more.csv")
    rows.with_columns(Uncertainty=pl.lit(0.5)).write_csv("cased.csv")


@pytest.fixture(autouse=True)
def files(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared(write_files)


LINES = [
    "--precision 0.7",
    "--precision 0.7 --margin 1",
    "--recall 0.5 --certify 0.2",
    "--precision 0.7 --by group",
    "--precision 0.7 --by group --bound each --certify 0.2",
    "--precision 0.7 --review 10%",
    "--precision 0.6 --miss 0.4 --certify 0.4",
    "--gain amount --cost 2",
    "--precision 0.7 --frontier curve.csv",
    "--precision 0.7 --algorithm vw-dpmt",
    "--max-selected 5%",
]


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("line", LINES)
def test_one_threshold_is_found_and_the_report_says_why(uqcli, line):
    found = uqcli("boundary", "rows.csv", *line.split(), "-o", "found.json")
    assert found.code == 0
    assert SAID in found.out.decode()
    alone = uqcli("boundary", "rows.csv", *line.split(), "--uncertainty-bins", "1", "-q", "-o", "one.json")
    assert alone.code == 0
    assert Path("found.json").read_bytes() == Path("one.json").read_bytes()


def test_several_bounds_say_it_once(uqcli):
    found = uqcli("boundary", "rows.csv", "--precision", "0.7,0.8")
    assert found.code == 0
    assert found.out.decode().count(SAID) == 1


@pytest.mark.parametrize(
    "line", ["--uncertainty-bins 1", "--algorithm st", "--algorithm st --certify 0.2", "--uncertainty score"]
)
def test_nothing_is_said_if_none_was_wanted_or_one_was_named(uqcli, line):
    found = uqcli("boundary", "rows.csv", "--precision", "0.7", *line.split())
    assert found.code == 0
    assert SAID not in found.out.decode()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("rows.csv --compare", 2),
        ("rows.csv --compare --certify 0.2", 2),
        ("rows.csv --uncertainty uncertainty", 3),
        ("rows.csv --uncertainty=-spread", 3),
        ("rows.csv --compare --uncertainty spread", 3),
        ("rows.csv --uncertainty-bins 4", 3),
        ("rows.csv --algorithm hr", 3),
        ("more.csv rows.csv", 3),
        ("rows.csv more.csv", 3),
        ("cased.csv", 3),
    ],
)
def test_what_needs_an_uncertainty_is_refused_without_one(uqcli, line, code):
    found = uqcli("boundary", *line.split(), "--precision", "0.7")
    assert found.code == code
    assert "uncertainty" in found.err or "spread" in found.err


def test_every_format_and_pipe_gives_the_same_rule(uqcli):
    for name in ("rows.csv", "rows.parquet"):
        assert uqcli("boundary", name, "--precision", "0.7", "-q", "-o", f"{name}.json").code == 0
    piped = uqcli("boundary", "-", "--precision", "0.7", "-q", "-o", "-", stdin=Path("rows.csv").read_bytes())
    assert piped.out == Path("rows.csv.json").read_bytes() == Path("rows.parquet.json").read_bytes()


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("--precision 70%", "--precision 0.7"),
        ("--precision 62.5%", "--precision 0.625"),
        ("--recall 50%", "--recall 0.5"),
        ("--max-fpr 5%", "--max-fpr 0.05"),
        ("--precision 60% --recall 10%", "--precision 0.6 --recall 0.1"),
        ("--precision 70% --miss 30%", "--precision 0.7 --miss 0.3"),
        ("--precision 70% --certify 20%", "--precision 0.7 --certify 0.2"),
    ],
)
def test_a_share_may_be_typed_as_a_percentage(uqcli, typed, plain):
    for name, line in (("typed.json", typed), ("plain.json", plain)):
        assert uqcli("boundary", "rows.csv", *line.split(), "-q", "-o", name).code == 0
    assert Path("typed.json").read_bytes() == Path("plain.json").read_bytes()


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        ("boundary rows.csv --precision 0.7", True),
        ("boundary rows.csv --precision 0.7 --certify 0.2", True),
        ("boundary rows.csv --precision 0.7 --margin 1", False),
        ("boundary rows.csv --precision 0.7 --compare", False),
        ("overview rows.csv", False),
    ],
)
def test_the_error_of_a_missing_uncertainty_names_st_where_the_command_takes_it(uqcli, line, is_named):
    outcome = uqcli(*line.split(), "--uncertainty", "sd")
    assert (outcome.code, "--algorithm st" in outcome.err) == (3, is_named)


@pytest.mark.parametrize("value", ["101%", "%", "-1%", "0%", "1e%"])
def test_a_percentage_is_within_its_bounds(uqcli, value):
    assert uqcli("boundary", "rows.csv", f"--precision={value}").code == 2


def test_help_is_a_word(uqcli):
    assert uqcli("help").out == uqcli("--help").out
    assert uqcli("help", "tce").out == uqcli("tce", "--help").out
    assert uqcli("help", "tec").code == 2
