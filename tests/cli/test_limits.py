"""Tests of limits: too large numbers are refused at once, before they cost time or memory."""

import json
from fractions import Fraction

import numpy as np
import pytest

from uqcli.api.functions import find_boundary
from uqcli.base import defaults
from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import check_size, decimal, size
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.tce.options import MeasureOptions

TINY = "1e-99999999"
CLASSES = ("conformal", "data.parquet", "--mode", "label-conditional")

EXACT_NUMBERS = {
    "alpha": ("conformal", "data.parquet", "--alpha", TINY),
    "alpha of many digits": ("conformal", "data.parquet", "--alpha", "0." + "1" * 100_000),
    "alpha by class": (*CLASSES, "--alpha-by-class", f"1={TINY}"),
    "precision": ("boundary", "data.parquet", "--precision", TINY),
    "recall": ("boundary", "data.parquet", "--recall", TINY),
    "max-fpr": ("boundary", "data.parquet", "--max-fpr", TINY),
    "min-specificity": ("boundary", "data.parquet", "--min-specificity", TINY),
    "max-selected": ("boundary", "data.parquet", "--max-selected", "1e99999999"),
    "max-selected %": ("boundary", "data.parquet", "--max-selected", f"{TINY}%"),
    "gain": ("boundary", "data.parquet", "--gain", "1e99999999", "--cost", "1"),
    "cost": ("boundary", "data.parquet", "--gain", "1", "--cost", TINY),
    "tce alpha": ("tce", "data.parquet", "--alpha", TINY),
    "confidence": ("evaluate", "boundary.json", "data.parquet", "--confidence", TINY),
    "check": ("tce", "data.parquet", "--fail-if", "tce < 1e99999999"),
    "seed of many digits": ("conformal", "data.parquet", "--seed", "1" * 100_000),
}


@pytest.mark.usefixtures("artifact", "data")
@pytest.mark.parametrize("number", EXACT_NUMBERS)
def test_exact_numbers_are_bounded_before_they_are_expanded(uqcli, number):
    outcome = uqcli(*EXACT_NUMBERS[number])  # expanding one would take hours
    assert outcome.code == 2
    assert len(outcome.err.splitlines()) == 1


def test_a_configured_number_of_many_digits_is_refused(uqcli, data, tmp_path):
    (tmp_path / "uqcli.toml").write_text(f"[tce]\nn-bins = {'9' * 5000}\n")
    outcome = uqcli("tce", data)
    assert outcome.code == 2
    assert "uqcli.toml" in outcome.err


@pytest.mark.parametrize("value", [TINY, "0." + "1" * 10_000_000])
def test_alphas_of_a_rule_file_are_bounded(uqcli, data, tmp_path, value):
    path = tmp_path / "sets.json"
    assert uqcli("conformal", data, "--mode", "label-conditional", "-o", path, "-q").code == 0
    content = json.loads(path.read_text())
    content["parameters"]["alpha_by_class"] = {"1": value}
    path.write_text(json.dumps(content))
    assert uqcli("evaluate", path, data).code in (0, 5)


def test_decimals_are_exact_and_bounded():
    assert decimal("x", "+1.50e-2") == Fraction(15, 1000)
    assert decimal("x", ".5", above=0, at_most=1) == Fraction(1, 2)
    for text in ("1/2", "nan", "inf", "-0", "1_0", " 1", "", ".", "e1", "1e", "٣", "1e100", "1" * 31):
        with pytest.raises(UsageError):
            decimal("x", text)
    for text, bounds in (
        ("0", {"above": 0}),
        ("1", {"below": 1}),
        ("1.0000000000000000000000001", {"at_most": 1}),
    ):
        with pytest.raises(UsageError):
            decimal("x", text, **bounds)


TOO_MANY, FAR_TOO_MANY = str(defaults.MAX_BINS + 1), str(10**12)
TOO_MANY_BINS = [
    (command, *option, count)
    for count in (TOO_MANY, FAR_TOO_MANY, "9" * 5000)
    for command, option in (
        ("bin", ("--score-bins",)),
        ("bin", ("--uncertainty-bins",)),
        ("bin", ("--binning", "pava-bc", "--n-min")),
        ("bin", ("--binning", "pava-bc", "--n-max")),
        ("boundary", ("--precision", "0.5", "--score-bins")),
        ("boundary", ("--precision", "0.5", "--uncertainty-bins")),
        ("calibrate", ("--method", "histogram", "--n-bins")),
        ("calibrate", ("--method", "mist", "--uncertainty-bins")),
        ("calibrate", ("--method", "heterogeneous", "--features", "id", "--min-leaf")),
        ("calibrate", ("--method", "heterogeneous", "--features", "id", "--max-depth")),
        ("tce", ("--n-bins",)),
        ("tce", ("--n-min",)),
        ("tce", ("--n-max",)),
        ("tce", ("--bootstrap",)),
    )
]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("words", TOO_MANY_BINS, ids=lambda words: " ".join(words)[:60])
def test_numbers_of_bins_are_bounded_in_every_command(uqcli, words):
    command, *options = words
    outcome = uqcli(command, "data.parquet", *options)
    assert outcome.code == 2, outcome.err
    assert len(outcome.err) < 500
    assert len(outcome.err.splitlines()) == 1


def test_a_grid_of_too_many_cells_is_refused(uqcli, data):
    for command in (("bin",), ("boundary", "--precision", "0.5")):
        bins = ("--uncertainty-bins", "5000", "--score-bins", "500000")
        outcome = uqcli(command[0], data, *command[1:], *bins)
        assert outcome.code == 2
        assert "cells" in outcome.err


def test_the_api_also_bounds_numbers_of_bins():
    score, label = np.array([0.1, 0.4, 0.6, 0.9]), np.array([0, 1, 0, 1])
    with pytest.raises(UsageError):
        find_boundary(score, label, precision="0.6", score_bins=defaults.MAX_BINS + 1)
    with pytest.raises(UsageError):
        find_boundary(
            score,
            label,
            uncertainty=score,
            precision="0.6",
            uncertainty_bins=defaults.MAX_UNCERTAINTY_BINS + 1,
        )
    for options in ({"n_bins": 10**9}, {"uncertainty_bins": 10**5}, {"min_leaf": 10**9}, {"n_bins": 0}):
        with pytest.raises(UsageError):
            CalibrationOptions(**options).check()
    for options in ({"n_bins": 10**9}, {"n_min": 10**9}, {"n_max": 10**20}, {"n_min": 0}):
        with pytest.raises(UsageError):
            MeasureOptions(**options).check()
    assert size("--n-bins", str(defaults.MAX_BINS)) == check_size("bins", defaults.MAX_BINS)


def test_the_memory_of_ew_dpmt_is_checked_beforehand(uqcli, data, tmp_path, monkeypatch):
    bins = ("--uncertainty-bins", "1000", "--score-bins", "1000", "--precision", "0.5")
    outcome = uqcli("boundary", data, *bins, "--algorithm", "ew-dpmt")
    assert outcome.code == 3
    assert "8.0 GB" in outcome.err
    assert "--algorithm vw-dpmt" in outcome.err
    monkeypatch.setattr(defaults, "MAX_TABLE_BYTES", 1000)
    grid = tmp_path / "grid.json"
    assert uqcli("bin", data, "-o", grid, "-q").code == 0
    refused = uqcli("boundary", "--grid", grid, *bins[4:], "--algorithm", "ew-dpmt")
    assert (refused.code, "--algorithm vw-dpmt" in refused.err) == (3, True)
    all_algorithms = uqcli("boundary", data, "--precision", "0.5", "--algorithm", "all", "--json")
    assert all_algorithms.code == 0, all_algorithms.err
    assert "ew-dpmt does not apply: it needs a table of " in str(all_algorithms.json["notes"])


def test_the_largest_allowed_numbers_are_accepted(uqcli, data):
    assert uqcli("conformal", data, "--seed", str(defaults.MAX_SEED), "-q").code == 0
