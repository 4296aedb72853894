"""Tests of errors that say what was meant: foreign words, percentages, usual names of columns."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit


def write_files():
    random = np.random.default_rng(0)
    score = random.random(400)
    frame = pl.DataFrame({"score": score, "label": (random.random(400) < score).astype(int)})
    frame.write_csv("fit.csv")
    frame.with_columns(pl.col("score") * 100).write_csv("percent.csv")
    frame.rename({"score": "Prob", "label": "y"}).write_csv("names.csv")
    frame.select(p_cat=1 - pl.col("score"), p_dog="score", label="label").write_csv("animals.csv")
    frame.rename({"score": " score ", "label": "label\xa0"}).write_csv("blanks.csv")
    frame.rename({"score": "Pru\u0308fwert"}).write_csv("accents.csv")
    frame.with_columns(a=1, b=2).write_csv("groups.csv")
    frame.select(p_0=1 - pl.col("score"), p_1="score", label="label").write_csv("classes.csv")
    fit("boundary fit.csv --recall 0.5 --algorithm st -o rule.json")
    Path("bad.state").write_text('{"kind": 1')


@pytest.fixture
def files(prepared):
    prepared(write_files)


CASES = {
    "tce percent.csv": (3, "divide them by 100 if they are percentages"),
    "calibrate percent.csv": (3, "divide them by 100 if they are percentages"),
    "conformal percent.csv": (3, "divide them by 100 if they are percentages"),
    "apply fit.csv fit.csv": (5, "'fit.csv' holds rows, not a rule"),
    "show fit.csv": (5, "uqcli boundary fit.csv --precision 0.9 -o rule.json"),
    "evaluate rule.json fit.csv --threshold 0.5": (2, "thresholds are those of the rule file"),
    "boundary fit.csv --threshold 0.5": (2, "did you mean --precision or --recall"),
    "conformal fit.csv --coverage 0.9": (2, "did you mean --alpha?"),
    "fit fit.csv": (2, "did you mean boundary or calibrate?"),
    "fti.csv": (2, "No such command 'fti.csv'; no file has this name either"),
    "overview classes.csv": (3, "or take uqcli tce with --proba 'p_*' for class probabilities"),
    "boundaries fit.csv": (2, "did you mean boundary?"),
    "simulate posterior --rows 5": (2, "take a file of sample_data/"),
    "sample rule.json fit.csv --for precision": (2, "neither --budget nor --plan"),
    "sample rule.json fit.csv --budget 5": (2, "Missing option '--for'. Choose from: precision, recall"),
    "sample rule.json fit.csv --plan 0.1": (2, "Missing option '--for'. Choose from: precision, recall"),
    "sample rule.json fit.csv --for recall --budget 5 --plan 0.1": (
        2,
        "cannot be combined; a plan writes no rows",
    ),
    "boundary fit.csv --recal 0.5": (
        2,
        "No such option: --recal; did you mean --recall? see uqcli boundary --help",
    ),
    "boundary fit.csv --recall 0.5 --algorithm smoth": (2, "did you mean smooth?"),
    "tce names.csv": (3, "which has Prob, y; give --score Prob --label y"),
    "tce fit.csv --score other": (
        3,
        "no column 'other' in 'fit.csv', which has score, label; name one of them with --score",
    ),
    "conformal classes.csv": (3, "or give --proba 'p_*' for class probabilities"),
    "conformal animals.csv": (3, "name one of them with --score, or give --proba 'p_*' for class"),
    "tce blanks.csv": (3, "did you mean ' score '? name it with --score"),
    "tce blanks.csv --delimiter ,": (3, "did you mean ' score '? name it with --score"),
    "tce accents.csv --score Pr\xfcfwert": (3, "did you mean 'Pru\\u0308fwert'? rename it"),
    "tce groups.csv --by a,b": (3, "--by takes one column: write their values into one, and name it"),
    "boundary fit.csv --gain $100 --cost 1 --algorithm st": (3, "give --gain NUMBER or COLUMN"),
    "boundary fit.csv --precision 80 --algorithm st": (2, "did you mean 0.8?"),
    "boundary fit.csv --precision 0,8": (2, "commas separate several bounds; did you mean 0.8?"),
    "boundary fit.csv --precision 0.5 --recall 0,8": (2, "did you mean 0.8?"),
    "boundary fit.csv --precision 1.01": (2, "above 0 and at most 1\n"),
    "boundary fit.csv --recall 0.5 --certify 90": (2, "above 0 and below 1\n"),
    "conformal fit.csv --alpha 10": (2, "did you mean 0.1?"),
    "tce fit.csv --alpha 5": (2, "did you mean 0.05?"),
    "evaluate rule.json fit.csv --confidence 95": (2, "did you mean 0.95?"),
    "boundary fit.csv -precision 0.8": (2, "No such option: -precision; did you mean --precision? see"),
    "boundary fit.csv -p 0.8": (2, "No such option: -p; see uqcli boundary --help"),
    "boundary fit.csv --precision": (2, "requires an argument; see uqcli boundary --help"),
    "boundary fit.csv --max-selected 200% --algorithm st": (2, "max-selected is '200%'; expected"),
    "watch rule.json fit.csv --state bad.state": (
        5,
        "expected the state of a watch; restore it, or name another --state FILE",
    ),
}
"""Exit code and a part of the message, by command line."""


@pytest.mark.parametrize("line", CASES)
def test_an_error_says_what_was_meant(uqcli, files, line):
    code, part = CASES[line]
    found = uqcli(*line.split())
    assert (found.code, found.out) == (code, b"")
    assert part in found.err


def test_the_simpler_of_two_equally_good_rules_is_named(uqcli, files, tmp_path):
    frame = pl.read_csv(tmp_path / "fit.csv").with_columns(uncertainty=pl.arange(pl.len()) % 7)
    frame.write_csv(tmp_path / "two.csv")
    fit = ("--recall", "0.5", "--algorithm", "smooth", "--uncertainty-bins", "2", "-q", "-o", "bins.json")
    assert uqcli("boundary", "two.csv", *fit).code == 0
    text = " ".join(uqcli("evaluate", "bins.json", "rule.json", "two.csv", "--verbose").out.decode().split())
    assert "The two rules do not differ significantly: use rule.json, the simpler rule." in text
    again = " ".join(uqcli("evaluate", "rule.json", "rule.json", "two.csv", "--verbose").out.decode().split())
    assert "either will do, so keep" in again


@pytest.mark.parametrize(
    "line",
    [
        "boundary fit.csv --recall 0.5 --algorithm smooth --uncertainty score --certify 0.9",
        "conformal fit.csv --alpha 0.9",
        "tce fit.csv --alpha 0.95",
        "watch rule.json fit.csv --delta 0.9",
    ],
)
def test_a_risk_that_may_be_meant_as_a_confidence_is_cautioned_of(uqcli, files, line):
    *usual, option, risk = line.split()
    assert f"{option} {risk} is the probability of an error" in uqcli(*line.split(), "--verbose").out.decode()
    cautions = uqcli(*line.split(), "--json").json["cautions"]
    assert any(f"give {option} {1 - float(risk):.4g}" in sentence for sentence in cautions)
    assert "probability of an error" not in uqcli(*usual, option, "0.5", "--verbose").out.decode()


def test_errors_of_numbers_name_the_value_and_what_was_expected(uqcli, files):
    for value, expected in (("five", "whole number"), ("1.5", "whole number"), ("-1", "at least 0")):
        outcome = uqcli("boundary", "fit.csv", "--recall", "0.5", "--seed", value)
        assert outcome.code == 2
        assert value in outcome.err
        assert expected in outcome.err or "integer" in outcome.err or "range" in outcome.err  # of older typer
        assert "Input should" not in outcome.err


def test_a_check_of_a_percentage_or_a_number_takes_large_values(uqcli, files):
    assert uqcli("tce", "fit.csv", "--binning", "quantile", "--fail-if", "tce > 99").code == 0
    assert uqcli("evaluate", "rule.json", "fit.csv", "--fail-if", "rows > 1000").code == 0
