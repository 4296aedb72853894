"""Tests of columns named for the wrong role: they are refused, not used."""

import polars as pl
import pytest

from tests.cli.conftest import fit

ROWS = pl.DataFrame(
    {
        "id": range(60),
        "score": [0.9, 0.8, 0.1, 0.3, 0.6, 0.4] * 10,
        "uncertainty": [1.5, 2.0, 0.5] * 20,
        "label": [1, 1, 0, 0, 1, 0] * 10,
        "day": ["2026-03-01", "2026-03-02"] * 30,
    }
)


def write_files():
    ROWS.write_csv("rows.csv")
    ROWS.write_parquet("rows.parquet")
    ROWS.drop("label").write_csv("new.csv")
    ROWS.select("id", "label").write_csv("labels.csv")
    fit("boundary rows.csv --algorithm st --precision 0.9 -o rule.json")


@pytest.fixture(autouse=True)
def files(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared(write_files)


LABEL_TWICE = {
    "boundary rows.csv --precision 0.9 --score label": "--score",
    "boundary rows.parquet --precision 0.9 --uncertainty=-label": "--uncertainty",
    "boundary rows.csv --precision 0.9 --by label": "--by",
    "boundary rows.csv --precision 0.9 --cluster label": "--cluster",
    "boundary rows.csv --precision 0.9 --weight label": "--weight",
    "boundary rows.csv --gain label --cost 1": "--gain",
    "boundary new.csv --labels labels.csv --on id --precision 0.9 --score label": "--score",
    "tce rows.csv --by label": "--by",
    "tce rows.csv --proba score,label": "--proba",
    "conformal rows.csv --by label": "--by",
    "evaluate rule.json rows.csv --label score": "--score",
    "evaluate rule.json rows.csv --sampling-weight label": "--sampling-weight",
    "watch rule.json rows.csv --day label": "--day",
}


@pytest.mark.parametrize("line", LABEL_TWICE)
def test_the_label_has_no_other_role(uqcli, line):
    outcome = uqcli(*line.split())
    assert outcome.code == 2
    option = LABEL_TWICE[line]
    assert f"--label and {option} both name the column" in outcome.err
    assert f"give {option} or --label another COLUMN" in outcome.err


def test_the_error_of_a_missing_column_names_the_option_as_it_is_typed(uqcli):
    outcome = uqcli("evaluate", "rule.json", "rows.csv", "--sampling-weight", "design")
    assert outcome.code == 3
    assert "give --sampling-weight COLUMN" in outcome.err


def test_the_error_of_a_repeated_name_says_what_to_do(uqcli, tmp_path):
    (tmp_path / "twice.csv").write_text("score,label,score\n0.5,1,0.5\n")
    outcome = uqcli("tce", "twice.csv")
    assert outcome.code == 3
    assert "rename one of these columns" in outcome.err
