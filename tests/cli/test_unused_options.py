"""Tests of options that a run cannot use, and of files in the wrong place: they are refused, not ignored."""

from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import fit

ROWS = pl.DataFrame(
    {
        "score": [0.9, 0.8, 0.1, 0.3, 0.6, 0.4] * 20,
        "uncertainty": [1.5, 2.0, 0.5] * 40,
        "label": [1, 1, 0, 0, 1, 0] * 20,
        "size": [1, 2, 3] * 40,
    }
)


def write_files():
    ROWS.write_csv("rows.csv")
    ROWS.write_csv("other.csv")
    ROWS.drop("label").write_csv("new.csv")
    fit("boundary rows.csv --algorithm st --precision 0.9 -o rule.json")
    fit("bin rows.csv -o grid.json")
    ROWS.write_parquet("rows.parquet")


@pytest.fixture(autouse=True)
def files(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared(write_files)


UNUSED = {
    "tce rows.csv --title Scores": "--title without a page to head; expected --report FILE.html or FILE.md",
    "tce rows.csv --title Scores --report r.json": "--title without a page",
    "tce rows.csv --spark sc://host:1": "--spark is given without --engine spark",
    "tce rows.csv --binning quantile --n-min 5": "quantile; expected --binning pava-bc",
    "tce rows.csv --binning pava --n-max 5": "--n-max with --binning pava",
    "tce rows.csv --binning equispaced --bin-sizes paper": "--bin-sizes with --binning equispaced",
    "shift rows.csv --target new.csv --estimator em --confusion soft": "--confusion with --estimator em",
    "export rule.json --to python --dialect sqlite": "--dialect with --to python; expected --to sql",
    "export rule.json --to onnx -o rule.py": "a name that ends in .onnx; rename it, or give --to python",
    "export rule.json --to python -o rule.SQL": "a name that ends in .py; rename it, or give --to sql",
    "calibrate rows.csv --test rows.csv": "'rows.csv' is INPUT and --test; expected other rows there",
    "calibrate rows.csv other.csv --test ./other.csv": "name another file, or leave out --test",
    "calibrate rows.csv --method heterogeneous --features size --tree-data rows.csv": "INPUT and --tree-data",
    "uncertainty rows.csv --alpha1 size --alpha0 size -o o.csv": "both name the column 'size'",
    "boundary rows.csv --precision 0.9 -o rule.csv": "cannot write a rule to 'rule.csv'",
    "calibrate rows.csv -o map.html": "expected JSON; choose a name that ends in .json",
    "bin rows.csv -o grid.parquet": "expected JSON; choose a name that ends in .json",
    "apply new.csv rule.json": "'rule.json' comes after it; expected the rule file first; give rule.json",
    "watch rows.csv rule.json": "give rule.json rows.csv",
    "sample rows.csv rule.json --for precision --budget 3": "give rule.json rows.csv",
    "evaluate rows.csv": "no rule file among rows.csv",
    "evaluate": "no rule file given",
}


@pytest.mark.parametrize("line", UNUSED)
def test_what_a_run_cannot_use_is_refused(uqcli, tmp_path, line):
    before = sorted(path.name for path in tmp_path.iterdir())
    outcome = uqcli(*line.split())
    assert outcome.code == 2
    assert UNUSED[line] in outcome.err
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "r.json") == before


WRONG_KIND = {
    "boundary --grid rows.csv --precision 0.9": "uqcli bin rows.csv -o grid.json",
    "boundary --grid rule.json --precision 0.9": "expected kind grid; make one with uqcli bin",
    "bin rows.csv --edges rule.json": "expected kind grid; make one with uqcli bin",
    "evaluate rule.json rows.csv --shift rows.csv": "uqcli shift rows.csv --target NEW.csv -o shift.json",
    "calibrate rows.csv --shift grid.json": "expected kind shift; make one with uqcli shift",
    "sample rule.json new.csv --for recall --budget 3 --calibrator rule.json": "one with uqcli calibrate",
    "apply report.json new.csv": "is a report of uqcli tce, not a rule; expected a rule file, as -o",
    "apply other.json new.csv": "expected keys kind and format_version; check its name",
    "show cut.json": "check its name, and that it was written completely",
}


@pytest.mark.parametrize("line", WRONG_KIND)
def test_the_error_of_another_file_says_how_to_make_the_right_one(uqcli, tmp_path, line):
    (tmp_path / "report.json").write_bytes(uqcli("tce", "rows.csv", "--json").out)
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "cut.json").write_text((tmp_path / "rule.json").read_text()[:300])
    outcome = uqcli(*line.split())
    assert outcome.code == 5
    assert WRONG_KIND[line] in outcome.err


def test_a_configured_option_without_use_stays_without_effect(uqcli, tmp_path):
    expected = uqcli("tce", "rows.csv", "--binning", "quantile", "--json").json
    (tmp_path / "uqcli.toml").write_text("[tce]\ntitle = 'Scores'\nn-min = 5\n")
    assert uqcli("tce", "rows.csv", "--binning", "quantile", "--json").json == expected


def test_a_rule_whose_name_evaluate_does_not_know_is_to_be_renamed(uqcli, tmp_path):
    shown = uqcli(
        "boundary", "rows.csv", "--precision", "0.9", "--algorithm", "st", "-o", "rule.v2"
    ).out.decode()
    assert "Next: rename it to rule.v2.json, by which evaluate knows rules." in " ".join(shown.split())
    assert "rename the rule file" in uqcli("evaluate", "rule.v2", "rows.csv").err
    Path("rule.v2").rename("RULE.JSON")
    assert uqcli("evaluate", "RULE.JSON", "rows.csv", "-q").code == 0


def test_grids_that_are_merged_with_themselves_are_cautioned_of(uqcli):
    Path("copy.json").write_bytes(Path("grid.json").read_bytes())
    for names, words in (
        (("grid.json",) * 2, "a grid is named twice"),
        (("grid.json", "copy.json"), "same counts"),
    ):
        report = uqcli("bin", *names, "--merge", "--json").json
        assert any(words in sentence for sentence in report["cautions"])
    ROWS.head(60).write_csv("half.csv")
    fit("bin half.csv --edges grid.json -o half.json")
    assert uqcli("bin", "grid.json", "half.json", "--merge", "--json").json["cautions"] == []
