"""Tests of ``apply --only-selected``: the flagged rows of the whole output, and the counts of all rows."""

import polars as pl
import pytest

READ = {"csv": pl.read_csv, "parquet": pl.read_parquet, "jsonl": pl.read_ndjson, "arrow": pl.read_ipc}


@pytest.fixture
def rule(uqcli, tmp_path):
    """Fit a rule, and write rows of which some are unusable."""
    scores = [round(index / 400, 4) for index in range(400)]
    frame = pl.DataFrame({"score": scores, "label": [int(score > 0.6) for score in scores]})
    frame.write_csv(tmp_path / "fit.csv")
    frame.with_columns(
        pl.when(pl.int_range(pl.len()) % 7 > 0).then("score").alias("score"), text=pl.lit('a "quoted", text')
    ).write_parquet(tmp_path / "new.parquet")
    options = ("--precision", "0.9", "--review", "5%", "--algorithm", "st")
    assert uqcli("boundary", "fit.csv", *options, "-q", "-o", "rule.json").code == 0
    return "rule.json"


@pytest.mark.covering("thorough", every=6)
@pytest.mark.parametrize("on_invalid", ["drop", "keep"])
@pytest.mark.parametrize("source", READ)
@pytest.mark.parametrize("target", READ)
def test_the_flagged_rows_are_written_as_without_it(uqcli, rule, tmp_path, source, target, on_invalid):
    frame = pl.read_parquet(tmp_path / "new.parquet")
    write = {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}
    write.get(source, frame.write_ipc)(tmp_path / f"in.{source}")
    common = ("apply", rule, f"in.{source}", "--on-invalid", on_invalid, "--json")
    whole = uqcli(*common, "-o", f"all.{target}").json
    selected = uqcli(*common, "--only-selected", "-o", f"some.{target}").json
    expected = READ[target](tmp_path / f"all.{target}").filter(pl.col("decision"))
    assert READ[target](tmp_path / f"some.{target}").equals(expected)
    assert expected.height == whole["metrics"]["selected"] > 0
    assert selected["metrics"] == whole["metrics"]
    assert selected["source"] == whole["source"]


def test_no_flagged_row_leaves_the_header(uqcli, rule, tmp_path):
    (tmp_path / "low.csv").write_text("score,name\n0.1,x\n")
    outcome = uqcli("apply", rule, "low.csv", "--only-selected")
    assert outcome.code == 0
    assert outcome.out == b"score,name,decision,zone\n"


def test_rules_without_decisions_refuse_it(uqcli, rule, tmp_path):
    assert uqcli("calibrate", "fit.csv", "--method", "isotonic", "-q", "-o", "map.json").code == 0
    outcome = uqcli("apply", "map.json", "fit.csv", "--only-selected", "-o", "out.csv")
    assert outcome.code == 2
    assert "--only-selected with a rule file of kind calibrator" in outcome.err
    assert not (tmp_path / "out.csv").exists()
